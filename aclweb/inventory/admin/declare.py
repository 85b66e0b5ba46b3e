"""Say of a cluster what it does not tell itself, with a record of who said so."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from aclweb.acl.model import ALLOW_EVERYONE_KEY, SERVICES, SUPER_USERS_KEY, AclError, AuthorizerSettings
from aclweb.audit import trail
from aclweb.inventory.current import broker_settings, declared
from aclweb.inventory.findings import tasks as lint_tasks
from aclweb.inventory.models import Cluster, Declaration

trail.register("cluster.declared", "{actor} declared of {cluster}: {told}.")


class AuthorizerShown(AclError):
    """Whether brokers run an authorizer is declared of a cluster that shows it itself."""


class _Unchanged:
    """Stands for what a declaration leaves as it is, since None means that nobody has declared it."""


UNCHANGED = _Unchanged()


def declare(
    *,
    cluster: Cluster,
    actor: trail.Named | str,
    allow_everyone: bool | _Unchanged | None = UNCHANGED,
    super_users: str | _Unchanged | None = UNCHANGED,
    authorizer_declared: str | _Unchanged = UNCHANGED,
    service: str | _Unchanged = UNCHANGED,
) -> bool:
    """Store what is declared; None takes a declaration back. Return False if nothing differs.

    super_users: the text of super.users as the brokers have it, "" for none. service: the managed service that runs
    the brokers, by its name in SERVICES, "" for none; one that differs declares by its documents what nobody has
    declared. Raises AuthorizerShown where authorizer_declared is given for a cluster that shows its authorizer, and
    AclError for a text with which these brokers would not start, and for an unknown service.
    """
    wanted: dict[str, Any] = {
        field: value
        for field, value in (
            ("allow_everyone", allow_everyone),
            ("super_users", super_users),
            ("authorizer_declared", authorizer_declared),
            ("service", service),
        )
        if not isinstance(value, _Unchanged)
    }
    if wanted.get("authorizer_declared") and not cluster.source.hides_authorizer:
        raise AuthorizerShown(
            "Whether brokers run an authorizer is declared only of a cluster that is read from ZooKeeper, which does "
            f"not show it; {cluster.name} is read in another way."
        )
    if wanted.get("super_users") is not None:
        AuthorizerSettings.read(
            authorizer=cluster.authorizer, config={SUPER_USERS_KEY: wanted["super_users"]}
        )
    if wanted.get("service"):
        AuthorizerSettings(service=wanted["service"])
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(pk=cluster.pk)
        before = Declaration.values_of(row)
        wanted |= _by_service(row, wanted)
        differing = {field: value for field, value in wanted.items() if getattr(row, field) != value}
        for field, value in differing.items():
            setattr(row, field, value)
            setattr(cluster, field, value)
        if not differing:
            return False
        broker_settings.forget(row, differing)
        cluster.settings_read = row.settings_read
        row.save(update_fields=[*differing, "settings_read"])
        declared.keep(row, before=before, actor=actor, since=timezone.now())
        trail.record(
            actor=actor,
            verb="cluster.declared",
            target=f"cluster:{row.slug}",
            cluster=row.name,
            told="; ".join(_in_words(field, value) for field, value in differing.items()),
            **differing,
        )
        if row.revision_id is not None:
            # What is found in the ACLs hangs on it. After the commit, or a worker could read what was declared before.
            transaction.on_commit(partial(lint_tasks.lint_cluster.delay, row.pk), robust=True)
    return True


def _by_service(row: Cluster, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the service's documents say of fields that are undeclared, where the service is a new one."""
    preset = SERVICES.get(wanted.get("service", row.service))
    if preset is None or preset.name == row.service:
        return {}
    documented = {"allow_everyone": preset.allow_everyone, "super_users": preset.super_users}
    return {
        field: value
        for field, value in documented.items()
        if value is not None and wanted.get(field, getattr(row, field)) is None
    }


def _in_words(field: str, value: object) -> str:
    if field == "authorizer_declared":
        return f"the authorizer is {value}" if value else "whether it runs an authorizer is open again"
    if field == "service":
        return f"it is run by {SERVICES[str(value)].title}" if value else "no managed service runs it"
    key = {"allow_everyone": ALLOW_EVERYONE_KEY, "super_users": SUPER_USERS_KEY}[field]
    if value is None:
        return f"{key} is open again"
    return f"{key} is {str(value).lower() if isinstance(value, bool) else value or 'empty'}"
