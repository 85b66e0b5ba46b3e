"""What can one principal do that another cannot, on names that exist or, of types that nobody lists, that ACLs name?

The sorted names are cut where a pattern of either begins or ends to match them, and both are decided with one name of
each piece, as their own pages do. Names on which both differ alike, through the same ACLs, are one row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aclweb.acl.authorizer import beyond_acls
from aclweb.acl.model import (
    ANY_USER,
    AclBinding,
    Operation,
    Resource,
    ResourceType,
    name_text,
    number_of,
    operations_of,
)
from aclweb.clusters import Known
from aclweb.inventory.access.cells import AccessRow, Verdict
from aclweb.inventory.access.covered_names import cut
from aclweb.inventory.access.matrix import Joined, Matrix
from aclweb.inventory.access.principal import TYPES, incomplete, names_for, parted_by_default
from aclweb.inventory.current import ClusterView

ONLY_FIRST, ONLY_SECOND, OTHER_HOSTS, BOTH = "only-first", "only-second", "other-hosts", "both"
RELATIONS = (ONLY_FIRST, ONLY_SECOND, OTHER_HOSTS, BOTH)


@dataclass(frozen=True)
class ComparedNames:
    """Names of one type on which the two stand alike in these operations, and the ALLOWs through which each may."""

    relation: str
    resource_type: ResourceType
    names: tuple[str, ...]
    operations: tuple[Operation, ...]
    first: tuple[AclBinding, ...]
    second: tuple[AclBinding, ...]


@dataclass(frozen=True)
class PrincipalsCompared:
    """Two principals side by side.

    rows: for each of RELATIONS. counts: rights, which are an operation on a name; OTHER_HOSTS are those that both have,
    and not from the same hosts. unsure: whether some answer is unknown. limits: which names may be missing, in
    sentences.
    """

    first: str
    second: str
    rows: Mapping[str, tuple[ComparedNames, ...]]
    counts: Mapping[str, int]
    unsure: bool
    limits: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Who can do how much more than the other."""
        first, second = name_text(self.first), name_text(self.second)
        more, less = self.counts[ONLY_FIRST], self.counts[ONLY_SECOND]
        hosts, both = self.counts[OTHER_HOSTS], self.counts[BOTH]
        if not (more or less or hosts):
            return f"Both can do the same: {number_of(both, 'right', 'rights')}."
        apart = f", and {number_of(hosts, 'other', 'others')} from different hosts" if hosts else ""
        return (
            f"{first} has {number_of(more, 'right', 'rights')} that {second} has not, and {second} "
            f"{less:,} that {first} has not. Both have {number_of(both, 'right', 'rights')}{apart}."
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """The same, what a right is, which names may be missing, and whether some answers are unknown."""
        right = "A right is one operation on one name that exists, from some host at least."
        told = (self.sentence, right, *self.limits)
        if not self.unsure:
            return told
        return (
            *told,
            "Some answers are unknown: they depend on what nobody has declared, or on values that aclweb does not "
            "know.",
        )


def compared(view: ClusterView, first: str, second: str) -> PrincipalsCompared:
    """Return what each of two principals can do, side by side; `User:*` is somebody whom no ACL names. No query."""
    question = ("compared", first, second, view.settings, view.known_of_all)
    return view.loaded.remember(question, lambda: compare(view, first, second))


def compare(view: ClusterView, first: str, second: str) -> PrincipalsCompared:
    """Return the same, worked out anew."""
    found: dict[_Key, list[str]] = {}
    counts: Counter[str] = Counter()
    unsure = False
    acls = [binding for principal in _everybody(first, second) for binding in view.loaded.naming(principal)]
    for names, rows in _pieces(view, first, second, acls):
        unsure = unsure or any(verdict.state == "unknown" for row in rows for verdict in row.verdicts)
        for relation, pairs in _related(rows).items():
            counts[relation] += len(names) * len(pairs)
            operations = tuple(pair[0].operation for pair in pairs)
            kind = rows[0].resource.resource_type
            key = (relation, kind, operations, _through(rows[0], pairs, 0), _through(rows[1], pairs, 1))
            found.setdefault(key, []).extend(names)
    listed: dict[str, list[ComparedNames]] = {relation: [] for relation in RELATIONS}
    for (relation, kind, operations, through, other), names in found.items():
        listed[relation].append(ComparedNames(relation, kind, tuple(names), operations, through, other))
    return PrincipalsCompared(
        first,
        second,
        {relation: tuple(rows) for relation, rows in listed.items()},
        {relation: counts[relation] for relation in RELATIONS},
        unsure,
        (*beyond_acls(view.settings), *_limits(view, {binding.resource_type for binding in acls})),
    )


def _everybody(first: str, second: str) -> list[str]:
    """Return the principals whose ACLs count for one of the two."""
    return list(dict.fromkeys((first, second, ANY_USER)))


def _limits(view: ClusterView, kinds: Collection[ResourceType]) -> tuple[str, ...]:
    """Return of which of these types names may be missing, and which then count."""
    own = [kind for kind in TYPES if kind in kinds and kind is not ResourceType.CLUSTER]
    found = tuple(sentence for kind in own if (sentence := incomplete(view, kind)))
    if any(view.known(kind) is Known.UNKNOWN for kind in own):
        return (
            *found,
            "Where that is unknown, the names count that ACLs for the two, or for any user, name exactly.",
        )
    return found


_Rows = tuple[AccessRow, AccessRow]
_Pairs = list[tuple[Verdict, Verdict]]
_Key = tuple[str, ResourceType, tuple[Operation, ...], tuple[AclBinding, ...], tuple[AclBinding, ...]]


def _pieces(
    view: ClusterView, first: str, second: str, acls: Sequence[AclBinding]
) -> Iterator[tuple[Sequence[str], _Rows]]:
    """Yield the names in pieces that the same ACLs match, each with what the two can do."""
    matrix = Matrix(view)
    everybody = _everybody(first, second)
    for kind in TYPES:
        mine = [binding for binding in acls if binding.resource_type is kind]
        names = names_for(view, kind, mine)
        operations = operations_of(kind, view.settings)
        for start, end, covering in cut(names, mine, view.settings):
            of = {
                principal: Joined.of(binding for binding in covering if binding.principal == principal)
                for principal in everybody
            }
            covers = any(each.covers for each in of.values())
            for part in parted_by_default(view, kind, names[start:end], covers=covers):
                resource = Resource(kind, part[0])
                rows = [
                    matrix.any_user(resource, operations, of[ANY_USER])
                    if principal == ANY_USER
                    else matrix.row(principal, resource, operations, of[principal], of[ANY_USER])
                    for principal in (first, second)
                ]
                yield part, (rows[0], rows[1])


def _related(rows: _Rows) -> dict[str, _Pairs]:
    """Return the operations that at least one of the two may do, with the answers for both, by relation."""
    found: dict[str, _Pairs] = {}
    for one, other in zip(rows[0].verdicts, rows[1].verdicts, strict=True):
        able = (one.is_allowed_somewhere, other.is_allowed_somewhere)
        if any(able):
            relation = _RELATION.get(able) or (BOTH if _hosts(one) == _hosts(other) else OTHER_HOSTS)
            found.setdefault(relation, []).append((one, other))
    return found


_RELATION = {(True, False): ONLY_FIRST, (False, True): ONLY_SECOND}


def _hosts(verdict: Verdict) -> tuple[object, ...]:
    """Return from where something is allowed, so that two can be compared."""
    if verdict.state != "some-hosts":
        return ("everywhere",)
    return verdict.elsewhere == "allowed", frozenset(
        (place.hosts, place.except_hosts) for place in verdict.places
    )


def _through(row: AccessRow, pairs: _Pairs, side: int) -> tuple[AclBinding, ...]:
    allows = (
        binding
        for pair in pairs
        if pair[side].is_allowed_somewhere
        for binding in row.determining(pair[side])
        if not binding.is_deny
    )
    return tuple(dict.fromkeys(allows))
