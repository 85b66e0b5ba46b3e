"""What can aclweb not see of a cluster beside names and lists of its brokers, and what follows from that?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from aclweb.acl.model import SERVICES, number_of
from aclweb.inventory.current import broker_settings
from aclweb.inventory.models import Cluster


@dataclass(frozen=True)
class NotSeen:
    """One thing that is not seen. what: in a few words. sentence: why, and what follows. fix: what would show it.

    is_declared: whether people have said it instead.
    """

    what: str
    sentence: str
    fix: str = ""
    is_declared: bool = False


def not_seen(cluster: Cluster, *, first_at: datetime | None, edits_elsewhere: int) -> tuple[NotSeen, ...]:
    """Return what aclweb does not see of this cluster, from what is stored.

    first_at: when its first revision was read; None without any. edits_elsewhere: revisions that aclweb did not make.
    """
    return (
        *_service(cluster),
        *_settings(cluster),
        *_authorizer(cluster),
        *_past(first_at, edits_elsewhere),
    )


def _service(cluster: Cluster) -> Iterator[NotSeen]:
    service = SERVICES.get(cluster.service)
    if service is None:
        return
    if service.hidden:
        yield NotSeen(f"What {service.title} decides itself", service.hidden)
    if service.other_acls:
        yield NotSeen("Other ACLs", service.other_acls)


def _settings(cluster: Cluster) -> Iterator[NotSeen]:
    source = cluster.source
    fix = "DescribeConfigs on the cluster shows whether it is set." if source.reads_broker_settings else ""
    for field, what in (
        ("super_users", "Super users"),
        ("allow_everyone", "The default where no ACL exists"),
    ):
        if broker_settings.is_read(cluster, field):
            continue
        if getattr(cluster, field) is None:
            yield NotSeen(what, "Neither read nor declared: answers say what they assume.", fix)
        else:
            yield NotSeen(what, f"{_why_hidden(cluster)} It is declared by people.", is_declared=True)


def _why_hidden(cluster: Cluster) -> str:
    if cluster.settings_read:
        return "Brokers hide the value."
    return f"{cluster.source.subject} does not show the value."


def _authorizer(cluster: Cluster) -> Iterator[NotSeen]:
    if cluster.source.is_copy:
        yield NotSeen("The authorizer", "A copy of ACLs does not show which authorizer reads them.")
    elif not broker_settings.authorizer(cluster).is_read:
        yield NotSeen(
            "The authorizer",
            "Its class was not read from brokers, so which one decides is declared or assumed.",
            "DescribeConfigs on the cluster shows it." if cluster.source.reads_broker_settings else "",
        )
    if not cluster.settings_read:
        yield NotSeen(
            "How clients are named",
            "Mapping rules of certificates and Kerberos names were not read, so no login is mapped to a principal.",
        )


def _past(first_at: datetime | None, edits_elsewhere: int) -> Iterator[NotSeen]:
    if first_at is None:
        return
    if edits_elsewhere:
        edits = number_of(edits_elsewhere, "revision")
        yield NotSeen(
            "Who changed ACLs outside aclweb", f"No cluster stores an author: {edits} changed ACLs elsewhere."
        )
    yield NotSeen(
        f"ACLs before {first_at:%Y-%m-%d}",
        "The first sync was then. A page as of an earlier time cannot show what was in force.",
    )
