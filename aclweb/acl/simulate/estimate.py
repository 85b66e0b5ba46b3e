"""How much work does each ACL of an edit make at most, known before any of it is done?

An ACL is compared on the sets of names into which the bindings near it sort what it matches: on the bindings
of its own principal and those for everybody, or on all there are if it is for everybody itself. These are
counted, operation by operation, without looking at a name. Bindings that stay and settle answers by
themselves count for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, filterfalse
from typing import NamedTuple

from aclweb.acl.authorizer import DENY_SHIFT, ResourceShelf
from aclweb.acl.matching import SortedNames
from aclweb.acl.model import (
    ANY_USER,
    OPERATIONS,
    WILDCARD,
    AclBinding,
    PatternType,
    ResourceType,
    computed_once,
    split_principal,
)
from aclweb.acl.simulate.budget import (
    KNOWN_A_STEP,
    LOOKED_AT_A_STEP,
    NAMES_OF_A_DIFFERENCE,
    STEPS_OF_A_KIND,
    STEPS_OF_A_ROW,
    STEPS_OF_A_SET_OF_HOSTS,
    Cost,
)
from aclweb.acl.simulate.nearby import is_for_any_name
from aclweb.acl.simulate.patterns import mask_of_binding, operations_in
from aclweb.acl.simulate.worlds import Worlds

_Counts = dict[int, int]
"""How many bindings say something about each operation, by its code."""


def cost_of_names(worlds: Worlds) -> Cost:
    """Return what a what-if costs at most beside its ACLs: what there is, and the names that are to come."""
    new = [_OfType(worlds, resource_type).cost_of_new_names for resource_type in OPERATIONS]
    return Cost(
        1 + worlds.universe.size // KNOWN_A_STEP + sum(cost.steps for cost in new),
        sum(cost.differences for cost in new),
    )


def costs(worlds: Worlds, *, widest_first: bool = False) -> Iterator[Cost]:
    """Yield for each ACL of the edit what it costs at most to compare what it matches, and what all cost together.

    widest_first: those before all others that change answers to everybody, so that whoever adds up is soon at a bound.
    """
    parts = [
        (of_type, of_type.matching(touching.unsorted if widest_first else touching.bindings))
        for resource_type in OPERATIONS
        if (touching := worlds.touching.shelf(resource_type)) is not None
        for of_type in [_OfType(worlds, resource_type)]
    ]
    if widest_first:
        for of_type, bindings in parts:
            wide = filter(of_type.is_for_many, bindings)
            yield from map(of_type.cost, sorted(wide, key=_is_for_one_name))
    for of_type, bindings in parts:
        yield of_type.cost_of_looking(bindings)
        yield from map(of_type.cost, filterfalse(of_type.is_for_many, bindings) if widest_first else bindings)


def _is_for_one_name(binding: AclBinding) -> bool:
    return binding.pattern_type is PatternType.LITERAL and binding.resource_name != WILDCARD


class _Bindings:
    """Some bindings of one resource type, counted by what they part and by operation.

    all, unsettled: how many patterns part the names of others; the latter without those of which a binding
    that stays settles answers by itself. hosts: into how many more sets their hosts part all hosts.
    wide: the principals with a binding for any name, and its operation; wide_hosts: how many of these bindings
    stay and name a host. count: how many bindings there are. not_single: how many are not for one name.
    """

    def __init__(
        self,
        bindings: Iterable[AclBinding],
        for_any_name: Sequence[AclBinding],
        codes: Sequence[int],
        worlds: Worlds,
    ) -> None:
        """for_any_name: those of the bindings that are for any name."""
        self._given, self._for_any_name = bindings, for_any_name
        self._codes, self._worlds = codes, worlds
        self._asked_below = 0

    @computed_once
    def _bindings(self) -> Sequence[AclBinding]:
        return list(self._given)

    @property
    def count(self) -> int:
        return len(self._bindings)

    @computed_once
    def wide_hosts(self) -> int:
        return sum(binding.host != WILDCARD and self._settles(binding) for binding in self._for_any_name)

    @computed_once
    def not_single(self) -> int:
        narrow = (binding for binding in self._bindings if not is_for_any_name(binding))
        return len(self._for_any_name) + sum(
            binding.pattern_type is PatternType.PREFIXED for binding in narrow
        )

    def _settles(self, binding: AclBinding) -> bool:
        """Whether a binding stays, and is read alike before and afterwards."""
        return self._worlds.same_settings and binding not in self._worlds.touching

    @computed_once
    def wide(self) -> set[tuple[str, int]]:
        return {
            (binding.principal, code)
            for binding in self._for_any_name
            for code in self._codes
            if operations_in(mask_of_binding(binding)) >> code & 1
        }

    @computed_once
    def hosts(self) -> _Counts:
        found = dict.fromkeys(self._codes, 0)
        for binding in self._parting:
            if binding.host != WILDCARD:
                parts, told = sets_of_hosts(self._worlds, binding), operations_in(mask_of_binding(binding))
                for code in self._codes:
                    found[code] += parts if told >> code & 1 else 0
        return found

    @property
    def all(self) -> _Counts:
        return self._by_operation[0]

    @property
    def unsettled(self) -> _Counts:
        return self._by_operation[1]

    @computed_once
    def _by_operation(self) -> tuple[_Counts, _Counts]:
        operations: dict[tuple[int, str, str], tuple[int, int]] = {}
        for binding in self._parting:
            mask = mask_of_binding(binding)
            told = operations_in(mask)
            is_settling = binding.host == WILDCARD and self._settles(binding)
            settled = (mask | mask >> DENY_SHIFT) if is_settling else 0
            key = (binding.pattern_type._value_, binding.resource_name, binding.principal)
            there = operations.get(key, (0, 0))
            operations[key] = (there[0] | told, there[1] | told & ~settled)
        every, unsettled = dict.fromkeys(self._codes, 0), dict.fromkeys(self._codes, 0)
        for told, open_ones in operations.values():
            for code in self._codes:
                every[code] += told >> code & 1
                unsettled[code] += open_ones >> code & 1
        return every, unsettled

    @property
    def _parting(self) -> Iterator[AclBinding]:
        """Those that part names: not what covers all names alike."""
        return filter(_is_parting, self._bindings)

    @computed_once
    def _sorted(self) -> SortedNames:
        touching = self._worlds.touching
        return SortedNames.of_sorted(
            sorted(each.resource_name for each in self._parting if each not in touching)
        )

    def below(self, prefix: str) -> int:
        """Return how many patterns of bindings that stay are for names which begin with a text."""
        self._asked_below += 1
        if self._asked_below > _SORTED_ASKED:
            return self.sorted_below(prefix)
        touching = self._worlds.touching
        near = (each for each in self._bindings if each.resource_name.startswith(prefix))
        return sum(_is_parting(each) and each not in touching for each in near)

    def sorted_below(self, prefix: str) -> int:
        """Return the same, by all names in order."""
        start, end = self._sorted.range_of(prefix)
        return end - start


def _is_parting(binding: AclBinding) -> bool:
    return binding.pattern_type is PatternType.GLOB or not is_for_any_name(binding)


_SORTED_ASKED = 4
"""So often some bindings are counted one by one before all of them are sorted."""


def sets_of_hosts(worlds: Worlds, binding: AclBinding) -> int:
    """Return into how many more sets the host of an ACL parts all hosts."""
    if binding.host == WILDCARD:
        return 0
    return 1 if worlds.universe.matching.range_of(binding.host) is None else 3


class _Found(NamedTuple):
    """What an ACL makes at most. rows: sessions on sets of names. parted: sets of names for everybody that one cuts."""

    rows: int
    parted: int


class _OfType:
    """What the ACLs of an edit are compared on, of one resource type."""

    def __init__(self, worlds: Worlds, resource_type: ResourceType) -> None:
        self.worlds, self.resource_type = worlds, resource_type
        self._codes = [operation._value_ for operation in worlds.universe.operations(resource_type)]
        self._shelves: list[ResourceShelf] = [
            shelf for shelf in worlds.shelves[resource_type] if shelf is not None
        ]
        self._by_principal: dict[str, _Bindings] = {}
        self._known_above: dict[str, int] = {}
        self._asked_of_all = 0

    def _of(self, principal: str) -> _Bindings:
        found = self._by_principal.get(principal)
        if found is None:
            own = (each for shelf in self._shelves for each in shelf.by_principal.get(principal, ()))
            found = self._by_principal[principal] = _Bindings(
                own, self._for_any_name.get(principal, ()), self._codes, self.worlds
            )
        return found

    @computed_once
    def _all(self) -> _Bindings:
        every = (each for shelf in self._shelves for each in shelf.unsorted)
        wide = list(chain.from_iterable(self._for_any_name.values()))
        return _Bindings(every, wide, self._codes, self.worlds)

    @property
    def _count_of_all(self) -> int:
        """How many bindings there are: most edits for everybody ask no more of them, which are not gathered then."""
        return sum(len(shelf.unsorted) for shelf in self._shelves)

    @computed_once
    def _for_any_name(self) -> Mapping[str, list[AclBinding]]:
        """The bindings for any name, by principal."""
        found: dict[str, list[AclBinding]] = {}
        for shelf in self._shelves:
            for binding in chain(shelf.wildcard, shelf.empty_prefix, shelf.globs, shelf.unknown_patterns):
                found.setdefault(binding.principal, []).append(binding)
        return found

    @computed_once
    def _shared(self) -> _Bindings:
        principals = (ANY_USER, *self._globs)
        own = (
            each
            for shelf in self._shelves
            for principal in principals
            for each in shelf.by_principal.get(principal, ())
        )
        wide = [each for principal in principals for each in self._for_any_name.get(principal, ())]
        return _Bindings(own, wide, self._codes, self.worlds)

    @computed_once
    def _globs(self) -> list[str]:
        matching = self.worlds.universe.matching
        return sorted(
            {own for shelf in self._shelves for own in matching.principal_globs(shelf.by_principal)}
        )

    @computed_once
    def _for_globs(self) -> int:
        """How many bindings are for a glob of principals."""
        return sum(len(shelf.by_principal.get(own, ())) for shelf in self._shelves for own in self._globs)

    @computed_once
    def _sessions(self) -> int:
        if self._globs:
            return len(self.worlds.universe.principals) + 1
        return len({principal for shelf in self._shelves for principal in shelf.by_principal})

    def cost(self, binding: AclBinding) -> Cost:
        """Return what it costs at most to compare what one ACL matches."""
        codes = self._codes_changed(binding)
        is_for_many = self.is_for_many(binding)
        found = self._for_many(binding, codes) if is_for_many else self._for_one(binding, codes)
        kept, own = self._sets_of_hosts(binding, is_for_many=is_for_many)
        if is_for_many and binding.principal != ANY_USER:
            # Its own principal has other answers than those who lose the default, or get it back.
            found = _Found(found.rows + len(codes), found.parted)
        if self._globs:
            # Each session that globs match has answers of its own.
            apart = len(codes) * self._sessions * (1 + self._for_globs)
            found = _Found(found.rows + apart, found.parted + apart)
        each = STEPS_OF_A_ROW + (kept + own) * STEPS_OF_A_SET_OF_HOSTS + (1 + own) * STEPS_OF_A_KIND
        sessions = self._sessions + 1 if is_for_many else 1
        steps = found.rows * each + found.parted * (1 + own) * STEPS_OF_A_KIND
        large = len(codes) * sessions * self._differences_of_all_names if is_for_any_name(binding) else 0
        return Cost(steps, (found.rows + found.parted + large) * (1 + own), binding)

    @property
    def can_end_default(self) -> bool:
        """Whether everyone may do what no ACL is about, before or afterwards."""
        return self.worlds.settings.allow_everyone or self.worlds.after_settings.allow_everyone

    def _codes_changed(self, binding: AclBinding) -> Sequence[int]:
        """Return the operations about which an ACL changes answers: all, if it ends the default or brings it back."""
        if self.can_end_default:
            is_one_name = binding.pattern_type is PatternType.LITERAL and binding.resource_name != WILDCARD
            if not (is_one_name and self._above(binding.resource_name)):
                return self._codes
        told = operations_in(mask_of_binding(binding))
        return [code for code in self._codes if told >> code & 1]

    def cost_of_looking(self, bindings: Iterable[AclBinding]) -> Cost:
        """Return what it costs to find what the ACLs of an edit are near, session by session."""
        principals = {ANY_USER if self.is_for_many(each) else each.principal for each in bindings}
        return Cost(sum(map(self._steps_of_looking, principals)), 0)

    def _steps_of_looking(self, principal: str) -> int:
        if principal != ANY_USER:
            return len(self._codes) * (1 + self._of(principal).count // LOOKED_AT_A_STEP)
        looked_at = self._count_of_all + self._sessions * self._shared.not_single
        return len(self._codes) * (1 + self._sessions + looked_at // LOOKED_AT_A_STEP)

    @computed_once
    def _differences_of_all_names(self) -> int:
        return self.worlds.universe.count(self.resource_type) // NAMES_OF_A_DIFFERENCE

    def matching(self, bindings: Iterable[AclBinding]) -> list[AclBinding]:
        """Return those of some ACLs that matter: all whose principal has a type.

        Of the others none matches anybody, but it can end the default that allows everyone.
        """
        if self.can_end_default:
            return list(bindings)
        return [each for each in bindings if split_principal(each.principal) is not None]

    def is_for_many(self, binding: AclBinding) -> bool:
        """Whether an ACL changes answers to everybody, if only by ending the default or bringing it back."""
        matching = self.worlds.universe.matching
        return (
            binding.principal == ANY_USER
            or self.can_end_default
            or matching.is_principal_glob(binding.principal)
        )

    def _sets_of_hosts(self, binding: AclBinding, *, is_for_many: bool) -> tuple[int, int]:
        """Return into how many sets all hosts are sorted, by bindings that stay and by its own host."""
        if is_for_many:
            kept = self._all.wide_hosts if is_for_any_name(binding) else self._shared.wide_hosts
        else:
            kept = self._shared.wide_hosts + self._of(binding.principal).wide_hosts
        return kept, sets_of_hosts(self.worlds, binding)

    def _for_one(self, binding: AclBinding, codes: Sequence[int]) -> _Found:
        """Return what an ACL for one principal makes."""
        own = self._of(binding.principal)
        if is_for_any_name(binding):
            near = (
                self._count(own, binding, code) + self._count(self._shared, binding, code) for code in codes
            )
            # Other ACLs can be on some of the names that none of these parts.
            return _Found(2 * len(codes) + sum(near), 0)
        rows = 1
        if binding.pattern_type is PatternType.PREFIXED:
            # One set more, because other ACLs can be on some of its names alone.
            rows += 1 + own.below(binding.resource_name) + self._shared.below(binding.resource_name)
        return _Found(rows * len(codes), 0)

    def _for_many(self, binding: AclBinding, codes: Sequence[int]) -> _Found:
        """Return what an ACL for everybody makes."""
        if not is_for_any_name(binding):
            near = self._near_of_many(binding, codes) * len(codes)
            # One name is not cut.
            return _Found(len(codes) + near, 0 if binding.pattern_type is PatternType.LITERAL else near)
        rows = parted = 0
        for code in codes:
            shared = self._count(self._shared, binding, code)
            rows += 1 + self._count(self._all, binding, code) + self._wide_sessions(code) * shared
            parted += self._all.all[code]
        return _Found(rows, parted)

    def _near_of_many(self, binding: AclBinding, codes: Sequence[int]) -> int:
        """Return how many bindings of any principal part the names of a LITERAL or a prefix for everybody."""
        text = binding.resource_name
        above = self._above(text)
        if binding.pattern_type is PatternType.LITERAL:
            return above
        wide = max((self._wide_sessions(code) for code in codes), default=0)
        return above + self._all_below(text) + wide * (1 + self._shared.below(text))

    def _all_below(self, text: str) -> int:
        """Return how many patterns of bindings that stay are for names which begin with a text, for whomever."""
        self._asked_of_all += 1
        if self._asked_of_all > _SORTED_ASKED:
            return self._all.sorted_below(text)
        shelf, _ = self.worlds.shelves[self.resource_type]
        if shelf is None:
            return 0
        globs = (each for each in shelf.globs if each.resource_name.startswith(text))
        gone = (
            each
            for each in self.worlds.remove
            if each.resource_type is self.resource_type and each.resource_name.startswith(text)
        )
        there = sum(1 for _ in shelf.beginning_with(text)) + sum(1 for _ in globs)
        return there - sum(map(_is_parting, gone))

    def _above(self, text: str) -> int:
        """Return how many principals have a binding that stays and covers a name."""
        found = self._known_above.get(text)
        if found is None:
            settings, touching = self.worlds.settings, self.worlds.touching
            covering = (each for shelf in self._shelves for each in shelf.covering(text, settings))
            found = len({each.principal for each in covering if each not in touching})
            self._known_above[text] = found
        return found

    def _wide_sessions(self, code: int) -> int:
        """Return how many principals have a binding for any name about an operation."""
        return self._wide.get(code, 0)

    @computed_once
    def _wide(self) -> _Counts:
        found: _Counts = {}
        for principal, code in self._all.wide:
            found[code] = found.get(code, 0) + (principal != ANY_USER)
        return found

    def _count(self, bindings: _Bindings, binding: AclBinding, code: int) -> int:
        """Return how many of these can part the names of an ACL; of one that only allows more, the unsettled."""
        only_allows = binding in self.worlds.added and mask_of_binding(binding) >> code & 1
        return (bindings.unsettled if only_allows else bindings.all)[code] + bindings.hosts[code]

    @property
    def cost_of_new_names(self) -> Cost:
        """What names that do not exist before cost at most."""
        new = self.worlds.universe.new(self.resource_type)
        if not new:
            return Cost(0, 0)
        settings = self.worlds.after_settings
        # Names that the same bindings cover are one set.
        sets = {
            tuple(id(each) for shelf in self._shelves for each in shelf.covering(name, settings))
            for name in new
        }
        wide = sum(map(self._wide_sessions, self._codes))
        rows = sum(1 + len(covering) for covering in sets) * len(self._codes) + wide * len(sets)
        steps = rows * (STEPS_OF_A_ROW + 2 * STEPS_OF_A_KIND + self._all.wide_hosts * STEPS_OF_A_SET_OF_HOSTS)
        sessions = len(self._codes) * (self._sessions + 1)
        return Cost(steps + sessions + self._count_of_all * len(self._codes) // LOOKED_AT_A_STEP, 2 * rows)
