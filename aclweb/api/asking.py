"""What does a request ask: about which cluster, and as of when?"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request

from aclweb.accounts.access import cluster_or_404
from aclweb.acl.matching import as_java_prints
from aclweb.acl.model import AclError
from aclweb.inventory.current import ClusterView, Moment, MomentError, moment_at, moment_sentences
from aclweb.inventory.current import view as current
from aclweb.inventory.models import Cluster

AS_OF = OpenApiParameter(
    "as_of",
    str,
    description="The number of a revision, a day such as 2026-11-20 (its end) or a time in UTC; now if left out.",
)


class NotReadYet(APIException):
    """A decision before the first sync would be about an empty cluster, which nobody asked about."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "not_read"


@dataclass(frozen=True)
class Asked:
    """What a question is about: a cluster now, or at a moment of its past."""

    view: ClusterView
    moment: Moment | None

    @property
    def head(self) -> dict[str, Any]:
        """What every answer begins with: the revision, and for the past what was otherwise then."""
        revision = self.view.revision
        return {"revision": revision.number if revision is not None else None, "as_of": self._as_of}

    @property
    def _as_of(self) -> dict[str, Any] | None:
        moment = self.moment
        if moment is None:
            return None
        return {
            "revision": moment.revision.number,
            "time": _iso(moment.time),
            "read_at": _iso(moment.revision.read_at),
            "until": _iso(moment.until),
            "sentences": list(moment_sentences(self.view.cluster, moment)),
        }


def asked_about(request: Request, slug: str, *, field: str = "as_of") -> Asked:
    """Return the cluster in force at the moment that the address names; refuses one that was never read."""
    cluster = cluster_or_404(request.user, slug)
    moment = moment_asked(request, cluster, field=field)
    return _read(Asked(current.in_force(cluster, moment), moment))


def asked_now(request: Request, slug: str) -> Asked:
    """Return the cluster as it is now; refuses one that was never read."""
    return _read(Asked(current.in_force(cluster_or_404(request.user, slug)), None))


def moment_asked(request: Request, cluster: Cluster, *, field: str = "as_of") -> Moment | None:
    """Return the moment that the address names; None for now."""
    try:
        return moment_at(cluster, request.query_params.get(field, ""))
    except MomentError as error:
        raise ValidationError({field: str(error)}) from error


def address_asked(text: str) -> str:
    """Return the address of a client in the form that brokers compare."""
    try:
        return as_java_prints(text)
    except AclError as error:
        raise ValidationError({"host": str(error)}) from error


def number_asked(asked: Any, name: str, default: int, *, most: int = 1_000_000) -> int:
    """Return the whole number from 1 to `most` that the address holds."""
    text = asked.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 9 or not 1 <= int(text) <= most:
        raise ValidationError({name: f"{name} {text!r} is not a whole number from 1 to {most:,}."})
    return int(text)


def word_asked(asked: Any, name: str, words: Sequence[str]) -> str:
    """Return the word that the address holds, one of `words`; empty if it holds none."""
    text = str(asked.get(name, ""))
    if text and text not in words:
        raise ValidationError({name: f"{name} {text[:60]!r} is not known; use {', '.join(words)}."})
    return text


def _read(asked: Asked) -> Asked:
    cluster = asked.view.cluster
    if asked.view.revision is None:
        raise NotReadYet(
            f"{cluster.name} has not been synced yet, so nothing is known of it. {cluster.state_sentence}".strip()
        )
    return asked


def _iso(time: datetime.datetime | None) -> str | None:
    return time.astimezone(datetime.UTC).isoformat() if time is not None else None
