"""How much waits for this person? The numbers in the navigation, counted to 99 at most.

Every page shows them, so they come with the query for its clusters, and neither grows with what waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import IntegerField, OuterRef, QuerySet, Subquery

from aclweb.accounts.models import User
from aclweb.changes.models import Change
from aclweb.changes.queries import applied_at, waiting_for
from aclweb.insights.denials import USUAL_DAYS, new_groups
from aclweb.inventory.models import Cluster
from aclweb.web.models import NamedDraft

MOST = 99


class _Count(Subquery):
    """How many rows a query has, as a column of another query."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()


@dataclass(frozen=True)
class Badges:
    """changes: those that wait for this person, of all clusters.

    denials, drafts: new groups of the cluster looked at, and drafts there that this person named.
    """

    changes: int = 0
    denials: int = 0
    drafts: int = 0

    @property
    def changes_word(self) -> str:
        """The number as it is shown; empty for none."""
        return _word(self.changes)

    @property
    def denials_word(self) -> str:
        """The number as it is shown; empty for none."""
        return _word(self.denials)

    @property
    def drafts_word(self) -> str:
        """The number as it is shown; empty for none."""
        return _word(self.drafts)


NO_BADGES = Badges()


def with_badges(clusters: QuerySet[Cluster], person: User | AnonymousUser, slug: str) -> QuerySet[Cluster]:
    """Return the clusters with what `badges_of` needs of each, so that no query is needed for it.

    slug: of the cluster whose denials and drafts are counted. No number depends on the row, so each is counted once.
    """
    here = Cluster.objects.filter(slug=slug).values("pk")
    new = new_groups(here, days=USUAL_DAYS, applied_at=applied_at(here, OuterRef("change")))
    waiting = waiting_for(person) if isinstance(person, User) else Change.objects.none()
    drafts = NamedDraft.objects.none()
    if isinstance(person, User):
        drafts = NamedDraft.objects.filter(owner=person, cluster__in=here)
    return clusters.annotate(
        waiting_changes=_Count(waiting.values("pk")[: MOST + 1]),
        new_denials=_Count(new.values("pk")[: MOST + 1]),
        own_drafts=_Count(drafts.values("pk")[: MOST + 1]),
    )


def badges_of(cluster: Any) -> Badges:
    """Return what waits, from a row of `with_badges`."""
    return Badges(changes=cluster.waiting_changes, denials=cluster.new_denials, drafts=cluster.own_drafts)


def _word(number: int) -> str:
    return "" if not number else f"{MOST}+" if number > MOST else str(number)
