"""The answer to a client action in one sentence: who may, or may not, do what, and the right that is refused."""

from __future__ import annotations

import pytest

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.needs import (
    ACTIONS,
    Outcome,
    assess,
    assess_for_any_host,
    find_action,
    summary,
    summary_of_hosts,
)
from tests.acl.test_needs import NAMES
from tests.builders import acl, allow, deny

TOPIC_AND_GROUP = {"topic": ("orders",), "group": ("billing",)}
READ_TOPIC = allow("User:bob", "READ", "orders")
READ_GROUP = allow("User:bob", "READ", "billing", resource_type="GROUP")


def told(action, *bindings, names=TOPIC_AND_GROUP, host="10.0.0.7"):
    settings, index = AuthorizerSettings(), AclIndex(bindings)
    return summary(
        assess(
            find_action(action), principal="User:bob", host=host, names=names, index=index, settings=settings
        ),
        names,
    )


def told_of_hosts(action, *bindings, names=TOPIC_AND_GROUP):
    hosts = assess_for_any_host(
        find_action(action),
        principal="User:bob",
        names=names,
        index=AclIndex(bindings),
        settings=AuthorizerSettings(),
    )
    return summary_of_hosts(hosts, names)


def test_a_refusal_names_the_first_right_that_is_missing():
    assert told("consume", READ_TOPIC) == (
        "User:bob may not consume (topic orders, group billing): Describe on group billing is refused."
    )


def test_what_works_is_said_with_the_names_that_were_given():
    assert told("consume", READ_TOPIC, READ_GROUP) == (
        "User:bob may consume (topic orders, group billing): every right that it needs is allowed."
    )


def test_of_several_rights_that_would_do_each_is_named():
    names = {"topic": ("orders",)}

    assert told("admin-create-topics", names=names) == (
        "User:bob may not make topics (topic orders): Create on the cluster and Create on topic orders are refused, "
        "and one of them is needed."
    )


def test_an_acl_with_an_unknown_value_leaves_it_unknown():
    unknown = acl("ALLOW", "User:bob", "UNKNOWN", "orders")

    assert told("produce", unknown, names={"topic": ("orders",)}).startswith(
        "Whether User:bob may produce (topic orders) is unknown"
    )


def test_where_hosts_differ_each_is_said():
    there = allow("User:bob", "READ", "billing", resource_type="GROUP", host="10.0.0.7")

    assert told_of_hosts("consume", READ_TOPIC, there) == (
        "Whether User:bob may consume (topic orders, group billing) depends on the host: works from 10.0.0.7, "
        "fails from every other host."
    )


def test_a_failure_everywhere_for_different_reasons_names_no_single_right():
    topic = allow("User:bob", "READ", "orders", host="10.0.0.7")

    assert told_of_hosts("consume", topic, deny("User:bob", "READ", "orders", host="10.0.0.8")) == (
        "User:bob may not consume (topic orders, group billing) from any host; the right that is refused differs "
        "from host to host."
    )


def test_a_failure_for_one_reason_is_said_once_for_all_hosts():
    assert told_of_hosts("consume", READ_TOPIC) == told("consume", READ_TOPIC, host="*")


@pytest.mark.parametrize("name", ACTIONS)
def test_every_action_is_said_by_a_verb_and_agrees_with_its_outcome(name):
    for bindings in ([], [allow("User:bob", "ALL", "*", resource_type=kind) for kind in
                          ("TOPIC", "GROUP", "TRANSACTIONAL_ID", "USER", "DELEGATION_TOKEN")]):  # fmt: skip
        found = assess(
            ACTIONS[name],
            principal="User:bob",
            host="10.0.0.7",
            names=NAMES,
            index=AclIndex(bindings),
            settings=AuthorizerSettings(),
        )

        sentence = summary(found, NAMES)

        refused = found.outcome is Outcome.FAILS
        assert sentence.startswith("User:bob may not " if refused else "User:bob may ")
        verb = sentence.removeprefix("User:bob may not ").removeprefix("User:bob may ").split()[0]
        assert not verb.endswith("s")
        assert sentence.endswith(".")
