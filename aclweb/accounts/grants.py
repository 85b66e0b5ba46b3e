"""Give somebody a role on a cluster, or take it away, with a record of who did so."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.db import transaction

from aclweb.accounts.models import Grant, Role, User
from aclweb.audit import trail
from aclweb.inventory.models import Cluster

trail.register("grant.given", "{actor} made {who} {role} on {cluster}{names}.")
trail.register("grant.taken", "{actor} took from {who} the role {role} on {cluster}{names}.")


def give(
    *, actor: User | str, to: User | Group, role: Role, cluster: Cluster, name_prefix: str = ""
) -> Grant:
    """Give the role and return the grant; giving what somebody has already changes nothing."""
    with transaction.atomic():
        user, group = (to, None) if isinstance(to, User) else (None, to)
        grant, made = Grant.objects.get_or_create(
            user=user, group=group, cluster=cluster, role=role, name_prefix=name_prefix
        )
        if made:
            _record(actor, "grant.given", grant)
        return grant


def take(*, actor: User | str, grant: Grant) -> None:
    """Take the role away; what it allowed is refused from now on."""
    with transaction.atomic():
        _record(actor, "grant.taken", grant)
        Grant.objects.filter(pk=grant.pk).delete()


def _record(actor: User | str, verb: str, grant: Grant) -> None:
    trail.record(
        actor=actor,
        verb=verb,
        target=f"cluster:{grant.cluster.slug}",
        who=str(grant.user) if grant.user is not None else f"the group {grant.group}",
        role=grant.get_role_display(),
        cluster=grant.cluster.name,
        names=f" for names that start with {grant.name_prefix!r}" if grant.name_prefix else "",
    )
