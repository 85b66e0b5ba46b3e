"""What does somebody say of a cluster that nobody can read from it, and who said so?

Brokers hide whether they allow everyone where no ACL exists, and who their super users
are. A declaration counts for every answer from the next page on, so it is an audit event
with what was declared before and after.
"""

from __future__ import annotations

from django.db import transaction

from aclweb.audit import trail
from aclweb.inventory.models import Cluster

trail.register(
    "cluster.declared",
    "{actor} declared of {cluster}: where no ACL exists, {default}; super users: {super_users}. "
    "Before: {default_before}; super users: {super_users_before}.",
)


def declare(
    *, cluster: Cluster, actor: trail.Named, allow_everyone: bool | None, super_users: str | None
) -> bool:
    """Store what is declared; None takes a declaration back. Returns False if nothing differs.

    The caller has checked that `actor` administers the cluster, and that brokers would
    start with this text of `super.users`.
    """
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(pk=cluster.pk)
        if (row.allow_everyone, row.super_users) == (allow_everyone, super_users):
            return False
        before = (row.allow_everyone, row.super_users)
        row.allow_everyone, row.super_users = allow_everyone, super_users
        row.save(update_fields=["allow_everyone", "super_users"])
        trail.record(
            actor=actor,
            verb="cluster.declared",
            target=row.slug,
            cluster=row.name,
            default=_default(allow_everyone),
            super_users=_super_users(super_users),
            default_before=_default(before[0]),
            super_users_before=_super_users(before[1]),
        )
    return True


def _default(allow_everyone: bool | None) -> str:
    return {None: "not declared", True: "everyone is allowed", False: "everyone is refused"}[allow_everyone]


def _super_users(text: str | None) -> str:
    return "not declared" if text is None else text or "none"
