"""Delete on the cluster deletes every topic (KRaft): every analysis knows it, and the kafka-acls tool refuses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.cli.main import main
from aclweb.acl.model.authorizers import VERSIONS, AuthorizerSettings, operations_of, tool_operations_of
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import AclBinding, Operation, ResourceType
from aclweb.acl.notation.files import write_acls
from aclweb.acl.simulate import simulate
from tests.builders import acl

CLUSTER = ResourceType.CLUSTER
SEVEN = [
    "CREATE",
    "CLUSTER_ACTION",
    "DESCRIBE_CONFIGS",
    "ALTER_CONFIGS",
    "IDEMPOTENT_WRITE",
    "ALTER",
    "DESCRIBE",
]


def on_cluster(operation: str, permission: str = "ALLOW", principal: str = "User:ops") -> AclBinding:
    return acl(permission, principal, operation, "kafka-cluster", resource_type="CLUSTER")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function that runs one command and returns (status, stdout)."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[int, str]:
        capsys.readouterr()
        status = main(arguments)
        return status, capsys.readouterr().out

    return command


def written(path: str, *bindings: AclBinding) -> str:
    Path(path).write_text(write_acls(bindings, format="jsonl"))
    return path


def gained(out: str) -> set[tuple[str, str]]:
    return {(entry["principal"], entry["operation"]) for entry in json.loads(out)["gains"]}


@pytest.mark.parametrize("authorizer", ["standard", "glob"])
def test_kraft_asks_for_delete_on_the_cluster_and_the_tool_takes_it_not(authorizer: str) -> None:
    for version in VERSIONS[authorizer]:
        settings = AuthorizerSettings(authorizer, version)
        assert set(operations_of(CLUSTER, settings)) - set(tool_operations_of(CLUSTER, settings)) == {
            Operation.DELETE
        }


def test_zookeeper_mode_asks_what_the_tool_takes() -> None:
    for version in VERSIONS["acl"]:
        settings = AuthorizerSettings("acl", version)
        for kind in ResourceType:
            assert operations_of(kind, settings) == tool_operations_of(kind, settings)


def test_all_on_the_cluster_is_more_than_the_seven_other_operations(run) -> None:
    seven = written("seven", *map(on_cluster, SEVEN))

    assert "consolidate-operations" not in run("redundant", "--acls", seven, "--json")[1]

    eight = written("eight", *map(on_cluster, (*SEVEN, "DELETE")))
    (found,) = [
        json.loads(line)
        for line in run("redundant", "--acls", eight, "--json")[1].splitlines()
        if "consolidate-operations" in line
    ]
    assert "exactly the same access" in found["sentence"]


def test_in_zookeeper_mode_the_seven_are_all(run) -> None:
    seven = written("seven", *map(on_cluster, SEVEN))

    assert "exactly the same access" in run("redundant", "--acls", seven, "--authorizer", "acl")[1]


def test_an_added_delete_on_the_cluster_is_a_gain(run) -> None:
    status, out = run(
        "whatif", "--acls", written("none"), "--add", written("add", on_cluster("DELETE")), "--json"
    )

    assert status == 0
    assert gained(out) == {("User:ops", "DELETE"), ("User:ops", "DESCRIBE")}


def test_seven_operations_made_all_are_a_gain_that_fails(run) -> None:
    seven, everything = written("seven", *map(on_cluster, SEVEN)), written("all", on_cluster("ALL"))

    status, out = run("whatif", "--acls", seven, "--to-acls", everything, "--fail-on", "gains", "--json")

    assert status == 1
    assert gained(out) == {("User:ops", "DELETE")}


def test_the_move_to_kraft_shows_who_comes_to_delete_every_topic(run) -> None:
    file = written("acls", on_cluster("ALL"), on_cluster("CREATE", principal="User:maker"))

    _, out = run("whatif", "--acls", file, "--authorizer", "acl", "--to-authorizer", "standard", "--json")

    impact = json.loads(out)
    (gain,) = impact["gains"]
    assert (gain["principal"], gain["operation"], gain["resource_type"]) == ("User:ops", "DELETE", "CLUSTER")
    assert gain["before"] == {"result": "DENIED", "basis": "NOT_ASKED", "determining": []}
    assert gain["after"]["determining"] == [on_cluster("ALL").as_dict()]
    assert (impact["loses"], impact["recovered"], impact["depends"]) == ([], [], [])


def test_the_way_back_to_zookeeper_shows_it_as_a_loss(run) -> None:
    file = written("acls", on_cluster("ALL"))

    arguments = ("--authorizer", "standard", "--kafka-version", "3.9", "--to-authorizer", "acl", "--json")
    (loss,) = json.loads(run("whatif", "--acls", file, *arguments)[1])["loses"]

    assert (loss["operation"], loss["after"]["basis"]) == ("DELETE", "NOT_ASKED")


def test_kraft_that_allows_by_default_opens_it_to_all_and_super_users_gain_nothing(
    run,
) -> None:
    arguments = ("--authorizer", "acl", "--to-authorizer", "standard", "--allow-everyone", "--json")

    _, out = run("whatif", "--acls", written("none"), *arguments, "--super-users", "User:admin")

    (gain,) = json.loads(out)["gains"]
    assert (gain["principal"], gain["operation"]) == ("*", "DELETE")
    assert gain["except"] == {"principals": ["User:admin"], "hosts": []}
    assert gain["after"]["basis"] == "DEFAULT_ALLOW"


def test_lint_finds_a_meaning_in_delete_on_the_cluster_where_kraft_asks_for_it(run) -> None:
    file = written("acls", on_cluster("DELETE"))

    assert "operation-without-meaning" not in run("lint", "--acls", file, "--json")[1]
    assert "operation-without-meaning" in run("lint", "--acls", file, "--authorizer", "acl", "--json")[1]


def test_the_tool_refuses_delete_on_the_cluster(run) -> None:
    arguments = ("--add", "--allow-principal", "User:ops", "--operation", "Delete", "--cluster")

    status, out = run("kafka-acls", "--json", "--", "--bootstrap-server", "b:9092", *arguments)

    assert status == 2
    assert "only supports operations" in json.loads(out)["error"]
    assert run("convert", "--acls", written("acls", on_cluster("DELETE")), "--to", "kafka-acls")[0] == 2


def test_a_deny_of_it_shadows_only_delete() -> None:
    index = AclIndex([on_cluster("ALL"), on_cluster("DELETE", "DENY")])

    impact = simulate(Delta(remove=(on_cluster("DELETE", "DENY"),)), index)

    assert [effect.operation for effect in impact.gains] == [Operation.DELETE]
