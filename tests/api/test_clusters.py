"""Programs pause clusters, switch their changes and have connections tested, as who administers them does on pages."""

from __future__ import annotations

import json
from html import unescape

import pytest
from cryptography.fernet import Fernet
from django.test import Client

from aclweb.accounts import tokens
from aclweb.accounts.models import Grant, Role
from aclweb.audit.models import Event
from aclweb.changes import moving
from aclweb.changes.models import Move
from aclweb.clusters import ClusterError, ClusterFacts, ClusterState
from aclweb.inventory.checks import running
from aclweb.inventory.current import connection_of
from aclweb.inventory.models import Cluster, ConnectionCheck
from aclweb.inventory.sync import tasks as sync_tasks
from aclweb.inventory.sync.run import sync
from aclweb.inventory.work import scheduling
from tests.builders import allow
from tests.inventory.answering_cluster import Answers, topics

URL = "/api/v1/clusters/test-eu/"
CHECK = f"{URL}check/"
CAN_BE_SET = (
    "paused, changes_enabled, authorizer_declared, service, name, address, options, authorizer, kafka_version, "
    "approvals_needed, super_users, allow_everyone"
)


def program(person, cluster=None) -> Client:
    _, secret = tokens.issue(person, "deploy", 7, cluster=cluster)
    return Client(headers={"Authorization": f"Bearer {secret}"})


def change(asked, **given: object):
    return asked.patch(URL, given, content_type="application/json")


def stored() -> tuple[bool, bool]:
    """Return whether the cluster is paused, and whether changes are written to it."""
    row = Cluster.objects.get(slug="test-eu")
    return row.is_paused, row.changes_enabled


def told() -> list[tuple[str, str]]:
    events = Event.objects.filter(target="cluster:test-eu").order_by("sequence")
    return [(event.actor, event.verb) for event in events]


@pytest.fixture
def enqueued(monkeypatch) -> list[str]:
    """The syncs that were enqueued."""
    calls: list[str] = []
    monkeypatch.setattr(sync_tasks, "_enqueue_the_next", lambda: calls.append("sync"))
    return calls


def test_a_paused_cluster_is_not_synced_until_it_is_resumed(cluster, dot, signed_in, enqueued):
    asked = program(dot)

    paused = change(asked, paused=True).json()

    assert (paused["paused"], paused["paused_by"]) == (True, "dot")
    assert paused["paused_sentence"].startswith("Paused by dot since ")
    assert paused["paused_sentence"] in unescape(signed_in(dot).get("/c/test-eu/").content.decode())
    assert not scheduling.due().exists()
    assert enqueued == []

    resumed = change(asked, paused=False).json()

    assert (resumed["paused"], resumed["paused_at"], resumed["paused_sentence"]) == (False, None, "")
    assert scheduling.due().exists()
    assert enqueued == ["sync"]
    assert told()[-2:] == [("dot", "cluster.paused"), ("dot", "cluster.resumed")]


def test_changes_are_switched_off_and_on_with_a_record(cluster, dot, enqueued):
    asked = program(dot)

    off = change(asked, changes_enabled=False)
    assert (off.status_code, off.json()["changes_enabled"], stored()) == (200, False, (False, False))
    on = change(asked, changes_enabled=True)

    assert (on.json()["changes_enabled"], stored()) == (True, (False, True))
    facts = Event.objects.filter(verb="cluster.set").order_by("sequence").values_list("facts", flat=True)
    assert [each["told"] for each in facts] == ["changes enabled off", "changes enabled on"]


def test_what_is_so_already_is_answered_and_recorded_nowhere(cluster, dot, enqueued):
    before = told()

    answer = change(program(dot), paused=False, changes_enabled=True)

    assert answer.status_code == 200
    assert told() == before
    assert enqueued == []


def test_all_of_an_edit_is_done_or_nothing(cluster, dot, enqueued):
    Cluster.objects.update(kind="snapshot", changes_enabled=False)

    answer = change(program(dot), paused=True, changes_enabled=True)

    assert answer.status_code == 400
    assert "cannot be written to" in answer.json()["changes_enabled"]
    assert stored() == (False, False)
    assert ("dot", "cluster.paused") not in told()


@pytest.mark.parametrize(
    ("given", "field", "sentence"),
    [
        ({}, "non_field_errors", f"Nothing to change: give one of {CAN_BE_SET}."),
        ({"paused": "perhaps"}, "paused", "Must be a valid boolean."),
        ({"paused": None}, "paused", "This field may not be null."),
        (
            {"paused": True, "kind": "zookeeper"},
            "kind",
            f"'kind' cannot be set here; use {CAN_BE_SET}.",
        ),
    ],
)
def test_what_cannot_be_changed_is_refused_with_what_can(cluster, dot, given, field, sentence):
    answer = change(program(dot), **given)

    assert answer.status_code == 400
    assert answer.json() == {field: [sentence]}
    assert stored() == (False, True)


def test_only_who_administers_a_cluster_changes_or_tests_it(cluster, eve, cho, ada, ben):
    for person, status in ((eve, 404), (cho, 403), (ada, 403), (ben, 403)):
        asked = program(person)

        answers = [change(asked, paused=True), asked.get(CHECK), asked.post(CHECK)]

        assert [answer.status_code for answer in answers] == [status] * 3, person
        if status == 403:
            assert "you need the role administrator on test-eu" in answers[0].json()["detail"]
    assert stored() == (False, True)
    assert not ConnectionCheck.objects.exists()


def test_a_token_of_another_cluster_neither_changes_nor_tests_it(cluster, other_cluster, root, dot):
    Grant.objects.create(user=dot, cluster=other_cluster, role=Role.ADMINISTRATOR)

    for person in (root, dot):
        asked = program(person, other_cluster)
        answers = [change(asked, paused=True), asked.get(CHECK), asked.post(CHECK)]
        assert [answer.status_code for answer in answers] == [404] * 3

    assert stored() == (False, True)
    assert change(program(dot, cluster), paused=True).status_code == 200
    assert stored() == (True, True)


def test_a_browser_session_needs_its_csrf_token(cluster, dot, signed_in):
    browser = signed_in(dot, enforce_csrf_checks=True)

    assert change(browser, paused=True).status_code == 403
    assert browser.post(CHECK).status_code == 403
    assert (stored(), ConnectionCheck.objects.count()) == ((False, True), 0)


# --- where it is and how aclweb logs in -----------------------------------------------------

WORD = "n0body-may-see-this"
LOGIN = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "aclweb",
    "sasl.password": WORD,
}


@pytest.fixture
def live(cluster) -> Cluster:
    cluster.kind, cluster.address, cluster.options = "admin", "broker-1.example:9092", LOGIN
    cluster.save()
    return cluster


def connection(live: Cluster) -> tuple[str, dict[str, str]]:
    found = connection_of(Cluster.objects.get(pk=live.pk))
    return found.address, dict(found.options)


def test_a_program_changes_what_it_names_and_the_rest_stays(live, dot):
    answer = change(
        program(dot),
        name="Europe",
        address="broker-1.example:9093",
        approvals_needed=2,
        options={"sasl.username": "other", "client.id": "acls"},
        super_users="User:admin;User:ops",
        allow_everyone=None,
    )

    found = answer.json()
    assert (answer.status_code, found["name"], found["address"]) == (200, "Europe", "broker-1.example:9093")
    assert (found["approvals_needed"], found["super_users"], found["allow_everyone"]) == (
        2,
        "User:admin;User:ops",
        None,
    )
    assert connection(live) == (
        "broker-1.example:9093",
        LOGIN | {"sasl.username": "other", "client.id": "acls"},
    )
    assert ConnectionCheck.objects.get().asked_by == "dot"
    assert told()[-2:] == [("dot", "cluster.set"), ("dot", "cluster.declared")]


def test_the_same_address_and_login_are_not_tested_again(live, dot):
    same = {"address": "broker-1.example:9092", "options": {"sasl.username": LOGIN["sasl.username"]}}

    assert change(program(dot), name="Europe", **same).json()["name"] == "Europe"
    assert not ConnectionCheck.objects.exists()


def test_null_takes_a_client_setting_away(live, dot):
    login = dict.fromkeys(("sasl.mechanism", "sasl.username", "sasl.password"))

    assert change(program(dot), options={**login, "security.protocol": "SSL"}).status_code == 200
    assert connection(live)[1] == {"security.protocol": "SSL"}


def test_a_new_password_replaces_the_stored_one_and_is_never_shown(live, dot):
    answer = change(program(dot), options={"sasl.password": "n0body-either"})

    assert connection(live)[1] == LOGIN | {"sasl.password": "n0body-either"}
    facts = json.dumps(list(Event.objects.values_list("facts", flat=True)))
    for secret in (WORD, "n0body-either"):
        assert secret not in answer.content.decode()
        assert secret not in facts


def test_a_stored_password_goes_to_no_other_host(live, dot):
    asked = program(dot)
    elsewhere = "broker-1.example:9092,mine.example:9092"

    answer = change(asked, address=elsewhere, name="x" * 101)

    assert answer.status_code == 400
    assert set(answer.json()) == {"options", "name"}
    assert "give the password again" in answer.json()["options"]["sasl.password"]
    assert WORD not in answer.content.decode()
    assert connection(live) == ("broker-1.example:9092", LOGIN)
    assert not ConnectionCheck.objects.exists()

    assert change(asked, address=elsewhere, options={"sasl.password": WORD}).status_code == 200
    assert connection(live)[0] == elsewhere


@pytest.mark.parametrize(
    ("given", "faults"),
    [
        ({"address": "nowhere"}, {"address", "options"}),
        ({"address": "127.0.0.1:9092"}, {"address", "options"}),
        ({"options": {"sasl.jaas.config": WORD}}, {"options"}),
        ({"options": {"sasl.password": ""}}, {"options"}),
        ({"options": []}, {"options"}),
        ({"approvals_needed": 0, "kafka_version": "4.x"}, {"approvals_needed", "kafka_version"}),
        ({"authorizer": "own"}, {"authorizer"}),
        ({"super_users": "bob"}, {"super_users"}),
        ({"super_users": "User:a\nUser:b"}, {"super_users"}),
    ],
)
def test_what_is_wrong_with_a_change_is_said_under_its_field(live, dot, given, faults):
    before = told()

    answer = change(program(dot), paused=True, **given)

    assert (answer.status_code, set(answer.json())) == (400, faults)
    assert WORD not in answer.content.decode()
    assert (connection(live), stored()) == (("broker-1.example:9092", LOGIN), (False, True))
    assert told() == before


def test_a_program_changes_no_address_of_a_file(cluster, dot):
    Cluster.objects.update(kind="snapshot", address="/srv/acls", changes_enabled=False)

    answer = change(program(dot), address="/etc/passwd", options={"client.id": "x"})

    assert (answer.status_code, set(answer.json())) == (400, {"address", "options"})
    assert "read from a file" in answer.json()["address"]
    assert Cluster.objects.get(pk=cluster.pk).address == "/srv/acls"


def test_a_login_that_cannot_be_decrypted_can_be_given_anew(live, dot, settings):
    settings.ACLWEB_ENCRYPTION_KEYS = [Fernet.generate_key().decode("ascii")]

    assert change(program(dot), options=LOGIN).status_code == 200
    assert connection(live)[1] == LOGIN


def test_without_another_address_or_login_nothing_is_tested(live, dot):
    assert change(program(dot), name="Europe", allow_everyone=True).status_code == 200
    assert change(program(dot), address="broker-1.example:9092").status_code == 200

    assert not ConnectionCheck.objects.exists()


def test_whether_a_zookeeper_cluster_runs_an_authorizer_is_declared_and_taken_back(cluster, dot):
    cluster.kind, cluster.address = "zookeeper", "zk-1.example:2181"
    cluster.save()

    for declared in ("off", "on", ""):
        assert change(program(dot), authorizer_declared=declared).json()["authorizer_declared"] == declared
        cluster.refresh_from_db()
        assert cluster.authorizer_declared == declared

    refused = change(program(dot), authorizer_declared="maybe")
    assert (refused.status_code, refused.json()) == (
        400,
        {"authorizer_declared": ["'maybe' is neither on nor off."]},
    )


@pytest.mark.parametrize("given", ["x" * 9999, None, ["on"], {"on": 1}, True])
def test_what_is_neither_on_nor_off_is_told_in_a_line(cluster, dot, given):
    refused = change(program(dot), authorizer_declared=given)

    assert (refused.status_code, list(refused.json())) == (400, ["authorizer_declared"])
    assert len(refused.content) < 200


def test_a_cluster_that_shows_its_authorizer_has_none_declared(live, dot, root):
    refused = change(program(dot), authorizer_declared="off")
    added = add(program(root), authorizer_declared="on")

    assert (refused.status_code, added.status_code) == (400, 400)
    assert "test-eu is read in another way" in refused.json()["authorizer_declared"]
    assert "prod-eu is read in another way" in added.json()["authorizer_declared"]
    assert not Cluster.objects.filter(slug="prod-eu").exists()
    live.refresh_from_db()
    assert live.authorizer_declared == ""
    assert change(program(dot), authorizer_declared="").status_code == 200


def test_what_was_declared_of_a_zookeeper_cluster_ends_once_it_is_read_otherwise(live, dot):
    live.authorizer_declared = "off"
    live.save()

    told = program(dot).get(URL).json()["authorizer_told"]

    assert told.startswith("AclAuthorizer" if live.authorizer == "acl" else "StandardAuthorizer")


# --- adding --------------------------------------------------------------------------------

CLUSTERS = "/api/v1/clusters/"
SECRET = "n0body-may-see-this"
NEW = {
    "slug": "prod-eu",
    "kind": "admin",
    "address": "broker-1.example:9092",
    "options": {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "aclweb",
        "sasl.password": SECRET,
    },
    "super_users": "User:admin",
    "allow_everyone": False,
    "approvals_needed": 2,
}


def add(asked, **given: object):
    return asked.post(CLUSTERS, NEW | given, content_type="application/json")


def test_an_added_cluster_is_as_one_that_was_added_on_the_page(root, enqueued):
    answer = add(program(root))

    cluster = Cluster.objects.get(slug="prod-eu")
    assert (answer.status_code, answer["Location"]) == (201, "/api/v1/clusters/prod-eu/")
    assert answer.json() == program(root).get(answer["Location"]).json()
    assert (cluster.name, cluster.approvals_needed, cluster.is_paused) == ("prod-eu", 2, False)
    assert (cluster.allow_everyone, cluster.super_users) == (False, "User:admin")
    assert (cluster.changes_enabled, cluster.held_to_hosts) == (False, True)
    assert connection_of(cluster).options == NEW["options"]
    assert [due.slug for due in scheduling.due()] == ["prod-eu"]
    assert enqueued == ["sync"]
    events = Event.objects.filter(target="cluster:prod-eu").order_by("sequence")
    assert [(event.actor, event.verb) for event in events] == [
        ("root", "cluster.added"),
        ("root", "cluster.declared"),
    ]


def test_what_is_left_out_is_undeclared_and_a_paused_one_is_not_synced(root, enqueued):
    asked = program(root)
    body = {"slug": "prod-eu", "kind": "admin", "address": "broker-1.example:9092", "paused": True}

    answer = asked.post(CLUSTERS, body, content_type="application/json")

    found = answer.json()
    assert [found[name] for name in ("paused", "super_users", "allow_everyone", "authorizer")] == [
        True, None, None, "standard"
    ]  # fmt: skip
    assert not scheduling.due().exists()
    assert enqueued == []
    assert asked.post("/api/v1/clusters/prod-eu/check/").status_code == 202


def test_no_secret_comes_back_and_none_is_recorded(root, enqueued):
    asked = program(root)

    answers = [add(asked, slug="Prod EU"), add(asked), add(asked), asked.get("/api/v1/clusters/prod-eu/")]

    assert [answer.status_code for answer in answers] == [400, 201, 400, 200]
    assert answers[2].json() == {"slug": "There is a cluster 'prod-eu' already; choose another name."}
    assert all(SECRET not in answer.content.decode() for answer in answers)
    assert SECRET not in json.dumps(list(Event.objects.values_list("facts", flat=True)))


@pytest.mark.parametrize(
    ("given", "faults"),
    [
        ({"slug": "Prod EU", "address": "broker-1.example"}, {"slug", "address"}),
        ({"address": "127.0.0.1:9092"}, {"address"}),
        ({"kind": "snapshot", "address": "/etc/passwd"}, {"kind"}),
        ({"kind": "no such"}, {"kind"}),
        ({"approvals_needed": 0, "name": "x" * 101}, {"approvals_needed", "name"}),
        ({"kafka_version": "4.x", "authorizer": "own"}, {"authorizer"}),
        ({"kafka_version": "4.x"}, {"kafka_version"}),
        ({"super_users": "bob"}, {"super_users"}),
        ({"super_users": "User:a\nUser:b"}, {"super_users"}),
        ({"changes_enabled": True}, {"changes_enabled"}),
        ({"options": {"sasl.jaas.config": SECRET}}, {"options"}),
        ({"options": []}, {"options"}),
    ],
)
def test_what_is_wrong_with_a_new_cluster_is_said_under_its_field(root, given, faults):
    answer = add(program(root), **given)

    assert answer.status_code == 400
    assert set(answer.json()) == faults
    assert SECRET not in answer.content.decode()
    assert not Cluster.objects.exists()
    assert not Event.objects.filter(verb__startswith="cluster.").exists()


def test_a_wrong_client_setting_is_named_under_the_options(root):
    options = {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.username": "aclweb"}

    answer = add(program(root), options=options)

    assert answer.json() == {
        "options": {"sasl.password": "With security.protocol SASL_SSL, sasl.password is missing."}
    }


def test_the_deployment_says_which_hosts_a_program_may_name(root, settings, enqueued):
    settings.ACLWEB_CLUSTER_HOSTS = ["*.kafka.example"]
    asked = program(root)

    assert "address" in add(asked, address="b1.other.example:9092").json()
    assert add(asked, address="b1.kafka.example:9092").status_code == 201


def test_only_an_administrator_of_the_site_adds_clusters(cluster, dot, root, eve):
    answers = [add(program(dot)), add(program(eve)), add(program(root, cluster))]

    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert answers[0].json()["detail"].startswith("Adding clusters is for administrators of the site,")
    assert (
        answers[2].json()["detail"]
        == "This API token is limited to one cluster, so it adds and removes none."
    )
    assert [each.slug for each in Cluster.objects.all()] == ["test-eu"]


# --- tests of the connection ---------------------------------------------------------------


def test_a_worker_says_line_by_line_what_the_login_may_do(cluster, dot):
    asked = program(dot)
    assert asked.get(CHECK).status_code == 404

    first, again = asked.post(CHECK), asked.post(CHECK)

    assert (first.status_code, first["Location"]) == (202, CHECK)
    assert first.json() == again.json()
    waiting = first.json()
    assert [waiting[name] for name in ("state", "asked_by", "sentence", "is_ok", "seconds", "rights")] == [
        "QUEUED", "dot", "", None, None, []
    ]  # fmt: skip

    answers, seen = Answers([allow("User:bob", "READ", "t")], topics("t"), ["g"]), []
    read = answers.read_acls
    answers.read_acls = lambda: (seen.append(asked.get(CHECK).json()), read())[1]
    running.run_next("worker", lambda _connection: answers)

    assert (seen[0]["state"], seen[0]["is_ok"], seen[0]["rights"][0]["right"]) == ("WORKING", None, "reach")
    done = asked.get(CHECK).json()
    assert (done["number"], done["state"], done["is_ok"]) == (waiting["number"], "DONE", True)
    assert done["sentence"] == "test-eu answers. ACLs: 1, topics: 1, groups: 1."
    assert [line["sentence"] for line in done["rights"] if line["right"] == "Describe"] == [
        "1 ACLs were read."
    ]
    assert Cluster.objects.get().read_at is None


def test_a_missing_right_comes_with_the_command_that_grants_it(cluster, dot):
    asked = program(dot)
    asked.post(CHECK)
    refused = ClusterError("aclweb may not list ACLs.", state=ClusterState.NOT_PERMITTED)
    running.run_next("worker", lambda _connection: Answers(fails={"read_acls": refused}))

    found = asked.get(CHECK).json()

    assert found["is_ok"] is False
    (line,) = [line for line in found["rights"] if line["right"] == "Describe"]
    assert (line["answer"], line["needed"], line["sentence"]) == ("no", True, "aclweb may not list ACLs.")
    assert "--operation Describe --cluster" in line["command"]


def test_a_test_that_failed_says_so_and_not_that_something_is_missing(cluster, dot, monkeypatch):
    asked = program(dot)
    asked.post(CHECK)
    monkeypatch.setattr(running, "check", lambda *_: 1 / 0)

    running.run_next("worker", lambda _connection: Answers())

    found = asked.get(CHECK).json()
    assert (found["state"], found["is_ok"]) == ("FAILED", None)
    assert found["sentence"] == "The check failed: ZeroDivisionError. The worker's log says more."


def test_one_person_asks_for_a_few_tests_a_minute_and_may_read_on(cluster, dot):
    asked = program(dot)

    statuses = [asked.post(CHECK).status_code for _ in range(11)]

    assert statuses == [202] * 10 + [429]
    assert asked.get(CHECK).status_code == 200


def test_a_token_endpoint_that_is_not_listed_is_refused_here_too(root, enqueued, settings):
    settings.ACLWEB_TOKEN_ENDPOINTS = ["https://idp.example/token"]
    start = "sasl.oauthbearer."
    options = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        f"{start}token.endpoint.url": "https://evil.example/token",
        f"{start}client.credentials.client.id": "aclweb",
        f"{start}client.credentials.client.secret": SECRET,
    }

    refused = add(program(root), options=options)
    made = add(program(root), options=options | {f"{start}token.endpoint.url": "https://idp.example/token"})

    assert (refused.status_code, made.status_code) == (400, 201)
    assert list(refused.json()["options"]) == [f"{start}token.endpoint.url"]
    assert SECRET not in refused.content.decode() + made.content.decode()


MOVE = f"{URL}move/"
WANTED = {
    "kind": "admin",
    "address": "b1.example:9092",
    "options": {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "aclweb",
        "sasl.password": "n0body-may-see-this",
    },
}
HELD = [allow("User:bob", "READ", "orders")]


def reading(bindings, cluster_id="kafka-1") -> Answers:
    return Answers(list(bindings), topics("orders"), [], facts=ClusterFacts(cluster_id=cluster_id))


@pytest.fixture
def keeper(cluster, enqueued, monkeypatch):
    """The cluster, read from ZooKeeper so far."""
    monkeypatch.setattr("aclweb.changes.moving.tasks.enqueue", lambda: None)
    Cluster.objects.update(kind="zookeeper", address="zk.example:2181", authorizer="acl", kafka_version="3.9")
    sync(cluster, client=reading(HELD))
    return cluster


def post(asked, url, /, **given):
    return asked.post(url, given, content_type="application/json")


def test_a_program_compares_and_moves_a_cluster(keeper, dot, enqueued):
    asked = program(dot)
    assert asked.get(MOVE).status_code == 404

    begun = post(asked, MOVE, **WANTED)
    assert (begun.status_code, begun["Location"]) == (202, MOVE)
    assert (begun.json()["state"], begun.json()["found"]) == ("QUEUED", None)
    assert post(asked, f"{MOVE}switch/", number=begun.json()["number"]).status_code == 409
    moving.run_next("worker", lambda _: reading(HELD))

    found = asked.get(MOVE).json()
    assert (found["found"]["is_same"], found["found"]["differences"], found["refused"]) == (True, 0, "")
    assert found["impact"]["gains"] == 0
    assert "n0body" not in json.dumps(found)

    moved = post(asked, f"{MOVE}switch/", number=found["number"])
    assert (moved.status_code, moved.json()["kind"]) == (200, "admin")
    assert enqueued == ["sync"]
    assert ("dot", "cluster.moved") in told()


def test_differences_are_accepted_in_so_many_words(keeper, dot):
    asked = program(dot)
    post(asked, MOVE, **WANTED)
    moving.run_next("worker", lambda _: reading([*HELD, allow("User:cat", "READ", "orders")]))
    number = asked.get(MOVE).json()["number"]

    refused = post(asked, f"{MOVE}switch/", number=number)
    assert refused.status_code == 409
    assert refused.json()["detail"].startswith("Nothing was moved. Access differs between both sides.")
    assert post(asked, f"{MOVE}switch/", number=number, accept_differences=True).status_code == 200


def test_a_move_that_cannot_be_stores_nothing(keeper, dot):
    asked = program(dot)

    for given in (
        WANTED | {"address": "b1"},
        WANTED | {"kind": "snapshot"},
        WANTED | {"colour": "red"},
        {"kind": "admin"},
    ):
        answer = post(asked, MOVE, **given)
        assert answer.status_code == 400, given
        assert "n0body" not in answer.content.decode()
    assert asked.delete(MOVE).status_code == 204
    assert not Move.objects.exists()


def test_a_program_reads_what_a_removal_keeps_and_removes_the_cluster(cluster, root, monkeypatch):
    monkeypatch.setattr("aclweb.inventory.admin.deleting.delete_removed.delay", lambda: None)
    asked = program(root)

    plan = asked.get(f"{URL}removal/").json()
    assert plan["kept"][0].startswith("The audit trail")
    assert any(sentence.startswith("Its login, at once.") for sentence in plan["deleted"])

    wrong = post(asked, f"{URL}removal/", confirm="test-us")
    assert (wrong.status_code, Cluster.objects.count()) == (409, 1)
    assert wrong.json()["detail"] == (
        "Nothing was removed. This is not the name of the cluster; type test-eu to remove it."
    )
    assert post(asked, f"{URL}removal/").status_code == 400

    gone = post(asked, f"{URL}removal/", confirm="test-eu").json()
    assert (gone["slug"], gone["removed_by"], gone["deleted_at"]) == ("test-eu", "root", None)
    assert asked.get(URL).status_code == 404
    assert [each["number"] for each in asked.get("/api/v1/removed-clusters/").json()["results"]] == [
        gone["number"]
    ]


def test_only_administrators_of_the_site_remove_clusters(cluster, dot, root):
    for asked in (program(dot), program(root, cluster)):
        assert asked.get(f"{URL}removal/").status_code == 403
        assert post(asked, f"{URL}removal/", confirm="test-eu").status_code == 403
    assert Cluster.objects.count() == 1
