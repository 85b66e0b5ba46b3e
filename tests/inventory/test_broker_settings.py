"""What brokers tell of themselves wins over guesses and declarations, and contradictions are told."""

from __future__ import annotations

import pytest

from aclweb.clusters import ClusterFacts
from aclweb.clusters.broker_settings import (
    AUTHORIZER,
    BUILDER,
    SSL_RULES,
    BrokerSettings,
    combined_settings,
)
from aclweb.inventory.admin import declare as declaring
from aclweb.inventory.current import broker_settings
from aclweb.inventory.current.view import settings_of
from aclweb.inventory.models import Declaration
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

pytestmark = pytest.mark.django_db

BOB = allow("User:bob", "READ", "orders")
STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
PLAIN = {AUTHORIZER: STANDARD, SSL_RULES: "DEFAULT"}
BOTH_HIDDEN = {"super.users": None, "allow.everyone.if.no.acl.found": None}


def told(*brokers: dict[str, str | None]):
    return combined_settings(
        [BrokerSettings(number, values) for number, values in enumerate(brokers, start=1)]
    )


def read(cluster, *brokers: dict[str, str | None]):
    settings = told(*brokers) if brokers else None
    sync(cluster, client=Answers([BOB], facts=ClusterFacts(kafka_version="3.9", settings=settings)))
    cluster.refresh_from_db()
    return cluster


def problems(cluster) -> str:
    return " ".join(problem["sentence"] for problem in cluster.problems)


def test_the_authorizer_of_a_3_9_in_zookeeper_mode_is_read_and_not_guessed(cluster):
    read(cluster, PLAIN | {AUTHORIZER: "kafka.security.authorizer.AclAuthorizer"})

    assert cluster.authorizer == "acl"
    assert settings_of(cluster).authorizer == "acl"
    assert cluster.kafka_version == "3.9"


def test_settings_that_no_broker_has_are_at_their_default_and_need_no_declaration(cluster):
    cluster.super_users = cluster.allow_everyone = None
    cluster.save()

    read(cluster, PLAIN, PLAIN)

    assert (cluster.super_users, cluster.allow_everyone) == ("", False)
    assert not settings_of(cluster).undeclared
    assert broker_settings.origin(cluster, "super_users") == "read from brokers 1 and 2"
    assert cluster.settings_read["at"]
    assert Declaration.objects.filter(cluster=cluster).last().allow_everyone is False


def test_settings_that_are_hidden_must_be_declared(cluster):
    cluster.super_users = cluster.allow_everyone = None
    cluster.save()

    read(cluster, PLAIN | BOTH_HIDDEN)

    assert settings_of(cluster).undeclared == {"super_users", "allow_everyone"}


def test_what_was_proven_and_is_hidden_now_is_open_again(cluster):
    cluster.super_users = cluster.allow_everyone = None
    cluster.save()
    read(cluster, PLAIN)

    read(cluster, PLAIN | BOTH_HIDDEN)

    assert (cluster.super_users, cluster.allow_everyone) == (None, None)


def test_a_declaration_that_brokers_contradict_is_a_problem_until_taken_back(cluster):
    declaring.declare(cluster=cluster, actor="ada", allow_everyone=True, super_users="User:root")

    read(cluster, PLAIN)
    assert (cluster.super_users, cluster.allow_everyone) == ("", False)
    assert "declared that super.users is 'User:root', but it is not set on broker 1" in problems(cluster)
    assert "allow.everyone.if.no.acl.found is true" in problems(cluster)

    read(cluster)  # the right to ask was taken away
    assert "declared that super.users is 'User:root'" in problems(cluster)

    declaring.declare(cluster=cluster, actor="ada", allow_everyone=None, super_users=None)
    read(cluster, PLAIN)
    assert problems(cluster) == ""
    assert cluster.allow_everyone is False


def test_brokers_that_differ_are_a_problem_and_prove_nothing(cluster):
    declaring.declare(cluster=cluster, actor="ada", allow_everyone=None, super_users=None)

    read(cluster, PLAIN | {SSL_RULES: "RULE:x/y/"}, PLAIN | BOTH_HIDDEN)

    assert (
        "differ in ssl.principal.mapping.rules: 'RULE:x/y/' on broker 1; 'DEFAULT' on broker 2"
        in problems(cluster)
    )
    assert "differ in super.users: not set on broker 1; set, to what is hidden, on broker 2" in problems(
        cluster
    )
    assert settings_of(cluster).undeclared == {"super_users", "allow_everyone"}


def test_an_authorizer_that_is_not_kafkas_is_reported_and_proves_no_default(cluster):
    declaring.declare(cluster=cluster, actor="ada", allow_everyone=None, super_users=None)

    read(cluster, PLAIN | {AUTHORIZER: "com.example.Ranger"})

    assert "com.example.Ranger, which is not one of Kafka's own" in problems(cluster)
    assert settings_of(cluster).undeclared == {"super_users", "allow_everyone"}


def test_a_builder_of_its_own_is_reported(cluster):
    read(cluster, PLAIN | {BUILDER: "com.example.Builder"})

    assert "which principal a client gets is unknown" in problems(cluster)


def test_brokers_that_may_not_be_asked_leave_everything_as_it_was(cluster):
    declaring.declare(cluster=cluster, actor="ada", allow_everyone=None, super_users="User:a")

    read(cluster)

    assert cluster.settings_read is None
    assert (cluster.super_users, cluster.allow_everyone) == ("User:a", None)


# --- where the authorizer is known from ----------------------------------------------------------


def test_an_authorizer_that_was_read_is_named_with_the_broker_that_told_it(cluster):
    read(cluster, PLAIN)

    found = broker_settings.authorizer(cluster)

    assert (found.name, found.origin, found.is_read) == ("StandardAuthorizer", "read from broker 1", True)
    assert found.words == "StandardAuthorizer, read from broker 1, Kafka 3.9"


def test_many_brokers_are_counted_and_not_listed(cluster):
    read(cluster, *[PLAIN] * 5)

    assert broker_settings.authorizer(cluster).origin == "read from 5 brokers"


def test_an_authorizer_that_nobody_told_is_assumed(cluster):
    read(cluster)

    found = broker_settings.authorizer(cluster)

    assert (found.name, found.origin, found.is_read) == ("StandardAuthorizer", "assumed", False)


def test_an_authorizer_that_is_not_kafkas_is_named_and_told_to_be_decided_as_another(cluster):
    read(cluster, PLAIN | {AUTHORIZER: "com.example.Ranger"})

    assert broker_settings.authorizer(cluster).words == (
        "Ranger, read from broker 1, decided as by StandardAuthorizer, Kafka 3.9"
    )


@pytest.mark.parametrize(
    ("kind", "authorizer", "declared", "words"),
    [
        ("admin", "standard", "", "StandardAuthorizer, assumed"),
        ("admin", "acl", "", "AclAuthorizer, declared"),
        ("zookeeper", "acl", "", "AclAuthorizer, assumed"),
        ("zookeeper", "acl", "on", "AclAuthorizer, declared"),
        ("zookeeper", "acl", "off", "no authorizer, declared"),
        ("snapshot", "standard", "", "a file, decided as by StandardAuthorizer"),
    ],
)
def test_where_no_broker_told_it_is_said_whether_somebody_did(cluster, kind, authorizer, declared, words):
    cluster.kind, cluster.authorizer, cluster.authorizer_declared = kind, authorizer, declared
    cluster.settings_read, cluster.kafka_version = None, ""

    assert broker_settings.authorizer(cluster).words == words


# --- what each broker shows, beside what is declared ---------------------------------------------


def shown(cluster) -> dict[str, tuple[object, ...]]:
    return {
        each.name: (each.values, each.declared, each.verdict)
        for each in broker_settings.shown_settings(cluster)
    }


LISTENERS = {
    "listeners": "SASL_SSL://:9093,CONTROLLER://:9094",
    "listener.security.protocol.map": "SASL_SSL:SASL_SSL,CONTROLLER:SASL_SSL",
    "controller.listener.names": "CONTROLLER",
    "sasl.enabled.mechanisms": "SCRAM-SHA-512",
}


def test_what_is_hidden_is_filled_by_a_declaration_and_the_rest_is_read(cluster):
    declaring.declare(cluster=cluster, actor="ada", allow_everyone=None, super_users="User:root")
    read(cluster, PLAIN | BOTH_HIDDEN | LISTENERS)

    found = shown(cluster)

    assert found["authorizer.class.name"] == (((STANDARD, "broker 1"),), "", "same")
    hidden = (("set, and the value is hidden", "broker 1"),)
    assert found["super.users"] == (hidden, "User:root", "fills")
    assert found["allow.everyone.if.no.acl.found"] == (hidden, "not declared", "missing")
    assert found["listeners"] == ((("SASL_SSL with SCRAM-SHA-512", "broker 1"),), "", "same")


def test_a_declaration_that_the_brokers_overrule_is_shown_beside_what_they_show(cluster):
    declaring.declare(cluster=cluster, actor="ada", super_users="User:root")
    read(cluster, PLAIN)

    assert shown(cluster)["super.users"] == (
        (("not set: nobody is a super user", "broker 1"),),
        "User:root",
        "overruled",
    )


def test_brokers_that_show_the_same_are_stored_once(cluster):
    read(cluster, *[PLAIN | LISTENERS] * 100, PLAIN | {SSL_RULES: "RULE:x/y/"})

    assert len(cluster.settings_read["shown"]) == 2
    values, _, verdict = shown(cluster)["ssl.principal.mapping.rules"]
    assert verdict == "differs"
    assert [value for value, _ in values] == ["DEFAULT", "RULE:x/y/"]


def test_listeners_that_differ_are_a_problem_and_other_ports_are_not(cluster):
    declaring.declare(cluster=cluster, actor="ada", allow_everyone=None, super_users=None)
    other_port = LISTENERS | {"listeners": "SASL_SSL://:19093"}
    read(cluster, PLAIN | LISTENERS, PLAIN | other_port)
    assert problems(cluster) == ""

    read(cluster, PLAIN | LISTENERS, PLAIN | LISTENERS | {"sasl.enabled.mechanisms": "PLAIN"})
    assert (
        "differ in their listeners: SASL_SSL with SCRAM-SHA-512 on broker 1; SASL_SSL with PLAIN on broker 2"
        in problems(cluster)
    )


def test_a_listener_has_mechanisms_of_its_own():
    settings = BrokerSettings(
        1,
        {
            "listeners": "INTERNAL://:9092,EXTERNAL://:9093",
            "listener.security.protocol.map": "INTERNAL:SSL,EXTERNAL:SASL_SSL",
            "sasl.enabled.mechanisms": "GSSAPI",
            "listener.name.external.sasl.enabled.mechanisms": "SCRAM-SHA-256,PLAIN",
            "ssl.client.auth": "required",
        },
    )

    assert [each.words for each in settings.listeners] == [
        "EXTERNAL: SASL_SSL with PLAIN, SCRAM-SHA-256",
        "INTERNAL: SSL, client certificate required",
    ]


def test_nothing_is_shown_where_no_broker_may_be_asked(cluster):
    read(cluster)

    assert shown(cluster) == {}
