"""Store drafts that are too long for an address: under a key, per person, for some days.

A short draft is in its address and is stored nowhere. A long one is kept, and its
address names the key (a page repeats it in each of its forms and links), so that Back, a
new sign-in and a link find it again. The link works for everybody who may see the cluster,
and for nobody else. What is kept under a key never changes: an edit makes another key, so
that Back finds what was there before.
"""

from __future__ import annotations

import hashlib
import json
import logging
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db import DatabaseError, IntegrityError
from django.db.models import Q
from django.http import QueryDict
from django.utils import timezone

from aclweb.accounts.models import User
from aclweb.acl.model import computed_once
from aclweb.inventory.models import Cluster
from aclweb.web.models import KeptDraft

logger = logging.getLogger(__name__)

FIELD = "draft"
# Some two ACLs: a page has a dozen forms and links that lead to its draft, each with the whole of the address.
LONGEST_LINK = 600
# Drafts of one person: each edit of a long draft is one, so that Back finds the step before.
MOST_KEPT = 500
KEPT_DAYS = 90
KEPT_FOR = f"{KEPT_DAYS} days after somebody last opened it; of each person the newest {MOST_KEPT} are kept"
"""How long a draft is kept, for a sentence."""
# Bytes before they are compressed. The largest form that the site takes is smaller.
LARGEST = 4 * 1024 * 1024
# Old drafts removed at once, so that no page waits for a long deletion.
_REMOVED_AT_ONCE = 500
# A draft that is looked at every minute is not written every minute.
_FRESH = timedelta(hours=12)

Fields = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Content:
    """What is kept of a draft: the fields of a form that describe it."""

    fields: Fields

    @computed_once
    def pairs(self) -> list[tuple[str, str]]:
        """Each value with the name of its field."""
        return [(name, value) for name, values in self.fields.items() for value in values]

    @computed_once
    def length(self) -> int:
        """How many characters the values have."""
        return sum(len(value) for _, value in self.pairs)

    @computed_once
    def text(self) -> str:
        """The same as text, equal for equal fields."""
        return _as_text({name: values for name, values in self.fields.items() if values})


@dataclass(frozen=True)
class Place:
    """Where a draft can be found again.

    address: its link, empty where it could be neither put into a link nor kept. hidden: what
    a form must send so that the draft arrives with it, as (name, value).
    """

    address: str
    hidden: tuple[tuple[str, str], ...]

    @property
    def is_kept(self) -> bool:
        """Whether it is kept under a key."""
        return any(name == FIELD for name, _ in self.hidden)


def place(
    *, path: str, content: Content, cluster: Cluster, person: User, opened: str = "", **shown: str
) -> Place:
    """Return where this content can be found again; keeps it if no address can hold it.

    path: the page's address. opened: the key under which this answer has read a draft, which stays while
    nothing was edited. shown: what to show of the draft, put into the address only.
    """
    pairs = content.pairs
    some = [(name, value) for name, value in shown.items() if value]
    if not pairs:
        return Place(path, ())
    if content.length <= LONGEST_LINK:
        link = with_query(path, [*pairs, *some])
        if len(link) <= LONGEST_LINK:
            return Place(link, tuple(pairs))
    key = _keep(cluster, person, content.text, opened)
    if key is None:
        return Place("", tuple(pairs))
    return Place(with_query(path, [(FIELD, key), *some]), ((FIELD, key),))


def opened(data: QueryDict, cluster: Cluster) -> QueryDict | None:
    """Return the form with the draft that it names filled in; None if that draft is gone.

    A form that names no draft is returned as it is.
    """
    key = data.get(FIELD, "")
    if not key:
        return data
    fields = _kept(cluster, key)
    return None if fields is None else filled(data, fields)


def filled(data: QueryDict, fields: Fields) -> QueryDict:
    """Return the form with the fields of a draft filled in.

    Lines of the form join those of the draft; any other field of the form replaces the draft's.
    """
    whole = QueryDict(mutable=True)
    for name, values in fields.items():
        whole.setlist(name, list(values))
    for name, values in data.lists():
        if name != FIELD:
            whole.setlist(name, [*whole.getlist(name), *values] if name == "line" else values)
    return whole


def with_query(path: str, pairs: Iterable[tuple[str, str]]) -> str:
    return f"{path}?{urlencode([(name, value.encode('utf-8', 'replace')) for name, value in pairs])}"


def _keep(cluster: Cluster, person: User, text: str, opened: str) -> str | None:
    """Keep the content with this text and return its key; None if it is too large or the database refuses."""
    content = text.encode("ascii")
    if len(content) > LARGEST:
        return None
    key = hashlib.sha256(f"{cluster.pk} {person.pk} ".encode() + content).hexdigest()[:32]
    if key == opened:
        return key  # read just now, and marked as used
    # Somebody else's has another key.
    known = _kept(cluster, opened) if opened else None
    if known is not None and _as_text(known) == text:
        return opened
    now = timezone.now()
    used_at, too_many = _beside(key, person)
    if used_at is not None and used_at > now - _FRESH:
        return key
    try:
        # One statement each, so that they need no transaction.
        if used_at is not None:
            KeptDraft.objects.filter(key=key).update(used_at=now)
        else:
            row = KeptDraft(
                key=key, cluster=cluster, owner=person, content=zlib.compress(content), used_at=now
            )
            row.save(force_insert=True)
        if too_many:
            KeptDraft.objects.filter(pk__in=too_many).delete()
    except DatabaseError as error:
        if isinstance(error, IntegrityError) and KeptDraft.objects.filter(key=key).exists():
            return key  # the same form was sent twice at once, and the other one kept it
        # The page shows its answer all the same, and says that it has no link.
        logger.warning("A draft of %s could not be kept: %s", cluster.slug, error)
        return None
    return key


def _kept(cluster: Cluster, key: str) -> dict[str, list[str]] | None:
    """Return the fields under a key of this cluster; None if there are none, or no longer."""
    if len(key) != 32 or not key.isascii() or not key.isalnum():
        return None
    found = KeptDraft.objects.filter(key=key, cluster=cluster).first()
    if found is None:
        return None
    now = timezone.now()
    if now - found.used_at > _FRESH:
        try:
            KeptDraft.objects.filter(pk=found.pk).update(used_at=now)
        except DatabaseError as error:
            logger.warning("The draft %s could not be marked as used: %s", key, error)
    fields: dict[str, list[str]] = json.loads(zlib.decompress(bytes(found.content)))
    return fields


def _as_text(fields: Fields) -> str:
    return json.dumps({name: list(values) for name, values in fields.items()}, sort_keys=True)


def _beside(key: str, person: User) -> tuple[datetime | None, list[int]]:
    """Return when the draft with this key was last used, None for never, and which rows go once it is kept; one query.

    Those are this person's beyond the ones used last, and some of everybody's that nobody used for too long.
    """
    others = KeptDraft.objects.exclude(key=key)
    own = others.filter(owner=person).order_by("-used_at", "-pk").values("pk")
    old = others.filter(used_at__lt=timezone.now() - timedelta(days=KEPT_DAYS)).order_by().values("pk")
    wanted = Q(key=key) | Q(pk__in=own[MOST_KEPT - 1 : MOST_KEPT - 1 + _REMOVED_AT_ONCE])
    rows = KeptDraft.objects.filter(wanted | Q(pk__in=old[:_REMOVED_AT_ONCE])).values_list(
        "pk", "key", "used_at"
    )
    used_at, too_many = None, []
    for number, known, at in rows:
        if known == key:
            used_at = at
        else:
            too_many.append(number)
    return used_at, too_many
