"""Who owns this name, and how is it labelled?

A row of the name itself counts before one of a prefix, a longer prefix before a shorter one.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, takewhile
from operator import attrgetter

from django.db.models import Q

from aclweb.acl.model import WILDCARD, PatternType, ResourcePattern
from aclweb.inventory.models import Cluster, OwnedNames

_LONGEST_PREFIX = 500  # characters of the column
_GLOB_SIGNS = re.compile(r"[*?]")


@dataclass(frozen=True)
class Owned:
    """What is said of a name.

    owner: "" if nobody is named. said_of: the name or the prefix whose row says so.
    """

    owner: str
    labels: tuple[str, ...]
    said_of: str
    by_prefix: bool

    @classmethod
    def of(cls, row: tuple[str, str, str, str]) -> Owned:
        pattern_type, name, owner, labels = row
        words = tuple(labels.split(", ")) if labels else ()
        return cls(owner, words, name, pattern_type == OwnedNames.Pattern.PREFIXED)

    @property
    def why(self) -> str:
        """Which row says so."""
        return f"said of all names that begin with {self.said_of}" if self.by_prefix else "said of this name"


@dataclass(frozen=True)
class MatchedNames:
    """Names of one owner and the same labels that some ACLs match: those or such as begin so, by kind and text."""

    owner: str
    labels: tuple[str, ...]
    names: tuple[tuple[str, str, bool], ...]


_COLUMNS = ("pattern_type", "name", "owner", "labels")


def owner_of(cluster: Cluster, kind: str, name: str) -> Owned | None:
    """Return what is said of one name; one query. kind: of OwnedNames.Kind, any other has no owner."""
    if kind not in OwnedNames.Kind.values:
        return None
    # No row holds what one cannot see, and no database takes some of it.
    seen = "".join(takewhile(str.isprintable, name[:_LONGEST_PREFIX]))
    prefixes = [seen[:end] for end in range(1, len(seen) + 1)]
    wanted = Q(pattern_type=OwnedNames.Pattern.PREFIXED, name__in=prefixes)
    if seen == name:
        wanted |= Q(pattern_type=OwnedNames.Pattern.LITERAL, name=name)
    rows = cluster.owned_names.filter(wanted, kind=kind).values_list(*_COLUMNS)
    found = [Owned.of(row) for row in rows]
    return max(found, key=lambda each: (not each.by_prefix, len(each.said_of)), default=None)


_Row = tuple[str, str, str, str, str]


class _Filed:
    """Rows, filed by kind and name."""

    def __init__(self, rows: tuple[_Row, ...]) -> None:
        self.rows = rows
        self.literal: dict[tuple[str, str], Owned] = {}
        self.prefixed: dict[tuple[str, str], Owned] = {}
        self.by_name: dict[str, list[Owned]] = {}
        lengths: dict[str, set[int]] = defaultdict(set)
        for kind, *row in rows:
            each = Owned.of((row[0], row[1], row[2], row[3]))
            (self.prefixed if each.by_prefix else self.literal)[kind, each.said_of] = each
            if each.by_prefix:
                lengths[kind].add(len(each.said_of))
        self.lengths = {kind: sorted(found, reverse=True) for kind, found in lengths.items()}


_MOST_FILED = 8
# The rows that were read last, by cluster and kinds: those that are the same again are not filed anew.
_filed: OrderedDict[tuple[object, ...], _Filed] = OrderedDict()
_lock = threading.Lock()


def _filed_of(asked: tuple[object, ...], rows: tuple[_Row, ...]) -> _Filed:
    with _lock:
        known = _filed.get(asked)
        if known is not None and known.rows == rows:
            _filed.move_to_end(asked)
            return known
    found = _Filed(rows)
    with _lock:
        _filed[asked] = found
        _filed.move_to_end(asked)
        while len(_filed) > _MOST_FILED:
            _filed.popitem(last=False)
    return found


class OwnerBook:
    """What is said of the names of a cluster, read once to be asked of many names; one query. rows: all of it.

    It holds `admin.owners.MOST_ROWS` rows at most.
    """

    def __init__(self, cluster: Cluster, *kinds: str) -> None:
        rows = cluster.owned_names.filter(kind__in=kinds or OwnedNames.Kind.values)
        filed = _filed_of((cluster.pk, kinds), tuple(rows.values_list("kind", *_COLUMNS)))
        self.rows = filed.rows
        self._literal, self._prefixed, self._lengths = filed.literal, filed.prefixed, filed.lengths
        self._by_name = filed.by_name

    def __bool__(self) -> bool:
        """Whether anything is said of any name."""
        return bool(self._literal or self._prefixed)

    @property
    def owners(self) -> frozenset[str]:
        """Everybody who is said to own something."""
        said = (*self._literal.values(), *self._prefixed.values())
        return frozenset(each.owner for each in said if each.owner)

    def with_label(self, label: str) -> list[Owned]:
        """Return each row that gives names a label."""
        said = (*self._literal.values(), *self._prefixed.values())
        return [each for each in said if label in each.labels]

    def of(self, kind: str, name: str) -> Owned | None:
        """Return what is said of a name."""
        return self._literal.get((kind, name)) or self.of_all(kind, name)

    def of_all(self, kind: str, prefix: str) -> Owned | None:
        """Return what is said of all names that begin so; a part of them may have a row of its own."""
        for length in self._lengths.get(kind, ()):
            found = self._prefixed.get((kind, prefix[:length])) if length <= len(prefix) else None
            if found is not None:
                return found
        return None

    def owners_of_each(self, kind: str, names: Iterable[str]) -> list[str]:
        """Return the owner of each of these names, which are sorted, "" for nobody: as `of`, in one pass over both."""
        return self._owners_of_each(
            kind, names, {n: own.owner for (k, n), own in self._literal.items() if k == kind}
        )

    def owners_of_all_each(self, kind: str, prefixes: Iterable[str]) -> list[str]:
        """Return the owner of all names that begin so, of each of these texts, which are sorted: as `of_all`."""
        return self._owners_of_each(kind, prefixes, {})

    def _owners_of_each(self, kind: str, texts: Iterable[str], literal: Mapping[str, str]) -> list[str]:
        rows = sorted((name, own.owner) for (k, name), own in self._prefixed.items() if k == kind)
        # Of the prefixes of the text at hand, the longest last; before them one of everything that nobody owns.
        open_ones = [("", "")]
        found, place = [], 0
        for text in texts:
            while place < len(rows) and rows[place][0] <= text:
                while not rows[place][0].startswith(open_ones[-1][0]):
                    open_ones.pop()
                open_ones.append(rows[place])
                place += 1
            while not text.startswith(open_ones[-1][0]):
                open_ones.pop()
            found.append(literal[text] if text in literal else open_ones[-1][1])
        return found

    def below(self, kind: str, starts: Iterable[str]) -> Iterator[Owned]:
        """Yield what is said of names, or of prefixes, that begin with any of these texts: each row once."""
        rows = self.of_kind(kind)
        last: str | None = None
        # In order, a text follows all that it begins with, so what is below it was yielded already.
        for start in sorted(set(starts)):
            if last is not None and start.startswith(last):
                continue
            last = start
            first = bisect_left(rows, start, key=attrgetter("said_of"))
            for each in islice(rows, first, None):
                if not each.said_of.startswith(start):
                    break
                yield each

    def of_kind(self, kind: str) -> list[Owned]:
        """Return all that is said of names of a kind, in the order of its names and prefixes."""
        if kind not in self._by_name:
            rows = [*self._literal.items(), *self._prefixed.items()]
            of_kind = [each for (own, _), each in rows if own == kind]
            self._by_name[kind] = sorted(of_kind, key=attrgetter("said_of"))
        return self._by_name[kind]


def owners_of(cluster: Cluster, kind: str, names: Iterable[str]) -> Mapping[str, Owned]:
    """Return what is said of each of these names that has a row; one query."""
    book = OwnerBook(cluster, kind)
    return {name: found for name in names if (found := book.of(kind, name)) is not None}


def owners_matched(cluster: Cluster, patterns: Iterable[ResourcePattern]) -> tuple[MatchedNames, ...]:
    """Return whose names these patterns match or may match, by owner; one query.

    A pattern for many names matches what is said of each name below it, and what is said of all names above it. A glob
    may match what begins as it does. names of the answer: (kind, name or prefix, whether it is a prefix).
    """
    book = OwnerBook(cluster)
    found: dict[tuple[str, tuple[str, ...]], dict[tuple[str, str, bool], None]] = defaultdict(dict)

    def add(kind: str, each: Owned | None) -> None:
        if each is not None:
            found[each.owner, each.labels][kind, each.said_of, each.by_prefix] = None

    starts: dict[str, set[str]] = defaultdict(set)
    for pattern in patterns:
        kind = pattern.resource_type.name
        if pattern.pattern_type is PatternType.LITERAL and pattern.name != WILDCARD:
            add(kind, book.of(kind, pattern.name))
        else:
            starts[kind].add(_start(pattern))
    for kind, several in starts.items():
        for start in several:
            add(kind, book.of_all(kind, start))
        for each in book.below(kind, several):
            add(kind, each)
    return tuple(
        MatchedNames(owner, labels, tuple(sorted(names))) for (owner, labels), names in sorted(found.items())
    )


def _start(pattern: ResourcePattern) -> str:
    """Return how all names begin that a pattern for many names may match."""
    if pattern.name == WILDCARD:
        return ""
    if pattern.pattern_type is PatternType.GLOB:
        return _GLOB_SIGNS.split(pattern.name, maxsplit=1)[0]
    return pattern.name
