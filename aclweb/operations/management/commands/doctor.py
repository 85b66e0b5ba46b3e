"""`manage.py doctor`: is this installation well, and which command mends what is not?

Exit status: 0 nothing is wrong; 1 at least one line says no; 2 bad usage.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from aclweb.acl.model import visible
from aclweb.operations import doctor

_WORDS = {True: "yes", False: "NO ", None: " - "}


class Command(BaseCommand):
    help = "Check the data directory, keys, database, audit trail, queue, workers and disk; change nothing."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        is_well = True
        for check in doctor.examine():
            is_well = is_well and check.ok is not False
            if options["json"]:
                self.stdout.write(json.dumps(asdict(check)))
                continue
            self.stdout.write(f"{_WORDS[check.ok]}  {check.name}: {visible(check.sentence)}")
            if check.ok is False:
                self.stdout.write(f"     to fix it: {visible(check.mend)}")
        if not is_well:
            sys.exit(1)
