"""Which views of the ACL list has a person kept under a name on a cluster, and which address does each stand for?

A view is the query of the list: its filters, grouping, order, columns and rows a page. Opening one leads to the list
at that address, so what can be sent to somebody is the address, and a view belongs to one person.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.http import HttpRequest, QueryDict
from django.utils import timezone

from aclweb.accounts.models import User
from aclweb.acl.model import AclError, shown
from aclweb.inventory.models import Cluster
from aclweb.web.browse import acl_columns, acl_filters, acl_lenses
from aclweb.web.models import SavedView
from aclweb.web.shell.paging import SIZES, size_asked

MOST_VIEWS = 30
"""Of one person on one cluster."""
LONGEST_NAME = 60
LONGEST_QUERY = 4_000
_FIELDS = (*acl_filters.FIELDS, acl_lenses.FIELD, "sort", acl_columns.FIELD)


class SavedViewError(AclError):
    """Why a view was not kept, in a sentence."""


@dataclass(frozen=True)
class Named:
    """One view in the menu of the list. is_current: whether the list shows it now."""

    number: int
    name: str
    is_current: bool


def query_of(request: HttpRequest) -> str:
    """Return what a view of the list at this address would keep, in one order, so that equal views are equal."""
    return _in_order(request.GET, str(size_asked(request)))


def _in_order(given: QueryDict, rows: str) -> str:
    query = QueryDict(mutable=True)
    for name in _FIELDS:
        if value := given.get(name):
            query[name] = str(value)
    if rows:
        query["rows"] = rows
    return query.urlencode()


def named(person: User, cluster: Cluster, query: str) -> list[Named]:
    """Return a person's views by name. query: of the list as it is now. One query."""
    is_current = ExpressionWrapper(Q(query=query), output_field=BooleanField())
    rows = own_views(person, cluster).annotate(is_current=is_current)
    return [Named(*row) for row in rows.values_list("pk", "name", "is_current")]


def own_views(person: User, cluster: Cluster) -> QuerySet[SavedView]:
    return SavedView.objects.filter(owner=person, cluster=cluster).order_by("name", "pk")


def save(name: str, query: str, *, person: User, cluster: Cluster) -> SavedView:
    """Keep a view under a new name; raises SavedViewError. query: what is no field of the list is left out."""
    name = _name(name)
    given = QueryDict(query[: LONGEST_QUERY + 1])
    rows = given.get("rows", "")
    kept = _in_order(given, rows if rows in map(str, SIZES) else "")
    if len(query) > LONGEST_QUERY or len(kept) > LONGEST_QUERY:
        raise SavedViewError(
            f"The filters of a view take at most {LONGEST_QUERY:,} characters; take some out."
        )
    if own_views(person, cluster).count() >= MOST_VIEWS:
        raise SavedViewError(
            f"You have {MOST_VIEWS} views on {cluster.name}, which is the most; remove one of them."
        )
    try:
        with transaction.atomic():
            return SavedView.objects.create(
                cluster=cluster, owner=person, name=name, query=kept, made_at=timezone.now()
            )
    except IntegrityError as error:
        raise _taken(name, cluster) from error


def rename(view: SavedView, name: str) -> None:
    """Give a view another name; raises SavedViewError."""
    name = _name(name)
    try:
        with transaction.atomic():
            SavedView.objects.filter(pk=view.pk).update(name=name)
    except IntegrityError as error:
        raise _taken(name, view.cluster) from error
    view.name = name


def _name(typed: str) -> str:
    name = " ".join(typed.split())
    if not name:
        raise SavedViewError("A view needs a name to be found by; type one.")
    if len(name) > LONGEST_NAME:
        raise SavedViewError(f"The name has {len(name):,} characters, and at most {LONGEST_NAME} are kept.")
    if not name.isprintable():
        raise SavedViewError(
            f"The name {shown(name)} holds characters that one cannot see; type it without them."
        )
    return name


def _taken(name: str, cluster: Cluster) -> SavedViewError:
    return SavedViewError(f"You have a view {shown(name)} on {cluster.name} already; choose another name.")
