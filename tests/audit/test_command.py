import json

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from aclweb.audit import trail, triggers

pytestmark = pytest.mark.django_db

trail.register("test.done", "{actor} did it to {target}.")


def test_a_whole_chain_is_status_0_and_reported(capsys):
    event = trail.record(actor="ada", verb="test.done", target="CR-1")

    call_command("audit", "verify")

    assert capsys.readouterr().out == f"The chain is whole: 1 event checked. Its head is 1:{event.hash}.\n"


def test_a_broken_chain_is_status_1_and_says_where(capsys):
    for _ in range(3):
        trail.record(actor="ada", verb="test.done", target="CR-1")
    triggers.remove(connection)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE audit_event SET actor = 'mallory' WHERE sequence = 2")

    with pytest.raises(SystemExit) as ended:
        call_command("audit", "verify", "--json")

    assert ended.value.code == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["first_bad"]) == (False, 2)


def test_a_kept_head_is_compared_and_a_bad_one_is_status_2(capsys):
    trail.record(actor="ada", verb="test.done", target="CR-1")
    call_command("audit", "head")
    head = capsys.readouterr().out.strip()

    call_command("audit", "verify", "--head", head)
    with pytest.raises(CommandError) as refused:
        call_command("audit", "verify", "--head", "newest")

    assert refused.value.returncode == 2
