"""How much waits for this person? The numbers in the navigation, counted to 99 at most.

Every page shows them, so they come with the query for its clusters, and neither grows with what waits.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Expression, IntegerField, OuterRef, QuerySet, Value
from django.db.models.expressions import RawSQL
from django.utils import timezone

from aclweb.accounts.models import User
from aclweb.changes.queries import applied_at, waiting_for
from aclweb.insights.denials import USUAL_DAYS, new_groups
from aclweb.inventory.models import Cluster
from aclweb.web.models import NamedDraft

MOST = 99


# What stands for the person and for the cluster in a query that is kept.
_SOMEBODY, _SOMEWHERE = -1_234_567, "a cluster to come"


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
    now = timezone.now()
    kept = (now.date(), now.hour, now.minute, settings.ACLWEB_APPROVAL_DAYS, connection.vendor)
    who = (person.is_active, person.is_superuser) if isinstance(person, User) else None
    values = {_SOMEBODY: person.pk, _SOMEWHERE: slug}
    return clusters.annotate(
        waiting_changes=_counted(_waiting(who, kept), values),
        new_denials=_counted(_denials(kept), values),
        own_drafts=_counted(_drafts(who, kept), values),
    )


_Sql = tuple[str, tuple[Any, ...]]

# Django takes longer to write these queries than the database to answer them, and every page asks them. So each is
# written once a minute, in which the times in them stay; they differ by what a person may do, and by nothing else.


@lru_cache(maxsize=16)
def _waiting(who: tuple[bool, bool] | None, _kept: Hashable) -> _Sql | None:
    if who is None:
        return None
    is_active, is_superuser = who
    return _sql(waiting_for(User(pk=_SOMEBODY, is_active=is_active, is_superuser=is_superuser)))


@lru_cache(maxsize=16)
def _denials(_kept: Hashable) -> _Sql | None:
    here = Cluster.objects.filter(slug=_SOMEWHERE).values("pk")
    return _sql(new_groups(here, days=USUAL_DAYS, applied_at=applied_at(here, OuterRef("change"))))


@lru_cache(maxsize=16)
def _drafts(who: tuple[bool, bool] | None, _kept: Hashable) -> _Sql | None:
    if who is None:
        return None
    here = Cluster.objects.filter(slug=_SOMEWHERE).values("pk")
    return _sql(NamedDraft.objects.filter(owner=_SOMEBODY, cluster__in=here))


def _sql(rows: QuerySet[Any]) -> _Sql | None:
    """Return the query that counts rows, to MOST and one more, with its parameters; None if there can be none."""
    try:
        text, parameters = rows.values("pk")[: MOST + 1].query.sql_with_params()
    except EmptyResultSet:
        return None
    # The text is what Django made of a query; what people give is among the parameters.
    return f"SELECT COUNT(*) FROM ({text}) AS counted", parameters  # noqa: S608


def _counted(sql: _Sql | None, values: Mapping[Any, Any]) -> Expression:
    """Return a count as a column; values: of what stands for something in the parameters."""
    if sql is None:
        return Value(0, output_field=IntegerField())
    text, parameters = sql
    given = [values.get(each, each) if isinstance(each, int | str) else each for each in parameters]
    return RawSQL(text, given, output_field=IntegerField())  # noqa: S611 - made by Django, see `_sql`


def badges_of(cluster: Any) -> Badges:
    """Return what waits, from a row of `with_badges`."""
    return Badges(changes=cluster.waiting_changes, denials=cluster.new_denials, drafts=cluster.own_drafts)


def _word(number: int) -> str:
    return "" if not number else f"{MOST}+" if number > MOST else str(number)
