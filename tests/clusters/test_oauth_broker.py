"""A real broker that takes tokens is added, tested, read and written to, and each way to fail has its own sentence."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from aclweb.audit.models import Event
from aclweb.clusters import ClusterError, ClusterState, Connection, OutcomeKind, Verb, connect
from aclweb.clusters.connection.oauth import tokens
from aclweb.inventory.current import connection_of
from aclweb.inventory.models import Cluster
from devstack.servers import KafkaBroker
from tests.builders import allow
from tests.clusters.identity_provider import (
    AUDIENCE,
    CLIENT,
    ISSUER,
    SECRET,
    IdentityProvider,
    answer,
    identity_provider,
)
from tests.servers import USERS, need_jars, need_java, settle, wipe
from tests.servers_data import free_port

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("patient"),
]

PRINCIPAL = f"User:{CLIENT}"
RIGHTS = tuple(
    allow(PRINCIPAL, operation, "kafka-cluster", resource_type="CLUSTER")
    for operation in ("DESCRIBE", "ALTER", "DESCRIBE_CONFIGS")
)


class TokenBroker(KafkaBroker):
    """A broker with one more port, which takes tokens of this identity provider."""

    provider: IdentityProvider
    tokens = ""

    def _kraft_properties(self, controller: int) -> dict[str, str | None]:
        self.tokens = f"127.0.0.1:{free_port()}"
        lines = super()._kraft_properties(controller)
        bearer = "org.apache.kafka.common.security.oauthbearer"
        return lines | {
            "listeners": f"{lines['listeners']},TOKENS://{self.tokens}",
            "listener.security.protocol.map": f"{lines['listener.security.protocol.map']},TOKENS:SASL_PLAINTEXT",
            "listener.name.tokens.sasl.enabled.mechanisms": "OAUTHBEARER",
            "listener.name.tokens.oauthbearer.sasl.jaas.config": f"{bearer}.OAuthBearerLoginModule required;",
            "listener.name.tokens.oauthbearer.sasl.server.callback.handler.class": (
                f"{bearer}.OAuthBearerValidatorCallbackHandler"
            ),
            "sasl.oauthbearer.jwks.endpoint.url": self.provider.keys,
            "sasl.oauthbearer.expected.audience": AUDIENCE,
            "sasl.oauthbearer.expected.issuer": ISSUER,
        }

    def _spawn(self, options: list[str], main: str, configuration: Path) -> None:
        allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={self.provider.keys}"
        super()._spawn([*options, allowed], main, configuration)


@pytest.fixture(scope="module")
def broker(tmp_path_factory) -> Iterator[TokenBroker]:
    need_java()
    jars = need_jars("4.4.0")
    with identity_provider() as provider:
        started = TokenBroker(tmp_path_factory.mktemp("tokens"), jars, users=USERS)
        started.provider = provider
        with started:
            yield started


@pytest.fixture
def idp(broker, settings) -> IdentityProvider:
    settings.ACLWEB_TOKEN_ENDPOINTS = [broker.provider.endpoint]
    broker.provider.asked.clear()
    broker.provider.audience, broker.provider.behave = AUDIENCE, None
    tokens._kept.clear()
    return broker.provider


@pytest.fixture
def folder(broker, idp, tmp_path: Path) -> Path:
    (tmp_path / "idp.crt").write_text(idp.authority.pem)
    (tmp_path / "prod.options").write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
        f"sasl.oauthbearer.token.endpoint.url={idp.endpoint}\n"
        f"sasl.oauthbearer.client.credentials.client.id={CLIENT}\n"
        f"sasl.oauthbearer.client.credentials.client.secret={SECRET}\n"
        "sasl.oauthbearer.ssl.ca.pem=@idp.crt\n"
    )
    return tmp_path


def add(broker, folder, slug: str = "prod") -> Connection:
    call_command(
        *("cluster", "add", slug, "--kind", "admin", "--address", broker.tokens),
        *("--options", folder / "prod.options"),
    )
    return connection_of(Cluster.objects.get(slug=slug))


def test_a_token_login_is_added_tested_line_by_line_read_and_written_to(broker, idp, folder, capsys, caplog):
    caplog.set_level(logging.DEBUG)
    wipe(broker)
    settle(broker, add=RIGHTS)
    connection = add(broker, folder)
    assert "Trusts at the token endpoint CN=Example IdP" in capsys.readouterr().out

    call_command("cluster", "check", "prod", "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["principal"] == PRINCIPAL
    lines = {right["right"]: (right["answer"], right["sentence"]) for right in told["rights"]}
    assert lines["token"] == ("yes", f"{idp.endpoint} gave a token for 300 s.")
    assert lines["log in"] == ("yes", f"The login is accepted. The brokers know this client as {PRINCIPAL}.")
    assert [lines[name][0] for name in ("reach", "Describe", "Alter", "DescribeConfigs")] == ["yes"] * 4

    with connect(connection) as client:
        wish = allow("User:bob", "READ", "orders")
        (outcome,) = client.write(Verb.ADD, [wish])
        assert outcome.kind is OutcomeKind.WRITTEN
    settle(broker, add=[wish])

    assert len(idp.asked) == 1, "one token serves the test and the write"
    stored = json.dumps(list(Event.objects.values_list("facts", flat=True)))
    bearer = tokens._kept[next(iter(tokens._kept))].text
    for secret in (SECRET, bearer):
        assert secret not in stored + caplog.text + json.dumps(told)


def test_a_token_that_the_brokers_refuse_is_said_and_not_used_again(broker, idp, folder):
    idp.audience = "another"
    connection = add(broker, folder)

    for _ in range(2):
        with pytest.raises(ClusterError, match="refused the token that") as caught, connect(connection):
            pass
        assert caught.value.state is ClusterState.LOGIN_REFUSED
        assert "check issuer, audience and scope" in str(caught.value)
    assert len(idp.asked) == 2
    idp.audience = AUDIENCE
    with connect(connection) as client:
        assert client.login().principal == PRINCIPAL


def test_a_test_of_a_wrong_secret_says_so_on_its_line(broker, idp, folder, capsys):
    file = folder / "prod.options"
    file.write_text(file.read_text().replace(SECRET, "wr0ng-secret"))
    add(broker, folder)
    capsys.readouterr()

    with pytest.raises(SystemExit):
        call_command("cluster", "check", "prod", "--json")

    text = capsys.readouterr().out
    lines = {right["right"]: (right["answer"], right["sentence"]) for right in json.loads(text)["rights"]}
    assert (lines["reach"][0], lines["log in"][0]) == ("yes", "no")
    assert "gives no token to 'aclweb-client': invalid_client" in lines["log in"][1]
    assert "wr0ng-secret" not in text


def test_a_connection_that_is_lost_and_made_anew_without_a_token_says_why(broker, idp, folder):
    with connect(add(broker, folder)) as client:
        client.read_topics()
        tokens._kept.clear()
        idp.behave = lambda handler: answer(handler, 401, json.dumps({"error": "invalid_client"}).encode())
        manager = client._session._kafka._manager
        manager.call_soon(manager.close, client._session.asked_last)

        with pytest.raises(ClusterError, match="gives no token to 'aclweb-client': invalid_client") as caught:
            client.read_topics()

    assert caught.value.state is ClusterState.LOGIN_REFUSED


def test_nothing_is_stored_and_nobody_is_asked_at_an_endpoint_that_is_not_listed(
    broker, idp, folder, settings
):
    connection = add(broker, folder)
    settings.ACLWEB_TOKEN_ENDPOINTS = ["https://idp.example/token"]

    with pytest.raises(CommandError, match="adds it to ACLWEB_TOKEN_ENDPOINTS"):
        add(broker, folder, "other")
    assert not Cluster.objects.filter(slug="other").exists()
    # A cluster that was stored before the list was cut asks nobody either.
    with (
        pytest.raises(ClusterError, match="is not allowed"),
        connect(replace(connection, token_endpoints=())),
    ):
        pass
    assert idp.asked == []
