"""Rows about the same principals fold: the widest first, buttons open them, and a page stays short whatever differs."""

from __future__ import annotations

import json
import re
from datetime import UTC, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model.delta import Delta
from aclweb.acl.simulate import Names, plain, simulate
from aclweb.changes import kept
from aclweb.clusters import TopicInfo
from aclweb.insights.load import load
from aclweb.inventory.sync.run import sync
from aclweb.web.drafts import diff_log, folds, impact_rows, whatif
from tests.builders import allow
from tests.insights.results import LAST, request, write_result
from tests.inventory.answering_cluster import Answers
from tests.web.diff_rows import shown_rows

OPERATIONS = ("READ", "WRITE", "ALTER", "DELETE", "ALTER_CONFIGS")


def several(user: str, count: int):
    """ACLs that make so many rows: no two names come with the same operations or hosts."""
    return [
        allow(f"User:{user}", OPERATIONS[n % 5], f"{user}.{n}", host=f"10.0.0.{n // 5}") for n in range(count)
    ]


def shown(adds, a_page: int = 11, removes=(), kind: str = "gains", **asked: str):
    """What a page shows of an edit, and its folds as (principal, rows shown, rows in all)."""
    delta = Delta(add=tuple(adds), remove=tuple(removes))
    topics = tuple({each.resource_name for each in (*adds, *removes)})
    impact = simulate(delta, AclIndex(removes), Names(topics=topics), met_only=True)
    every = impact_rows.rows(impact, *impact_rows.KINDS)
    context = folds.shown(impact_rows.rows(impact, kind), asked, a_page, every=every)
    return context, [(fold.label, len(fold.rows), fold.size) for fold in context["diff"]]


def test_rows_about_the_same_principals_share_a_fold_the_widest_first():
    adds = [allow("User:amy", "READ", "amy.0"), *several("bob", 3), *several("cat", 6)]

    context, told = shown(adds)

    assert told == [("User:cat", 6, 6), ("User:bob", 3, 3), ("User:amy", 1, 1)]
    wide, _, alone = context["diff"]
    assert (wide.operations, wide.has_head) == (
        "Read, Write, Delete, Alter, Describe, DescribeConfigs, AlterConfigs",
        True,
    )
    assert plain(wide.which) == "cat.0 and 5 more topics"
    assert wide.count == sum(1 for row in wide.rows for _ in row.operations.split(", "))
    assert not alone.has_head
    assert [row.number for fold in context["diff"] for row in fold.rows] == list(range(10))


def test_a_fold_says_what_else_happens_to_its_principals():
    kept = [allow("User:bob", "READ", "old")]

    context, _ = shown(several("bob", 3), removes=kept)

    assert [(also.kind, also.count) for also in context["diff"][0].also] == [("loses", 2)]


def test_of_a_long_diff_only_the_first_fold_is_open_and_shows_its_first_rows():
    adds = [each for n in range(6) for each in several(f"u{n}", 30 - n)]

    context, told = shown(adds, a_page=7)

    assert told == [("User:u0", 6, 30), *((f"User:u{n}", 0, 30 - n) for n in range(1, 6))]
    assert context["open_folds"] == ""
    first = context["diff"][0]
    assert (first.page.number, first.page.paginator.num_pages, first.to_go_back) == (1, 5, "")
    assert [rows for _, rows, _ in shown(adds, a_page=5)[1]] == [0] * 5
    assert [rows for _, rows, _ in shown(adds, a_page=1)[1]] == [6]


def test_each_button_opens_closes_or_turns_its_own_fold_and_leaves_the_others():
    adds = [each for n in range(6) for each in several(f"u{n}", 30 - n)]

    def pressed(asked: str, fold: int, button: str = "to_press"):
        found, _ = shown(adds, open=asked)
        return getattr(found["diff"][fold], button)

    opened = pressed("", 2)
    turned = pressed(opened, 0, "to_go_on")
    closed = pressed(pressed(turned, 2), 0)

    assert [rows for _, rows, _ in shown(adds, open=opened)[1]] == [6, 0, 6, 0, 0, 0]
    assert [fold.page.number for fold in shown(adds, open=turned)[0]["diff"] if fold.page] == [2, 1]
    assert [rows for _, rows, _ in shown(adds, open=closed)[1]] == [0] * 6
    # At most two stay open: a third closes the one that was opened first.
    assert sorted(folds.Asked.read(pressed(opened, 5)).folds) == [2, 5]


def test_a_row_that_opens_brings_its_fold_and_its_page():
    adds = [each for n in range(6) for each in several(f"u{n}", 30 - n)]

    context, told = shown(adds, a_page=2, open="78")

    assert context["diff"].number == 1 + folds.Folds.of(context_rows(adds)).holding(78) // 2
    assert context["opened"].principals.texts == ("User:u2",)
    assert 78 in [row.number for fold in context["diff"] for row in fold.rows]
    assert [size for _, _, size in told] == [28, 27]


def context_rows(adds):
    topics = tuple(each.resource_name for each in adds)
    impact = simulate(Delta(add=tuple(adds)), AclIndex([]), Names(topics=topics), met_only=True)
    return impact_rows.rows(impact, "gains")


@pytest.mark.parametrize(
    "text", ["x", "_x", "_99", "_0.9999", "7_", "_-", "-1", "_1-2-3-4-5", "_" + "9" * 200, "²"]
)
def test_what_no_fold_is_called_opens_none_and_breaks_nothing(text):
    _, told = shown([each for n in range(3) for each in several(f"u{n}", 4)], open=text)

    assert [size for _, _, size in told] == [4, 4, 4]
    assert all(rows in (0, 4) for _, rows, _ in told)


@pytest.fixture
def wide(cluster, ada, signed_in):
    """A comparison of two revisions that differ in about a thousand rows of forty principals."""
    adds = [each for n in range(40) for each in several(f"orders-worker-{n:02}", 25)]
    topics = [TopicInfo(each.resource_name) for each in adds]
    sync(cluster, client=Answers([allow("User:eve", "READ", "stock")], topics=topics))
    sync(cluster, client=Answers([allow("User:eve", "READ", "stock"), *adds], topics=topics))
    return signed_in(ada), f"/c/{cluster.slug}/compare/?at=1&other={cluster.slug}"


def test_a_page_of_a_thousand_rows_is_within_2000_nodes_and_50_kilobytes(wide):
    browser, address = wide

    first = browser.get(address)
    heaviest = browser.get(f"{address}&open=30_1-2")

    assert len(impact_rows.rows(first.context["comparison"].impact, "gains")) >= 1_000
    assert len(shown_rows(heaviest)) == 12
    assert heaviest.context["opened"].cells
    for page in (first, heaviest):
        text = page.content.decode()
        assert len(re.findall(r"<[a-z]", text)) < 2_000
        assert len(page.content) < 50 * 1024


def test_the_buttons_of_a_page_open_and_fold_without_scripts(wide):
    browser, address = wide
    page = browser.get(address)
    found = re.search(
        r'id="fold-3" name="open" value="([^"]*)" aria-expanded="false" aria-label="Show 25 rows about User:orders',
        page.content.decode(),
    )

    opened = browser.get(f"{address}&open={found[1]}").content.decode()

    assert found[1] == "_0-3"
    assert 'id="fold-0" name="open" value="_3" aria-expanded="true"' in opened
    assert 'id="fold-3" name="open" value="_0" aria-expanded="true"' in opened
    assert "Rows 1 to 6 of 25" in opened


@pytest.fixture
def folded(cluster, ada, signed_in, tmp_path):
    """A what-if that removes the 25 ACLs of each of twelve principals, two of whom are in the log, and its address."""
    kept = [each for n in range(12) for each in several(f"w{n:02}", 25)]
    sync(cluster, client=Answers(kept, topics=[TopicInfo(each.resource_name) for each in kept]))
    requests = [
        request("User:w01", "WRITE", "w01.1", host="10.0.0.0", allowed=True, lines=9),
        request("User:w01", "READ", "w01.0", host="10.0.0.0", allowed=True, last_at=LAST - timedelta(days=3)),
        request("User:w01", "READ", "w01.5", host="10.0.0.1", lines=4),
        request("User:w02", "READ", "w02.0", host="10.0.0.0", lines=30),
        request("User:w02", "READ", "w02.5", host="10.0.0.1", lines=12),
    ]
    load(write_result(tmp_path / "usage", kept, requests=requests), cluster)
    lines = [json.dumps({"op": "remove", **each.as_dict()}) for each in kept]
    answer = signed_in(ada).post(f"/c/{cluster.slug}/what-if/", {"line": lines})
    return signed_in(ada), f"{answer['Location']}&show=loses"


def test_the_head_of_a_fold_says_when_its_rows_were_last_seen_and_denied(folded):
    browser, address = folded

    page = browser.get(address)

    log = page.context["diff_log"]
    told = {fold.label: log.heads[fold.number] for fold in page.context["diff"]}
    assert len(told) == whatif.FOLDS_A_PAGE
    seen, denied, silent = (told[f"User:w{number:02}"] for number in (1, 2, 3))
    assert (seen.says, seen.last_permitted, seen.denied) == ("permitted", LAST.replace(tzinfo=UTC), 4)
    assert (denied.says, denied.denied) == ("not in the log", 42)
    assert (silent.says, silent.denied) == ("not in the log", 0)
    heads = re.findall(r"<tr class=\"delta-fold\".*?(?=<tr|</table>)", page.content.decode(), re.DOTALL)
    assert [("42 denials" in head) for head in heads].count(True) == 1
    assert all('<td class="delta-log"' in head for head in heads)


def test_heads_of_very_many_rows_are_not_summed_up_and_say_so(folded, monkeypatch):
    browser, address = folded
    monkeypatch.setattr(diff_log, "MOST_SUMMED", 60)

    page = browser.get(address)

    assert list(page.context["diff_log"].heads) == [0, 1]
    heads = re.findall(r"<tr class=\"delta-fold\".*?(?=<tr|</table>)", page.content.decode(), re.DOTALL)
    assert ["too many rows to sum up" in head for head in heads] == [False, False, *[True] * (len(heads) - 2)]


def test_heads_cost_one_query_however_many_they_are(folded, monkeypatch):
    browser, address = folded
    browser.get(address)

    kept.forget()
    with CaptureQueriesContext(connection) as told:
        browser.get(address)
    monkeypatch.setattr(diff_log, "MOST_SUMMED", 0)
    kept.forget()
    with CaptureQueriesContext(connection) as untold:
        browser.get(address)

    assert len(told) - len(untold) == 1


def test_a_head_of_more_requests_than_are_looked_at_says_at_least(folded, monkeypatch):
    browser, address = folded
    monkeypatch.setattr(diff_log, "MOST_REQUESTS_SUMMED", 4)

    page = browser.get(address)

    log = page.context["diff_log"]
    told = {fold.label: log.heads[fold.number] for fold in page.context["diff"]}
    # The oldest of the five requests, a permit of w01, is beyond the limit.
    assert (told["User:w01"].last_permitted, told["User:w02"].denied) == (LAST.replace(tzinfo=UTC), 42)
    assert told["User:w03"].denied is None
    assert "at least 42 denials" in page.content.decode()
