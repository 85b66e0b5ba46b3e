"""In which state is a cluster: what was found at the last attempt, how old is what is shown, what is declared?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from aclweb.clusters import ClusterState
from aclweb.inventory.current import broker_settings, settings_of
from aclweb.inventory.models import Cluster

# The state in a few words, its tone, and what it means whatever the cluster's own sentence says.
_STATES: dict[ClusterState, tuple[str, str, str]] = {
    ClusterState.OK: ("read", "good", ""),
    ClusterState.NO_ACLS: ("no ACLs", "warn", ""),
    ClusterState.NO_AUTHORIZER: (
        "no authorizer",
        "bad",
        "The brokers run without an authorizer: whatever ACLs say, everybody may do everything.",
    ),
    ClusterState.NOT_PERMITTED: (
        "no right to describe",
        "bad",
        "The brokers answer, but the account of aclweb needs Describe on the cluster to read ACLs.",
    ),
    ClusterState.LOGIN_REFUSED: ("login refused", "bad", "The account of aclweb could not log in."),
    ClusterState.UNREACHABLE: ("unreachable", "bad", "Nobody answered, which says nothing about its ACLs."),
    ClusterState.UNREADABLE: ("partly unreadable", "bad", ""),
}
_LATE_AFTER_INTERVALS = 5


@dataclass(frozen=True)
class Badge:
    """A few words beside a cluster's name, with a tone: "good", "warn", "bad" or "quiet"."""

    text: str
    tone: str
    name: str


@dataclass(frozen=True)
class ClusterStatus:
    """The state of one cluster, in words.

    tone: "good", "warn" or "bad". age: what is shown was read so long ago; None before the
    first reading. is_old: longer ago than readings should take.
    """

    label: str
    sentence: str
    tone: str
    badges: tuple[Badge, ...]
    age: timedelta | None
    is_old: bool
    problems: tuple[str, ...]
    held: str


def status(cluster: Cluster, *, now: datetime | None = None) -> ClusterStatus:
    """Return the state of the cluster, from what is stored: no call and, with its revision loaded, no query."""
    now = now or timezone.now()
    age = now - cluster.read_at if cluster.read_at is not None else None
    late = timedelta(seconds=max(300, _LATE_AFTER_INTERVALS * settings.ACLWEB_SYNC_INTERVAL_SECONDS))
    label, tone, sentence = _told(cluster, now)
    is_old = age is not None and age > late
    held = str(cluster.held["sentence"]) if cluster.held else ""
    if held and tone != "bad":
        label, tone = "snapshot quarantined", "bad"
        sentence = f"{held} Pages show the snapshot before it: {sentence}"
    elif held:
        sentence = f"{sentence} {held}"
    elif is_old and tone == "good":
        label, tone = "not synced lately", "warn"
    return ClusterStatus(
        label=label,
        sentence=sentence,
        tone=tone,
        badges=(_default_badge(cluster), _super_users_badge(cluster), _age_badge(age, is_old)),
        age=age,
        is_old=is_old,
        problems=tuple(f"{problem['where']}: {problem['sentence']}" for problem in cluster.problems),
        held=held,
    )


def paused_sentence(cluster: Cluster) -> str:
    """Return since when nothing connects to the cluster and who paused it; empty where it is not paused."""
    if cluster.paused_at is None:
        return ""
    return (
        f"Paused by {cluster.paused_by} since {cluster.paused_at:%Y-%m-%d %H:%M} UTC: it is not synced, and approved "
        "changes wait."
    )


def _told(cluster: Cluster, now: datetime) -> tuple[str, str, str]:
    if cluster.is_paused:
        shown = "Nothing has been read from it so far."
        if cluster.read_at is not None:
            shown = f"What is shown was read {ago(now - cluster.read_at)}."
        return "paused", "warn", f"{paused_sentence(cluster)} {shown}"
    if not cluster.state:
        return (
            "not synced yet",
            "warn",
            "This cluster has not been synced yet; a worker will do so within a minute.",
        )
    label, tone, meaning = _STATES[ClusterState(cluster.state)]
    sentences = [cluster.state_sentence]
    if meaning and meaning not in cluster.state_sentence:
        sentences.append(meaning)
    if cluster.tried_at != cluster.read_at and not cluster.held:
        if cluster.read_at is None:
            sentences.append("Nothing has been read from it so far.")
        else:
            sentences.append(f"What is shown was read {ago(now - cluster.read_at)}.")
    if cluster.failures and cluster.next_sync_at is not None and cluster.next_sync_at > now:
        minutes = -(-(cluster.next_sync_at - now) // timedelta(minutes=1))
        sentences.append(f"The next try is in {minutes} min.")
    return label, tone, " ".join(sentences)


def _default_badge(cluster: Cluster) -> Badge:
    if cluster.allow_everyone is None:
        return Badge("default not declared", "warn", "default")
    how = "read" if broker_settings.is_read(cluster, "allow_everyone") else "declared"
    if cluster.allow_everyone:
        return Badge(f"default ALLOW ({how})", "warn", "default")
    return Badge(f"default deny ({how})", "quiet", "default")


def _super_users_badge(cluster: Cluster) -> Badge:
    if cluster.super_users is None:
        return Badge("super users not declared", "warn", "super-users")
    count = len(settings_of(cluster).super_users)
    words = "1 super user" if count == 1 else f"{count or 'no'} super users"
    how = "read" if broker_settings.is_read(cluster, "super_users") else "declared"
    return Badge(f"{words} ({how})", "quiet", "super-users")


def _age_badge(age: timedelta | None, is_old: bool) -> Badge:
    if age is None:
        return Badge("never read", "warn", "age")
    return Badge(f"read {ago(age)}", "warn" if is_old else "quiet", "age")


def ago(age: timedelta) -> str:
    """Return `14 s ago`, `3 min ago`, `5 h ago` or `12 d ago`."""
    seconds = max(0, int(age.total_seconds()))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (seconds >= size and unit == "min"):
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"
