"""What does each counted record say?

The core reads the texts, in Python workers on the executors, which remember what they have read: most texts
come again in another file or on another day. Of the decisions, which are nearly all records, the texts go no further;
a worker keeps the latest one of each request as its sample.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclweb.acl.authorizer import HARDCODE
from aclweb.acl.model import AccessRequest, AclError, PatternType
from aclweb.acl.notation import (
    NO_ACL_NOTE,
    NO_LAYOUT,
    SOME_TIME,
    SUPER_USER_NOTE,
    UNREADABLE,
    AccessEvent,
    NotDecision,
    binding_key,
    parse_record,
)
from aclweb.pipeline import schemas

UNKNOWN_WORD = "decision with a word that this program does not know"
IMPOSSIBLE_TIME = "record with a time that no clock shows"
SAMPLE_LENGTH = 1000
"""So many characters of a record are shown, with its time."""

TEXT_LENGTH = SAMPLE_LENGTH - len("[2026-11-20 10:00:00,000] ")
"""So many characters of the text behind the time are kept of a sample."""

_SUPER_USER = re.compile(
    r"principal = (.*) is a super user, allowing operation without checking acls\.", re.S
)
_NO_ACL = re.compile(r"No acl found for resource .*, authorized = (true|false)", re.S)
_MESSAGE = re.compile(r"[A-Z]+ +(.*) \([^()\s]+\)", re.S)
_NOT_UNDERSTOOD = frozenset({NO_LAYOUT, UNREADABLE})

# A worker remembers, or holds as samples, so many texts, or so many characters of them.
_MOST_TEXTS = 100_000
_MOST_CHARACTERS = 32 << 20
_NEVER = -(1 << 63)

Said = tuple[Any, ...]
"""What a text says: the values of schemas.SAID."""

_COUNTED = ("file", "day", "lines", "first_at", "last_at", "hours", "not_utf8")


def said(counts: DataFrame) -> DataFrame:
    """Return what counted records say (schemas.LINES); counts: schemas.COUNTS.

    A record whose time no clock shows is UNPARSED. Rows of the kind SAMPLE are no records: each is the latest text of a
    request among those that one worker saw.
    """
    schema = StructType.fromDDL(schemas.LINES)
    columns = counts.select(*_COUNTED, "raw", "timed")
    return columns.mapInArrow(partial(_said_batches, to_arrow_schema(schema)), schema)


def _said_batches(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    latest = _Latest(schema)
    for batch in batches:
        texts = batch.column("raw").to_pylist()
        days = batch.column("day").to_pylist()
        timed = batch.column("timed").to_pylist()
        found = [_KNOWN.said(*text) for text in zip(texts, timed, strict=True)]
        for place, day in enumerate(days):
            if day is None and timed[place]:
                found[place] = (schemas.UNPARSED, IMPOSSIBLE_TIME, *found[place][2:])
        bad = batch.column("not_utf8").to_pylist()
        at = batch.column("last_at").cast(pa.int64()).to_pylist()
        noted: list[str | None] = []
        for text, told, is_bad, day, micros in zip(texts, found, bad, days, at, strict=True):
            if told[0] == schemas.DECISION:
                latest.add(told[_REQUEST], text, day, micros)
                noted.append(text[:SAMPLE_LENGTH] if is_bad else None)
            else:
                noted.append(text[:SAMPLE_LENGTH])
        yield _batch(schema, [batch.column(name) for name in _COUNTED], found, noted)
        if latest.is_full:
            yield latest.taken()
    yield latest.taken()


def _batch(
    schema: pa.Schema, counted: list[pa.Array], found: list[Said], texts: list[str | None]
) -> pa.RecordBatch:
    columns = list(zip(*found, strict=True)) or [()] * (len(schema) - len(counted) - 1)
    kinds = list(schema.types)[len(counted) :]
    said = [pa.array(column, kind) for column, kind in zip((*columns, texts), kinds, strict=True)]
    return pa.RecordBatch.from_arrays([*counted, *said], schema=schema)


class _Latest:
    """The latest text of each request and answer, of two with one time the one that is later in the alphabet."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._found: dict[Said, tuple[int, str, str | None]] = {}
        self._characters = 0

    @property
    def is_full(self) -> bool:
        return len(self._found) > _MOST_TEXTS or self._characters > _MOST_CHARACTERS

    def add(self, request: Said, text: str, day: str | None, micros: int | None) -> None:
        """request: with its answer. micros: when it was logged last."""
        at = _NEVER if micros is None else micros
        known = self._found.get(request)
        if known is not None and (at < known[0] or (at == known[0] and text[:TEXT_LENGTH] <= known[1])):
            return
        if known is None:
            self._characters += len(text)
        self._found[request] = (at, text[:TEXT_LENGTH], day)

    def taken(self) -> pa.RecordBatch:
        """Return the samples so far, and forget them."""
        size = len(self._found)
        times = [None if at == _NEVER else at for at, _, _ in self._found.values()]
        counted = {
            "day": [day for _, _, day in self._found.values()],
            "lines": [0] * size,
            "last_at": times,
            "hours": [0] * size,
            "not_utf8": [False] * size,
        }
        arrays = [
            pa.array(counted.get(name, [None] * size), self._schema.field(name).type) for name in _COUNTED
        ]
        rest = (None,) * (len(schemas.SAID) - len(_OF_REQUEST) - 2)
        found = [(schemas.SAMPLE, None, *request, *rest) for request in self._found]
        made = _batch(self._schema, arrays, found, [text for _, text, _ in self._found.values()])
        self._found, self._characters = {}, 0
        return made


class _Known:
    """What texts say that this worker has read."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, bool], Said] = {}
        self._characters = 0

    def said(self, raw: str, timed: bool) -> Said:
        known = self._found.get((raw, timed))
        if known is None:
            if len(self._found) >= _MOST_TEXTS or self._characters > _MOST_CHARACTERS:
                self._found, self._characters = {}, 0
            known = self._found[raw, timed] = said_of(raw, timed=timed)
            self._characters += len(raw)
        return known


_KNOWN = _Known()
_OF_REQUEST = (*schemas.REQUEST, "allowed")
_REQUEST = slice(schemas.SAID.index("principal"), schemas.SAID.index("allowed") + 1)


def said_of(raw: str, *, timed: bool) -> Said:
    """Return what the text of a record behind its time says."""
    row = _row_of(raw, timed=timed)
    return tuple(map(row.get, schemas.SAID))


def _row_of(raw: str, *, timed: bool) -> dict[str, Any]:
    found = parse_record(SOME_TIME + raw if timed else raw)
    row: dict[str, Any] = {"ambiguous": False}
    if isinstance(found, NotDecision):
        kind = schemas.UNPARSED if found.reason in _NOT_UNDERSTOOD else schemas.OTHER
        return row | {"kind": kind, "reason": found.reason, "noted": _noted(raw, found.reason)}
    row |= {
        "kind": schemas.DECISION,
        "principal": found.principal,
        "host": found.host,
        "operation": found.operation.name,
        "resource_type": found.resource_type.name,
        "resource_name": found.resource_name,
        "allowed": found.allowed,
        "api_name": found.api_name,
        "broker_rule": found.rule,
        "named_key": binding_key(found.acl) if found.acl else None,
        "ambiguous": found.ambiguous,
    }
    if _is_probe(found):
        return row | {"kind": schemas.PROBE}
    try:
        AccessRequest(found.principal, found.host, found.operation, found.resource_type, found.resource_name)
    except AclError:
        return row | {"kind": schemas.UNPARSED, "reason": UNKNOWN_WORD}
    return row


def _noted(raw: str, reason: str) -> str | None:
    """Return the super user that a note names, or whether it says that nothing found means allowed."""
    pattern = {SUPER_USER_NOTE: _SUPER_USER, NO_ACL_NOTE: _NO_ACL}.get(reason)
    message = _MESSAGE.fullmatch(raw) if pattern else None
    found = pattern.fullmatch(message[1]) if pattern and message else None
    return found[1] if found else None


def _is_probe(event: AccessEvent) -> bool:
    """Whether the broker asked about a made-up resource, as InitProducerId does for "any topic"."""
    made_up = event.pattern_type is PatternType.UNKNOWN or event.resource_name == HARDCODE
    return event.ref_count == 0 and made_up
