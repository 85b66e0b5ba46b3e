"""A real broker that takes Kerberos logins, with a KDC, is added, tested, read and written to; each failure is said."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from aclweb.clusters import ClusterError, ClusterState, Connection, OutcomeKind, Verb, connect
from aclweb.inventory.current import connection_of
from aclweb.inventory.models import Cluster
from devstack.servers import KafkaBroker
from tests.builders import allow
from tests.clusters.kerberos import PRINCIPAL, REALM, Realm, need_kerberos, realm
from tests.servers import USERS, need_jars, need_java, settle, wipe
from tests.servers_data import free_port

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("patient"),
]

RIGHTS = tuple(
    allow("User:aclweb", operation, "kafka-cluster", resource_type="CLUSTER")
    for operation in ("DESCRIBE", "ALTER", "DESCRIBE_CONFIGS")
)


class KerberosBroker(KafkaBroker):
    """A broker with one more port, which takes tickets of this realm."""

    realm: Realm
    tickets = ""

    def _kraft_properties(self, controller: int) -> dict[str, str | None]:
        self.tickets = f"127.0.0.1:{free_port()}"
        lines = super()._kraft_properties(controller)
        return lines | {
            "listeners": f"{lines['listeners']},TICKETS://{self.tickets}",
            "listener.security.protocol.map": f"{lines['listener.security.protocol.map']},TICKETS:SASL_PLAINTEXT",
            "listener.name.tickets.sasl.enabled.mechanisms": "GSSAPI",
            "listener.name.tickets.sasl.kerberos.service.name": "kafka",
            "listener.name.tickets.gssapi.sasl.jaas.config": (
                "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true isInitiator=false "
                f'keyTab="{self.realm.broker_keytab}" principal="kafka/127.0.0.1@{REALM}";'
            ),
        }

    def _spawn(self, options: list[str], main: str, configuration: Path) -> None:
        found = f"-Djava.security.krb5.conf={self.realm.configuration}"
        super()._spawn([*options, found], main, configuration)


@pytest.fixture(scope="module")
def broker(tmp_path_factory) -> Iterator[KerberosBroker]:
    need_kerberos()
    need_java()
    jars = need_jars("4.4.0")
    with realm(tmp_path_factory.mktemp("realm")) as made:
        started = KerberosBroker(tmp_path_factory.mktemp("tickets"), jars, users=USERS)
        started.realm = made
        with started:
            yield started


@pytest.fixture
def added(broker, settings, tmp_path) -> Connection:
    """The cluster prod, added by a file of options, with the rights that it needs."""
    settings.ACLWEB_KEYTABS = [str(broker.realm.client_keytab)]
    options = tmp_path / "prod.options"
    options.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=GSSAPI\n"
        f"sasl.kerberos.keytab={broker.realm.client_keytab}\nsasl.kerberos.principal={PRINCIPAL}\n"
    )
    call_command(
        "cluster", "add", "prod", "--kind", "admin", "--address", broker.tickets, "--options", options
    )
    wipe(broker)
    settle(broker, add=RIGHTS)
    return connection_of(Cluster.objects.get(slug="prod"))


def refusal(connection: Connection) -> ClusterError:
    with pytest.raises(ClusterError) as caught:
        with connect(connection):
            pass
    assert caught.value.state is ClusterState.LOGIN_REFUSED
    return caught.value


def test_a_cluster_is_tested_read_and_written_to_with_a_keytab(added, broker, capsys):
    capsys.readouterr()

    call_command("cluster", "check", "prod", "--json")
    told = json.loads(capsys.readouterr().out)
    wish = allow("User:bob", "READ", "orders")
    with connect(added) as client:
        (outcome,) = client.write(Verb.ADD, [wish])
        assert outcome.kind is OutcomeKind.WRITTEN
    settle(broker, add=[wish])
    call_command("sync", "prod")

    lines = {right["right"]: right["answer"] for right in told["rights"]}
    assert [lines[name] for name in ("reach", "log in", "Describe", "Alter", "DescribeConfigs")] == [
        "yes"
    ] * 5
    assert Cluster.objects.get(slug="prod").revision.acls == len(RIGHTS) + 1


def test_each_way_in_which_kerberos_refuses_is_said(added, broker):
    def with_options(**changed: str) -> Connection:
        names = {name.replace("_", "."): value for name, value in changed.items()}
        return replace(added, options={**added.options, **names})

    unlisted = "/etc/krb5.keytab"
    assert "gets no Kerberos ticket with" in str(
        refusal(with_options(sasl_kerberos_principal=f"nobody@{REALM}"))
    )
    assert "check the host of the address and sasl.kerberos.service.name" in str(
        refusal(with_options(sasl_kerberos_service_name="kaffee"))
    )
    assert f"The keytab '{unlisted}' is not allowed; this site may use" in str(
        refusal(with_options(sasl_kerberos_keytab=unlisted))
    )
    broker.realm.stop()
    try:
        begun = time.monotonic()
        told = str(refusal(with_options(sasl_kerberos_service_name="other")))
        assert "no KDC of its realm answers" in told
        assert time.monotonic() - begun < 60
    finally:
        broker.realm.start()


def test_a_keytab_that_is_not_listed_is_stored_nowhere(db, settings, tmp_path):
    settings.ACLWEB_KEYTABS = []
    options = tmp_path / "prod.options"
    options.write_text(
        "security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI\nsasl.kerberos.keytab=/etc/krb5.keytab\n"
        "sasl.kerberos.principal=aclweb@EXAMPLE.COM\n"
    )

    with pytest.raises(CommandError, match=r"The keytab '/etc/krb5\.keytab' is not allowed\. Whoever runs"):
        call_command(
            "cluster", "add", "prod", "--kind", "admin", "--address", "b1:9093", "--options", options
        )

    assert not Cluster.objects.exists()
