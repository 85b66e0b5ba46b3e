"""In which few words can the names of a group be said: all that begin so, but for these, and those?

A set of names is divided into regions ("every topic that begins with `payments.`", less what is
excepted) and what is left, name by name. A region begins as a changed pattern does, so people read
their own ACL again. `Described.covers` evaluates the words, so a test holds them to the set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from aclweb.acl.model import ResourceType
from aclweb.acl.simulate.axes import EXACT, NameAxis, NameClass, NameSet
from aclweb.acl.simulate.impact import Group, Impact
from aclweb.acl.simulate.sets import places_in, run, whole_of


@dataclass(frozen=True)
class Region:
    """All names that begin with a text, but for some.

    start: the text; `""` for all names. is_to_come: whether names that exist are left out. existing: how
    many of the names exist. less_starts: those that begin so are excepted, how ever they go on; less: and these.
    """

    start: str
    is_to_come: bool
    existing: int
    less_starts: tuple[str, ...]
    less: NameSet


@dataclass(frozen=True)
class Described:
    """A set of names of one resource type: regions, and what is in none of them."""

    resource_type: ResourceType
    regions: tuple[Region, ...]
    rest: NameSet

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many things each list holds that the words spell out."""
        parts = [len(part) for each in self.regions for part in (each.less_starts, each.less)]
        return (len(self.regions), *parts, len(self.rest))

    def covers(self, names: NameClass) -> bool:
        """Whether the words hold for a class of names."""
        return names in self.rest or any(_holds(region, names, self.rest.axis) for region in self.regions)


def _holds(region: Region, names: NameClass, axis: NameAxis) -> bool:
    kind, text = names
    begins = not region.start or (kind in (EXACT, "PREFIX") and text.startswith(region.start))
    if not begins or names in region.less:
        return False
    if region.is_to_come and kind == EXACT and axis.given >> axis.place_of(text) & 1:
        return False
    return not (kind in (EXACT, "PREFIX") and text.startswith(region.less_starts or ("\0\0",)))


def described(impact: Impact, group: Group) -> Described:
    """Return the names of a group in as few words as the changed patterns allow."""
    return described_together(impact, [group])


def described_together(impact: Impact, groups: Sequence[Group]) -> Described:
    """Return the names of at least one group, all of one resource type, as `described` does those of one."""
    kind = groups[0].resource_type
    # Thousands of groups share one set.
    names = whole_of({id(group.compact_names): group.compact_names for group in groups}.values())
    return describe(
        kind, impact.axes.names[kind], names, impact.starts.get(kind, ()), impact.unmet.get(kind, 0)
    )


def describe(
    kind: ResourceType, axis: NameAxis, names: int, starts: tuple[str, ...], unmet: int = 0
) -> Described:
    """Return a set of names in words. starts: with what a region may begin. unmet: classes of nobody's names."""
    regions: list[Region] = []
    left = names
    for start in sorted(_that_hold_a_rest(axis, names, frozenset(starts)), key=len):
        if not left >> axis.place_of_rest(start) & 1:
            continue
        whole = axis.beginning_with(start) & ~unmet
        within = names & whole
        existing = whole & axis.given
        is_to_come = 2 * (within & existing).bit_count() < existing.bit_count()
        if is_to_come:
            whole &= ~existing
        less = whole & ~names
        if less.bit_count() <= (names & whole).bit_count():
            regions.append(_region(axis, start, names & whole, less, whole, is_to_come=is_to_come))
            left &= ~whole
    return Described(kind, tuple(regions), NameSet(axis, left))


def _that_hold_a_rest(axis: NameAxis, names: int, starts: Collection[str]) -> Iterator[str]:
    """Yield those texts of which some names hold the class that nobody gave, in their order; `""` last.

    An edit can have ten thousands of these texts, of which a group is about a few.
    """
    first = len(axis.exact)
    prefixes = (axis.prefixes[place] for place in places_in(names >> first & run(0, len(axis.prefixes))))
    yield from (text for text in prefixes if text and text in starts)
    rest = axis.place_of_rest("")
    if "" in starts and rest >= 0 and names >> rest & 1:
        yield ""


def _region(axis: NameAxis, start: str, names: int, less: int, whole: int, *, is_to_come: bool) -> Region:
    less_starts = []
    for text in _prefixes_in(axis, less):
        own = axis.beginning_with(text) & whole
        # The class of those to come is in it, so that what begins so is excepted for ever.
        if own & less and not own & ~less:
            less_starts.append(text)
            less &= ~own
    return Region(
        start, is_to_come, (names & axis.given).bit_count(), tuple(less_starts), NameSet(axis, less)
    )


def _prefixes_in(axis: NameAxis, members: int) -> Iterator[str]:
    first = len(axis.exact)
    found = NameSet(axis, members & run(first, first + len(axis.prefixes)))
    yield from sorted((text for _, text in found), key=len)
