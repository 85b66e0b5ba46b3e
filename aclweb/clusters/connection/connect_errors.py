"""Why can none of the addresses of a connection be used? One sentence for the person who can mend it."""

from __future__ import annotations

from collections.abc import Mapping

from aclweb.clusters.client import ClusterError, ClusterState
from aclweb.clusters.connection import pem
from aclweb.clusters.connection.options import ClientOptions
from aclweb.clusters.connection.reachability import Endpoint, ProbeResult

_KAFKA, _ZOOKEEPER = "Kafka broker", "ZooKeeper"


def none_reachable(
    found: Mapping[str, ProbeResult],
    options: ClientOptions,
    *,
    wanted: Endpoint,
    waited_seconds: float,
    sync_waits_seconds: float,
) -> ClusterError:
    """Return why none of the addresses will do, in the words of the most telling one; wanted: BROKER or ZOOKEEPER."""
    telling = min(found.values(), key=lambda each: each.endpoint.value)
    where = ", ".join(each.address for each in found.values() if each.endpoint is telling.endpoint)
    service = _ZOOKEEPER if wanted is Endpoint.ZOOKEEPER else _KAFKA
    sentence = _sentence(telling, where, options, service, waited_seconds)
    if telling.endpoint in (Endpoint.SILENT, Endpoint.NO_ANSWER) and waited_seconds < sync_waits_seconds:
        sentence = f"{sentence} A sync waits {sync_waits_seconds:g} s."
    at_tls = telling.endpoint in _AT_TLS
    return ClusterError(sentence, state=ClusterState.UNREACHABLE, at_tls=at_tls)


# What is found where a server answers, and the two do not agree on TLS.
_AT_TLS = frozenset(
    {
        Endpoint.UNTRUSTED,
        Endpoint.REFUSES_CERTIFICATE,
        Endpoint.WANTS_TLS,
        Endpoint.SOME_TLS,
        Endpoint.NO_TLS,
        Endpoint.NO_COMMON_TLS,
    }
)

# The sentence for each endpoint. where: the addresses; service: what was expected there; protocol: as
# security.protocol says; secure, plain: what it would be with and without TLS.
_SENTENCES: Mapping[Endpoint, str] = {
    Endpoint.BROKER: (
        "At {where} a Kafka broker answers and no ZooKeeper; give ZooKeeper's address (zookeeper.connect of the "
        "brokers), or add the cluster with --kind admin."
    ),
    Endpoint.UNTRUSTED: (
        "The certificate of the {service} at {where} is not to be trusted{detail}; give the certificate of its "
        "authority as ssl.ca.pem, and check that the certificate names this host."
    ),
    Endpoint.WANTS_TLS: (
        "The port at {where} speaks TLS, and security.protocol is {protocol}; set it to {secure}, or give a port "
        "without TLS."
    ),
    Endpoint.SOME_TLS: (
        "The port at {where} speaks TLS, and security.protocol is {protocol}; set it to {secure} if this is "
        "{tls_port}. It answers only clients with a certificate, so aclweb cannot tell whether it is ZooKeeper or a "
        "Kafka broker."
    ),
    Endpoint.NO_TLS: (
        "The port at {where} does not speak TLS as security.protocol {protocol} expects; set it to {plain}, or give "
        "{tls_port}."
    ),
    Endpoint.NO_COMMON_TLS: "The port at {where} and aclweb have no TLS version or cipher in common{detail}.",
    Endpoint.CONTROLLER: (
        "The port at {where} is that of a KRaft controller; give the address of a broker's listener."
    ),
    Endpoint.HTTP: "The port at {where} speaks HTTP and is no {service}'s; give the address of the {service}.",
    Endpoint.OTHER: (
        "What answers at {where} does not speak as a {service} does; give the address of the {service}."
    ),
    Endpoint.ZOOKEEPER: (
        "What answers at {where} does not speak as a {service} does; give the address of the {service}."
    ),
    Endpoint.NOT_SERVING: (
        "The ZooKeeper at {where} runs and serves nobody: it does not reach the other servers of its ensemble. Check "
        "whether more than half of them run."
    ),
    Endpoint.HANGS_UP: (
        "Something at {where} accepts connections and closes them without an answer; it is no {service}, or it does "
        "not accept this machine."
    ),
    Endpoint.SILENT: (
        "Something at {where} takes connections and answers nothing for {seconds:g} s; the {service} does not "
        "respond, or this is something else."
    ),
    Endpoint.NO_ANSWER: (
        "No {service} answers at {where} within {seconds:g} s{detail}; check the address and whether the "
        "{service} runs."
    ),
    Endpoint.CLOSED: (
        "No {service} answers at {where}: the port is closed. Check the address and whether the {service} runs."
    ),
    Endpoint.UNKNOWN_NAME: (
        "The name in the address {where} is not known to this machine's name service; check it."
    ),
}


def _sentence(
    found: ProbeResult, where: str, options: ClientOptions, service: str, timeout_seconds: float
) -> str:
    detail = f" ({found.detail})" if found.detail else ""
    if found.endpoint is Endpoint.REFUSES_CERTIFICATE:
        return _certificate_refused(where, detail, options, service)
    secure, plain = ("SASL_SSL", "SASL_PLAINTEXT") if options.uses_sasl else ("SSL", "PLAINTEXT")
    return _SENTENCES[found.endpoint].format(
        where=where,
        detail=detail,
        service=service,
        protocol=options.protocol,
        secure=secure,
        plain=plain,
        tls_port="the brokers' TLS port" if service == _KAFKA else "ZooKeeper's secureClientPort",
        seconds=timeout_seconds,
    )


def _certificate_refused(where: str, detail: str, options: ClientOptions, service: str) -> str:
    if options.certificate_pem is None:
        return (
            f"The {service} at {where} wants a client certificate{detail}, and this connection has none; give "
            "ssl.certificate.pem and ssl.key.pem."
        )
    return (
        f"The {service} at {where} refuses the certificate of this client{detail}: "
        f"{pem.shown(options.certificate_pem)}. It must be issued by an authority that the {service} trusts."
    )


def wrongly_advertised(found: Mapping[str, ProbeResult], where: str) -> ClusterError:
    """Return that brokers answer at `where` and send their clients on to addresses that will not do."""
    telling = min(
        found.values(), key=lambda each: (each.endpoint is not Endpoint.UNKNOWN_NAME, each.endpoint.value)
    )
    same = ", ".join(each.address for each in found.values() if each.endpoint is telling.endpoint)
    why = {
        Endpoint.UNKNOWN_NAME: "a name that this machine's name service does not know",
        Endpoint.CLOSED: "where the port is closed",
        Endpoint.NO_ANSWER: "where nobody answers",
        Endpoint.SILENT: "where something takes connections and answers nothing",
        Endpoint.UNTRUSTED: "whose certificate is not to be trusted or names another host",
    }.get(telling.endpoint, "which is no port for this connection")
    return ClusterError(
        f"A Kafka broker answers at {where}, and advertises {same} to its clients, {why}. Set advertised.listeners of "
        "the brokers to addresses that can be reached from here, or make the name known.",
        state=ClusterState.UNREACHABLE,
    )
