"""Records whose names imitate the words around them, read as a job reads them and by the core, against what was logged.

python -m tests.pipeline.hostile_lines [COUNT [SEED]]     a million records unless COUNT says otherwise; ends with
                                                          status 1 where one was read as something that nobody logged

A reading that is not sure says so (`ambiguous`), and a record that cannot be read is counted as such; neither is wrong.
Left out are texts that two different decisions give, letter by letter, so that nobody can tell them apart: a name with
a line break that holds a whole record, or ends one and begins another; and a name in a log of Kafka 0.9 to 2.3 that
ends as a record of later versions does.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from aclweb.acl.model.authorizers import OPERATIONS
from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType
from aclweb.acl.notation.authorizer_log import AccessEvent, parse_record, records
from aclweb.acl.notation.files import binding_key
from aclweb.pipeline import schemas
from aclweb.pipeline.readings import Reading
from aclweb.pipeline.worker_lines import Worker
from tests.hostile import _IMITATIONS
from tests.log_records import APIS, FAMILIES, HOSTS, printed

TIME = "2026-11-21 13:28:48,372"
AT_ONCE = 50_000
# So many lines come in one batch, and so many batches in one split, which end anywhere.
_LINES_IN_BATCH = 7_000

_STARTS = ("\n[2026-11-20 10:00:00,000] INFO ", "\r\n[2026-11-20 10:00:00,000] DEBUG ", "\n[")
_PIECES = (
    *_IMITATIONS,
    *_STARTS,
    " is Allowed Operation = Read from host = ::1 on resource = Topic:",
    "Principal = User:x",
)
_WORDS = ("orders", "pay.eu", "User:alice", "t", "CN=a,OU=b", "9", "audit-log")
_ENDING = re.compile(r" for request = \w+ with resourceRefCount = [0-9]+$")
# A name with a whole end before a new start, whatever is between them, or a whole beginning behind one.
_FORGED = re.compile(
    r"\(kafka\.authorizer\.logger\)\s*\n(?:.*\n)?\[|\n\[[0-9 :,-]+\] [A-Z]+ +Principal = ", re.DOTALL
)

Truth = tuple[object, ...]

_KINDS = {"string": pa.string(), "long": pa.int64(), "int": pa.int32(), "boolean": pa.bool_()}
_DAYS = re.search(r"days array<struct<(.*)>>", schemas.LINES)
assert _DAYS is not None


def _fields(ddl: str, parting: str) -> list[pa.Field]:
    return [
        pa.field(name, _KINDS[kind]) for name, kind in re.findall(rf"(\w+){parting}(\w+)(?=,|$)", ddl.strip())
    ]


SCHEMA = pa.schema(
    [
        *_fields(schemas.LINES[: _DAYS.start()].strip().removesuffix(","), " "),
        pa.field("days", pa.list_(pa.struct(_fields(_DAYS[1], ": ")))),
    ]
)
"""schemas.LINES for Arrow, without Spark to read it."""


class Logging:
    """A broker that logs what it is asked for."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._types = list(OPERATIONS)

    def record(self) -> tuple[str, AccessEvent]:
        """Return a record and what it is about."""
        while True:
            event = self._event()
            text = printed(event, brackets=self._rng.choice(("[]", "()")))
            has_other_end = event.api_name is None and _ENDING.search(event.resource_name)
            if not has_other_end and not _FORGED.search(text):
                return text, event

    def _event(self) -> AccessEvent:
        rng = self._rng
        family = rng.choice(FAMILIES)
        kind = rng.choice(self._types)
        is_standard, has_request = family == "standard", family in ("standard", "acl")
        principal = rng.choice(("", "User:")) + self._text()
        name, operation, allowed = self._name(), rng.choice(OPERATIONS[kind]), rng.random() < 0.5
        rule = (
            rng.choice(("SuperUser", "DefaultAllow", "DefaultDeny", "MatchingAcl")) if is_standard else None
        )
        host = rng.choice(HOSTS)
        acl = None
        if rule == "MatchingAcl":
            acl = AclBinding(
                kind,
                rng.choice((name, "*", name[: rng.randint(0, len(name))])),
                rng.choice((PatternType.LITERAL, PatternType.PREFIXED)),
                rng.choice((principal, "User:*")),
                rng.choice((host, "*", "10.0.0.0/8")),
                rng.choice((operation, Operation.ALL)),
                PermissionType.ALLOW if allowed else PermissionType.DENY,
            )
        return AccessEvent(
            time=TIME,
            level=rng.choice(("TRACE", "DEBUG", "INFO")),
            principal=principal,
            allowed=allowed,
            operation=operation,
            host=host,
            resource_type=kind,
            resource_name=name,
            pattern_type=None if family == "simple-0.9" else PatternType.LITERAL,
            api_name=rng.choice(APIS) if has_request else None,
            ref_count=rng.randint(1, 10_000) if has_request else None,
            rule=rule,
            acl=acl,
            family=family,
            ambiguous=False,
        )

    def _name(self) -> str:
        while True:
            name = self._text()
            # What this begins with tells a name from the words before it in the oldest logs.
            if not name or name[0] >= "*":
                return name

    def _text(self) -> str:
        rng = self._rng
        return "".join(
            rng.choice(_PIECES) if rng.random() < 0.5 else rng.choice(_WORDS)
            for _ in range(rng.randint(0, 5))
        )


@dataclass
class Found:
    """How many records were read how; wrong: the first of those that were read as what nobody logged."""

    records: int = 0
    right: int = 0
    ambiguous: int = 0
    ambiguous_and_other: int = 0
    unparsed: int = 0
    wrong: list[str] = field(default_factory=list)

    def line(self) -> str:
        return (
            f"{self.records:,} records: {self.right:,} read as logged, {self.ambiguous:,} ambiguous "
            f"({self.ambiguous_and_other:,} of them are about something else), {self.unparsed:,} parts unparsed, "
            f"{len(self.wrong):,} wrong."
        )


def truth_of(event: AccessEvent) -> Truth:
    return (
        event.principal,
        event.host,
        event.operation.name,
        event.resource_type.name,
        event.resource_name,
        event.allowed,
        event.api_name,
        event.rule,
        binding_key(event.acl) if event.acl else None,
    )


_TOLD = (*schemas.REQUEST, "allowed", "api_name", "broker_rule", "named_key")


def read_by_worker(lines: list[str]) -> Iterator[tuple[str, str, Truth, bool, int]]:
    """Yield the text, the kind, what it says, whether that is ambiguous, and the number of each text."""
    worker = Worker(Reading(), None, SCHEMA)
    batches = (
        pa.RecordBatch.from_arrays(
            [
                pa.array(["a.log"] * len(some)),
                pa.array([0] * len(some), pa.int64()),
                pa.array([True] * len(some)),
                pa.array(some),
            ],
            names=["file", "block", "is_last", "value"],
        )
        for start in range(0, len(lines), _LINES_IN_BATCH)
        for some in [lines[start : start + _LINES_IN_BATCH]]
    )
    for batch in worker.of_splits(batches):
        for row in batch.to_pylist():
            if row["file"] is None:
                said = tuple(row[name] for name in _TOLD)
                yield row["raw"], row["kind"], said, bool(row["ambiguous"]), row["lines"]


def read_by_core(lines: Iterable[str]) -> Iterator[tuple[str, str, Truth, bool, int]]:
    """Yield the same as the core has it."""
    for record in records(lines):
        found = parse_record(record)
        text = record[len(TIME) + 3 :]
        if isinstance(found, AccessEvent):
            yield text, schemas.DECISION, truth_of(found), found.ambiguous, 1
        else:
            yield text, schemas.UNPARSED, (), False, 1


def judge(
    found: Found, read: Iterable[tuple[str, str, Truth, bool, int]], truths: dict[str, set[Truth]]
) -> None:
    """Add what was read to `found`. truths: what was logged with each text behind the time."""
    for text, kind, said, is_ambiguous, times in read:
        if kind not in (schemas.DECISION, schemas.PROBE):
            found.unparsed += times
            continue
        logged = truths.get(text, set())
        if is_ambiguous:
            found.ambiguous += times
            found.ambiguous_and_other += times * (logged != {said})
        elif logged == {said}:
            found.right += times
        else:
            found.wrong.append(f"{text!r} was read as {said!r}, and logged as {sorted(map(repr, logged))}")


def try_out(count: int, seed: int) -> tuple[Found, Found]:
    """Return what the worker of a job and the core find in so many records."""
    logging = Logging(seed)
    by_worker, by_core = Found(), Found()
    for start in range(0, count, AT_ONCE):
        made = [logging.record() for _ in range(min(AT_ONCE, count - start))]
        truths: dict[str, set[Truth]] = {}
        for text, event in made:
            truths.setdefault(text[len(TIME) + 3 :], set()).add(truth_of(event))
        lines = "\n".join(text for text, _ in made).split("\n")
        for found, read in ((by_worker, read_by_worker(lines)), (by_core, read_by_core(lines))):
            found.records += len(made)
            judge(found, read, truths)
    return by_worker, by_core


def main(words: list[str]) -> int:
    count = int(words[0]) if words else 1_000_000
    seed = int(words[1]) if len(words) > 1 else 14
    by_worker, by_core = try_out(count, seed)
    print(f"A job's worker: {by_worker.line()}")
    print(f"The core:       {by_core.line()}")
    for number, wrong in enumerate((*by_worker.wrong, *by_core.wrong)):
        if number < 10:
            print(wrong)
    return 1 if by_worker.wrong or by_core.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
