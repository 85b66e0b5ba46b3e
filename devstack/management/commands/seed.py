"""Add the demo's people and its cluster prod-eu as a file, to look around in any installation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from devstack import demo_clusters
from devstack import first_start as firststart


class Command(BaseCommand):
    help = "Add the demo's accounts and a read-only demo cluster; what is there already stays."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--passwords", action="store_true", help="make new passwords for the demo's accounts"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        directory = Path(settings.ACLWEB_DATA_DIR) / "demo"
        directory.mkdir(parents=True, exist_ok=True)
        logins = firststart.make_accounts(renew=options["passwords"])
        cluster = demo_clusters.plant_file(directory)
        self.stdout.write(f"{cluster.name}: {cluster.state_sentence}")
        for login in logins:
            self.stdout.write(f"  sign in as {login.username}  password {login.password}  {login.may}")
