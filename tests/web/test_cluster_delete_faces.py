"""Delete on the cluster in the question form, the matrix of the cluster and the page of a principal."""

from __future__ import annotations

import pytest

from aclweb.acl.model import CLUSTER_NAME, Operation, Resource, ResourceType
from aclweb.acl.profiles import Rules
from aclweb.inventory.access import resource_access
from aclweb.inventory.principal import access_of
from aclweb.web.forms import AskForm
from tests.builders import acl
from tests.inventory.test_access import here

GRANT = acl("ALLOW", "User:ops", "DELETE", CLUSTER_NAME, resource_type="CLUSTER")
WHOLE = Resource(ResourceType.CLUSTER, CLUSTER_NAME)


@pytest.mark.parametrize(("rules", "asked"), [(Rules(), True), (Rules("acl"), False)])
def test_delete_on_the_cluster_is_a_question_only_where_brokers_ask_it(rules: Rules, asked: bool) -> None:
    given = {"principal": "User:ops", "operation": "DELETE", "type": "CLUSTER"}

    form = AskForm(given, rules=rules)

    assert form.is_valid() is asked
    assert ("operation" in form.errors) is not asked


@pytest.mark.parametrize(("rules", "asked"), [(Rules(), True), (Rules("acl"), False)])
def test_the_matrix_of_the_cluster_has_delete_where_brokers_ask_it(rules: Rules, asked: bool) -> None:
    found = resource_access(here([GRANT], rules), WHOLE)

    assert (Operation.DELETE in found.operations) is asked
    (row,) = [row for row in found.rows if row.principal == "User:ops"]
    cell = row.cell(Operation.DELETE)
    assert (cell is not None and cell.state == "allowed") is asked


@pytest.mark.parametrize(("rules", "asked"), [(Rules(), True), (Rules("acl"), False)])
def test_a_principal_that_deletes_by_the_cluster_has_it_on_its_page(rules: Rules, asked: bool) -> None:
    found = access_of(here([GRANT], rules), "User:ops")

    operations = {operation for reach in found.resources for operation in reach.operations}
    assert (Operation.DELETE in operations) is asked
