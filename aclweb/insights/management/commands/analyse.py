"""Have a worker analyse a cluster's logs: `manage.py analyse CLUSTER JOB`.

Exit status: 0 a worker was asked, or has finished it (`--wait`); 1 it failed; 2 bad usage.
"""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from aclweb.insights.analyses import BESIDE, EDIT, JOBS, ask, claims_of, headline, pairs_of, progress_of
from aclweb.insights.errors import InsightsError
from aclweb.insights.models import Analysis
from aclweb.inventory.management.operator import at_the_shell, cluster_named
from aclweb.inventory.models import Cluster

_LOOK_SECONDS = 1.0


class Command(BaseCommand):
    help = "Have a worker analyse a cluster's authorizer logs; the page Analyses shows the result."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("cluster", help="the cluster, such as prod-eu")
        parser.add_argument("job", choices=sorted(JOBS), help="what is asked")
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a choice of the job, such as lately=14 of anomalies; may be given again",
        )
        parser.add_argument(
            "--delta",
            metavar="FILE",
            help='of replay: the edit, as JSON lines, each with "op": "add" or "remove"',
        )
        parser.add_argument(
            "--beside",
            action="append",
            default=[],
            metavar="CLUSTER",
            help="of compare: another cluster; may be given again",
        )
        parser.add_argument("--wait", action="store_true", help="wait until a worker has finished it")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, cluster: str, job: str, option: list[str], **options: Any) -> None:
        found = cluster_named(cluster)
        given = dict(_pair(each) for each in option)
        if options["delta"]:
            given[EDIT] = _text_of(options["delta"])
        if options["beside"]:
            given[BESIDE] = ",".join(options["beside"])
        try:
            row = ask(
                cluster=found,
                job=job,
                options=given,
                person=at_the_shell(),
                visible=Cluster.objects.select_related("revision"),
            )
        except InsightsError as error:
            raise CommandError(str(error), returncode=2) from error
        if options["wait"]:
            row = _ended(row)
        self.stdout.write(json.dumps(_facts(row)) if options["json"] else "\n".join(_sentences(row)))
        if row.state in (Analysis.State.FAILED, Analysis.State.CANCELLED):
            sys.exit(1)


def _text_of(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise CommandError(f"The edit in {file} cannot be read: {why}.", returncode=2) from error


def _pair(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals:
        raise CommandError(f"--option is given {given!r}; write NAME=VALUE, such as lately=14.", returncode=2)
    return name, value


def _ended(row: Analysis) -> Analysis:
    while row.is_open:
        time.sleep(_LOOK_SECONDS)
        row = Analysis.objects.select_related("cluster").get(pk=row.pk)
    return row


def _sentences(row: Analysis) -> list[str]:
    if row.state != Analysis.State.DONE:
        return list(progress_of(row).sentences)
    job = JOBS[row.job]
    return [
        *(claim.sentence for claim in claims_of(row, job)),
        *(headline(row, table) for table in job.tables),
        *(pair.sentence for table in job.tables if job.beside for pair in pairs_of(row, table)),
    ]


def _facts(row: Analysis) -> dict[str, Any]:
    return {
        "cluster": row.cluster.slug,
        "job": row.job,
        "address": row.address,
        "state": row.state,
        "counts": row.counts,
        "sentences": _sentences(row),
    }
