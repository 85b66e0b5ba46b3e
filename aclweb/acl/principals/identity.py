"""Who is this client to the broker?

Answers for one connection from what is known of it, as sentences and values: no broker is
asked. A custom principal builder may name the client in any way, so the answer to that is
that nobody can tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from aclweb.acl.model import shown
from aclweb.acl.principals.distinguished_names import DistinguishedNameError, java_name
from aclweb.acl.principals.kerberos_mapping import KerberosRules
from aclweb.acl.principals.name_mapping import DEFAULT, InvalidRules, MappedName, Tried
from aclweb.acl.principals.ssl_mapping import SslRules

ANONYMOUS = "User:ANONYMOUS"
KERBEROS_MECHANISM = "GSSAPI"
DEFAULT_BUILDER = "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"


class Protocol(Enum):
    """A listener's security protocol."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def has_sasl(self) -> bool:
        return self in (Protocol.SASL_PLAINTEXT, Protocol.SASL_SSL)


@dataclass(frozen=True, slots=True)
class Client:
    """What is known of a connection.

    `subject` is the client certificate's, None without one; `authorization_id` is what SASL
    established: a user name, for Kerberos the whole principal.
    """

    protocol: Protocol
    subject: str | None = None
    mechanism: str | None = None
    authorization_id: str | None = None


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """The settings that name clients; None for one that is not set."""

    ssl_rules: str | None = None
    kerberos_rules: str | None = None
    realm: str | None = None
    principal_builder: str | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a client is: `principal` is None where it cannot log in or nobody can tell.

    `input` is the name that the rules saw. `rule` is the one that gave the name. `sentences`
    tell it all, one step each, in order.
    """

    principal: str | None
    cannot_tell: bool
    input: str | None
    rule: str | None
    tried: tuple[Tried, ...]
    sentences: tuple[str, ...]


def identify(client: Client, settings: BrokerSettings) -> Identity:
    """Return who a client is to a broker with these settings."""
    builder = settings.principal_builder
    if builder is not None and builder != DEFAULT_BUILDER:
        return _unknown_principal(
            f"The broker names clients with {builder}, a class of its own, so that its rules say nothing certain."
        )
    if client.protocol.has_sasl:
        return _of_sasl(client, settings)
    if client.protocol is Protocol.PLAINTEXT:
        return _plain(
            ANONYMOUS, "A PLAINTEXT listener asks nobody for a name, so that every client is ANONYMOUS."
        )
    if client.subject is None:
        return _plain(ANONYMOUS, "Without a client certificate a client of a TLS listener is ANONYMOUS.")
    return identify_subject(client.subject, settings.ssl_rules)


def identify_subject(pasted: str, rules: str | None) -> Identity:
    """Return who the owner of a certificate is; `pasted` may be as OpenSSL or keytool print it."""
    try:
        subject = java_name(pasted)
        mapping = _ssl_rules(DEFAULT if rules is None else rules)
    except (DistinguishedNameError, InvalidRules) as error:
        return Identity(None, False, None, None, (), (str(error),))
    seen = f"The broker sees the subject as {shown(subject.text)}."
    return _of_mapping(mapping.map(subject.text), (*subject.changes, seen))


def _of_sasl(client: Client, settings: BrokerSettings) -> Identity:
    name = client.authorization_id
    if name is None:
        return _unknown_principal("Which name the client logs in with is not known.")
    if client.mechanism is None:
        return _unknown_principal(
            "The SASL mechanism is not known, and with GSSAPI rules would change the name."
        )
    if client.mechanism != KERBEROS_MECHANISM:
        return _plain(
            f"User:{name}", f"With {client.mechanism} the name that the client logs in with is its name."
        )
    return identify_kerberos(name, settings.kerberos_rules, settings.realm)


def identify_kerberos(name: str, rules: str | None, realm: str | None) -> Identity:
    """Return who a Kerberos principal is; without its default realm a broker's DEFAULT cannot be judged."""
    try:
        mapping = _kerberos_rules(DEFAULT if rules is None else rules, realm)
    except InvalidRules as error:
        return Identity(None, False, name, None, (), (str(error),))
    return _of_mapping(mapping.map(name), ())


@lru_cache(maxsize=8)
def _ssl_rules(text: str) -> SslRules:
    return SslRules.read(text)


@lru_cache(maxsize=8)
def _kerberos_rules(text: str, realm: str | None) -> KerberosRules:
    return KerberosRules.read(text, realm=realm)


def _of_mapping(found: MappedName, before: tuple[str, ...]) -> Identity:
    steps = tuple(f"{tried.rule}: {tried.sentence}" for tried in found.tried)
    if found.name is None:
        last = (found.whole_error or "",)
        return Identity(
            None, found.is_uncertain, found.input, found.rule, found.tried, (*before, *steps, *last)
        )
    principal = f"User:{found.name}"
    return Identity(
        principal,
        False,
        found.input,
        found.rule,
        found.tried,
        (*before, *steps, f"So the client is {principal}."),
    )


def _plain(principal: str, sentence: str) -> Identity:
    return Identity(principal, False, None, None, (), (sentence,))


def _unknown_principal(sentence: str) -> Identity:
    return Identity(None, True, None, None, (), (sentence,))
