"""`manage.py audit verify|head|protect`: is the audit trail as it was written?

`verify` compares with the head that is kept outside the database, or with the one given;
`protect` puts back the triggers with which the database refuses to change events.

Exit status: 0 the chain is whole; 1 it is not, and the sentence says where it breaks;
2 bad usage.
"""

from __future__ import annotations

import getpass
import json
import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection, transaction

from aclweb.audit import heads, trail, triggers
from aclweb.audit.models import AuditError


class Command(BaseCommand):
    help = "Check that nobody has edited, removed or inserted an audit event."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("act", choices=("verify", "head", "protect"))
        parser.add_argument(
            "--head", metavar="SEQUENCE:HASH", help="a head kept elsewhere, to find an end that was cut off"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of a sentence")

    def handle(self, *args: Any, act: str, head: str | None, json: bool, **options: Any) -> None:
        if act == "head":
            self._print({"head": trail.head()}, trail.head(), json)
            return
        if act == "protect":
            self._protect(json)
            return
        try:
            verdict = trail.verify(head=head if head is not None else heads.kept())
        except AuditError as error:
            raise CommandError(str(error), returncode=2) from error
        self._print(asdict(verdict), verdict.sentence, json)
        if not verdict.ok:
            sys.exit(1)

    def _protect(self, json: bool) -> None:
        lacked = triggers.missing(connection)
        with transaction.atomic():
            triggers.install(connection)
            if lacked:
                trail.record(
                    actor=f"{getpass.getuser()} (shell)",
                    verb="audit.protected",
                    target="audit",
                    triggers=", ".join(lacked),
                )
        sentence = "The database refuses to change or remove events."
        self._print({"ok": True, "put_back": list(lacked)}, sentence, json)

    def _print(self, found: dict[str, Any], sentence: str, as_json: bool) -> None:
        self.stdout.write(json.dumps(found) if as_json else sentence)
