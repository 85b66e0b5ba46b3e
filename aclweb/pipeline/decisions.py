"""What does each distinct record say, and what do the ACLs of the snapshot answer to it?

Both questions are answered by the core, in Python workers on the executors, once for each
distinct text and once for each distinct request. The ACLs travel as plain texts, which is
small, and each worker makes its own index of them the first time it is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.broadcast import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclweb.acl.authorizer import HARDCODE, AclIndex, Basis, authorize
from aclweb.acl.logged import one_of
from aclweb.acl.model import (
    AccessRequest,
    AclBinding,
    AclError,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
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
from aclweb.pipeline.snapshot import Snapshot

UNKNOWN_WORD = "decision with a word that this program does not know"

_SUPER_USER = re.compile(
    r"principal = (.*) is a super user, allowing operation without checking acls\.", re.S
)
_NO_ACL = re.compile(r"No acl found for resource .*, authorized = (true|false)", re.S)
_MESSAGE = re.compile(r"[A-Z]+ +(.*) \([^()\s]+\)", re.S)
_NOT_UNDERSTOOD = frozenset({NO_LAYOUT, UNREADABLE})

Row = dict[str, Any]


@dataclass(frozen=True)
class Shipped:
    """A snapshot as it travels to the executors: texts only."""

    digest: str
    settings: AuthorizerSettings
    bindings: tuple[tuple[str, tuple[str, ...]], ...]  # key, and the values of AclBinding.as_dict()


def shipped(snapshot: Snapshot) -> Shipped:
    rows = tuple((key, tuple(acl.as_dict().values())) for key, acl in snapshot.bindings.items())
    return Shipped(snapshot.digest, snapshot.settings, rows)


# --- What a record says -----------------------------------------------------------------


def parse(texts: DataFrame) -> DataFrame:
    """Return what each distinct record says (schemas.PARSED).

    texts: raw string, timed boolean (whether a time came before it).
    """
    schema = StructType.fromDDL(schemas.PARSED)
    return texts.select("raw", "timed").mapInArrow(partial(_parsed_batches, to_arrow_schema(schema)), schema)


def _parsed_batches(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = [
            parsed_row(raw, timed) for raw, timed in zip(*(c.to_pylist() for c in batch.columns), strict=True)
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def parsed_row(raw: str, timed: bool) -> Row:
    """Return the row of schemas.PARSED for the text of a record behind its time."""
    found = parse_record(SOME_TIME + raw if timed else raw)
    row: Row = {"raw": raw, "timed": timed, "ambiguous": False}
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
        "rule": found.rule,
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


# --- What the ACLs answer ---------------------------------------------------------------


def decide_requests(requests: DataFrame, snapshot: Broadcast[Shipped]) -> DataFrame:
    """Return what the snapshot's ACLs say to each request (schemas.DECIDED).

    requests: one row for each distinct request, with the columns of schemas.REQUEST.
    """
    schema = StructType.fromDDL(schemas.DECIDED)
    function = partial(_decided_batches, to_arrow_schema(schema), snapshot)
    return requests.select(*schemas.REQUEST).mapInArrow(function, schema)


def _decided_batches(
    schema: pa.Schema, snapshot: Broadcast[Shipped], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    matcher = matcher_of(snapshot.value)
    for batch in batches:
        yield pa.RecordBatch.from_pylist(
            [matcher.decided_row(row) for row in batch.to_pylist()], schema=schema
        )


class Matcher:
    """The core on one snapshot: an index, the settings, and the key of each binding."""

    def __init__(self, snapshot: Shipped) -> None:
        bindings = bindings_of(snapshot)
        self._keys: Mapping[AclBinding, str] = bindings
        self._index = AclIndex(bindings)
        self._settings = snapshot.settings

    def decided_row(self, request: Row) -> Row:
        """Return the row of schemas.DECIDED for one of schemas.REQUEST."""
        decision = authorize(
            AccessRequest(
                request["principal"],
                request["host"],
                Operation[request["operation"]],
                ResourceType[request["resource_type"]],
                request["resource_name"],
            ),
            self._index,
            self._settings,
        )
        settled = decision.determining if decision.basis in (Basis.ALLOW_ACL, Basis.DENY_ACL) else ()
        return request | {
            "decided_now": decision.result.name,
            "basis_now": decision.basis.name,
            "determining": sorted(self._keys[binding] for binding in settled),
            "one_of": sorted(self._keys[binding] for binding in one_of(decision)),
        }


_matchers: dict[str, tuple[AuthorizerSettings, Matcher]] = {}


def matcher_of(snapshot: Shipped) -> Matcher:
    """Return this worker's matcher for the snapshot, made the first time it is asked for."""
    known = _matchers.get(snapshot.digest)
    if known is None or known[0] != snapshot.settings:
        _matchers.clear()
        known = _matchers[snapshot.digest] = (snapshot.settings, Matcher(snapshot))
    return known[1]


def bindings_of(snapshot: Shipped) -> dict[AclBinding, str]:
    """Return the ACLs that travelled, each with its key."""
    return {_binding(values): key for key, values in snapshot.bindings}


def _binding(values: tuple[str, ...]) -> AclBinding:
    resource_type, name, pattern_type, principal, host, operation, permission = values
    return AclBinding(
        ResourceType[resource_type],
        name,
        PatternType[pattern_type],
        principal,
        host,
        Operation[operation],
        PermissionType[permission],
    )
