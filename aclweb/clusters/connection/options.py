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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aclweb.acl.model import number_of
from aclweb.clusters.client import ClusterError, ClusterState
from aclweb.clusters.connection import kerberos, oauth, pem
from aclweb.clusters.connection.kerberos import KerberosLogin
from aclweb.clusters.connection.oauth import ClientCredentials
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
ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
CLIENT_ID = "sasl.oauthbearer.client.credentials.client.id"
CLIENT_SECRET = "sasl.oauthbearer.client.credentials.client.secret"  # noqa: S105
SCOPE = "sasl.oauthbearer.scope"
URLENCODE = "sasl.oauthbearer.header.urlencode"
# What brokers that log clients in by tokens need to be spoken to.
TOKEN_OPTIONS = {
    ENDPOINT: "where a token is asked for, https://HOST/PATH",
    CLIENT_ID: "the client there",
    CLIENT_SECRET: "its secret",
    SCOPE: "the scope of the token",
    URLENCODE: "true or false",
    pem.TOKEN_CA: "the certificates to trust there, as PEM text",
}
SERVICE = "sasl.kerberos.service.name"
KEYTAB = "sasl.kerberos.keytab"
PRINCIPAL = "sasl.kerberos.principal"
# What brokers that log clients in by Kerberos need to be spoken to.
KERBEROS_OPTIONS = {
    SERVICE: f"the first part of the brokers' principals; {kerberos.USUAL_SERVICE} unless given",
    KEYTAB: "the file with this client's key",
    PRINCIPAL: "this client's principal, with its realm",
}
_PASSWORD_LOGIN = ("sasl.username", "sasl.password")
_TOKEN_LOGIN = (ENDPOINT, CLIENT_ID, CLIENT_SECRET)
# What each mechanism must have, and all that it may have; any other is one with a password.
_NEEDED = {oauth.MECHANISM: _TOKEN_LOGIN, kerberos.MECHANISM: (KEYTAB, PRINCIPAL)}
_OWN = {oauth.MECHANISM: tuple(TOKEN_OPTIONS), kerberos.MECHANISM: tuple(KERBEROS_OPTIONS)}
_LONGEST_VALUE = 65_536
_MOST_REFUSED = 20  # so many settings that aclweb does not know are told of; a program may send any number

# What people paste, and how the same is said here. Searched in this order.
_INSTEAD = (
    ("bootstrap.servers", "the brokers belong in the connection's address"),
    ("metadata.broker.list", "the brokers belong in the connection's address"),
    ("zookeeper.connect", "the servers belong in the connection's address"),
    ("sasl.mechanisms", "write sasl.mechanism"),
    ("sasl.jaas.config", "write sasl.username and sasl.password, or the settings sasl.oauthbearer.…"),
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
    ("sasl.kerberos", f"of Kerberos logins aclweb knows {', '.join(KERBEROS_OPTIONS)}"),
    (
        "sasl.oauthbearer",
        f"of OAuth logins aclweb knows the client credentials grant, with {', '.join(TOKEN_OPTIONS)}",
    ),
    ("sasl.login", "aclweb never loads code that a setting names"),
    ("sasl.client", "aclweb never loads code that a setting names"),
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
    # With OAUTHBEARER, how to get a token.
    credentials: ClientCredentials | None = None
    # With GSSAPI, whose keytab.
    kerberos: KerberosLogin | None = None
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
        credentials=_credentials(given),
        kerberos=_kerberos(given),
        client_id=given.get("client.id", "aclweb"),
        request_timeout_seconds=int(timeout) / 1000 if timeout else None,
    )


def _credentials(given: Mapping[str, str]) -> ClientCredentials | None:
    if given.get("sasl.mechanism") != oauth.MECHANISM:
        return None
    return ClientCredentials(
        endpoint=given[ENDPOINT],
        client_id=given[CLIENT_ID],
        client_secret=given[CLIENT_SECRET],
        scope=given.get(SCOPE),
        ca_pem=given.get(pem.TOKEN_CA),
        urlencode=given.get(URLENCODE, "false").lower() == "true",
    )


def _kerberos(given: Mapping[str, str]) -> KerberosLogin | None:
    if given.get("sasl.mechanism") != kerberos.MECHANISM:
        return None
    return KerberosLogin(given[KEYTAB], given[PRINCIPAL], given.get(SERVICE, kerberos.USUAL_SERVICE))


def option_faults(
    kind: ClusterKind,
    options: Mapping[str, str],
    token_endpoints: tuple[str, ...] = (),
    keytabs: tuple[str, ...] = (),
) -> tuple[Fault, ...]:
    """Return what is wrong with the settings; none of them repeats a value that may be secret.

    token_endpoints: where the deployment lets tokens be asked for. keytabs: those that it lets be used.
    """
    given, _, faults = _read(kind, options)
    if KEYTAB in given and not any(fault.setting == KEYTAB for fault in faults):
        refused = kerberos.why_no_keytab(given[KEYTAB], keytabs)
        faults += [Fault(KEYTAB, refused)] if refused else []
    if ENDPOINT in given and not any(fault.setting == ENDPOINT for fault in faults):
        refused = oauth.why_no_endpoint(given[ENDPOINT], token_endpoints)
        faults += [Fault(ENDPOINT, refused)] if refused else []
    return tuple(faults)


def uses_tls(kind: ClusterKind, options: Mapping[str, str]) -> bool:
    """Return whether a connection with these settings speaks TLS."""
    return _read(kind, options)[1] in ("SSL", "SASL_SSL")


def _read(kind: ClusterKind, options: Mapping[str, str]) -> tuple[dict[str, str], str, list[Fault]]:
    """Return the settings that are known, the protocol, and what is wrong."""
    allowed = kind.options
    unknown = [name for name in options if name not in allowed]
    faults = [Fault("", _refusal(name, kind)) for name in unknown[:_MOST_REFUSED]]
    if more := len(unknown[_MOST_REFUSED:]):
        faults.append(Fault("", f"{number_of(more, 'more setting is', 'more settings are')} refused."))
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
    inner = "SSL" if any(name in given for name in pem.TLS_SETTINGS) else "PLAINTEXT"
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
    if known is not None and known[0] == "sasl.oauthbearer" and oauth.MECHANISM not in kind.mechanisms:
        instead = f"{kind.called} logs nobody in by tokens"
    if known is not None and known[0] == "sasl.kerberos" and kerberos.MECHANISM not in kind.mechanisms:
        instead = f"aclweb does not log in to {kind.called} by Kerberos"
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
    needed = _NEEDED.get(mechanism or "", _PASSWORD_LOGIN)
    own = _OWN.get(mechanism or "", _PASSWORD_LOGIN)
    others = [each for each in (*_PASSWORD_LOGIN, *TOKEN_OPTIONS, *KERBEROS_OPTIONS) if each not in own]
    faults += [
        Fault(each, f"With security.protocol {protocol}, {each} is missing.")
        if mechanism not in _NEEDED
        else Fault(each, f"With sasl.mechanism {mechanism}, {each} is missing.")
        for each in needed
        if each not in given
    ]
    if mechanism is not None:
        faults += [
            Fault(each, f"Setting {each} has no effect with sasl.mechanism {mechanism}; leave it out.")
            for each in others
            if each in given
        ]
    if mechanism == kerberos.MECHANISM:
        faults += _kerberos_faults(given)
    return [*faults, *(_token_faults(given) if mechanism == oauth.MECHANISM else ())]


def _kerberos_faults(given: Mapping[str, str]) -> Iterator[Fault]:
    if PRINCIPAL in given and not kerberos.is_principal(given[PRINCIPAL]):
        yield Fault(
            PRINCIPAL, f"Setting {PRINCIPAL} is no principal with its realm, such as aclweb@EXAMPLE.COM."
        )
    if SERVICE in given and not kerberos.is_service(given[SERVICE]):
        yield Fault(SERVICE, f"Setting {SERVICE} is no name of a service, such as kafka.")


def _token_faults(given: Mapping[str, str]) -> Iterator[Fault]:
    if CLIENT_ID in given and ":" in given[CLIENT_ID] and given.get(URLENCODE, "").lower() != "true":
        yield Fault(CLIENT_ID, f"Setting {CLIENT_ID} holds a colon, which needs {URLENCODE}=true.")
    if given.get(URLENCODE, "false").lower() not in ("true", "false"):
        yield Fault(URLENCODE, f"Setting {URLENCODE} is neither true nor false.")
    if ENDPOINT in given and not oauth.is_endpoint(given[ENDPOINT]):
        yield Fault(
            ENDPOINT,
            f"Setting {ENDPOINT} is no address of a token endpoint; write https://HOST/PATH, without user, "
            "question mark and number sign.",
        )
    yield from pem.faults({name: given[name] for name in (pem.TOKEN_CA,) if name in given})


def _tls_faults(given: Mapping[str, str], protocol: str, uses_tls: bool) -> list[Fault]:
    named = [name for name in given if name.startswith("ssl.")]
    if not uses_tls:
        return [
            Fault(
                name, f"Setting {name} has no effect with security.protocol {protocol}; use SSL or SASL_SSL."
            )
            for name in named
        ]
    faults = pem.faults({name: text for name, text in given.items() if name != pem.TOKEN_CA})
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
