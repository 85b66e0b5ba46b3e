"""`manage.py sync CLUSTER`: read one cluster now and store what differs.

Exit status: 0 read and stored; 1 it could not be read, is paused, or the reading is held; 2 bad
usage or an unknown cluster.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aclweb.inventory.lists import paused_sentence
from aclweb.inventory.management.operator import at_the_shell, cluster_named
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import SyncResult
from aclweb.inventory.sync import run as syncing


class Command(BaseCommand):
    help = "Sync a cluster now: read it and store what differs from the last snapshot."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cluster", help="the cluster, such as prod-eu")
        parser.add_argument(
            "--accept", action="store_true", help="store a quarantined snapshot, if this one loses no more"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of a sentence")

    def handle(self, *args: Any, cluster: str, accept: bool, json: bool, **options: Any) -> None:
        found = cluster_named(cluster)
        if found.is_paused:
            raise CommandError(
                f"{paused_sentence(found)} Resume it first: manage.py cluster resume {cluster}", returncode=1
            )
        result = syncing.sync(found, accepted_by=at_the_shell() if accept else None)
        self._print(found, result, json)
        if not result.read:
            sys.exit(1)

    def _print(self, cluster: Cluster, result: SyncResult, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(facts_of(cluster, result)))
            return
        stream = self.stdout if result.read else self.stderr
        stream.write(sentence(cluster.slug, result))


def facts_of(cluster: Cluster, result: SyncResult) -> dict[str, Any]:
    """Return what a sync found, ready for JSON."""
    return {
        "cluster": cluster.slug,
        "state": result.state.value,
        "sentence": result.sentence,
        "read": result.read,
        "held": result.held,
        "changed": result.changed,
        "revision": result.revision.number if result.revision else None,
        "added": len(result.delta.add),
        "removed": len(result.delta.remove),
        "topics_known": cluster.topics_listed,
        "groups_known": cluster.groups_listed,
    }


def sentence(slug: str, result: SyncResult) -> str:
    """Return what a sync found, for a person."""
    if result.held:
        return f"{slug}: the snapshot is quarantined. {result.sentence} `sync {slug} --accept` accepts it."
    if not result.read:
        return f"{slug}: {result.sentence}"
    number = result.revision.number if result.revision else 0
    if result.changed:
        differs = f"ACLs added: {len(result.delta.add)}, removed: {len(result.delta.remove)}"
        return f"{slug}: {result.sentence} Stored as revision {number}: {differs}."
    return f"{slug}: {result.sentence} Nothing differs from revision {number}."
