"""Keys for programs: made once, shown once, kept only as a hash.

A token acts for its owner and never with more rights than the owner has at that moment.
The secret is `aclw_` and 256 random bits; its first characters find the row, and the
comparison takes the same time whatever was sent.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from aclweb.accounts import access
from aclweb.accounts.models import ApiToken, User
from aclweb.audit import trail
from aclweb.inventory.models import Cluster

MARK = "aclw_"
LONGEST_DAYS = 90
_SECRET = re.compile(rf"{MARK}[A-Za-z0-9_-]{{43}}")
_PREFIX_LENGTH = len(MARK) + 11  # 66 random bits: no two tokens share them
# How often the time of last use is written: a busy program must not cost a write for each request.
_USE_NOTED_EVERY = timedelta(minutes=1)

trail.register("token.issued", "{actor} issued the API token {name} for {owner}, valid until {expires}.")
trail.register(
    "token.issued-on",
    "{actor} issued the API token {name} for {owner}, limited to {cluster}, valid until {expires}.",
)
trail.register("token.revoked", "{actor} revoked the API token {name} of {owner}.")


class TokenError(Exception):
    """A token that cannot be made as asked; the message says what would do. field: of `issue`, the wrong one."""

    def __init__(self, field: str, sentence: str) -> None:
        self.field = field
        super().__init__(sentence)


def issue(
    owner: User, name: str, days: int, *, actor: User | str | None = None, cluster: Cluster | None = None
) -> tuple[ApiToken, str]:
    """Make a token and return it with its secret, which nobody can read again.

    cluster: the only one of which it may ask; None for all that its owner sees, also later.
    Raises TokenError unless it lasts 1 to 90 days, has a name and an active owner, who may look at the cluster.
    """
    if not 1 <= days <= LONGEST_DAYS:
        raise TokenError("days", f"A token lasts 1 to {LONGEST_DAYS} days, and {days} was asked for.")
    if not 1 <= len(name.strip()) <= 100 or "\x00" in name:
        raise TokenError("name", "A token needs a name of 1 to 100 characters that says what uses it.")
    if not owner.is_active:
        raise TokenError("owner", f"{owner.get_username()} is switched off, so a token would not work.")
    if cluster is not None and not access.may(owner, "view", cluster):
        raise TokenError("cluster", f"{owner.get_username()} has no role on {cluster.name}.")
    secret = MARK + secrets.token_urlsafe(32)
    with transaction.atomic():
        token = ApiToken.objects.create(
            owner=owner,
            name=name.strip(),
            prefix=secret[:_PREFIX_LENGTH],
            digest=_digest(secret),
            expires_at=timezone.now() + timedelta(days=days),
            cluster=cluster,
        )
        trail.record(
            actor=actor or owner,
            verb="token.issued" if cluster is None else "token.issued-on",
            target=f"token:{token.prefix}",
            name=token.name,
            owner=owner.get_username(),
            expires=f"{token.expires_at:%Y-%m-%d %H:%M} UTC",
            **({} if cluster is None else {"cluster": cluster.name}),
        )
    return token, secret


def beginning(text: str) -> str:
    """Return the part of a token that finds it and opens nothing; any other text as it is."""
    return text[:_PREFIX_LENGTH] if text.startswith(MARK) else text


def check(secret: str) -> ApiToken | None:
    """Return the token with this secret, with its owner, if it is valid now."""
    if _SECRET.fullmatch(secret) is None:
        return None
    token = ApiToken.objects.select_related("owner").filter(prefix=secret[:_PREFIX_LENGTH]).first()
    digest = token.digest if token is not None else "0" * 64
    if not hmac.compare_digest(digest, _digest(secret)) or token is None:
        return None
    now = timezone.now()
    if token.expires_at <= now or not token.owner.is_active:
        return None
    if token.last_used_at is None or now - token.last_used_at > _USE_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
        token.last_used_at = now
    token.owner.only_cluster = token.cluster_id
    return token


def revoke(token: ApiToken, *, actor: User | str) -> None:
    """Revoke the token: it is refused from now on."""
    with transaction.atomic():
        owner = token.owner.get_username()
        trail.record(
            actor=actor, verb="token.revoked", target=f"token:{token.prefix}", name=token.name, owner=owner
        )
        ApiToken.objects.filter(pk=token.pk).delete()


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("ascii")).hexdigest()
