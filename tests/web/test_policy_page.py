"""The gates of a cluster's policy are set on a page and by a command, and shown on each change that waits."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from aclweb.acl.model import Delta
from aclweb.changes import review
from aclweb.changes.models import PolicyGate
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster

WIDE = allow("User:cat", "READ", "*")


@pytest.fixture
def address(cluster) -> str:
    with FakeCluster(bindings=[allow("User:bob", "READ", "orders")], topics=["orders"]) as fake:
        sync(cluster, client=fake)
    return f"/c/{cluster.slug}/policy/"


def test_an_administrator_sets_and_removes_a_gate(address, cluster, dot, signed_in):
    browser = signed_in(dot)

    done = browser.post(
        address,
        {"kind": "no-new-access", "name_prefix": "payments.", "approvals": "3", "by_administrator": "on"},
        follow=True,
    )

    assert "The gate is set; changes that wait are held to it, too." in done.text
    assert "3 approvals, one of them by an administrator" in done.text
    (gate,) = cluster.policy_gates.all()
    asked = browser.get(address, {"kind": gate.kind, "name_prefix": "payments.", "approvals": "3"})
    assert asked.context["form"]["name_prefix"].value() == "payments."
    gone = browser.post(f"{address}{gate.pk}/remove/", follow=True)
    assert "No gates yet" in gone.text
    assert browser.post(f"{address}{gate.pk}/remove/").status_code == 404


def test_a_wrong_gate_is_refused_at_its_field_and_what_was_typed_stays(address, dot, signed_in):
    page = signed_in(dot).post(address, {"kind": "no-new-access", "approvals": "0"})

    assert page.status_code == 422
    assert "0 is no number of approvals; use 1 to 10." in page.text
    assert "This gate needs the prefix of the names that it guards" in page.text
    assert page.context["form"]["kind"].value() == "no-new-access"
    assert not PolicyGate.objects.exists()


def test_only_an_administrator_sets_gates_and_everybody_sees_them(address, cluster, ben, signed_in):
    cluster.policy_gates.create(kind="no-wildcard")
    browser = signed_in(ben)

    assert browser.post(address, {"kind": "not-the-first", "approvals": "2"}).status_code == 403
    page = browser.get(address)
    assert "No ACL for all resources or any user" in page.text
    assert "Set a gate" not in page.text
    assert cluster.policy_gates.count() == 1


def test_a_change_shows_what_its_gates_say_and_who_must_still_approve(address, cluster, ada, ben, signed_in):
    cluster.policy_gates.create(kind="no-wildcard", approvals=2, by_administrator=True)
    cluster.policy_gates.create(kind="not-own-rights")
    change = review.request(cluster=cluster, author=ada, title="Wide", delta=Delta(add=(WIDE,)))

    page = signed_in(ben).get(f"/changes/{change.key}/")

    assert [gate["state"] for gate in page.context["page"].gates] == ["not met", "pass"]
    assert "It adds Allow User:cat to Read every topic" in page.text
    assert "→ 2 approvals, one of them by an administrator" in page.text
    assert "It needs 2 more approvals, one of them by an administrator." in page.text
    assert "Your approval is the last one needed" not in page.text


def test_gates_are_listed_set_and_removed_by_the_command(address, cluster):
    def said(*words: str) -> str:
        out = StringIO()
        call_command("policy", cluster.slug, *words, stdout=out)
        return out.getvalue()

    assert "has no gates" in said()
    assert said("--set", "no-new-access", "--prefix", "payments.", "--approvals", "3") == "test-eu: set.\n"
    assert said() == "no-new-access --prefix 'payments.': 3 approvals where it is not met\n"
    with pytest.raises(CommandError, match="no gate 'no-new-access'; ") as missing:
        said("--remove", "no-new-access")
    assert missing.value.returncode == 2
    with pytest.raises(CommandError, match="is no gate; use one of no-wildcard"):
        said("--set", "no-such")
    for lost in (("--approvals", "3"), ("--prefix", "payments."), ("--by-administrator",)):
        with pytest.raises(CommandError, match=f"{lost[0]}: say which gate with --set"):
            said(*lost)
    assert said("--remove", "no-new-access", "--prefix", "payments.") == "test-eu: removed.\n"
    assert not PolicyGate.objects.exists()


def test_a_gate_of_a_label_is_set_at_the_shell_and_refused_without_a_label(cluster, capsys):
    def said(*words: str) -> str:
        call_command("policy", cluster.slug, *words)
        return capsys.readouterr().out

    with pytest.raises(CommandError, match="needs the label of the names that it guards, such as restricted"):
        said("--set", "no-access-label")
    assert said("--set", "no-access-label", "--label", "Restricted") == "test-eu: set.\n"
    assert said() == "no-access-label --label 'restricted': 2 approvals where it is not met\n"
    with pytest.raises(CommandError, match="no gate 'no-access-label' with label 'public'"):
        said("--remove", "no-access-label", "--label", "public")
    assert said("--remove", "no-access-label", "--label", "RESTRICTED") == "test-eu: removed.\n"
