"""`manage.py export CLUSTER`: print the ACLs in force, those of an earlier revision, or all with their times.

Exit status: 0 done; 1 the cluster was never read; 2 bad usage, or an ACL that the asked
notation cannot hold (each is named, nothing is printed).
"""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aclweb.acl.model import NotationError
from aclweb.acl.notation import OUTPUTS, write_acls
from aclweb.inventory.current import in_force, moment_of
from aclweb.inventory.management.operator import cluster_named
from aclweb.inventory.models import Cluster, Revision
from aclweb.inventory.sync import history_lines, snapshot_text


class Command(BaseCommand):
    help = "Print what a cluster holds, as a file that aclweb and others can read."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cluster", help="the cluster, such as prod-eu")
        parser.add_argument(
            "--format",
            choices=("snapshot", "history", *OUTPUTS),
            default="jsonl",
            help="by default JSON lines; snapshot has names, declarations and the revision in its first line; "
            "history has every ACL that was ever in force, from when to when",
        )
        parser.add_argument("--as-of", type=int, metavar="NUMBER", help="an earlier revision")
        parser.add_argument("--json", action="store_true", help="the same as --format jsonl")

    def handle(self, *args: Any, cluster: str, format: str, as_of: int | None, **options: Any) -> None:
        found = cluster_named(cluster)
        view = in_force(found, moment_of(_revision(found, as_of)) if as_of is not None else None)
        if view.revision is None:
            self.stderr.write(f"{cluster} has not been read yet; `sync {cluster}` reads it.")
            sys.exit(1)
        if format == "history":
            if as_of is not None:
                raise CommandError("A history has all revisions; leave out --as-of.", returncode=2)
            for line in history_lines(found):
                self.stdout.write(line, ending="")
            return
        try:
            if format == "snapshot":
                text = snapshot_text(view)
            else:
                text = write_acls(view.index, format=format, settings=view.settings, source=cluster)
        except NotationError as error:
            raise CommandError("\n".join(error.messages), returncode=2) from error
        self.stdout.write(text, ending="")


def _revision(cluster: Cluster, number: int) -> Revision:
    revision = Revision.objects.filter(cluster=cluster, number=number).first()
    if revision is None:
        newest = cluster.revision.number if cluster.revision else 0
        raise CommandError(f"{cluster.slug} has no revision {number}; the newest is {newest}.", returncode=2)
    return revision
