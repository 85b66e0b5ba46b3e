"""Every page with an access diff gives all of it as a file: the rows of the page, and those of its other pages."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape

import pytest

from aclweb.acl.model.delta import Delta
from aclweb.web.drafts import impact_rows
from aclweb.web.drafts.diff_files import COLUMNS
from tests.builders import allow
from tests.web.test_replay_card import (  # noqa: F401 fixtures
    addresses,
    computed,
    logged,
    over_days,
    synced,
    what_if,
)

KINDS = ["what-if", "change", "drafts", "comparison", "computation"]


def place_of(kind, cluster, person):
    return computed(cluster, person) if kind == "computation" else addresses(cluster, person)[kind]


def impact_of(context):
    """The impact that a page shows."""
    return (
        context["impact"] if "impact" in context else (context.get("preview") or context["comparison"]).impact
    )


def links(page) -> list[str]:
    found = re.findall(
        r'href="([^"]*)" download>(?:(?!</a>).)*of the access diff', page.content.decode(), re.DOTALL
    )
    return [unescape(link) for link in found]


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_gives_its_whole_diff_and_only_to_whom_it_shows_it(over_days, ada, signed_in, eve, kind):  # noqa: F811
    browser = signed_in(ada)
    place = place_of(kind, over_days, ada)
    page = browser.get(place)
    as_csv, as_lines = (browser.get(link).getvalue().decode() for link in links(page))

    rows = list(csv.DictReader(io.StringIO(as_csv)))
    objects = [json.loads(line) for line in as_lines.splitlines()]
    assert tuple(rows[0]) == COLUMNS == tuple(objects[0])
    assert [row["names"] for row in rows] == [each["names"] for each in objects]
    impact = impact_of(page.context)
    for change in impact_rows.KINDS:
        assert sum(each["answers"] for each in objects if each["change"] == change) == impact.counts[change]
    assert impact.counts["loses"] > 0
    assert all(each["decided_before_by"] for each in objects if each["change"] == "loses")
    assert "Allow User:bob to Read topic orders from any host" in "".join(
        each["decided_before_by"] for each in objects
    )
    for link in links(page):
        assert signed_in(eve).get(link).status_code == 404
    odd = links(page)[0].replace("=csv", "=xml")
    assert browser.get(odd).status_code == 404


def test_a_comparison_that_is_narrowed_gives_the_narrowed_file(over_days, ada, signed_in):  # noqa: F811
    browser = signed_in(ada)
    place = addresses(over_days, ada)["comparison"]

    whole = browser.get(links(browser.get(place))[0]).getvalue().decode()
    page = browser.get(f"{place}&principal=eve")
    narrowed = browser.get(links(page)[0]).getvalue().decode()

    assert "User:eve" in narrowed
    assert len(narrowed.splitlines()) < len(whole.splitlines())
    assert "User:dan" in whole
    assert "User:dan" not in narrowed


@pytest.mark.parametrize("place", ["what-if", "compare", "compare/drafts"])
def test_a_page_without_an_impact_has_no_file_of_it(synced, ada, signed_in, place):  # noqa: F811
    assert signed_in(ada).get(f"/c/test-eu/{place}/?diff=csv").status_code == 404


def test_a_row_has_the_one_acl_that_settles_it_where_the_page_has_one_row_for_all(synced, ada, signed_in):  # noqa: F811
    adds = Delta(add=tuple(allow("User:eli", "READ", f"stock.{number}") for number in range(5)))

    page = signed_in(ada).get(what_if(adds))
    rows = list(csv.DictReader(io.StringIO(signed_in(ada).get(links(page)[0]).getvalue().decode())))

    assert len(page.context["diff"].object_list) == 1
    assert [(row["change"], row["principals"], row["answers"]) for row in rows] == [
        ("gains", "User:eli", "2")
    ] * 5
    assert {row["decided_after_by"] for row in rows} == {
        f"Allow User:eli to Read topic stock.{number} from any host" for number in range(5)
    }
