"""`manage.py cluster add|set|declare|pause|resume|remove|list|check`: which clusters there are, how each is treated.

`check` connects and reads without storing anything, and prints a line a right, with the command that would
grant what is missing. Exit status: 0 done, or the cluster can be read (and written, where changes are on);
1 it cannot, with --strict some right is not there, or nothing was removed; 2 bad usage or an unknown cluster.
"""

from __future__ import annotations

import json
import shlex
import sys
from argparse import BooleanOptionalAction
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from aclweb.acl.model import ALLOW_EVERYONE_KEY, SERVICES, SUPER_USERS_KEY, AclError
from aclweb.clusters import KINDS, Known, checking, connect
from aclweb.clusters.connection import pem
from aclweb.inventory import checks
from aclweb.inventory.admin import declare as declaring
from aclweb.inventory.admin import log_sources, pausing, removing
from aclweb.inventory.admin import register as registering
from aclweb.inventory.current import broker_settings
from aclweb.inventory.lists import status
from aclweb.inventory.management import client_settings
from aclweb.inventory.management.operator import at_the_shell, cluster_named
from aclweb.inventory.models import Cluster

_ADDRESS_FORMS = "; ".join(f"{kind.address_form} ({name})" for name, kind in KINDS.items())
_YES = {"true": True, "false": False, "on": True, "off": False}


class Command(BaseCommand):
    help = "Make clusters known, change their settings, declare what they do not show, list and check them."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(
            dest="act", required=True, metavar="add|set|declare|pause|resume|remove|list|check"
        )
        add = acts.add_parser("add", help="make a cluster known; a worker syncs it soon")
        add.add_argument("cluster", help="its name in addresses, such as prod-eu")
        add.add_argument("--kind", required=True, choices=list(KINDS))
        add.add_argument("--address", required=True, help=f"by kind: {_ADDRESS_FORMS}")
        _declarations(add)
        change = acts.add_parser("set", help="change the settings that are given")
        change.add_argument("cluster")
        change.add_argument("--address")
        for part in (add, change):
            part.add_argument("--name", help="as people call it")
            part.add_argument("--authorizer", choices=[choice.value for choice in Cluster.Authorizer])
            part.add_argument("--kafka-version", help="such as 4.1; what brokers report wins")
            client_settings.add_arguments(part)
            part.add_argument("--changes", choices=("on", "off"), help="whether aclweb may write to it")
            part.add_argument("--approvals", type=int, help="how many people must approve a change")
            part.add_argument(
                "--logs", action="append", metavar="PATH", help="its authorizer logs; repeatable"
            )
            part.add_argument(
                "--logs-recursive",
                action=BooleanOptionalAction,
                help="with --logs: read the files of folders in a folder too",
            )
            part.add_argument(
                "--log-topic",
                action="append",
                metavar="TOPIC[@CLUSTER]",
                help="a topic with its authorizer log, on this or another known cluster; repeatable",
            )
            part.add_argument(
                "--log-topic-broker",
                choices=("key", "topic"),
                default="",
                help="what names the broker of a record: the message's key, or nothing (default: key)",
            )
        declare = acts.add_parser("declare", help="declare what a cluster does not show")
        declare.add_argument("cluster")
        _declarations(declare)
        pause = acts.add_parser("pause", help="stop connecting to a cluster: no syncs, approved changes wait")
        resume = acts.add_parser("resume", help="sync a paused cluster again")
        for part in (pause, resume):
            part.add_argument("cluster")
        remove = acts.add_parser("remove", help="forget a cluster; without --confirm, say what is kept")
        remove.add_argument("cluster")
        remove.add_argument("--confirm", metavar="NAME", help="the cluster's name as people call it")
        listed = acts.add_parser("list", help="list the clusters and their states")
        check = acts.add_parser("check", help="connect and read, without storing anything")
        check.add_argument("cluster")
        check.add_argument(
            "--strict", action="store_true", help="status 1 also where a right is no or unknown"
        )
        for part in (add, change, declare, pause, resume, remove, listed, check):
            part.add_argument("--json", action="store_true", help="print JSON, one object a line")

    def handle(self, *args: Any, act: str, **options: Any) -> None:
        try:
            {
                "add": self._add,
                "set": self._set,
                "declare": self._declare,
                "pause": self._pause,
                "resume": self._resume,
                "remove": self._remove,
                "list": self._list,
                "check": self._check,
            }[act](options)
        except (registering.RegisteringError, log_sources.LogSourceError, AclError) as error:
            raise CommandError(str(error), returncode=2) from error
        except removing.RemovingError as error:
            raise CommandError(str(error), returncode=1) from error

    def _add(self, options: dict[str, Any]) -> None:
        with transaction.atomic():
            cluster = registering.add(
                actor=at_the_shell(),
                slug=options["cluster"],
                kind=options["kind"],
                address=options["address"],
                **_settings(options, {}),
            )
            _set_logs(cluster, options)
            declaring.declare(cluster=cluster, actor=at_the_shell(), **_declared(options))
        for warning in client_settings.exposed(options):
            self.stderr.write(warning)
        slug = cluster.slug
        known = f"{slug} is known now. `cluster check {slug}` tries it, `sync {slug}` reads it at once."
        told = [*pem.described(cluster.options), *_of_service(cluster, options), known]
        self._print(_facts(cluster), "\n".join(told), options["json"])

    def _set(self, options: dict[str, Any]) -> None:
        cluster = cluster_named(options["cluster"])
        stored = client_settings.names_pem(options) and not options["options"]
        settings = _settings(options, cluster.options if stored else {})
        if options["address"]:
            settings["address"] = options["address"]
        changed = registering.change(actor=at_the_shell(), cluster=cluster, **settings)
        changed = _set_logs(cluster, options) or changed
        for warning in client_settings.exposed(options):
            self.stderr.write(warning)
        shown = pem.described(cluster.options) if "options" in settings else ()
        sentence = "Changed." if changed else "Nothing was to be changed."
        self._print(_facts(cluster), "\n".join([*shown, sentence]), options["json"])

    def _declare(self, options: dict[str, Any]) -> None:
        cluster = cluster_named(options["cluster"])
        changed = declaring.declare(cluster=cluster, actor=at_the_shell(), **_declared(options))
        sentence = "Declared." if changed else "That was declared already."
        self._print(_facts(cluster), "\n".join([sentence, *_of_service(cluster, options)]), options["json"])

    def _pause(self, options: dict[str, Any]) -> None:
        cluster = cluster_named(options["cluster"])
        changed = pausing.pause(actor=at_the_shell(), cluster=cluster)
        self._print(_facts(cluster), "Paused." if changed else "It was paused already.", options["json"])

    def _resume(self, options: dict[str, Any]) -> None:
        cluster = cluster_named(options["cluster"])
        changed = pausing.resume(actor=at_the_shell(), cluster=cluster)
        sentence = "Resumed. A worker syncs it soon." if changed else "It was not paused."
        self._print(_facts(cluster), sentence, options["json"])

    def _remove(self, options: dict[str, Any]) -> None:
        cluster = cluster_named(options["cluster"])
        plan = removing.plan(cluster)
        lines = ["Kept for auditors:", *(f"  {each}" for each in plan.kept)]
        lines += ["Deleted:", *(f"  {each}" for each in plan.deleted)]
        found = {"cluster": cluster.slug, "kept": plan.kept, "deleted": plan.deleted}
        if options["confirm"] is None:
            asked = f"Nothing was removed. To remove it, add --confirm {shlex.quote(cluster.name)}."
            self._print(found | {"removed": False}, "\n".join([*lines, asked]), options["json"])
            sys.exit(1)
        removing.remove(actor=at_the_shell(), cluster=cluster, confirmed=options["confirm"])
        done = f"{cluster.name} is removed. A worker deletes what was stored of it."
        self._print(found | {"removed": True}, "\n".join([*lines, done]), options["json"])

    def _list(self, options: dict[str, Any]) -> None:
        for cluster in Cluster.objects.select_related("revision"):
            state = status(cluster)
            badges = ", ".join(badge.text for badge in state.badges)
            same = checks.same_kafka_cluster(cluster, cluster.cluster_id, Cluster.objects.all())
            line = f"{cluster.slug}  {state.label}  {badges}. {state.sentence} {same}".rstrip()
            self._print(_facts(cluster), line, options["json"])

    def _check(self, options: dict[str, Any]) -> None:
        cluster = cluster_named(options["cluster"])
        checked = checks.check(cluster, connect)
        found = {
            "cluster": cluster.slug,
            "ok": checked.is_ok,
            "state": _state_of(checked),
            "sentence": checks.sentence_of(cluster, checked),
            "principal": checked.principal,
            "cluster_id": checked.facts.cluster_id,
            "kafka_version": checked.facts.kafka_version,
            "acls": len(checked.acls.bindings) if checked.acls else None,
            "topics": checked.topics,
            "groups": checked.groups,
            "topics_known": checked.known.topics if checked.known else Known.UNKNOWN,
            "groups_known": checked.known.groups if checked.known else Known.UNKNOWN,
            "problems": _problems_of(checked),
            "rights": [right.as_dict() for right in checked.rights],
        }
        lines = [str(found["sentence"])]
        for right in checked.rights:
            lines.append(f"  {right.answer:<8} {right.name:<16} {right.sentence}")
            if right.command:
                lines.append(f"{'':<28}{right.command}")
        lines += _problems_of(checked)
        self._print(found, "\n".join(lines), options["json"])
        missing = options["strict"] and any(right.answer != "yes" for right in checked.rights)
        if missing or not checked.is_ok:
            sys.exit(1)

    def _print(self, found: dict[str, Any], sentence: str, as_json: bool) -> None:
        self.stdout.write(json.dumps(found) if as_json else sentence)


def _set_logs(cluster: Cluster, options: dict[str, Any]) -> bool:
    """Have the paths and the topics that are given as log sources; return whether anything differs."""
    changed = False
    if options["logs"]:
        changed = log_sources.set_paths(
            actor=at_the_shell(),
            cluster=cluster,
            paths=options["logs"],
            recursive=options["logs_recursive"],
        )
    elif options["logs_recursive"] is not None:
        raise log_sources.LogSourceError(
            {"recursive": "--logs-recursive says how --logs is read; give --logs too."}
        )
    if options["log_topic"]:
        by = options["log_topic_broker"]
        changed |= log_sources.set_topics(
            actor=at_the_shell(), cluster=cluster, topics=options["log_topic"], broker_by=by
        )
    return changed


def _state_of(checked: checking.Checked) -> str:
    if checked.error is not None:
        return checked.error.state.value
    return "unreadable" if checked.acls is not None and checked.acls.unreadable else "ok"


def _problems_of(checked: checking.Checked) -> list[str]:
    return [f"{one.where}: {one.sentence}" for one in (checked.acls.problems if checked.acls else ())]


def _declarations(parser: Any) -> None:
    parser.add_argument(
        "--super-users", metavar="TEXT", help="super.users as the brokers have it; 'unknown' takes it back"
    )
    parser.add_argument(
        "--allow-everyone",
        choices=("true", "false", "unknown"),
        help="allow.everyone.if.no.acl.found as the brokers have it",
    )
    parser.add_argument(
        "--authorizer-is",
        choices=("on", "off", "unknown"),
        help="for ZooKeeper, which does not show whether the brokers use its ACLs",
    )
    parser.add_argument(
        "--service",
        choices=(*SERVICES, "none"),
        help="the managed service that runs it: declares what its documents say of what is undeclared",
    )


def _declared(options: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if options["super_users"] is not None:
        found["super_users"] = None if options["super_users"] == "unknown" else options["super_users"]
    if options["allow_everyone"] is not None:
        found["allow_everyone"] = _YES.get(options["allow_everyone"])
    if options["authorizer_is"] is not None:
        found["authorizer_declared"] = (
            "" if options["authorizer_is"] == "unknown" else options["authorizer_is"]
        )
    if options["service"] is not None:
        found["service"] = "" if options["service"] == "none" else options["service"]
    return found


def _of_service(cluster: Cluster, options: dict[str, Any]) -> list[str]:
    """Return what each answer about the cluster says of its service, where one is given."""
    service = SERVICES.get(options["service"] or "")
    if service is None:
        return []
    default = {None: "not declared", True: "true", False: "false"}[cluster.allow_everyone]
    super_users = "not declared" if cluster.super_users is None else cluster.super_users or "empty"
    declared = f"{service.title}: {ALLOW_EVERYONE_KEY} is {default}, {SUPER_USERS_KEY} is {super_users}."
    return [declared, *filter(None, (service.hidden, service.on_changes))]


def _settings(options: dict[str, Any], stored: dict[str, str]) -> dict[str, Any]:
    """Return the settings that are given. stored: client settings that files named one by one are added to."""
    given = {name: options[name] for name in ("name", "authorizer", "kafka_version")}
    given["approvals_needed"] = options["approvals"]
    given["changes_enabled"] = _YES.get(options["changes"] or "")
    if client_settings.are_given(options):
        given["options"] = client_settings.read(options, stored)
    return {name: value for name, value in given.items() if value is not None}


def _facts(cluster: Cluster) -> dict[str, Any]:
    state = status(cluster)
    return {
        "cluster": cluster.slug,
        "name": cluster.name,
        "kind": cluster.kind,
        "address": cluster.address,
        "authorizer": cluster.authorizer,
        "kafka_version": cluster.kafka_version,
        "authorizer_read": broker_settings.authorizer(cluster).is_read,
        "super_users": cluster.super_users,
        "allow_everyone": cluster.allow_everyone,
        "service": cluster.service,
        "changes_enabled": cluster.changes_enabled,
        "paused_at": cluster.paused_at.isoformat() if cluster.paused_at else None,
        "state": cluster.state,
        "sentence": state.sentence,
        "topics_known": cluster.topics_listed,
        "groups_known": cluster.groups_listed,
        "revision": cluster.revision.number if cluster.revision else None,
        "acls": cluster.revision.acls if cluster.revision else None,
        "read_at": cluster.read_at.isoformat() if cluster.read_at else None,
    }
