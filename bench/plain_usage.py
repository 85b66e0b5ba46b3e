"""The usage job on logs without Spark: one process, one thread, made to be fast.

    python -m bench.plain_usage SNAPSHOT FOLDER FILE...

Equal texts are counted as they are read, and each is parsed once; each distinct request is decided once.
Writes requests.parquet and usage.parquet with the columns that the job's own tables are compared by. What the job
tells beside these (samples, coverage by hour, notes) is not made here, which favours this side.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aclweb.acl.authorizer import AclIndex, Basis, Result, authorize
from aclweb.acl.model import AccessRequest
from aclweb.acl.notation import AccessEvent, binding_key, parse_record, records
from aclweb.pipeline.snapshot import Snapshot, read_snapshot

REQUESTS = pa.schema(
    [(name, pa.string()) for name in ("principal", "host", "operation", "resource_type", "resource_name")]
    + [("allowed", pa.bool_()), ("lines", pa.int64())]
    + [("first_at", pa.timestamp("us")), ("last_at", pa.timestamp("us"))]
    + [("api_names", pa.list_(pa.string()))]
    + [("days", pa.list_(pa.struct([("day", pa.string()), ("lines", pa.int64())])))]
    + [("decided_now", pa.string()), ("basis_now", pa.string()), ("determining", pa.list_(pa.string()))]
)
USAGE = pa.schema(
    [("binding_key", pa.string())] + [(name, pa.int64()) for name in ("requests", "alone", "named")]
)
# Before the text of a record: "[2026-11-20 10:00:00,000] ".
_TIME = 26

_Counted = dict[str, dict[str, list[Any]]]
"""day -> text behind the time -> lines, first and last time, both as written."""


@dataclass
class _Seen:
    """One request and answer of the log."""

    lines: int = 0
    first: str = "9"
    last: str = ""
    api_names: set[str] = field(default_factory=set)
    days: dict[str, int] = field(default_factory=dict)


def count(files: Iterable[Path]) -> _Counted:
    """Return how often each text is in the files, by day."""
    found: _Counted = defaultdict(dict)
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for line in _whole(lines):
                time = line[1:24]
                texts, text = found[time[:10]], line[_TIME:]
                known = texts.get(text)
                if known is None:
                    texts[text] = [1, time, time]
                else:
                    known[0] += 1
                    if time > known[2]:
                        known[2] = time
                    elif time < known[1]:
                        known[1] = time
    return found


def _whole(lines: Iterator[str]) -> Iterator[str]:
    """Yield the records of a log, each with its line end."""
    for line in lines:
        if line[:1] != "[" or line[24:26] != "] " or not line.endswith(")\n"):
            # From here on as the core has it, which takes longer.
            yield from (f"{record}\n" for record in records((line, *lines)))
            return
        yield line


def requests_of(counted: _Counted) -> tuple[dict[tuple[Any, ...], _Seen], dict[str, int]]:
    """Return what was asked and answered, and how often brokers named each ACL."""
    seen: dict[tuple[Any, ...], _Seen] = {}
    named: dict[str, int] = defaultdict(int)
    parsed: dict[str, tuple[tuple[Any, ...], str | None, str | None] | None] = {}
    for day, texts in counted.items():
        for text, (lines, first, last) in texts.items():
            if text not in parsed:
                parsed[text] = _parsed(text, first)
            event = parsed[text]
            if event is None:
                continue
            key, api_name, acl = event
            one = seen.get(key)
            if one is None:
                one = seen[key] = _Seen()
            one.lines += lines
            one.first, one.last = min(one.first, first), max(one.last, last)
            one.days[day] = one.days.get(day, 0) + lines
            if api_name is not None:
                one.api_names.add(api_name)
            if acl is not None:
                named[acl] += lines
    return seen, named


def _parsed(text: str, time: str) -> tuple[tuple[Any, ...], str | None, str | None] | None:
    event = parse_record(f"[{time}] {text[:-1]}")
    if not isinstance(event, AccessEvent):
        return None
    asked = (event.principal, event.host, event.operation, event.resource_type, event.resource_name)
    return (*asked, event.allowed), event.api_name, binding_key(event.acl) if event.acl else None


def write(
    snapshot: Snapshot, seen: dict[tuple[Any, ...], _Seen], named: dict[str, int], folder: Path
) -> None:
    """Decide each distinct request and write both tables."""
    index = AclIndex(snapshot.bindings.values())
    keys = {binding: key for key, binding in snapshot.bindings.items()}
    answers: dict[tuple[Any, ...], tuple[Result, Basis, list[str]]] = {}
    uses: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    rows = []
    for (*asked, allowed), one in seen.items():
        request = tuple(asked)
        if request not in answers:
            decision = authorize(AccessRequest(*request), index, snapshot.settings)
            is_settled = decision.basis in (Basis.ALLOW_ACL, Basis.DENY_ACL)
            settled = sorted(keys[acl] for acl in decision.determining) if is_settled else []
            answers[request] = decision.result, decision.basis, settled
        result, basis, settled = answers[request]
        if (result is Result.ALLOWED) == allowed:
            for key in settled:
                uses[key][0] += one.lines
                uses[key][1] += one.lines * (len(settled) == 1)
        principal, host, operation, resource_type, name = request
        days = [{"day": day, "lines": lines} for day, lines in sorted(one.days.items())]
        told = (_moment(one.first), _moment(one.last), sorted(one.api_names), days)
        answer = (result.name, basis.name, settled)
        rows.append(
            (principal, host, operation.name, resource_type.name, name, allowed, one.lines, *told, *answer)
        )
    for key, lines in named.items():
        uses[key][2] = lines
    rows.sort(key=lambda row: row[:6])
    _write(folder / "requests.parquet", REQUESTS, rows)
    _write(folder / "usage.parquet", USAGE, [(key, *use) for key, use in sorted(uses.items())])


def _write(path: Path, schema: pa.Schema, rows: list[tuple[Any, ...]]) -> None:
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [pa.array(column, kind.type) for column, kind in zip(columns, schema, strict=True)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), path, compression="zstd")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace(",", "."))


def main(snapshot: str, folder: str, *files: str) -> None:
    seen, named = requests_of(count(map(Path, files)))
    Path(folder).mkdir(parents=True, exist_ok=True)
    write(read_snapshot(Path(snapshot)), seen, named, Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
