"""Run workers and the beat of a deployment, and replace what ends or does nothing.

    manage.py work                     everything that works behind the site
    manage.py work changes syncs       some of it, on a machine of its own

Exit status 0 when it is asked to end; 1 when a part does not stay up, so that whatever
supervises this command (systemd, a container's restart policy) starts it anew and tells.
"""

from __future__ import annotations

import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from aclweb.operations import workers
from aclweb.operations.supervisor import PartError, Stopping, Supervisor

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Run workers and the beat, and replace what ends or does nothing."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "names",
            nargs="*",
            metavar="NAME",
            help=f"which of {', '.join(workers.NAMES)} (all of them); the beat on one machine only",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        names = options["names"] or list(workers.NAMES)
        if unknown := [name for name in names if name not in workers.NAMES]:
            self.stderr.write(f"There is no worker {unknown[0]!r}; name some of {', '.join(workers.NAMES)}.")
            sys.exit(2)
        sys.exit(self._run(dict.fromkeys(names)))

    def _run(self, names: dict[str, None]) -> int:
        supervisor = Supervisor(logger.warning)
        supervisor.listen_to_signals()
        hearing = workers.Hearing()
        with tempfile.TemporaryDirectory(prefix="aclweb-work-") as directory:
            try:
                for name in names:
                    part = workers.program(
                        name, directory=Path(directory), hearing=hearing, environment={}, own_log=False
                    )
                    supervisor.start(part, replaced=True)
                supervisor.watch()
            except Stopping:
                pass
            except PartError as error:
                self.stderr.write(str(error))
                return 1
            finally:
                supervisor.stop()
        return 0
