"""Which client settings may a cluster's connection have, and what do they mean?

An allow-list. People paste whole property files of the Java client or of librdkafka,
and among those are settings that run a program, load code, read a file of this
machine or ask an address on the net; so everything that is not listed here is
refused, by name and with the way to say the same thing.

Certificates and keys are given as PEM text, never as the name of a file: whoever may
edit a connection must not learn what this machine's files hold. (The `cluster` command
takes file names and reads them as the person who types it.)

No message repeats a value that may be secret.
"""

from __future__ import annotations

import os
import re
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aclweb.clusters.client import ClusterError, ClusterState
from aclweb.clusters.connection import pem
from aclweb.clusters.connection.pem import Fault
from aclweb.clusters.kind import ClusterKind

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
# What servers need to be spoken to: kinds with servers take these, and perhaps more.
LOGIN_OPTIONS = {
    "security.protocol": f"one of {', '.join(PROTOCOLS)}",
    "sasl.mechanism": "how to log in",
    "sasl.username": "the user name",
    "sasl.password": "the password",
    "ssl.ca.pem": "the certificates to trust, as PEM text",
    "ssl.certificate.pem": "this client's certificate, as PEM text",
    "ssl.key.pem": "this client's private key, as PEM text",
    "ssl.key.password": "the password of the private key",
    "ssl.endpoint.identification.algorithm": "https, and nothing else",
}
_LONGEST_VALUE = 65_536

# What people paste, and how the same is said here. Searched in this order.
_INSTEAD = (
    ("bootstrap.servers", "the brokers belong in the connection's address"),
    ("metadata.broker.list", "the brokers belong in the connection's address"),
    ("zookeeper.connect", "the servers belong in the connection's address"),
    ("sasl.mechanisms", "write sasl.mechanism"),
    ("sasl.jaas.config", "write sasl.username and sasl.password"),
    ("ssl.truststore.certificates", "write ssl.ca.pem"),
    ("ssl.truststore", "write ssl.ca.pem=@FILE, with the trusted certificates as PEM in the file"),
    ("ssl.keystore.certificate.chain", "write ssl.certificate.pem"),
    ("ssl.keystore.key", "write ssl.key.pem"),
    ("ssl.keystore", "write ssl.certificate.pem=@FILE and ssl.key.pem=@FILE, each with PEM in the file"),
    ("ssl.ca.location", "write ssl.ca.pem=@FILE, with the trusted certificates as PEM in the file"),
    ("ssl.ca", "write ssl.ca.pem=@FILE, with the trusted certificates as PEM in the file"),
    ("ssl.certificate.location", "write ssl.certificate.pem=@FILE"),
    ("ssl.key.location", "write ssl.key.pem=@FILE"),
    ("enable.ssl.certificate.verification", "certificates are always verified"),
    ("sasl.kerberos", "Kerberos logins are not offered, since they run a program of this machine"),
    ("sasl.oauthbearer", "OAuth logins are not offered, since they ask an address of the setting's choice"),
    ("sasl.login", "only user name and password logins are offered"),
    ("sasl.client", "only user name and password logins are offered"),
    ("plugin.", "aclweb never loads code that a setting names"),
    ("ssl.engine", "aclweb never loads code that a setting names"),
    ("ssl.provider", "aclweb never loads code that a setting names"),
    ("security.providers", "aclweb never loads code that a setting names"),
    ("debug", "it would write passwords into the log"),
    ("socket.timeout.ms", "write request.timeout.ms"),
)


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """The settings of one connection, checked. Secrets stay out of repr."""

    protocol: str = "PLAINTEXT"
    mechanism: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_pem: str | None = field(default=None, repr=False)
    certificate_pem: str | None = field(default=None, repr=False)
    key_pem: str | None = field(default=None, repr=False)
    key_password: str | None = field(default=None, repr=False)
    client_id: str = "aclweb"
    request_timeout_seconds: float | None = None

    @property
    def uses_tls(self) -> bool:
        return self.protocol in ("SSL", "SASL_SSL")

    @property
    def uses_sasl(self) -> bool:
        return self.protocol.startswith("SASL_")


def check_options(kind: ClusterKind, options: Mapping[str, str]) -> ClientOptions:
    """Return the settings as values; raises ClusterError with one sentence naming every fault."""
    given, protocol, faults = _read(kind, options)
    if faults:
        raise ClusterError(" ".join(each.sentence for each in faults), state=ClusterState.UNREACHABLE)

    timeout = given.get("request.timeout.ms")
    return ClientOptions(
        protocol=protocol,
        mechanism=given.get("sasl.mechanism"),
        username=given.get("sasl.username"),
        password=given.get("sasl.password"),
        ca_pem=given.get("ssl.ca.pem"),
        certificate_pem=given.get("ssl.certificate.pem"),
        key_pem=given.get("ssl.key.pem"),
        key_password=given.get("ssl.key.password"),
        client_id=given.get("client.id", "aclweb"),
        request_timeout_seconds=int(timeout) / 1000 if timeout else None,
    )


def option_faults(kind: ClusterKind, options: Mapping[str, str]) -> tuple[Fault, ...]:
    """Return what is wrong with the settings; none of them repeats a value that may be secret."""
    return tuple(_read(kind, options)[2])


def uses_tls(kind: ClusterKind, options: Mapping[str, str]) -> bool:
    """Return whether a connection with these settings speaks TLS."""
    return _read(kind, options)[1] in ("SSL", "SASL_SSL")


def _read(kind: ClusterKind, options: Mapping[str, str]) -> tuple[dict[str, str], str, list[Fault]]:
    """Return the settings that are known, the protocol, and what is wrong."""
    allowed = kind.options
    faults = [Fault("", _refusal(name, kind)) for name in options if name not in allowed]
    given = {
        name: pem.tidied(str(value), name) if name in pem.PEM_SETTINGS else str(value)
        for name, value in options.items()
        if name in allowed and str(value) != ""
    }
    for name, value in given.items():
        if "\0" in value or (not name.endswith(".pem") and ("\n" in value or "\r" in value)):
            sentence = f"Setting {name} holds a line break or a NUL, which none of its values can have."
            faults.append(Fault(name, sentence))
        elif len(value) > _LONGEST_VALUE:
            sentence = f"Setting {name} is {len(value)} characters long; {_LONGEST_VALUE} are the most."
            faults.append(Fault(name, sentence))

    protocol = given.get("security.protocol") or _protocol_of(given)
    if protocol not in PROTOCOLS:
        sentence = f"Setting security.protocol{_quoted(protocol)} is not known; use {_or(PROTOCOLS)}."
        faults.append(Fault("security.protocol", sentence))
    uses_sasl, uses_tls = protocol.startswith("SASL_"), protocol.endswith("SSL")
    faults += _login_faults(kind.mechanisms, given, protocol) if uses_sasl else []
    if not uses_sasl:
        faults += [
            Fault(
                name,
                f"Setting {name} has no effect with security.protocol {protocol}; use SASL_PLAINTEXT or SASL_SSL.",
            )
            for name in given
            if name.startswith("sasl.")
        ]
    faults += _tls_faults(given, protocol, uses_tls)
    if given.get("ssl.endpoint.identification.algorithm", "https").lower() != "https":
        sentence = (
            "Setting ssl.endpoint.identification.algorithm can only be https: the name in a server's certificate "
            "is always compared with its address."
        )
        faults.append(Fault("ssl.endpoint.identification.algorithm", sentence))
    timeout = given.get("request.timeout.ms")
    if timeout is not None and not (
        timeout.isascii() and timeout.isdigit() and 1000 <= int(timeout) <= 600_000
    ):
        sentence = "Setting request.timeout.ms is not a number of milliseconds from 1000 to 600000."
        faults.append(Fault("request.timeout.ms", sentence))
    return given, protocol, faults


def _protocol_of(given: Mapping[str, str]) -> str:
    """Return the protocol that the other settings need."""
    inner = "SSL" if any(name in given for name in pem.PEM_SETTINGS) else "PLAINTEXT"
    if "sasl.mechanism" in given:
        return f"SASL_{inner}"
    return inner


# A piece of a key or of most passwords has longer runs of letters than these words.
_LONG_RUN = re.compile(r"[A-Za-z0-9+/=]{12,}")


def _quoted(text: str) -> str:
    """Return ` 'text'` if it cannot be a piece of a key, else nothing."""
    return "" if _LONG_RUN.search(text) or len(text) > 80 or not text.isprintable() else f" {text!r}"


def _refusal(name: str, kind: ClusterKind) -> str:
    said = name.strip()
    known = next(((start, advice) for start, advice in _INSTEAD if said.lower().startswith(start)), None)
    instead = known[1] if known is not None else f"aclweb knows only {', '.join(kind.options)}"
    if not kind.options:
        instead = f"a cluster read from {kind.source} has no settings"
    # What only begins like a setting may go on like a key.
    rest = said[len(known[0]) :] if known is not None else said
    quoted = f" {said!r}" if _quoted(rest) or not rest else ""
    return f"Setting{quoted} is refused: {instead}." if quoted else f"A setting is refused: {instead}."


def _login_faults(mechanisms: tuple[str, ...], given: Mapping[str, str], protocol: str) -> list[Fault]:
    name, faults = "sasl.mechanism", []
    mechanism = given.get(name)
    if mechanism is None:
        sentence = f"With security.protocol {protocol}, sasl.mechanism is missing; use {_or(mechanisms)}."
        faults.append(Fault(name, sentence))
    elif mechanism not in mechanisms:
        # Another mechanism needs other settings, so what is missing for ours is no fault yet.
        sentence = f"Setting sasl.mechanism{_quoted(mechanism)} is not offered; use {_or(mechanisms)}."
        return [Fault(name, sentence)]
    faults += [
        Fault(name, f"With security.protocol {protocol}, {name} is missing.")
        for name in ("sasl.username", "sasl.password")
        if name not in given
    ]
    return faults


def _tls_faults(given: Mapping[str, str], protocol: str, uses_tls: bool) -> list[Fault]:
    named = [name for name in given if name.startswith("ssl.")]
    if not uses_tls:
        return [
            Fault(
                name, f"Setting {name} has no effect with security.protocol {protocol}; use SSL or SASL_SSL."
            )
            for name in named
        ]
    faults = pem.faults(given)
    if (pem.CERTIFICATE in given) != (pem.KEY in given):
        sentence = (
            "A client certificate and its key belong together; give ssl.certificate.pem and ssl.key.pem."
        )
        faults.append(Fault(pem.KEY if pem.CERTIFICATE in given else pem.CERTIFICATE, sentence))
    return faults


def _or(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


class PemFiles:
    """The PEM texts of a connection as files, for libraries that want file names; gone after close()."""

    def __init__(self, options: ClientOptions) -> None:
        # mkdtemp makes a directory that only this user may enter.
        self._folder = tempfile.TemporaryDirectory(prefix="aclweb-tls-")
        self.ca = self._write("ca.pem", options.ca_pem)
        self.certificate = self._write("certificate.pem", options.certificate_pem)
        self.key = self._write("key.pem", options.key_pem)

    def _write(self, name: str, text: str | None) -> str | None:
        if text is None:
            return None
        path = Path(self._folder.name) / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
        return str(path)

    def close(self) -> None:
        self._folder.cleanup()


def tls_context(options: ClientOptions) -> ssl.SSLContext:
    """Return a context that checks certificate and host name; raises ClusterError where the PEM is no good."""
    files = PemFiles(options)
    try:
        context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=files.ca)
        if files.certificate:
            # A password is always given: without one the library would ask for it on the terminal.
            context.load_cert_chain(files.certificate, files.key, options.key_password or "")
    except (ssl.SSLError, OSError, ValueError) as error:
        raise ClusterError(
            "The certificates of this connection cannot be used; check ssl.ca.pem, ssl.certificate.pem, "
            f"ssl.key.pem and ssl.key.password ({type(error).__name__}).",
            state=ClusterState.UNREACHABLE,
        ) from error
    finally:
        files.close()
    return context
