"""Which page of a list does a request ask for? REST framework's pagination, with `page` and `size`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request

from aclweb.api.asking import number_asked

if TYPE_CHECKING:
    from django.core.paginator import Page, Paginator

MOST_ROWS_A_PAGE = 200

PAGE = OpenApiParameter("page", OpenApiTypes.INT, description="From 1.")
SIZE = OpenApiParameter("size", OpenApiTypes.INT, description=f"Rows a page, at most {MOST_ROWS_A_PAGE}.")


class Pages(PageNumberPagination):
    """Pages of lists that an answer holds under keys of its own; a page behind the last one is the last."""

    request: Request
    page: Page[Any]

    def __init__(self, request: Request) -> None:
        """Read `page` and `size` at once, so that wrong ones are refused before anything is worked out."""
        asked = request.query_params
        self.request = request
        self.number = number_asked(asked, "page", 1)
        self.size = number_asked(asked, "size", 50, most=MOST_ROWS_A_PAGE)

    def get_page_size(self, _: Request) -> int:
        return self.size

    def get_page_number(self, _: Request, paginator: Paginator[Any]) -> int:
        return min(self.number, paginator.num_pages)

    def of(self, rows: Sequence[Any] | QuerySet[Any]) -> list[Any]:
        """Return the rows of a list that are on this page."""
        return self.paginate_queryset(rows, self.request) or []

    def count(self, rows: Sequence[Any] | QuerySet[Any]) -> int:
        """Return how many pages a list has."""
        return self.django_paginator_class(rows, self.size).num_pages


class OpenPages(Pages):
    """The same, but a page behind the last one is empty."""

    def of(self, rows: Sequence[Any] | QuerySet[Any]) -> list[Any]:
        return super().of(rows) if self.number <= self.count(rows) else []
