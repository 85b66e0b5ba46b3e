"""Record what was done, read it back as sentences, and prove that nobody has edited it.

`record` adds one event inside the caller's transaction: if the work is rolled back, so
is its event, and if the event cannot be written, neither is the work. Sequence numbers
have no gaps, because one lock is held from reading the last event to the commit; so
call `record` late in a transaction. A verb is registered with its sentence by the room
that uses it, and an unknown verb is refused: nothing is recorded without its sentence.

The chain alone cannot show that its newest events were cut off. `heads` therefore keeps the
head (`17:3f2a…`) outside the database after each event: `verify(head=…)` compares with it.
"""

from __future__ import annotations

import hashlib
import string
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from aclweb.audit import heads, triggers
from aclweb.audit.models import AuditError, Event, facts_text

GENESIS = "0" * 64
_LOCK = 0x61636C77  # any number that nothing else in this database locks ("aclw")
_CHUNK = 2000

_SENTENCES: dict[str, str] = {}


class Named(Protocol):
    """Somebody with a user name: a signed-in person or a program's account."""

    def get_username(self) -> str: ...


def register(verb: str, sentence: str) -> None:
    """Make `verb` known, with the sentence that tells it.

    The sentence may name {actor}, {target} and any fact of the event. Registering the
    same pair again does nothing; another sentence for a known verb is an AuditError.
    """
    if _SENTENCES.setdefault(verb, sentence) != sentence:
        raise AuditError(f"Verb {verb!r} already has the sentence {_SENTENCES[verb]!r}; use another verb.")


register("audit.protected", "{actor} put back what refuses changes of events: {triggers}.")


def record(*, actor: Named | str, verb: str, target: str, **facts: Any) -> Event:
    """Add one event to the chain and return it. `facts` is whatever JSON can hold.

    Raises AuditError for an unknown verb, an actor or target that is empty or too long,
    and facts that JSON cannot hold.
    """
    if verb not in _SENTENCES:
        raise AuditError(
            f"Verb {verb!r} is not registered; give it a sentence with audit.trail.register first."
        )
    facts_text(facts)
    who = _fitting("actor", actor if isinstance(actor, str) else actor.get_username())
    what = _fitting("target", target)

    with transaction.atomic():
        _lock()
        last = Event.objects.order_by("-sequence").values_list("sequence", "hash").first()
        sequence, previous = (last[0] + 1, last[1]) if last else (1, GENESIS)
        at = timezone.now()
        event = Event.objects.create(
            sequence=sequence,
            at=at,
            actor=who,
            verb=verb,
            target=what,
            facts=facts,
            previous_hash=previous,
            hash=_hash(previous, sequence, at, who, verb, what, facts_text(facts)),
        )
        transaction.on_commit(partial(heads.keep, f"{event.sequence}:{event.hash}"), robust=True)
        return event


def trail(target: str) -> QuerySet[Event]:
    """Return what happened to `target`, oldest first."""
    return Event.objects.filter(target=target)


def sentence(event: Event) -> str:
    """Return the event as a sentence; an event whose verb is no longer known is still shown, plainly."""
    template = _SENTENCES.get(event.verb)
    if template is None:
        return f"{event.actor} did {event.verb} to {event.target}."
    return _Sentence().vformat(
        template, (), {**event.facts, "actor": event.actor, "target": event.target, "verb": event.verb}
    )


@dataclass(frozen=True)
class ChainCheck:
    """Whether the chain is whole: how many events were checked and the sequence of the first bad one."""

    ok: bool
    checked: int
    first_bad: int | None
    sentence: str
    head: str


def head() -> str:
    """Return `sequence:hash` of the newest event, to be kept where this database's owner cannot reach."""
    last = Event.objects.order_by("-sequence").values_list("sequence", "hash").first()
    return f"{last[0]}:{last[1]}" if last else f"0:{GENESIS}"


def verify(*, head: str | None = None, using: str = DEFAULT_DB_ALIAS) -> ChainCheck:
    """Walk the chain and return where it first breaks, if it does.

    With `head` (as `verify` or `head()` gave it earlier) the walk also shows whether
    events up to it were cut off or rewritten since. Raises AuditError if `head` is not
    of the form `sequence:hash`. Without the triggers that refuse edits, a whole chain is reported and is
    not ok: whoever removed them could have rewritten all of it.
    """
    wanted = _parsed(head) if head is not None else None
    expected, previous, checked = 1, GENESIS, 0
    rows = Event.objects.using(using).order_by("sequence").annotate(written=Cast("facts", TextField()))
    for sequence, at, actor, verb, target, facts, before, digest in rows.values_list(
        "sequence", "at", "actor", "verb", "target", "written", "previous_hash", "hash"
    ).iterator(chunk_size=_CHUNK):
        fault = None
        if sequence != expected:
            fault = f"Event {expected} is missing: the one after it has number {sequence}."
        elif before != previous:
            fault = f"Event {sequence} does not follow the event before it: its link to that one is broken."
        elif digest != _hash(previous, sequence, at, actor, verb, target, facts):
            fault = f"Event {sequence} is not what was recorded: its content does not fit its hash."
        elif wanted is not None and wanted[0] == sequence and wanted[1] != digest:
            fault = f"Event {sequence} is not the one whose hash was kept: the chain was rewritten."
        if fault is not None:
            return ChainCheck(False, checked, expected, fault, f"{expected - 1}:{previous}")
        expected, previous, checked = sequence + 1, digest, checked + 1

    end = f"{checked}:{previous}"
    if wanted is not None and wanted[0] > checked:
        fault = (
            f"The kept head is event {wanted[0]}, but the chain ends at event {checked}: its end was cut off."
        )
        return ChainCheck(False, checked, checked + 1, fault, end)
    counted = "1 event" if checked == 1 else f"{checked} events"
    if missing := triggers.missing(connections[using]):
        fault = (
            f"The chain is whole ({counted}), but the database no longer refuses to change events: it lacks "
            f"{', '.join(missing)}. Find out who removed that; python manage.py audit protect puts it back."
        )
        return ChainCheck(False, checked, None, fault, end)
    return ChainCheck(True, checked, None, f"The chain is whole: {counted} checked. Its head is {end}.", end)


class _Sentence(string.Formatter):
    """Fill in a sentence; a fact that an old event lacks reads as a dash."""

    def get_value(self, key: int | str, _: Any, kwargs: Any) -> Any:
        return kwargs.get(key, "–") if isinstance(key, str) else "–"


def _lock() -> None:
    # SQLite has one writer at a time: its transactions begin as writers (IMMEDIATE, in settings.py).
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


def _hash(previous: str, sequence: int, at: datetime, actor: str, verb: str, target: str, facts: str) -> str:
    event = facts_text([sequence, at.astimezone(UTC).isoformat(timespec="microseconds"), actor, verb, target])
    return hashlib.sha256(f"{previous}\n{event}\n{facts}".encode("ascii")).hexdigest()


def _fitting(part: str, text: str) -> str:
    """Return the text as a column of 254 characters can hold it, with what no database stores as escapes."""
    text = text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")
    if not text or len(text) > 254:
        raise AuditError(
            f"The {part} of an event has 1 to 254 characters, and {text[:40]!r} has {len(text)}; "
            "put long texts into the facts."
        )
    return text


def _parsed(head: str) -> tuple[int, str]:
    number, colon, digest = head.strip().partition(":")
    if not (colon and number.isascii() and number.isdigit() and len(digest) == 64):
        raise AuditError(
            f"Head {head!r} is not a kept head; it reads SEQUENCE:HASH, as `audit verify` prints it."
        )
    return int(number), digest
