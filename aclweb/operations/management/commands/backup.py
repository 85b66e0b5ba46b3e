"""`manage.py backup FILE`: put the database, the keys and the head of the audit trail into one private file.

The site may go on meanwhile. Exit status: 0 done; 1 it could not be made, or the audit trail
that was backed up is not whole; 2 bad usage.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aclweb.operations import backup


class Command(BaseCommand):
    help = "Put everything that must not be lost into one file, while the site runs."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="a file that does not exist yet")
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of sentences")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = backup.make(Path(options["file"]))
        except backup.BackupError as error:
            raise CommandError(str(error), returncode=1) from error
        if options["json"]:
            self.stdout.write(json.dumps({"file": options["file"], **asdict(manifest)}))
        else:
            counts = ", ".join(f"{count:,} {what}" for what, count in manifest.counts.items())
            self.stdout.write(f"{options['file']} holds {counts}. The audit head is {manifest.audit_head}.")
            if manifest.keys_included:
                self.stdout.write(
                    "It holds the keys too: whoever has this file can read the logins of clusters."
                )
            for variable in manifest.keys_named:
                self.stdout.write(
                    f"It does not hold {variable}; keep its value elsewhere, or it is of no use."
                )
        if not manifest.audit_whole:
            self.stderr.write("The audit trail is not whole; `python manage.py audit verify` says where.")
            sys.exit(1)
