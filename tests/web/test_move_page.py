"""On a page, both ways to read a cluster are compared as access before anybody switches."""

from __future__ import annotations

from html import unescape

import pytest

from aclweb.changes import moving
from aclweb.changes.models import Move
from aclweb.clusters import ClusterFacts
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers, topics

PAGE = "/c/test-eu/move/"
SECRET = "n0body-may-see-this"
GIVEN = {
    "address": "b1.example:9092",
    "protocol": "SASL_SSL",
    "mechanism": "SCRAM-SHA-512",
    "username": "aclweb",
    "password": SECRET,
    "authorizer_class": "standard",
}
HELD = [allow("User:bob", "READ", "orders"), allow("User:eve", "READ", "orders")]


@pytest.fixture(autouse=True)
def nothing_enqueued(monkeypatch):
    monkeypatch.setattr("aclweb.changes.moving.tasks.enqueue", lambda: None)
    monkeypatch.setattr("aclweb.inventory.sync.tasks._enqueue_the_next", lambda: None)


@pytest.fixture
def admin(cluster, dot, signed_in):
    Cluster.objects.update(kind="zookeeper", address="zk.example:2181", authorizer="acl", kafka_version="3.9")
    sync(cluster, client=answers(HELD))
    return signed_in(dot)


def answers(bindings, cluster_id="kafka-1") -> Answers:
    return Answers(list(bindings), topics("orders"), [], facts=ClusterFacts(cluster_id=cluster_id))


def text(page) -> str:
    return " ".join(unescape(page.content.decode()).split())


def test_a_cluster_is_compared_and_then_moved_on_its_page(admin):
    page = admin.post(f"{PAGE}?kind=admin", GIVEN, follow=True)
    assert "Waiting for a worker" in text(page)
    assert f'hx-get="{PAGE}"' in text(page)

    moving.run_next("worker", lambda _: answers(HELD))
    page = admin.get(PAGE)
    assert "Both hold 2 ACLs, and nobody's access differs." in text(page)
    assert "Read it from a Kafka broker from now on" in text(page)
    assert SECRET not in text(page)

    page = admin.post(f"{PAGE}switch/", {"move": Move.objects.get().pk}, follow=True)
    assert "Moved: test-eu is read from a Kafka broker now." in text(page)
    moved = Cluster.objects.get()
    assert (moved.kind, moved.address, moved.held_to_hosts) == ("admin", "b1.example:9092", True)
    assert moved.revision.number == 1
    assert "It is the same Kafka cluster." in text(admin.get("/events/"))


def test_the_form_proposes_the_authorizer_of_the_other_way(admin):
    form = admin.get(f"{PAGE}?kind=admin").context["form"]

    assert form["authorizer_class"].value() == "standard"


def test_what_differs_is_shown_as_access_and_accepted_by_hand(admin):
    admin.post(f"{PAGE}?kind=admin", GIVEN)
    moving.run_next("worker", lambda _: answers([HELD[0], allow("User:cat", "READ", "orders")]))

    page = admin.get(PAGE)
    assert "Access that differs" in text(page)
    assert "User:cat" in text(page)
    assert "1 only here" in text(page)
    switched = {"move": Move.objects.get().pk}
    assert "Nothing was moved. Access differs between both sides." in text(
        admin.post(f"{PAGE}switch/", switched, follow=True)
    )
    assert Cluster.objects.get().kind == "zookeeper"

    admin.post(f"{PAGE}switch/", switched | {"accepted": "on"})
    assert Cluster.objects.get().kind == "admin"


def test_another_cluster_cannot_be_switched_to(admin):
    admin.post(f"{PAGE}?kind=admin", GIVEN)
    moving.run_next("worker", lambda _: answers(HELD, "kafka-2"))

    assert "Another cluster answers: it calls itself kafka-2" in text(admin.get(PAGE))
    assert "from now on" not in text(admin.get(PAGE))
    admin.post(f"{PAGE}switch/", {"move": Move.objects.get().pk, "accepted": "on"})
    assert Cluster.objects.get().kind == "zookeeper"


def test_a_comparison_that_was_replaced_switches_nothing(admin):
    admin.post(f"{PAGE}?kind=admin", GIVEN)
    first = Move.objects.get().pk
    moving.run_next("worker", lambda _: answers(HELD))
    admin.post(f"{PAGE}?kind=admin", GIVEN | {"address": "b2.example:9092"})

    for number in (first, "", "x", "9" * 30):
        assert "Nothing was moved." in text(admin.post(f"{PAGE}switch/", {"move": number}, follow=True))
    assert Cluster.objects.get().kind == "zookeeper"
    admin.post(f"{PAGE}switch/", {"give_up": "1"})
    assert {move.state for move in Move.objects.all()} == {"CANCELLED"}


def test_all_that_is_wrong_is_said_beside_its_field_and_nothing_is_stored(admin):
    page = admin.post(f"{PAGE}?kind=admin", GIVEN | {"address": "b1", "password": ""})

    assert page.status_code == 422
    assert set(page.context["form"].errors) == {"address", "password"}
    assert not Move.objects.exists()


def test_no_login_of_the_one_way_is_taken_for_the_other(admin):
    given = {"address": "zk.example:2182", "mechanism": "DIGEST-MD5", "username": "aclweb"}
    of_tokens = {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": "https://idp.example/token",
        "sasl.oauthbearer.client.credentials.client.id": "aclweb",
        "sasl.oauthbearer.client.credentials.client.secret": SECRET,
    }
    of_a_password = {"sasl.mechanism": "PLAIN", "sasl.username": "aclweb", "sasl.password": SECRET}
    row = Cluster.objects.get()
    for options in (of_tokens, of_a_password):
        row.kind, row.authorizer, row.options = (
            "admin",
            "standard",
            {"security.protocol": "SASL_SSL", **options},
        )
        row.save()

        page = admin.get(f"{PAGE}?kind=zookeeper")
        assert "stored; leave empty to keep it" not in page.content.decode()

        page = admin.post(f"{PAGE}?kind=zookeeper", given)
        assert "password" in page.context["form"].errors
        assert not Move.objects.exists()


def test_the_page_of_a_move_is_cheap(admin, django_assert_max_num_queries):
    admin.post(f"{PAGE}?kind=admin", GIVEN)
    moving.run_next("worker", lambda _: answers([allow("User:cat", "READ", "orders")]))

    with django_assert_max_num_queries(13):
        page = admin.get(PAGE)

    assert len(page.content) < 50 * 1024


def test_an_address_alone_is_enough_where_nobody_logs_in(cluster, dot, signed_in):
    Cluster.objects.update(kafka_version="4.1")  # which no broker on ZooKeeper had
    browser = signed_in(dot)
    form = browser.get(f"{PAGE}?kind=zookeeper").context["form"]
    given = {name: form[name].value() or "" for name in ("authorizer_class", "kafka_version")}

    answer = browser.post(f"{PAGE}?kind=zookeeper", {"address": "zk.example:2181", **given})

    assert answer.status_code == 302
    assert Move.objects.get().state == "QUEUED"
