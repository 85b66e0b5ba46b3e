"""Make a cluster known, and change where it is and how it is treated, with a record of who did so.

Values are checked here, whoever asks; nothing connects. What is secret (`options`) is
recorded by the names of its settings only.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Any

from django.conf import settings as site
from django.core.exceptions import ImproperlyConfigured
from django.db import IntegrityError, transaction
from django.utils import timezone

from aclweb.acl.model import AclError, AuthorizerSettings
from aclweb.audit import trail
from aclweb.clusters import KINDS, AllowedHosts, ClusterError, ClusterKind
from aclweb.clusters.connection import CLIENT_SECRET, ENDPOINT, option_faults
from aclweb.inventory.admin import events
from aclweb.inventory.current import declared
from aclweb.inventory.models import Cluster, Declaration

trail.register("cluster.added", "{actor} made the cluster {cluster} known, read from {address} ({kind}).")
trail.register("cluster.set", "{actor} changed of {cluster}: {told}.")

_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_LONGEST_ADDRESS = 1000
_MOST_APPROVALS = 100
_SETTABLE = (
    "name",
    "kind",
    "address",
    "options",
    "authorizer",
    "kafka_version",
    "changes_enabled",
    "approvals_needed",
)


class RegisteringError(Exception):
    """A cluster that cannot be made known, or changed, as asked.

    faults: what would do, as sentences by what is wrong: `slug`, a setting of a cluster such as `address`, or a
    client setting such as `sasl.username`; `options` where that cannot be told.
    """

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(" ".join(faults.values()))
        self.faults = dict(faults)


def add(
    *,
    actor: trail.Named | str,
    slug: str,
    kind: str,
    address: str,
    within: AllowedHosts | None = None,
    paused: bool = False,
    **settings: Any,
) -> Cluster:
    """Make a cluster known and return it; it is not read yet. settings: see `change`.

    The authorizer follows from the kind where it is not given. within: the hosts that the address may name, and that
    connections are held to from then on; None for any, as at the shell. paused: nothing connects to it until somebody
    resumes it. Raises RegisteringError with all that is wrong.
    """
    if kind not in KINDS:
        raise RegisteringError({"kind": f"{kind!r} is no kind of cluster; use {', '.join(KINDS)}."})
    source = KINDS[kind]
    faults: dict[str, str] = {}
    if not _SLUG.fullmatch(slug):
        faults["slug"] = (
            f"{slug!r} cannot be used in an address; use up to 60 small letters, digits and hyphens, such as prod-eu."
        )
    elif Cluster.objects.filter(slug=slug).exists():
        faults["slug"] = _TAKEN.format(slug=slug)
    elif Cluster.including_removed.filter(removed_slug=slug, deleted_at__isnull=True).exists():
        faults["slug"] = _BEING_DELETED.format(slug=slug)
    address = _address(source, address, within, faults)
    cluster = Cluster(
        slug=slug,
        name=slug,
        kind=kind,
        address=address,
        authorizer=source.default_authorizer,
        held_to_hosts=within is not None,
        events_after=events.end_of_removed(slug),
    )
    if paused:
        cluster.paused_at, cluster.paused_by = (
            timezone.now(),
            actor if isinstance(actor, str) else actor.get_username(),
        )
    _set(cluster, settings, faults)
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
        raise RegisteringError({"slug": _TAKEN.format(slug=slug)}) from error
    return cluster


def change(
    *, actor: trail.Named | str, cluster: Cluster, within: AllowedHosts | None = None, **settings: Any
) -> bool:
    """Change settings of a cluster (those of _SETTABLE); return False if nothing differs.

    within: as `add` has it, for an address that differs. Raises RegisteringError with all that is wrong.
    """
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(pk=cluster.pk)
        before = Declaration.values_of(row)
        differing = _change(row, within, settings)
        if not differing:
            return False
        changed = set(differing)
        if "address" in differing:
            changed.add("held_to_hosts")
        if changed & {"kind", "address", "options"}:
            row.read_marks = None  # another login may see other nodes
            # What a sync under way reads, or fails to, is not what is asked for from now on.
            row.reading_stored = row.readings_begun
            changed |= {"read_marks", "reading_stored"}
        if "kind" in differing:
            changed.add("settings_read")
        row.save(update_fields=sorted(changed))
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


def change_unread(
    *,
    actor: trail.Named | str,
    cluster: Cluster,
    within: AllowedHosts,
    given: Container[str],
    **settings: Any,
) -> bool:
    """Change settings as `change` does, for somebody who never reads a stored secret; False if nothing differs.

    given: the client settings of `options` that this person has just given; the others are stored ones. Raises
    RegisteringError with all that is wrong, also where a stored secret would be sent to another host.
    """
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(pk=cluster.pk)
        address, options = settings.get("address", row.address), settings.get("options", stored_options(row))
        if faults := secrets_for_elsewhere(row, address, options, given):
            try:
                as_if_changed(row, within, **settings)
            except RegisteringError as error:
                raise RegisteringError({**faults, **error.faults}) from error
            raise RegisteringError(faults)
        return change(actor=actor, cluster=cluster, within=within, **settings)


def as_if_changed(cluster: Cluster, within: AllowedHosts | None = None, **settings: Any) -> Cluster:
    """Return the cluster's row as `change` would leave it, and store nothing; raises RegisteringError as that does."""
    row = Cluster.objects.select_related("revision").get(pk=cluster.pk)
    _change(row, within, settings)
    return row


def _change(row: Cluster, within: AllowedHosts | None, settings: dict[str, Any]) -> dict[str, Any]:
    """Set on the row what differs, and return that; raises RegisteringError with all that is wrong."""
    faults: dict[str, str] = {}
    _forgive_lost_keys(row)
    source = _source_after(row, settings, faults)
    if "address" in settings and source is not None:
        settings["address"] = _address(source, settings["address"], within, faults, row.address)
    differing = {name: value for name, value in settings.items() if getattr(row, name, None) != value}
    if not differing and not faults:
        return {}
    _set(row, differing, faults)
    if "address" in differing:
        row.held_to_hosts = within is not None
    if "kind" in differing:
        # What was read of brokers in the other way is read anew, or cannot be.
        row.settings_read = None
    return differing


_TAKEN = "There is a cluster {slug!r} already; choose another name."
_BEING_DELETED = (
    "A removed cluster was called {slug!r}, and a worker still deletes what was stored of it; "
    "wait until that is done, or choose another name."
)


def hosts_of(address: str) -> tuple[str, ...]:
    """Return the hosts that an address of servers names, in its order."""
    servers = address.partition("/")[0].split(",")
    return tuple(server.strip().rpartition(":")[0] for server in servers)


def secrets_for_elsewhere(
    cluster: Cluster, address: str, options: Mapping[str, str], given: Container[str]
) -> dict[str, str]:
    """Return a fault where a stored secret, or a token got with it, would be sent where it was not given for.

    address, options: as they are to be. given: the client settings that somebody has just typed.
    """
    stored = stored_options(cluster)
    is_elsewhere = bool(options) and not set(hosts_of(address)) <= set(hosts_of(cluster.address))
    found = {}
    if is_elsewhere and options.get("sasl.password") and "sasl.password" not in given:
        found["sasl.password"] = (
            "The address names another host, to which the stored password would be sent; "
            "give the password again."
        )
    if options.get(CLIENT_SECRET) and CLIENT_SECRET not in given:
        if is_elsewhere:
            found[CLIENT_SECRET] = (
                "The address names another host, to which tokens would be sent; give the client secret again."
            )
        elif options.get(ENDPOINT) != stored.get(ENDPOINT):
            found[CLIENT_SECRET] = (
                "This is another token endpoint, to which the stored secret would be sent; "
                "give the client secret again."
            )
    return found


def stored_options(cluster: Cluster) -> dict[str, str]:
    """Return the stored client settings; none where they cannot be decrypted, so that others can be given."""
    try:
        return dict(cluster.options)
    except ImproperlyConfigured:
        return {}


def _forgive_lost_keys(row: Cluster) -> None:
    """Take a stored login that cannot be decrypted for none, so that another can be given."""
    if not stored_options(row):
        row.options = {}


def _source_after(row: Cluster, settings: Mapping[str, Any], faults: dict[str, str]) -> ClusterKind | None:
    """Return the kind that the cluster is to have; None, with the reason among the faults, where it cannot be."""
    kind = settings.get("kind", row.kind)
    if kind == row.kind:
        return row.source
    if kind not in KINDS:
        faults["kind"] = f"{kind!r} is no kind of cluster; use {', '.join(KINDS)}."
        return None
    if KINDS[kind].is_copy or row.source.is_copy:
        faults["kind"] = "A file and a live cluster cannot take each other's place; add another cluster."
        return None
    return KINDS[kind]


def _address(
    source: ClusterKind,
    address: str,
    within: AllowedHosts | None,
    faults: dict[str, str],
    stored: str | None = None,
) -> str:
    """Return the address as it is stored; what is wrong with it is added to the faults.

    stored: the address until now, which nobody need be allowed to name anew.
    """
    if not address.strip() or len(address) > _LONGEST_ADDRESS:
        faults["address"] = f"The address {address[:60]!r} is none; write {source.address_form}."
        return address
    try:
        found = source.normalised(address)
    except ClusterError as error:
        faults["address"] = str(error)
        return address
    if within is not None and found != stored:
        refused = [within.why_not_named(host) for host in hosts_of(found)]
        if any(refused):
            faults["address"] = " ".join(filter(None, refused))
    return found


def _set(cluster: Cluster, settings: Mapping[str, Any], faults: dict[str, str]) -> None:
    """Set these settings; raises RegisteringError with these faults and those of the settings, if there are any."""
    for name, value in settings.items():
        if name not in _SETTABLE:
            faults["options"] = f"{name!r} is not a setting of a cluster; use {', '.join(_SETTABLE)}."
        else:
            setattr(cluster, name, value)
    if not 1 <= len(cluster.name) <= 100:
        faults["name"] = "A cluster's name has 1 to 100 characters."
    if not 1 <= cluster.approvals_needed <= _MOST_APPROVALS:
        faults["approvals_needed"] = (
            f"A change needs at least one approval, so that no one person changes a cluster, and {_MOST_APPROVALS} "
            "at most."
        )
    source = cluster.source
    if cluster.changes_enabled and not source.can_write:
        faults["changes_enabled"] = (
            f"A cluster known from {source.source} cannot be written to; leave its changes switched off."
        )
    if cluster.authorizer not in Cluster.Authorizer.values:
        faults["authorizer"] = (
            f"No broker has the authorizer {cluster.authorizer!r}; use {' or '.join(Cluster.Authorizer.values)}."
        )
    else:
        try:
            AuthorizerSettings(authorizer=cluster.authorizer, kafka_version=cluster.kafka_version)
        except AclError as error:
            faults["kafka_version"] = str(error)
    allowed = tuple(site.ACLWEB_TOKEN_ENDPOINTS), tuple(site.ACLWEB_KEYTABS)
    for fault in option_faults(source, cluster.options, *allowed):
        name = fault.setting or "options"
        faults[name] = f"{faults[name]} {fault.sentence}" if name in faults else fault.sentence
    if faults:
        raise RegisteringError(faults)


def _in_words(name: str, value: object) -> str:
    if name == "options":
        names = sorted(value) if isinstance(value, Mapping) else []
        return f"how to log in ({', '.join(names) or 'no setting'})"
    words = name.replace("_", " ")
    if isinstance(value, bool):
        return f"{words} {'on' if value else 'off'}"
    return f"{words} is {value}"
