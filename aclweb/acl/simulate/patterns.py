"""What are the patterns of one session's bindings, and which classes of names does each cover?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from aclweb.acl.authorizer import ALL_BITS, DENY_SHIFT, MAYBE_SHIFT, mask_of
from aclweb.acl.model import WILDCARD, AclBinding, Operation, PatternType, PermissionType
from aclweb.acl.simulate.sets import Compact, Run, run, set_of

PatternKey = tuple[int, str]
"""The code of a pattern type, and the text."""

_PREFIXED = PatternType.PREFIXED


# By `_value_`, because the hash of an enum is a Python function and this is asked for every binding.
_MASKS = {
    (permission._value_, operation._value_): mask_of(operation, permission)
    for permission in (PermissionType.ALLOW, PermissionType.DENY, PermissionType.UNKNOWN)
    for operation in Operation
    if operation is not Operation.ANY
}


def mask_of_parts(kind: tuple[int, int]) -> int:
    """Return what a binding with these codes of its permission and its operation adds to a mask."""
    return _MASKS[kind]


def mask_of_binding(binding: AclBinding) -> int:
    """Return what a binding adds to a mask."""
    return _MASKS[binding.permission_type._value_, binding.operation._value_]


def operations_in(mask: int) -> int:
    """Return the operations about which a mask says something, or perhaps does, by their codes."""
    mask |= mask >> MAYBE_SHIFT
    return (mask | mask >> DENY_SHIFT) & ALL_BITS


def operations_of_binding(binding: AclBinding) -> int:
    """Return the operations about which a binding says something, or perhaps does, by their codes."""
    return operations_in(mask_of_binding(binding))


class Entry(NamedTuple):
    """One binding. before, after: what it adds to a mask on either side where it covers a name; 0 if it is not there.

    operations: those about which it says something, by their codes. is_changed: whether it comes, goes, or is
    read otherwise for its principal or host.
    """

    binding: AclBinding
    host: str
    before: int
    after: int
    operations: int
    is_changed: bool


@dataclass(frozen=True, slots=True)
class UnknownPatterns:
    """A session's bindings with an unknown pattern, on either side. changed: the operations about which one changes."""

    before: Sequence[AclBinding] = ()
    after: Sequence[AclBinding] = ()
    changed: int = 0


NO_UNKNOWN = UnknownPatterns()


_SHORT = 256
"""So many names in runs are put into a set one by one sooner than as a set of their own."""

UNFOLDED = -1
"""In the place of a set of classes: it is made of the runs when it is asked for."""


@dataclass(slots=True)
class PatternNames:
    """The classes of names that one pattern covers. place: of the only one, of a LITERAL; else -1.

    own_before, own_after: the sets of all others; read `before` and `after`, which hold for both. runs: those of
    a prefix as two runs of places, where they are no more than these; then the sets may be `UNFOLDED`.
    """

    pattern_type: PatternType
    text: str
    place: int
    _before: int
    _after: int
    runs: tuple[Run, Run] | None = None

    @property
    def own_before(self) -> int:
        if self._before < 0:
            assert self.runs is not None
            self._before = self._after = run(*self.runs[0]) | run(*self.runs[1])
        return self._before

    @property
    def own_after(self) -> int:
        return self._after if self._after >= 0 else self.own_before

    @property
    def are_few(self) -> bool:
        """Whether these are in two short runs, of which no set was made."""
        if self._before >= 0 or self.runs is None:
            return False
        (start, end), (behind, last) = self.runs
        return end - start + last - behind <= _SHORT

    @property
    def key(self) -> PatternKey:
        return self.pattern_type._value_, self.text

    @property
    def is_wide(self) -> bool:
        """Whether it is not for one name, nor for those that begin with a text."""
        return self.place < 0 and not (self.pattern_type is _PREFIXED and self.text)

    @property
    def before(self) -> int:
        """The classes that it covers before."""
        return self.own_before if self.place < 0 else 1 << self.place

    @property
    def after(self) -> int:
        """The classes that it covers afterwards."""
        return self.own_after if self.place < 0 else 1 << self.place

    @property
    def moved(self) -> int:
        """The classes that it covers on one side alone."""
        return (
            0
            if self.runs is not None or self.own_before is self.own_after
            else self.own_before ^ self.own_after
        )

    def touches(self, names: int) -> bool:
        """Whether it covers one of these classes, before or afterwards."""
        if self.place >= 0:
            return bool(names >> self.place & 1)
        if self.own_before & names:
            return True
        return self.own_after is not self.own_before and bool(self.own_after & names)

    def among(self, names: int) -> Compact:
        """Return those of some classes that it covers before."""
        if self.runs is not None:
            return Compact.cut(names, *self.runs)
        return Compact.of(self.own_before & names)


@dataclass(slots=True)
class Pattern:
    """One pattern with those of a session's bindings that have it and say something about one operation, or any.

    is_changed: whether one comes, goes or is read otherwise. only_allows: whether those that do are ALLOWs for
    certain. keeps_deny, keeps_allow: whether a DENY, or an ALLOW, stays that is for every host.
    """

    covers: PatternNames
    entries: list[Entry]
    is_changed: bool = False
    only_allows: bool = True
    keeps_deny: bool = False
    keeps_allow: bool = False

    def joined_with(self, other: Pattern) -> Pattern:
        """Return the same pattern with the bindings of both."""
        return Pattern(
            self.covers,
            self.entries + other.entries,
            self.is_changed or other.is_changed,
            self.only_allows and other.only_allows,
            self.keeps_deny or other.keeps_deny,
            self.keeps_allow or other.keeps_allow,
        )


Patterns = dict[PatternKey, Pattern]


@dataclass(slots=True)
class FiledPattern:
    """One pattern with all bindings of a principal that have it.

    operations: all that they are about. changed: those about which an answer can change by one of them.
    masks: those of all of them.
    """

    covers: PatternNames
    entries: list[Entry] = field(default_factory=list)
    operations: int = 0
    changed: int = 0
    masks: set[int] = field(default_factory=set)

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.masks.add(entry.before | entry.after)
        self.operations |= entry.operations
        if entry.is_changed or self.covers.moved:
            self.changed |= entry.operations

    def about(self, bit: int) -> Pattern:
        """Return it with those of its bindings that say something about the operation of a bit."""
        found = Pattern(self.covers, [entry for entry in self.entries if entry.operations & bit])
        for entry in found.entries:
            mask = entry.before | entry.after
            if entry.is_changed:
                found.is_changed = True
                found.only_allows &= bool(mask & bit)
            elif entry.host == WILDCARD:
                found.keeps_allow |= bool(mask & bit)
                found.keeps_deny |= bool(mask >> DENY_SHIFT & bit)
        return found


PatternWithBindings = Pattern | FiledPattern
"""One pattern with some of the bindings that have it, or with all of them."""


class NamesApart(NamedTuple):
    """Some classes of names: single ones by their places, the others as a set."""

    places: list[int]
    others: int

    @property
    def all(self) -> int:
        return self.others | set_of(self.places) if self.places else self.others


def names_apart(patterns: Iterable[PatternWithBindings]) -> NamesApart:
    """Return the classes of names that some of these patterns cover before or afterwards."""
    names, places = 0, []
    for pattern in patterns:
        covers = pattern.covers
        if covers.place >= 0:
            places.append(covers.place)
        elif covers.are_few:
            for start, end in covers.runs or ():
                places += range(start, end)
        else:
            names |= covers.own_before
            if covers.own_after is not covers.own_before:
                names |= covers.own_after
    return NamesApart(places, names)


def names_of(patterns: Iterable[PatternWithBindings]) -> int:
    """Return the same as one set."""
    return names_apart(patterns).all


def changed_names(patterns: Iterable[Pattern]) -> int:
    """Return the classes of names on which a binding with one of these patterns comes, goes or is read otherwise."""
    names, changed = 0, []
    for pattern in patterns:
        if pattern.is_changed:
            changed.append(pattern)
        else:
            names |= pattern.covers.moved
    return names | names_of(changed)


def losing_names(patterns: Iterable[Pattern]) -> int:
    """Return the names on which something else than an ALLOW comes or goes."""
    return names_of(pattern for pattern in patterns if pattern.is_changed and not pattern.only_allows)


_FEW = 8
"""So few patterns are walked over once; of more, single names are put into a set together."""


class OwnNames(NamedTuple):
    """On which classes of names some of a session's patterns say what about one operation.

    all: that they cover before or afterwards. changed: where a binding comes, goes or is read otherwise.
    losing: where something else than an ALLOW does. denied, allowed: where a DENY, or an ALLOW, stays for every host.
    """

    all: int
    changed: int
    losing: int
    denied: int
    allowed: int

    @classmethod
    def of(cls, patterns: Collection[Pattern]) -> OwnNames:
        """Return the names of these patterns; the same as `names_of` and `changed_names` do, in one walk."""
        if len(patterns) > _FEW:
            return cls(
                names_of(patterns),
                changed_names(patterns),
                losing_names(patterns),
                names_of(pattern for pattern in patterns if pattern.keeps_deny),
                names_of(pattern for pattern in patterns if pattern.keeps_allow),
            )
        every = changed = losing = denied = allowed = 0
        for pattern in patterns:
            covers = pattern.covers
            own = covers.before if covers.own_before is covers.own_after else covers.before | covers.after
            every |= own
            if pattern.is_changed:
                changed |= own
                if not pattern.only_allows:
                    losing |= own
            elif covers.own_before is not covers.own_after:
                changed |= covers.moved
            if pattern.keeps_deny:
                denied |= own
            if pattern.keeps_allow:
                allowed |= own
        return cls(every, changed, losing, denied, allowed)
