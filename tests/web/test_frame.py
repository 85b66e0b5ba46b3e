"""What stands around every page: signing in, headers, and how few queries a page costs."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from aclweb.accounts.models import Grant, Role, User
from aclweb.acl.model import Delta
from aclweb.changes import review
from aclweb.changes.queries import waiting_for
from aclweb.clusters import ClusterFacts
from aclweb.clusters.broker_settings import BrokerSettings, combined_settings
from aclweb.insights.models import DenialGroup, Load
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from aclweb.web.shell import badges, spelling
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers

QUESTION = "principal=User:bob&operation=READ&type=TOPIC&name=orders.eu&host="
PAGES = [
    "/",
    f"/?{QUESTION}",
    "/clusters/",
    "/c/test-eu/",
    "/c/test-eu/topics/",
    "/c/test-eu/topics/orders.eu",
    "/c/test-eu/principals/",
    "/c/test-eu/principal/?name=User:bob",
    "/c/test-eu/acls/",
    f"/c/test-eu/explain/?{QUESTION}",
    "/c/test-eu/search/?q=o",
]
MOST_QUERIES = 12


@pytest.fixture
def browser(cluster, ada, signed_in):
    acls = [allow(f"User:p{number}", "READ", f"orders.{number}") for number in range(80)]
    sync(cluster, client=Answers([*acls, deny("User:bob", "READ", "orders.eu")]))
    return signed_in(ada)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_costs_few_queries_and_runs_nothing_inline(browser, path):
    browser.get(path)
    with CaptureQueriesContext(connection) as queries:
        page = browser.get(path)

    assert page.status_code == 200
    assert len(queries) <= MOST_QUERIES, [query["sql"][:120] for query in queries]
    policy = page["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    shown = page.content.decode()
    assert "<script>" not in shown
    assert " style=" not in shown
    # Nothing is asked of another site: a text to copy names this one.
    assert "http://" not in shown.replace("http://www.w3.org/2000/svg", "").replace("http://testserver/", "/")
    assert "https://" not in shown


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_for_people_who_have_signed_in(client, cluster, path):
    page = client.get(path)

    assert page.status_code == 302
    assert page["Location"].startswith("/sign-in/?next=")


def test_a_wrong_password_is_reported_without_saying_which_half_is_wrong(client, ada):
    wrong = client.post("/sign-in/", {"username": "ada", "password": "not hers"})
    unknown = client.post("/sign-in/", {"username": "nobody", "password": "not hers"})

    for page in (wrong, unknown):
        assert "do not belong together" in page.content.decode()


def test_signing_in_leads_to_the_page_that_was_asked_for(client, ada, cluster):
    page = client.post(
        "/sign-in/?next=/clusters/",
        {"username": "ada", "password": "a password for ada", "next": "/clusters/"},
    )

    assert page["Location"] == "/clusters/"


def test_a_session_that_ended_never_puts_the_sign_in_form_into_the_middle_of_a_page(client, cluster):
    part = client.get(f"/c/{cluster.slug}/acls/", headers={"HX-Request": "true"}, follow=True)

    assert part["HX-Refresh"] == "true"
    assert part.content == b""


def test_no_link_can_sign_anybody_out(browser):
    assert browser.get("/sign-out/").status_code == 405
    assert browser.get("/clusters/").status_code == 200


def test_the_cluster_looked_at_last_is_the_one_of_the_next_page(browser, cluster, other_cluster, ada):
    browser.get(f"/c/{cluster.slug}/topics/")

    assert browser.get("/").context["frame"].current.cluster == cluster
    assert browser.get("/").context["cluster"] == cluster


def test_a_cluster_one_may_not_see_does_not_exist(browser, other_cluster):
    page = browser.get(f"/c/{other_cluster.slug}/")

    assert page.status_code == 404
    assert other_cluster.slug not in [
        each.cluster.slug for each in browser.get("/").context["frame"].clusters
    ]


def test_an_address_that_leads_nowhere_says_so(browser):
    page = browser.get("/no/such/page")

    assert page.status_code == 404
    assert "There is no such page" in page.content.decode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("orders.eu", "orders.eu"),
        ("a\nb", "a\\u000ab"),
        ("\u202eabc", "\\u202eabc"),
        (" edge ", "\\u0020edge\\u0020"),
        ("in side", "in side"),
        ("no\u00a0break", "no\\u00a0break"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("lone\ud800", "lone\\ud800"),
        ("\U000e0041tag", "\\U000e0041tag"),
        ("größe", "größe"),
    ],
)
def test_no_character_of_a_name_hides(text, shown):
    assert spelling.visible(text) == shown


def test_a_name_never_becomes_markup():
    assert spelling.marked_up("<b>&\u202e") == '&lt;b&gt;&amp;<span class="escape">\\u202e</span>'


def test_every_vendored_package_has_its_licence_and_its_sum():
    vendor = Path(settings.BASE_DIR) / "static" / "vendor"
    ledger = json.loads((vendor / "vendor.json").read_text())

    assert {entry["licence"] for entry in ledger} == {"MIT", "OFL-1.1", "Apache-2.0", "BSD-3-Clause", "0BSD"}
    assert all(entry["integrity"].startswith("sha512-") for entry in ledger)
    for folder in ("tabler", "icons", "inter", "jetbrains-mono", "echarts"):
        assert (vendor / folder / "LICENSE").stat().st_size > 500
    assert (vendor / "echarts" / "NOTICE").read_text().startswith("Apache ECharts")
    for sent in (*vendor.rglob("*.css"), *vendor.rglob("*.js")):
        assert "sourceMappingURL" not in sent.read_text()


def test_the_chart_library_is_the_recorded_build_and_evaluates_no_text():
    vendor = Path(settings.BASE_DIR) / "static" / "vendor"
    (built,) = [
        entry["built"] for entry in json.loads((vendor / "vendor.json").read_text()) if "built" in entry
    ]
    sent = (vendor / built["file"]).read_bytes()

    assert hashlib.sha256(sent).hexdigest() == built["sha256"]
    assert len(sent) < 600_000
    assert not re.search(rb"\bnew Function\b|\beval\(", sent)


def test_the_header_the_cluster_page_and_the_api_tell_the_authorizer_alike(cluster, dot, signed_in):
    authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    told = combined_settings([BrokerSettings(1, {"authorizer.class.name": authorizer})])
    sync(cluster, client=Answers([], facts=ClusterFacts(kafka_version="4.1", settings=told)))
    browser = signed_in(dot)
    words = "StandardAuthorizer, read from broker 1"

    header = browser.get(f"/c/{cluster.slug}/acls/").content.decode()
    page = browser.get(f"/c/{cluster.slug}/").content.decode()
    listed = browser.get(f"/api/v1/clusters/{cluster.slug}/").json()

    assert f"{words}, Kafka 4.1" in header
    assert page.count(words) == 3  # the strip, the badge and the fact
    assert (listed["authorizer"], listed["authorizer_told"]) == ("standard", words)


def test_an_authorizer_that_no_broker_told_is_not_stated_as_known(cluster, dot, signed_in):
    sync(cluster, client=Answers([]))

    header = signed_in(dot).get(f"/c/{cluster.slug}/acls/").content.decode()

    assert "StandardAuthorizer, assumed" in header
    assert "KRaft authorizer" not in header


def counts_in(page) -> dict[str, str]:
    """Each entry of the bar that has a badge, with its number."""
    _, _, bar = page.content.decode().partition('<nav class="mainnav"')
    return dict(re.findall(r">(\w+) <span class=\"count\">([0-9+]+)<", bar.partition("</nav>")[0]))


def test_the_bar_says_how_many_changes_wait_for_this_person_on_all_clusters(
    cluster, other_cluster, ada, ben, signed_in
):
    sync(cluster, client=Answers([]))
    for topic in ("a", "b"):
        draft = review.draft(
            cluster=cluster, author=ada, title=topic, delta=Delta(add=(allow("User:x", "READ", topic),))
        )
        review.submit(change=draft, actor=ada)
    Grant.objects.create(user=ben, cluster=other_cluster, role=Role.VIEWER)

    assert counts_in(signed_in(ben).get(f"/c/{other_cluster.slug}/topics/")) == {"Changes": "2"}
    assert counts_in(signed_in(ada).get(f"/c/{cluster.slug}/topics/")) == {}


@pytest.mark.parametrize(("groups", "word"), [(99, "99"), (100, "99+"), (150, "99+")])
def test_the_bar_counts_new_denials_to_ninety_nine(cluster, browser, groups, word):
    load = Load.objects.create(cluster=cluster, lines_read=1, lines_parsed=1, lines_unparsed=0, manifest={})
    now = timezone.now()
    DenialGroup.objects.bulk_create(
        DenialGroup(
            load=load, key=f"{number:064}", principal="User:x", operation="READ", resource_type="TOPIC",
            resource_name=str(number), lines=1, lines_1=0, lines_7=0, lines_14=number < groups, lines_30=1,
            hosts=1, latest_host="h", first_at=now, last_at=now,
        )
        for number in range(groups + 20)
    )  # fmt: skip

    assert counts_in(browser.get(f"/c/{cluster.slug}/topics/")) == {"Insights": word}


def test_what_waits_is_counted_by_queries_that_are_written_once_for_all_people(
    cluster, ada, ben, admin_user, django_assert_num_queries, time_machine
):
    sync(cluster, client=Answers([]))
    draft = review.draft(
        cluster=cluster, author=ada, title="a", delta=Delta(add=(allow("User:x", "READ", "a"),))
    )
    review.submit(change=draft, actor=ada)
    Load.objects.create(cluster=cluster, lines_read=1, lines_parsed=1, lines_unparsed=0, manifest={})
    time_machine.move_to(timezone.now(), tick=False)
    kept = (badges._waiting, badges._denials, badges._drafts)
    for each in kept:
        each.cache_clear()
    people = [ada, ben, admin_user, User.objects.create(username="gone", is_active=False), AnonymousUser()]

    for _ in range(2):
        for person in people:
            rows = badges.with_badges(Cluster.objects.filter(pk=cluster.pk), person, cluster.slug)
            with django_assert_num_queries(1):
                found = badges.badges_of(rows.get())
            waiting = waiting_for(person).count() if isinstance(person, User) else 0
            assert (found.changes, found.denials) == (waiting, 0)

    assert badges.badges_of(rows.get()).changes == 0
    assert waiting_for(ben).count() == 1
    # A kind of person is one who may do all, one who may do something, one who may do nothing, and nobody.
    assert [each.cache_info().misses for each in kept] == [4, 1, 4]
