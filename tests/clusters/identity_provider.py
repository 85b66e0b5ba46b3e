"""An identity provider on loopback: a token endpoint over TLS, with an own CA, and the keys that brokers need."""

from __future__ import annotations

import base64
import contextlib
import json
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.clusters.certificates import Authority

ISSUER, AUDIENCE, CLIENT, SECRET = "https://idp.example", "kafka", "aclweb-client", "s3cret-of-the-client"


@dataclass
class Asked:
    """A request that the token endpoint got."""

    path: str
    authorization: str
    form: dict[str, list[str]]


@dataclass
class IdentityProvider:
    """endpoint: https address for tokens. keys: http address of the JWKS. behave: answers in place of a token."""

    authority: Authority
    endpoint: str = ""
    keys: str = ""
    seconds: int = 300
    audience: str = AUDIENCE
    asked: list[Asked] = field(default_factory=list)
    behave: Callable[[BaseHTTPRequestHandler], None] | None = None
    key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048), repr=False)

    def token(self, subject: str) -> str:
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": self.audience, "sub": subject, "iat": now, "exp": now + self.seconds}
        head = {"alg": "RS256", "typ": "JWT", "kid": "one"}
        text = f"{_encoded(json.dumps(head).encode())}.{_encoded(json.dumps(claims).encode())}"
        signature = self.key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{text}.{_encoded(signature)}"

    def jwks(self) -> bytes:
        numbers = self.key.public_key().public_numbers()
        n, e = (_encoded(each.to_bytes((each.bit_length() + 7) // 8)) for each in (numbers.n, numbers.e))
        return json.dumps(
            {"keys": [{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "one", "n": n, "e": e}]}
        ).encode()


def answer(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for name, value in ({"Content-Type": "application/json"} | headers).items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


@contextlib.contextmanager
def identity_provider() -> Iterator[IdentityProvider]:
    """Yield a provider that is up, and stop it afterwards."""
    provider = IdentityProvider(Authority("Example IdP"))

    class Quiet(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    class Tokens(Quiet):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            given = self.headers.get("Authorization", "")
            provider.asked.append(Asked(self.path, given, form))
            if provider.behave is not None:
                provider.behave(self)
                return
            if given != f"Basic {base64.b64encode(f'{CLIENT}:{SECRET}'.encode()).decode()}":
                answer(
                    self, 401, json.dumps({"error": "invalid_client", "error_description": given}).encode()
                )
                return
            found = {"access_token": provider.token(CLIENT), "token_type": "Bearer"}
            answer(self, 200, json.dumps(found | {"expires_in": provider.seconds}).encode())

    class Keys(Quiet):
        def do_GET(self) -> None:
            answer(self, 200, provider.jwks())

    certificate, key = provider.authority.issue("CN=idp", server=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "idp.pem"
        file.write_text(key + certificate)
        context.load_cert_chain(file)
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), each) for each in (Tokens, Keys)]
    servers[0].socket = context.wrap_socket(servers[0].socket, server_side=True)
    provider.endpoint = f"https://127.0.0.1:{servers[0].server_port}/oauth2/token"
    provider.keys = f"http://127.0.0.1:{servers[1].server_port}/jwks"
    threads = [threading.Thread(target=each.serve_forever, args=(0.05,), daemon=True) for each in servers]
    for thread in threads:
        thread.start()
    try:
        yield provider
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
