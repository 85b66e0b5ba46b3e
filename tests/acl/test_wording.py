"""What an ACL says in English: rights on the cluster are about topics, brokers and producers, not about the cluster."""

from __future__ import annotations

import pytest

from aclweb.acl.authorizer.decision import authorize
from aclweb.acl.authorizer.explanation import explain
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.lint.consolidation import consolidations
from aclweb.acl.lint.findings import lint_all
from aclweb.acl.lint.redundancy import redundant
from aclweb.acl.model.authorizers import OPERATIONS, AuthorizerSettings
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import AccessRequest, Operation, ResourceType
from aclweb.acl.model.wording import acl_text, name_text
from aclweb.acl.simulate import simulate
from aclweb.acl.simulate.classes import Names
from tests.builders import acl, allow, ask, deny

ON_THE_CLUSTER = {
    "ALL": "do anything with the cluster",
    "CREATE": "Create any topic",
    "DELETE": "Delete any topic (KRaft)",
    "ALTER": "Alter the cluster",
    "DESCRIBE": "Describe the cluster",
    "CLUSTER_ACTION": "take cluster actions (as brokers do) on the cluster",
    "DESCRIBE_CONFIGS": "Describe the configs of brokers",
    "ALTER_CONFIGS": "Alter the configs of brokers",
    "IDEMPOTENT_WRITE": "start idempotent producers",
}


def on_cluster(operation: str, name: str = "kafka-cluster", **more: str):
    return acl("ALLOW", "User:ops", operation, name, resource_type="CLUSTER", **more)


@pytest.mark.parametrize(("operation", "words"), ON_THE_CLUSTER.items())
def test_a_right_on_the_cluster_says_what_it_lets_one_do(operation: str, words: str) -> None:
    assert acl_text(on_cluster(operation)) == f"Allow User:ops to {words} from any host"
    assert acl_text(on_cluster(operation, "*")) == f"Allow User:ops to {words} from any host"


def test_every_operation_that_brokers_ask_of_the_cluster_has_its_words() -> None:
    assert set(ON_THE_CLUSTER) == {"ALL", *(operation.name for operation in OPERATIONS[ResourceType.CLUSTER])}


def test_no_right_creates_or_deletes_a_cluster() -> None:
    for pattern in ("LITERAL", "PREFIXED", "UNKNOWN"):
        for operation in ("CREATE", "DELETE"):
            told = acl_text(on_cluster(operation, "kafka", pattern=pattern))
            assert "any topic" in told
            assert " by a right on cluster" in told


def test_a_question_about_the_cluster_is_reported_in_the_same_words() -> None:
    asked = AccessRequest("User:ops", "10.0.0.7", Operation.CREATE, ResourceType.CLUSTER, "kafka-cluster")

    told = explain(authorize(asked, AclIndex([on_cluster("CREATE")])))

    assert told.sentence == "User:ops may Create any topic from 10.0.0.7: 1 ACL allows it and none denies it."


def test_of_a_question_about_a_whole_type_acls_are_on_topics_and_cover_none() -> None:
    index = AclIndex([allow("User:b", "WRITE", "a"), allow("User:b", "WRITE", "b")])

    told = explain(authorize(ask("User:a", "WRITE", None), index))

    assert told.sentence.endswith("2 ACLs are on topics, and none of them allows this.")
    assert any(gate.sentence.startswith("2 ACLs are on topics, but no ALLOW") for gate in told.gates)
    bare = explain(authorize(ask("User:a", "WRITE", None), AclIndex()))
    assert bare.sentence.endswith("no ACL is on topics, and then this cluster refuses.")
    assert any(gate.sentence == "No ACL is on topics." for gate in bare.gates)


# Where another right lets the client succeed.


def other(asked: AccessRequest, *bindings, settings: AuthorizerSettings | None = None) -> list[str]:
    told = explain(authorize(asked, AclIndex(bindings), settings))
    sentences = [way.sentence for way in told.other_ways]
    assert list(told.sentences[1 : 1 + len(sentences)]) == sentences
    return sentences


CREATES = "But User:ops has Create on the cluster, which is enough to create any topic."
DELETES = "But User:ops has Delete on the cluster, which is enough to delete any topic (KRaft)."
LISTS = "But User:ops has Describe on the cluster, which is enough to see this group in a list of all groups."
STARTS = "But User:ops has Write on a topic, which is enough to start an idempotent producer."


@pytest.mark.parametrize(
    ("asked", "grant", "settings", "told"),
    [
        (ask("User:ops", "CREATE", "t"), on_cluster("CREATE"), AuthorizerSettings(), [CREATES]),
        (ask("User:ops", "CREATE", "t"), on_cluster("ALL"), AuthorizerSettings("acl"), [CREATES]),
        (ask("User:ops", "CREATE", "t"), on_cluster("CREATE", host="10.0.0.9"), AuthorizerSettings(), []),
        (ask("User:ops", "DELETE", "t"), on_cluster("DELETE"), AuthorizerSettings(), [DELETES]),
        (ask("User:ops", "DELETE", "t"), on_cluster("ALL"), AuthorizerSettings(), [DELETES]),
        (ask("User:ops", "DELETE", "t"), on_cluster("ALL"), AuthorizerSettings("acl"), []),
        (
            ask("User:ops", "DESCRIBE", "g", resource_type="GROUP"),
            on_cluster("ALTER"),
            AuthorizerSettings(),
            [LISTS],
        ),
        (
            ask("User:ops", "IDEMPOTENT_WRITE", "kafka-cluster", resource_type="CLUSTER"),
            allow("User:ops", "WRITE", "t"),
            AuthorizerSettings(),
            [STARTS],
        ),
        (
            ask("User:ops", "IDEMPOTENT_WRITE", "kafka-cluster", resource_type="CLUSTER"),
            allow("User:ops", "WRITE", "t"),
            AuthorizerSettings("acl", "2.7"),
            [],
        ),
        (ask("User:ops", "READ", "t"), on_cluster("ALL"), AuthorizerSettings(), []),
    ],
)
def test_another_right_by_which_the_client_succeeds_is_reported_in_one_sentence(
    asked, grant, settings, told
) -> None:
    decision = authorize(asked, AclIndex([grant]), settings)

    assert not decision.allowed
    assert other(asked, grant, settings=settings) == told


def test_a_deny_on_the_topic_does_not_stop_whoever_creates_by_the_cluster() -> None:
    refusal = acl("DENY", "User:ops", "CREATE", "t")

    assert other(ask("User:ops", "CREATE", "t"), on_cluster("CREATE"), refusal) == [CREATES]
    assert other(ask("User:ops", "CREATE", "t"), on_cluster("CREATE"), allow("User:ops", "CREATE", "t")) == []


@pytest.mark.parametrize("name", ["payments.", "User:app:", "_internal.", "*,"])
def test_a_name_that_ends_as_sentences_do_is_in_quotes(name: str) -> None:
    assert name_text(name) == f"'{name}'"
    assert name_text(f"{name}eu") == f"{name}eu"


def test_no_sentence_ends_in_two_dots_whatever_names_end_with() -> None:
    acls = [
        allow("User:a.", "READ", "pay.", pattern="PREFIXED"),
        allow("User:a.", "READ", "pay.eu."),
        allow("User:a.", "DESCRIBE", "pay.eu."),
        allow("User:a.", "READ", "pay.us.", host="10.0.0.1"),
        deny("User:b.", "READ", "pay.", pattern="PREFIXED"),
        allow("User:b.", "READ", "pay.eu."),
        allow("User:b.", "WRITE", "gone."),
        *(allow("User:c.", operation, "pay.eu.") for operation in ("READ", "WRITE", "CREATE", "DELETE")),
        allow("User:d.", "READ", "grp.", resource_type="GROUP"),
        allow("d.", "READ", "pay.", host="host."),
    ]
    index, names = AclIndex(acls), Names(topics=("pay.eu.", "pay.us."), groups=("grp.",))
    limits: list[str] = []
    wasted = list(redundant(index, AuthorizerSettings(), names, limits=limits))
    told = [each.sentence for each in wasted]
    told += [each.sentence for each in lint_all(index, AuthorizerSettings(), wasted=wasted)]
    told += [each.sentence for each in consolidations(index, AuthorizerSettings(), names, limits=limits)]
    for binding in acls:
        asked = ask(
            binding.principal, "READ", binding.resource_name, resource_type=binding.resource_type.name
        )
        told += explain(authorize(asked, index)).sentences
        told += simulate(Delta(remove=(binding,)), index, names).warnings

    assert len(told) > 30
    assert [sentence for sentence in told if ".." in sentence or ".," in sentence or "::" in sentence] == []
