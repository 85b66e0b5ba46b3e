import random

import pytest
from django.db import DatabaseError, connection, transaction

from aclweb.audit import trail, triggers
from aclweb.audit.models import AuditError, Event
from tests.random_cases import SCALE

FULL = SCALE > 1

trail.register("test.seen", "{actor} saw {target} {times} times.")


def events(count):
    return [trail.record(actor="ada", verb="test.seen", target=f"CR-{n}", times=n) for n in range(count)]


@pytest.mark.django_db
def test_events_are_numbered_from_one_and_each_holds_the_hash_of_the_one_before():
    first, second = events(2)

    assert (first.sequence, second.sequence) == (1, 2)
    assert first.previous_hash == trail.GENESIS
    assert second.previous_hash == first.hash


@pytest.mark.django_db
def test_an_untouched_chain_is_whole_and_names_its_head():
    last = events(3)[-1]

    verdict = trail.verify()

    assert verdict.ok
    assert verdict.checked == 3
    assert verdict.head == f"3:{last.hash}" == trail.head()


@pytest.mark.django_db
def test_an_empty_chain_is_whole():
    assert trail.verify().ok


@pytest.mark.django_db
def test_work_that_is_rolled_back_leaves_no_event_and_no_gap():
    events(1)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        events(1)
        raise ZeroDivisionError

    assert events(1)[0].sequence == 2
    assert trail.verify().ok


@pytest.mark.django_db
def test_a_trail_tells_what_happened_to_one_target_in_order():
    events(2)
    again = trail.record(actor="ben", verb="test.seen", target="CR-0", times=7)

    assert [event.sequence for event in trail.trail("CR-0")] == [1, 3]
    assert trail.sentence(again) == "ben saw CR-0 7 times."


@pytest.mark.django_db
def test_an_event_that_lacks_a_fact_of_its_sentence_is_still_told():
    assert (
        trail.sentence(trail.record(actor="ada", verb="test.seen", target="CR-1")) == "ada saw CR-1 – times."
    )


@pytest.mark.django_db
def test_an_event_of_a_forgotten_verb_is_still_told():
    event = Event(sequence=1, actor="ada", verb="old.verb", target="CR-1", facts={})

    assert trail.sentence(event) == "ada did old.verb to CR-1."


@pytest.mark.django_db
def test_a_verb_nobody_registered_is_refused():
    with pytest.raises(AuditError, match="not registered"):
        trail.record(actor="ada", verb="test.typo", target="CR-1")


def test_a_verb_has_one_sentence():
    trail.register("test.seen", "{actor} saw {target} {times} times.")
    with pytest.raises(AuditError, match="already has the sentence"):
        trail.register("test.seen", "Something else.")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("actor", "target", "facts"),
    [
        ("", "CR-1", {}),
        ("ada", "", {}),
        ("ada", "x" * 255, {}),
        ("ada", "CR-1", {"thing": object()}),
        ("ada", "CR-1", {"number": float("nan")}),
    ],
)
def test_what_cannot_be_kept_as_given_is_refused_and_not_cut_short(actor, target, facts):
    with pytest.raises(AuditError):
        trail.record(actor=actor, verb="test.seen", target=target, **facts)
    assert not Event.objects.exists()


@pytest.mark.django_db
def test_facts_hold_any_name_letter_by_letter():
    hostile = "NUL\x00 half\ud800 back\\slash \\u0000 quote' \u202e " + "x" * 32_767

    trail.record(actor="ada\x00\udfff", verb="test.seen", target="topic:\x00", name=hostile)

    event = Event.objects.get()
    assert event.facts["name"] == hostile
    assert (event.actor, event.target) == ("ada\\x00\\udfff", "topic:\\x00")
    assert trail.verify().ok


@pytest.mark.django_db
def test_an_event_can_be_neither_saved_again_nor_deleted():
    event = events(1)[0]

    with pytest.raises(AuditError):
        event.save()
    with pytest.raises(AuditError):
        event.delete()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_event SET actor = 'mallory'",
        "DELETE FROM audit_event",
        "DELETE FROM audit_event WHERE sequence = 2",
    ],
)
def test_the_database_itself_refuses_edits(statement):
    events(3)

    with pytest.raises(DatabaseError, match="has happened and cannot be"), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(statement)

    assert trail.verify().checked == 3


@pytest.mark.django_db
def test_an_end_that_was_cut_off_is_found_by_a_kept_head():
    events(3)
    kept = trail.head()
    _edit("DELETE FROM audit_event WHERE sequence = 3")

    assert trail.verify().ok
    verdict = trail.verify(head=kept)
    assert not verdict.ok
    assert verdict.first_bad == 3


@pytest.mark.django_db
def test_a_chain_rewritten_from_the_start_is_found_by_a_kept_head():
    events(2)
    kept = trail.head()
    _edit("DELETE FROM audit_event")
    events(3)

    assert trail.verify().ok
    assert trail.verify(head=kept).first_bad == 2


@pytest.mark.django_db
def test_a_head_that_is_none_is_refused_with_the_form_it_should_have():
    with pytest.raises(AuditError, match="SEQUENCE:HASH"):
        trail.verify(head="17")


# What somebody who owns the database could do to one event, and each column that they could write.
EDITS = {
    "remove": "",
    "swap": "",
    "insert": "",
    "at": "2001-01-01 00:00:00.000000",
    "actor": "mallory",
    "verb": "mallory",
    "target": "mallory",
    "facts": '{"times": 99}',
    "facts with a blank": "",
    "facts that are no JSON": "not json",
    "previous_hash": "e" * 64,
    "hash": "e" * 64,
}


@pytest.mark.django_db
@pytest.mark.parametrize("victim", range(1, 9) if FULL else [None])
@pytest.mark.parametrize("edit", EDITS)
def test_any_single_edit_behind_the_triggers_is_found(edit, victim):
    """At full scale each of eight events is edited in each way, else one that the way itself draws."""
    dice = random.Random(edit)
    events(8)
    kept = trail.head()
    victim = victim or dice.randrange(1, 9)
    if edit == "remove":
        _edit("DELETE FROM audit_event WHERE sequence = %s", victim)
    elif edit == "swap":
        other = dice.choice([n for n in range(1, 9) if n != victim])
        _edit("UPDATE audit_event SET sequence = 1000 WHERE sequence = %s", victim)
        _edit("UPDATE audit_event SET sequence = %s WHERE sequence = %s", victim, other)
        _edit("UPDATE audit_event SET sequence = %s WHERE sequence = 1000", other)
    elif edit == "insert":
        _edit(
            "INSERT INTO audit_event (sequence, at, actor, verb, target, facts, previous_hash, hash)"
            " SELECT 9, at, actor, verb, target, facts, hash, %s FROM audit_event WHERE sequence = 8",
            "f" * 64,
        )
    else:
        value = EDITS[edit] or '{"times":' + str(victim - 1) + " }"
        _edit(f"UPDATE audit_event SET {edit.partition(' ')[0]} = %s WHERE sequence = %s", value, victim)

    verdict = trail.verify(head=kept)

    assert not verdict.ok, victim
    assert verdict.first_bad is not None


def _edit(statement, *values):
    """Change the table as somebody who owns the database could."""
    triggers.remove(connection)
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
    triggers.install(connection)
