"""Who owns this name, and how is it labelled?

A row of the name itself counts before one of a prefix, a longer prefix before a shorter one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile

from django.db.models import Q

from aclweb.inventory.models import Cluster, OwnedNames

_LONGEST_PREFIX = 500  # characters of the column


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


def owners_of(cluster: Cluster, kind: str, names: Iterable[str]) -> Mapping[str, Owned]:
    """Return what is said of each of these names that has a row.

    One query, of `admin.owners.MOST_ROWS` rows at most.
    """
    literal: dict[str, Owned] = {}
    prefixed: dict[str, Owned] = {}
    for row in cluster.owned_names.filter(kind=kind).values_list(*_COLUMNS):
        each = Owned.of(row)
        (prefixed if each.by_prefix else literal)[each.said_of] = each
    lengths = sorted({len(prefix) for prefix in prefixed}, reverse=True)
    found = {}
    for name in names:
        best = literal.get(name) or next(
            (prefixed[name[:length]] for length in lengths if name[:length] in prefixed), None
        )
        if best is not None:
            found[name] = best
    return found
