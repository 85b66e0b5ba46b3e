"""How much may a what-if cost, and which ACL costs too much?

A what-if that somebody waits for, on a machine that others use, gets a budget. What an edit will
cost is estimated before anything is worked out, and the work itself is counted, so that a
wrong estimate costs no more than the budget either. The command line gives none: there a what-if
may take what it takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aclweb.acl.model import AclBinding, AclError, acl_text


@dataclass(frozen=True, slots=True)
class Budget:
    """steps: answers to compare before and after. differences: kinds of difference to keep in memory."""

    steps: int
    differences: int


# What one effect may cost on a site, where others wait meanwhile: under three seconds of one core,
# and some fifty megabytes. `python -m bench.effects` measures it.
ON_A_SITE = Budget(steps=1_000_000, differences=150_000)


class TooCostly(AclError):
    """A what-if beyond its budget; the message names the ACL that costs most. costliest: that ACL."""

    def __init__(self, message: str, costliest: AclBinding | None = None) -> None:
        super().__init__(message)
        self.costliest = costliest


# An estimate may be too high; only one that is this many times over the budget refuses by itself.
_SURELY_TOO_MUCH = 4


class Meter:
    """Counts what a what-if costs against its budget, if it has one, and refuses by the estimates of its ACLs."""

    def __init__(self, budget: Budget | None) -> None:
        self._budget = budget
        self._steps, self._differences = (budget.steps, budget.differences) if budget is not None else (0, 0)
        self._weights: list[tuple[int, AclBinding]] = []

    def foresee(self, weights: Iterable[tuple[int, AclBinding]]) -> None:
        """Take the estimate for each ACL of the edit; raise TooCostly if they are far beyond the budget."""
        if self._budget is None:
            return
        total = 0
        for weighed in weights:
            self._weights.append(weighed)
            total += weighed[0]
        if total > _SURELY_TOO_MUCH * self._budget.steps:
            raise self._refusal(self._budget)

    def spend(self, steps: int, differences: int = 0) -> None:
        """Count work before it is done; raise TooCostly once it is more than the budget."""
        if self._budget is None:
            return
        self._steps -= steps
        self._differences -= differences
        if self._steps < 0 or self._differences < 0:
            raise self._refusal(self._budget)

    def _refusal(self, budget: Budget) -> TooCostly:
        most = f"a page works out about {budget.steps:,}"
        if not self._weights:
            return TooCostly(
                f"Too many answers differ to work them out here: {most}. "
                "Use python -m aclweb.acl whatif, which has no limit."
            )
        weight, costliest = max(self._weights, key=lambda weighed: weighed[0])
        total = sum(weight for weight, _ in self._weights)
        share = (
            f"about {weight:,} answers"
            if len(self._weights) == 1
            else f"about {weight:,} of {total:,} answers"
        )
        few = len(self._weights) > 1 and 2 * weight <= budget.steps
        return TooCostly(
            f"The impact of this edit is too large to compute here: {most} answers. "
            f"The ACL that costs most is: {acl_text(costliest)}. It matches {share}. "
            + (
                f"Ask for fewer of its {len(self._weights):,} ACLs at a time, or for narrower ones."
                if few
                else "Name fewer resources, one principal or one host in it."
            ),
            costliest,
        )
