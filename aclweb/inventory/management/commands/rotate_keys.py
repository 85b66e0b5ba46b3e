"""`manage.py rotate_keys [--dry-run]`: encrypt every stored login with the first of the encryption keys.

Exit status: 0 all are, or were already; 1 some can be read with none of the keys, and are named.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aclweb.acl.model import number_of
from aclweb.inventory.admin import encryption
from aclweb.inventory.management.operator import at_the_shell


class Command(BaseCommand):
    help = (
        "Encrypt stored logins with the first of ACLWEB_ENCRYPTION_KEYS, so that the others can be left out."
    )
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count them, and store nothing")

    def handle(self, *args: Any, dry_run: bool, **options: Any) -> None:
        found = encryption.rotate(actor=at_the_shell(), dry_run=dry_run)
        done = "would be encrypted anew" if dry_run else "encrypted anew"
        self.stdout.write(
            f"{number_of(found.rewritten, 'secret')} {done}, {found.current:,} with the first key already."
        )
        if found.lost:
            raise CommandError(
                f"None of the keys in ACLWEB_ENCRYPTION_KEYS reads {', '.join(found.lost)}: add the key that they were "
                "saved with, or give these logins again.",
                returncode=1,
            )
        if not dry_run:
            self.stdout.write("All of them can be read with the first key alone; the others can go.")
