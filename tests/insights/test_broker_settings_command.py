"""`manage.py broker_settings` prints what brokers show of their settings, what is declared, and what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from aclweb.clusters import ClusterFacts
from aclweb.clusters.broker_settings import BrokerSettings, combined_settings
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import sync
from tests.inventory.answering_cluster import Answers

SHOWN = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": None,
    "allow.everyone.if.no.acl.found": None,
    "listeners": "SASL_SSL://:9093",
    "sasl.enabled.mechanisms": "SCRAM-SHA-512",
}


def read(cluster: Cluster, *brokers: dict[str, str | None]) -> None:
    settings = combined_settings([BrokerSettings(number, each) for number, each in enumerate(brokers, 1)])
    sync(cluster, client=Answers(facts=ClusterFacts("the-id", settings=settings)))


def run(capsys, *words: str) -> tuple[str, int]:
    status: Any = 0
    try:
        call_command("broker_settings", "test-eu", *words)
    except SystemExit as ended:
        status = ended.code
    return capsys.readouterr().out, status


def test_settings_are_printed_with_what_is_declared(cluster, capsys):
    read(cluster, SHOWN)

    told, status = run(capsys, "--strict")

    assert told.startswith("Read 20")
    assert "authorizer.class.name: read\n  org.apache.kafka.metadata.authorizer.StandardAuthorizer\n" in told
    assert "super.users: hidden; declared: User:admin\n  set, and the value is hidden\n" in told
    assert "listeners: read\n  SASL_SSL with SCRAM-SHA-512" in told
    assert ("Wrong" in told, status) == (False, 0)


def test_brokers_that_differ_are_shown_one_by_one_and_called_wrong(cluster, capsys):
    read(cluster, SHOWN, SHOWN | {"ssl.principal.mapping.rules": "RULE:^(.*)$/$1/\nDEFAULT"})

    told, status = run(capsys)

    assert "ssl.principal.mapping.rules: BROKERS DIFFER\n  not set on broker 1\n" in told
    assert r"  'RULE:^(.*)$/$1/\nDEFAULT' on broker 2" in told
    assert "Wrong (brokers-differ): The brokers differ in ssl.principal.mapping.rules" in told
    assert (status, run(capsys, "--strict")[1]) == (0, 1)


def test_a_hidden_setting_that_nobody_declared_is_not_strict(cluster, capsys):
    read(cluster, SHOWN)
    Cluster.objects.update(super_users=None)

    assert "super.users: NOT DECLARED" in run(capsys)[0]
    assert (run(capsys)[1], run(capsys, "--strict")[1]) == (0, 1)


def test_a_declaration_that_brokers_contradict_is_wrong(cluster, capsys):
    read(cluster, {name: value for name, value in SHOWN.items() if name != "super.users"})

    found = json.loads(run(capsys, "--json")[0])

    verdicts = {each["setting"]: each["verdict"] for each in found["settings"]}
    assert (verdicts["super.users"], verdicts["listeners"]) == ("overruled", "same")
    assert [each["rule"] for each in found["findings"]] == ["declared-otherwise"]
    assert found["read_at"].startswith("20")


def test_settings_that_were_never_shown_are_status_1_with_the_reason(cluster, capsys):
    with pytest.raises(CommandError, match="have not shown their settings") as ended:
        call_command("broker_settings", "test-eu", "--json")

    assert ended.value.returncode == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["read_at"], found["settings"]) == (None, [])


def test_an_unknown_cluster_is_bad_usage(cluster):
    with pytest.raises(CommandError, match="those known are: test-eu") as ended:
        call_command("broker_settings", "nowhere")
    assert ended.value.returncode == 2
