"""A token is asked for at allowed endpoints alone, over TLS, once while it is fresh, and no secret is repeated."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from aclweb.clusters import ClusterError, ClusterState, Connection
from aclweb.clusters.admin_api import ADMIN_API
from aclweb.clusters.connection import check_options, java_settings, option_faults
from aclweb.clusters.connection.oauth import ClientCredentials, Tokens, is_endpoint
from tests.clusters.certificates import Authority
from tests.clusters.identity_provider import CLIENT, SECRET, IdentityProvider, answer, identity_provider
from tests.servers_data import free_port


@pytest.fixture(scope="module")
def running() -> Iterator[IdentityProvider]:
    with identity_provider() as provider:
        yield provider


@pytest.fixture
def idp(running: IdentityProvider) -> IdentityProvider:
    running.asked.clear()
    running.behave, running.seconds = None, 300
    return running


def credentials(idp: IdentityProvider, **changed: Any) -> ClientCredentials:
    return replace(ClientCredentials(idp.endpoint, CLIENT, SECRET, ca_pem=idp.authority.pem), **changed)


def refusal(asked: ClientCredentials, seconds: float = 20.0) -> str:
    with pytest.raises(ClusterError) as caught:
        Tokens().get(asked, seconds)
    assert caught.value.state is ClusterState.LOGIN_REFUSED
    told = str(caught.value)
    assert SECRET not in told
    assert SECRET not in repr(asked)
    return told


def options(idp: IdentityProvider, **more: str) -> dict[str, str]:
    start = "sasl.oauthbearer."
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        f"{start}token.endpoint.url": idp.endpoint,
        f"{start}client.credentials.client.id": CLIENT,
        f"{start}client.credentials.client.secret": SECRET,
        f"{start}ssl.ca.pem": idp.authority.pem,
    } | {f"{start}{name}": value for name, value in more.items()}


def test_a_token_is_asked_for_as_the_rfc_has_it_and_kept_while_it_is_fresh(idp):
    now = [1000.0]
    tokens = Tokens(clock=lambda: now[0])
    asked = credentials(idp, scope="acls read")

    first = tokens.get(asked, 20)
    now[0] += 239  # of 300 s, the last 60 do not count
    assert tokens.get(asked, 20) is first
    now[0] += 2
    assert tokens.get(asked, 20) is not first

    assert [each.form for each in idp.asked] == [
        {"grant_type": ["client_credentials"], "scope": ["acls read"]}
    ] * 2
    assert first.subject == CLIENT
    assert first.text not in repr(first)


def test_a_refused_token_is_asked_for_anew_and_others_have_their_own(idp):
    tokens = Tokens()
    asked = credentials(idp)

    first = tokens.get(asked, 20)
    tokens.get(credentials(idp, scope="another"), 20)
    tokens.forget(asked)

    assert tokens.get(asked, 20) is not first
    assert len(idp.asked) == 3


def test_a_token_without_a_lifetime_is_used_once(idp):
    idp.behave = lambda handler: answer(handler, 200, b'{"access_token": "opaque-1"}')
    tokens = Tokens()

    assert [tokens.get(credentials(idp), 20).subject for _ in range(2)] == [None, None]
    assert len(idp.asked) == 2


def test_redirects_are_not_followed(idp):
    idp.behave = lambda handler: answer(handler, 307, b"", Location=idp.endpoint.replace("token", "other"))

    assert "answers with a redirect, which aclweb does not follow" in refusal(credentials(idp))
    assert [each.path for each in idp.asked] == ["/oauth2/token"]


def test_another_authoritys_certificate_is_refused_before_anything_is_sent(idp):
    told = refusal(credentials(idp, ca_pem=Authority("Another").pem))

    assert "is not to be trusted; give its authority as sasl.oauthbearer.ssl.ca.pem" in told
    assert "not to be trusted" in refusal(credentials(idp, ca_pem=None))
    assert idp.asked == []


def test_an_endpoint_that_only_trickles_is_given_up_in_time(idp):
    written, ended = [], threading.Event()

    def trickle(handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        with suppress(OSError):
            while len(written) < 1000:
                handler.wfile.write(b" ")
                written.append(1)
                time.sleep(0.1)
        ended.set()

    idp.behave = trickle

    assert "does not answer within 0.5 s" in refusal(credentials(idp), 0.5)
    assert ended.wait(60)
    assert len(written) < 500


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (401, {"error": "invalid_client", "error_description": SECRET}, "invalid_client (check sasl.oauth"),
        (400, {"error": SECRET}, "HTTP status 400."),
        (503, {}, "HTTP status 503."),
        (200, {}, "answered without a bearer token"),
        (200, {"access_token": "a\x01auth=b"}, "answered without a bearer token"),
        (200, {"access_token": "abc", "token_type": "mac"}, "answered without a bearer token"),
        (200, {"access_token": "abc", "expires_in": 0}, "gave a token that has expired"),
    ],
)
def test_each_answer_without_a_token_has_its_sentence(idp, status, body, sentence):
    idp.behave = lambda handler: answer(handler, status, json.dumps(body).encode())

    assert sentence in refusal(credentials(idp))


def jwt(claims: bytes) -> bytes:
    middle = base64.urlsafe_b64encode(claims).rstrip(b"=").decode()
    return json.dumps({"access_token": f"a.{middle}.c", "expires_in": 300}).encode()


def test_an_answer_nested_without_end_is_no_token_and_claims_so_nested_name_nobody(idp):
    deep = b"[" * 200_000

    idp.behave = lambda handler: answer(handler, 200, deep)
    assert "answered without a bearer token" in refusal(credentials(idp))

    idp.behave = lambda handler: answer(handler, 200, jwt(deep))
    assert Tokens().get(credentials(idp), 20).subject is None


def test_a_subject_that_is_no_name_names_nobody(idp):
    for subject in ("x" * 501, "", 7, ["a"], "a\0", "\ud800", "a\nb"):
        claims = json.dumps({"sub": subject}).encode()
        idp.behave = lambda handler, claims=claims: answer(handler, 200, jwt(claims))
        assert Tokens().get(credentials(idp), 20).subject is None


def test_what_does_not_answer_has_its_sentence(idp):
    closed = idp.endpoint.replace(idp.endpoint.split(":")[2].split("/")[0], str(free_port()))

    assert "refuses connections" in refusal(credentials(idp, endpoint=closed))
    assert "does not speak TLS" in refusal(credentials(idp, endpoint=idp.keys.replace("http://", "https://")))


@pytest.mark.parametrize(
    "text",
    [
        "http://idp/token", "https://u:p@idp/token", "https://idp/token?x=1", "https://idp/t#x", "https://",
        "idp/token", "https://idp:port/", "https://idp/a b", "file:///etc/passwd", "https://ıdp/",
    ],
)  # fmt: skip
def test_only_plain_https_addresses_are_endpoints(text):
    assert not is_endpoint(text)


def test_only_a_listed_endpoint_is_taken_exactly_as_it_is_listed(idp):
    given = options(idp)

    assert option_faults(ADMIN_API, given, (idp.endpoint,)) == ()
    for allowed in ((), (idp.endpoint + "/",), (idp.endpoint.replace("127.0.0.1", "localhost"),)):
        (fault,) = option_faults(ADMIN_API, given, allowed)
        assert fault.setting == "sasl.oauthbearer.token.endpoint.url"
        assert "adds it to ACLWEB_TOKEN_ENDPOINTS" in fault.sentence
        assert "oauth2" not in fault.sentence.partition(" is not allowed")[0]


@pytest.mark.parametrize(
    ("changed", "setting", "sentence"),
    [
        ({"client.credentials.client.secret": ""}, "client.credentials.client.secret", "is missing"),
        ({"client.credentials.client.id": "a:b"}, "client.credentials.client.id", "holds a colon"),
        ({"header.urlencode": "maybe"}, "header.urlencode", "neither true nor false"),
        ({"token.endpoint.url": "http://idp/token"}, "token.endpoint.url", "write https://HOST/PATH"),
        ({"ssl.ca.pem": "no pem"}, "ssl.ca.pem", "is not PEM text"),
    ],
)
def test_each_wrong_setting_has_a_sentence_without_the_secret(idp, changed, setting, sentence):
    faults = option_faults(ADMIN_API, options(idp, **changed), (idp.endpoint,))

    assert [fault.setting for fault in faults] == [f"sasl.oauthbearer.{setting}"]
    assert sentence in faults[0].sentence
    assert SECRET not in faults[0].sentence


def test_settings_of_another_mechanism_are_refused(idp):
    password = {"sasl.username": "ada", "sasl.password": "pw"}

    both = option_faults(ADMIN_API, options(idp) | password, (idp.endpoint,))
    plain = option_faults(ADMIN_API, options(idp) | password | {"sasl.mechanism": "PLAIN"}, (idp.endpoint,))

    assert [fault.sentence for fault in both] == [
        f"Setting {name} has no effect with sasl.mechanism OAUTHBEARER; leave it out." for name in password
    ]
    assert {fault.setting for fault in plain} == {name for name in options(idp) if "oauth" in name}


def test_spark_says_that_it_cannot_log_in_with_tokens(idp):
    with pytest.raises(ClusterError, match="Spark cannot log in with OAUTHBEARER here"):
        java_settings(Connection(ADMIN_API, "h:1", options(idp)))
    assert SECRET not in repr(check_options(ADMIN_API, options(idp)))
