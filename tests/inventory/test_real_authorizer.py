"""A real broker of Kafka 3.9 on ZooKeeper, made known with `--kind admin`, is shown and decided as what it is."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from aclweb.accounts.models import Grant, Role, User
from aclweb.inventory.models import Cluster
from tests.builders import allow
from tests.servers import settle

pytestmark = [pytest.mark.django_db, pytest.mark.kafka]

KRAFT_ONLY = ("KRaft", "StandardAuthorizer")


@pytest.fixture
def added(kafka39, tmp_path, fresh) -> Cluster:
    """The broker as an operator adds it: nothing is said of its authorizer."""
    settle(kafka39, add=[allow("User:bob", "READ", fresh), allow("User:carol", "READ", fresh)])
    given = kafka39.connection()
    options = tmp_path / "k39.options"
    options.write_text("".join(f"{name}={value}\n" for name, value in given.options.items()))
    call_command(
        "cluster", "add", "k39", "--kind", "admin", "--address", given.address, "--options", str(options)
    )
    call_command("sync", "k39")
    return Cluster.objects.get(slug="k39")


def test_a_zookeeper_broker_behind_the_admin_api_is_shown_and_decided_as_zookeeper_s(added, fresh, signed_in):
    ada = User.objects.create_user("ada", password="a password for ada")
    Grant.objects.create(user=ada, cluster=added, role=Role.VIEWER)
    browser = signed_in(ada)

    page = browser.get("/c/k39/").content.decode()
    asked = {"principal": "User:bob", "operation": "READ", "resource_type": "TOPIC", "resource_name": fresh}
    answer = browser.post("/api/v1/clusters/k39/decide/", asked | {"host": "10.0.0.1"}, "application/json")
    known = browser.get("/api/v1/clusters/k39/").json()

    assert (added.kind, added.authorizer, added.kafka_version) == ("admin", "acl", "3.9")
    assert "AclAuthorizer, read from broker" in page
    assert "Kafka 3.9" in page
    assert not [word for word in KRAFT_ONLY if word in page]
    assert known["authorizer"] == "acl"
    assert answer.json()["result"] == "ALLOWED"
    assert answer.json()["broker_rule"] is None, "ZooKeeper's authorizer logs no rule"
