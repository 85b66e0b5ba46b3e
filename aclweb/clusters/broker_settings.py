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
LISTENERS, PROTOCOLS = "listeners", "listener.security.protocol.map"
CONTROLLERS = "controller.listener.names"
MECHANISMS, CLIENT_AUTH = "sasl.enabled.mechanisms", "ssl.client.auth"
COMPARED = (
    AUTHORIZER,
    SSL_RULES,
    KERBEROS_RULES,
    BUILDER,
    SUPER_USERS_KEY,
    ALLOW_EVERYONE_KEY,
)
"""The settings that a broker has as a whole, in the order in which they are shown."""
ASKED = (*COMPARED, ROLES, ZOOKEEPER, LISTENERS, PROTOCOLS, CONTROLLERS, MECHANISMS, CLIENT_AUTH)
# Which of Kafka's two authorizers a class is.
AUTHORIZERS = {
    "org.apache.kafka.metadata.authorizer.StandardAuthorizer": "standard",
    "kafka.security.authorizer.AclAuthorizer": "acl",
    "kafka.security.auth.SimpleAclAuthorizer": "acl",
}
_DEFAULTS: Mapping[str, object] = {SUPER_USERS_KEY: "", ALLOW_EVERYONE_KEY: False}


def is_asked(name: str) -> bool:
    """Whether this setting of a broker matters here: one of ASKED, or how a listener of its own logs clients in."""
    return name in ASKED or (
        name.startswith("listener.name.") and name.endswith((SSL_RULES, BUILDER, MECHANISMS, CLIENT_AUTH))
    )


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """What one broker shows of its settings by name, without those that are not set; None where hidden."""

    broker: int
    values: Mapping[str, str | None]

    @property
    def listeners(self) -> tuple[Listener, ...]:
        """The listeners for clients and other brokers, by name; none where the broker does not show them."""
        protocols = dict(_pairs(self.values.get(PROTOCOLS) or ""))
        controllers = {name.strip().upper() for name in (self.values.get(CONTROLLERS) or "").split(",")}
        found = []
        for entry in (self.values.get(LISTENERS) or "").split(","):
            name = entry.strip().partition("://")[0].upper()
            if name and name not in controllers:
                found.append(self._listener(name, protocols.get(name, name)))
        return tuple(sorted(found, key=lambda listener: listener.name))

    def _listener(self, name: str, protocol: str) -> Listener:
        def own(setting: str) -> str:
            return (
                self.values.get(f"listener.name.{name.lower()}.{setting}") or self.values.get(setting) or ""
            )

        mechanisms = own(MECHANISMS) if protocol.startswith("SASL") else ""
        # Over SASL_SSL a broker asks for no certificate, unless the listener itself is set so.
        clients = own(CLIENT_AUTH) if protocol == "SSL" else ""
        return Listener(
            name,
            protocol,
            tuple(sorted(each.strip() for each in mechanisms.split(",") if each.strip())),
            clients,
        )


@dataclass(frozen=True, slots=True)
class Listener:
    """How clients of one listener log in.

    protocol: such as SASL_SSL. mechanisms: of SASL. client_auth: of SSL, `required`, `requested` or `none`.
    """

    name: str
    protocol: str
    mechanisms: tuple[str, ...] = ()
    client_auth: str = ""

    @property
    def words(self) -> str:
        """Such as `INTERNAL: SASL_SSL with SCRAM-SHA-512`."""
        name = "" if self.name == self.protocol else f"{self.name}: "
        if self.mechanisms:
            return f"{name}{self.protocol} with {', '.join(self.mechanisms)}"
        if self.client_auth:
            return f"{name}{self.protocol}, client certificate {self.client_auth}"
        return f"{name}{self.protocol}"


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
    # What each broker shows, in the order in which they were asked.
    each: tuple[BrokerSettings, ...] = ()

    @property
    def where(self) -> str:
        """`broker 1`, or `brokers 1, 2 and 3`."""
        return brokers_words(self.brokers)


def combined_settings(settings: Sequence[BrokerSettings]) -> ClusterSettings | None:
    """Return what the brokers show together, None where none showed anything."""
    if not settings:
        return None
    problems: list[str] = []
    same = {name: _agreed(name, settings, problems) for name in COMPARED}
    problems += _different_listeners(settings)
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
        listeners_differ=any(
            name.startswith("listener.name.") and name.endswith((SSL_RULES, BUILDER))
            for one in settings
            for name in one.values
        ),
        proven=proven,
        problems=tuple(problems),
        each=tuple(settings),
    )


def _different_listeners(settings: Sequence[BrokerSettings]) -> list[str]:
    """Return the sentence that the brokers log clients in differently; none where they do not."""
    by_listeners: dict[tuple[Listener, ...], list[int]] = {}
    for one in settings:
        if one.listeners:
            by_listeners.setdefault(one.listeners, []).append(one.broker)
    if len(by_listeners) < 2:
        return []
    listed = "; ".join(
        f"{', '.join(listener.words for listener in listeners)} on {brokers_words(numbers)}"
        for listeners, numbers in by_listeners.items()
    )
    return [
        f"The brokers differ in their listeners: {listed}. How a client logs in, and so which principal it is, depends "
        "on the broker."
    ]


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    """Yield the parts of `NAME:PROTOCOL,NAME:PROTOCOL`."""
    for part in text.split(","):
        name, _, protocol = part.strip().partition(":")
        if protocol:
            yield name.upper(), protocol.upper()


def _agreed(name: str, settings: Sequence[BrokerSettings], problems: list[str]) -> str | None:
    """Return the value that all brokers have, None where it is hidden, not set, or differs, which is a problem."""
    by_value: dict[tuple[bool, str | None], list[int]] = {}
    for one in settings:
        by_value.setdefault((name in one.values, one.values.get(name)), []).append(one.broker)
    if len(by_value) == 1:
        return next(iter(by_value))[1]
    values = "; ".join(
        f"{_shown(is_set, value)} on {brokers_words(numbers)}"
        for (is_set, value), numbers in by_value.items()
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


def brokers_words(numbers: Iterable[int]) -> str:
    """Return `broker 1`, or `brokers 1, 2 and 3`."""
    words = [str(number) for number in numbers]
    if len(words) == 1:
        return f"broker {words[0]}"
    return f"brokers {', '.join(words[:-1])} and {words[-1]}"
