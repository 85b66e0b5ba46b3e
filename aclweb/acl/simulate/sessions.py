"""Whose answers can the edit change, on which names, and by which of their bindings?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from aclweb.acl.authorizer import ALL_BITS
from aclweb.acl.matching import matching_of
from aclweb.acl.model import ANY_USER, AclBinding, PatternType, computed_once, split_principal
from aclweb.acl.simulate.coverage import Coverage
from aclweb.acl.simulate.nearby import Nearby, is_for_any_name
from aclweb.acl.simulate.patterns import (
    NO_UNKNOWN,
    Entry,
    FiledPattern,
    Pattern,
    PatternKey,
    Patterns,
    UnknownPatterns,
    mask_of_binding,
    names_of,
    operations_in,
    operations_of_binding,
)
from aclweb.acl.simulate.sets import Compact, places_in
from aclweb.acl.simulate.sorting_names import CoveredNames, Neighbours, Settled, SharedPatterns, on_sides
from aclweb.acl.simulate.worlds import Worlds


@dataclass(slots=True)
class _Filed:
    """The bindings of a principal, by their patterns.

    masks: those of all of them. operations: all that they are about. changed: those about which an answer can
    change by one of them.
    """

    patterns: dict[PatternKey, FiledPattern] = field(default_factory=dict)
    masks: set[int] = field(default_factory=set)
    operations: int = 0
    changed: int = 0


@dataclass(frozen=True, slots=True)
class AskedSession:
    """One session whose answers are compared.

    principal: None for all that have no class of their own. shared: the principals of the bindings for it
    that are for these too. own: the principals of all other bindings for it. lacked: principals of bindings
    that are for these and not for it. is_turned: whether it is a super user on one side alone.
    """

    principal: str | None
    shared: tuple[str, ...]
    own: tuple[str, ...] = ()
    lacked: tuple[str, ...] = ()
    is_turned: bool = False


_FEW_NAMES = 100
"""Up to so many classes of names, bindings are looked for by name instead of principal by principal."""

_FEW_PATTERNS = 8
"""So few patterns of a principal are all looked at; of more, those near what changes are found first."""


class Sessions:
    """The sessions of one resource type whose answers can differ, and their bindings."""

    def __init__(self, worlds: Worlds, coverage: Coverage, wanted: int) -> None:
        """wanted: the classes of names that count."""
        self.worlds, self.coverage, self._wanted = worlds, coverage, wanted
        self._matching = worlds.universe.matching
        self._read_before, self._read_after = map(matching_of, (worlds.settings, worlds.after_settings))
        self._reads_alike = self._read_before.is_nested == self._read_after.is_nested
        self._shelves = [shelf for shelf in (coverage.shelf, coverage.added) if shelf is not None]
        self._filed: dict[str, _Filed] = {}
        self._latest: dict[str, _Filed] = {}
        self._known_masks: dict[tuple[str, ...], frozenset[int]] = {}
        self._shared: dict[tuple[tuple[str, ...], int], SharedPatterns] = {}
        # Of principals that are looked at for a few names alone, and that no ACL of the edit names: what covers these.
        self._covering: dict[str, dict[int, list[AclBinding]]] = {}
        self.unknown_old: list[AclBinding] = []
        self.unknown_new: list[AclBinding] = []
        if coverage.shelf is not None:
            self.unknown_old = coverage.shelf.unknown_patterns
            self.unknown_new = [b for b in self.unknown_old if b not in worlds.removed]
        if coverage.added is not None:
            self.unknown_new = self.unknown_new + coverage.added.unknown_patterns
        # Whether a binding on either side has a pattern that is not known.
        self.has_unknown_patterns = bool(self.unknown_old or self.unknown_new)

    # Which names.

    @computed_once
    def everywhere(self) -> int:
        """The classes of names on which any answer to anybody can differ."""
        return self._everywhere & self._wanted

    @property
    def _everywhere(self) -> int:
        worlds, coverage, axis = self.worlds, self.coverage, self.coverage.axis
        if worlds.asks_otherwise(coverage.resource_type):
            return axis.all
        names = axis.new
        settings, after_settings = worlds.settings, worlds.after_settings
        if settings.allow_everyone or after_settings.allow_everyone:
            # Where the first ACL comes or the last one goes, the default gives way or comes back.
            names |= coverage.before ^ coverage.after
            if settings.allow_everyone != after_settings.allow_everyone:
                names |= axis.all & ~coverage.before
            if self._changes_unknown_patterns:
                return axis.all
        return names

    @computed_once
    def _changes_unknown_patterns(self) -> bool:
        if self.unknown_old != self.unknown_new:
            return True
        return any(self._is_read_otherwise(binding) for binding in self.unknown_old)

    def _is_read_otherwise(self, binding: AclBinding) -> bool:
        return not self.worlds.same_settings and not self._read_before.reads_caller_as(
            self._read_after, binding
        )

    @computed_once
    def settled(self) -> Settled:
        """Which names' answers are settled by bindings that stay."""
        is_known = self.worlds.same_settings and not self.has_unknown_patterns
        return Settled(is_known, self.coverage.axis.new)

    # Who.

    def asked(self) -> Iterator[AskedSession]:
        """Yield the sessions whose answers can differ from before, or from those of sessions without a class."""
        settings, after_settings = self.worlds.settings, self.worlds.after_settings
        supers, turned = (
            settings.super_users | after_settings.super_users,
            settings.super_users ^ after_settings.super_users,
        )
        for principal in sorted(((self._candidates() - supers) | turned) - {ANY_USER}):
            yield self._session(principal, is_turned=principal in turned)

    def _session(self, principal: str, *, is_turned: bool) -> AskedSession:
        others = self.others.shared
        if not is_turned and self._matching.is_nested:
            own = () if principal == ANY_USER or split_principal(principal) is None else (principal,)
            return AskedSession(principal, others, own)
        principals = self._principals_for(principal)
        shared = tuple(own for own in others if own in principals)
        return AskedSession(
            principal,
            shared,
            tuple(own for own in principals if own not in shared),
            tuple(own for own in others if own not in shared),
            is_turned,
        )

    @computed_once
    def others(self) -> AskedSession:
        """All sessions that have no class of their own."""
        return AskedSession(None, tuple(self._principals_for(None)))

    @computed_once
    def is_for_all(self) -> bool:
        """Whether an answer to sessions without a class of their own can differ."""
        return bool(self.everywhere or self.codes_changed(self.others))

    def _candidates(self) -> set[str]:
        """Return the principals that a binding names: all of them, those near what differs, or those in the edit."""
        near = self._near()
        if near is not None:
            return near - {ANY_USER}
        if self.is_for_all or not self.worlds.same_settings:
            named = {principal for shelf in self._shelves for principal in shelf.by_principal}
        else:
            shelf = self.worlds.touching.shelf(self.coverage.resource_type)
            named = set(shelf.by_principal) if shelf is not None else set()
        named = {principal for principal in named if split_principal(principal) is not None}
        globs = self._matching.principal_globs(named)
        universe = self.worlds.universe
        if globs and (self.is_for_all or not self.worlds.same_settings):
            named |= universe.principals
        elif globs:
            named |= {
                principal
                for principal in universe.principals
                if any(self._matching.is_for(own, universe.session(principal)) for own in globs)
            }
        return named - {ANY_USER}

    def _near(self) -> set[str] | None:
        """Return the principals of the bindings that cover what can differ for everybody, and of those in the edit.

        None where it differs on many classes of names, or where bindings are not found by name. All other
        principals have the answers of sessions without a class of their own.
        """
        worlds, coverage = self.worlds, self.coverage
        if not self.is_for_all or not worlds.same_settings or self.has_unknown_patterns:
            return None
        if any(shelf.globs or self._matching.principal_globs(shelf.by_principal) for shelf in self._shelves):
            return None
        changed = (each for each in self._shared_patterns if each.changed)
        names = (self.everywhere | names_of(changed)) & self._wanted
        if names.bit_count() > _FEW_NAMES:
            return None
        touching = worlds.touching.shelf(coverage.resource_type)
        in_edit = set(touching.by_principal) if touching is not None else set()
        if coverage.shelf is not None:
            for place in places_in(names):
                name = worlds.universe.sample(coverage.resource_type, place)
                for binding in coverage.shelf.covering(name, worlds.settings):
                    if binding.principal not in in_edit:
                        self._covering.setdefault(binding.principal, {}).setdefault(place, []).append(binding)
        return {own for own in (*in_edit, *self._covering) if split_principal(own) is not None}

    def _principals_for(self, principal: str | None) -> list[str]:
        """Return the principals of the bindings for a session."""
        session = self.worlds.universe.session(principal)
        found = self._matching.principals_for(session, self._named)
        return [own for own in dict.fromkeys(found) if own == ANY_USER or split_principal(own) is not None]

    def _named(self) -> list[str]:
        return self._all_named

    @computed_once
    def _all_named(self) -> list[str]:
        return list(dict.fromkeys(p for shelf in self._shelves for p in shelf.by_principal))

    # Their bindings.

    def by_name(self, session: AskedSession) -> list[CoveredNames] | None:
        """Return the few names that count, by a session's own bindings, of which none changes; None where all count."""
        covering = self._covering.get(session.principal) if session.principal is not None else None
        if covering is None or session.own != (session.principal,) or session.lacked:
            return None
        if len(covering) == 1:
            ((place, own),) = covering.items()
            return [CoveredNames(Compact(1, place), list(map(_staying, own)))]
        names: dict[tuple[int, ...], int] = {}
        for place, own in covering.items():
            key = tuple(map(id, own))
            names[key] = names.get(key, 0) | 1 << place
        every = {
            id(each): each for own in covering.values() for each in own
        }  # many cover several of the names
        bindings = {key: _staying(each) for key, each in every.items()}
        return [CoveredNames(Compact.of(own), [bindings[each] for each in key]) for key, own in names.items()]

    def codes_changed(self, session: AskedSession) -> int:
        """Return the operations about which a binding for a session that changes says something."""
        if session.is_turned:
            return ALL_BITS
        codes = self.unknown_patterns(session).changed
        for principal in (*session.shared, *session.own):
            codes |= self._filed_for(principal).changed
        return codes

    def codes_apart(self, session: AskedSession) -> int:
        """Return the operations about which some binding tells a session from those without a class of their own."""
        if session.is_turned or self.has_unknown_patterns:
            return ALL_BITS
        codes = 0
        for principal in (*session.own, *session.lacked):
            codes |= self._filed_for(principal).operations
        return codes

    def masks_beside(self, session: AskedSession, own: frozenset[int]) -> frozenset[int]:
        """Return the masks of the bindings that a session shares with others, and its own."""
        return self._shared_masks(session.shared) | own

    def masks(self, session: AskedSession) -> frozenset[int] | None:
        """Return the masks of the bindings that settle what differs for a session; None where others do too."""
        if session.is_turned or self.has_unknown_patterns:
            return None
        if not self.is_for_all and self._changing_shared is not None:
            return self._masks_near_own(session)
        if not session.own and not session.lacked:
            return self._shared_masks(session.shared)
        own = (self._filed_for(principal).masks for principal in (*session.own, *session.lacked))
        return self._shared_masks(session.shared).union(*own)

    def _masks_near_own(self, session: AskedSession) -> frozenset[int]:
        """Return the masks of those bindings that share a name with one for a session by name that changes."""
        own = [filed for principal in session.own for filed in self._filed_for(principal).patterns.values()]
        changed = [filed for filed in own if filed.changed]
        shared: Iterable[FiledPattern] = self._shared_patterns
        if len(own) + len(self._shared_patterns) <= _FEW_PATTERNS:
            names = names_of(changed)
            own = [filed for filed in own if filed.covers.touches(names)]
            shared = [filed for filed in shared if filed.covers.touches(names)]
        elif not any(filed.covers.is_wide for filed in changed):
            shared = self._shared_neighbours.near(changed)
        return frozenset().union(*(filed.masks for filed in (*own, *shared)))

    @computed_once
    def _shared_patterns(self) -> list[FiledPattern]:
        """The patterns of the bindings for everybody."""
        return [each for own in self.others.shared for each in self._filed_for(own).patterns.values()]

    @computed_once
    def _shared_neighbours(self) -> Neighbours[FiledPattern]:
        return Neighbours(self._shared_patterns)

    def _shared_masks(self, shared: tuple[str, ...]) -> frozenset[int]:
        found = self._known_masks.get(shared)
        if found is None:
            found = frozenset().union(*(self._filed_for(principal).masks for principal in shared))
            self._known_masks[shared] = found
        return found

    def shared(self, session: AskedSession, bit: int) -> SharedPatterns:
        """Return the patterns that a session shares with those that have no class of their own."""
        key = (session.shared, bit)
        found = self._shared.get(key)
        if found is None:
            found = self._shared[key] = SharedPatterns(
                self._patterns(session.shared, bit), self.settled, self.everywhere, self._wanted
            )
        return found

    def own_filed(self, session: AskedSession) -> list[FiledPattern]:
        """Return the patterns of a session's own bindings, principal by principal."""
        return [filed for own in session.own for filed in self._filed_for(own).patterns.values()]

    def own_alone(self, session: AskedSession) -> Mapping[PatternKey, FiledPattern]:
        """Return them where a session has at most one principal of its own."""
        assert len(session.own) <= 1
        return self._filed_for(session.own[0]).patterns if session.own else {}

    def can_be_taken_at_once(self, session: AskedSession) -> bool:
        """Whether nothing but ACLs for it by name, with known patterns, tells a session from all others."""
        return self._matching.is_nested and not self.has_unknown_patterns and not session.is_turned

    def own(self, session: AskedSession, bit: int) -> Patterns:
        """Return the patterns of a session's own bindings about the operation of a bit, or about one of several."""
        return self._patterns(session.own, bit)

    def lacked(self, session: AskedSession, bit: int) -> Iterable[Pattern]:
        """Return the patterns of those bindings that are for all others, and not for this session."""
        return self._patterns(session.lacked, bit).values() if session.lacked else ()

    def _patterns(self, principals: Sequence[str], bit: int) -> Patterns:
        found: Patterns = {}
        for principal in principals:
            for key, filed in self._filed_for(principal).patterns.items():
                if filed.operations & bit:
                    there = found.get(key)
                    own = filed.about(bit)
                    found[key] = own if there is None else there.joined_with(own)
        return found

    def _filed_for(self, principal: str) -> _Filed:
        filed = self._filed.get(principal)
        if filed is not None:
            return filed
        filed = self._latest.get(principal)
        if filed is not None:
            return filed
        filed = self._file(principal)
        if principal in self.others.shared or self._matching.is_principal_glob(principal):
            self._filed[principal] = filed
        else:
            # One session after the other is looked at, so that only the latest one's are kept.
            self._latest = {principal: filed}
        return filed

    def _file(self, principal: str) -> _Filed:
        filed = _Filed()
        worlds, shelf, added = self.worlds, self.coverage.shelf, self.coverage.added
        same = worlds.same_settings
        own: Sequence[AclBinding] = ()
        if shelf is not None:
            own = shelf.by_principal.get(principal, ())
        near = self._near_changes(principal) if len(own) > _FEW_PATTERNS else None
        for binding in own if near is None else near.among(own):
            stays = binding not in worlds.removed
            is_changed = not stays or (not same and self._is_read_otherwise(binding))
            self._add(filed, binding, is_old=True, is_new=stays, is_changed=is_changed)
        for binding in added.by_principal.get(principal, ()) if added is not None else ():
            self._add(filed, binding, is_old=False, is_new=True, is_changed=True)
        return filed

    def _near_changes(self, principal: str) -> Nearby | None:
        """Return what tells which bindings for a principal can matter; None where all can."""
        if principal in self.others.shared or self._changing_shared is None:
            return None
        changing = self._changing(principal)
        if any(map(is_for_any_name, changing)):
            return None
        return Nearby((*self._changing_shared, *changing))

    @computed_once
    def _changing_shared(self) -> Sequence[AclBinding] | None:
        """The bindings for everybody that change; None where answers can differ on other names than are near these."""
        if not (self.worlds.same_settings and self._matching.is_nested):
            return None
        if self.has_unknown_patterns or self.everywhere:
            return None
        changing = [binding for own in self.others.shared for binding in self._changing(own)]
        return None if any(map(is_for_any_name, changing)) else changing

    def _changing(self, principal: str) -> Sequence[AclBinding]:
        """Return the bindings for a principal that come or go."""
        touching = self.worlds.touching.shelf(self.coverage.resource_type)
        return touching.by_principal.get(principal, ()) if touching is not None else ()

    def _add(
        self, filed: _Filed, binding: AclBinding, *, is_old: bool, is_new: bool, is_changed: bool
    ) -> None:
        pattern_type = binding.pattern_type
        if pattern_type is PatternType.UNKNOWN:
            return
        # `_value_` because the hash of an enum is a Python function, and this is called for every binding.
        key = (pattern_type._value_, binding.resource_name)
        found = filed.patterns.get(key)
        if found is None:
            covers = self.coverage.names_of(pattern_type, binding.resource_name)
            found = filed.patterns[key] = FiledPattern(covers)
        mask = mask_of_binding(binding)
        before, after = mask if is_old else 0, mask if is_new else 0
        found.add(Entry(binding, binding.host, before, after, operations_in(mask), is_changed))
        filed.masks.add(mask)
        filed.operations |= found.operations
        filed.changed |= found.changed

    def read_for(self, principal: str | None, entries: list[Entry]) -> list[Entry]:
        """Return what some bindings say to a session as either side reads their principals."""
        if self._reads_alike:
            return entries
        found: list[Entry] = []
        for entry in entries:
            is_before, is_after = self._for_session(entry.binding, principal)
            found += on_sides([entry], is_before=is_before, is_after=is_after)
        return found

    def _for_session(self, binding: AclBinding, principal: str | None) -> tuple[bool, bool]:
        """Whether a binding is for a session as either side reads its principal."""
        if self._reads_alike:
            return True, True
        own, session = binding.principal, self.worlds.universe.session(principal)
        return self._read_before.is_for(own, session), self._read_after.is_for(own, session)

    def unknown_patterns(self, session: AskedSession) -> UnknownPatterns:
        """Return the bindings for a session whose pattern is not known."""
        if not self.has_unknown_patterns:
            return NO_UNKNOWN
        principals = {*session.shared, *session.own}
        before, after = (
            {binding: None for binding in side if binding.principal in principals}
            for side in (self.unknown_old, self.unknown_new)
        )
        changed = 0
        for binding in before | after:
            if (binding in before) != (binding in after) or self._is_read_otherwise(binding):
                changed |= operations_of_binding(binding)
        return UnknownPatterns(
            [binding for binding in before if self._for_session(binding, session.principal)[0]],
            [binding for binding in after if self._for_session(binding, session.principal)[1]],
            changed,
        )

    def tells_by_unknown_patterns(self, session: AskedSession) -> bool:
        """Whether a binding with an unknown pattern is for a session and not for all others, or the reverse."""
        if not self.has_unknown_patterns:
            return False
        own = {*session.own, *session.lacked}
        return any(binding.principal in own for binding in (*self.unknown_old, *self.unknown_new))


def _staying(binding: AclBinding) -> Entry:
    """Return a binding that is there before and afterwards."""
    mask = mask_of_binding(binding)
    return Entry(binding, binding.host, mask, mask, operations_in(mask), is_changed=False)
