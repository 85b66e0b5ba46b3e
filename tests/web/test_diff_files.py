"""Every page with an access diff gives all of it as a file: the rows of the page, and those of its other pages."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aclweb.acl.model.delta import Delta
from aclweb.changes import kept
from aclweb.insights.load import load
from aclweb.inventory.sync.run import sync
from aclweb.web.drafts import impact_rows, whatif
from aclweb.web.drafts.diff_files import COLUMNS
from tests.builders import allow
from tests.insights.results import file, write_result
from tests.inventory.answering_cluster import Answers
from tests.web.diff_rows import shown_rows
from tests.web.test_replay_card import (  # noqa: F401 fixtures
    BINDINGS,
    CLOSES,
    LOGGED,
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

    assert len(shown_rows(page)) == 1
    assert [(row["change"], row["principals"], row["answers"]) for row in rows] == [
        ("gains", "User:eli", "2")
    ] * 5
    assert {row["decided_after_by"] for row in rows} == {
        f"Allow User:eli to Read topic stock.{number} from any host" for number in range(5)
    }


@pytest.fixture
def wide(synced, ada, signed_in):  # noqa: F811
    """Gives the rows of the file of an edit that is about many principals, hosts, names and ACLs."""
    browser = signed_in(ada)
    users = [f"User:u{number:03}" for number in range(150)]
    hosts = [f"10.0.0.{number}" for number in range(130)]
    alike = "stock.".ljust(60, "x")
    stay = [
        *(allow(user, "READ", "stock.all") for user in users),
        *(allow("User:eli", "READ", "stock.host", host=host) for host in hosts),
    ]
    go = [
        allow("User:*", "READ", "stock.all"),
        allow("User:eli", "READ", "stock.host"),
        *(allow("User:fay", "READ", alike[:length], pattern="PREFIXED") for length in range(20, 50)),
    ]
    sync(synced, client=Answers([*stay, *go]))
    links_of_page = links(browser.post("/c/test-eu/what-if/", {"line": removals(go)}, follow=True))

    def rows() -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(browser.get(links_of_page[0]).getvalue().decode())))

    return rows, users, hosts, [alike[:length] for length in range(20, 50)]


def removals(bindings) -> list[str]:
    return [json.dumps({"op": "remove", **binding.as_dict()}) for binding in bindings]


def test_a_file_names_all_that_its_rows_are_about(wide):
    rows, users, hosts, prefixes = wide

    told = rows()

    lost = [row for row in told if row["change"] == "loses"]
    assert any(all(each in row["principals"] for each in users) for row in lost)
    assert any(all(each in row["hosts"] for each in hosts) for row in lost)
    decided = max((row["decided_before_by"] for row in told), key=len)
    assert [each for each in prefixes if f" {each} " not in decided] == []
    assert not any(" more" in "".join(row.values()) for row in told)
    assert {row["cut"] for row in told} == {""}


def test_a_file_that_would_be_too_large_says_in_each_row_what_it_leaves_out(wide, monkeypatch):
    rows, *_ = wide
    monkeypatch.setattr(impact_rows, "MOST_SPELLED_OUT", 140)

    told = rows()

    cut = {column for row in told for column in row["cut"].split(", ")}
    assert {"principals", "hosts"} <= cut
    assert all((row["cut"] != "") == (" more" in "".join(row.values())) for row in told)
    for row in told:
        if "principals" in row["cut"]:
            assert re.search(r" and \d+ more principals$", row["principals"])
    most = impact_rows.MOST_SHOWN_OPEN
    assert any(row["cut"] == "" and row["decided_before_by"].count(" any host") > most for row in told), (
        "as long as it is enough"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_and_its_file_say_when_a_row_was_last_seen_and_how_often_denied(
    over_days,  # noqa: F811
    ada,
    signed_in,
    kind,
):
    browser = signed_in(ada)
    place = place_of(kind, over_days, ada)
    page = browser.get(place, query_params={"show": "loses"} if kind == "computation" else None)
    in_page = {row.who[0].text: page.context["diff_log"].rows[row.number] for row in shown_rows(page)}
    lost = in_page["User:bob"]
    text = page.content.decode()

    assert (lost.says, f"{lost.last_permitted:%d %b %H:%M}", lost.denied) == ("permitted", "20 Nov 20:00", 0)
    assert "last seen <b>20 Nov 20:00</b>" in text
    assert "no denial" in text
    assert "in the log of test-eu from 7 Nov 08:00 to 20 Nov 20:00" in text

    rows = list(csv.DictReader(io.StringIO(browser.get(links(page)[0]).getvalue().decode())))
    objects = [json.loads(line) for line in browser.get(links(page)[1]).getvalue().decode().splitlines()]
    gained = [row for row in rows if row["change"] == "gains" and "Read" in row["operations"]]
    assert [(row["principals"], row["log_says"], row["denials"]) for row in gained] == [
        ("User:dan", "not in the log", "7")
    ]
    bobs = [each for each in objects if each["principals"] == "User:bob" and "Read" in each["operations"]]
    assert [each["last_permitted"][:16] for each in bobs] == ["2026-11-20T20:00"]
    assert {each["denials"] for each in bobs} == {0}


def test_without_a_log_or_permits_when_a_row_was_last_seen_is_unknown(
    synced,  # noqa: F811
    tmp_path,
    ada,
    signed_in,
):
    browser = signed_in(ada)
    before = browser.get(what_if(CLOSES))
    assert (
        "when any of this was last used: no authorizer log of test-eu has been read"
        in before.content.decode()
    )
    rows = list(csv.DictReader(io.StringIO(browser.get(links(before)[0]).getvalue().decode())))
    assert {(row["last_permitted"], row["log_says"], row["denials"]) for row in rows} == {
        ("", "cannot tell", "")
    }

    load(write_result(tmp_path / "usage", BINDINGS, requests=LOGGED[-1:], files=[file("a.log")]), synced)
    after = browser.get(what_if(CLOSES, show="loses"))

    assert {told.says for told in after.context["diff_log"].rows.values()} == {"cannot tell"}
    assert "It may lack permits" in after.content.decode()
    assert {told.denied for told in after.context["diff_log"].rows.values()} == {0}


def test_the_log_beside_a_diff_costs_one_query_beside_a_replay_however_many_rows(over_days, ada, signed_in):  # noqa: F811
    browser = signed_in(ada)
    address = what_if(Delta(add=tuple(allow(f"User:new-{n}", "READ", f"orders-{n}") for n in range(40))))
    browser.get(address)

    kept.forget()
    with CaptureQueriesContext(connection) as none:
        assert not browser.get(f"{address}&show=loses").context["diff_log"].rows
    kept.forget()
    with CaptureQueriesContext(connection) as many:
        assert len(browser.get(address).context["diff_log"].rows) == whatif.FOLDS_A_PAGE

    assert len(many) - len(none) == 1
    by_key = [sum("principal_key" in each["sql"] for each in own.captured_queries) for own in (none, many)]
    assert by_key[1] - by_key[0] == 1


def test_the_log_beside_a_page_of_a_diff_is_asked_once(over_days, ada, signed_in):  # noqa: F811
    browser = signed_in(ada)
    edit = Delta(add=tuple(allow(f"User:new-{n}", "READ", f"orders-{n}") for n in range(40)))
    first, second = what_if(edit), f"{what_if(edit)}&page=2"
    told = {address: browser.get(address).context["diff_log"].rows for address in (first, second)}

    with CaptureQueriesContext(connection) as again:
        assert {address: browser.get(address).context["diff_log"].rows for address in told} == told

    assert told[first].keys().isdisjoint(told[second])
    assert not any("principal_key" in each["sql"] for each in again.captured_queries)
