"""`manage.py change`: the same rules as on the pages, off by default, and recorded as done from the shell."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from aclweb.audit import trail
from aclweb.changes import review
from aclweb.changes.models import Change
from tests.changes.conftest import WISH

pytestmark = pytest.mark.django_db


@pytest.fixture
def allowed(settings):
    settings.ACLWEB_SHELL_CHANGES = True


def test_the_shell_is_off_unless_a_setting_allows_it(ask, ada):
    change = ask(WISH)

    with pytest.raises(CommandError, match="ACLWEB_SHELL_CHANGES") as refused:
        call_command("change", "submit", change.key, "--as", "ada")
    assert refused.value.returncode == 2


def test_a_change_walks_from_draft_to_in_force(allowed, kafka, ask, ada, ben, capsys):
    change = ask(WISH)

    call_command("change", "submit", change.key, "--as", "ada")
    call_command("change", "approve", change.key, "--as", "ben", "--comment", "Fine.")
    call_command("change", "apply", change.key, "--as", "ben", "--json")

    assert WISH in kafka.bindings
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["state"] == "APPLIED"
    shells = trail.trail(change.key).filter(verb="change.from_shell")
    assert [event.facts["act"] for event in shells] == ["submit", "approve", "apply"]


def test_an_own_change_is_refused_from_the_shell_too(allowed, ask, dot):
    change = review.submit(change=ask(WISH, author=dot), actor=dot)

    with pytest.raises(CommandError, match="somebody else") as refused:
        call_command("change", "approve", change.key, "--as", "dot")

    assert refused.value.returncode == 1
    assert Change.objects.get(pk=change.pk).state == "IN_REVIEW"
    assert not trail.trail(change.key).filter(verb="change.from_shell").exists()


def test_applying_what_nobody_approved_is_refused(allowed, kafka, ask, ada):
    change = review.submit(change=ask(WISH), actor=ada)

    with pytest.raises(CommandError, match="waiting for review"):
        call_command("change", "apply", change.key, "--as", "ada")
    assert kafka.calls() == []


def test_a_viewer_cannot_run_a_queued_change(allowed, kafka, approved, cho):
    change = approved(WISH)

    with pytest.raises(CommandError, match="may not approve"):
        call_command("change", "apply", change.key, "--as", "cho")
    assert kafka.calls() == []


def test_applying_exits_1_when_the_change_is_not_in_force(allowed, kafka, approved, ada):
    change = approved(WISH)
    kafka.fail(unreachable=1)

    with pytest.raises(SystemExit) as ended:
        call_command("change", "apply", change.key, "--as", "ada")
    assert ended.value.code == 1


@pytest.mark.parametrize(("change", "user"), [("CR-999", "ada"), ("x", "ada"), ("CR-1", "nobody")])
def test_what_is_not_there_is_bad_usage(allowed, ada, change, user):
    with pytest.raises(CommandError) as refused:
        call_command("change", "submit", change, "--as", user)
    assert refused.value.returncode == 2
