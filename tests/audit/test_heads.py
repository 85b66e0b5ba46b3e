"""The head of the chain is kept outside the database: a cut end, a rewritten chain and lost triggers are found."""

from __future__ import annotations

import json
import stat

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from aclweb.audit import heads, trail, triggers
from aclweb.audit.models import Event

pytestmark = pytest.mark.django_db

trail.register("test.done", "{actor} did it to {target}.")


@pytest.fixture
def kept(settings, tmp_path, django_capture_on_commit_callbacks):
    """Five events whose heads were kept."""
    settings.ACLWEB_AUDIT_HEADS = str(tmp_path / "heads.jsonl")
    with django_capture_on_commit_callbacks(execute=True):
        for number in range(5):
            trail.record(actor="ada", verb="test.done", target=f"CR-{number}")
    return tmp_path / "heads.jsonl"


def verify(capsys) -> tuple[int, dict[str, object]]:
    status = 0
    try:
        call_command("audit", "verify", "--json")
    except SystemExit as ended:
        status = int(ended.code or 0)
    return status, json.loads(capsys.readouterr().out)


def edit(statement: str) -> None:
    triggers.remove(connection)
    with connection.cursor() as cursor:
        cursor.execute(statement)
    triggers.install(connection)


def test_each_event_leaves_its_head_in_a_file_of_its_owner(kept):
    lines = [json.loads(line) for line in kept.read_text().splitlines()]

    assert [line["head"].partition(":")[0] for line in lines] == ["1", "2", "3", "4", "5"]
    assert lines[-1]["head"] == trail.head() == heads.kept()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_cut_end_is_found_without_anybody_having_written_a_head_down(kept, capsys):
    assert verify(capsys)[0] == 0

    edit("DELETE FROM audit_event WHERE sequence > 3")

    status, told = verify(capsys)
    assert (status, told["ok"], told["first_bad"]) == (1, False, 4)
    assert "its end was cut off" in told["sentence"]
    assert "audit verify" in heads.problem()


def test_a_chain_that_was_written_anew_is_found(kept, capsys):
    edit("DELETE FROM audit_event")
    for number in range(9):
        trail.record(actor="mallory", verb="test.done", target=f"CR-{number}")

    status, told = verify(capsys)

    assert (status, told["first_bad"]) == (1, 5)
    assert "the chain was rewritten" in told["sentence"]


def test_work_that_was_rolled_back_leaves_no_head(settings, tmp_path, django_capture_on_commit_callbacks):
    settings.ACLWEB_AUDIT_HEADS = str(tmp_path / "heads.jsonl")
    with django_capture_on_commit_callbacks(execute=True), pytest.raises(ZeroDivisionError):
        with transaction.atomic():
            trail.record(actor="ada", verb="test.done", target="CR-1")
            raise ZeroDivisionError

    assert heads.kept() is None
    assert heads.problem() == ""


def test_removed_triggers_are_reported_and_can_be_put_back(kept, capsys):
    with connection.cursor() as cursor:
        on_table = f" ON {triggers.TABLE}" if connection.vendor == "postgresql" else ""
        name = triggers.names(connection)[0]
        cursor.execute(f"DROP TRIGGER {name}{on_table}")

    status, told = verify(capsys)
    assert (status, told["ok"], told["first_bad"]) == (1, False, None)
    assert name in told["sentence"]

    call_command("audit", "protect")
    capsys.readouterr()
    assert verify(capsys)[0] == 0
    assert Event.objects.filter(verb="audit.protected").exists()


def test_a_file_that_cannot_be_written_costs_nobody_their_work(
    settings, tmp_path, django_capture_on_commit_callbacks, caplog
):
    settings.ACLWEB_AUDIT_HEADS = str(tmp_path / "no such folder" / "heads.jsonl")
    with django_capture_on_commit_callbacks(execute=True):
        trail.record(actor="ada", verb="test.done", target="CR-1")

    assert Event.objects.count() == 1
    assert "could not be kept" in caplog.text


def test_a_restore_begins_anew_and_half_a_line_is_left_out(kept):
    with kept.open("a") as file:
        file.write('{"at": "2026-11-2\n')

    heads.begin_anew(f"2:{'a' * 64}")

    assert heads.kept() == f"2:{'a' * 64}"


def test_the_file_is_cut_to_its_newest_lines(kept, monkeypatch):
    monkeypatch.setattr(heads, "MOST_BYTES", 600)
    monkeypatch.setattr(heads, "KEPT_LINES", 2)
    newest = f"9:{'b' * 64}"

    heads.keep(newest)

    assert len(kept.read_text().splitlines()) == 2
    assert heads.kept() == newest
