"""Which moment of a cluster's past does somebody name, and what was declared then?

A moment is the number of a revision, a day or a time in UTC. A revision holds from when it
was read until the next one that differed, so a time between two readings means the earlier,
and the number of a revision means all that was declared while it held: its end, as of a day.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from aclweb.acl.model import AuthorizerSettings
from aclweb.inventory.current.declared import declared_at
from aclweb.inventory.current.view import Moment, settings_of
from aclweb.inventory.models import Cluster, Declaration, Revision

_NUMBER = re.compile(r"(?:revision |r)?([0-9]{1,9})", re.IGNORECASE)
_TOLD = "give the number of a revision, a day such as 2026-11-20, or a time in UTC such as 2026-11-20T14:30"


class MomentError(ValueError):
    """A text that names no moment, or one of which nothing is known; the message is for whoever wrote it."""


def moment_at(cluster: Cluster, text: str) -> Moment | None:
    """Return the moment that the text names, or None for now: an empty text, `now`, or what holds still.

    A day without a time means its end. Raises MomentError.
    """
    asked = text.strip()
    if asked.lower() in ("", "now"):
        return None
    number = _NUMBER.fullmatch(asked)
    if number is not None:
        revision = cluster.revisions.filter(number=int(number[1])).first()
        if revision is None:
            raise MomentError(f"{cluster.name} has no revision {int(number[1])}; {_TOLD}.")
        return None if revision.pk == cluster.revision_id else moment_of(revision)
    time = _time(asked)
    revision = _revision_at(cluster, time, asked)
    declared = declared_at(cluster, time)
    if revision.pk == cluster.revision_id and (declared is None or _answers_alike(declared, cluster)):
        return None
    return Moment(revision, declared, time, _until(revision))


def moment_of(revision: Revision) -> Moment:
    """Return the end of the time in which the revision was in force."""
    until = _until(revision)
    declared = declared_at(revision.cluster, until, before=True) if until is not None else None
    return Moment(revision, declared, until=until)


def _until(revision: Revision) -> datetime.datetime | None:
    later = Revision.objects.filter(cluster=revision.cluster_id, number__gt=revision.number)
    return later.order_by("number").values_list("read_at", flat=True).first()


def moment_sentences(cluster: Cluster, moment: Moment) -> tuple[str, ...]:
    """Return what a reader must know of the declarations of the moment, as sentences."""
    if moment.declared is None:
        return ()
    return (*_differing(settings_of(moment.declared), settings_of(cluster)), *not_known(moment))


def not_known(moment: Moment) -> Iterator[str]:
    """Say so where nothing was kept of what was declared that early."""
    declared, time = moment.declared, moment.time or moment.until
    if declared is not None and time is not None and time < declared.since:
        yield (
            f"What was declared before {_words(declared.since)} UTC is not known; what was declared then is "
            f"used for it."
        )


def _differing(then: AuthorizerSettings, today: AuthorizerSettings) -> Iterator[str]:
    for (name, before), (_, after) in zip(config_rows(then), config_rows(today), strict=True):
        if before != after:
            yield f"{name}: {before} then, {after} today."


def config_rows(settings: AuthorizerSettings) -> tuple[tuple[str, str], ...]:
    """Return what answers depend on besides ACLs and names, each with its name, in words that may follow a colon."""
    return (
        ("Authorizer", _AUTHORIZERS[settings.authorizer]),
        ("Kafka version", settings.kafka_version),
        ("Where no ACL exists", _default(settings)),
        ("Super users", _super_users(settings)),
        ("Managed by", settings.managed_service.title if settings.managed_service else "nobody"),
    )


_AUTHORIZERS = {
    "standard": "KRaft (StandardAuthorizer)",
    "acl": "ZooKeeper (AclAuthorizer)",
}


def _default(settings: AuthorizerSettings) -> str:
    if "allow_everyone" in settings.undeclared:
        return "not declared"
    return "everyone is allowed" if settings.allow_everyone else "refused"


def _super_users(settings: AuthorizerSettings) -> str:
    if "super_users" in settings.undeclared:
        return "not declared"
    return "; ".join(sorted(settings.super_users)) or "none"


def _answers_alike(declared: Declaration, cluster: Cluster) -> bool:
    return settings_of(declared) == settings_of(cluster) and (
        declared.topics_listed,
        declared.groups_listed,
    ) == (
        cluster.topics_listed,
        cluster.groups_listed,
    )


def _revision_at(cluster: Cluster, time: datetime.datetime, asked: str) -> Revision:
    revisions = cluster.revisions
    found = revisions.filter(read_at__lte=time).order_by("-number").first()
    if found is None:
        first = revisions.order_by("number").first()
        known = f"it was first read at {_words(first.read_at)}" if first is not None else "it was never read"
        raise MomentError(f"What was in force on {cluster.name} at {asked!r} is not known: {known}.")
    return found


def _words(time: datetime.datetime) -> str:
    return f"{time.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S}"


def _time(text: str) -> datetime.datetime:
    try:
        if len(text) == len("2026-11-20"):
            day = datetime.date.fromisoformat(text)
            return datetime.datetime.combine(day, datetime.time.max, datetime.UTC)
        moment = datetime.datetime.fromisoformat(text.removesuffix(" UTC"))
        return moment.astimezone(datetime.UTC) if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    except (ValueError, OverflowError) as error:
        raise MomentError(f"{text[:40]!r} is no revision, day or time; {_TOLD}.") from error
