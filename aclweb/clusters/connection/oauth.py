"""Which token does a connection log in with by OAUTHBEARER, and where may it be asked for?

The client credentials grant (RFC 6749, 4.4): the secret goes to one endpoint and nowhere else, over TLS with a
verified certificate, and only to an endpoint that the deployment lists. Redirects are not followed, and no proxy is
asked. A token is kept in this process until shortly before it expires. No message and no repr holds a secret, a token,
or what the endpoint wrote.
"""

from __future__ import annotations

import base64
import binascii
import http.client
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any, TypeGuard
from urllib.parse import quote_plus, urlencode, urlsplit

from aclweb.acl.model import shown
from aclweb.clusters.client import ClusterError, ClusterState

MECHANISM = "OAUTHBEARER"
_LARGEST_ANSWER = 1_000_000
# A token is not used any more in the last part of its life, and at most so many seconds of it.
_LAST_PART, _LAST_SECONDS = 0.2, 60.0
# A longer name of a client is not kept: it is stored with the test of a connection, and shown.
_LONGEST_SUBJECT = 500
# RFC 6750: nothing else can be told apart from the rest of the message to the broker.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_ERRORS = {
    "invalid_request": "it takes the request for none; the endpoint may be another kind of address",
    "invalid_client": "check sasl.oauthbearer.client.credentials.client.id and .secret",
    "invalid_grant": "check sasl.oauthbearer.client.credentials.client.id and .secret",
    "unauthorized_client": "allow this client the grant client_credentials there",
    "unsupported_grant_type": "it offers no grant client_credentials",
    "invalid_scope": "check sasl.oauthbearer.scope",
}


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """How to ask for a token. urlencode: whether id and secret are encoded in the header, as RFC 6749 has it.

    ca_pem: the authorities to trust at the endpoint; None for those of this machine.
    """

    endpoint: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None = None
    ca_pem: str | None = field(default=None, repr=False)
    urlencode: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """A token. subject: its claim `sub`, None where none can be read. fresh_until: on the monotonic clock."""

    text: str = field(repr=False)
    subject: str | None
    lifetime_seconds: float | None
    fresh_until: float


def is_endpoint(text: str) -> bool:
    """Whether this is the address of an endpoint that a secret may be sent to: https, a host, and a path if any."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    return (
        parts.scheme == "https"
        and bool(parts.hostname)
        and "@" not in parts.netloc
        and port != 0
        and text.isascii()
        and text.isprintable()
        and not set(text) & set("?#\\ ")
    )


def why_no_endpoint(endpoint: str, allowed: tuple[str, ...]) -> str:
    """Return why no token may be asked for there, as a sentence; empty where one may."""
    if endpoint in allowed:
        return ""
    listed = f"; this site may ask at {' or '.join(allowed)}" if allowed else ""
    return (
        f"The token endpoint {_shown(endpoint)} is not allowed{listed}. "
        "Whoever runs the site adds it to ACLWEB_TOKEN_ENDPOINTS."
    )


class Tokens:
    """The tokens of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[ClientCredentials, Token] = {}
        self._asking: dict[ClientCredentials, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, asked: ClientCredentials, timeout_seconds: float) -> Token:
        """Return a token that has not nearly expired; raises ClusterError with the reason where there is none."""
        with self._lock:
            asking = self._asking.setdefault(asked, threading.Lock())
        with asking:  # one thread asks, the others wait for what it got
            kept = self._kept.get(asked)
            if kept is not None and self._clock() < kept.fresh_until:
                return kept
            token = _ask(asked, timeout_seconds, self._clock)
            with self._lock:
                now = self._clock()
                self._kept = {key: one for key, one in self._kept.items() if now < one.fresh_until}
                self._asking = {
                    key: one for key, one in self._asking.items() if key in self._kept or one.locked()
                }
                if now < token.fresh_until:
                    self._kept[asked] = token
            return token

    def forget(self, asked: ClientCredentials) -> None:
        """Ask anew next time: brokers refuse the token."""
        with self._lock:
            self._kept.pop(asked, None)


tokens = Tokens()


def _ask(asked: ClientCredentials, timeout_seconds: float, clock: Callable[[], float]) -> Token:
    begun = clock()
    status, body = _answer(asked, timeout_seconds)
    where = f"The token endpoint {asked.endpoint}"
    if 300 <= status < 400:
        raise _refused(
            f"{where} answers with a redirect, which aclweb does not follow; give its own address."
        )
    found = _as_json(body)
    if status != http.HTTPStatus.OK:
        advice = _ERRORS.get(str(found.get("error")))
        word = f"{found['error']} ({advice})" if advice else f"HTTP status {status}"
        raise _refused(f"{where} gives no token to {shown(asked.client_id)}: {word}.")
    text, kind = found.get("access_token"), found.get("token_type", "bearer")
    if not isinstance(text, str) or not _TOKEN.fullmatch(text) or str(kind).lower() != "bearer":
        raise _refused(f"{where} answered without a bearer token; check that this is the address for tokens.")
    claims = _claims(text)
    lifetime = _lifetime(found, claims)
    if lifetime is not None and lifetime <= 0:
        raise _refused(f"{where} gave a token that has expired; check the clocks of both machines.")
    margin = min(_LAST_SECONDS, _LAST_PART * lifetime) if lifetime is not None else 0.0
    subject = claims.get("sub")
    return Token(
        text,
        subject if _is_name(subject) else None,
        lifetime,
        begun + lifetime - margin if lifetime is not None else begun,
    )


def _is_name(subject: object) -> TypeGuard[str]:
    """Whether a claim may be a client's name. Half a character or a NUL can be in JSON, in no name, and in no table."""
    return isinstance(subject, str) and 0 < len(subject) <= _LONGEST_SUBJECT and subject.isprintable()


def _answer(asked: ClientCredentials, timeout_seconds: float) -> tuple[int, bytes]:
    """Return status and body of the endpoint's answer to one request, within the time as a whole."""
    parts = urlsplit(asked.endpoint)
    where = f"The token endpoint {asked.endpoint}"
    form = {"grant_type": "client_credentials"} | ({"scope": asked.scope} if asked.scope else {})
    headers = {
        "Authorization": f"Basic {_basic(asked)}",
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "application/json",
        "User-Agent": "aclweb",
    }
    try:
        context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cadata=asked.ca_pem)
    except ssl.SSLError as error:
        raise _refused("The certificates in sasl.oauthbearer.ssl.ca.pem cannot be used.") from error
    host, port = str(parts.hostname), parts.port or http.client.HTTPS_PORT
    connection = http.client.HTTPSConnection(host, port)
    # Each step has a timeout of its own, which an endpoint that only trickles never reaches.
    late, tls = threading.Event(), _Ended()

    def give_up() -> None:
        late.set()
        tls.end()

    watch = threading.Timer(timeout_seconds, give_up)
    watch.daemon = True
    silent = _refused(f"{where} does not answer within {timeout_seconds:g} s.")
    with closing(connection):
        watch.start()
        try:
            plain = socket.create_connection((host, port), timeout_seconds)
            tls.opened = context.wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False)
            if late.is_set():
                raise TimeoutError
            tls.opened.do_handshake()
            connection.sock = tls.opened
            connection.request("POST", parts.path or "/", urlencode(form), headers)
            answer = connection.getresponse()
            body = answer.read(_LARGEST_ANSWER + 1)
        except ssl.SSLCertVerificationError as error:
            raise _refused(
                f"The certificate of the token endpoint {asked.endpoint} is not to be trusted; give its authority as "
                "sasl.oauthbearer.ssl.ca.pem, and check that it names this host."
            ) from error
        except (OSError, http.client.HTTPException) as error:
            if late.is_set() or isinstance(error, TimeoutError):
                raise silent from error
            raise _refused(f"{where} {_why(error)}") from error
        finally:
            watch.cancel()
            tls.close()
    if late.is_set():
        raise silent
    if len(body) > _LARGEST_ANSWER:
        raise _refused(f"{where} answers with more than a token; check that this is the address for tokens.")
    return answer.status, body


class _Ended:
    """A socket that another thread may end while one waits for it."""

    def __init__(self) -> None:
        self.opened: ssl.SSLSocket | None = None

    def end(self) -> None:
        if self.opened is not None:
            with suppress(OSError):
                # That of TLS would say goodbye first.
                socket.socket.shutdown(self.opened, socket.SHUT_RDWR)

    def close(self) -> None:
        if self.opened is not None:
            self.opened.close()


def _why(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "has a name that this machine's name service does not know; check it."
    if isinstance(error, ConnectionRefusedError):
        return "refuses connections; check its port and whether it runs."
    if isinstance(error, ssl.SSLError):
        return "does not speak TLS as aclweb does; check its port."
    return "ended the connection without an answer; check its port and whether it runs."


def _basic(asked: ClientCredentials) -> str:
    words = (asked.client_id, asked.client_secret)
    pair = ":".join(quote_plus(word) if asked.urlencode else word for word in words)
    return base64.b64encode(pair.encode()).decode()


def _as_json(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):  # the second of arrays in arrays, in their thousands
        return {}
    return found if isinstance(found, dict) else {}


def _claims(token: str) -> dict[str, Any]:
    """Return what a token says of itself, nothing of one that is no JWT. Nobody relies on it: brokers verify it."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        return _as_json(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError):
        return {}


def _lifetime(found: dict[str, Any], claims: dict[str, Any]) -> float | None:
    """Return how many seconds the token is good for, None where nothing says so: then it is used once."""
    seconds, expires = found.get("expires_in"), claims.get("exp")
    if isinstance(seconds, str) and seconds.isascii() and seconds.isdigit() and len(seconds) < 12:
        seconds = int(seconds)
    if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and abs(seconds) < 1e10:
        return float(seconds)
    if isinstance(expires, (int, float)) and not isinstance(expires, bool) and abs(expires) < 1e12:
        return float(expires) - time.time()
    return None


def _shown(endpoint: str) -> str:
    """Return an endpoint as messages name it: without its path, so that no pasted secret is repeated."""
    try:
        parts = urlsplit(endpoint)
        host = parts.hostname
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "given"
    return f"at {host}{port}" if host and parts.scheme in ("https", "http") else "given"


def _refused(sentence: str) -> ClusterError:
    return ClusterError(sentence, state=ClusterState.LOGIN_REFUSED)
