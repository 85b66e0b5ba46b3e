"""Make a cluster known, change where it is and how it is treated, with a record of who did so.

Values are checked here, whoever asks; nothing connects. What is secret (`options`) is
recorded by the names of its settings only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from aclweb.acl.model import AclError, AuthorizerSettings
from aclweb.audit import trail
from aclweb.clusters import KINDS, ClusterError, ClusterKind
from aclweb.clusters.connection import check_options
from aclweb.inventory.current import declared
from aclweb.inventory.models import Cluster, Declaration

trail.register("cluster.added", "{actor} made the cluster {cluster} known, read from {address} ({kind}).")
trail.register("cluster.set", "{actor} changed of {cluster}: {told}.")

_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_LONGEST_ADDRESS = 1000
_SETTABLE = (
    "name",
    "address",
    "options",
    "authorizer",
    "kafka_version",
    "changes_enabled",
    "approvals_needed",
)


class RegisteringError(Exception):
    """A cluster that cannot be made known, or changed, as asked; the message says what would do."""


def add(*, actor: trail.Named | str, slug: str, kind: str, address: str, **settings: Any) -> Cluster:
    """Make a cluster known and return it; it is not read yet. settings: see `change`.

    The authorizer follows from the kind where it is not given.
    """
    if not _SLUG.fullmatch(slug):
        raise RegisteringError(
            f"{slug!r} cannot be used in an address; use up to 60 small letters, digits and hyphens, such as prod-eu."
        )
    if kind not in KINDS:
        raise RegisteringError(f"{kind!r} is no kind of cluster; use {', '.join(KINDS)}.")
    source = KINDS[kind]
    address = _address(source, address)
    cluster = Cluster(slug=slug, name=slug, kind=kind, address=address, authorizer=source.default_authorizer)
    _set(cluster, settings)
    try:
        with transaction.atomic():
            cluster.save(force_insert=True)
            trail.record(
                actor=actor,
                verb="cluster.added",
                target=f"cluster:{slug}",
                cluster=cluster.name,
                address=address,
                kind=kind,
            )
    except IntegrityError as error:
        raise RegisteringError(f"There is a cluster {slug!r} already; choose another name.") from error
    return cluster


def change(*, actor: trail.Named | str, cluster: Cluster, **settings: Any) -> bool:
    """Change settings of a cluster (those of _SETTABLE); return False if nothing differs."""
    if "address" in settings:
        settings["address"] = _address(cluster.source, settings["address"])
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(pk=cluster.pk)
        before = Declaration.values_of(row)
        differing = {name: value for name, value in settings.items() if getattr(row, name) != value}
        if not differing:
            return False
        _set(row, differing)
        row.save(update_fields=list(differing))
        declared.keep(row, before=before, actor=actor, since=timezone.now())
        trail.record(
            actor=actor,
            verb="cluster.set",
            target=f"cluster:{row.slug}",
            cluster=row.name,
            told=", ".join(_in_words(name, value) for name, value in differing.items()),
        )
    cluster.refresh_from_db(from_queryset=Cluster.objects.select_related("revision"))
    return True


def _address(source: ClusterKind, address: str) -> str:
    """Return the address as it is stored; raises RegisteringError where it can be none of this kind."""
    if not address.strip() or len(address) > _LONGEST_ADDRESS:
        raise RegisteringError(f"The address {address[:60]!r} is none; write {source.address_form}.")
    try:
        return source.normalised(address)
    except ClusterError as error:
        raise RegisteringError(str(error)) from error


def _set(cluster: Cluster, settings: Mapping[str, Any]) -> None:
    for name, value in settings.items():
        if name not in _SETTABLE:
            raise RegisteringError(f"{name!r} is not a setting of a cluster; use {', '.join(_SETTABLE)}.")
        setattr(cluster, name, value)
    if not 1 <= len(cluster.name) <= 100:
        raise RegisteringError("A cluster's name has 1 to 100 characters.")
    if cluster.approvals_needed < 1:
        raise RegisteringError(
            "A change needs at least one approval, so that no one person changes a cluster."
        )
    source = cluster.source
    if cluster.changes_enabled and not source.can_write:
        raise RegisteringError(
            f"A cluster known from {source.source} cannot be written to; leave its changes switched off."
        )
    if cluster.authorizer not in Cluster.Authorizer.values:
        raise RegisteringError(
            f"No broker has the authorizer {cluster.authorizer!r}; use {' or '.join(Cluster.Authorizer.values)}."
        )
    try:
        AuthorizerSettings(authorizer=cluster.authorizer, kafka_version=cluster.kafka_version)
        check_options(source, cluster.options)
    except (AclError, ClusterError) as error:
        raise RegisteringError(str(error)) from error


def _in_words(name: str, value: object) -> str:
    if name == "options":
        names = sorted(value) if isinstance(value, Mapping) else []
        return f"how to log in ({', '.join(names) or 'no setting'})"
    words = name.replace("_", " ")
    if isinstance(value, bool):
        return f"{words} {'on' if value else 'off'}"
    return f"{words} is {value}"
