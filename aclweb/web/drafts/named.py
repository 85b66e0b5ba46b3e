"""Keep drafts that somebody gave a name: several of a person on a cluster, each at one address, edited in place.

Whoever may see the cluster may open the address; only the owner's edits are kept there. A page holds the draft that
it shows, and which version that was: an edit of a draft that was edited elsewhere meanwhile is not kept over it.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.http import QueryDict
from django.utils import timezone

from aclweb.accounts.models import User
from aclweb.acl.model import AclError, shown
from aclweb.inventory.models import Cluster
from aclweb.web.drafts.keeping import LARGEST, Fields, filled
from aclweb.web.models import NamedDraft

FIELD, VERSION = "saved", "version"
MOST_NAMED = 100
"""Of one person on one cluster."""
LONGEST_NAME = 100


class NamedDraftError(AclError):
    """Why a draft was not kept under a name, in a sentence."""


@dataclass(frozen=True)
class Standing:
    """A named draft, and whether what a page makes of it is kept.

    is_own: whether it belongs to who looks at the page. is_overtaken: whether it was edited elsewhere, so that what the
    page shows is not kept in it. is_unkept: whether what the page shows could not be kept.
    """

    draft: NamedDraft
    is_own: bool
    is_overtaken: bool = False
    is_unkept: bool = False

    def shows(self, fields: Fields) -> bool:
        """Whether the address of the draft leads to what these fields describe."""
        if self.is_overtaken or self.is_unkept:
            return False
        return self.is_own or _fields_of(self.draft) == _given(fields)

    @property
    def hidden(self) -> tuple[tuple[str, str], ...]:
        """What a form sends so that the next edit is kept in it."""
        if not self.is_own or self.is_overtaken:
            return ()
        return ((FIELD, self.draft.key), (VERSION, str(self.draft.version)))


def own_drafts(person: User, cluster: Cluster) -> QuerySet[NamedDraft]:
    """Return the drafts of a person on a cluster, those edited last first, without their content."""
    return (
        NamedDraft.objects.filter(owner=person, cluster=cluster)
        .defer("content")
        .order_by("-updated_at", "-pk")
    )


def of_key(cluster: Cluster, key: str) -> NamedDraft | None:
    """Return the draft at an address of this cluster, with its owner."""
    if len(key) != 32 or not key.isascii() or not key.isalnum():
        return None
    return NamedDraft.objects.filter(key=key, cluster=cluster).select_related("owner").first()


def opened(data: QueryDict, draft: NamedDraft | None) -> QueryDict:
    """Return the form with the draft filled in where it was asked for by its address alone.

    A form holds the draft that it was made from, as far as its page knew it.
    """
    if draft is None or VERSION in data:
        return data
    whole = data.copy()
    for name, values in _fields_of(draft).items():
        whole.setlist(name, [*values, *whole.getlist(name)])
    return whole


def as_saved(standing: Standing | None, data: QueryDict) -> QueryDict | None:
    """Return a form with the named draft in the place of a kept copy that is gone; None where they may differ.

    They are the same on a page of the owner, at the version that is saved.
    """
    if standing is None or not standing.is_own or standing.is_overtaken:
        return None
    return filled(data, _fields_of(standing.draft))


def standing(draft: NamedDraft, person: User, data: QueryDict) -> Standing:
    """Return whether what the page of this form makes of the draft is kept."""
    known = data.get(VERSION, str(draft.version))
    return Standing(draft, is_own=draft.owner_id == person.pk, is_overtaken=known != str(draft.version))


def save_as(name: str, fields: Fields, *, cluster: Cluster, person: User) -> NamedDraft:
    """Keep a draft under a new name; raises NamedDraftError."""
    name = _name(name)
    content = _content(fields)
    if own_drafts(person, cluster).count() >= MOST_NAMED:
        raise NamedDraftError(
            f"You have {MOST_NAMED} drafts on {cluster.name}, which is the most; remove one of them."
        )
    try:
        with transaction.atomic():
            return NamedDraft.objects.create(
                cluster=cluster,
                owner=person,
                name=name,
                content=content,
                updated_at=timezone.now(),
                **_counts(fields),
            )
    except IntegrityError as error:
        raise _taken(name, cluster) from error


def store(standing: Standing, fields: Fields) -> Standing:
    """Keep what its owner made of a draft, unless it was edited elsewhere.

    Raises NamedDraftError where it is too large.
    """
    draft = standing.draft
    if not standing.is_own or standing.is_overtaken or _fields_of(draft) == _given(fields):
        return standing
    content = _content(fields)
    now = timezone.now()
    written = NamedDraft.objects.filter(pk=draft.pk, version=draft.version).update(
        content=content, updated_at=now, version=F("version") + 1, **_counts(fields)
    )
    if not written:
        return Standing(draft, is_own=True, is_overtaken=True)
    draft.content, draft.updated_at = content, now
    draft.version += 1
    return standing


def rename(draft: NamedDraft, name: str) -> None:
    """Give a draft another name; raises NamedDraftError."""
    name = _name(name)
    try:
        with transaction.atomic():
            NamedDraft.objects.filter(pk=draft.pk).update(name=name)
    except IntegrityError as error:
        raise _taken(name, draft.cluster) from error
    draft.name = name


def _name(typed: str) -> str:
    name = " ".join(typed.split())
    if not name:
        raise NamedDraftError("A draft needs a name to be found by; type one.")
    if len(name) > LONGEST_NAME:
        raise NamedDraftError(f"The name has {len(name):,} characters, and at most {LONGEST_NAME} are kept.")
    if not name.isprintable():
        raise NamedDraftError(
            f"The name {shown(name)} holds characters that one cannot see; type it without them."
        )
    return name


def _taken(name: str, cluster: Cluster) -> NamedDraftError:
    return NamedDraftError(f"You have a draft {shown(name)} on {cluster.name} already; choose another name.")


def _counts(fields: Fields) -> dict[str, int]:
    """Return what a list of drafts says of one: how many ACLs it adds and removes, and how many topics are new."""
    return {"lines": len(fields.get("line", ())), "new_topics": len(fields.get("new_topic", ()))}


def _given(fields: Fields) -> dict[str, list[str]]:
    return {name: list(values) for name, values in fields.items() if values}


def _content(fields: Fields) -> bytes:
    content = json.dumps(_given(fields), sort_keys=True).encode("ascii")
    if len(content) > LARGEST:
        raise NamedDraftError(
            f"The draft takes {len(content):,} bytes, and at most {LARGEST:,} are kept; take ACLs out of it."
        )
    return zlib.compress(content)


def _fields_of(draft: NamedDraft) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = json.loads(zlib.decompress(bytes(draft.content)))
    return fields


def remove(draft: NamedDraft) -> None:
    """Remove a draft; its address leads nowhere afterwards."""
    NamedDraft.objects.filter(pk=draft.pk).delete()
