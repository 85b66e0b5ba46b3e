"""Record that somebody changed their own password, and end their sessions elsewhere.

Django ends every session that was begun with the old password by itself: each holds a
hash of it. API tokens are no sessions and stay.
"""

from __future__ import annotations

from aclweb.accounts import people
from aclweb.accounts.models import User
from aclweb.audit import trail

trail.register("password.changed", "{actor} changed their own password; their sessions elsewhere ended.")


def changed(user: User) -> None:
    """Record the change; the caller stores the password in the same transaction."""
    User.objects.filter(pk=user.pk).update(password_is_first=False)
    trail.record(actor=user, verb="password.changed", target=people.account(user))
