"""Which names does somebody mean who has typed a part of one?

The names of one kind are put in order once a revision; a question reads them from the start and stops when it has
enough. A name counts in capital or small letters: this is how people search. What decides compares letter by letter.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator
from heapq import nsmallest

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import ANY_USER, WILDCARD, ResourceType
from aclweb.inventory.current import ClusterView
from aclweb.inventory.lists.names import list_of, listed_names


class KnownNames:
    """Names of one kind, to be found by a part of them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(sorted(filter(_can_be_typed, names)))
        # Most names have no capital letters; these are kept once.
        self._folded = tuple(name if (small := name.casefold()) == name else small for name in self._names)
        # The places of the names, in the order of these.
        self._places = sorted(range(len(self._names)), key=self._folded.__getitem__)

    def containing(self, text: str, most: int) -> list[str]:
        """Return at most so many names that contain the text.

        In this order: the same name, names that begin with it, names of which a word begins with it, others; each by
        name. Of many names that only contain it, those that are seen first.
        """
        wanted = text.casefold()
        found = self._beginning(wanted, most) if wanted else list(self._names[:most])
        if len(found) < most and wanted:
            found += self._further(wanted, most - len(found))
        # The same name may be far behind in a long list of names that begin with it.
        return [text, *(name for name in found if name != text)][:most] if self._holds(text) else found

    def _beginning(self, wanted: str, most: int) -> list[str]:
        places, folded = self._places, self._folded
        start = bisect_left(places, wanted, key=folded.__getitem__)
        end = bisect_left(places, True, lo=start, key=lambda place: not folded[place].startswith(wanted))
        return [self._names[place] for place in nsmallest(most, places[start:end])]

    def _further(self, wanted: str, most: int) -> list[str]:
        words: list[str] = []
        others: list[str] = []
        for name, small in zip(self._names, self._folded, strict=True):
            at = small.find(wanted)
            if at <= 0:
                continue
            if not small[at - 1].isalnum():
                words.append(name)
                if len(words) == most:
                    return words
            elif len(others) < most:
                others.append(name)
        return [*words, *others][:most]

    def _holds(self, name: str) -> bool:
        place = bisect_left(self._names, name)
        return place < len(self._names) and self._names[place] == name


def principals_like(view: ClusterView, text: str, most: int) -> list[str]:
    """Return at most so many principals that ACLs or the declared super users name, without `User:*`."""
    known = view.loaded.remember(
        ("principals_like", view.settings.super_users),
        lambda: KnownNames(name for name in view.principals if name != ANY_USER),
    )
    return known.containing(text, most)


def hosts_like(view: ClusterView, text: str, most: int) -> list[str]:
    """Return at most so many hosts that ACLs name, without `*`."""
    known = view.loaded.remember("hosts_like", lambda: KnownNames(view.index.hosts))
    return known.containing(text, most)


def resources_like(view: ClusterView, kind: ResourceType, text: str, most: int) -> list[str]:
    """Return at most so many names of resources that brokers list, or that LITERAL ACLs name."""
    known = view.loaded.remember(
        ("resources_like", kind, list_of(view, kind)),
        lambda: KnownNames({*listed_names(view, kind), *_named(view.index, kind)}),
    )
    return known.containing(text, most)


def others_like(
    view: ClusterView, what: Hashable, names: Callable[[], Iterable[str]], text: str, most: int
) -> list[str]:
    """Return at most so many of other names, which are asked for once as long as the revision is in force.

    what: which names these are, such as those of one load of the log.
    """
    known = view.loaded.remember(("others_like", what), lambda: KnownNames(names()))
    return known.containing(text, most)


def _named(index: AclIndex, kind: ResourceType) -> Iterator[str]:
    shelf = index.shelf(kind)
    return (name for name in shelf.literals if name != WILDCARD) if shelf is not None else iter(())


def _can_be_typed(name: str) -> bool:
    """Whether a field of one line gives this name back: browsers take line ends out."""
    return _NOT_TYPED.search(name) is None


_NOT_TYPED = re.compile("[\r\n\0\ud800-\udfff]")
