"""Which accounts are there, and which of them may do this on that cluster?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.db.models import F, Q, QuerySet
from django.db.models.expressions import OrderBy

from aclweb.accounts.access import Act, needed
from aclweb.accounts.models import ApiToken, Grant, User

ALL, ADMINISTRATORS, NO_ROLE, OFF, NEVER = "", "administrators", "no-role", "off", "never"
SHOWN = {
    ALL: "all accounts",
    ADMINISTRATORS: "administrators of the site",
    NO_ROLE: "without any role",
    OFF: "switched off",
    NEVER: "never signed in",
}
"""What `show` of the list may be, with its words."""

_ORDERS: dict[str, OrderBy] = {
    "name": F("username").asc(),
    "-name": F("username").desc(),
    "signed-in": F("last_login").asc(nulls_first=True),
    "-signed-in": F("last_login").desc(nulls_last=True),
    "added": F("date_joined").asc(),
    "-added": F("date_joined").desc(),
}
SORTS = tuple(_ORDERS)
_MOST_WORDS = 100  # more than any account has; SQLite refuses conditions that go deeper


@dataclass(frozen=True)
class Filters:
    """text: a part of a user name, a name or an e-mail address. show: a key of SHOWN.

    act: only who may do it on the cluster with this slug, or on any; "" with a cluster is to look at it.
    sort: one of SORTS. Anything unknown counts as not given.
    """

    text: str = ""
    show: str = ALL
    cluster: str = ""
    act: Act | Literal[""] = ""
    sort: str = "name"


def people(filters: Filters) -> QuerySet[User]:
    """Return the accounts that match, in the order asked for."""
    found = User.objects.all()
    if "\x00" in filters.text + filters.cluster:  # no database holds it, and PostgreSQL refuses to look
        return found.none()
    words = set(filters.text.split())
    if len(words) > _MOST_WORDS:
        return found.none()
    for word in words:
        found = found.filter(
            Q(username__icontains=word)
            | Q(first_name__icontains=word)
            | Q(last_name__icontains=word)
            | Q(email__icontains=word)
        )
    found = _shown(found, filters.show)
    if filters.cluster or filters.act:
        grants = Grant.objects.filter(role__gte=needed(filters.act or "view"))
        if filters.cluster:
            grants = grants.filter(cluster__slug=filters.cluster)
        found = found.filter(_holding(grants) | Q(is_superuser=True), is_active=True)
    return found.order_by(_ORDERS.get(filters.sort, _ORDERS["name"]), "pk")


def tokens(text: str = "", owner: User | None = None) -> QuerySet[ApiToken]:
    """Return the API tokens with this text in their name, their beginning or their owner's name; the newest first."""
    found = ApiToken.objects.select_related("owner", "cluster").defer("cluster__options")
    if "\x00" in text:
        return found.none()
    if owner is not None:
        found = found.filter(owner=owner)
    if text:
        found = found.filter(
            Q(name__icontains=text) | Q(prefix__startswith=text) | Q(owner__username__icontains=text)
        )
    return found.order_by("-created_at", "-pk")


def _shown(found: QuerySet[User], show: str) -> QuerySet[User]:
    if show == ADMINISTRATORS:
        return found.filter(is_superuser=True)
    if show == NO_ROLE:
        return found.filter(is_superuser=False).exclude(_holding(Grant.objects.all()))
    if show == OFF:
        return found.filter(is_active=False)
    if show == NEVER:
        return found.filter(last_login=None)
    return found


def _holding(grants: QuerySet[Grant]) -> Q:
    """Return a condition on people: they have one of these grants, themselves or by a group."""
    by_groups = User.groups.through.objects.filter(
        group__in=grants.filter(group__isnull=False).values("group")
    )
    return Q(pk__in=grants.filter(user__isnull=False).values("user")) | Q(pk__in=by_groups.values("user"))
