"""How is a very large set of ACLs asked, of which hardly any question needs more than a few?

A ColumnIndex answers what an AclIndex of the same ACLs does, in the same order. It holds columns, and makes the ACLs
that a question is about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from aclweb.acl.authorizer.columns import AclColumns, Block, Codes
from aclweb.acl.authorizer.glob_table import GlobTable
from aclweb.acl.authorizer.index import AclIndex, Groups
from aclweb.acl.authorizer.mask_table import (
    Cover,
    MaskTable,
    RangeTable,
    Slot,
    filed_by_host,
    slots_of_principal,
)
from aclweb.acl.authorizer.scan_order import entry_order, in_scan_order
from aclweb.acl.authorizer.shelf import ResourceShelf
from aclweb.acl.matching import NO_PREFIXES
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    computed_once,
)

_Acls = list[AclBinding]
_WITHOUT_GLOBS = AuthorizerSettings("standard")
_NO_BLOCK_NAMES: tuple[str, ...] = ()
# Whether an ACL is among more of one pattern is looked up in a set, which is kept.
_COMPARED_ONE_BY_ONE = 50


class ColumnIndex(AclIndex):
    """A set of bindings that differ, held as columns."""

    def __init__(self, columns: AclColumns) -> None:
        self.columns = columns
        self._filed: dict[int, ColumnShelf] = {}
        self._compiled: dict[int, ColumnTable] = {}
        self._sets: dict[int, frozenset[AclBinding]] = {}
        self._blocks: dict[int, list[Block]] = {}
        for block in columns.blocks:
            self._blocks.setdefault(block.resource_type._value_, []).append(block)
        words = {word for block in columns.blocks for word in (block.resource_type, block.pattern_type)}
        self._refuse(words.union(*columns.acts), columns.bindings)

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, binding: object) -> bool:
        if not isinstance(binding, AclBinding):
            return False
        for block in self._blocks.get(binding.resource_type._value_, ()):
            if block.pattern_type is binding.pattern_type:
                number = block.number_of(binding.resource_name)
                return number >= 0 and binding in self._of_pattern(block, number)
        return False

    def _of_pattern(self, block: Block, number: int) -> Collection[AclBinding]:
        if self.columns.count_of_pattern(number) <= _COMPARED_ONE_BY_ONE:
            return self.columns.of_pattern(block, number)
        found = self._sets.get(number)
        if found is None:
            found = self._sets[number] = frozenset(self.columns.of_pattern(block, number))
        return found

    def __reduce__(self) -> tuple[Callable[..., AclIndex], tuple[tuple[AclBinding, ...]]]:
        return AclIndex.of_distinct, (self.bindings,)

    @computed_once
    def _given(self) -> tuple[AclBinding, ...]:
        return self.columns.bindings()

    @computed_once
    def bindings(self) -> tuple[AclBinding, ...]:
        return self._given

    def shelf(self, resource_type: ResourceType) -> ColumnShelf | None:
        code = resource_type._value_
        found = self._filed.get(code)
        if found is None and code in self._blocks:
            found = self._filed[code] = ColumnShelf(self.columns, self._blocks[code])
        return found

    def table(self, resource_type: ResourceType) -> MaskTable | None:
        code = resource_type._value_
        found = self._compiled.get(code)
        if found is None:
            self.require_known(_WITHOUT_GLOBS)
            if (shelf := self.shelf(resource_type)) is not None:
                found = self._compiled[code] = ColumnTable(shelf)
        return found

    def table_for(
        self, resource_type: ResourceType, settings: AuthorizerSettings
    ) -> MaskTable | GlobTable | None:
        return super().table_for(resource_type, settings) if settings.has_globs else self.table(resource_type)

    @computed_once
    def first_glob(self) -> AclBinding | None:
        if all(block.pattern_type is not PatternType.GLOB for block in self.columns.blocks):
            return None
        return next(each for each in self._given if each.pattern_type is PatternType.GLOB)

    @computed_once
    def principals(self) -> frozenset[str]:
        return frozenset(self.columns.principals) - {ANY_USER}

    def of_principal(self, principal: str) -> tuple[AclBinding, ...]:
        return tuple(self.columns.list_at(self.columns.places_of_principals.get(principal, ())))

    @computed_once
    def count_by_principal(self) -> Counter[str]:
        return self.columns.count_by_principal()

    @computed_once
    def denies_by_principal(self) -> Counter[str]:
        return self.columns.count_by_principal(PermissionType.DENY)

    def count_by_group(
        self, resource_type: ResourceType, permission: PermissionType, groups: Groups
    ) -> Counter[tuple[str, str]]:
        blocks = self._blocks.get(resource_type._value_, ())
        return self.columns.count_by_group(blocks, permission, groups)

    @computed_once
    def with_unknown(self) -> tuple[AclBinding, ...]:
        words: set[object] = {block.resource_type for block in self.columns.blocks}
        words.update(block.pattern_type for block in self.columns.blocks)
        words.update(*self.columns.acts)
        unknown = (ResourceType.UNKNOWN, PatternType.UNKNOWN, Operation.UNKNOWN, PermissionType.UNKNOWN)
        return () if words.isdisjoint(unknown) else tuple(each for each in self.bindings if each.has_unknown)

    @computed_once
    def hosts(self) -> frozenset[str]:
        return frozenset(self.columns.hosts) - {WILDCARD}


class ColumnShelf(ResourceShelf):
    """The ACLs of one resource type, held as columns."""

    def __init__(self, columns: AclColumns, blocks: Sequence[Block]) -> None:
        """Take the blocks of the type, which stand beside each other."""
        self._columns = columns
        self._start, self._end = columns.span(blocks)
        self._by_type = {block.pattern_type: block for block in blocks}
        self.count = self._end - self._start
        self.unknown_patterns = self._of_type(PatternType.UNKNOWN)
        self.globs = self._of_type(PatternType.GLOB)
        self.literals = _ByName(columns, self._by_type.get(PatternType.LITERAL))
        self.wildcard = self.literals.get(WILDCARD, [])
        block = self._by_type.get(PatternType.PREFIXED)
        self.chain = columns.chain_of(block) if block is not None else NO_PREFIXES
        of_prefix = _ByName(columns, block)
        self.empty_prefix = of_prefix.get("", [])
        self.prefixed = _OfPlaces(of_prefix, bool(self.empty_prefix))

    @computed_once
    def unsorted(self) -> Sequence[AclBinding]:
        return self._columns.all_at(self._seen)

    @computed_once
    def literal_names(self) -> Sequence[str]:
        block = self._by_type.get(PatternType.LITERAL)
        return block.names if block is not None else _NO_BLOCK_NAMES

    @computed_once
    def denies(self) -> list[AclBinding]:
        known = (place for place in self._doing(PermissionType.DENY) if self._has_known_pattern(place))
        return in_scan_order(self._columns.list_at(known))

    @computed_once
    def by_principal(self) -> Mapping[str, Sequence[AclBinding]]:
        return _ByPrincipal(self._columns, self._columns.by_principal(self._seen))

    @computed_once
    def kinds(self) -> frozenset[tuple[int, int]]:
        acts = self._columns.acts
        return frozenset(
            (acts[code][1]._value_, acts[code][0]._value_)
            for code in set(self._columns.act[self._start : self._end])
        )

    @computed_once
    def no_plain_allows(self) -> Mapping[str, Sequence[AclBinding]]:
        plain = {code for code, (_, each) in enumerate(self._columns.acts) if each is PermissionType.ALLOW}
        act = self._columns.act
        others = (
            place for place in self._seen if act[place] not in plain or not self._has_known_pattern(place)
        )
        return _ByPrincipal(self._columns, self._columns.by_principal(others))

    @computed_once
    def _seen(self) -> Codes:
        return self._columns.seen_within(self._start, self._end)

    def _doing(self, permission: PermissionType) -> Iterable[int]:
        wanted = {code for code, (_, each) in enumerate(self._columns.acts) if each is permission}
        act = self._columns.act
        return (place for place in self._seen if act[place] in wanted)

    def _has_known_pattern(self, place: int) -> bool:
        block = self._by_type.get(PatternType.UNKNOWN)
        if block is None:
            return True
        start, end = self._columns.span([block])
        return not start <= place < end

    def _of_type(self, pattern_type: PatternType) -> list[AclBinding]:
        block = self._by_type.get(pattern_type)
        if block is None:
            return []
        return self._columns.list_at(self._columns.seen_within(*self._columns.span([block])))


class ColumnTable(MaskTable):
    """The ACLs of one resource type as masks; those of a principal are compiled when somebody asks about it."""

    __slots__ = ()

    def __init__(self, shelf: ColumnShelf) -> None:
        by_principal = shelf.by_principal
        self.ranges = {}
        self.slots = _Slots(by_principal, self.ranges)
        self.unknown_patterns = tuple(
            each
            for own in (by_principal.values() if shelf.unknown_patterns else ())
            for each in own
            if each.pattern_type is PatternType.UNKNOWN
        )
        empty = [""] if shelf.empty_prefix else []
        self.covered = Cover(shelf.literal_names, [*empty, *shelf.chain.prefixes])
        known = shelf.without_colon
        literals = {each.resource_name for each in known if each.pattern_type is PatternType.LITERAL}
        prefixes = {each.resource_name for each in known if each.pattern_type is not PatternType.LITERAL}
        self.without_colon = Cover(literals, prefixes) if known else None


class _Slots(dict[str, dict[str, Slot]]):
    """principal -> host -> slot, for all principals with a colon; those of one are made when it is looked up."""

    def __init__(
        self, by_principal: Mapping[str, Sequence[AclBinding]], ranges: dict[str, RangeTable]
    ) -> None:
        """Take the ACLs by principal. ranges: where the address ranges of each go, once it is looked up."""
        super().__init__()
        self._by_principal, self._ranges = by_principal, ranges

    def __missing__(self, principal: str) -> dict[str, Slot]:
        if ":" not in principal or principal not in self._by_principal:
            raise KeyError(principal)
        slots, ranges = slots_of_principal(*filed_by_host(self._by_principal[principal], []))
        if ranges is not None:
            self._ranges[principal] = ranges
        self[principal] = slots
        return slots

    def get(self, principal: str, default: Any = None) -> Any:
        try:
            return self[principal]
        except KeyError:
            return default

    def __contains__(self, principal: object) -> bool:
        return isinstance(principal, str) and ":" in principal and principal in self._by_principal

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[str]:
        return (principal for principal in self._by_principal if ":" in principal)

    def keys(self) -> Any:
        return dict.fromkeys(self).keys()

    def items(self) -> Any:
        return {principal: self[principal] for principal in self}.items()

    def values(self) -> Any:
        return {principal: self[principal] for principal in self}.values()


class _ByName(Mapping[str, _Acls]):
    """name -> the ACLs with this very pattern, in the order of entries."""

    def __init__(self, columns: AclColumns, block: Block | None) -> None:
        self._columns, self._block = columns, block
        self._groups: dict[str, _Acls] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return self._block.names if self._block is not None else _NO_BLOCK_NAMES

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._block is not None and self._block.number_of(name) >= 0

    def get(self, name: str, default: Any = None) -> Any:
        found = self._groups.get(name)
        if found is None:
            block = self._block
            number = block.number_of(name) if block is not None else -1
            if block is None or number < 0:
                return default
            found = self._columns.of_pattern(block, number)
            if len(found) > 1:
                found.sort(key=entry_order)
            self._groups[name] = found
        return found

    def __getitem__(self, name: str) -> _Acls:
        found: _Acls | None = self.get(name)
        if found is None:
            raise KeyError(name)
        return found


class _OfPlaces(Sequence[_Acls]):
    """The ACLs of each prefix of a chain."""

    def __init__(self, groups: _ByName, starts_empty: bool) -> None:
        """Take the ACLs by prefix. starts_empty: whether the first of them is the empty one, which no chain has."""
        self._groups, self._before = groups, int(starts_empty)

    def __len__(self) -> int:
        return len(self._groups) - self._before

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return self._groups[self._groups.names[place % len(self) + self._before]]

    def __iter__(self) -> Iterator[_Acls]:
        return map(self._groups.__getitem__, islice(self._groups, self._before, None))


class _ByPrincipal(Mapping[str, _Acls]):
    """principal -> its ACLs, in first-seen order."""

    def __init__(self, columns: AclColumns, places: Mapping[str, Codes]) -> None:
        self._columns, self._places = columns, places
        self._made: dict[str, _Acls] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __contains__(self, principal: object) -> bool:
        return principal in self._places

    def __getitem__(self, principal: str) -> _Acls:
        made = self._made.get(principal)
        if made is None:
            made = self._made[principal] = self._columns.list_at(self._places[principal])
        return made

    def get(self, principal: str, default: Any = None) -> Any:
        return self[principal] if principal in self._places else default
