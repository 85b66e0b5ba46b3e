"""What did the brokers of prod-eu write into their authorizer logs in the last two weeks?

The text is what AclAuthorizer of Kafka 3.9 writes at level DEBUG: a line for each decision
and, before most of them, one that says why. Every decision is made by the core on the ACLs
that were in force on that day, which differ from today's in two places; so the log holds a
few answers that would be given otherwise now, and a few lines that a full disk cut off.

    python -m devstack.demo.traffic DIRECTORY [--until 2026-11-21]
"""

from __future__ import annotations

import argparse
import gzip
import random
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from aclweb.acl.authorizer import AclIndex, Basis, Decision, authorize
from aclweb.acl.model import AccessRequest, AclBinding, AuthorizerSettings, Operation
from devstack.demo import company
from devstack.demo.clients import Call, Client, clients
from devstack.demo.table import read_table

DAYS = 14
FILES = ("broker-1.log.gz", "broker-2.log")

# Share of a weekday's requests in each hour, and how much of a weekday a Saturday or Sunday is.
_RHYTHMS: dict[str, tuple[tuple[int, ...], float]] = {
    "shop": ((1, 1, 1, 1, 1, 2, 4, 6, 7, 7, 7, 8, 8, 7, 7, 7, 8, 9, 11, 13, 14, 11, 6, 3), 0.8),
    "office": ((0, 0, 0, 0, 0, 0, 2, 8, 12, 13, 13, 9, 10, 13, 12, 11, 7, 3, 1, 1, 0, 0, 0, 0), 0.1),
    "steady": ((4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 4, 4, 4, 4), 1.0),
    "night": ((6, 14, 20, 12, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3), 0.7),
}

# Rights that were taken away on the ninth day, and one that was given on the fourth.
_REMOVED_ON_DAY = 8
_REMOVED = read_table("ALLOW | User:jlund | READ DESCRIBE | PREFIXED TOPIC orders.")
_ADDED_ON_DAY = 3
_ADDED = read_table("ALLOW | User:returns-portal | READ | TOPIC orders.created.v2")

# When the disk of the second broker was full, and how much of each record it kept then.
_CUT_ON_DAY = 5
_CUT_LENGTHS = (9, 31, 58, 77, 96, 118, 140, 162)


def write_log(directory: Path, *, until: date | None = None) -> tuple[Path, ...]:
    """Write the logs of both brokers into `directory` and return their paths.

    The last day is the one before `until`, which is today (UTC) unless given. The same
    `until` always gives the same bytes.
    """
    directory.mkdir(parents=True, exist_ok=True)
    first_day = (until or datetime.now(UTC).date()) - timedelta(days=DAYS)
    paths = []
    for name, lines in zip(FILES, _logs(first_day), strict=True):
        path = directory / name
        unfinished = path.with_name(f".{name}.part")
        text = "".join(lines).encode("utf-8")
        # A fixed time in the header, or the same log would differ from one second to the next.
        unfinished.write_bytes(gzip.compress(text, 5, mtime=0) if name.endswith(".gz") else text)
        unfinished.replace(path)
        paths.append(path)
    return tuple(paths)


def _logs(first_day: date) -> tuple[list[str], ...]:
    dice = random.Random("nordhavn")
    broker_lines: tuple[list[tuple[int, int, str]], ...] = ([], [])
    midnight = datetime.combine(first_day, time())
    names = tuple(topic.name for topic in company.topics())
    verdicts = Verdicts()
    for client in clients(days=DAYS, topics=names):
        for milliseconds, host, call in _requests(client, first_day, dice):
            stamp = _stamp(midnight, milliseconds)
            records = verdicts.records(milliseconds // 86_400_000, client.principal, host, call)
            lines = broker_lines[dice.random() < 0.5]
            lines.append((milliseconds, len(lines), "".join(f"[{stamp}] {record}\n" for record in records)))
    logs = tuple([text for *_, text in sorted(lines)] for lines in broker_lines)
    _cut(logs[1], midnight + timedelta(days=_CUT_ON_DAY))
    return logs


def _requests(client: Client, first_day: date, dice: random.Random) -> Iterator[tuple[int, str, Call]]:
    """Yield when (milliseconds from the first midnight), from where and what a client asked."""
    hours, weekend = _RHYTHMS[client.rhythm]
    weights = [call.weight for call in client.calls]
    for day in client.days:
        busy = weekend if (first_day + timedelta(days=day)).weekday() >= 5 else 1.0
        mean = client.requests_a_day * busy * dice.uniform(0.85, 1.15)
        count = int(mean) + (dice.random() < mean % 1)
        for hour in dice.choices(range(24), hours, k=count):
            milliseconds = (day * 24 + hour) * 3_600_000 + dice.randrange(3_600_000)
            yield milliseconds, dice.choice(client.hosts), dice.choices(client.calls, weights)[0]


def _stamp(midnight: datetime, milliseconds: int) -> str:
    moment = midnight + timedelta(milliseconds=milliseconds)
    return f"{moment:%Y-%m-%d %H:%M:%S},{milliseconds % 1000:03d}"


def _cut(lines: list[str], moment: datetime) -> None:
    """Keep only the beginning of some lines from `moment` on, and put the disk's complaint after them."""
    start = next(
        number for number, line in enumerate(lines) if line[1:24] >= f"{moment:%Y-%m-%d %H:%M:%S},000"
    )
    for number, length in enumerate(_CUT_LENGTHS, start):
        lines[number] = lines[number].splitlines()[-1][:length].rstrip() + "\n"
    lines[start + 3] += "java.io.IOException: No space left on device\n"


class Verdicts:
    """What the authorizer writes about a request, each distinct one decided once for each set of ACLs."""

    def __init__(self) -> None:
        now = company.bindings()
        self._settings = AuthorizerSettings.read(
            authorizer=company.authorizer(),
            kafka_version=company.kafka_version(),
            config={
                "super.users": company.super_users(),
                "allow.everyone.if.no.acl.found": company.allow_everyone(),
            },
        )
        self._indexes = [AclIndex(_in_force(now, day)) for day in range(DAYS)]
        self._known: dict[tuple[AclIndex, str, str, Call], tuple[str, ...]] = {}

    def records(self, day: int, principal: str, host: str, call: Call) -> tuple[str, ...]:
        """Return the records of one request, without their time: why, if the authorizer says so, and the answer."""
        index = self._indexes[day]
        key = (index, principal, host, call)
        found = self._known.get(key)
        if found is None:
            request = AccessRequest(principal, host, call.operation, call.resource_type, call.name)
            found = self._known[key] = tuple(_records(authorize(request, index, self._settings), call))
        return found


def _in_force(now: Sequence[AclBinding], day: int) -> list[AclBinding]:
    bindings = [binding for binding in now if day >= _ADDED_ON_DAY or binding not in _ADDED]
    return bindings + list(_REMOVED) if day < _REMOVED_ON_DAY else bindings


def _records(decision: Decision, call: Call) -> Iterator[str]:
    request = decision.request
    why = _reason(decision)
    if why:
        yield f"DEBUG {why} (kafka.authorizer.logger)"
    level, word = ("DEBUG", "Allowed") if decision.allowed else ("INFO", "Denied")
    resource = (
        f"{request.resource_type.pascal}:UNKNOWN:NONE"
        if request.resource_name is None
        else f"{request.resource_type.pascal}:LITERAL:{request.resource_name}"
    )
    yield (
        f"{level} Principal = {request.principal} is {word} Operation = {request.operation.pascal}"
        f" from host = {request.host} on resource = {resource} for request = {call.api}"
        f" with resourceRefCount = {call.counted} (kafka.authorizer.logger)"
    )


def _reason(decision: Decision) -> str:
    """Return the line that AclAuthorizer writes before its answer, empty where it writes none."""
    request = decision.request
    if decision.basis is Basis.SUPER_USER:
        return f"principal = {request.principal} is a super user, allowing operation without checking acls."
    if request.resource_name is None:
        return ""
    resource = (
        f"ResourcePattern(resourceType={request.resource_type.name}, name={request.resource_name},"
        " patternType=LITERAL)"
    )
    if decision.basis is Basis.DEFAULT_DENY:
        return f"No acl found for resource {resource}, authorized = false"
    if decision.basis not in (Basis.ALLOW_ACL, Basis.DENY_ACL):
        return ""
    binding = decision.determining[0]
    tried = request.operation if binding.operation is Operation.ALL else binding.operation
    permission = binding.permission_type.name
    return (
        f"operation = {tried.name} on resource = {resource} from host = {request.host} is {permission}"
        f" based on acl = {binding.principal} has {permission} permission for operations:"
        f" {binding.operation.name} from hosts: {binding.host}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m devstack.demo.traffic", description="Write the demo's authorizer logs."
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument("--until", type=date.fromisoformat, help="the day after the last one of the log")
    options = parser.parse_args(arguments)
    for path in write_log(options.directory, until=options.until):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
