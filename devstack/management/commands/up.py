"""Start the whole product on this machine and stay until somebody ends it: what ./run calls."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from aclweb.runtime import datadir
from devstack.parts import OneMachine, Options


class Command(BaseCommand):
    help = "Start the site, a worker and the demo's clusters on this machine."
    # The tables that checks may ask for are made by the command itself.
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--lite", action="store_true", help="no Java and no Spark: the demo from a file of ACLs"
        )
        parser.add_argument("--port", type=int, help="the site's port; 0 for any that is free")
        parser.add_argument(
            "--passwords", action="store_true", help="make new passwords for the demo's accounts"
        )
        parser.add_argument(
            "--reset", action="store_true", help="begin afresh (manage.py does so before this command)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = Options(lite=options["lite"], port=options["port"], new_passwords=options["passwords"])
        try:
            status = OneMachine(chosen, say=lambda line: print(line, flush=True)).run()
        except datadir.DataDirectoryError as error:
            self.stderr.write(str(error))
            status = 1
        sys.exit(status)
