"""Bring into a cluster's row what its brokers tell of their own settings, and say where that contradicts people.

What is read wins over what is declared; a declaration fills in what brokers hide. What was
proven once and is not proven any more is open again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aclweb.acl.model import ALLOW_EVERYONE_KEY, SUPER_USERS_KEY
from aclweb.acl.principals import DEFAULT_BUILDER, BrokerSettings
from aclweb.clusters import Problem
from aclweb.clusters.broker_settings import (
    AUTHORIZER,
    AUTHORIZERS,
    COMPARED,
    ClusterSettings,
    brokers_words,
)
from aclweb.clusters.broker_settings import (
    BrokerSettings as OfBroker,
)
from aclweb.inventory.models import Cluster

OF_BROKERS = "settings of the brokers"
"""Where a problem is found that is in what brokers show of their settings."""
READ, DECLARED, ASSUMED = "read from", "declared", "assumed"
_CLASSES = {Cluster.Authorizer.STANDARD: "StandardAuthorizer", Cluster.Authorizer.ACL: "AclAuthorizer"}
_LONGEST_WHERE = len("brokers 1, 2 and 3")
_FIELDS = {"super_users": SUPER_USERS_KEY, "allow_everyone": ALLOW_EVERYONE_KEY}
DECLARABLE = tuple(_FIELDS.values())
"""The settings whose values brokers hide, so that people declare them."""


def take_over(
    row: Cluster, from_brokers: ClusterSettings | None, now: datetime, *, all_brokers: bool = True
) -> tuple[Problem, ...]:
    """Set the fields that brokers tell, and return what is wrong about it. Call it with the row locked.

    from_brokers: None where they were not asked or may not be; what they gave earlier then stays, with its time.
    all_brokers: whether every broker answered.
    """
    if from_brokers is None:
        return tuple(_contradictions(row))
    before = row.settings_read or {}
    was_proven = set(before.get("proven", ()))
    overruled: dict[str, Any] = dict(before.get("overruled", {}))
    proven = {field for field, key in _FIELDS.items() if key in from_brokers.proven}
    for field in proven:
        value, current = from_brokers.proven[_FIELDS[field]], getattr(row, field)
        if field not in was_proven and current is not None and current != value:
            overruled[field] = current
        setattr(row, field, value)
    for field in was_proven - proven:
        # Somebody has set it on the brokers, where its value is hidden.
        setattr(row, field, overruled.pop(field, None))
    if from_brokers.authorizer is not None:
        row.authorizer = from_brokers.authorizer
    row.settings_read = {
        "at": now.isoformat(),
        "where": from_brokers.where,
        "authorizer_class": from_brokers.authorizer_class,
        "principal_builder": from_brokers.principal_builder,
        "ssl_rules": from_brokers.ssl_rules,
        "kerberos_rules": from_brokers.kerberos_rules,
        "proven": sorted(proven),
        "overruled": {field: value for field, value in overruled.items() if field in proven},
        "shown": _shown(from_brokers.each),
        "only_scram": all_brokers and all(_takes_only_scram(one) for one in from_brokers.each),
    }
    return (
        *(Problem(OF_BROKERS, sentence, hazard=True) for sentence in from_brokers.problems),
        *_contradictions(row),
    )


def _takes_only_scram(broker: OfBroker) -> bool:
    """Whether clients of this broker log in with SCRAM and in no other way, as far as it shows its listeners."""
    listeners = broker.listeners
    return bool(listeners) and all(
        listener.mechanisms and all(name.startswith("SCRAM-") for name in listener.mechanisms)
        for listener in listeners
    )


def why_not_only_scram(cluster: Cluster) -> str:
    """Return why clients may log in without SCRAM, as a sentence; empty where brokers show that they cannot."""
    read = cluster.settings_read
    if not read or "only_scram" not in read:
        return "The listeners of the brokers have not been read."
    if cluster.read_at is None or datetime.fromisoformat(read["at"]) < cluster.read_at:
        return "The last sync did not read the listeners of the brokers."
    if not read["only_scram"]:
        return "Clients can log in by other ways than SCRAM, whose users no broker lists."
    if (read["principal_builder"] or DEFAULT_BUILDER) != DEFAULT_BUILDER:
        return "The brokers name clients by a class of their own."
    return ""


def _shown(each: Iterable[OfBroker]) -> list[dict[str, Any]]:
    """Return what brokers show, once for all that show the same: `brokers`, `values` and `listeners` in words."""
    groups: dict[tuple[object, ...], dict[str, Any]] = {}
    for one in each:
        values = {name: one.values[name] for name in COMPARED if name in one.values}
        listeners = [listener.words for listener in one.listeners]
        group = groups.setdefault(
            (*values.items(), *listeners), {"brokers": [], "values": values, "listeners": listeners}
        )
        group["brokers"].append(one.broker)
    return list(groups.values())


def _contradictions(row: Cluster) -> Iterator[Problem]:
    read = row.settings_read or {}
    for field, value in read.get("overruled", {}).items():
        key = _FIELDS[field]
        said = str(value).lower() if isinstance(value, bool) else repr(value)
        default = "nobody is a super user" if field == "super_users" else "resources without ACLs are closed"
        yield Problem(
            key,
            f"It was declared that {key} is {said}, but it is not set on {read['where']}, so that {default}. "
            "Answers follow the brokers; take the declaration back.",
        )


def forget(row: Cluster, fields: Iterable[str]) -> None:
    """Let a new declaration of these fields apply until the brokers give them again."""
    if row.settings_read is None:
        return
    fields = set(fields)
    row.settings_read = row.settings_read | {
        "proven": [field for field in row.settings_read["proven"] if field not in fields],
        "overruled": {
            field: value for field, value in row.settings_read["overruled"].items() if field not in fields
        },
    }


def is_read(cluster: Cluster, field: str) -> bool:
    """Whether this field (`super_users`, `allow_everyone`) was read from the brokers and not declared."""
    return field in (cluster.settings_read or {}).get("proven", ())


def origin(cluster: Cluster, field: str) -> str:
    """Return `read from broker 1`, or `declared`."""
    read = cluster.settings_read
    return f"read from {read['where']}" if read and is_read(cluster, field) else "declared"


@dataclass(frozen=True)
class ShownSetting:
    """What brokers show of one setting, beside what is declared of it.

    values: in words, each with the brokers that show it; one where all show the same. declared: in words; empty where
    nobody can declare it. verdict: `same`, `differs` (of brokers), `fills` (what is hidden is declared), `missing`
    (it is hidden and nobody has declared it), or `overruled` (the brokers show that the declaration is not so).
    """

    name: str
    values: tuple[tuple[str, str], ...]
    declared: str
    verdict: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "setting": self.name,
            "values": [{"value": value, "brokers": brokers} for value, brokers in self.values],
            "declared": self.declared or None,
            "verdict": self.verdict,
        }


def read_at(cluster: Cluster) -> datetime | None:
    """Return when brokers last showed their settings; None where they never did."""
    read = cluster.settings_read
    return datetime.fromisoformat(read["at"]) if read else None


def shown_settings(cluster: Cluster) -> tuple[ShownSetting, ...]:
    """Return what the brokers show of their settings; none where they have shown nothing."""
    groups = (cluster.settings_read or {}).get("shown") or []
    if not groups:
        return ()
    rows = []
    for name in COMPARED:
        found: dict[str, list[int]] = {}
        for group in groups:
            found.setdefault(_value_words(name, group["values"]), []).extend(group["brokers"])
        rows.append(_beside_declared(cluster, name, found))
    listeners: dict[str, list[int]] = {}
    for group in groups:
        listeners.setdefault("; ".join(group["listeners"]) or "not shown", []).extend(group["brokers"])
    rows.append(_beside_declared(cluster, "listeners", listeners))
    return tuple(rows)


def _value_words(name: str, values: dict[str, str | None]) -> str:
    default = {
        SUPER_USERS_KEY: "not set: nobody is a super user",
        ALLOW_EVERYONE_KEY: "not set: resources without ACLs are closed",
        AUTHORIZER: "not set: no authorizer",
    }.get(name, "not set")
    if name not in values:
        return default
    value = values[name]
    return "set, and the value is hidden" if value is None else value or default


def _beside_declared(cluster: Cluster, name: str, found: dict[str, list[int]]) -> ShownSetting:
    values = tuple((words, brokers_words(sorted(brokers))) for words, brokers in found.items())
    field = next((field for field, key in _FIELDS.items() if key == name), None)
    if field is None:
        return ShownSetting(name, values, "", "same" if len(values) == 1 else "differs")
    overruled = (cluster.settings_read or {}).get("overruled", {})
    value = overruled.get(field, None if is_read(cluster, field) else getattr(cluster, field))
    declared = (
        "not declared"
        if value is None
        else str(value).lower()
        if isinstance(value, bool)
        else value or "none"
    )
    if value is None and is_read(cluster, field):
        declared = ""  # and nobody has to
    if field in overruled:
        verdict = "overruled"
    elif len(values) > 1:
        verdict = "differs"
    elif is_read(cluster, field):
        verdict = "same"
    else:
        verdict = "missing" if value is None else "fills"
    return ShownSetting(name, values, declared, verdict)


@dataclass(frozen=True)
class NamingRules:
    """The settings by which brokers name clients, as they were read; `settings` has None for one that is not known.

    where: such as `broker 1`.
    """

    settings: BrokerSettings
    where: str


def naming_rules(cluster: Cluster) -> NamingRules | None:
    """Return by which settings the brokers name clients; None where their settings have not been read."""
    read = cluster.settings_read
    if not read:
        return None
    settings = BrokerSettings(
        ssl_rules=read.get("ssl_rules"),
        kerberos_rules=read.get("kerberos_rules"),
        principal_builder=read.get("principal_builder") or None,
    )
    return NamingRules(settings, str(read["where"]))


@dataclass(frozen=True)
class KnownAuthorizer:
    """Which authorizer decides on a cluster, and where that is known from.

    name: its class without the package. origin: `read from broker 1`, `declared` or `assumed`;
    empty for a copy. decided_as: the authorizer by which answers are decided, where that is another.
    """

    name: str
    origin: str
    class_name: str = ""
    decided_as: str = ""
    version: str = ""

    @property
    def is_read(self) -> bool:
        return self.origin.startswith(READ)

    @property
    def is_sure(self) -> bool:
        """Whether it was read or declared, and is the one by which answers are decided."""
        return self.origin not in ("", ASSUMED) and not self.decided_as

    @property
    def words(self) -> str:
        """Such as `StandardAuthorizer, read from broker 1, Kafka 4.1`."""
        as_by = f"decided as by {self.decided_as}" if self.decided_as else ""
        kafka = f"Kafka {self.version}" if self.version else ""
        return ", ".join(filter(None, (self.without_version, as_by, kafka)))

    @property
    def without_version(self) -> str:
        return ", ".join(filter(None, (self.name, self.origin)))


def authorizer(cluster: Cluster) -> KnownAuthorizer:
    """Return what is known of the cluster's authorizer: what its brokers gave, else what people declared."""
    decides, version = _CLASSES[Cluster.Authorizer(cluster.authorizer)], cluster.kafka_version
    source = cluster.source
    if source.is_copy:
        # A copy of ACLs does not tell which authorizer reads them.
        return KnownAuthorizer(source.source, "", decided_as=decides, version=version)
    read = cluster.settings_read
    if read and read["authorizer_class"]:
        full = str(read["authorizer_class"])
        name, where = full.rpartition(".")[2], str(read["where"])
        if len(where) > _LONGEST_WHERE:
            where = f"{where.count(',') + 2} brokers"
        is_known = cluster.authorizer == AUTHORIZERS.get(full)
        return KnownAuthorizer(name, f"{READ} {where}", full, "" if is_known else decides, version)
    # A declaration stays when a cluster is moved away from ZooKeeper, and means nothing there.
    declared = cluster.authorizer_declared if source.hides_authorizer else ""
    if declared == Cluster.Declared.OFF:
        return KnownAuthorizer("no authorizer", DECLARED, version=version)
    is_declared = declared or cluster.authorizer != source.default_authorizer
    return KnownAuthorizer(decides, DECLARED if is_declared else ASSUMED, version=version)
