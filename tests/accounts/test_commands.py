import json

import pytest
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command

from aclweb.accounts import tokens
from aclweb.accounts.access import may
from aclweb.accounts.models import ApiToken

pytestmark = pytest.mark.django_db


def run(capsys, *words):
    call_command(*words)
    return capsys.readouterr().out


def test_a_token_is_issued_listed_and_revoked(ada, capsys):
    issued = json.loads(run(capsys, "token", "issue", "ada", "deploy", "--days", "7", "--json"))
    assert tokens.check(issued["secret"]).owner == ada

    listed = run(capsys, "token", "list")
    assert issued["prefix"] in listed
    assert issued["secret"] not in listed

    run(capsys, "token", "revoke", issued["prefix"])
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize(
    "words",
    [
        ("token", "issue", "nobody", "deploy"),
        ("token", "issue", "ada", "deploy", "--days", "400"),
        ("token", "issue", "ada", "deploy", "--cluster", "test-xx"),
        ("token", "revoke", "aclw_nothing"),
        ("grant", "give", "nobody", "viewer", "test-eu"),
        ("grant", "give", "ada", "viewer", "test-xx"),
        ("grant", "give", "platform", "viewer", "test-xx", "--group"),
        ("grant", "give", "x" * 151, "viewer", "test-eu", "--group"),
        ("grant", "give", "a\x00b", "viewer", "test-eu", "--group"),
        ("grant", "take", "platfrom", "viewer", "test-eu", "--group"),
    ],
)
def test_what_cannot_be_done_is_reported_with_status_2(ada, cluster, words):
    with pytest.raises(CommandError) as refused:
        call_command(*words)
    assert refused.value.returncode == 2
    assert not Group.objects.exists()


def test_no_name_that_somebody_typed_controls_the_terminal(cluster, ada, capsys):
    token, _ = tokens.issue(ada, "x\x1b[2J\nroot", 7)
    call_command("grant", "give", "x\x1b[2J\nroot", "viewer", "test-eu", "--group")

    printed = run(capsys, "grant", "list") + run(capsys, "token", "list")
    printed += run(capsys, "token", "revoke", token.prefix)
    assert "\x1b" not in printed
    assert printed.count(r"x\x1b[2J\nroot") == 4


def test_a_token_is_limited_to_one_cluster(cluster, ada, capsys):
    run(capsys, "token", "issue", "ada", "deploy", "--cluster", "test-eu")

    assert "ada  deploy  only test-eu  until" in run(capsys, "token", "list")
    assert json.loads(run(capsys, "token", "list", "--json"))["cluster"] == "test-eu"


def test_a_role_is_given_listed_and_taken(cluster, eve, capsys):
    assert run(capsys, "grant", "give", "eve", "approver", "test-eu", "--prefix", "pay") == (
        "eve is approver on test-eu for names that start with 'pay'.\n"
    )
    assert may(eve, "approve", cluster, "payments")
    assert json.loads(run(capsys, "grant", "list", "--json")) == {
        "cluster": "test-eu",
        "user": "eve",
        "group": None,
        "role": "approver",
        "name_prefix": "pay",
    }

    run(capsys, "grant", "take", "eve", "approver", "test-eu", "--prefix", "pay")
    assert not may(eve, "view", cluster)


def test_a_group_of_people_can_have_a_role(cluster, eve, capsys):
    run(capsys, "grant", "give", "platform", "viewer", "test-eu", "--group")
    eve.groups.add(eve.groups.model.objects.get(name="platform"))

    assert may(eve, "view", cluster)


def test_taking_a_role_that_nobody_has_is_status_1(cluster, eve):
    with pytest.raises(SystemExit) as ended:
        call_command("grant", "take", "eve", "approver", "test-eu")
    assert ended.value.code == 1
