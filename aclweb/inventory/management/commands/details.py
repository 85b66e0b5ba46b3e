"""`manage.py details CLUSTER [LIST]`: what its brokers last told beside ACLs and names, list by list, or one whole.

Nothing connects: syncs read these lists. Exit status: 0 done; 1 what the list holds is unknown, with a sentence why and
the command that would grant the missing right; 2 bad usage or an unknown cluster.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser

from aclweb.acl.model import ResourceType, number_of
from aclweb.clusters import DetailKind, Known
from aclweb.inventory.details import (
    GroupsTold,
    expiry_words,
    limits_words,
    mechanisms_words,
    told_details,
    told_groups,
    told_lists_and_groups,
)
from aclweb.inventory.lists import names_known
from aclweb.inventory.management.any_order import AnyOrderCommand
from aclweb.inventory.management.operator import cluster_named, on_a_line
from aclweb.inventory.models import Cluster, StoredDetail, StoredGroup

GROUPS = "groups"
_ROWS_AT_ONCE = 2000


class Command(AnyOrderCommand):
    help = "Print what the brokers of a cluster last told beside ACLs and names."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cluster", help="the cluster, such as prod-eu")
        parser.add_argument("list", nargs="?", choices=[*map(str, DetailKind), GROUPS])
        parser.add_argument("--text", default="", help="only entries with this in their name or owner")
        parser.add_argument("--json", action="store_true", help="print JSON, one object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        cluster = cluster_named(options["cluster"])
        lists, groups = told_lists_and_groups(cluster)
        every = {kind.value: found.as_dict() for kind, found in lists.items()}
        every[GROUPS] = _groups_as_dict(cluster, groups)
        words = {kind.value: found.word for kind, found in lists.items()} | {GROUPS: "Groups"}
        asked, as_json = options["list"], options["json"]
        if asked is None:
            for kind, found in every.items():
                self.stdout.write(_json(found) if as_json else _summary(words[kind], found))
            return
        if caveat := _caveat(every[asked]):
            self.stderr.write(caveat)
        if every[asked]["known"] == Known.UNKNOWN:
            sys.exit(1)
        for as_dict, line in _rows(cluster, asked, options["text"]):
            self.stdout.write(_json(as_dict) if as_json else line)


def _groups_as_dict(cluster: Cluster, found: GroupsTold) -> dict[str, Any]:
    listed = names_known(cluster, ResourceType.GROUP)
    is_read = found.read_at is not None
    return {
        "kind": GROUPS,
        "known": (listed.known if is_read else Known.UNKNOWN).value,
        "count": found.total if is_read else None,
        "types": {kind or "unknown": number for kind, number in found.by_type} if is_read else None,
        "described": found.described if is_read else None,
        "sentence": listed.sentence if is_read else "No sync has read their types and members yet.",
        "command": None,
        "read_at": found.read_at,
        "problem": "",
    }


def _summary(word: str, found: Mapping[str, Any]) -> str:
    """Return a list in a line, and another for the command that would show more of it."""
    count = "" if found["count"] is None else f"{found['count']:,}"
    if types := found.get("types"):
        words = (
            f"{number:,} {kind if kind != 'unknown' else 'of unknown type'}" for kind, number in types.items()
        )
        count += f" ({', '.join(words)})"
    if (described := found.get("described")) is not None:
        count += f", members of {number_of(described, 'group', 'groups')}"
    read = f"read {found['read_at']:%Y-%m-%d %H:%M} UTC" if found["read_at"] else ""
    numbers = ", ".join(filter(None, (count, read)))
    parts = (numbers and f"{numbers}.", found["sentence"], found["problem"])
    line = f"{word:<18} {found['known']:<8} {' '.join(filter(None, parts))}".rstrip()
    return f"{line}\n{'':<28}{found['command']}" if found["command"] else line


def _caveat(found: Mapping[str, Any]) -> str:
    """Return why the list is not whole; empty where it is."""
    return "\n".join(filter(None, (found["sentence"], found["problem"], found["command"])))


def _rows(cluster: Cluster, kind: str, text: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each entry by name, as JSON and as a line."""
    if kind == GROUPS:
        for group in told_groups(cluster, text=text).iterator(_ROWS_AT_ONCE):
            yield _group_as_dict(group), _group_line(group)
        return
    cells = _CELLS[DetailKind(kind)]
    for each in told_details(cluster, DetailKind(kind), text).iterator(_ROWS_AT_ONCE):
        yield _as_dict(each), "  ".join(map(on_a_line, (each.name, *cells(each))))


_CELLS: Mapping[DetailKind, Callable[[StoredDetail], tuple[str, ...]]] = {
    DetailKind.SCRAM_USERS: lambda each: (mechanisms_words(each),),
    DetailKind.QUOTAS: lambda each: (limits_words(each),),
    DetailKind.TRANSACTIONAL_IDS: lambda _each: (),
    DetailKind.TOKENS: lambda each: (
        f"of {each.principal}",
        f"renewed by {', '.join(each.facts.get('renewers') or ()) or 'nobody else'}",
        f"expires {expiry_words(each)}",
        f"ends {expiry_words(each, 'ends')}",
    ),
}


def _as_dict(each: StoredDetail) -> dict[str, Any]:
    return {
        "name": each.name,
        "user": each.user,
        "principal": each.principal,
        "facts": each.facts,
        "first_seen": each.first_at,
    }


def _group_as_dict(group: StoredGroup) -> dict[str, Any]:
    return {
        "name": group.name,
        "type": group.type,
        "state": group.state,
        "read_at": group.described_at,
        "members": group.members,
        "members_total": group.members_total,
        "sentence": group.sentence,
    }


def _group_line(group: StoredGroup) -> str:
    if group.members is None:
        members = f"members unknown{': ' if group.sentence else ''}{group.sentence}"
    else:
        hosts = ", ".join(f"{each['client_id']} at {each['host']}" for each in group.members)
        members = f"{number_of(group.members_total, 'member', 'members')}{': ' if hosts else ''}{hosts}"
    return "  ".join(map(on_a_line, (group.name, group.type or "type unknown", members)))


def _json(found: Mapping[str, Any]) -> str:
    return json.dumps(found, default=datetime.isoformat)
