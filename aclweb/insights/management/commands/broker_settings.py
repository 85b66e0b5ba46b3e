"""`manage.py broker_settings CLUSTER`: what its brokers show of the settings that answers depend on, and what is wrong.

Nothing connects: syncs read the settings. Exit status: 0 done; 1 the brokers never showed them, or with --strict
something is wrong with them or a hidden one is not declared; 2 bad usage or an unknown cluster.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aclweb.insights.declarations import setting_findings
from aclweb.inventory.current import broker_settings
from aclweb.inventory.current.broker_settings import ShownSetting
from aclweb.inventory.management.operator import cluster_named, on_a_line

_VERDICTS: Mapping[str, str] = {
    "same": "read",
    "differs": "BROKERS DIFFER",
    "fills": "hidden",
    "missing": "NOT DECLARED",
    "overruled": "DECLARED OTHERWISE",
}


class Command(BaseCommand):
    help = "Print what the brokers of a cluster last showed of their settings, beside what is declared."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cluster", help="the cluster, such as prod-eu")
        parser.add_argument(
            "--strict",
            action="store_true",
            help="status 1 also where something is wrong, or a hidden setting is not declared",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        cluster = cluster_named(options["cluster"])
        at, shown = broker_settings.read_at(cluster), broker_settings.shown_settings(cluster)
        findings = setting_findings(cluster)
        if options["json"]:
            found = {
                "cluster": cluster.slug,
                "read_at": at.isoformat() if at else None,
                "settings": [each.as_dict() for each in shown],
                "findings": [each.as_dict() for each in findings],
            }
            self.stdout.write(json.dumps(found))
        else:
            lines = [f"Read {at:%Y-%m-%d %H:%M} UTC."] if at and shown else []
            lines += [line for each in shown for line in _lines(each)]
            lines += [f"Wrong ({each.rule}): {each.sentence}" for each in findings]
            if lines:
                self.stdout.write("\n".join(lines))
        if not shown:
            raise CommandError(
                f"The brokers of {cluster.slug} have not shown their settings: no sync has read them, the login lacks "
                "DescribeConfigs on the cluster, or it is no cluster of brokers.",
                returncode=1,
            )
        if options["strict"] and (findings or any(each.verdict not in ("same", "fills") for each in shown)):
            sys.exit(1)


def _lines(each: ShownSetting) -> list[str]:
    declared = f"; declared: {each.declared}" if each.declared else ""
    head = f"{each.name}: {_VERDICTS[each.verdict]}{declared}"
    return [
        head,
        *(
            f"  {on_a_line(value)}{f' on {where}' if len(each.values) > 1 else ''}"
            for value, where in each.values
        ),
    ]
