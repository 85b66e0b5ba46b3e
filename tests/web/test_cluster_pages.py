"""How each cluster stands: five states in five sentences, what is declared, and who may declare it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape

import pytest
from django.utils import timezone

from aclweb.audit import trail
from aclweb.clusters import ClusterError, ClusterState
from aclweb.clusters.broker_settings import BrokerSettings, combined_settings
from aclweb.insights.models import Load
from aclweb.inventory import tasks
from aclweb.inventory.models import Cluster, ConnectionCheck
from aclweb.inventory.sync.run import sync
from aclweb.inventory.work import scheduling
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.inventory.answering_cluster import Answers

PAGE = "/c/test-eu/"


def text(page) -> str:
    return unescape(page.content.decode())


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (ClusterState.NO_AUTHORIZER, "no authorizer"),
        (ClusterState.NOT_PERMITTED, "no right to describe"),
        (ClusterState.LOGIN_REFUSED, "login refused"),
        (ClusterState.UNREACHABLE, "unreachable"),
        (ClusterState.UNREADABLE, "unreadable"),
    ],
)
def test_each_way_to_fail_is_a_state_of_its_own_and_hides_no_acls(cluster, ada, signed_in, state, words):
    sync(cluster, client=Answers([allow("User:bob", "READ", "orders")]))
    sync(cluster, client=Answers(fails={"read_acls": ClusterError("The cause, told.", state=state)}))

    page = signed_in(ada).get(PAGE)

    assert words in text(page).lower()
    assert "The cause, told." in text(page)
    assert signed_in(ada).get(f"{PAGE}acls/").context["page"].paginator.count == 1


def test_an_authorizer_without_acls_is_reported_as_that(cluster, ada, signed_in):
    sync(cluster, client=Answers([]))

    assert "no ACLs" in text(signed_in(ada).get(PAGE))


def test_what_nobody_has_declared_is_marked_and_not_guessed(cluster, ada, signed_in):
    type(cluster).objects.update(allow_everyone=None, super_users=None)

    assert text(signed_in(ada).get(PAGE)).count("not declared") >= 3


def test_an_administrator_declares_and_the_record_says_who_did(cluster, dot, signed_in):
    browser = signed_in(dot)

    page = browser.post(
        f"{PAGE}declare/",
        {"default": "allow", "super_users_known": "on", "super_users": "User:root;User:CN=kafka,O=Acme"},
        follow=True,
    )

    cluster.refresh_from_db()
    assert cluster.allow_everyone is True
    assert cluster.super_users == "User:root;User:CN=kafka,O=Acme"
    event = trail.trail("cluster:test-eu").get(verb="cluster.declared")
    assert event.actor == "dot"
    assert "Declared." in text(page)
    assert "Allows everyone where no ACL exists" in text(page)


def test_super_users_with_which_no_broker_would_start_are_refused_at_their_field(cluster, dot, signed_in):
    page = signed_in(dot).post(
        f"{PAGE}declare/", {"default": "deny", "super_users_known": "on", "super_users": "root"}
    )

    assert page.status_code == 422
    assert "write each super user as 'User:name'" in text(page)
    cluster.refresh_from_db()
    assert cluster.super_users == "User:admin"


@pytest.mark.parametrize("person", ["cho", "ada", "ben"])
def test_nobody_below_an_administrator_declares(cluster, person, request, signed_in):
    page = signed_in(request.getfixturevalue(person)).post(f"{PAGE}declare/", {"default": "allow"})

    assert page.status_code == 403
    assert "administrator" in text(page)
    cluster.refresh_from_db()
    assert cluster.allow_everyone is False


def test_reading_now_is_left_to_a_worker(cluster, ada, signed_in, monkeypatch):
    asked = []
    monkeypatch.setattr(tasks.sync_next, "apply_async", lambda **_: asked.append(cluster.pk))

    page = signed_in(ada).post(f"{PAGE}read/", follow=True)

    assert asked == [cluster.pk]
    assert "A worker will read test-eu now" in text(page)


def test_reading_now_is_asked_of_a_worker_once_however_often_somebody_presses(
    cluster, ada, cho, signed_in, monkeypatch
):
    asked = []
    monkeypatch.setattr(tasks.sync_next, "apply_async", lambda **_: asked.append(1))
    # However long forty requests take: on a busy machine longer than the 10 s after which it may be asked again.
    monkeypatch.setattr(scheduling, "ASKED_AGAIN_AFTER", timedelta(hours=1))
    browsers = [signed_in(person) for person in (ada, cho)]

    for _ in range(20):
        for browser in browsers:
            browser.post(f"{PAGE}read/")

    assert len(asked) == 1


def test_problems_found_on_the_cluster_are_shown_on_its_page(cluster, ada, signed_in):
    type(cluster).objects.update(
        problems=[{"where": "/kafka-acl/Topic/\u202ex", "sentence": "It is not JSON.", "hazard": True}]
    )

    page = signed_in(ada).get(PAGE)

    assert "It is not JSON." in text(page)
    assert "\\u202e" in text(page)


def test_the_strip_warns_on_every_page_of_a_cluster_that_allows_by_default(cluster, ada, signed_in):
    type(cluster).objects.update(allow_everyone=True)

    for path in (PAGE, f"{PAGE}acls/", f"{PAGE}topics/"):
        assert "Allows everyone where no ACL exists" in text(signed_in(ada).get(path))


@pytest.fixture
def held(cluster):
    """A cluster of which one reading lost everything."""
    sync(cluster, client=Answers([allow("User:bob", "READ", f"orders-{number}") for number in range(12)]))
    sync(cluster, client=Answers([]))
    return cluster


def test_an_administrator_accepts_a_quarantined_snapshot_and_a_worker_reads_again(
    held, dot, signed_in, monkeypatch
):
    rung = []
    monkeypatch.setattr(tasks.sync_next, "apply_async", lambda **_: rung.append(held.pk))
    browser = signed_in(dot)
    page = browser.get(PAGE)
    assert "It misses <b>12</b> of the <b>12</b> ACLs" in text(page)

    answer = browser.post(f"{PAGE}accept/", {"shown": page.context["status"].held})

    assert answer.status_code == 302
    assert rung == [held.pk]
    assert "dot accepted a quarantined snapshot of test-eu: All 12 ACLs" in trail.sentence(
        trail.trail("cluster:test-eu").last()
    )
    assert "dot has accepted it" in text(browser.get(PAGE))
    assert not sync(held, client=Answers([])).held
    assert browser.get(f"{PAGE}acls/").context["page"].paginator.count == 0


def test_a_quarantined_snapshot_that_became_another_one_is_not_accepted_unseen(held, dot, signed_in):
    browser = signed_in(dot)

    page = browser.post(f"{PAGE}accept/", {"shown": "12 of the 13 ACLs"})

    assert page.status_code == 422
    assert "Another snapshot is quarantined meanwhile" in text(page)
    assert not trail.trail("cluster:test-eu").filter(verb="cluster.reading-accepted").exists()


def test_whoever_does_not_administer_the_cluster_sees_who_can_accept(held, ada, signed_in):
    page = signed_in(ada).get(PAGE)

    assert "An administrator of this cluster can accept it" in text(page)
    assert "/accept/" not in text(page)


def test_what_was_read_from_the_brokers_does_not_stand_under_what_people_declared(cluster, ada, signed_in):
    sync(cluster, client=Answers([]))

    page = text(signed_in(ada).get(PAGE))

    assert "Authorizer settings" in page
    assert "Declared by people" not in page


@pytest.mark.parametrize(("kind", "asks"), [("zookeeper", True), ("admin", False), ("snapshot", False)])
def test_only_a_source_that_hides_the_authorizer_asks_whether_there_is_one(
    cluster, dot, signed_in, kind, asks
):
    Cluster.objects.filter(pk=cluster.pk).update(kind=kind, authorizer="acl", authorizer_declared="")

    page = signed_in(dot).get("/c/test-eu/").content.decode()

    assert ("ZooKeeper does not show whether brokers use its ACLs" in page) is asks
    assert ("Whether brokers use the ACLs in ZooKeeper" in page) is asks
    assert ("not declared: ZooKeeper has ACLs whether brokers use them or not" in page) is asks


def test_the_page_of_a_cluster_shows_its_syncs_its_rights_and_what_is_not_seen(
    cluster, dot, cho, signed_in, django_assert_max_num_queries
):
    sync(cluster, client=Answers([allow("User:bob", "READ", "orders"), allow("User:eve", "READ", "orders")]))
    for _ in range(12):
        sync(cluster, client=Answers([allow("User:bob", "READ", "orders")]))
    ConnectionCheck.objects.create(
        cluster=cluster,
        asked_by="dot",
        asked_at=timezone.now(),
        state="DONE",
        sentence="test-eu answers.",
        rights=[
            {
                "right": "Alter",
                "answer": "no",
                "sentence": "The brokers refuse it.",
                "command": "kafka-acls --add --allow-principal User:aclweb --operation Alter --cluster",
                "needed": True,
            },
            {"right": "groups", "answer": "unknown", "sentence": "Some may be hidden.", "command": None},
            *({"right": name, "answer": "yes", "sentence": "So it is."} for name in ("reach", "log in")),
        ],
    )

    with django_assert_max_num_queries(31):
        seen = text(signed_in(dot).get("/c/test-eu/"))

    assert seen.count("<rect data-tone=") == 13
    assert "half take ≤" in seen
    assert "<b>revision 2</b>, −1" in seen
    assert "What aclweb may do here" in seen
    assert "kafka-acls --add --allow-principal User:aclweb --operation Alter --cluster" in seen
    rights = seen.split('id="test-title"')[1].split("</section>")[0]
    assert ["2 yes" in rights, "1 no" in rights, "1 cannot tell" in rights] == [True] * 3
    assert seen.index('id="test-title"') < seen.index("What aclweb sees here, and what not")
    assert "Who changed ACLs outside aclweb" in seen
    assert 'href="/c/test-eu/compare/"' in seen
    assert "What aclweb may do here" not in text(signed_in(cho).get("/c/test-eu/"))


def test_rights_that_nobody_tested_are_said_to_be_so_with_what_tests_them(cluster, dot, signed_in):
    Cluster.objects.update(kind="admin", authorizer="acl")

    for address in ("/c/test-eu/", "/c/test-eu/connection/"):
        rights = text(signed_in(dot).get(address)).split('id="test-title"')[1].split("</section>")[0]
        assert "Not tested yet." in rights
        assert 'action="/c/test-eu/connection/test/"' in rights
        assert " yes</span>" not in rights


def test_a_cluster_on_zookeeper_leads_to_its_move(cluster, dot, signed_in):
    assert "Move to" not in text(signed_in(dot).get("/c/test-eu/"))

    Cluster.objects.update(kind="zookeeper", authorizer="acl")

    assert 'href="/c/test-eu/move/?kind=admin"' in text(signed_in(dot).get("/c/test-eu/"))


# --- what brokers show of their settings ---------------------------------------------------------

STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


@pytest.fixture
def differing(cluster):
    """A cluster whose two brokers name clients by different rules and hide who the super users are."""
    shown = {"authorizer.class.name": STANDARD, "super.users": None}
    settings = combined_settings(
        [
            BrokerSettings(1, shown | {"ssl.principal.mapping.rules": "DEFAULT"}),
            BrokerSettings(2, shown | {"ssl.principal.mapping.rules": "RULE:x/y/"}),
        ]
    )
    fake = FakeCluster([allow("User:bob", "READ", "orders")])
    fake.facts = replace(fake.facts, settings=settings)
    sync(cluster, client=fake)
    return cluster


def test_the_page_shows_what_each_broker_shows_beside_what_is_declared(differing, cho, signed_in):
    page = signed_in(cho).get("/c/test-eu/").content.decode()
    text = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page))

    assert f"authorizer.class.name {STANDARD} – " in text
    assert "DEFAULT on broker 1 RULE:x/y/ on broker 2" in text
    assert "brokers differ" in text
    assert "super.users set, and the value is hidden User:admin declared" in text
    assert re.search(r"Read from brokers 1 and 2, \d+ s ago", text)


def test_brokers_that_differ_are_a_finding_on_the_page_and_in_the_api(differing, cho, signed_in):
    browser = signed_in(cho)
    page = browser.get("/c/test-eu/findings/").content.decode()
    (finding,) = browser.get("/api/v1/clusters/test-eu/findings/").json()["of_settings"]

    assert "Settings that every answer depends on" in page
    assert "The brokers differ in ssl.principal.mapping.rules" in page
    assert finding["rule"] == "brokers-differ"
    assert finding["sentence"].startswith("The brokers differ in ssl.principal.mapping.rules")


def test_the_api_tells_what_the_brokers_show(differing, cho, signed_in):
    found = signed_in(cho).get("/api/v1/clusters/test-eu/broker-settings/").json()

    by_name = {each["setting"]: each for each in found["settings"]}
    assert found["read_at"] is not None
    assert by_name["ssl.principal.mapping.rules"]["verdict"] == "differs"
    assert by_name["super.users"] == {
        "setting": "super.users",
        "values": [{"value": "set, and the value is hidden", "brokers": "brokers 1 and 2"}],
        "declared": "User:admin",
        "verdict": "fills",
    }


def test_where_nothing_was_read_nothing_is_shown(cluster, cho, signed_in):
    found = signed_in(cho).get("/api/v1/clusters/test-eu/broker-settings/").json()

    assert found == {"read_at": None, "settings": []}


def test_a_declaration_that_the_log_contradicts_is_a_finding(differing, cho, signed_in):
    Load.objects.create(
        cluster=differing,
        lines_read=3,
        lines_parsed=3,
        lines_unparsed=0,
        manifest={},
        declarations={"super_users": {"User:root": 3}},
    )

    found = signed_in(cho).get("/api/v1/clusters/test-eu/findings/").json()["of_settings"]

    assert found[-1] == {
        "rule": "log-contradicts",
        "sentence": "The brokers treated User:root as a super user in 3 lines of the log, "
        "and it is not declared as one.",
    }
