"""`manage.py move CLUSTER`: compare another way to read a cluster with what is stored of it, and switch to it.

Without --confirm nothing is switched. Exit status: 0 moved, or nobody's access differs; 1 access differs, it is not the
same Kafka cluster or does not answer, and nothing was moved; 2 bad usage or an unknown cluster.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aclweb.acl.model import AclBinding, Delta
from aclweb.acl.notation import write_delta
from aclweb.changes import moving
from aclweb.clusters import ClusterError, connect, live_kinds
from aclweb.inventory.admin import register
from aclweb.inventory.management import client_settings
from aclweb.inventory.management.operator import at_the_shell, cluster_named
from aclweb.inventory.models import Cluster


class Command(BaseCommand):
    help = (
        "Read a cluster in another way, such as from its brokers instead of ZooKeeper: history, roles, declarations "
        "and changes stay. Both sides are compared as access first."
    )
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cluster", help="the cluster, such as prod-eu")
        parser.add_argument("--kind", required=True, choices=[kind.name for kind in live_kinds()])
        parser.add_argument("--address", required=True, help="where it is read from then")
        parser.add_argument("--authorizer", choices=[choice.value for choice in Cluster.Authorizer])
        parser.add_argument("--kafka-version", help="such as 4.1; what brokers report wins")
        client_settings.add_arguments(parser)
        parser.add_argument("--confirm", action="store_true", help="switch, where nothing speaks against it")
        parser.add_argument(
            "--accept-differences", action="store_true", help="with --confirm: switch though access differs"
        )
        parser.add_argument("--json", action="store_true", help="print JSON, one object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["accept_differences"] and not options["confirm"]:
            raise CommandError(
                "--accept-differences says how --confirm switches; give --confirm too.", returncode=2
            )
        cluster = cluster_named(options["cluster"])
        for warning in client_settings.exposed(options):
            self.stderr.write(warning)
        try:
            candidate = _candidate(cluster, options)
            compared = moving.compare(candidate, connect)
        except register.RegisteringError as error:
            raise CommandError(str(error), returncode=2) from error
        except ClusterError as error:
            raise CommandError(f"Nothing was moved. {error}", returncode=1) from error
        is_moved, refused = _switched(candidate, compared, options)
        self._print(cluster, compared, is_moved, refused, as_json=options["json"])
        if not is_moved and (refused or moving.must_be_accepted(compared.found)):
            sys.exit(1)

    def _print(
        self, cluster: Cluster, compared: moving.Compared, is_moved: bool, refused: str, *, as_json: bool
    ) -> None:
        found, sentence = compared.found, moving.sentence_of(cluster, compared.found)
        if as_json:
            counts = compared.impact.counts if compared.impact is not None else None
            told = {"moved": is_moved, "sentence": sentence, "refused": refused or None, "impact": counts}
            self.stdout.write(json.dumps({"cluster": cluster.slug, **told, **found.as_dict()}))
            return
        self.stdout.write(sentence)
        for told_besides in (*found.sentences, *found.problems):
            self.stdout.write(f"  {told_besides}")
        if found.lines:
            self.stdout.write(
                "ACLs that only one side has, as the delta from what is stored to what was read:"
            )
            self.stdout.write(write_delta(_delta(found)).rstrip("\n"))
            if (more := found.lines_in_all - len(found.lines)) > 0:
                self.stdout.write(f"and {more:,} more")
        if refused:
            self.stdout.write(f"Nothing was moved. {refused}")
        elif is_moved:
            then = (
                "It is paused: resume it to have it synced."
                if cluster.is_paused
                else f"A worker syncs it soon; `sync {cluster.slug}` reads it at once."
            )
            self.stdout.write(f"Moved. {then}")
        else:
            self.stdout.write("Nothing was moved. To switch, add --confirm.")


def _candidate(cluster: Cluster, options: dict[str, Any]) -> Cluster:
    """Return the cluster's row as it is to be, not stored."""
    settings = {name: options[name] for name in ("kind", "address")}
    settings |= {name: options[name] for name in ("authorizer", "kafka_version") if options[name] is not None}
    settings["options"] = client_settings.read(options, {}) if client_settings.are_given(options) else {}
    return register.as_if_changed(cluster, **moving.complete(cluster, settings))


def _switched(candidate: Cluster, compared: moving.Compared, options: dict[str, Any]) -> tuple[bool, str]:
    """Switch where that was asked for; return whether it was done, and why it was not."""
    if not options["confirm"]:
        return False, moving.why_not(candidate, compared.found, compared.revision)
    try:
        moving.switch_to(
            candidate=candidate,
            found=compared.found,
            revision=compared.revision,
            actor=at_the_shell(),
            accepted=options["accept_differences"],
        )
    except moving.NotAcceptedError as error:
        return False, f"{error} At the shell that is --accept-differences."
    except (moving.MovingError, register.RegisteringError) as error:
        return False, str(error)
    return True, ""


def _delta(found: moving.Found) -> Delta:
    sides: dict[str, list[AclBinding]] = {"add": [], "remove": []}
    for op, binding in found.bindings:
        sides[op].append(binding)
    return Delta(tuple(sides["add"]), tuple(sides["remove"]))
