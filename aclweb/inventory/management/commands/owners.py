"""`manage.py owners CLUSTER [FILE]`: print who owns which names of a cluster as CSV or YAML, or load such a file.

Exit status: 0 done; 2 bad usage or a bad file (each bad line is named, nothing is stored).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from aclweb.acl.model import NotationError
from aclweb.inventory.admin import owners
from aclweb.inventory.management.any_order import AnyOrderCommand
from aclweb.inventory.management.operator import at_the_shell, cluster_named


class Command(AnyOrderCommand):
    help = "Print who owns which names of a cluster, or have exactly the rows of a file."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cluster", help="the cluster, such as prod-eu")
        parser.add_argument(
            "file",
            nargs="?",
            help=f"CSV with the header {','.join(owners.FIELDS)}, or a YAML list of such rows",
        )
        parser.add_argument("--yaml", action="store_true", help="print YAML instead of CSV")
        parser.add_argument(
            "--dry-run", action="store_true", help="say what the file would change, and store nothing"
        )

    def handle(self, *args: Any, cluster: str, file: str | None, dry_run: bool, **options: Any) -> None:
        found = cluster_named(cluster)
        if file is None:
            self.stdout.write(owners.text_of(found.owned_names.all(), as_yaml=options["yaml"]), ending="")
            return
        if options["yaml"]:
            raise CommandError("--yaml prints, and a file is loaded: give one of them.", returncode=2)
        try:
            rows = owners.read(Path(file).read_text(encoding="utf-8-sig"), file)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.", returncode=2) from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{file} is no UTF-8 text; save it as UTF-8.", returncode=2) from error
        except NotationError as error:
            raise CommandError("\n".join(error.messages), returncode=2) from error
        if dry_run:
            self.stdout.write(f"{cluster}: {owners.loading(found, rows).sentence}; nothing was stored.")
            return
        self.stdout.write(
            f"{cluster}: {owners.load(actor=at_the_shell(), cluster=found, rows=rows).sentence}."
        )
