"""What the usage job should find, counted record by record with the core: slow, and easy to believe."""

from __future__ import annotations

import gzip
import io
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from aclweb.acl.authorizer.answers import Basis
from aclweb.acl.authorizer.decision import authorize
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AccessRequest, AclBinding, PatternType
from aclweb.acl.notation.authorizer_log import AccessEvent, parse_record, records
from aclweb.acl.notation.files import binding_key

UNREADABLE = ("record of the authorizer that cannot be read", "no log record")


@dataclass
class Counted:
    read: int = 0
    decisions: int = 0
    probes: int = 0
    other: Counter[str] = field(default_factory=Counter)
    unparsed: Counter[str] = field(default_factory=Counter)
    # (principal, host, operation, type, name, allowed) -> lines, and the times of all of them
    requests: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    times: dict[tuple[Any, ...], list[str]] = field(default_factory=lambda: defaultdict(list))
    # binding key -> [requests, alone, named]
    usage: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))
    differing: int = 0
    super_users: Counter[str] = field(default_factory=Counter)
    default_allow: int = 0
    default_deny: int = 0


def count(files: list[Path], bindings: list[AclBinding], settings: AuthorizerSettings) -> Counted:
    index = AclIndex(bindings)
    found = Counted()
    for file in files:
        for record in records(lines_of(file)):
            found.read += 1
            _add(found, record, index, settings)
    return found


def lines_of(file: Path) -> Iterator[str]:
    data = file.read_bytes()
    text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8", errors="replace")
    return iter(io.StringIO(text, newline="\n"))


def _add_other(found: Counted, record: str) -> None:
    if "is a super user" in record:
        found.super_users[record.split("principal = ")[1].split(" is a super user")[0]] += 1
    if "No acl found" in record:
        if "authorized = true" in record:
            found.default_allow += 1
        else:
            found.default_deny += 1


def _add(found: Counted, record: str, index: AclIndex, settings: AuthorizerSettings) -> None:
    event = parse_record(record)
    if not isinstance(event, AccessEvent):
        (found.unparsed if event.reason in UNREADABLE else found.other)[event.reason] += 1
        _add_other(found, record)
        return
    if is_probe(event):
        found.probes += 1
        return
    found.decisions += 1
    request = AccessRequest(
        event.principal, event.host, event.operation, event.resource_type, event.resource_name
    )
    key = (*request.as_dict().values(), event.allowed)
    found.requests[key] += 1
    assert event.time is not None  # every record of the tests has one
    found.times[key].append(event.time)
    if event.acl:
        found.usage[binding_key(event.acl)][2] += 1

    decision = authorize(request, index, settings)
    if event.rule == "SuperUser":
        found.super_users[event.principal] += 1
    if event.rule == "DefaultAllow":
        found.default_allow += 1
    if event.rule == "DefaultDeny" and decision.basis in (Basis.DEFAULT_DENY, Basis.DEFAULT_ALLOW):
        found.default_deny += 1
    if decision.allowed != event.allowed:
        found.differing += 1
    elif decision.basis in (Basis.ALLOW_ACL, Basis.DENY_ACL):
        for binding in decision.determining:
            use = found.usage[binding_key(binding)]
            use[0] += 1
            use[1] += len(decision.determining) == 1


def is_probe(event: AccessEvent) -> bool:
    made_up = event.pattern_type is PatternType.UNKNOWN or event.resource_name == "hardcode"
    return event.ref_count == 0 and made_up


def moment(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f")
