"""Does the number of unused ACLs equal the list that it links to, and do both say where they cannot tell?"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aclweb.acl.notation.files import binding_key
from aclweb.insights.coverage import coverage
from aclweb.insights.load import load
from aclweb.insights.models import Load, Refresh
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import BINDINGS, read_cluster  # noqa: F401 a fixture
from tests.insights.results import LAST, file, log_days, request, use, write_result

NAMES = {"topics": ["orders", "payments.eu"], "groups": ["billing"]}


@pytest.fixture(autouse=True)
def days_that_the_logs_cover(settings):
    settings.ACLWEB_UNUSED_DAYS = 13


@pytest.fixture
def page_of(read_cluster, ada, signed_in):  # noqa: F811
    client = signed_in(ada)
    return lambda address: client.get(address, follow=True).content.decode()


def tile(page: str) -> str:
    head, _, rest = page.partition("Unused ACLs")
    return head[-200:] + rest.split("</a>")[0].split("</div>")[0]


def test_the_number_of_unused_acls_links_to_a_list_of_as_many(page_of, read_cluster, tmp_path):  # noqa: F811
    used = [use(BINDINGS[0]), use(BINDINGS[1], requests=0, named=3)]
    load(write_result(tmp_path / "usage", BINDINGS, usage=used), read_cluster)
    young = [allow("User:new", "READ", f"new-{number}") for number in range(2)]
    sync(read_cluster, client=FakeCluster([*BINDINGS, *young], **NAMES))

    shown = tile(page_of("/c/test-eu/insights/"))
    link = re.search(r'<a class="tile" href="([^"]+)">.*?tile-number">(\d+)<', shown, re.DOTALL)
    listed = page_of(link[1])

    assert int(link[2]) == len(BINDINGS) - 1 == 6
    assert "in the 13 days to 2026-11-20 21:00" in shown
    assert f"{link[2]} of {len(BINDINGS) + 2} " in listed
    rows = listed.split('<table class="table')[1].split("</thead>")[1].split("</tbody>")[0]
    assert rows.count("<tr>") == rows.count(">Unused<") == 6
    assert "User:new" not in rows
    assert f"value={binding_key(BINDINGS[0])[:16]}" not in rows
    everything = page_of("/c/test-eu/acls/")
    assert everything.split('<table class="table')[1].split("</thead>")[1].count(">Unused<") == 6


def test_the_unused_acls_are_counted_once_for_a_revision_of_the_cluster_and_the_log(
    page_of,
    read_cluster,  # noqa: F811
    tmp_path,
):
    def counted() -> tuple[int, int]:
        """How often a page counts them, and how many there are by it."""
        with CaptureQueriesContext(connection) as asked:
            page = page_of("/c/test-eu/insights/use/")
        found = sum("COUNT(*)" in query["sql"] and "insights_acluse" in query["sql"] for query in asked)
        number = re.search(r'use=unused"[^>]*>Unused\s*<span[^>]*>(\d+)<', page)
        assert number is not None
        return found, int(number[1])

    load(write_result(tmp_path / "one", BINDINGS, usage=[use(BINDINGS[0])]), read_cluster)

    assert counted() == (1, len(BINDINGS) - 1)
    assert counted() == (0, len(BINDINGS) - 1)

    load(write_result(tmp_path / "two", BINDINGS, usage=[use(BINDINGS[0]), use(BINDINGS[1])]), read_cluster)
    assert counted() == (1, len(BINDINGS) - 2)
    sync(read_cluster, client=FakeCluster(BINDINGS[1:], **NAMES))
    assert counted() == (1, len(BINDINGS) - 2)
    assert counted() == (0, len(BINDINGS) - 2)
    sync(read_cluster, client=FakeCluster(BINDINGS[1:], **NAMES))
    assert counted() == (0, len(BINDINGS) - 2), "nothing has moved"


def test_where_the_log_cannot_tell_neither_number_nor_list_claims_it(page_of, read_cluster, tmp_path):  # noqa: F811
    files = [file("b1.log", permits=9), file("b2.log")]
    days = [*log_days("b1.log"), *log_days("b2.log", permit_hours=range(3))]
    load(write_result(tmp_path / "usage", BINDINGS, files=files, coverage=days), read_cluster)

    shown = tile(page_of("/c/test-eu/insights/"))
    listed = page_of("/c/test-eu/acls/?use=unused")

    assert "cannot tell" in shown
    assert "b2.log: permits in" in shown
    assert "Which ALLOW ACLs are unused is unknown" in listed
    assert "b2.log: permits in" in listed
    rows = listed.split('<table class="table')[1].split("</thead>")[1].split("</tbody>")[0]
    assert rows.count("<tr>") == 1
    assert "User:eve" in rows


def test_another_word_for_use_is_reported_and_lists_everything(page_of, read_cluster):  # noqa: F811
    listed = page_of("/c/test-eu/acls/?use=idle")

    assert "use is &#x27;idle&#x27;; use one of needed, replaceable, used, unused, cannot-tell." in listed
    assert listed.split('<table class="table')[1].split("</thead>")[1].split("</tbody>")[0].count(
        "<tr>"
    ) == len(BINDINGS)


def test_the_page_says_since_when_and_why_the_logs_were_not_read(page_of, read_cluster, tmp_path):  # noqa: F811
    load(write_result(tmp_path / "usage", BINDINGS), read_cluster)
    Refresh.objects.create(
        cluster=read_cluster,
        tried_at=datetime(2030, 1, 2, 3, 4, tzinfo=UTC),
        problem="The logs were not read. The job failed: EOFException: Unexpected end",
    )

    page = page_of("/c/test-eu/insights/")

    assert "Not refreshed since " in page
    assert "the last try, on 2030-01-02 03:04 UTC, failed." in page
    assert "EOFException: Unexpected end" in page


def test_two_brokers_with_one_file_name_are_distinguished(page_of, read_cluster, tmp_path):  # noqa: F811
    files = [
        file("authorizer.log", permits=9)
        | {"name": f"b{number}/authorizer.log", "state": state, "reason": "Torn."}
        for number, state in ((1, "read"), (2, "truncated"))
    ]
    load(write_result(tmp_path / "usage", BINDINGS, files=files), read_cluster)

    page = page_of("/c/test-eu/insights/coverage/")

    assert "b1/authorizer.log" in page
    assert "b2/authorizer.log" in page
    assert page.count(">truncated<") == 1
    assert [entry.is_whole for entry in coverage(read_cluster).files] == [True, False]


def rows_of(page: str) -> list[str]:
    """Return the principal of each row of a list of ACLs."""
    body = page.split('<table class="table')[1].split("</thead>")[1].split("</tbody>")[0]
    return [
        row.split('class=principal><a href="')[1].split(">")[1].split("<")[0]
        for row in body.split("<tr>")[1:]
    ]


@pytest.fixture
def used(read_cluster, tmp_path):  # noqa: F811
    """Three ACLs were used: the third last, the second most; others could replace the first."""
    at = {place: LAST - timedelta(hours=place) for place in range(3)}
    uses = [
        use(BINDINGS[2], requests=5, needed=5, last_at=at[0]),
        use(BINDINGS[1], requests=900, needed=7, last_at=at[1]),
        use(BINDINGS[0], requests=70, needed=0, last_at=at[2]),
    ]
    load(write_result(tmp_path / "usage", BINDINGS, usage=uses), read_cluster)
    return [BINDINGS[2].principal, BINDINGS[1].principal, BINDINGS[0].principal]


def test_the_list_is_sorted_by_last_use_and_by_requests_with_the_unused_behind(used, page_of):
    by_time = rows_of(page_of("/c/test-eu/acls/?sort=last-used"))
    by_load = rows_of(page_of("/c/test-eu/acls/?sort=requests"))

    assert len(by_time) == len(by_load) == len(BINDINGS)
    assert by_time[:3] == used
    assert by_load[:3] == [used[1], used[2], used[0]]


def test_the_requests_of_the_list_are_those_of_the_last_30_days(page_of, read_cluster, tmp_path):  # noqa: F811
    days = [
        {"day": "2026-10-21", "lines": 900},
        {"day": "2026-10-22", "lines": 3},
        {"day": "2026-11-20", "lines": 1},
    ]
    asked = {"allowed": True, "decided_now": "ALLOWED", "days": days, "lines": 904}
    settled = [binding_key(BINDINGS[1])]
    rows = [request("User:bob", "WRITE", "orders", determining=settled, **asked)]
    uses = [use(BINDINGS[0], requests=800), use(BINDINGS[1], requests=904)]
    result = write_result(tmp_path / "usage", BINDINGS, usage=uses, requests=rows)
    load(result, read_cluster)

    listed = page_of("/c/test-eu/acls/?sort=requests")

    assert rows_of(listed)[:2] == [BINDINGS[1].principal, BINDINGS[0].principal]
    assert re.findall(r"class=requests>(\d+)<", listed)[:2] == ["4", "0"]


def test_a_load_of_an_earlier_version_shows_no_number_for_30_days(page_of, read_cluster, tmp_path):  # noqa: F811
    uses = [use(BINDINGS[0], requests=800)]
    load(write_result(tmp_path / "usage", BINDINGS, usage=uses, without=["determining"]), read_cluster)

    listed = page_of("/c/test-eu/acls/?sort=requests")

    assert rows_of(listed)[0] == BINDINGS[0].principal
    assert "The next refresh of the logs counts the requests of 30 days." in listed


def test_the_list_is_filtered_by_what_the_log_shows(used, page_of):
    found = {
        word: rows_of(page_of(f"/c/test-eu/acls/?use={word}"))
        for word in ("used", "needed", "replaceable", "unused")
    }

    assert sorted(found["used"]) == sorted(used)
    assert sorted(found["needed"]) == sorted(used[:2])
    assert found["replaceable"] == used[2:]
    assert len(found["unused"]) == len(BINDINGS) - 3
    assert "No ACL matches these filters" in page_of("/c/test-eu/acls/?use=cannot-tell")


def test_an_acl_of_which_the_log_cannot_tell_is_found(page_of, read_cluster, tmp_path):  # noqa: F811
    files = [file("b1.log"), file("b2.log")]
    load(write_result(tmp_path / "usage", BINDINGS, files=files), read_cluster)

    listed = rows_of(page_of("/c/test-eu/acls/?use=cannot-tell"))

    assert len(listed) == len(BINDINGS) - 1
    assert "User:eve" not in listed, "denials are logged, so an unused DENY shows"


def test_each_column_of_the_log_is_under_the_link_that_sorts_by_it(used, page_of):
    address = "/c/test-eu/acls/?sort=requests&columns=last-used"
    head, _, body = page_of(address).partition('<table class="table')[2].partition("</thead>")
    words = [re.sub("<[^>]*>", "", cell).strip() for cell in re.findall(r"<th .*?</th>", head, re.DOTALL)]
    cells = re.findall(r"<td\sclass=([\w-]+)", body.split("<tr>")[1])

    assert words[1:-1] == ["Requests in 30 days", "Last used"]
    assert cells == ["requests", "last-used"]
    assert 'aria-sort="descending"' in head


def test_a_word_of_no_sort_is_reported(page_of, used):
    listed = page_of("/c/test-eu/acls/?sort=size")

    assert "sort is &#x27;size&#x27;; use one of operation, principal," in listed


@pytest.mark.parametrize(
    "address",
    [
        "/c/test-eu/acls/",
        "/c/test-eu/topics/orders?tab=traffic",
        "/c/test-eu/principal/?name=User:bob&tab=traffic",
        "/c/test-eu/principal/least-privilege/?name=User:bob",
        "/c/test-eu/insights/",
        "/c/test-eu/insights/coverage/",
    ],
)
def test_each_page_of_the_log_says_since_when_and_why_it_was_not_read_again(address, page_of, used):
    Refresh.objects.create(
        cluster=Cluster.objects.get(), tried_at=datetime.now(UTC), problem="No space left on device."
    )

    page = page_of(address)

    assert page.count("Not refreshed since") == 1
    assert "No space left on device." in page


def test_a_page_of_the_log_says_when_it_was_read(page_of, used):
    page = re.sub(r"<[^>]*>", "", page_of("/c/test-eu/acls/"))

    assert re.search(r"Log read \d+ (s|min) ago", page)
    assert "its last record is of 2026-11-20 20:00 on the brokers’ clocks." in page


@pytest.mark.parametrize(
    "problem, told",
    [
        ("", "Log read 2 d ago"),
        (
            "No space left on device.",
            "Not refreshed since {read} UTC: the last try, on {tried} UTC, failed. No space",
        ),
    ],
)
def test_a_log_without_news_was_read_when_a_worker_last_looked(problem, told, page_of, used):
    now = datetime.now(UTC)
    read_at = now - timedelta(days=2)
    Load.objects.update(loaded_at=now - timedelta(days=3))
    before = re.sub(r"<[^>]*>", "", page_of("/c/test-eu/acls/"))

    tried_at = now if problem else read_at
    Refresh.objects.create(cluster=Cluster.objects.get(), tried_at=tried_at, read_at=read_at, problem=problem)

    page = re.sub(r"<[^>]*>", "", page_of("/c/test-eu/acls/"))
    assert "Log read 3 d ago" in before
    assert told.format(read=f"{read_at:%Y-%m-%d %H:%M}", tried=f"{tried_at:%Y-%m-%d %H:%M}") in page
