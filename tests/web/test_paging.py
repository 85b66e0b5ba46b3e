"""Every list is paged in one way: what `?page=` may say, and which rows that brings."""

from __future__ import annotations

import pytest

from aclweb.inventory.lists import LazyRows
from aclweb.web.shell.paging import page_asked, page_of


@pytest.mark.parametrize(
    ("text", "page"),
    [("2", 2), ("", 1), ("0", 1), ("-1", 1), ("two", 1), ("2.0", 1), ("\u0662", 1), ("9" * 10, 1)],
)
def test_what_is_no_number_asks_for_the_first_page(text, page):
    assert page_asked({"page": text}) == page


def test_a_page_beyond_the_last_is_the_last():
    page = page_of(range(5), 99, 2)

    assert (page.number, page.paginator.num_pages, page.paginator.count) == (3, 3, 5)
    assert list(page) == [4]


def test_an_empty_list_has_one_empty_page():
    page = page_of([], 3, 2)

    assert (page.number, page.paginator.num_pages, list(page)) == (1, 1, [])


def test_a_page_makes_its_own_rows_once_and_no_others():
    made = []

    def rows(start, stop):
        made.append((start, stop))
        return [str(place) for place in range(start, stop)]

    page = page_of(LazyRows(100, rows), 4, 10)

    assert [*page, *page, *page.object_list] == [str(place) for place in range(30, 40)] * 3
    assert made == [(30, 40)]
