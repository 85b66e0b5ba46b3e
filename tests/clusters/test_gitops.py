"""A repository that declares ACLs stands for a cluster: in every notation, and whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from aclweb.acl.notation import write_acls
from aclweb.clusters import ClusterClient, ClusterError, ClusterState, Connection, Known, TopicInfo, connect
from aclweb.clusters.gitops import GITOPS
from aclweb.clusters.gitops import client as reading
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import acl, allow, deny

USERS = """\
# Of two teams.
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaUser
metadata:
  name: orders-app
  labels: {strimzi.io/cluster: prod}
spec:
  authentication: {type: tls}
  authorization:
    type: simple
    acls:
      - resource: {type: topic, name: orders., patternType: prefix}
        operations: [Read, DescribeConfigs]
      - resource: {type: group, name: on}
        operation: Read
        host: 10.0.0.7
      - type: deny
        resource: {type: cluster}
        operations: [IdempotentWrite]
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaUser
metadata: {name: "123", labels: {strimzi.io/cluster: prod}}
spec:
  authentication: {type: scram-sha-512}
  authorization:
    acls:
      - resource: {type: transactionalId, name: tx-, patternType: prefix}
        operations: [Write]
---
apiVersion: v1
kind: Secret
metadata: {name: other}
"""
OF_USERS = {
    allow("User:CN=orders-app", "READ", "orders.", pattern="PREFIXED"),
    allow("User:CN=orders-app", "DESCRIBE_CONFIGS", "orders.", pattern="PREFIXED"),
    allow("User:CN=orders-app", "READ", "on", resource_type="GROUP", host="10.0.0.7"),
    deny("User:CN=orders-app", "IDEMPOTENT_WRITE", "kafka-cluster", resource_type="CLUSTER"),
    allow("User:123", "WRITE", "tx-", pattern="PREFIXED", resource_type="TRANSACTIONAL_ID"),
}
TOPIC = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {name: orders-eu}
spec: {topicName: orders.eu, partitions: 12}
"""
MONGEY = {
    "resource_name": "syslog",
    "resource_type": "Topic",
    "resource_pattern_type_filter": "Prefixed",
    "acl_principal": "User:alice",
    "acl_host": "*",
    "acl_operation": "Write",
    "acl_permission_type": "Deny",
}
CONFLUENT = {
    "kafka_cluster": [{"id": "lkc-1"}],
    "resource_name": "kafka-cluster",
    "resource_type": "CLUSTER",
    "pattern_type": "LITERAL",
    "principal": "User:sa-1",
    "host": "*",
    "operation": "CLUSTER_ACTION",
    "permission": "ALLOW",
}
OF_MONGEY = deny("User:alice", "WRITE", "syslog", pattern="PREFIXED")
OF_CONFLUENT = allow("User:sa-1", "CLUSTER_ACTION", "kafka-cluster", resource_type="CLUSTER")


MANY_TAGS = "".join(f"%TAG !{number}! x\n" for number in range(200_000)) + "---\na: b\n"
# Ten million values in some lines, where a word should be.
BOMB = (
    "".join(
        f"x{level}: &x{level} [{', '.join([f'*x{level - 1}' if level else 'y'] * 10)}]\n"
        for level in range(7)
    )
    + "apiVersion: kafka.strimzi.io/v1\nkind: *x6\n"
)


def resource(kind: str, **attributes: object) -> dict[str, object]:
    return {"mode": "managed", "type": kind, "name": "a", "instances": [{"attributes": attributes}]}


def state(*resources: dict[str, object]) -> str:
    return json.dumps({"version": 4, "terraform_version": "1.9.0", "resources": list(resources)})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "repository"
    (found / "teams" / "orders").mkdir(parents=True)
    return found


def opened(folder: Path) -> ClusterClient:
    return connect(Connection(GITOPS, str(folder)))


def read(folder: Path) -> set[object]:
    with opened(folder) as client:
        return set(client.read_acls().bindings)


def refusal(folder: Path) -> str:
    with pytest.raises(ClusterError) as caught:
        read(folder)
    assert caught.value.state is ClusterState.UNREADABLE
    return str(caught.value)


def test_users_and_topics_of_strimzi_are_read_word_by_word(folder):
    (folder / "teams" / "orders" / "users.yaml").write_text(USERS)
    (folder / "topic.yml").write_text(TOPIC)

    with opened(folder) as client:
        assert set(client.read_acls().bindings) == OF_USERS
        assert client.read_topics() == (TopicInfo("orders.eu", 12),)
        assert client.read_groups() is None
        assert client.names_known(client.read_acls(), None).topics is Known.VISIBLE


def test_what_kubectl_prints_is_read_as_json(folder):
    user = {
        "apiVersion": "kafka.strimzi.io/v1",
        "kind": "KafkaUser",
        "metadata": {"name": "bob"},
        "spec": {
            "authorization": {"acls": [{"resource": {"type": "topic", "name": "a"}, "operations": ["All"]}]}
        },
    }
    (folder / "users.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [user]}))

    assert read(folder) == {allow("User:bob", "ALL", "a")}


def test_states_of_terraform_are_read_of_both_providers_as_files_and_as_shown(folder):
    topic = resource("kafka_topic", name="syslog.eu", partitions=3)
    (folder / "kafka.tfstate").write_text(
        state(resource("kafka_acl", **MONGEY), topic, resource("aws_instance", password="s3cret"))
    )
    with opened(folder) as client:
        assert client.read_acls().bindings == (OF_MONGEY,)
        assert client.read_topics() == (TopicInfo("syslog.eu", 3),)

    (folder / "kafka.tfstate").write_text(state(resource("confluent_kafka_acl", **CONFLUENT)))
    assert read(folder) == {OF_CONFLUENT}

    child = {"resources": [{"type": "kafka_acl", "address": "module.a.kafka_acl.b", "values": MONGEY}]}
    root = {"root_module": {"child_modules": [child]}}
    (folder / "kafka.tfstate").write_text(json.dumps({"format_version": "1.0", "planned_values": root}))
    assert read(folder) == {OF_MONGEY}


@pytest.mark.parametrize(
    ("format", "ending"), [("jsonl", "jsonl"), ("csv", "csv"), ("yaml", "yaml"), ("listing", "txt")]
)
def test_files_of_acls_are_read_among_others(folder, format, ending):
    acls = (allow("User:bob", "READ", "orders"), acl("DENY", "User:eva", "WRITE", "on"))
    (folder / f"dump.{ending}").write_text(write_acls(acls, format=format))
    (folder / "requirements.txt").write_text("django>=5\n")
    (folder / "names.csv").write_text("name,age\nbob,7\n")
    (folder / "README.md").write_text("# ACLs\n")
    (folder / "values.yaml").write_text("a: 1\n")
    (folder / ".git").mkdir()
    (folder / ".git" / "config.yaml").write_text("{{ none }}")

    assert read(folder) == set(acls)


def test_an_acl_that_two_files_declare_is_one(folder):
    for name in ("a.jsonl", "b.jsonl"):
        (folder / name).write_text(write_acls([OF_MONGEY], format="jsonl"))

    with opened(folder) as client:
        assert client.read_acls().bindings == (OF_MONGEY,)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.yaml", "a: {{ .Values.password-s3cret }}\n: [", "a.yaml: it is no YAML in line"),
        ("a.yaml", USERS.replace("Read,", "Raed,"), "KafkaUser orders-app: ACL 1: operation is 'Raed'; use one of"),
        ("a.yaml", USERS.replace("name: on", "nam: on"), "ACL 2: "),
        ("a.yaml", USERS.replace("operation: Read", "x: y"), "ACL 2: operations is missing; name at least one"),
        ("a.yaml", USERS.replace("type: topic", "type: any"), "resource_type is 'any'; use one of TOPIC, GROUP"),
        ("a.tfstate", state(resource("kafka_acl", **MONGEY | {"acl_host": None})), "a.tfstate: kafka_acl.a: "),
        ("a.tfstate", '{"version": 3, "terraform_version": "0.11"}', "the state has version 3, and 4 is read"),
        ("a.json", '{"s3cret": ', "a.json: it is no JSON: Expecting value in line 1."),
        ("a.tfstate", '{"version": 4, "terraform_version": "1", "resources": ["s3cret"]}', "nested in another way"),
        ("a.jsonl", '{"principal": "User:s"}\n', "a.jsonl:1: "),
        ("a.yaml", "a:\n  " + "[" * 200_000, "a.yaml: line 2 is nested more than 100 levels deep."),
        ("a.yaml", "# " + "x" * (8 << 20), "a.yaml: it has more than 8 MiB of YAML; part it into several files"),
        ("a.yaml", MANY_TAGS, "a.yaml: more than 10,000 of its lines begin with %; leave such directives out."),
        ("a.yaml", BOMB, "a.yaml: its aliases unfold to more than 5,000,000 values; write them out."),
        ("a.yaml", "a: &a [*a]", "a.yaml: it is no YAML in line 1"),
        ("a.jsonl", "", "a.jsonl: it is empty; remove it if it is to declare nothing."),
        ("a.txt", "", "Nothing in it declares ACLs or topics (1 file looked at, of those that end in .yaml, "),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_whole_is_named_and_nothing_is_used(folder, name, text, said):
    (folder / "good.jsonl" if name not in ("a.jsonl", "a.txt") else folder / "x.md").write_text(
        write_acls([OF_MONGEY], format="jsonl")
    )
    (folder / name).write_text(text)

    sentence = refusal(folder)

    assert sentence.startswith(f"The folder {folder} was not used. ")
    assert said in sentence
    assert "s3cret" not in sentence


def test_acls_of_several_clusters_are_not_mixed(folder):
    (folder / "a.yaml").write_text(USERS)
    (folder / "b.yaml").write_text(USERS.replace("cluster: prod", "cluster: test"))

    assert "several clusters (prod, test); give the folder of one." in refusal(folder)


def test_a_folder_that_is_gone_or_too_large_is_refused(folder, monkeypatch):
    with pytest.raises(ClusterError, match=r"There is no folder .*nowhere") as caught:
        opened(folder / "nowhere")
    assert caught.value.state is ClusterState.UNREACHABLE

    monkeypatch.setattr(reading, "MOST_FILES", 1)
    for name in ("a.jsonl", "b.jsonl"):
        (folder / name).write_text(" ")
    assert "more than 1 files" in refusal(folder)


def test_a_link_out_of_the_folder_is_not_followed(folder, tmp_path):
    (tmp_path / "secret.jsonl").write_text(write_acls([OF_CONFLUENT], format="jsonl"))
    (folder / "a.jsonl").write_text(write_acls([OF_MONGEY], format="jsonl"))
    (folder / "b.jsonl").symlink_to(tmp_path / "secret.jsonl")

    assert read(folder) == {OF_MONGEY}


@pytest.mark.django_db
def test_a_checkout_that_moves_to_another_commit_is_followed(folder, tmp_path):
    (folder / "a.jsonl").write_text(write_acls([OF_MONGEY], format="jsonl"))
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.jsonl").write_text(write_acls([OF_CONFLUENT], format="jsonl"))
    current = tmp_path / "current"
    current.symlink_to(folder)
    call_command("cluster", "add", "repo", "--kind", "gitops", "--address", str(current))
    cluster = Cluster.objects.get()
    assert sync(cluster).read

    current.unlink()
    current.symlink_to(other)

    assert sync(Cluster.objects.get()).read
    assert Cluster.objects.get().revision.number == 2
