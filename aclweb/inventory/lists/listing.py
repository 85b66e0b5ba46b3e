"""Which ACLs, names and principals are there? From memory, each row made when it is asked for.

Filters and counts run over the bindings of the cached revision, so that a list costs no
query beside the one that asks which revision is the newest, however many ACLs there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from itertools import compress
from operator import attrgetter, countOf
from typing import Any, Self

from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    AclError,
    Operation,
    PatternType,
    PermissionType,
    Resource,
    ResourceType,
)
from aclweb.acl.notation import binding_key
from aclweb.clusters import Known
from aclweb.inventory.current import ClusterView, Moment, in_force, reading_order
from aclweb.inventory.lists.client_roles import ROLES, roles_of
from aclweb.inventory.lists.names import containing
from aclweb.inventory.lists.rows import LazyRows
from aclweb.inventory.lists.short_keys import short_key
from aclweb.inventory.models import Cluster

MATCHES = ("exact", "affects", "starts")
REACHES = ("exact", "prefix", "all", "unknown")
MATCHES_NOW = "matches"
_COLUMNS: Mapping[str, Callable[[AclBinding], Any]] = {
    "operation": lambda acl: acl.operation.pascal,
    "principal": lambda acl: acl.principal,
    "resource": lambda acl: (acl.resource_name, acl.resource_type.code, acl.pattern_type.code),
    "host": lambda acl: acl.host,
}
# To look a name up among those that are sorted takes about as long as to file so many of them.
_LOOKED_UP_ONE_BY_ONE = 20
COLUMN_SORTS = (*_COLUMNS, MATCHES_NOW)


@dataclass(frozen=True)
class AclRow:
    """One ACL of a list: its key, and how many existing names it covers (None: nobody can know)."""

    binding: AclBinding
    key: str
    covers_now: int | None

    @property
    def short_key(self) -> str:
        return short_key(self.key)


class ListedAcls(LazyRows[AclRow]):
    """The ACLs that the filters let through.

    facets: how all of them part: property -> value of the filter -> number of ACLs.
    """

    def __init__(
        self, view: ClusterView, bindings: Sequence[AclBinding], facets: Mapping[str, Mapping[str, int]]
    ) -> None:
        self.facets = facets
        super().__init__(
            len(bindings),
            lambda start, stop: [
                AclRow(binding, binding_key(binding), view.covered_now(binding))
                for binding in bindings[start:stop]
            ],
        )


@dataclass(frozen=True)
class PrincipalRow:
    """One principal, with the number of ACLs that name it and how many of them are DENY."""

    principal: str
    own: int
    denies: int
    is_super_user: bool


@dataclass(frozen=True)
class AclListFilters:
    """Which ACLs to list; an empty text lets everything through, and all filters must fit.

    Enum words may be written as Kafka writes them anywhere and are kept in upper snake;
    a word that Kafka does not know raises AclError.

    text: part of a principal, a resource name or a host.
    principal, host: exactly; `10.0.*` or `User:svc-*` means what begins so, while `*`
        and `User:*` alone are Kafka's own words. exactly: such an asterisk is one of the name, too.
    name: a resource name, and `match` how to read it: "exact" is the pattern's own name,
        "affects" a pattern that covers the name, "starts" a pattern that begins with it.
    reach: "exact", "prefix", "all" or "unknown", the kind of pattern.
    orphan: only ACLs that cover no existing name. role: one of ROLES, what the ACL makes of its principal.
    keys: only the ACLs with these binding keys, which another room chose; None for all.
    without_keys: none of the ACLs with these keys. first_keys: those that come first, in this order.
    sort: one of COLUMN_SORTS, with "-" before it for the last first; empty for the order of `list_acls`.
    """

    text: str = ""
    principal: str = ""
    host: str = ""
    operation: str = ""
    exactly: bool = False
    permission: str = ""
    resource_type: str = ""
    name: str = ""
    match: str = "exact"
    reach: str = ""
    orphan: bool = False
    role: str = ""
    keys: frozenset[str] | None = None
    without_keys: frozenset[str] = frozenset()
    first_keys: tuple[str, ...] = ()
    sort: str = ""

    def __post_init__(self) -> None:
        for name, words in _WORDS.items():
            given = getattr(self, name)
            if given:
                object.__setattr__(self, name, words.parse(given).name)
        if self.match not in MATCHES:
            raise AclError(f"match is {self.match!r}; use one of {', '.join(MATCHES)}.")
        if self.reach and self.reach not in REACHES:
            raise AclError(f"reach is {self.reach!r}; use one of {', '.join(REACHES)}.")
        if self.role and self.role not in ROLES:
            raise AclError(f"role is {self.role!r}; use one of {', '.join(ROLES)}.")
        if self.sort and self.sort.removeprefix("-") not in COLUMN_SORTS:
            raise AclError(f"sort is {self.sort!r}; use one of {', '.join(COLUMN_SORTS)}.")

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Self:
        """Return the filters of a query string; raises AclError naming the first word that is unknown.

        Keys that are no filters are ignored: they belong to somebody else.
        """
        names = (
            "text",
            "principal",
            "host",
            "operation",
            "permission",
            "resource_type",
            "name",
            "reach",
            "role",
        )
        texts: dict[str, Any] = {name: given.get(name, "") for name in names}
        return cls(
            **texts,
            match=given.get("match") or "exact",
            orphan=_is_on(given, "orphan"),
            exactly=_is_on(given, "exactly"),
        )


_WORDS: Mapping[str, type[Operation] | type[PermissionType] | type[ResourceType]] = {
    "operation": Operation,
    "permission": PermissionType,
    "resource_type": ResourceType,
}


def list_acls(
    cluster: Cluster, filters: AclListFilters = AclListFilters(), *, as_of: Moment | None = None
) -> ListedAcls:
    """Return the ACLs that the filters let through: DENY first, then by name, `*` last."""
    return acls_in(in_force(cluster, as_of), filters)


def acls_in(view: ClusterView, filters: AclListFilters) -> ListedAcls:
    """Return what `list_acls` does, of what is in force by `view`; no query."""
    return ListedAcls(view, *_listed(view, filters))


def all_acls(view: ClusterView, filters: AclListFilters) -> Sequence[AclBinding]:
    """Return every ACL that the filters let through, in the order of `list_acls`."""
    return _listed(view, filters)[0]


def list_principals(cluster: Cluster, text: str = "") -> Sequence[PrincipalRow]:
    """Return everybody whom an ACL or the declared super users name, and whose name contains `text`.

    In capital or small letters: this is how people search. What decides compares letter by letter.
    """
    view = in_force(cluster)
    principals = list(containing(view.principals, text))
    return LazyRows(
        len(principals),
        lambda start, stop: [
            PrincipalRow(
                principal,
                view.loaded.by_principal[principal],
                view.loaded.denies_by_principal[principal],
                principal in view.settings.super_users,
            )
            for principal in principals[start:stop]
        ],
    )


def _listed(
    view: ClusterView, filters: AclListFilters
) -> tuple[Sequence[AclBinding], dict[str, dict[str, int]]]:
    """Return every ACL that the filters let through, and the facets; kept for the next page of the list."""
    question = ("list_acls", filters, view.settings, view.known_of_all)
    return view.loaded.remember(question, lambda: _filtered(view, filters))


def _filtered(
    view: ClusterView, filters: AclListFilters
) -> tuple[Sequence[AclBinding], dict[str, dict[str, int]]]:
    in_reading_order = replace(filters, first_keys=(), sort="")
    if filters != in_reading_order:
        found, facets = _listed(view, in_reading_order)
        return _sorted(view, found, filters), facets
    found = _looked_through(view, filters)
    for test in _tests(view, filters):
        found = [binding for binding in found if test(binding)]
    return found, _facets(view, found)


def _looked_through(view: ClusterView, filters: AclListFilters) -> Sequence[AclBinding]:
    """Return ACLs in reading order, all that the filters let through among them; few where a filter names something.

    Where it is a name, exactly or of what is affected, these are all for it, and no test of it is left.
    """
    if filters.name and filters.match == "affects":
        return sorted(_affecting(view, filters), key=reading_order)
    if filters.name and filters.match == "exact":
        shelves = filter(None, map(view.index.shelf, _kinds(filters)))
        return sorted((acl for shelf in shelves for acl in shelf.named(filters.name)), key=reading_order)
    if filters.principal and (filters.exactly or not begins_so(filters.principal, ANY_USER)):
        return view.loaded.naming(filters.principal)
    return view.loaded.in_reading_order


def _kinds(filters: AclListFilters) -> Sequence[ResourceType]:
    return [ResourceType[filters.resource_type]] if filters.resource_type else list(ResourceType)


def _affecting(view: ClusterView, filters: AclListFilters) -> Iterable[AclBinding]:
    """Yield the ACLs whose pattern covers the name of the filters."""
    for kind in _kinds(filters):
        if kind not in (ResourceType.ANY, ResourceType.UNKNOWN):
            yield from view.index.affecting(Resource(kind, filters.name), view.settings)


def _sorted(view: ClusterView, found: Sequence[AclBinding], filters: AclListFilters) -> Sequence[AclBinding]:
    """Return the ACLs in the order of the filters; those that are alike in it stay in reading order."""
    if filters.first_keys:
        places = {key: place for place, key in enumerate(filters.first_keys)}
        return sorted(found, key=lambda binding: places.get(binding_key(binding), len(places)))
    column, descending = filters.sort.removeprefix("-"), filters.sort.startswith("-")
    if column != MATCHES_NOW:
        return sorted(found, key=_COLUMNS[column], reverse=descending)
    counted = [(view.covered_now(binding), binding) for binding in found]
    known = [(count, binding) for count, binding in counted if count is not None]
    known.sort(key=lambda pair: pair[0], reverse=descending)
    # What nobody can count comes last either way.
    return [binding for _, binding in known] + [binding for count, binding in counted if count is None]


def _tests(view: ClusterView, filters: AclListFilters) -> Iterable[Callable[[AclBinding], bool]]:
    """Yield one test for each filter that is set, the cheap and narrow ones first."""
    if filters.resource_type:
        kind = ResourceType[filters.resource_type]
        yield lambda binding: binding.resource_type is kind
    if filters.permission:
        permission = PermissionType[filters.permission]
        yield lambda binding: binding.permission_type is permission
    if filters.operation:
        operation = Operation[filters.operation]
        yield lambda binding: binding.operation is operation
    if filters.principal:
        fits = _fits(filters.principal, ANY_USER, exactly=filters.exactly)
        yield lambda binding: fits(binding.principal)
    if filters.host:
        fits_host = _fits(filters.host, WILDCARD, exactly=filters.exactly)
        yield lambda binding: fits_host(binding.host)
    if filters.name and filters.match == "starts":
        start = filters.name
        yield lambda binding: binding.resource_name.startswith(start)
    if filters.reach:
        reach = filters.reach
        yield lambda binding: reach_of(binding) == reach
    if filters.text:
        text = filters.text.casefold()
        yield (
            lambda binding: (
                text in binding.principal.casefold()
                or text in binding.resource_name.casefold()
                or text in binding.host.casefold()
            )
        )
    if filters.role:
        roles, role = roles_of(view), filters.role
        yield lambda binding: roles[binding] == role
    if filters.orphan:
        yield lambda binding: view.covered_now(binding) == 0
    yield from _key_tests(filters)


def _key_tests(filters: AclListFilters) -> Iterable[Callable[[AclBinding], bool]]:
    if filters.keys is not None:
        keys = filters.keys
        yield lambda binding: binding_key(binding) in keys
    if filters.without_keys:
        unwanted = filters.without_keys
        yield lambda binding: binding_key(binding) not in unwanted


def begins_so(wanted: str, word_of_kafka: str) -> bool:
    """Whether a principal or host in a filter means all that begin so, unless it is read exactly."""
    return wanted.endswith("*") and wanted != word_of_kafka


def _is_on(given: Mapping[str, str], name: str) -> bool:
    return given.get(name, "") not in ("", "0", "false")


def _fits(wanted: str, word_of_kafka: str, *, exactly: bool) -> Callable[[str], bool]:
    if begins_so(wanted, word_of_kafka) and not exactly:
        start = wanted[:-1]
        return lambda text: text.startswith(start)
    return lambda text: text == wanted


def reach_of(binding: AclBinding) -> str:
    """Return the kind of pattern: "exact", "prefix", "all" or "unknown"."""
    if binding.has_wildcard_pattern:
        return "all"
    if binding.pattern_type is PatternType.LITERAL:
        return "exact"
    return "prefix" if binding.pattern_type is PatternType.PREFIXED else "unknown"


def _facets(view: ClusterView, found: Sequence[AclBinding]) -> dict[str, dict[str, int]]:
    return {
        "permission": _counted(PermissionType, found, "permission_type"),
        "reach": _reaches(found),
        "type": _counted(ResourceType, found, "resource_type"),
        "operation": _counted(Operation, found, "operation"),
        "principal": _if_any(ANY_USER, countOf(map(attrgetter("principal"), found), ANY_USER)),
        "host": _if_any(WILDCARD, countOf(map(attrgetter("host"), found), WILDCARD)),
        "orphan": _if_any("1", _orphans(view, found)),
    }


def _counted(words: Callable[[int], Enum], found: Sequence[AclBinding], column: str) -> dict[str, int]:
    """Return each word that occurs in a column with its number, most frequent first."""
    # `_value_` because an enum is hashed by Python code, and all of a million ACLs are asked.
    codes = Counter(map(attrgetter(f"{column}._value_"), found))
    return {words(code).name: number for code, number in codes.most_common()}


def _reaches(found: Sequence[AclBinding]) -> dict[str, int]:
    """Return how many ACLs have each kind of pattern, as `reach_of` names it, most frequent first."""
    types = Counter(map(attrgetter("pattern_type._value_"), found))
    on_star = compress(found, map(WILDCARD.__eq__, map(attrgetter("resource_name"), found)))
    numbers = Counter({"all": sum(binding.has_wildcard_pattern for binding in on_star)})
    numbers["exact"] = types.pop(PatternType.LITERAL._value_, 0) - numbers["all"]
    numbers["prefix"] = types.pop(PatternType.PREFIXED._value_, 0)
    numbers["unknown"] = types.total()
    return {reach: number for reach, number in numbers.most_common() if number}


def _orphans(view: ClusterView, found: Sequence[AclBinding]) -> int:
    """Return how many of the ACLs cover no existing name for certain."""
    orphans = 0
    for kind, names in view.loaded.names.items():
        if view.known(kind) is not Known.ALL:
            continue
        of_kind = [binding for binding in found if binding.resource_type is kind]
        exact = [
            binding.resource_name
            for binding in of_kind
            if binding.pattern_type is PatternType.LITERAL and binding.resource_name != WILDCARD
        ]
        others = (
            binding
            for binding in of_kind
            if binding.pattern_type is not PatternType.LITERAL or binding.resource_name == WILDCARD
        )
        is_many = len(exact) * _LOOKED_UP_ONE_BY_ONE > len(names)
        exists = frozenset(names).__contains__ if is_many else partial(view.loaded.holds, kind)
        orphans += len(exact) - sum(map(exists, exact))
        orphans += sum(view.covered_now(binding) == 0 for binding in others)
    return orphans


def _if_any(value: str, number: int) -> dict[str, int]:
    return {value: number} if number else {}
