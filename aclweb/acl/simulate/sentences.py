"""How is a group of answers said to a person: who, which names, from where?

One set of words for pages, commands and the sentences about drift. A phrase is a sequence of pieces, so
that a page can set names apart from words and a command can quote them (`plain`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from aclweb.acl.model import ResourceType, name_text, number_of
from aclweb.acl.simulate.axes import ANY_OTHER, PATTERN, PREFIX, NameAxis, NameClass, NameSet, TextAxis
from aclweb.acl.simulate.describing import Described, Region
from aclweb.acl.simulate.wording import ON_A_RANGE

MOST_SAID = 3
"""How many names, principals or hosts a phrase spells out before it counts the rest."""


class Piece(NamedTuple):
    """A part of a phrase: words, or the name of something in the cluster."""

    text: str
    is_name: bool = False


Phrase = tuple[Piece, ...]


def plain(phrase: Iterable[Piece]) -> str:
    """Return a phrase as text, with names quoted where they must be."""
    return "".join(name_text(piece.text) if piece.is_name else piece.text for piece in phrase)


def thing(resource_type: ResourceType) -> str:
    """Return what one resource of a type is called within a sentence."""
    return resource_type.name.lower().replace("_", " ")


def who(axis: TextAxis, members: int, most: int = MOST_SAID) -> Phrase:
    """Return the principals of a set in words."""
    return tuple(_everything_but(*axis.described(members), "Everyone", "principal", most))


def where(axis: TextAxis, members: int, most: int = MOST_SAID, *, reason: str | None = None) -> Phrase:
    """Return the hosts of a set in words; nothing where it is all of them. reason: as for `hosts_of`."""
    is_rest, texts = hosts_of(axis, members, reason)
    if is_rest and not texts:
        return () if axis.described(members) == (True, ()) else (Piece("from an address that no ACL names"),)
    return (Piece("from "), *_everything_but(is_rest, texts, "anywhere", "host", most))


def hosts_of(axis: TextAxis, members: int, reason: str | None) -> tuple[bool, tuple[str, ...]]:
    """Return whether a set is all hosts but some, and these; or False and the hosts that it holds.

    reason: why answers from them depend, if they do. What depends on a range is not said to be outside of it:
    so older versions of aclweb stored it, and so it is under the GLOB proposal.
    """
    is_rest, texts = axis.described(members)
    if is_rest and depends_on_range(reason):
        texts = tuple(text for text in texts if "/" not in text)
    return is_rest, texts


def depends_on_range(reason: str | None) -> bool:
    """Whether answers depend on the range that an address is in, by the reason that is shown for them."""
    return reason is not None and reason.startswith(ON_A_RANGE)


def which(names: Described, most: int = MOST_SAID, *, is_typed: bool = False) -> Phrase:
    """Return names in words. is_typed: whether topics are called topics too where only their names are said."""
    regions, kind = names.regions, names.resource_type
    parts = [tuple(_of_region(kind, region, most)) for region in regions[:most]]
    if (more := len(regions) - most) > 0:
        parts.append((Piece(f"those under {number_of(more, 'more prefix', 'more prefixes')}"),))
    parts += [tuple(part) for part in _of_rest(kind, names.rest, most, is_typed=is_typed)]
    return tuple(_joined(parts, last=", and " if regions else " and "))


def which_of(resource_type: ResourceType, classes: Iterable[NameClass], most: int = MOST_SAID) -> Phrase:
    """Return some classes of names in words, whatever others there are."""
    names = set(classes)
    axis = NameAxis.of(names)
    return which(Described(resource_type, (), NameSet(axis, axis.all)), most)


def _everything_but(
    is_rest: bool, texts: Sequence[str], everything: str, one: str, most: int
) -> Iterator[Piece]:
    if is_rest:
        yield Piece(f"{everything} but " if texts else everything)
    yield from _listed([Piece(text, is_name=True) for text in texts[:most]], len(texts), one)


def _of_region(resource_type: ResourceType, region: Region, most: int) -> Iterator[Piece]:
    one = thing(resource_type)
    yield Piece(f"every {one}{' to come' if region.is_to_come else ''}")
    if region.start:
        yield Piece(" that starts with ")
        yield Piece(region.start, is_name=True)
    if not region.is_to_come:
        now = f"{region.existing:,}" if region.existing else "none known"
        yield Piece(f" ({now} now, and all to come)")
    if region.less_starts or region.less:
        yield Piece(", except ")
        yield from _excepted(resource_type, region, most)


def _excepted(resource_type: ResourceType, region: Region, most: int) -> Iterator[Piece]:
    parts: list[tuple[Piece, ...]] = [
        (Piece("those that start with "), Piece(start, is_name=True)) for start in region.less_starts[:most]
    ]
    if region.less:
        singles, others = _singles(region.less)
        shown = list(islice(others, most))
        if singles:
            names = [Piece(text, is_name=True) for _, text in islice(singles, most)]
            parts.append(tuple(_listed(names, len(singles), "")))
        parts += [tuple(_of_class(resource_type, each, is_excepted=True)) for each in shown]
        left = len(others) - len(shown)
    else:
        left = 0
    left += len(region.less_starts[most:])
    if left:
        parts.append((Piece(f"{left:,} more"),))
    yield from _joined(parts)


def _of_rest(
    resource_type: ResourceType, rest: NameSet, most: int, *, is_typed: bool
) -> Iterator[Iterable[Piece]]:
    if not rest:
        return
    singles, others = _singles(rest)
    if resource_type is ResourceType.CLUSTER:
        yield (Piece("the cluster"),)
        return
    if singles:
        yield _of_names(resource_type, singles, most, is_typed=is_typed)
    for each in islice(others, most):
        yield _of_class(resource_type, each)
    if len(others) > most:
        yield (Piece(f"{len(others) - most:,} more kinds of name"),)


def _of_names(resource_type: ResourceType, names: NameSet, most: int, *, is_typed: bool) -> Iterator[Piece]:
    one = thing(resource_type)
    is_typed = is_typed or resource_type is not ResourceType.TOPIC
    if is_typed:
        yield Piece(f"{one}{'s' if len(names) > 1 else ''} ")
    shown = [Piece(text, is_name=True) for _, text in islice(names, most)]
    yield from _listed(shown, len(names), "" if is_typed else one)


def _of_class(resource_type: ResourceType, names: NameClass, *, is_excepted: bool = False) -> Iterator[Piece]:
    kind, text = names
    one = thing(resource_type)
    if kind == ANY_OTHER or (kind == PREFIX and not text):
        yield Piece("all other names" if is_excepted else f"any other {one}")
        return
    if is_excepted:
        yield Piece("names that match " if kind == PATTERN else "other names that start with ")
    else:
        yield Piece(f"any {one} that matches " if kind == PATTERN else f"any other {one} that starts with ")
    yield Piece(text, is_name=True)


def _singles(names: NameSet) -> tuple[NameSet, NameSet]:
    """Return the single names of a set, and its other classes."""
    exact = names.axis.all_exact
    return NameSet(names.axis, names.members & exact), NameSet(names.axis, names.members & ~exact)


def _listed(shown: Sequence[Piece], count: int, one: str) -> Iterator[Piece]:
    """Yield the first of so many things, with commas, and how many more there are."""
    more = count - len(shown)
    parts: list[tuple[Piece, ...]] = [(piece,) for piece in shown]
    if more:
        parts.append((Piece(number_of(more, f"more {one}") if one else f"{more:,} more"),))
    yield from _joined(parts)


def _joined(parts: Sequence[Sequence[Piece]], last: str = " and ") -> Iterator[Piece]:
    for place, part in enumerate(parts):
        if place:
            yield Piece(last if place == len(parts) - 1 else ", ")
        yield from part
