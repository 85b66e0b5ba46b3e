"""The home page says what waits for a person and how each cluster stands, with the numbers of the lists it leads to."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from html import unescape

import pytest
from django.utils import timezone

from aclweb.acl.model import Delta
from aclweb.changes import review
from aclweb.clusters import ClusterState
from aclweb.insights import unused_counts
from aclweb.insights.broker_days import denied_lines
from aclweb.insights.load import load
from aclweb.insights.models import Load, LogDay, RetiredBroker
from aclweb.inventory.admin import removing
from aclweb.inventory.findings import lint_run
from aclweb.inventory.models import Cluster, PostureDay, Revision
from aclweb.inventory.sync.run import sync
from aclweb.web.ask.seen import COOKIE
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import BINDINGS, read_cluster, two_weeks_will_do  # noqa: F401 fixtures
from tests.insights.results import write_result
from tests.web.test_use_pages import REQUESTS

ACLS = [
    allow("User:*", "READ", "orders"),
    allow("User:*", "READ", "*"),
    allow("User:cat", "WRITE", "*"),
    deny("User:*", "WRITE", "orders"),
    allow("User:cat", "READ", "gone"),
    allow("User:cat", "READ", "orders"),
]


@pytest.fixture
def read(cluster) -> Cluster:
    with FakeCluster(bindings=ACLS, topics=["orders"], groups=[]) as fake:
        sync(cluster, client=fake)
    cluster.refresh_from_db()
    return cluster


def posture_links(text: str, slug: str) -> dict[str, int]:
    """Return the numbers of the table of clusters by where they lead."""
    found = re.findall(rf'<a [^>]*href="(/c/{slug}/(?:acls|findings)/[^"]*)">([\d,]+)</a>', text)
    return {unescape(address): int(number.replace(",", "")) for address, number in found}


def test_each_number_of_a_cluster_is_that_of_the_list_it_leads_to(read, ada, signed_in):
    assert lint_run.run(read, owner="test")
    browser = signed_in(ada)

    numbers = posture_links(browser.get("/").text, read.slug)

    by_what = {address.partition("?")[2]: number for address, number in numbers.items()}
    assert by_what["principal=User:*&permission=ALLOW"] == 2
    assert by_what["reach=all&permission=ALLOW"] == 2
    assert by_what["rule=orphan"] == 1
    for address, number in numbers.items():
        page = browser.get(address)
        if "/acls/" in address or "rule=orphan" in address:
            assert page.context["page"].paginator.count == number, address
        else:
            assert page.context["counts"].can_go == number > 0, address


def test_a_cluster_whose_acls_were_not_linted_yet_says_cannot_tell(read, ada, signed_in):
    page = signed_in(ada).get("/")

    (row,) = page.context["postures"]
    assert (row.figures, row.denials) == ({}, None)
    assert page.text.count("cannot tell") >= 5


def test_what_waits_is_what_this_person_may_decide(read, ada, ben, cho, signed_in):
    change = review.request(
        cluster=read, author=ada, title="Let eli read", delta=Delta(remove=(ACLS[5], ACLS[1], ACLS[0]))
    )

    bens = signed_in(ben).get("/")
    chos = signed_in(cho).get("/")

    assert [each.change.pk for each in bens.context["waiting"]] == [change.pk]
    assert f"{change.loses} lose" in bens.text
    assert chos.context["waiting"] == []
    assert "No change, no new denial and no cluster waits for you." in chos.text


def test_a_cluster_in_trouble_waits_for_everybody_who_sees_it(read, cho, eve, signed_in):
    Cluster.objects.filter(pk=read.pk).update(
        state=ClusterState.UNREACHABLE.value, state_sentence="No broker answers."
    )

    assert [line.cluster.pk for line in signed_in(cho).get("/").context["troubled"]] == [read.pk]
    assert "troubled" not in signed_in(eve).get("/").context


def test_the_home_page_needs_few_queries_however_many_clusters_there_are(
    read, dot, signed_in, django_assert_max_num_queries
):
    dot.is_superuser = True
    dot.save()
    for number in range(8):
        Cluster.objects.create(slug=f"c{number}", name=f"c{number}", kind="admin", address="127.0.0.1:1")
    browser = signed_in(dot)
    browser.get("/")

    with django_assert_max_num_queries(12):
        browser.get("/")


def figures(page) -> dict[str, tuple[int, int | None]]:
    (row,) = page.context["postures"]
    return {name: (each.number, each.grown) for name, each in row.figures.items()}


def test_a_number_shows_how_it_came_to_be_so(read, ada, signed_in):
    assert lint_run.run(read, owner="test")
    browser = signed_in(ada)
    assert figures(browser.get("/"))["any_user"] == (2, None)  # known since today

    today = PostureDay.objects.get()
    before = {**today.counts, "any_user": 5, "orphaned": 0}
    for ago in (40, 10):
        PostureDay.objects.create(
            cluster=read, day=today.day - timedelta(days=ago), counts={**before, "all_names": ago}
        )
    page = browser.get("/")

    assert figures(page)["any_user"] == (2, -3)
    assert figures(page)["orphaned"] == (1, 1)
    assert figures(page)["all_names"] == (2, -38)  # as it was 30 days ago: since the day 40 days ago
    assert figures(page)["redundant"] == (today.counts["redundant"], 0)
    assert f'aria-label="3 fewer than on {today.day - timedelta(days=30):%-d %B}"' in page.text
    (row,) = page.context["postures"]
    level = [float(each) for each in re.findall(r"[V ]([\d.]+)", row.figures["any_user"].line)]
    assert max(level) > min(level)
    assert len(set(re.findall(r"V([\d.]+)", row.figures["redundant"].line))) <= 1


def test_the_last_numbers_of_a_day_are_kept_for_400_days(read):
    long_ago = timezone.now().date() - timedelta(days=401)
    PostureDay.objects.create(cluster=read, day=long_ago, counts={})
    assert lint_run.run(read, owner="test")

    assert PostureDay.objects.get().counts["any_user"] == 2
    with FakeCluster(bindings=ACLS[1:], topics=["orders"], groups=[]) as fake:
        sync(read, client=fake)
    read.refresh_from_db()
    assert lint_run.run(read, owner="test")

    assert PostureDay.objects.get().counts["any_user"] == 1


def test_what_changed_is_new_since_the_last_visit(read, ada, signed_in, monkeypatch):
    browser = signed_in(ada)
    first = browser.get("/")
    assert (first.context["last_here"], first.context["newer"]) == (None, [])

    opened = timezone.now()
    Revision.objects.update(read_at=opened - timedelta(days=3))
    with FakeCluster(bindings=ACLS, topics=["orders", "refunds"], groups=[]) as fake:
        sync(read, client=fake)
    monkeypatch.setattr(timezone, "now", lambda: opened + timedelta(minutes=10))
    assert browser.get("/").context["last_here"] is None  # the same visit
    monkeypatch.setattr(timezone, "now", lambda: opened + timedelta(minutes=50))
    second = browser.get("/")

    (row,) = second.context["changes"]
    assert (row.title, row.state) == ("Topic refunds appeared", "new")
    assert second.context["last_here"] == pytest.approx(
        opened + timedelta(minutes=10), abs=timedelta(seconds=2)
    )
    assert "none since you were last on this page" in second.text
    monkeypatch.setattr(timezone, "now", lambda: opened + timedelta(minutes=60))
    assert browser.get("/").context["last_here"] == second.context["last_here"]


def test_topics_that_came_and_went_are_two_rows_and_groups_none(read, ada, signed_in):
    with FakeCluster(bindings=ACLS, topics=["a", "b"], groups=["g"]) as fake:
        sync(read, client=fake)
    Revision.objects.filter(number=1).update(read_at=timezone.now() - timedelta(days=1))
    browser = signed_in(ada)
    browser.cookies[COOKIE] = f"{ada.pk}..{int(time.time()) - 3600}"

    page = browser.get("/")

    assert sorted(row.title for row in page.context["newer"]) == [
        "2 topics, a and others, appeared",
        "Topic orders is gone",
    ]
    assert "2 since you were last on this page" in page.text


def test_acls_of_others_are_shown_though_groups_came_and_went_often_since(read, ada, signed_in):
    with FakeCluster(bindings=ACLS[1:], topics=["orders"], groups=[]) as fake:
        sync(read, client=fake)
    drift = Revision.objects.get(number=2)
    for number in range(3, 43):
        Revision.objects.create(
            cluster=read,
            number=number,
            read_at=drift.read_at + timedelta(seconds=number),
            acls=drift.acls,
            acls_added=0,
            acls_removed=0,
            names_added=1,
            digest=drift.digest,
        )

    (row,) = signed_in(ada).get("/").context["changes"]

    assert (row.title, row.key) == ("1 ACL removed outside aclweb", "revision 2")


@pytest.mark.parametrize(
    "text", ["", "x", "1", "1.2", "{pk}.x.y", "{pk}..99999999999", "{pk}..-5", "999..1700000000"]
)
def test_a_cookie_that_somebody_made_up_is_none(read, ada, signed_in, text):
    browser = signed_in(ada)
    browser.cookies[COOKIE] = text.format(pk=ada.pk)

    assert browser.get("/").context["last_here"] is None


def test_denials_stand_by_day_of_the_log(read_cluster, cho, signed_in, tmp_path):  # noqa: F811
    load(write_result(tmp_path / "usage", BINDINGS, requests=REQUESTS), read_cluster)
    one = LogDay.objects.order_by("day").last()
    LogDay.objects.create(
        load=one.load, broker="other", day=one.day, lines=9, decisions=7, permits=2, hours=1, permit_hours=1
    )
    counted = {
        day: sum(each.decisions - each.permits for each in LogDay.objects.filter(day=day))
        for day in LogDay.objects.values_list("day", flat=True)
    }

    page = signed_in(cho).get("/")

    (row,) = page.context["postures"]
    days = denied_lines([one.load], 30)[one.load.pk]
    assert len(days) == row.denied.path.count("M") == 30
    assert days[-1] == (one.load.last_at.date(), counted[one.load.last_at.date()])
    assert sum(lines for _, lines in days) == sum(
        lines for day, lines in counted.items() if day > days[-1][0] - timedelta(days=30)
    ) > 0  # fmt: skip
    assert page.text.count('aria-label="Denials of each of the last days of its log"') == 1


def test_the_home_page_of_a_cluster_with_a_log_and_new_topics_takes_twelve_queries(
    read_cluster, cho, signed_in, tmp_path, django_assert_max_num_queries  # noqa: F811
):  # fmt: skip
    load(write_result(tmp_path / "usage", BINDINGS, requests=REQUESTS), read_cluster)
    assert lint_run.run(read_cluster, owner="test")
    with FakeCluster(bindings=BINDINGS[1:], topics=["orders", "new"], groups=[]) as fake:
        sync(read_cluster, client=fake)
    browser = signed_in(cho)
    browser.get("/")

    with django_assert_max_num_queries(12):
        page = browser.get("/")

    assert {"new", "drift"} <= {row.state for row in page.context["changes"]}


def test_unused_acls_are_those_of_the_list_and_counted_again_where_something_moves(
    read_cluster, two_weeks_will_do, cho, signed_in, tmp_path, settings  # noqa: F811
):  # fmt: skip
    load(write_result(tmp_path / "usage", BINDINGS, requests=REQUESTS), read_cluster)
    browser = signed_in(cho)

    def unused() -> int | None:
        (row,) = browser.get("/").context["postures"]
        return row.unused and row.unused.number

    def listed() -> int:
        return browser.get(f"/c/{read_cluster.slug}/acls/?use=unused").context["page"].paginator.count

    assert unused() is None  # nobody has counted
    assert unused_counts.keep_counts() == 1
    assert unused_counts.keep_counts() == 0
    assert unused() == listed() > 0

    with FakeCluster(bindings=BINDINGS[:-1], topics=["orders"], groups=[]) as fake:
        sync(read_cluster, client=fake)
    assert unused() is None
    assert unused_counts.keep_counts() == 1
    assert unused() == listed()
    settings.ACLWEB_UNUSED_DAYS = 400
    assert unused() is None
    assert unused_counts.keep_counts() == 1
    assert (unused(), Load.objects.get().unused) == (None, None)  # the log is too short to tell
    assert unused_counts.keep_counts() == 0
    settings.ACLWEB_UNUSED_DAYS = 14
    RetiredBroker.objects.create(
        cluster=read_cluster, broker="b", since=timezone.now().date(), set_by="dot", set_at=timezone.now()
    )
    assert unused_counts.keep_counts() == 1


def test_a_removed_cluster_does_not_end_the_counting_for_the_others(
    read_cluster, two_weeks_will_do, tmp_path  # noqa: F811
):  # fmt: skip
    load(write_result(tmp_path / "usage", BINDINGS, requests=REQUESTS), read_cluster)
    kept = Load.objects.get()
    removing.remove(actor="root", cluster=read_cluster, confirmed=read_cluster.name)

    assert Load.objects.get(current=True) == kept  # no worker has deleted it yet
    assert unused_counts.keep_counts() == 0
