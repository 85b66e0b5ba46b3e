"""Which page of a list is asked for, and which rows are on it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Slice:
    """One page of rows that are all at hand; what `shell/_pagination.html` shows."""

    rows: Sequence[Any]
    total: int
    page: int
    pages: int


def page_asked(query: Mapping[str, str], field: str = "page") -> int:
    """Return the number in `?page=`, or in another field, from 1; anything else is page 1."""
    text = query.get(field, "")
    return max(1, int(text)) if text.isascii() and text.isdecimal() and len(text) < 10 else 1


def slice_page(rows: Sequence[Any], page: int, size: int) -> Slice:
    """Return this page of `rows`; a page beyond the last is the last."""
    pages = max(1, -(-len(rows) // size))
    page = min(max(1, page), pages)
    return Slice(rows[(page - 1) * size : page * size], len(rows), page, pages)
