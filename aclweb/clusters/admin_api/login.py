"""Which principal are the brokers likely to take this client for?"""

from __future__ import annotations

from aclweb.acl.principals import BrokerSettings, Client, Protocol, identify
from aclweb.clusters.broker_settings import SettingsTold
from aclweb.clusters.connection import ClientOptions, pem


def principal_of(options: ClientOptions, told: SettingsTold | None) -> str | None:
    """Return how ACLs name the login, None where it depends on settings that the brokers do not tell.

    told: the brokers' settings, None where they were not read.
    """
    own = options.certificate_pem
    by_subject = own is not None and not options.uses_sasl
    if (told is None and by_subject) or (told is not None and told.listeners_differ):
        return None
    if told is not None and by_subject and told.ssl_rules is None:
        return None  # the brokers differ
    client = Client(
        Protocol(options.protocol),
        subject=pem.subject_of(own) if own else None,
        mechanism=options.mechanism,
        authorization_id=options.username,
    )
    naming = (
        BrokerSettings()
        if told is None
        else BrokerSettings(ssl_rules=told.ssl_rules, principal_builder=told.principal_builder or None)
    )
    return identify(client, naming).principal
