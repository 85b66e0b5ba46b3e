"""What stands at the addresses of a connection, told as a sentence for the person who can mend it."""

from __future__ import annotations

from collections.abc import Mapping

from aclweb.clusters.client import ClusterError, ClusterState
from aclweb.clusters.connection import pem
from aclweb.clusters.connection.doorstep import Door, Finding
from aclweb.clusters.connection.options import ClientOptions

_KAFKA, _KEEPER = "Kafka broker", "ZooKeeper"


def nobody(
    found: Mapping[str, Finding],
    options: ClientOptions,
    *,
    wanted: Door,
    waited_seconds: float,
    sync_waits_seconds: float,
) -> ClusterError:
    """Return why none of the addresses will do, in the words of the most telling one; wanted: BROKER or KEEPER."""
    telling = min(found.values(), key=lambda each: each.door.value)
    where = ", ".join(each.address for each in found.values() if each.door is telling.door)
    service = _KEEPER if wanted is Door.KEEPER else _KAFKA
    sentence = _sentence(telling, where, options, service, waited_seconds)
    if telling.door in (Door.SILENT, Door.NO_ANSWER) and waited_seconds < sync_waits_seconds:
        sentence = f"{sentence} A sync waits {sync_waits_seconds:g} s."
    return ClusterError(sentence, state=ClusterState.UNREACHABLE)


def _sentence(
    found: Finding, where: str, options: ClientOptions, service: str, timeout_seconds: float
) -> str:
    detail = f" ({found.detail})" if found.detail else ""
    protocol = options.protocol
    secure, plain = ("SASL_SSL", "SASL_PLAINTEXT") if options.uses_sasl else ("SSL", "PLAINTEXT")
    tls_port = "the brokers' TLS port" if service == _KAFKA else "ZooKeeper's secureClientPort"
    match found.door:
        case Door.BROKER:
            return (
                f"At {where} a Kafka broker answers and no ZooKeeper; give ZooKeeper's address (zookeeper.connect of "
                "the brokers), or add the cluster with --kind admin."
            )
        case Door.UNTRUSTED:
            return (
                f"The certificate of the {service} at {where} is not to be trusted{detail}; give the certificate of "
                "its authority as ssl.ca.pem, and check that the certificate names this host."
            )
        case Door.REFUSES_CERTIFICATE:
            return _certificate_refused(where, detail, options, service)
        case Door.WANTS_TLS:
            return (
                f"The port at {where} speaks TLS, and security.protocol is {protocol}; set it to {secure}, or give a "
                "port without TLS."
            )
        case Door.SOME_TLS:
            return (
                f"The port at {where} speaks TLS, and security.protocol is {protocol}; set it to {secure} if this is "
                f"{tls_port}. It answers only clients with a certificate, so aclweb cannot tell whether it is "
                "ZooKeeper or a Kafka broker."
            )
        case Door.NO_TLS:
            return (
                f"The port at {where} does not speak TLS as security.protocol {protocol} expects; set it to {plain}, "
                f"or give {tls_port}."
            )
        case Door.NO_COMMON_TLS:
            return f"The port at {where} and aclweb have no TLS version or cipher in common{detail}."
        case Door.CONTROLLER:
            return (
                f"The port at {where} is that of a KRaft controller; give the address of a broker's listener."
            )
        case Door.HTTP:
            return (
                f"The port at {where} speaks HTTP and is no {service}'s; give the address of the {service}."
            )
        case Door.OTHER | Door.KEEPER:
            return f"What answers at {where} does not speak as a {service} does; give the address of the {service}."
        case Door.NOT_SERVING:
            return (
                f"The ZooKeeper at {where} runs and serves nobody: it does not reach the other servers of its "
                "ensemble. Check whether more than half of them run."
            )
        case Door.HANGS_UP:
            return (
                f"Something at {where} accepts connections and closes them without an answer; it is no {service}, or "
                "it does not accept this machine."
            )
        case Door.SILENT:
            return (
                f"Something at {where} takes connections and answers nothing for {timeout_seconds:g} s; the "
                f"{service} does not respond, or this is something else."
            )
        case Door.CLOSED:
            return (
                f"No {service} answers at {where}: the port is closed. Check the address and whether the "
                f"{service} runs."
            )
        case Door.UNKNOWN_NAME:
            return f"The name in the address {where} is not known to this machine's name service; check it."
    return (
        f"No {service} answers at {where} within {timeout_seconds:g} s{detail}; check the address and whether the "
        f"{service} runs."
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


def misadvertised(found: Mapping[str, Finding], where: str) -> ClusterError:
    """Return that brokers answer at `where` and send their clients on to addresses that will not do."""
    telling = min(found.values(), key=lambda each: (each.door is not Door.UNKNOWN_NAME, each.door.value))
    same = ", ".join(each.address for each in found.values() if each.door is telling.door)
    why = {
        Door.UNKNOWN_NAME: "a name that this machine's name service does not know",
        Door.CLOSED: "where the port is closed",
        Door.NO_ANSWER: "where nobody answers",
        Door.SILENT: "where something takes connections and answers nothing",
        Door.UNTRUSTED: "whose certificate is not to be trusted or names another host",
    }.get(telling.door, "which is no port for this connection")
    return ClusterError(
        f"A Kafka broker answers at {where}, and advertises {same} to its clients, {why}. Set advertised.listeners of "
        "the brokers to addresses that can be reached from here, or make the name known.",
        state=ClusterState.UNREACHABLE,
    )
