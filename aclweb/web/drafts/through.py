"""Which differences does each ACL of a draft settle, and which ACLs of it can no request match?

Shown beside the ACLs themselves. An ACL that settles no difference may still be the reason of some: the first ACL on a
resource takes access from everybody whom no ACL allows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from aclweb.acl.matching import why_unmatchable
from aclweb.acl.model import AclBinding, AuthorizerSettings
from aclweb.acl.simulate import Impact
from aclweb.web.drafts.impact_rows import KINDS

MOST_ACLS = 200
"""Of a draft with more ACLs, nothing is added up for each."""


@dataclass(frozen=True)
class Settled:
    """How many single differences of one kind an ACL settles, before or after the edit."""

    kind: str
    count: int


def settled_by(impact: Impact, bindings: Collection[AclBinding]) -> Mapping[AclBinding, tuple[Settled, ...]]:
    """Return what each of these ACLs settles, those that settle anything; none of it where they are too many.

    Several ACLs may settle the same answer, which then counts for each.
    """
    if len(bindings) > MOST_ACLS:
        return {}
    question = (settled_by, frozenset(bindings))
    known: Mapping[AclBinding, Mapping[str, int]] | None = impact.memo.get(question)
    if known is None:
        known = impact.memo[question] = _added_up(impact, question[1])
    return {
        binding: tuple(Settled(kind, counts[kind]) for kind in KINDS if kind in counts)
        for binding, counts in known.items()
    }


def _added_up(impact: Impact, wanted: frozenset[AclBinding]) -> Mapping[AclBinding, Mapping[str, int]]:
    found: dict[AclBinding, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for group in impact.groups:
        before = group.before.determining if group.before is not None else ()
        for binding in wanted.intersection((*before, *group.after.determining)):
            found[binding][group.change] += impact.effects_in(group)
    return {binding: dict(counts) for binding, counts in found.items()}


def unmatchable(bindings: Iterable[AclBinding], settings: AuthorizerSettings) -> int:
    """Return how many of some ACLs no request of a client can match."""
    return sum(why_unmatchable(binding, settings) is not None for binding in bindings)
