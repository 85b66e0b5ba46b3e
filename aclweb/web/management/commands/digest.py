"""Print what happened on clusters in a week, as Markdown: `manage.py digest [CLUSTER ...]`.

Exit status: 0 it was printed; 2 bad usage. It reads the database alone.
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from urllib.parse import urljoin, urlsplit

from django.core.management.base import BaseCommand, CommandError

from aclweb.inventory.management.operator import cluster_named
from aclweb.inventory.models import Cluster
from aclweb.web.browse import markdown, week_of


class Command(BaseCommand):
    help = "Print the week of clusters as Markdown: denials, changes, ACLs changed elsewhere, unused ACLs."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "cluster", nargs="*", help="a cluster, such as prod-eu; without one, every cluster"
        )
        parser.add_argument(
            "--site",
            default="",
            metavar="URL",
            help="the address of aclweb, such as https://aclweb.example.com, for the links",
        )

    def handle(self, *args: Any, cluster: list[str], site: str, **options: Any) -> None:
        if site and (urlsplit(site).scheme not in ("http", "https") or not urlsplit(site).netloc):
            raise CommandError(
                f"--site is given {site!r}; write a whole address, such as https://aclweb.example.com.",
                returncode=2,
            )
        found = [cluster_named(slug) for slug in cluster] or Cluster.objects.select_related(
            "revision"
        ).order_by("name")
        texts = ("".join(markdown(each, week_of(each), lambda path: urljoin(site, path))) for each in found)
        self.stdout.write("\n".join(texts), ending="")
