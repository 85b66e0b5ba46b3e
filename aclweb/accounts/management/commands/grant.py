"""`manage.py grant give|take|list`: who has which role on which cluster.

Exit status: 0 done; 1 there was no such role to take; 2 bad usage, or an unknown
account, group or cluster.
"""

from __future__ import annotations

import getpass
import json
import sys
from typing import Any

from django.contrib.auth.models import Group
from django.core.management.base import BaseCommand, CommandError, CommandParser

from aclweb.accounts import grants, people
from aclweb.accounts.models import Grant, Role, User
from aclweb.acl.model import visible
from aclweb.inventory.models import Cluster

_ROLES = {role.label: role for role in Role}


class Command(BaseCommand):
    help = "Give, take or list roles on clusters."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="give|take|list")
        for act in ("give", "take"):
            part = acts.add_parser(act)
            part.add_argument("who", help="an account, or with --group a group of accounts")
            part.add_argument("role", choices=list(_ROLES))
            part.add_argument("cluster")
            part.add_argument("--group", action="store_true", help="WHO is a group")
            part.add_argument("--prefix", default="", help="only for names that start with this")
            part.add_argument("--json", action="store_true", help="print JSON")
        listed = acts.add_parser("list")
        listed.add_argument("--cluster", help="only on this cluster")
        listed.add_argument("--json", action="store_true", help="print JSON, one object a line")

    def handle(self, *args: Any, act: str, **options: Any) -> None:
        if act == "list":
            self._list(options)
            return
        role, cluster, prefix = _ROLES[options["role"]], _cluster(options["cluster"]), options["prefix"]
        to = _group(options["who"], make=act == "give") if options["group"] else _user(options["who"])
        if act == "give":
            try:
                grant = grants.give(actor=_shell(), to=to, role=role, cluster=cluster, name_prefix=prefix)
            except grants.GrantError as error:
                raise CommandError(str(error), returncode=2) from error
            self._print(grant, f"{to} is {role.label} on {cluster.name}{_names(prefix)}.", options["json"])
            return
        held = Grant.objects.filter(role=role, cluster=cluster, name_prefix=prefix)
        found = (held.filter(user=to) if isinstance(to, User) else held.filter(group=to)).first()
        if found is None:
            self.stderr.write(f"{visible(str(to))} is not {role.label} on {cluster.name}{_names(prefix)}.")
            sys.exit(1)
        self._print(
            found, f"{to} is no longer {role.label} on {cluster.name}{_names(prefix)}.", options["json"]
        )
        grants.take(actor=_shell(), grant=found)

    def _list(self, options: dict[str, Any]) -> None:
        cluster = _cluster(options["cluster"]) if options["cluster"] else None
        for grant in grants.listed(cluster=cluster):
            self._print(
                grant,
                f"{grant.cluster.slug}  {grant.user or grant.group}  {grant.get_role_display()}"
                f"{_names(grant.name_prefix)}",
                options["json"],
            )

    def _print(self, grant: Grant, sentence: str, as_json: bool) -> None:
        found = {
            "cluster": grant.cluster.slug,
            "user": grant.user.get_username() if grant.user else None,
            "group": grant.group.name if grant.group else None,
            "role": grant.get_role_display(),
            "name_prefix": grant.name_prefix,
        }
        self.stdout.write(json.dumps(found) if as_json else visible(sentence))


def _names(prefix: str) -> str:
    return f" for names that start with {prefix!r}" if prefix else ""


def _user(name: str) -> User:
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(
            f"There is no account {name!r}; `manage.py createsuperuser` makes one.", returncode=2
        )
    return user


def _group(name: str, *, make: bool) -> Group:
    try:
        group = people.group_named(name) if make else Group.objects.filter(name=name).first()
    except people.PeopleError as error:
        raise CommandError(str(error), returncode=2) from error
    if group is None:
        raise CommandError(f"There is no group {name!r}; `grant list` names those with a role.", returncode=2)
    return group


def _cluster(slug: str) -> Cluster:
    cluster = Cluster.objects.filter(slug=slug).first()
    if cluster is None:
        raise CommandError(
            f"There is no cluster {slug!r}; `manage.py cluster list` names them.", returncode=2
        )
    return cluster


def _shell() -> str:
    return f"{getpass.getuser()} (shell)"
