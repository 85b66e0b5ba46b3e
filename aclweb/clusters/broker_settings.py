"""Which settings that decisions depend on do brokers show?

DescribeConfigs on a broker shows its authorizer, mapping rules and principal builder. Of `super.users` and
`allow.everyone.if.no.acl.found` it shows only whether they are set, and never to what: a
setting that is absent has its default, one that is there is hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from aclweb.acl.model import ALLOW_EVERYONE_KEY, SUPER_USERS_KEY
from aclweb.acl.principals import DEFAULT_BUILDER

AUTHORIZER = "authorizer.class.name"
SSL_RULES = "ssl.principal.mapping.rules"
KERBEROS_RULES = "sasl.kerberos.principal.to.local.rules"
BUILDER = "principal.builder.class"
ROLES, ZOOKEEPER = "process.roles", "zookeeper.connect"
ASKED = (
    AUTHORIZER,
    SSL_RULES,
    KERBEROS_RULES,
    BUILDER,
    ROLES,
    ZOOKEEPER,
    SUPER_USERS_KEY,
    ALLOW_EVERYONE_KEY,
)
# Which of Kafka's two authorizers a class is.
AUTHORIZERS = {
    "org.apache.kafka.metadata.authorizer.StandardAuthorizer": "standard",
    "kafka.security.authorizer.AclAuthorizer": "acl",
    "kafka.security.auth.SimpleAclAuthorizer": "acl",
}
_DEFAULTS: Mapping[str, object] = {SUPER_USERS_KEY: "", ALLOW_EVERYONE_KEY: False}


def is_asked(name: str) -> bool:
    """Whether this setting of a broker matters here: one of ASKED, or a listener's own naming of clients."""
    return name in ASKED or (name.startswith("listener.name.") and name.endswith((SSL_RULES, BUILDER)))


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """What one broker shows of its settings by name, without those that are not set; None where hidden."""

    broker: int
    values: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """What all brokers that answered show together.

    authorizer: `standard` or `acl`, None where the class is not Kafka's own or differs.
    proven: the values of those hidden settings that no broker has, so that the default holds.
    """

    brokers: tuple[int, ...]
    authorizer: str | None
    authorizer_class: str
    principal_builder: str
    ssl_rules: str | None
    kerberos_rules: str | None
    # Whether some listener names its clients by settings of its own.
    listeners_differ: bool
    proven: Mapping[str, object]
    problems: tuple[str, ...]

    @property
    def where(self) -> str:
        """`broker 1`, or `brokers 1, 2 and 3`."""
        return _brokers(self.brokers)


def combined_settings(settings: Sequence[BrokerSettings]) -> ClusterSettings | None:
    """Return what the brokers show together, None where none showed anything."""
    if not settings:
        return None
    problems: list[str] = []
    same = {name: _agreed(name, settings, problems) for name in ASKED}
    kind = AUTHORIZERS.get(same[AUTHORIZER] or "")
    if same[AUTHORIZER] and kind is None:
        problems.append(
            f"The brokers decide by {same[AUTHORIZER]}, which is not one of Kafka's own authorizers; its decisions may "
            "differ from those that are shown here."
        )
    builder = same[BUILDER] or ""
    if builder not in ("", DEFAULT_BUILDER):
        problems.append(
            f"The brokers name clients by {builder}, a class of their own; which principal a client gets is unknown."
        )
    proven = {
        name: default
        for name, default in _DEFAULTS.items()
        # Of another authorizer's defaults nothing is known.
        if kind is not None and not any(name in one.values for one in settings)
    }
    return ClusterSettings(
        brokers=tuple(one.broker for one in settings),
        authorizer=kind,
        authorizer_class=same[AUTHORIZER] or "",
        principal_builder=builder,
        ssl_rules=same[SSL_RULES],
        kerberos_rules=same[KERBEROS_RULES],
        listeners_differ=any(name.startswith("listener.name.") for one in settings for name in one.values),
        proven=proven,
        problems=tuple(problems),
    )


def _agreed(name: str, settings: Sequence[BrokerSettings], problems: list[str]) -> str | None:
    """Return the value that all brokers have, None where it is hidden, not set, or differs, which is a problem."""
    if name in (ROLES, ZOOKEEPER):
        return settings[0].values.get(name)
    by_value: dict[tuple[bool, str | None], list[int]] = {}
    for one in settings:
        by_value.setdefault((name in one.values, one.values.get(name)), []).append(one.broker)
    if len(by_value) == 1:
        return next(iter(by_value))[1]
    values = "; ".join(
        f"{_shown(is_set, value)} on {_brokers(numbers)}" for (is_set, value), numbers in by_value.items()
    )
    problems.append(
        f"The brokers differ in {name}: {values}. Which of them answers decides what a client may do; make them the "
        "same."
    )
    return None


def _shown(is_set: bool, value: str | None) -> str:
    if not is_set:
        return "not set"
    return "set, to what is hidden," if value is None else f"{value!r}"


def _brokers(numbers: Iterable[int]) -> str:
    words = [str(number) for number in numbers]
    if len(words) == 1:
        return f"broker {words[0]}"
    return f"brokers {', '.join(words[:-1])} and {words[-1]}"
