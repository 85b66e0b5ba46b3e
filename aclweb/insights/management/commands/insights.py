"""Learn from a cluster's authorizer logs now: `manage.py insights CLUSTER`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from aclweb.insights import refresh
from aclweb.insights.coverage import coverage
from aclweb.insights.errors import InsightsError
from aclweb.inventory.models import Cluster


class Command(BaseCommand):
    help = (
        "Read a cluster's authorizer logs with Spark and load what they say, or load a result made elsewhere."
    )
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("cluster", help="the cluster's short name")
        parser.add_argument(
            "--load", metavar="DIR", type=Path, help="load this result of the pipeline, run no job"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        cluster = Cluster.objects.filter(slug=options["cluster"]).first()
        if cluster is None:
            known = ", ".join(Cluster.objects.values_list("slug", flat=True)) or "there are none yet"
            raise CommandError(
                f"No cluster is called {options['cluster']!r}; known are: {known}.", returncode=2
            )
        try:
            if options["load"]:
                loaded = refresh.load_made_elsewhere(options["load"], cluster)
            else:
                loaded = refresh.refresh(cluster)
        except InsightsError as error:
            raise CommandError(str(error), returncode=2 if options["load"] else 1) from error
        if loaded is None:
            raise CommandError(f"Another process is reading the logs of {cluster} already.", returncode=1)
        covered = coverage(cluster)
        if options["json"]:
            facts = {"cluster": cluster.slug, "revision": loaded.revision_number, "manifest": loaded.manifest}
            self.stdout.write(json.dumps(facts | {"sentences": list(covered.sentences)}))
        else:
            self.stdout.write("\n".join(covered.sentences))
