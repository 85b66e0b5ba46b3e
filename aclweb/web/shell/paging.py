"""Which page of a list is asked for, how many rows has it, and which? Pages are those of Django's Paginator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse

if TYPE_CHECKING:
    from django.core.paginator import _SupportsPagination

Row = TypeVar("Row")

SIZES = (25, 50, 100, 200)
# What a browser keeps of the size chosen last.
_KEPT = "aclweb-rows"
_KEPT_SECONDS = 365 * 24 * 3600


def page_asked(query: Mapping[str, str], field: str = "page") -> int:
    """Return the number in `?page=`, or in another field, from 1; anything else is page 1."""
    text = query.get(field, "")
    return max(1, int(text)) if text.isascii() and text.isdecimal() and len(text) < 10 else 1


def size_asked(request: HttpRequest) -> int:
    """Return how many rows a page has: `?rows=`, or what was chosen last, or as many as the installation shows.

    Anything but one of SIZES counts as nothing.
    """
    known = {str(size): size for size in SIZES}
    kept = known.get(request.COOKIES.get(_KEPT, ""), settings.ACLWEB_PAGE_SIZE)
    return known.get(request.GET.get("rows", ""), kept)


def keep_size(request: HttpRequest, response: HttpResponse) -> None:
    """Have the browser keep the size that the address asks for, for the next list without one."""
    size = request.GET.get("rows", "")
    if size in map(str, SIZES) and request.COOKIES.get(_KEPT) != size:
        response.set_cookie(
            _KEPT,
            size,
            max_age=_KEPT_SECONDS,
            httponly=True,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
        )


def page_of(rows: _SupportsPagination[Row], page: int, size: int, *, count: int | None = None) -> Page[Row]:
    """Return this page of `rows`, which may be lazy; a page beyond the last is the last. count: of rows, if known."""
    paginator = Paginator(rows, size)
    if count is not None:
        paginator.count = count
    return paginator.get_page(page)
