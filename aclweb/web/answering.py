"""What does a page say to "may this principal do that, from there, and why"?

Puts together the decision of the core, its explanation, each rule that touches the
resource with the parts that match, and, for a question without a host, the hosts from
which the answer would be another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlencode

from aclweb.acl.authorizer import Basis, Decision, Finding, Result, authorize, decide, for_principal
from aclweb.acl.explain import Explanation, explain
from aclweb.acl.model import WILDCARD, AccessRequest, AclBinding
from aclweb.inventory.current import InForce
from aclweb.web.resource_page import removals

_PARTS = ("principal", "host", "operation")
_VERDICTS = {Result.ALLOWED: "allowed", Result.DENIED: "refused", Result.UNDECIDED: "unknown"}
MOST_ROWS = 50  # rules that a page lists before it counts the rest
_ANY_HOST = re.compile(r"from \*(?=[\s:,.;]|$)")


@dataclass(frozen=True)
class Touching:
    """One rule that touches the resource, and which of its parts match the question."""

    binding: AclBinding
    decides: bool
    parts: tuple[tuple[str, bool], ...]

    @property
    def is_own(self) -> bool:
        """Whether it is for the principal who asks."""
        return ("principal", True) in self.parts

    @property
    def crosses(self) -> int:
        return sum(not matches for _, matches in self.parts)


@dataclass(frozen=True)
class Answer:
    in_force: InForce
    decision: Decision

    @cached_property
    def explanation(self) -> Explanation:
        return explain(self.decision)

    @property
    def sentence(self) -> str:
        return in_words(self.explanation.sentence)

    @property
    def request(self) -> AccessRequest:
        return self.decision.request

    @property
    def verdict(self) -> str:
        """allowed, refused or unknown: how the band looks."""
        return _VERDICTS[self.decision.result]

    @cached_property
    def touching(self) -> tuple[Touching, ...]:
        """Every rule that touches the resource: those that decide, then the nearest misses."""
        deciding = set(self.settling)
        rows = [_touching(finding, deciding) for finding in self.decision.findings]
        # To a refusal the ALLOWs that nearly matched are the nearest, to a permission the DENYs.
        far = self.decision.allowed
        return tuple(
            sorted(
                rows,
                key=lambda row: (not row.decides, row.crosses, row.binding.is_deny != far, not row.is_own),
            )
        )

    @property
    def settling(self) -> tuple[AclBinding, ...]:
        """The rules that match and decided; empty where the absence of such a rule did."""
        return self.decision.determining if self.decision.basis in (Basis.ALLOW_ACL, Basis.DENY_ACL) else ()

    @cached_property
    def fix(self) -> tuple[tuple[str, AclBinding], ...]:
        """The smallest edit that turns a refusal, as ("add" or "remove", rule)."""
        told = self.explanation
        if self.decision.result is not Result.DENIED:
            return ()
        if told.smallest_fix is not None:
            return (("add", told.smallest_fix),)
        removals = tuple(("remove", binding) for binding in told.smallest_removals)
        if removals and told.fix_after_removals is not None:
            return (*removals, ("add", told.fix_after_removals))
        return removals

    @property
    def fix_query(self) -> str:
        """The fix as a what-if takes it in its address."""
        return _as_draft(self.fix)

    @property
    def removal_query(self) -> str:
        """The rules that hold a yes up, to be removed, as a what-if takes them in its address."""
        return removals(self.explanation.smallest_removals)

    @cached_property
    def other_hosts(self) -> tuple[str, ...]:
        """For a question from any host: the hosts named in rules from which the answer differs."""
        if self.request.host != WILDCARD:
            return ()
        named = _hosts(self.decision.findings, self.request.principal)
        index, rules = self.in_force.index, self.in_force.rules
        return tuple(
            host
            for host in named
            if decide(replace(self.request, host=host), index, rules)[0] is not self.decision.result
        )


def answer(request: AccessRequest, in_force: InForce) -> Answer:
    """Return the answer to one question from what is in force."""
    return Answer(in_force=in_force, decision=authorize(request, in_force.index, in_force.rules))


def in_words(sentence: str) -> str:
    """Return a sentence about a question from any host without the `*` that stands for it."""
    return _ANY_HOST.sub("from any host", sentence)


def _as_draft(lines: Iterable[tuple[str, AclBinding]]) -> str:
    return urlencode([(op, json.dumps(binding.as_dict())) for op, binding in lines])


def _touching(finding: Finding, deciding: Iterable[AclBinding]) -> Touching:
    parts = tuple((part, part not in finding.why_not) for part in _PARTS)
    return Touching(finding.binding, finding.binding in deciding, parts)


def _hosts(findings: Iterable[Finding], principal: str) -> tuple[str, ...]:
    """Return the single addresses that rules for this principal name, sorted."""
    return tuple(
        sorted(
            {
                finding.binding.host
                for finding in findings
                if finding.binding.host != WILDCARD
                and "/" not in finding.binding.host
                and for_principal(finding.binding, principal)
            }
        )
    )
