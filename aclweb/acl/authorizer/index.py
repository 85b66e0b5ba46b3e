"""Find the bindings that can influence one request or one resource, without looking at the others.

An AclIndex never changes; adding or removing bindings makes a new one. So one index can
serve every request of a process, and travel to Spark executors. It holds for any settings:
what differs between authorizers is looked up when a question is asked. Only GLOB patterns
are refused then by an authorizer that does not know them.

It is filed twice, each on first use. By resource: name or prefix -> bindings, for
`affecting`. By session: (principal, host) -> masks of allowed and denied operations, for
`decide`, so that an answer costs the same however many bindings match. For the authorizer
`glob` the second filing is made anew, with the globs of names, principals and hosts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Self, TypeAlias

from aclweb.acl.authorizer.glob_table import GlobTable
from aclweb.acl.authorizer.mask_table import MaskTable
from aclweb.acl.authorizer.shelf import ResourceShelf
from aclweb.acl.matching import is_address, matching_of
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    AclError,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    Resource,
    ResourceType,
    computed_once,
    split_principal,
)

_FILTER_WORDS: frozenset[object] = frozenset(
    (ResourceType.ANY, PatternType.ANY, PatternType.MATCH, Operation.ANY, PermissionType.ANY)
)
_WITHOUT_GLOBS = AuthorizerSettings("standard")

Groups: TypeAlias = Callable[[Sequence[str], PatternType], Iterable[str]]
"""What returns the group of each of some names, which are sorted, of patterns of one type."""


class AclIndex:
    """A set of bindings, filed for questions; equal bindings count once, in first-seen order."""

    def __init__(self, bindings: Iterable[AclBinding] = ()) -> None:
        self._given: tuple[AclBinding, ...] = tuple(bindings)
        words: set[object] = {binding.pattern_type for binding in self._given}
        words |= {binding.operation for binding in self._given}
        words |= {binding.permission_type for binding in self._given}
        words |= {binding.resource_type for binding in self._given}
        self._refuse(words, lambda: self._given)

    @classmethod
    def of_distinct(cls, bindings: Iterable[AclBinding]) -> Self:
        """Return the index of bindings that are known to differ, so that they need not be compared."""
        made = cls(bindings)
        made.__dict__["bindings"] = made._given
        return made

    @staticmethod
    def _refuse(words: set[object], bindings: Callable[[], Iterable[AclBinding]]) -> None:
        """Raise AclError where a word of the bindings is one for filters; they are only looked at then."""
        if not words.isdisjoint(_FILTER_WORDS):
            for binding in bindings():
                _refuse_filter_words(binding)

    def __len__(self) -> int:
        return len(self.bindings)

    def __iter__(self) -> Iterator[AclBinding]:
        return iter(self.bindings)

    def __contains__(self, binding: object) -> bool:
        return binding in self._members

    def __repr__(self) -> str:
        return f"AclIndex({len(self.bindings)} bindings)"

    def __getstate__(self) -> tuple[AclBinding, ...]:
        """Travel as the bindings alone; what is filed from them is made again where it is used."""
        return self.bindings

    def __setstate__(self, bindings: tuple[AclBinding, ...]) -> None:
        self._given = bindings

    @computed_once
    def bindings(self) -> tuple[AclBinding, ...]:
        """Each binding once, in first-seen order. Deciding needs no such order, so it is made when asked for."""
        distinct = dict.fromkeys(self._given)
        return self._given if len(distinct) == len(self._given) else tuple(distinct)

    def affecting(
        self, resource: Resource, settings: AuthorizerSettings | None = None
    ) -> tuple[AclBinding, ...]:
        """Return the bindings whose pattern covers `resource`, whoever they are for.

        In the order of Kafka's own scan: name descending, LITERAL before PREFIXED,
        operation, principal, host, DENY before ALLOW. The literal `*` comes last. GLOB
        patterns come after all others, those with most characters of their own first.
        """
        settings = settings or AuthorizerSettings()
        self.require_known(settings)
        shelf = self.shelf(resource.resource_type)
        return tuple(shelf.covering(resource.name, settings)) if shelf is not None else ()

    def require_known(self, settings: AuthorizerSettings) -> None:
        """Raise AclError if a binding has a pattern type that these settings do not know."""
        if self.first_glob is not None and PatternType.GLOB not in matching_of(settings).pattern_types:
            raise AclError(
                f"The ACL on {self.first_glob.resource_name!r} has the pattern type GLOB, which only the 'glob' "
                "authorizer knows; use LITERAL or PREFIXED."
            )

    def shelf(self, resource_type: ResourceType) -> ResourceShelf | None:
        """Return the bindings of one resource type filed by name, None if there are none."""
        # `_value_` because `value` is a Python-level descriptor, and a what-if of one ACL asks 60 times.
        return self._shelves.get(resource_type._value_)

    def table(self, resource_type: ResourceType) -> MaskTable | None:
        """Return the masks of one resource type filed by session, None if there are no bindings."""
        # `_value_`, as in `shelf`: this is the hot path.
        return self._tables.get(resource_type._value_)

    def table_for(
        self, resource_type: ResourceType, settings: AuthorizerSettings
    ) -> MaskTable | GlobTable | None:
        """Return what `table` does, compiled for the way in which these settings read ACLs."""
        # Not by `matching_of`: this is the hot path.
        tables = self._glob_tables if settings.has_globs else self._tables
        return tables.get(resource_type._value_)

    @computed_once
    def first_glob(self) -> AclBinding | None:
        """The first binding with a GLOB pattern, None if there is none."""
        return next((b for b in self._given if b.pattern_type is PatternType.GLOB), None)

    @computed_once
    def principals(self) -> frozenset[str]:
        """The principals that bindings name, without `User:*`."""
        return frozenset(binding.principal for binding in self.bindings) - {ANY_USER}

    def of_principal(self, principal: str) -> tuple[AclBinding, ...]:
        """Return the bindings that name this principal, in first-seen order."""
        return self._of_principal.get(principal, ())

    @computed_once
    def count_by_principal(self) -> Counter[str]:
        """How many bindings name each principal."""
        return Counter(binding.principal for binding in self.bindings)

    @computed_once
    def denies_by_principal(self) -> Counter[str]:
        """How many DENYs name each principal."""
        return Counter(binding.principal for binding in self.bindings if binding.is_deny)

    def count_by_group(
        self, resource_type: ResourceType, permission: PermissionType, groups: Groups
    ) -> Counter[tuple[str, str]]:
        """Return how many bindings of this type and permission name each principal, by the group of their names."""
        own = [
            each
            for each in self.bindings
            if each.resource_type is resource_type and each.permission_type is permission
        ]
        found: dict[tuple[PatternType, str], str] = {}
        for pattern_type in {each.pattern_type for each in own}:
            names = sorted({each.resource_name for each in own if each.pattern_type is pattern_type})
            found.update(
                zip(((pattern_type, name) for name in names), groups(names, pattern_type), strict=True)
            )
        return Counter((each.principal, found[each.pattern_type, each.resource_name]) for each in own)

    @computed_once
    def with_unknown(self) -> tuple[AclBinding, ...]:
        """The bindings with an enum that this program does not know."""
        return tuple(binding for binding in self.bindings if binding.has_unknown)

    @computed_once
    def typed_principals(self) -> frozenset[str]:
        """Those of them that have a type, which alone match somebody."""
        return frozenset(own for own in self.principals if split_principal(own) is not None)

    @computed_once
    def hosts(self) -> frozenset[str]:
        """The hosts that bindings name, without `*`."""
        return frozenset(binding.host for binding in self.bindings) - {WILDCARD}

    @computed_once
    def addresses(self) -> frozenset[str]:
        """Those hosts that are exactly what a client's address can be."""
        return frozenset(filter(is_address, self.hosts))

    @computed_once
    def _of_principal(self) -> Mapping[str, tuple[AclBinding, ...]]:
        groups: dict[str, list[AclBinding]] = {}
        for binding in self.bindings:
            groups.setdefault(binding.principal, []).append(binding)
        return {principal: tuple(group) for principal, group in groups.items()}

    @computed_once
    def _members(self) -> frozenset[AclBinding]:
        return frozenset(self.bindings)

    @computed_once
    def _shelves(self) -> dict[int, ResourceShelf]:
        groups: dict[int, list[AclBinding]] = {}
        for binding in self.bindings:
            groups.setdefault(binding.resource_type._value_, []).append(binding)
        return {code: ResourceShelf(group) for code, group in groups.items()}

    @computed_once
    def _tables(self) -> Mapping[int, MaskTable]:
        self.require_known(_WITHOUT_GLOBS)
        return {code: MaskTable(groups) for code, groups in _by_principal(self._given).items()}

    @computed_once
    def _glob_tables(self) -> Mapping[int, GlobTable]:
        return {code: GlobTable(groups) for code, groups in _by_principal(self._given).items()}


def _by_principal(bindings: Iterable[AclBinding]) -> dict[int, dict[str, list[AclBinding]]]:
    """Return code of the resource type -> principal -> bindings."""
    found: dict[ResourceType, dict[str, list[AclBinding]]] = {}
    for binding in bindings:
        # Plain look-ups and not `setdefault`, which would make what is hardly ever needed.
        groups = found.get(binding.resource_type)
        if groups is None:
            groups = found[binding.resource_type] = {}
        principal = binding.principal
        group = groups.get(principal)
        if group is None:
            groups[principal] = [binding]
        else:
            group.append(binding)
    return {resource_type._value_: groups for resource_type, groups in found.items()}


def _refuse_filter_words(binding: AclBinding) -> None:
    for value in (binding.resource_type, binding.operation, binding.permission_type, binding.pattern_type):
        if value.name in ("ANY", "MATCH"):
            raise AclError(
                f"{value.name} is a word for filters and no {type(value).__name__} of an ACL; "
                f"the ACL on {binding.resource_name!r} must name one."
            )
