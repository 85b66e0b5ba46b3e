"""What do brokers tell of a cluster beside its ACLs, list by list, and what can aclweb not see of it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.model import NOUNS, ResourceType, number_of
from aclweb.clusters import DetailKind, Known
from aclweb.inventory.details import (
    GroupsTold,
    ToldList,
    expiry_words,
    limits_words,
    mechanisms_words,
    principal_of_user,
    told_details,
    told_lists,
    told_lists_and_groups,
)
from aclweb.inventory.lists import NotSeen, names_known
from aclweb.inventory.models import Cluster, StoredDetail
from aclweb.web.shell import links
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

_EACH: Mapping[DetailKind, str] = {
    DetailKind.SCRAM_USERS: "SCRAM user",
    DetailKind.QUOTAS: "quota",
    DetailKind.TRANSACTIONAL_IDS: "transactional id",
    DetailKind.TOKENS: "token",
}
_MEANING: Mapping[DetailKind, str] = {
    DetailKind.SCRAM_USERS: "Users whom brokers know a SCRAM password of. Who logs in by a certificate, "
    "Kerberos, OAuth or PLAIN is in no list of the brokers.",
    DetailKind.QUOTAS: "What brokers let clients use at most. Quotas limit, and never allow or deny.",
    DetailKind.TRANSACTIONAL_IDS: "Ids whose transactions brokers remember; one that nobody uses is forgotten after "
    "some days (transactional.id.expiration.ms).",
    DetailKind.TOKENS: "Tokens with which a client logs in as their owner, until they expire. aclweb keeps no secret "
    "of a token.",
}


DECLARED = "declared"
"""What is known of something that aclweb does not see and people have declared; a word beside those of Known."""

# What is missing comes first.
_ORDER = (Known.UNKNOWN.value, DECLARED, Known.VISIBLE.value, Known.ALL.value)


@dataclass(frozen=True)
class Sight:
    """One line of what aclweb sees of a cluster, and what not.

    known: one of Known, or DECLARED. number: how many, in words; empty where nothing is known.
    """

    word: str
    known: str
    number: str
    sentence: str = ""
    command: str = ""
    url: str = ""
    at: datetime | None = None


@dataclass(frozen=True)
class Sights:
    """All lines, what is missing first."""

    rows: Sequence[Sight]

    @property
    def unknown(self) -> int:
        return self._count(Known.UNKNOWN)

    @property
    def partly(self) -> int:
        return self._count(Known.VISIBLE, DECLARED)

    @property
    def whole(self) -> int:
        return self._count(Known.ALL)

    def _count(self, *known: str) -> int:
        return sum(row.known in known for row in self.rows)


def sights(cluster: Cluster, unseen: Iterable[NotSeen], *, topics: int, groups: int) -> Sights:
    """Return what aclweb sees of the cluster beside its ACLs, and what it cannot see; one query.

    unseen: what it cannot see beside names and lists. topics, groups: how many of them its last revision has.
    """
    lists, told_groups = told_lists_and_groups(cluster)
    rows = [
        *(_unseen(each) for each in unseen),
        _names(cluster, ResourceType.TOPIC, f"{topics:,}"),
        _names(cluster, ResourceType.GROUP, told_groups.words or f"{groups:,}"),
        _members(told_groups),
        *(_list(cluster, each) for each in lists.values()),
    ]
    # Of what is equally missing, first what somebody can grant.
    return Sights(sorted(rows, key=lambda row: (_ORDER.index(row.known), not row.command)))


def _unseen(each: NotSeen) -> Sight:
    known = DECLARED if each.is_declared else Known.UNKNOWN.value
    return Sight(each.what, known, "", " ".join(filter(None, (each.sentence, each.fix))))


def _names(cluster: Cluster, kind: ResourceType, number: str) -> Sight:
    found = names_known(cluster, kind)
    url = reverse("topics", args=[cluster.slug])
    return Sight(
        NOUNS[kind][1].capitalize(),
        found.known,
        number if found.known is not Known.UNKNOWN else "",
        f"{found.sentence} So no ACL of {NOUNS[kind][1]} can be called orphaned for that."
        if found.sentence
        else "",
        url=f"{url}?type={kind.name}",
        at=cluster.read_at,
    )


def _members(groups: GroupsTold) -> Sight:
    word = "Members of groups"
    if not groups.described:
        why = (
            "The members of none have been read so far."
            if groups.total
            else "No group has been listed with its members."
        )
        return Sight(word, Known.UNKNOWN, "", why)
    rest = groups.total - groups.described
    sentence = f"The members of {number_of(rest, 'group', 'groups')} are not known." if rest else ""
    known = Known.VISIBLE if rest else Known.ALL
    return Sight(
        word, known, f"of {number_of(groups.described, 'group', 'groups')}", sentence, at=groups.oldest
    )


def _list(cluster: Cluster, found: ToldList) -> Sight:
    sentence = " ".join(filter(None, (found.sentence, found.problem)))
    number = "" if found.count is None else f"{found.count:,}"
    url = "" if found.count is None else reverse("details", args=[cluster.slug, found.kind.value])
    return Sight(found.word, found.known, number, sentence, found.command, url, found.at)


@dataclass(frozen=True)
class Row:
    """One entry of a list: its name, where that leads, and its other cells, by the heads of their columns."""

    name: str
    url: str
    cells: tuple[tuple[str, str], ...]
    first_at: datetime


@login_required
@require_GET
def index(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """List what brokers tell of one kind; `?q=` is a part of the name or the owner."""
    cluster = access.cluster_or_404(request.user, slug)
    try:
        asked = DetailKind(kind)
    except ValueError as error:
        raise Http404(f"{kind!r} is no such list; use one of {', '.join(DetailKind)}.") from error
    text = request.GET.get("q", "")
    lists = told_lists(cluster)
    # How many there are is stored; how many have the text has to be counted.
    count = None if text else lists[asked].count
    page = page_of(
        told_details(cluster, asked, text), page_asked(request.GET), settings.ACLWEB_PAGE_SIZE, count=count
    )
    context: dict[str, Any] = {
        "cluster": cluster,
        "told": lists[asked],
        "lists": lists.values(),
        "meaning": _MEANING[asked],
        "text": text,
        "page": page,
        "noun": _EACH[asked],
        "heads": _HEADS[asked],
        "rows": [_row(cluster, asked, each) for each in page],
    }
    return render_page(request, "clusters/told.html", None, context)


_HEADS: Mapping[DetailKind, Sequence[str]] = {
    DetailKind.SCRAM_USERS: ("User", "Mechanisms"),
    DetailKind.QUOTAS: ("For", "Limits"),
    DetailKind.TRANSACTIONAL_IDS: ("Transactional id",),
    DetailKind.TOKENS: ("Token", "Owner", "May renew it", "Expires", "Ends at the latest"),
}


def _row(cluster: Cluster, kind: DetailKind, each: StoredDetail) -> Row:
    heads = _HEADS[kind][1:]
    cells: tuple[str, ...] = ()
    url = ""
    if kind is DetailKind.SCRAM_USERS:
        cells = (mechanisms_words(each),)
        url = _principal_url(cluster, principal_of_user(cluster, each.user))
    elif kind is DetailKind.QUOTAS:
        cells = (limits_words(each),)
        url = _principal_url(cluster, principal_of_user(cluster, each.user))
    elif kind is DetailKind.TRANSACTIONAL_IDS:
        url = links.resource(cluster, ResourceType.TRANSACTIONAL_ID, each.name)
    else:
        renewers = ", ".join(each.facts.get("renewers") or ()) or "nobody else"
        cells = (each.principal, renewers, expiry_words(each), expiry_words(each, "ends"))
        url = _principal_url(cluster, each.principal)
    return Row(each.name, url, tuple(zip(heads, cells, strict=True)), each.first_at)


def _principal_url(cluster: Cluster, principal: str) -> str:
    return links.principal(cluster, principal) if principal else ""
