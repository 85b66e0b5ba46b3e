"""Which groups of an impact are on one page, and what of one that is too large for any?

A page has as many groups as were asked for, or fewer where together they would be too large. A group
that is too large alone has a page to itself: its longest lists are cut, and beside each is its whole length.
What a page costs follows what it holds, wherever it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aclweb.acl.simulate import Group, Impact, group_as_dict
from aclweb.api.size import fitting

# What a group is besides its lists and its reason: some twenty operations, and the names of its keys.
_BYTES_BESIDE_LISTS = 1_000


@dataclass(frozen=True)
class GroupPage:
    """The groups from one place on. end: the place after the last. is_complete: whether each is whole."""

    groups: list[dict[str, Any]]
    end: int
    is_complete: bool
    bytes: int


def page_of_groups(impact: Impact, start: int, size: int, most: int) -> GroupPage:
    """Return at most `size` groups, and one at least, of about `most` bytes as JSON."""
    listed = impact.groups[start : start + size]
    whole: list[dict[str, Any]] = []
    left = most
    for group in listed:
        write = _WholeLists(left - _bytes_beside_lists(group))
        told = group_as_dict(impact, group, write)
        if write.left < 0:
            break
        whole.append(told)
        left = write.left
    if listed and not whole:
        return _page_of_one(impact, listed[0], start, most)
    return GroupPage(whole, start + len(whole), is_complete=True, bytes=most - left)


def _page_of_one(impact: Impact, group: Group, place: int, most: int) -> GroupPage:
    """Return a page of one group whose longest lists are cut."""
    lists: list[_GivenList] = []
    group_as_dict(impact, group, _Collect(lists))
    kept, left = _in_shares(lists, max(most - _bytes_beside_lists(group), 0))
    told = group_as_dict(impact, group, _Prepared(iter(kept)))
    is_complete = all(len(own) == len(items) for own, (items, _) in zip(kept, lists, strict=True))
    return GroupPage([told], place + 1, is_complete=is_complete, bytes=most - left)


def _in_shares(lists: Sequence[_GivenList], most: int) -> tuple[list[list[Any]], int]:
    """Return each list cut to a share of `most` bytes, and the bytes left; short lists leave room for longer ones."""
    left = most
    kept: list[list[Any]] = [[] for _ in lists]
    by_length = sorted(range(len(lists)), key=lambda place: len(lists[place][0]))
    for sharing, place in zip(range(len(lists), 0, -1), by_length, strict=True):
        items, as_json = lists[place]
        share = left // sharing
        kept[place], rest = fitting(map(as_json, items), share)
        left -= share - max(rest, 0)
    return kept, left


def _bytes_beside_lists(group: Group) -> int:
    return _BYTES_BESIDE_LISTS + len(json.dumps(group.reason))


_GivenList = tuple[Sequence[Any], Callable[[Any], Any]]
"""A list of a group, and what writes one of its items as JSON."""


class _WholeLists:
    """Writes lists as long as they fit into `most` bytes together; `left` is negative once one does not."""

    def __init__(self, most: int) -> None:
        self.left = most

    def __call__(self, _: str, items: Sequence[Any], as_json: Callable[[Any], Any], /) -> list[Any]:
        kept, self.left = fitting(map(as_json, items), self.left)
        return kept


@dataclass(frozen=True)
class _Collect:
    """Writes no list, and collects what it is given."""

    given: list[_GivenList]

    def __call__(self, _: str, items: Sequence[Any], as_json: Callable[[Any], Any], /) -> list[Any]:
        self.given.append((items, as_json))
        return []


@dataclass(frozen=True)
class _Prepared:
    """Writes lists that are made already, in the order in which they were collected."""

    lists: Iterator[list[Any]]

    def __call__(self, _: str, _items: Sequence[Any], _as_json: Callable[[Any], Any], /) -> list[Any]:
        return next(self.lists)
