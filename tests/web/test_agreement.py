"""The same fact on two pages has the same value: a number and the list behind it, an offer and what it does.

The world has ACLs of every kind: shadowed, implied, orphaned, without a client, with ranges, for everybody.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from html import unescape

import pytest

from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import Operation, ResourceType
from aclweb.acl.notation.files import read_acls
from aclweb.changes import review
from aclweb.changes.rollout import hold
from aclweb.changes.rollout import run as rollout
from aclweb.insights.load import load
from aclweb.inventory.access import topic_access
from aclweb.inventory.current import view as current
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.changes.conftest import kafka, reread  # noqa: F401 the fixture is used by name
from tests.changes.file_cluster import FileClient
from tests.fake_cluster import FakeCluster
from tests.insights.results import request as refused
from tests.insights.results import use, write_result

C = "/c/test-eu"
TOPICS = ["orders.eu", "orders.us", "payments.eu", "stock", "__consumer_offsets"]
ACLS = [
    # Read and its Describe; a prefix that implies an exact one; a DENY above an ALLOW.
    allow("User:bob", "READ", "orders.eu"),
    allow("User:bob", "DESCRIBE", "orders.eu"),
    allow("User:bob", "READ", "orders.", pattern="PREFIXED"),
    allow("User:cat", "WRITE", "orders.eu"),
    deny("User:cat", "ALL", "orders.", pattern="PREFIXED"),
    # Nobody meets these: hosts that no client has, and a name that no topic can have.
    allow("User:ops", "ALTER", "kafka-cluster", resource_type="CLUSTER", host="::1"),
    allow("User:indexer", "READ", "stock", host="search-01.example"),
    allow("User:eli", "READ", "stock", host="10.0.0.0/33"),
    allow("User:eli", "READ", "no topic"),
    deny("User:dan", "READ", "stock", host="search-01.example"),
    # Ranges, everybody, all names, other types, and what no longer exists.
    allow("User:fay", "READ", "stock", host="10.0.0.0/8"),
    allow("User:fay", "READ", "stock", host="10.1.0.0/16"),
    allow("User:*", "DESCRIBE", "stock"),
    allow("User:gus", "DESCRIBE", "stock"),
    allow("User:hal", "ALL", "*"),
    allow("User:hal", "READ", "payments.eu"),
    allow("User:admin", "READ", "payments.eu"),
    allow("User:gone", "READ", "no-such-topic"),
    allow("User:bob", "READ", "bobs", resource_type="GROUP"),
    allow("User:bob", "READ", "*", resource_type="GROUP"),
    allow("User:tx", "WRITE", "tx-1", resource_type="TRANSACTIONAL_ID"),
    *(allow(f"User:app-{number:02}", "READ", "stock") for number in range(16)),
]
DENIALS = [
    *(refused(f"User:late-{number:02}", "READ", "stock", lines=number + 1) for number in range(40)),
    refused("User:late-00", "WRITE", "stock"),
    refused("User:late-00", "WRITE", "stock", host="10.0.0.8"),
]

# Kafka versions that read hosts otherwise: addresses alone, and ranges too.
VERSIONS = [("standard", "4.1"), ("standard", "3.9"), ("acl", "3.6")]


@pytest.fixture(autouse=True)
def days_that_the_logs_cover(settings):
    settings.ACLWEB_UNUSED_DAYS = 13


@pytest.fixture(autouse=True)
def lists_of_several_pages(settings):
    settings.ACLWEB_PAGE_SIZE = 20


@pytest.fixture
def site(cluster, tmp_path):
    current.forget()
    sync(cluster, client=FakeCluster(ACLS, topics=TOPICS, groups=["bobs", "cats"]))
    cluster.refresh_from_db()
    load(
        write_result(tmp_path / "usage", ACLS, usage=[use(ACLS[0]), use(ACLS[2])], requests=DENIALS), cluster
    )
    return cluster


@pytest.fixture
def browser(site, ada, signed_in):
    return signed_in(ada)


def text(page) -> str:
    return unescape(page.content.decode())


def number_in(page: str, label: str) -> int:
    """Return the number of the tile with this label."""
    found = re.search(rf'{label}</span><span class="tile-number">(?:<a[^>]*>)?([\d,]+)', page)
    assert found is not None, label
    return int(found[1].replace(",", ""))


def rows_of(browser, address: str, key: str = "page") -> list:
    """Return the rows of all pages of a list."""
    rows, number = [], 1
    while True:
        page = browser.get(address + ("&" if "?" in address else "?") + f"page={number}").context[key]
        rows += page.object_list
        if not page.has_next():
            assert len(rows) == page.paginator.count
            return rows
        number += 1


# --- What can go ------------------------------------------------------------------------


@pytest.mark.parametrize(("authorizer", "version"), VERSIONS)
@pytest.mark.parametrize("allow_everyone", [False, True])
def test_what_can_go_loses_and_gains_nothing_when_it_goes(browser, site, authorizer, version, allow_everyone):
    Cluster.objects.filter(pk=site.pk).update(
        authorizer=authorizer, kafka_version=version, allow_everyone=allow_everyone
    )
    current.forget()
    listed = browser.get(f"{C}/findings/", {"show": "can-go"})
    number = listed.context["counts"].can_go
    assert number >= 6

    whatif = browser.post(f"{C}/findings/draft/", {"show": "can-go"}, follow=True)

    assert len(whatif.context["draft"].lines) == number
    tiles = {tile.kind: tile.count for tile in whatif.context["tiles"]}
    assert (tiles["gains"], tiles["loses"], tiles["depends"]) == (0, 0, 0)


def test_each_that_can_go_loses_nothing_by_itself_either(browser):
    listed = browser.get(f"{C}/findings/", {"show": "can-go"}).context["page"]

    assert len(listed) >= 6
    for key in (row.key for row in listed):
        whatif = browser.post(f"{C}/what-if/", {"remove_key": key}, follow=True)
        tiles = {tile.kind: tile.count for tile in whatif.context["tiles"]}
        assert (tiles["gains"], tiles["loses"]) == (0, 0), text(whatif)[:200]


def test_a_proposal_with_exactly_the_same_access_changes_no_access(browser):
    rows = [row for row in rows_of(browser, f"{C}/findings/?show=fewer") if not row.extra]

    for row in rows:
        whatif = browser.get(f"{C}/what-if/", {"proposal": row.number})
        tiles = {tile.kind: tile.count for tile in whatif.context["tiles"]}
        assert (tiles["gains"], tiles["loses"]) == (0, 0)


def test_the_counts_of_findings_are_those_of_their_lists(browser):
    page = browser.get(f"{C}/findings/")
    counts = page.context["counts"]

    every = rows_of(browser, f"{C}/findings/")
    assert len(every) == counts.total == sum(counts.by_severity.values())
    assert Counter(row.severity for row in every) == {
        name: count for name, count in counts.by_severity.items() if count
    }
    assert len(rows_of(browser, f"{C}/findings/?show=can-go")) == counts.can_go
    assert len(rows_of(browser, f"{C}/findings/?show=fewer")) == counts.proposals
    for facet in page.context["facets"]:
        for choice in facet.values:
            assert len(rows_of(browser, f"{C}/findings/{choice.url}")) == choice.count, choice.word


# --- The list of ACLs -------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        *("", "?principal=User:bob", "?use=unused"),
        *(
            pytest.param(
                asked,
                marks=pytest.mark.thorough(
                    instead="tests/web/test_agreement.py::test_each_count_beside_the_list_is_the_list_that_it_leads_to"
                ),
            )
            for asked in ("?permission=DENY", "?text=orders", "?orphan=1")
        ),
    ],
)
def test_each_count_beside_the_list_is_the_list_that_it_leads_to(browser, asked):
    page = browser.get(f"{C}/acls/{asked}")
    total = page.context["page"].paginator.count
    assert total

    for facet in page.context["facets"]:
        for choice in facet.values:
            if not choice.current:
                listed = rows_of(browser, f"{C}/acls/{choice.url}")
                assert choice.count in (None, len(listed)), choice.word


@pytest.mark.parametrize(
    "asked", ["", "?permission=DENY", "?resource_type=TOPIC&name=stock&match=affects", "?use=unused"]
)
def test_an_export_is_the_list_and_its_button_has_its_number(browser, asked):
    page = browser.get(f"{C}/acls/{asked}")
    rows = [row.binding for row in rows_of(browser, f"{C}/acls/{asked}")]
    exports = page.context["exports"]

    for format, ending in (("csv", "csv"), ("jsonl", "jsonl")):
        whole = b"".join(browser.get(exports[ending]).streaming_content).decode()
        assert list(read_acls(whole, source="export", format=format)) == rows
    commands = b"".join(browser.get(exports["sh"]).streaming_content).decode().splitlines()
    assert len(commands) == len(rows) + 1
    assert f"Export {len(rows)}" in text(page)
    assert f"Copy {len(rows)} as kafka-acls" in text(page)


def test_the_number_of_acls_is_the_same_on_every_page(browser, site):
    listed = browser.get(f"{C}/acls/").context["page"].paginator.count

    assert listed == len(ACLS) == site.revision.acls
    for address in ("/", "/clusters/", f"{C}/", f"{C}/topics/"):
        page = browser.get(address)
        assert str(len(ACLS)) in text(page), address
    api = browser.get("/api/v1/clusters/test-eu/acls/").json()
    assert api.get("count", api.get("total")) == listed


def test_the_acls_of_a_principal_are_counted_alike(browser):
    for row in rows_of(browser, f"{C}/principals/"):
        listed = browser.get(f"{C}/acls/", {"principal": row.principal}).context["page"].paginator.count
        denied = (
            browser.get(f"{C}/acls/", {"principal": row.principal, "permission": "DENY"})
            .context["page"]
            .paginator.count
        )
        assert (listed, denied) == (row.acls, row.denies), row.principal


@pytest.mark.parametrize("kind", ["TOPIC", "GROUP"])
def test_the_acls_of_a_name_are_counted_alike(browser, kind):
    for row in rows_of(browser, f"{C}/topics/?type={kind}"):
        asked = {"resource_type": kind, "name": row.name, "match": "affects"}
        listed = browser.get(f"{C}/acls/", asked).context["page"].paginator.count
        affecting = browser.get(
            "/api/v1/clusters/test-eu/affecting/", {"resource": f"{kind}:{row.name}"}
        ).json()
        assert listed == row.affecting == len(affecting["acls"]), row.name


# --- Who can do what --------------------------------------------------------------------


@pytest.mark.half
@pytest.mark.parametrize("name", ["orders.eu", "stock", "payments.eu"])
@pytest.mark.parametrize("operation", ["READ", "WRITE", "DESCRIBE"])
def test_who_can_is_the_same_in_the_sentence_the_matrix_and_the_api(browser, site, name, operation):
    access = topic_access(site, ResourceType.TOPIC, name)
    matrix = {
        row.principal: row.verdict(Operation[operation]).state
        for row in access.rows
        if row.kind == "principal"
    }
    assert matrix

    for principal, state in matrix.items():
        for host in ("10.1.2.3", "192.0.2.1"):
            question = {
                "principal": principal,
                "host": host,
                "operation": operation,
                "resource_type": "TOPIC",
                "resource_name": name,
            }
            answer = browser.post(
                "/api/v1/clusters/test-eu/decide/", json.dumps(question), content_type="application/json"
            ).json()
            if state == "allowed":
                assert answer["result"] == "ALLOWED", (principal, host)
            elif state in ("refused", "none"):
                assert answer["result"] == "DENIED", (principal, host)

    page = text(browser.get(f"{C}/topics/{name}", {"all": "1"}))
    able = [
        row.principal
        for row in access.rows
        if row.kind == "principal"
        and not row.is_super_user
        and row.verdict(Operation[operation]).is_allowed_somewhere
    ]
    if operation == "READ":
        told = re.search(r"(\d+|one) principals? can read", page, re.IGNORECASE)
        assert told is not None
        assert (1 if told[1].lower() == "one" else int(told[1])) == len(able)


# --- The log ----------------------------------------------------------------------------


def test_the_tiles_of_insights_are_their_lists(browser):
    page = browser.get(f"{C}/insights/")
    rows = rows_of(browser, f"{C}/insights/")
    told = text(page)

    assert number_in(told, "Denials") == sum(row.lines for row in rows)
    assert f"{len(rows)} groups, {len({row.principal for row in rows})} principals" in told
    new = rows_of(browser, f"{C}/insights/?state=new")
    assert number_in(told, "New") == len(new) == len(rows)
    assert sum(row.lines for row in rows) == sum(denial["lines"] for denial in DENIALS)
    link, *_ = re.findall(r'href="([^"]*use=unused)"', told)
    assert number_in(told, "Unused ACLs") == len(rows_of(browser, link)) > 0


def test_a_topics_denials_are_those_of_the_inbox(browser):
    rows = [row for row in rows_of(browser, f"{C}/insights/") if row.resource.name == "stock"]

    page = text(browser.get(f"{C}/topics/stock?tab=denials"))

    assert len(rows) == 41
    assert str(len(rows)) in page.partition('id="denials')[2][:2_000] or "41" in page


# --- Comparing --------------------------------------------------------------------------


def test_the_lines_of_a_comparison_are_its_counts_and_the_revisions_numbers(browser, site):
    after = [*ACLS[3:], allow("User:new", "READ", "stock")]
    sync(site, client=FakeCluster(after, topics=TOPICS, groups=["bobs", "cats"]))

    page = browser.get(f"{C}/compare/", {"at": "1", "other": "test-eu"})
    delta = page.context["comparison"].delta

    counts = {each.name: each.count for each in page.context["acls"].lists}
    assert counts == {"left": len(delta.remove), "both": len(ACLS) - 3, "right": len(delta.add)}
    assert (counts["left"], counts["right"]) == (3, 1)
    newest = browser.get(f"{C}/").context["history"].object_list[0]
    assert (newest.acls_added, newest.acls_removed) == (1, 3)


def test_a_removal_in_a_what_if_is_the_difference_between_its_two_dates(browser, site):
    gone = [ACLS[2], ACLS[14]]
    keys = list(site.acls.filter(removed_in__isnull=True).values_list("key", flat=True))
    rows = {row.binding: row.key for row in rows_of(browser, f"{C}/acls/")}
    assert set(rows.values()) == set(keys)
    foretold = browser.post(f"{C}/what-if/", {"remove_key": [rows[one] for one in gone]}, follow=True)

    sync(
        site,
        client=FakeCluster([one for one in ACLS if one not in gone], topics=TOPICS, groups=["bobs", "cats"]),
    )
    happened = browser.get(f"{C}/compare/", {"at": "1", "other": "test-eu"})

    counts = [
        {
            tile.kind: tile.count
            for tile in page.context["tiles"]
            if tile.kind in ("gains", "loses", "depends")
        }
        for page in (foretold, happened)
    ]
    assert counts[0] == counts[1]
    assert counts[0]["loses"] > 0


# --- Changes ----------------------------------------------------------------------------


@pytest.fixture
def applied(cluster, kafka, ada, ben, monkeypatch):  # noqa: F811
    """A change that a worker has written and read back."""
    current.forget()
    monkeypatch.setattr(rollout, "connect", FileClient)
    monkeypatch.setattr(hold, "BARRIER_SECONDS", 0)
    monkeypatch.setattr("aclweb.changes.tasks.apply_change.delay", lambda *_: None)
    cluster.address = str(kafka.directory)
    cluster.save()
    reread(cluster)
    change = review.draft(
        cluster=cluster,
        author=ada,
        title="Ledger reads payments",
        reason="",
        delta=Delta(add=(allow("User:ledger", "READ", "payments.eu"),)),
    )
    review.submit(change=change, actor=ada)
    change.refresh_from_db()
    review.approve(change=change, reviewer=ben)
    assert rollout.apply(change.pk) == "APPLIED"
    change.refresh_from_db()
    return change


def test_a_finished_change_carries_no_warning(applied, ada, signed_in):
    page = signed_in(ada).get(f"/changes/{applied.key}/")
    main = page.content.decode().partition("<main")[2].partition("</main>")[0]

    assert 'class="notice" data-tone="warn"' not in main
    assert 'class="notice" data-tone="bad"' not in main.replace('data-tone="bad" id="page-problem"', "")
    assert "already" not in main


def test_a_change_is_undone_only_by_an_undo_that_was_applied(applied, ada, ben, signed_in):
    undo = review.draft_undo(change=applied, actor=ada)
    review.submit(change=undo, actor=ada)
    undo.refresh_from_db()
    browser = signed_in(ada)
    address = f"/changes/{applied.key}/"
    claim = re.compile(rf"undone by|{undo.key}</a> und(?:oes|id) it", re.IGNORECASE)

    assert not claim.search(text(browser.get(address)))
    review.reject(change=undo, reviewer=ben, comment="Not now.")
    assert not claim.search(text(browser.get(address)))

    again = review.draft_undo(change=applied, actor=ada)
    review.submit(change=again, actor=ada)
    again.refresh_from_db()
    review.approve(change=again, reviewer=ben)
    assert rollout.apply(again.pk) == "APPLIED"
    assert again.key in text(browser.get(address))
    for page in (address, "/changes/?tab=all", "/"):
        assert ">undone<" in re.sub(r"\s*([<>])\s*", r"\1", text(browser.get(page))), page
    assert browser.get(f"/api/v1/changes/{applied.key}/").json()["state_words"] == "undone"
