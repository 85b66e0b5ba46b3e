"""`manage.py restore FILE`: bring an installation back from a backup, into an empty data directory.

Exit status: 0 done; 1 the backup is damaged, or there is something that would be lost; 2 bad usage.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from aclweb.operations import backup
from aclweb.runtime import datadir


class Command(BaseCommand):
    help = "Bring everything back from a backup; nothing is deleted unless --replace is given."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="what `backup` wrote")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="put aside what the data directory holds now; of PostgreSQL, lose it",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of sentences")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest, aside = backup.restore(Path(options["file"]), replace=options["replace"])
        except (backup.BackupError, datadir.DataDirectoryError) as error:
            raise CommandError(str(error), returncode=1) from error
        if options["json"]:
            facts = {"data_directory": str(settings.ACLWEB_DATA_DIR), "aside": str(aside) if aside else None}
            self.stdout.write(json.dumps({**facts, **asdict(manifest)}))
            return
        self.stdout.write(
            f"{settings.ACLWEB_DATA_DIR} is as it was at {manifest.made_at}, of aclweb {manifest.version}. "
            f"The audit trail is checked up to {manifest.audit_head}."
        )
        if manifest.database == backup.POSTGRESQL:
            if options["replace"]:
                self.stdout.write("What the database held is gone.")
            if aside:
                self.stdout.write(f"The key files that were there before are in {aside}.")
        elif aside:
            self.stdout.write(f"What was there before is in {aside}.")
        for variable in manifest.keys_named:
            self.stdout.write(
                f"Set {variable} to the value that it had then, or logins of clusters are lost."
            )
        self.stdout.write("Now run: python manage.py migrate, then python manage.py doctor")
