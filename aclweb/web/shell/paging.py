"""Which page of a list is asked for, and which rows are on it? Pages are those of Django's Paginator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from django.core.paginator import Page, Paginator

if TYPE_CHECKING:
    from django.core.paginator import _SupportsPagination

Row = TypeVar("Row")


def page_asked(query: Mapping[str, str], field: str = "page") -> int:
    """Return the number in `?page=`, or in another field, from 1; anything else is page 1."""
    text = query.get(field, "")
    return max(1, int(text)) if text.isascii() and text.isdecimal() and len(text) < 10 else 1


def page_of(rows: _SupportsPagination[Row], page: int, size: int) -> Page[Row]:
    """Return this page of `rows`, which may be lazy; a page beyond the last is the last."""
    return Paginator(rows, size).get_page(page)
