"""`manage.py change submit|approve|apply CHANGE --as USER`: the same steps as on the pages, from the shell.

Off unless ACLWEB_SHELL_CHANGES is on: whoever has the shell can name any user. The same
rules hold as on the pages, nobody approves a change of their own, and the audit trail
says that the shell was used and by which account of the machine.

Exit status: 0 done; 1 this change, or this user, may not take that step now, or the
change did not end in force; 2 bad usage.
"""

from __future__ import annotations

import getpass
import json
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from aclweb.accounts.models import User
from aclweb.acl.authorizer import edit_caveats
from aclweb.audit import trail
from aclweb.changes import policy, queries, review, rollout
from aclweb.changes.models import Change, ChangeError
from aclweb.inventory.current import settings_of

trail.register("change.from_shell", "{actor} used the shell to {act} it, as {login} on the server.")


class Command(BaseCommand):
    help = "Submit, approve or apply a change from the shell."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("act", choices=("submit", "approve", "apply"))
        parser.add_argument("change", help="the change, such as CR-12")
        parser.add_argument("--as", dest="user", required=True, metavar="USER", help="who takes this step")
        parser.add_argument("--comment", default="", help="what an approver says")
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of a sentence")

    def handle(
        self, *args: Any, act: str, change: str, user: str, comment: str, json: bool, **_: Any
    ) -> None:
        if not settings.ACLWEB_SHELL_CHANGES:
            raise CommandError(
                "Changes from the shell are switched off; set ACLWEB_SHELL_CHANGES=true to allow them.",
                returncode=2,
            )
        actor = _user(user)
        found = _change(actor, change)
        try:
            with transaction.atomic():
                trail.record(
                    actor=actor, verb="change.from_shell", target=found.key, act=act, login=getpass.getuser()
                )
                if act == "submit":
                    review.submit(change=found, actor=actor)
                elif act == "approve":
                    review.approve(change=found, reviewer=actor, comment=comment)
                elif found.state != Change.State.QUEUED:
                    review.queue(change=found, actor=actor)
                else:
                    _require_runner(found, actor)
        except ChangeError as error:
            raise CommandError(str(error), returncode=1) from error
        if act == "apply":
            rollout.apply(found.pk)
        found.refresh_from_db()
        self._print(found, json)
        if act == "apply" and found.state != Change.State.APPLIED:
            sys.exit(1)

    def _print(self, change: Change, as_json: bool) -> None:
        approvals = policy.counted_approvals(change)
        sentence = queries.headline(change, given=len(approvals.counted), needed=change.approvals_needed)
        caveats = edit_caveats(settings_of(change.cluster))
        if as_json:
            told = {"change": change.key, "state": change.state, "sentence": sentence, "caveats": caveats}
            self.stdout.write(json.dumps(told))
        else:
            self.stdout.write("\n".join([f"{change.key}: {sentence}", *caveats]))


def _user(name: str) -> User:
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise CommandError(f"There is no active account {name!r}; name one that can sign in.", returncode=2)
    return user


def _change(actor: User, text: str) -> Change:
    number = text.upper().removeprefix("CR-")
    found = queries.change_of(actor, int(number)) if number.isascii() and number.isdigit() else None
    if found is None:
        raise CommandError(f"{actor} can see no change {text!r}; write it as CR-12.", returncode=2)
    return found


def _require_runner(change: Change, actor: User) -> None:
    allowed, why_not = policy.may_run(change, actor)
    if not allowed:
        raise ChangeError(why_not)
