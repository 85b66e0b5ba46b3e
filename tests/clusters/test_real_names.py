"""A login with no, some and all Describe rights, on a real broker: what is hidden is never shown as not there."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command

from aclweb.acl.model.vocabulary import ResourceType
from aclweb.clusters import Known
from aclweb.clusters.admin_api.client import AdminClient
from aclweb.inventory.lists.completeness import names_known
from aclweb.inventory.models import Cluster, StoredName
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.servers import create_topic, settle, wipe

pytestmark = [pytest.mark.kafka, pytest.mark.django_db(transaction=True)]

ON_CLUSTER = allow("User:alice", "DESCRIBE", "kafka-cluster", resource_type="CLUSTER")


@pytest.fixture
def names(kafka44, fresh):
    """Two topics of which one begins with `seen-`, and the login of alice, who may list ACLs and nothing else."""
    wipe(kafka44)
    seen, hidden = f"seen-{fresh}", f"hidden-{fresh}"
    create_topic(kafka44, seen)
    create_topic(kafka44, hidden)
    settle(kafka44, add=[ON_CLUSTER])
    return seen, hidden


@pytest.fixture
def cluster(kafka44, db):
    connection = kafka44.connection("alice")
    return Cluster.objects.create(
        slug="real", name="real", kind="admin", address=connection.address, options=dict(connection.options)
    )


def stored_topics(cluster) -> set[str]:
    rows = StoredName.objects.filter(cluster=cluster, resource_type="TOPIC", removed_in__isnull=True)
    return set(rows.values_list("name", flat=True))


def test_hidden_topics_are_never_reported_as_absent_and_a_lost_right_removes_none(
    kafka44, names, cluster, capsys
):
    seen, hidden = names
    prefixed = allow("User:alice", "DESCRIBE", "seen-", pattern="PREFIXED")
    full = allow("User:alice", "DESCRIBE", "*")

    result = sync(cluster)
    assert result.read, result.sentence
    assert stored_topics(cluster) == set()
    assert (cluster.topics_listed, cluster.groups_listed) == (Known.VISIBLE, Known.ALL)
    assert "only those that aclweb may describe" in result.sentence
    assert "there may be others" in names_known(cluster, ResourceType.TOPIC).sentence

    settle(kafka44, add=[prefixed])
    sync(cluster)
    assert seen in stored_topics(cluster)
    assert hidden not in stored_topics(cluster)
    assert cluster.topics_listed == Known.VISIBLE

    settle(kafka44, add=[full])
    result = sync(cluster)
    assert {seen, hidden} <= stored_topics(cluster)
    assert cluster.topics_listed == Known.ALL
    assert "may be others" not in result.sentence
    assert names_known(cluster, ResourceType.TOPIC).sentence == ""

    settle(kafka44, remove=[full, prefixed])
    sync(cluster)
    assert {seen, hidden} <= stored_topics(cluster)
    assert cluster.topics_listed == Known.VISIBLE

    call_command("cluster", "list", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["topics_known"], told["groups_known"]) == ("visible", "all")


def test_a_super_user_sees_all_without_any_acl_that_says_so(kafka44, names, cluster):
    cluster.options = dict(kafka44.connection().options)
    cluster.save()

    sync(cluster)

    assert set(names) <= stored_topics(cluster)
    assert cluster.topics_listed == Known.ALL


def test_a_right_that_goes_between_acls_and_names_closes_nothing(kafka44, names, cluster):
    full = allow("User:alice", "DESCRIBE", "*")
    settle(kafka44, add=[full])
    sync(cluster)
    assert set(names) <= stored_topics(cluster)

    with AdminClient(kafka44.connection("alice")) as client:
        read_topics = client.read_topics

        def without_the_right(*earlier):
            settle(kafka44, remove=[full])
            return read_topics(*earlier)

        client.read_topics = without_the_right
        sync(cluster, client=client)

    assert set(names) <= stored_topics(cluster)
    assert cluster.topics_listed == Known.VISIBLE
