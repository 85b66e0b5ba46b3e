"""How large may an answer be, and what of a larger one is left out?

An answer is at most five megabytes. What is cut says so: its whole lengths are `counts`, and
`is_complete` says whether the lists hold all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Written = TypeVar("Written")

# An effect may take four of the five megabytes: what comes beside it, and of a change the ACLs,
# take the rest. So may the ACLs that match one resource.
MOST_BYTES_OF_AN_ANSWER = 5 * 2**20
MOST_BYTES = 4 * 2**20
# Of a decision, the ACLs that gave it, more than 20,000; and each other list, some 1,500 ACLs.
MOST_BYTES_OF_DETERMINING = 7 * 2**19
MOST_BYTES_OF_A_LIST = 2**18
# For all parts of the hosts together, so that the parts themselves have room.
_MOST_BYTES_OF_PARTS = 2**17
# A part of this list would be an edit that does not turn the answer.
_WHOLE_OR_NOTHING = "smallest_removals"
# Each part of the hosts counts its own.
_COUNTED_ELSEWHERE = "any_host.determining"


def fitting(items: Iterable[Item], most: int) -> tuple[list[Item], int]:
    """Return the first of `items`, as many as take at most `most` bytes as JSON, and the bytes left.

    These are negative where items were left out.
    """
    kept: list[Item] = []
    for item in items:
        most -= len(json.dumps(item)) + 2
        if most < 0:
            break
        kept.append(item)
    return kept, most


def warnings_to_size(warnings: Sequence[str], most: int) -> list[str]:
    """Return the first warnings, as many as take `most` bytes; where some are left out, the last says how many."""
    kept, _left = fitting(warnings, most)
    if rest := len(warnings) - len(kept):
        one = "more warning is" if rest == 1 else "more warnings are"
        kept.append(f"{rest:,} {one} left out, because this answer would be too large.")
    return kept


class FittingPage:
    """Cuts the rows of one page: what they hold of ACLs to equal shares, then whole rows.

    So a smaller page holds more of each row, and a page of one row nearly always all of it.
    rows: how many the page has. lists: how many each of them has; the texts of a row have as much as one of its lists.
    """

    def __init__(self, rows: int, lists: int = 1) -> None:
        self._left = MOST_BYTES
        self._share = MOST_BYTES // ((lists + 1) * max(rows, 1))
        self.is_complete = True

    def acls(self, acls: Sequence[Item]) -> list[Item]:
        """Return the first ACLs, or names, of one list of a row, as many as fit into its share."""
        kept, _left = fitting(acls, self._share)
        self.is_complete &= len(kept) == len(acls)
        return kept

    def rows(self, rows: Sequence[Item]) -> list[Item]:
        """Return the first of these rows, as many as fit into what earlier ones left."""
        kept, self._left = fitting(rows, max(self._left, 0))
        self.is_complete &= len(kept) == len(rows)
        return kept


class FittingLists:
    """Writes the lists of one decision, each as far as it fits; see `aclweb.acl.authorizer.WriteList`.

    limits: bytes by the name of the list, where not MOST_BYTES_OF_A_LIST.
    """

    def __init__(self, limits: Mapping[str, int]) -> None:
        self._left = {_COUNTED_ELSEWHERE: _MOST_BYTES_OF_PARTS, **limits}
        self.counts: dict[str, int] = {}
        self.is_complete = True

    def __call__(
        self, name: str, items: Sequence[Item], as_json: Callable[[Item], Written], /
    ) -> list[Written]:
        kept, self._left[name] = fitting(map(as_json, items), self._left.get(name, MOST_BYTES_OF_A_LIST))
        if name != _COUNTED_ELSEWHERE:
            self.counts[name] = len(items)
        if len(kept) == len(items):
            return kept
        self.is_complete = False
        return [] if name == _WHOLE_OR_NOTHING else kept
