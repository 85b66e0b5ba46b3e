"""What do brokers tell beside ACLs and names: who can log in, who is limited, who consumes from which host?

What brokers do not tell this login is *unknown*, with a sentence and the command that would change it. A list that
brokers filter without a word is *visible*, unless it is proven to hold everything: see `admin_api/visibility.py`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from aclweb.clusters.known import Known


class DetailKind(enum.StrEnum):
    """What is listed; the value is kept in databases and addresses."""

    SCRAM_USERS = "scram-users"
    QUOTAS = "quotas"
    TRANSACTIONAL_IDS = "transactional-ids"
    TOKENS = "tokens"


@dataclass(frozen=True, slots=True)
class Detail:
    """One entry of a list.

    name: by which it is told from the others: the user of a SCRAM credential, whom a quota limits in words, a
        transactional id, the id of a token.
    user: the name that a SCRAM credential or a quota is for, as brokers have it; empty for others.
    principal: the owner of a token; empty for others.
    facts: what else is known of it, as JSON:
        scram-users        {"mechanisms": {"SCRAM-SHA-256": 4096}}, with iterations
        quotas             {"entity": {"user": "bob", "client-id": null}, "limits": {"producer_byte_rate": 1024.0}};
                           null stands for every one that has no quota of its own
        transactional-ids  {}
        tokens             {"requester": TEXT or null, "renewers": [...], "issued", "expires", "ends": milliseconds}
    """

    name: str
    user: str = ""
    principal: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DetailList:
    """All that brokers tell of one kind.

    known: ALL, VISIBLE where there may be others, UNKNOWN where brokers told nothing. sentence: why not all, or why
    there is none. command: what would grant the right that is missing; empty where nothing would. has_failed: whether
    it is unknown because no usable answer came, so that the next read may tell.
    """

    known: Known
    details: tuple[Detail, ...] = ()
    sentence: str = ""
    command: str = ""
    has_failed: bool = False


class GroupType(enum.StrEnum):
    """Which protocol the members of a group speak, in the words of ListGroups; brokers before 3.8 tell none."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """A group with its type, as brokers list it. state: such as `Stable` or `Empty`; empty where brokers tell none."""

    name: str
    type: GroupType = GroupType.UNKNOWN
    state: str = ""


@dataclass(frozen=True, slots=True)
class GroupMember:
    """One member of a group. Brokers tell its client id and host, and never its principal."""

    client_id: str
    host: str
    instance_id: str = ""

    def as_dict(self) -> dict[str, str]:
        return {"client_id": self.client_id, "host": self.host, "instance_id": self.instance_id}


@dataclass(frozen=True, slots=True)
class DescribedGroup:
    """Who is in a group now. members: None where brokers do not tell, and then `sentence` says why."""

    name: str
    state: str = ""
    members: tuple[GroupMember, ...] | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Details:
    """What brokers told: a list for each kind, and the groups; None where groups cannot be listed.

    groups_of_all: whether each broker listed its groups, so that a group that is not among them is gone.
    """

    lists: Mapping[DetailKind, DetailList]
    groups: tuple[ListedGroup, ...] | None
    groups_of_all: bool = True
