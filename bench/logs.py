"""Made-up authorizer logs for measurements: as many lines as asked for, in the proportions of a busy cluster.

800 principals, 4,000 topics, some 5,800 ACLs, and 60,000 different texts behind the times, of which a few are
written most of the time (zipf, exponent 0.9). A file a day; brokers of 4.0 and 4.4 take turns. Each answer
and the rule with it are those of the core on the ACLs that are written beside the logs.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aclweb.acl.authorizer import AclIndex, Basis, Result, authorize, reported_acl
from aclweb.acl.model import (
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
from aclweb.pipeline.batch import Requests, decide_all
from bench import worlds

DAYS = 24
TEXTS = 60_000
PRINCIPALS, TOPICS, ACLS = 800, 4_000, 5_830
ZIPF = 0.9
LAST_DAY = date(2026, 11, 20)
SETTINGS = AuthorizerSettings.read(
    config={"super.users": "User:svc-0000", "allow.everyone.if.no.acl.found": False}
)

_APIS = {Operation.READ: "Fetch", Operation.WRITE: "Produce", Operation.DESCRIBE: "Metadata"}
_LINES_AT_ONCE = 200_000


@dataclass(frozen=True)
class Logs:
    """The snapshot and the files of a made-up cluster, the oldest day first, and their lines."""

    snapshot: Path
    files: tuple[Path, ...]
    lines: int

    @property
    def bytes(self) -> int:
        return sum(file.stat().st_size for file in self.files)


def make_logs(folder: Path, lines: int, *, days: int = DAYS, texts: int = TEXTS) -> Logs:
    """Write the logs of so many days, `lines` in all, into a new folder; the same arguments give the same bytes."""
    folder.mkdir(parents=True)
    acls = _acls()
    snapshot = folder / "snapshot.jsonl"
    header = {"cluster": "bench", "revision": 1, "authorizer": "standard", "kafka_version": "4.4"}
    header |= {"config": {"super.users": "User:svc-0000", "allow.everyone.if.no.acl.found": False}}
    rows = [header, *(acl.as_dict() for acl in acls)]
    snapshot.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    known = list(_texts(acls, texts))
    dice = np.random.default_rng(9)
    files = []
    for back in reversed(range(days)):
        file = folder / f"kafka-authorizer.log.{LAST_DAY - timedelta(days=back)}"
        here = lines // days + (back < lines % days)
        _write_day(file, LAST_DAY - timedelta(days=back), _drawn(dice, here, len(known)), known)
        files.append(file)
    return Logs(snapshot, tuple(files), lines)


def make_distinct_log(folder: Path, lines: int) -> Logs:
    """Write a log of one day in which each request is made once, by changing the address of the client."""
    folder.mkdir(parents=True)
    made = make_logs(folder / "few", 1_000, days=1, texts=1_000)
    parts: dict[tuple[str, str], tuple[str, str]] = {}
    for line in made.files[0].read_text(encoding="utf-8").splitlines(keepends=True):
        before, _, rest = line.partition("] ")[2].partition(" from host = ")
        after = rest.partition(" ")[2]
        # One text for a request, whatever the address was and whichever broker wrote it.
        parts.setdefault((before, after.partition(" based on rule ")[0]), (before, after))
    known = list(parts.values())
    file = folder / "kafka-authorizer.log"
    with file.open("w", encoding="utf-8") as opened:
        for start in range(0, lines, _LINES_AT_ONCE):
            numbers = np.arange(start, min(start + _LINES_AT_ONCE, lines))
            times = _times(LAST_DAY, numbers * (86_399_000 // lines))
            for number, time in zip(numbers.tolist(), times, strict=True):
                host, text = divmod(number, len(known))
                before, after = known[text]
                address = f"10.{host >> 16}.{host >> 8 & 255}.{host & 255}"
                opened.write(f"[{time}] {before} from host = {address} {after}")
    return Logs(made.snapshot, (file,), lines)


def _acls() -> list[AclBinding]:
    """Return the ACLs of services that each use a few topics of their own."""
    chance = random.Random(4)
    names = worlds.topic_names(TOPICS)
    found: dict[AclBinding, None] = {}
    while len(found) < ACLS:
        name, prefixed = chance.choice(names), chance.random() < 0.3
        pattern = ".".join(name.split(".")[:3]) + "." if prefixed else name
        binding = AclBinding(
            ResourceType.TOPIC,
            pattern,
            PatternType.PREFIXED if prefixed else PatternType.LITERAL,
            "User:*" if chance.random() < 0.01 else _principal(chance),
            "*" if chance.random() < 0.95 else f"10.1.0.{chance.randrange(3)}",
            chance.choice((*_APIS, Operation.READ, Operation.ALL)),
            PermissionType.DENY if chance.random() < 0.03 else PermissionType.ALLOW,
        )
        found[binding] = None
    return list(found)


def write_log(file: Path, requests: Sequence[AccessRequest], lines: int, index: AclIndex) -> None:
    """Write the log of a day in which each of these requests is made, and some again to make so many lines.

    The answers are those of the core; the rule in a record is not.
    """
    answers = decide_all(Requests.of(requests), index, SETTINGS)
    known = [
        _record(request, "SuperUser" if result is Result.ALLOWED else "DefaultDeny", result is Result.ALLOWED)
        for request, (result, _) in zip(requests, answers, strict=True)
    ]
    dice = np.random.default_rng(12)
    again = dice.integers(0, len(known), max(0, lines - len(known)))
    places = np.concatenate([np.arange(len(known), dtype=np.int64), again])
    dice.shuffle(places)
    _write_day(file, LAST_DAY, places, known)


def _texts(acls: Sequence[AclBinding], count: int) -> Iterator[str]:
    """Yield different records behind their time, with the level; nine in ten by a principal that an ACL names."""
    chance = random.Random(5)
    names = worlds.topic_names(TOPICS)
    index = AclIndex(acls)
    seen: set[tuple[AccessRequest, int]] = set()
    while len(seen) < count:
        near = chance.choice(acls)
        name, principal = near.resource_name, near.principal
        if near.pattern_type is PatternType.PREFIXED or chance.random() < 0.1:
            name = chance.choice(names)
        if principal == "User:*" or chance.random() < 0.1:
            principal = _principal(chance)
        operation = near.operation if near.operation in _APIS else chance.choice(tuple(_APIS))
        host = f"10.1.{chance.randrange(4)}.{chance.randrange(3)}"
        request = AccessRequest(principal, host, operation, ResourceType.TOPIC, name)
        version = chance.randrange(2)
        if (request, version) not in seen:
            seen.add((request, version))
            yield _text(request, index, "()" if version else "[]")


def _text(request: AccessRequest, index: AclIndex, brackets: str) -> str:
    decision = authorize(request, index, SETTINGS)
    named = reported_acl(decision)
    rule = "SuperUser" if decision.basis is Basis.SUPER_USER else "DefaultDeny"
    if named is not None:
        rule = (
            f"MatchingAcl(acl=StandardAcl{brackets[0]}resourceType={named.resource_type.name}, "
            f"resourceName={named.resource_name}, patternType={named.pattern_type.name}, "
            f"principal={named.principal}, host={named.host}, operation={named.operation.name}, "
            f"permissionType={named.permission_type.name}{brackets[1]})"
        )
    return _record(request, rule, decision.allowed)


def _record(request: AccessRequest, rule: str, allowed: bool) -> str:
    return (
        f"{'DEBUG' if allowed else 'INFO'} Principal = {request.principal} is "
        f"{'Allowed' if allowed else 'Denied'} operation = {request.operation.name} from host = "
        f"{request.host} on resource = Topic:LITERAL:{request.resource_name} for request = "
        f"{_APIS[request.operation]} with resourceRefCount = 1 based on rule {rule} (kafka.authorizer.logger)\n"
    )


def _principal(chance: random.Random) -> str:
    return f"User:svc-{chance.randrange(PRINCIPALS):04d}"


def _drawn(dice: np.random.Generator, count: int, known: int) -> NDArray[np.int64]:
    """Return places in the list of texts, by their shares of all lines."""
    shares = np.cumsum(1.0 / np.arange(1, known + 1) ** ZIPF)
    return np.searchsorted(shares, dice.random(count) * shares[-1])


def _write_day(file: Path, day: date, places: NDArray[np.int64], known: Sequence[str]) -> None:
    with file.open("w", encoding="utf-8") as opened:
        for start in range(0, len(places), _LINES_AT_ONCE):
            here = places[start : start + _LINES_AT_ONCE]
            at = np.arange(start, start + len(here)) * (86_399_000 // len(places))
            opened.writelines(
                f"[{time}] {known[place]}" for time, place in zip(_times(day, at), here.tolist(), strict=True)
            )


def _times(day: date, milliseconds: NDArray[np.int64]) -> list[str]:
    """Return times of a day as Kafka's own layout has them."""
    at = np.datetime64(day, "ms") + milliseconds.astype("timedelta64[ms]")
    return [
        text.replace("T", " ").replace(".", ",") for text in np.datetime_as_string(at, unit="ms").tolist()
    ]
