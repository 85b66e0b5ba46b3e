"""Store what brokers tell beside ACLs and names, and choose the groups whose members are read next.

The rows go in by short transactions, so that no other write waits long, and `DetailsRead` comes last. A list that a
later sync has stored is left alone. A SCRAM user or quota that a complete list lacks is gone from then on, and kept as
such for a time; from a list that may lack some it is only forgotten, since it may be hidden.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, F, Min, Q
from django.utils import timezone

from aclweb.acl.model import AuthorizerSettings
from aclweb.clusters import (
    ClusterClient,
    ClusterError,
    DescribedGroup,
    Detail,
    DetailKind,
    DetailList,
    Known,
    ListedGroup,
)
from aclweb.inventory.fields import name_key, storable, storable_json
from aclweb.inventory.models import Cluster, DetailsRead, StoredDetail, StoredGroup
from aclweb.inventory.store import ROWS_AT_ONCE, chunks, in_turn, insert
from aclweb.inventory.stored_details import GROUPS

logger = logging.getLogger(__name__)

MEMBERS_KEPT = 500
"""Members of one group that are stored; of more, only how many there are."""

DAYS_KEPT = 400
"""For so long it is kept who was a SCRAM user or had a quota, and is or has it no more."""

# Transactional ids and tokens come and go by themselves, thousands a day on some clusters.
_KEPT_AS_HISTORY = frozenset({DetailKind.SCRAM_USERS, DetailKind.QUOTAS})
_KEYS_AT_ONCE = 500


def read(
    cluster: Cluster,
    client: ClusterClient,
    authorizer_settings: AuthorizerSettings,
    *,
    number: int,
) -> None:
    """Read and store what is due of this cluster with a client that has read its groups.

    number: of the sync. Whatever goes wrong is stored or logged: a sync of ACLs does not fail for it.
    """
    try:
        if not is_due(cluster):
            return
        found = client.read_details(authorizer_settings)
        if found is None:
            return
        now = timezone.now()
        for kind, each in found.lists.items():
            _store_list(cluster, kind, each, now, number)
        if found.groups is not None:
            _store_groups(cluster, found.groups, are_all=found.groups_of_all)
            chosen = _next_groups(cluster, {group.name: group for group in found.groups})
            _store_members(cluster, client.describe_groups(chosen))
            _note_tried(cluster, chosen)
            _count_groups(cluster, now, number)
    except ClusterError as error:
        logger.info("Not everything was read of cluster %s: %s", cluster.slug, storable(str(error)))
    except Exception:
        logger.exception("What brokers tell beside the ACLs of cluster %s was not stored.", cluster.slug)


def is_due(cluster: Cluster) -> bool:
    """Whether the last read is longer ago than it may be, or somebody asked for the members of a group."""
    since = timezone.now() - timedelta(seconds=settings.ACLWEB_DETAILS_INTERVAL_SECONDS)
    lately = DetailsRead.objects.filter(cluster=cluster, at__gt=since)
    return not lately.exists() or StoredGroup.objects.filter(cluster=cluster, asked_at__isnull=False).exists()


def _store_list(cluster: Cluster, kind: DetailKind, found: DetailList, now: datetime, number: int) -> None:
    row, _ = DetailsRead.objects.get_or_create(cluster=cluster, kind=kind)
    mine = DetailsRead.objects.filter(pk=row.pk, reading__lt=number)
    if found.has_failed:
        mine.update(problem=storable(found.sentence), reading=number)
        return
    told = {
        "known": found.known,
        "sentence": storable(found.sentence),
        "command": storable(found.command),
        "at": now,
        "problem": "",
        "reading": number,
    }
    if row.reading >= number:
        return
    if found.known is Known.UNKNOWN:
        # What was told earlier may still be there, so it stays; it is shown again once it is known.
        mine.update(**told, count=0)
        return
    digest = _digest(found.details)
    if digest != row.digest:
        # Cleared first: rows that are half stored must not look like those of the digest.
        if not mine.update(digest=""):
            return
        _store_details(cluster, kind, found, now)
    mine.update(**told, count=len(found.details), digest=digest)


def _digest(details: Iterable[Detail]) -> str:
    lines = sorted(json.dumps([each.name, each.user, each.principal, each.facts]) for each in details)
    return hashlib.sha256("\n".join(lines).encode("ascii")).hexdigest()


def _store_details(cluster: Cluster, kind: DetailKind, found: DetailList, now: datetime) -> None:
    there = StoredDetail.objects.filter(cluster=cluster, kind=kind, gone_at__isnull=True)
    stored = {
        key: (pk, [user, principal, facts])
        for key, pk, user, principal, facts in there.values_list("key", "pk", "user", "principal", "facts")
    }
    read = {name_key(each.name): each for each in found.details}
    new = {
        key: each
        for key, each in read.items()
        if key not in stored or stored[key][1] != [each.user, each.principal, storable_json(each.facts)]
    }
    changed = [stored[key][0] for key in new if key in stored]
    missing = [pk for key, (pk, _) in stored.items() if key not in read]
    is_kept = kind in _KEPT_AS_HISTORY
    (_over if is_kept else _delete)(changed, now)
    (_over if is_kept and found.known is Known.ALL else _delete)(missing, now)
    _delete_old(cluster, kind, now)
    for rows in chunks(new.items(), ROWS_AT_ONCE):
        with in_turn():
            insert(
                StoredDetail,
                ("cluster", "kind", "key", "name", "user", "principal", "facts", "first_at"),
                (
                    (
                        cluster.pk,
                        kind.value,
                        key,
                        each.name,
                        each.user,
                        each.principal,
                        storable_json(each.facts),
                        now,
                    )
                    for key, each in rows
                ),
            )


def _delete(keys: Sequence[int], _now: datetime) -> None:
    for some in chunks(keys, _KEYS_AT_ONCE):
        with in_turn():
            StoredDetail.objects.filter(pk__in=some).delete()


def _delete_old(cluster: Cluster, kind: DetailKind, now: datetime) -> None:
    since = now - timedelta(days=DAYS_KEPT)
    old = StoredDetail.objects.filter(cluster=cluster, kind=kind, gone_at__lt=since)
    _delete(list(old.order_by().values_list("pk", flat=True)), now)


def _over(keys: Sequence[int], now: datetime) -> None:
    for some in chunks(keys, _KEYS_AT_ONCE):
        with in_turn():
            StoredDetail.objects.filter(pk__in=some).update(gone_at=now)


def _store_groups(cluster: Cluster, groups: Iterable[ListedGroup], *, are_all: bool) -> None:
    """Bring the groups and their types up to date; groups that no broker lists any more are forgotten.

    are_all: whether each broker listed its groups. Those of a broker that did not answer may still be there.
    """
    rows = StoredGroup.objects.filter(cluster=cluster)
    stored = {key: (pk, kind) for key, pk, kind in rows.values_list("key", "pk", "type")}
    listed = {name_key(group.name): group for group in groups}
    new = [(key, group) for key, group in listed.items() if key not in stored]
    for some in chunks(new, ROWS_AT_ONCE):
        with in_turn():
            insert(
                StoredGroup,
                ("cluster", "key", "name", "type", "state", "members_total", "sentence"),
                ((cluster.pk, key, group.name, group.type.value, "", 0, "") for key, group in some),
            )
    by_type: dict[str, list[int]] = {}
    for key, group in listed.items():
        if key in stored and stored[key][1] != group.type.value:
            by_type.setdefault(group.type.value, []).append(stored[key][0])
    for kind, keys in by_type.items():
        for chunk in chunks(keys, _KEYS_AT_ONCE):
            with in_turn():
                StoredGroup.objects.filter(pk__in=chunk).update(type=kind)
    gone = [pk for key, (pk, _) in stored.items() if key not in listed] if are_all else []
    for chunk in chunks(gone, _KEYS_AT_ONCE):
        with in_turn():
            StoredGroup.objects.filter(pk__in=chunk).delete()


def _next_groups(cluster: Cluster, listed: dict[str, ListedGroup]) -> list[ListedGroup]:
    """Return the groups to describe now: those asked for, then those tried longest ago, as many as one read may."""
    rows = StoredGroup.objects.filter(cluster=cluster).order_by(
        F("asked_at").asc(nulls_last=True), F("tried_at").asc(nulls_first=True), "pk"
    )
    names = rows.values_list("name", flat=True)[: settings.ACLWEB_GROUPS_DESCRIBED_AT_ONCE]
    return [listed[name] for name in names if name in listed]


def _store_members(cluster: Cluster, described: Iterable[DescribedGroup]) -> None:
    now = timezone.now()
    for some in chunks(described, _KEYS_AT_ONCE):
        found = {name_key(group.name): group for group in some}
        rows = list(StoredGroup.objects.filter(cluster=cluster, key__in=found))
        for row in rows:
            group = found[row.key]
            row.described_at = now
            row.state, row.sentence = group.state[:30], storable(group.sentence)
            row.members_total = len(group.members or ())
            row.members = (
                None
                if group.members is None
                else [storable_json(each.as_dict()) for each in group.members[:MEMBERS_KEPT]]
            )
        with in_turn():
            StoredGroup.objects.bulk_update(
                rows,
                ["described_at", "state", "sentence", "members_total", "members"],
                batch_size=100,
            )


def _note_tried(cluster: Cluster, chosen: Iterable[ListedGroup]) -> None:
    """Have other groups take their turn first from now on, also where a broker did not answer of one of these."""
    now = timezone.now()
    for some in chunks((name_key(group.name) for group in chosen), _KEYS_AT_ONCE):
        with in_turn():
            StoredGroup.objects.filter(cluster=cluster, key__in=some).update(tried_at=now, asked_at=None)


def _count_groups(cluster: Cluster, now: datetime, number: int) -> None:
    """Store how many groups of each type there are, so that no page counts them."""
    counted = StoredGroup.objects.filter(cluster=cluster).values("type")
    rows = counted.annotate(
        total=Count("pk"), described=Count("pk", filter=Q(members__isnull=False)), oldest=Min("described_at")
    )
    found = list(rows.order_by("-total", "type"))
    times = [row["oldest"] for row in found if row["oldest"] is not None]
    figures = {
        "types": {row["type"]: row["total"] for row in found},
        "described": sum(row["described"] for row in found),
        "oldest": min(times).isoformat() if times else None,
    }
    DetailsRead.objects.update_or_create(
        cluster=cluster,
        kind=GROUPS,
        defaults={
            "at": now,
            "count": sum(row["total"] for row in found),
            "figures": figures,
            "reading": number,
        },
    )


def ask_for_members(cluster: Cluster, name: str) -> bool:
    """Note that somebody wants to know who is in this group now; return False where no broker lists it."""
    asked = StoredGroup.objects.filter(cluster=cluster, key=name_key(name))
    return bool(asked.update(asked_at=timezone.now()))
