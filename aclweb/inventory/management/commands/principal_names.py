"""`manage.py principal_names CLUSTER [FILE]`: print what principals are called as CSV, or load such a file.

Exit status: 0 done; 2 bad usage or a bad file (each bad line is named, nothing is stored).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from aclweb.acl.model import NotationError
from aclweb.inventory.admin import principal_names
from aclweb.inventory.management.any_order import AnyOrderCommand
from aclweb.inventory.management.operator import at_the_shell, cluster_named


class Command(AnyOrderCommand):
    help = "Print what principals of a cluster are called, or have exactly the names of a file."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cluster", help="the cluster, such as prod-eu")
        parser.add_argument("file", nargs="?", help=f"CSV with the header {','.join(principal_names.FIELDS)}")
        parser.add_argument(
            "--dry-run", action="store_true", help="say what the file would change, and store nothing"
        )
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, cluster: str, file: str | None, dry_run: bool, **options: Any) -> None:
        found = cluster_named(cluster)
        if file is None:
            names = dict(found.principal_names.values_list("principal", "name"))
            as_json = f"{json.dumps(names)}\n"
            self.stdout.write(as_json if options["json"] else principal_names.text_of(names), ending="")
            return
        try:
            names = principal_names.read(Path(file).read_text(encoding="utf-8-sig"), file)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.", returncode=2) from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{file} is no UTF-8 text; save it as UTF-8.", returncode=2) from error
        except NotationError as error:
            raise CommandError("\n".join(error.messages), returncode=2) from error
        if dry_run:
            changes = principal_names.naming(found, names)
            sentence = f"{cluster}: {changes.sentence}; nothing was stored."
        else:
            changes = principal_names.load(actor=at_the_shell(), cluster=found, names=names)
            sentence = f"{cluster}: {changes.sentence}."
        told = {
            "cluster": found.slug,
            "added": len(changes.added),
            "changed": len(changes.changed),
            "removed": len(changes.removed),
            "same": changes.same,
            "stored": not dry_run,
        }
        self.stdout.write(json.dumps(told) if options["json"] else sentence)
