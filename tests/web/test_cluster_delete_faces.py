"""Delete on the cluster in the question form, the matrix of the cluster and the page of a principal."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import CLUSTER_NAME, Operation, Resource, ResourceType
from aclweb.clusters import TopicInfo
from aclweb.inventory.access.principal import access_of
from aclweb.inventory.access.resource import resource_access
from aclweb.inventory.sync.run import sync
from aclweb.web.shell.forms import AskForm
from tests.builders import acl
from tests.inventory.answering_cluster import Answers
from tests.inventory.test_access import view_of

GRANT = acl("ALLOW", "User:ops", "DELETE", CLUSTER_NAME, resource_type="CLUSTER")
WHOLE = Resource(ResourceType.CLUSTER, CLUSTER_NAME)


@pytest.mark.parametrize(
    ("settings", "asked"), [(AuthorizerSettings(), True), (AuthorizerSettings("acl"), False)]
)
def test_delete_on_the_cluster_is_a_question_only_where_brokers_ask_it(
    settings: AuthorizerSettings, asked: bool
) -> None:
    given = {"principal": "User:ops", "operation": "DELETE", "type": "CLUSTER"}

    form = AskForm(given, settings=settings)

    assert form.is_valid() is asked
    assert ("operation" in form.errors) is not asked


@pytest.mark.parametrize(
    ("settings", "asked"), [(AuthorizerSettings(), True), (AuthorizerSettings("acl"), False)]
)
def test_the_matrix_of_the_cluster_has_delete_where_brokers_ask_it(
    settings: AuthorizerSettings, asked: bool
) -> None:
    found = resource_access(view_of([GRANT], settings), WHOLE)

    assert (Operation.DELETE in found.operations) is asked
    (row,) = [row for row in found.rows if row.principal == "User:ops"]
    cell = row.cell(Operation.DELETE)
    assert (cell is not None and cell.state == "allowed") is asked


@pytest.mark.parametrize(
    ("settings", "asked"), [(AuthorizerSettings(), True), (AuthorizerSettings("acl"), False)]
)
def test_a_principal_that_deletes_by_the_cluster_has_it_on_its_page(
    settings: AuthorizerSettings, asked: bool
) -> None:
    found = access_of(view_of([GRANT], settings), "User:ops")

    operations = {operation for reach in found.resources for operation in reach.operations}
    assert (Operation.DELETE in operations) is asked


def test_page_and_api_say_that_another_right_lets_the_client_succeed(cluster, ada, signed_in) -> None:
    told = "But User:ops has Delete on the cluster, which is enough to delete any topic (KRaft)."
    sync(cluster, client=Answers([GRANT], topics=[TopicInfo("orders")]))
    browser, program = signed_in(ada), APIClient()
    program.force_authenticate(ada)
    asked = {"principal": "User:ops", "host": "10.0.0.7", "operation": "DELETE"}

    page = browser.get("/", {**asked, "type": "TOPIC", "name": "orders"}).content.decode()
    answer = program.post(
        f"/api/v1/clusters/{cluster.slug}/decide/",
        {**asked, "resource_type": "TOPIC", "resource_name": "orders"},
        format="json",
    )

    assert "No, refused" in page
    assert told in page
    assert answer.json()["result"] == "DENIED"
    assert told in answer.json()["sentences"]
