"""`manage.py token issue|list|revoke`: keys with which programs call the API.

The secret is printed once, by `issue`, and is kept nowhere. Exit status: 0 done; 2 bad
usage or an unknown user or token.
"""

from __future__ import annotations

import getpass
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aclweb.accounts import directory, tokens
from aclweb.accounts.models import ApiToken, User
from aclweb.acl.model import visible
from aclweb.inventory.models import Cluster


class Command(BaseCommand):
    help = "Issue, list or revoke API tokens."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        # Django's parser is of its own class, and so are those of the parts.
        acts = parser.add_subparsers(dest="act", required=True, metavar="issue|list|revoke")
        issue = acts.add_parser("issue", help="make a token and print its secret, once")
        issue.add_argument("owner", help="the account it acts for, with no more rights than that has")
        issue.add_argument("name", help="what uses it")
        issue.add_argument("--days", type=int, default=30, help="1 to 90, by default 30")
        issue.add_argument(
            "--cluster", help="the only cluster of which it may ask; by default all its account sees"
        )
        listed = acts.add_parser("list", help="list the tokens, without their secrets")
        listed.add_argument("--owner", help="only this account's")
        revoke = acts.add_parser("revoke", help="revoke a token")
        revoke.add_argument("prefix", help="the beginning of the token, as `list` prints it")
        for part in (issue, listed, revoke):
            part.add_argument("--json", action="store_true", help="print JSON, one object a line")

    def handle(self, *args: Any, act: str, **options: Any) -> None:
        {"issue": self._issue, "list": self._list, "revoke": self._revoke}[act](options)

    def _issue(self, options: dict[str, Any]) -> None:
        try:
            token, secret = tokens.issue(
                _user(options["owner"]),
                options["name"],
                options["days"],
                actor=_shell(),
                cluster=_cluster(options["cluster"]) if options["cluster"] else None,
            )
        except tokens.TokenError as error:
            raise CommandError(str(error), returncode=2) from error
        self._print(
            {**_facts(token), "secret": secret},
            f"{secret}\nValid until {token.expires_at:%Y-%m-%d %H:%M} UTC. It is shown only once; store it safely.",
            options["json"],
        )

    def _list(self, options: dict[str, Any]) -> None:
        owner = _user(options["owner"]) if options["owner"] else None
        for token in directory.tokens(owner=owner).order_by("owner__username", "name"):
            used = f"{token.last_used_at:%Y-%m-%d %H:%M} UTC" if token.last_used_at else "never"
            sentence = (
                f"{token.prefix}  {token.owner.get_username()}  {visible(token.name)}  "
                f"{f'only {token.cluster.slug}  ' if token.cluster else ''}"
                f"until {token.expires_at:%Y-%m-%d %H:%M} UTC  last used {used}"
            )
            self._print(_facts(token), sentence, options["json"])

    def _revoke(self, options: dict[str, Any]) -> None:
        token = directory.tokens().filter(prefix=options["prefix"]).first()
        if token is None:
            raise CommandError(
                f"No token begins with {options['prefix']!r}; `token list` prints the beginnings.",
                returncode=2,
            )
        facts = _facts(token)
        tokens.revoke(token, actor=_shell())
        self._print(
            facts, f"{visible(token.name)} of {token.owner.get_username()} is revoked.", options["json"]
        )

    def _print(self, found: dict[str, Any], sentence: str, as_json: bool) -> None:
        self.stdout.write(json.dumps(found) if as_json else sentence)


def _facts(token: ApiToken) -> dict[str, Any]:
    return {
        "prefix": token.prefix,
        "name": token.name,
        "owner": token.owner.get_username(),
        "cluster": token.cluster.slug if token.cluster else None,
        "expires_at": token.expires_at.isoformat(),
        "last_used_at": token.last_used_at.isoformat() if token.last_used_at else None,
    }


def _user(name: str) -> User:
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(
            f"There is no account {name!r}; `manage.py createsuperuser` makes one.", returncode=2
        )
    return user


def _cluster(slug: str) -> Cluster:
    cluster = Cluster.objects.filter(slug=slug).first()
    if cluster is None:
        raise CommandError(
            f"There is no cluster {slug!r}; `manage.py cluster list` names them.", returncode=2
        )
    return cluster


def _shell() -> str:
    return f"{getpass.getuser()} (shell)"
