"""What changed lately on the clusters this person may see, through aclweb or outside it?"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Q
from django.urls import reverse

from aclweb.accounts.models import User
from aclweb.acl.model import ResourceType
from aclweb.changes.models import Change
from aclweb.changes.queries import changes_of, item_state_words
from aclweb.inventory.models import Cluster, Revision, StoredName
from aclweb.web.shell import links


@dataclass(frozen=True)
class Recent:
    """One row: a change somebody asked for, or a sync that found what nobody here made."""

    at: datetime
    title: str
    key: str
    url: str
    cluster: Cluster
    gains: int | None
    loses: int | None
    by: str
    state: str
    tone: str


_REVISIONS_ASKED = 30
"""Of the newest revisions with other names, so many are looked at for topics: others have other groups alone."""


def recent(user: User, clusters: Collection[Cluster], count: int = 6) -> list[Recent]:
    """Return the newest changes, the newest revisions that others caused, and topics that came and
    went, but for internal ones; newest first.

    At most three queries.
    """
    changes = changes_of(user).select_related("cluster", "author").order_by("-pk")[:count]
    newest = Revision.objects.filter(cluster__in=clusters, number__gt=1).order_by("-read_at")
    has_names = newest.filter(Q(names_added__gt=0) | Q(names_removed__gt=0))
    by_others = newest.filter(Q(acls_added__gt=0) | Q(acls_removed__gt=0), cause=Revision.Cause.READING)
    # Each sort by itself, so that names which come and go all day hide no ACL.
    wanted = Q(pk__in=by_others.values("pk")[:count]) | Q(pk__in=has_names.values("pk")[:_REVISIONS_ASKED])
    found = list(Revision.objects.filter(wanted).select_related("cluster"))
    outside = [
        _of_revision(each)
        for each in found
        if each.cause == Revision.Cause.READING and (each.acls_added or each.acls_removed)
    ]
    rows = [*map(_of_change, changes), *outside, *_of_topics(found)]
    return sorted(rows, key=lambda row: row.at, reverse=True)[:count]


def _of_topics(revisions: Collection[Revision]) -> Iterator[Recent]:
    """Yield a row for each of these revisions with new topics, and one for each with topics that are gone."""
    by_key = {each.pk: each for each in revisions if each.names_added or each.names_removed}
    if not by_key:
        return
    topics = StoredName.objects.filter(resource_type=ResourceType.TOPIC.name, internal=False).order_by()
    touched = topics.filter(Q(added_in__in=by_key) | Q(removed_in__in=by_key))
    made: dict[tuple[int, bool], tuple[int, str]] = {}
    counted = touched.values_list("added_in", "removed_in").annotate(Count("pk"), Min("name"))
    for added_in, removed_in, number, first in counted:
        for key, is_new in ((added_in, True), (removed_in, False)):
            before, name = made.get((key, is_new), (0, first))
            made[key, is_new] = before + number, min(name, first)
    for (key, is_new), (number, first) in made.items():
        if key in by_key:
            yield _of_names(by_key[key], number, first, is_new=is_new)


def _of_names(revision: Revision, number: int, first: str, *, is_new: bool) -> Recent:
    what = f"Topic {first}" if number == 1 else f"{number:,} topics, {first} and others,"
    # Nobody knows whether it was created then: the login may see more than before.
    verb = "appeared" if is_new else "is gone" if number == 1 else "are gone"
    here = revision.cluster
    return Recent(
        at=revision.read_at,
        title=f"{what} {verb}",
        key=f"revision {revision.number:,}",
        url=links.resource(here, ResourceType.TOPIC, first)
        if number == 1
        else reverse("cluster", args=[here.slug]),
        cluster=here,
        gains=None,
        loses=None,
        by="unknown",
        state="new" if is_new else "gone",
        tone="",
    )


def _of_change(change: Change) -> Recent:
    state, tone = item_state_words(change)
    return Recent(
        at=change.finished_at or change.submitted_at or change.created_at,
        title=change.title,
        key=change.key,
        url=reverse("change", args=[change.pk]),
        cluster=change.cluster,
        gains=change.gains,
        loses=change.loses,
        by=change.author.get_full_name() or change.author.get_username(),
        state=state,
        tone=tone,
    )


def _of_revision(revision: Revision) -> Recent:
    parts = [
        f"{number:,} ACL{'' if number == 1 else 's'} {word}"
        for number, word in ((revision.acls_added, "added"), (revision.acls_removed, "removed"))
        if number
    ]
    return Recent(
        at=revision.read_at,
        title=f"{' and '.join(parts)} outside aclweb",
        key=f"revision {revision.number:,}",
        url=reverse("cluster", args=[revision.cluster.slug]),
        cluster=revision.cluster,
        gains=None,
        loses=None,
        by="unknown",
        state="drift",
        tone="warn",
    )
