"""Change one's own password, with a record of it.

Django ends every session that was begun with the old password by itself: each holds a
hash of it. API tokens are no sessions and stay.
"""

from __future__ import annotations

from django.db import transaction

from aclweb.accounts import people
from aclweb.accounts.models import User
from aclweb.audit import trail

trail.register("password.changed", "{actor} changed their own password; their sessions elsewhere ended.")


class PasswordError(Exception):
    """A password that cannot be stored any more; the message says why."""


def change(user: User, password: str) -> None:
    """Store the password, and nothing else of `user`: what others changed of the account meanwhile stays.

    Raises PasswordError where the account was switched off, or given another password, since `user` was read.
    """
    known = user.password
    user.set_password(password)
    with transaction.atomic():
        if not User.objects.filter(pk=user.pk, password=known, is_active=True).update(
            password=user.password, password_is_first=False
        ):
            raise PasswordError(
                "Somebody changed this account meanwhile, so its password stays. Sign in again."
            )
        trail.record(actor=user, verb="password.changed", target=people.account(user))
