"""`manage.py import_acls CLUSTER FILE`: let a cluster that is known from a file be known from this one.

A file takes the place of the one before as a new revision. Exit status: 0 stored; 1 the
reading is held; 2 bad usage, a bad file (each bad line is named, nothing is stored) or a
cluster that is not known from a file.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aclweb.acl.model import NotationError
from aclweb.clusters import ClusterClient, ClusterError, Connection, connect
from aclweb.inventory.admin import register as registering
from aclweb.inventory.management.commands.sync import facts_of, sentence
from aclweb.inventory.management.operator import at_the_shell, cluster_named
from aclweb.inventory.sync import run as syncing


class Command(BaseCommand):
    help = "Read a file of ACLs, in any notation, as what a snapshot cluster holds."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cluster", help="a cluster that is known from a file")
        parser.add_argument(
            "file", help="JSON lines, CSV, YAML, ZooKeeper nodes or `kafka-acls --list` output"
        )
        parser.add_argument(
            "--accept", action="store_true", help="store a quarantined snapshot, if this one loses no more"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of a sentence")

    def handle(self, *args: Any, cluster: str, file: str, accept: bool, **options: Any) -> None:
        found = cluster_named(cluster)
        if not found.source.is_one_file:
            raise CommandError(
                f"{cluster} is read from {found.address} and not from a file; to change what it holds, draft a change.",
                returncode=2,
            )
        actor = at_the_shell()
        with _client(Connection(found.source, file)) as client:
            result = syncing.sync(found, client=client, accepted_by=actor if accept else None)
        if result.read:
            registering.change(actor=actor, cluster=found, address=file)
        if options["json"]:
            self.stdout.write(json.dumps(facts_of(found, result)))
        else:
            (self.stdout if result.read else self.stderr).write(sentence(cluster, result))
        if not result.read:
            sys.exit(1)


def _client(connection: Connection) -> ClusterClient:
    """Open the file and read it whole once, so that a bad one leaves no trace on the cluster."""
    try:
        client = connect(connection)
        client.read_acls()
    except ClusterError as error:
        cause = error.__cause__
        lines = cause.messages if isinstance(cause, NotationError) else (str(error),)
        raise CommandError("\n".join(lines), returncode=2) from error
    return client
