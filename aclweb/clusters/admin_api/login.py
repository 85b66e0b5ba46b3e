"""Which principal are the brokers likely to take this client for?"""

from __future__ import annotations

from aclweb.acl.principals import BrokerSettings, Client, Protocol, identify
from aclweb.clusters.broker_settings import ClusterSettings
from aclweb.clusters.connection import ClientOptions, Token, pem


def principal_of(
    options: ClientOptions, settings: ClusterSettings | None, token: Token | None = None
) -> str | None:
    """Return how ACLs name the login, None where it depends on settings that the brokers do not show.

    settings: the brokers' settings, None where they were not read. token: with which it logs in, if with one; brokers
    take the claim `sub` for its name unless they are told another.
    """
    if token is not None and token.subject is None:
        return None
    if options.kerberos is not None:
        return _by_kerberos(options.kerberos.principal, options, settings)
    own = options.certificate_pem
    by_subject = own is not None and not options.uses_sasl
    if (settings is None and by_subject) or (settings is not None and settings.listeners_differ):
        return None
    if settings is not None and by_subject and settings.ssl_rules is None:
        return None  # the brokers differ
    client = Client(
        Protocol(options.protocol),
        subject=pem.subject_of(own) if own else None,
        mechanism=options.mechanism,
        authorization_id=options.username if token is None else token.subject,
    )
    naming = (
        BrokerSettings()
        if settings is None
        else BrokerSettings(
            ssl_rules=settings.ssl_rules, principal_builder=settings.principal_builder or None
        )
    )
    return identify(client, naming).principal


def _by_kerberos(principal: str, options: ClientOptions, settings: ClusterSettings | None) -> str | None:
    """Return what the brokers' mapping rules make of a Kerberos principal; they do not show their default realm."""
    if settings is None or settings.kerberos_rules is None or settings.listeners_differ:
        return None
    client = Client(Protocol(options.protocol), mechanism=options.mechanism, authorization_id=principal)
    naming = BrokerSettings(
        kerberos_rules=settings.kerberos_rules, principal_builder=settings.principal_builder or None
    )
    return identify(client, naming).principal
