"""How much may a what-if cost, and which ACL costs too much?

A what-if that somebody waits for, on a machine that others use, gets a budget; what is too much for a page
has that of a worker. What an edit costs at most is counted before anything is worked out (see `estimate`), and
the work itself is counted too, so that it never costs more than the budget, and whoever waits can be told how
far it is. The command line gives no budget: there a what-if may take what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from aclweb.acl.model import AclBinding, AclError, acl_text

# What work costs, in steps of about ten microseconds: `python -m bench.effects` measures them.
STEPS_OF_A_ROW = 2  # one session on one set of names, from one host
STEPS_OF_A_SET_OF_HOSTS = 1
STEPS_OF_A_KIND = 4  # of difference, to be kept, joined, hashed and stored
LOOKED_AT_A_STEP = 8  # bindings, to see whether they matter
KNOWN_A_STEP = 50  # names and ACLs that are there, of which the classes are made

NAMES_OF_A_DIFFERENCE = 2_400
"""So many names, as a set, take about as much memory as one kind of difference: 300 bytes."""


@dataclass(frozen=True, slots=True)
class Budget:
    """steps: pieces of work of some ten microseconds. differences: kinds of difference to keep in memory.

    whose: who has this budget, as the subject of a sentence. names_costliest: whether a refusal names the ACL that
    costs most; without it the ACLs are weighed only until they are surely too much.
    """

    steps: int
    differences: int
    whose: str = "a page"
    names_costliest: bool = True


# What one impact may cost on a site, where others wait meanwhile: with all that a change makes of it, some
# six seconds of one core. `python -m bench.effects` measures it.
ON_A_SITE = Budget(steps=550_000, differences=125_000)


# What one impact may cost on a worker, which computes one at a time while no page waits: some minutes of one core
# and 450 MB. A process of the site that shows it takes up to 400 MB for that, which is why the second is twice a page's
# and not ten times.
ON_A_WORKER = Budget(steps=5_500_000, differences=250_000, whose="a worker")

# The same where the ACLs that settle the answers are left out: two clusters of 100,000 ACLs that share none take 1.4 M
# steps and 245,000 kinds of difference, as which their sets of names count too: there are 61,000 groups.
# `python -m bench groups` measures the memory.
ON_A_WORKER_WITHOUT_ACLS = Budget(steps=5_500_000, differences=800_000, whose="a worker")

Watch = Callable[[int, int], None]
"""Is called now and then with the steps done, and how many there are at most. What it raises ends the work."""

# Steps between two calls of it: some hundredths of a second.
WATCHED_EVERY = 2_000


class Cost(NamedTuple):
    """What a part of an edit costs at most, in the units of a budget. binding: the ACL whose part it is."""

    steps: int
    differences: int
    binding: AclBinding | None = None


class TooCostly(AclError):
    """A what-if beyond its budget; the message names the ACL that costs most. costliest: that ACL."""

    def __init__(self, message: str, costliest: AclBinding | None = None) -> None:
        super().__init__(message)
        self.costliest = costliest


# What an edit costs at most is more than it costs; only if it is this many times over the budget is it
# refused by itself.
_SURELY_TOO_MUCH = 8


class Meter:
    """Counts what a what-if costs against its budget, if it has one, and refuses by the costs of its ACLs."""

    def __init__(self, budget: Budget | None, watch: Watch | None = None) -> None:
        self._budget, self._watch = budget, watch
        self._at_most, self._watched_at = 0, 0
        self._steps, self._differences = (budget.steps, budget.differences) if budget is not None else (0, 0)
        self._costs: list[Cost] = []

    @property
    def is_limited(self) -> bool:
        """Whether there is a budget."""
        return self._budget is not None

    @property
    def names_costliest(self) -> bool:
        """Whether a refusal names the ACL that costs most, so that each is weighed, in their order."""
        return self._budget is not None and self._budget.names_costliest

    def foresee(self, costs: Iterable[Cost], more: Cost) -> None:
        """Take what an edit costs at most, ACL by ACL; raise TooCostly if all is far beyond the budget.

        more: what is due to no ACL.
        """
        if self._budget is None:
            return
        most_steps = _SURELY_TOO_MUCH * self._budget.steps
        most_differences = _SURELY_TOO_MUCH * self._budget.differences
        steps, differences = more.steps, more.differences
        for cost in costs:
            steps += cost.steps
            differences += cost.differences
            if self._budget.names_costliest:
                self._costs += [cost] if cost.binding is not None else []
            elif steps > most_steps or differences > most_differences:
                break
        if steps > most_steps:
            raise self._refusal(self._budget)
        if differences > most_differences:
            raise self._refusal(self._budget, is_memory=True)
        self._at_most = min(steps, self._budget.steps)
        self._tell()

    def spend(self, steps: int, differences: int = 0) -> None:
        """Count work before it is done; raise TooCostly once it is more than the budget."""
        if self._budget is None:
            return
        self._steps -= steps
        self._differences -= differences
        if self._steps < 0 or self._differences < 0:
            raise self._refusal(self._budget, is_memory=self._steps >= 0)
        if self._watch is not None and self._done - self._watched_at >= WATCHED_EVERY:
            self._tell()

    @property
    def _done(self) -> int:
        return 0 if self._budget is None else self._budget.steps - self._steps

    def _tell(self) -> None:
        if self._watch is not None:
            self._watched_at = self._done
            self._watch(self._done, self._at_most)

    def _refusal(self, budget: Budget, *, is_memory: bool = False) -> TooCostly:
        """Return the error that names the ACL which costs most, in steps or in memory."""
        if is_memory:
            most, unit = (
                f"{budget.whose} keeps about {budget.differences:,} kinds of difference",
                "kinds of difference",
            )
        else:
            most, unit = f"{budget.whose} takes about {budget.steps:,} steps", "steps"
        weighed = [(cost.differences if is_memory else cost.steps, cost.binding) for cost in self._costs]
        if not weighed:
            return TooCostly(
                f"Too many answers differ to work them out here: {most}. "
                "Use python -m aclweb.acl whatif, which has no limit."
            )
        weight, costliest = max(weighed, key=lambda each: each[0])
        total = sum(each for each, _ in weighed)
        of_all = "" if len(weighed) == 1 else f" of {total:,}"
        few = len(weighed) > 1 and 2 * weight <= (budget.differences if is_memory else budget.steps)
        assert costliest is not None
        return TooCostly(
            f"The impact of this edit is too large to compute here: {most}. "
            f"The ACL that costs most is: {acl_text(costliest)}. It takes up to {weight:,}{of_all} {unit}. "
            + (
                f"Ask for fewer of its {len(weighed):,} ACLs at a time, or for narrower ones."
                if few
                else "Name fewer resources, one principal or one host in it."
            ),
            costliest,
        )
