"""The bars that decide float nowhere, cover nothing and stay in view; measured in Chromium."""

from __future__ import annotations

from itertools import product

import pytest

from aclweb.acl.model.delta import Delta
from aclweb.changes import review
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WINDOWS = [(1440, 900), (720, 900), (390, 844)]
HELD = [allow("User:bob", "READ", f"orders.{number}") for number in range(60)]
BOX = (
    "e => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom].map(Math.round); }"
)


@pytest.fixture
def visit(window, cluster, ben):
    """Return a function that shows a page, always in the same window: opening one costs more than showing a page."""
    sync(cluster, client=Answers(HELD))
    page = window(ben)

    def shown(path, width, height):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(page.site + path)
        assert page.evaluate("window.scrollY") == 0
        return page

    return shown


def to_the_end(page) -> None:
    page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")


def covered(page, bar: str) -> list[str]:
    """Return the links, buttons, fields and texts of which the bar hides a part, at the end of the page."""
    return page.evaluate(
        """bar => {
          const box = document.querySelector(bar).getBoundingClientRect();
          const hidden = [];
          const shown = "main a, main button, main input, main td, main p, .foot span";
          for (const each of document.querySelectorAll(shown)) {
            // What is folded away still has its boxes.
            if (each.closest(bar) || !each.checkVisibility() || each.type === "hidden") continue;
            const one = each.getBoundingClientRect();
            const over = Math.min(one.right, box.right) - Math.max(one.left, box.left) > 1
              && Math.min(one.bottom, box.bottom) - Math.max(one.top, box.top) > 1;
            if (over) hidden.push(each.outerHTML.slice(0, 80));
          }
          return hidden;
        }""",
        bar,
    )


@pytest.mark.thorough(
    instead="tests/web/test_bars.py::test_the_decision_is_shown_at_the_lower_edge_however_short_the_page"
)
def test_the_selection_is_the_foot_of_its_card(visit):
    for query, (width, height) in product(("?name=orders.7", ""), WINDOWS):
        case = f"{query or 'many rows'} at {width} x {height}"
        page = visit(f"/c/test-eu/acls/{query}", width, height)
        page.locator("[data-rows] tbody input[type=checkbox]").first.check()
        bar = page.locator("[data-selection]")
        bar.wait_for(state="visible")

        # In view at once, wherever the page stands.
        in_window = bar.evaluate(BOX)
        assert 0 <= in_window[1] < in_window[3] <= height or query == "?name=orders.7", case
        to_the_end(page)
        card = page.locator("form.card", has=bar).evaluate(BOX)
        left, top, right, bottom = bar.evaluate(BOX)

        assert card[0] <= left < right <= card[2], case
        assert abs(card[3] - bottom) <= 1, case
        assert covered(page, "[data-selection]") == [], case
        above = page.locator("form.card .card-foot").evaluate(BOX)
        assert abs(top - above[3]) <= 1, case


def test_the_decision_is_shown_at_the_lower_edge_however_short_the_page(visit, cluster, ada):
    change = review.draft(
        cluster=cluster, author=ada, title="t", reason="", delta=Delta(add=(allow("User:x", "READ", "y"),))
    )
    review.submit(change=change, actor=ada)
    for width, height in (*WINDOWS, (1440, 2400)):
        case = f"{width} x {height}"
        page = visit(f"/changes/{change.key}/", width, height)
        bar = page.locator(".decision-bar")

        in_window = bar.evaluate(BOX)
        assert 0 <= in_window[1] < in_window[3] <= height, case
        to_the_end(page)
        left, _, right, bottom = bar.evaluate(BOX)

        assert (left, right) == (0, page.evaluate("document.documentElement.clientWidth")), case
        foot = page.locator("footer.foot").evaluate(BOX)
        assert 0 <= foot[1] - bottom <= 1, case
        assert height - bottom <= foot[3] - foot[1] + 1, case
        assert covered(page, ".decision-bar") == [], case
