"""A token that is limited to one cluster asks of that one, and nothing else is there for it."""

from __future__ import annotations

import pytest
from django.test import Client

from aclweb.accounts import access, tokens
from aclweb.accounts.models import ApiToken, Grant, Role
from aclweb.audit import trail
from aclweb.audit.models import Event
from tests.web.test_access import TABLE, ask, waiting  # noqa: F401

LISTS = {"api:clusters", "api:changes"}


def program(owner, cluster) -> Client:
    _, secret = tokens.issue(owner, "report", 7, cluster=cluster)
    return Client(headers={"Authorization": f"Bearer {secret}"})


@pytest.mark.parametrize("owner", ["root", "dot"])
def test_no_address_of_another_cluster_is_there(owner, request, waiting, other_cluster):  # noqa: F811
    person = request.getfixturevalue(owner)
    Grant.objects.create(user=person, cluster=other_cluster, role=Role.VIEWER)
    asked = program(person, other_cluster)

    answered = {name: ask(asked, row, waiting) for name, row in TABLE.items() if name.startswith("api:")}

    told = {name for name, answer in answered.items() if answer.status_code != 404}
    audited = {"api:removed-clusters", "api:removed-cluster-changes"}
    assert told == LISTS | audited | {"api:schema"}
    assert {answered[name].status_code for name in audited} == {403}
    assert [each["slug"] for each in answered["api:clusters"].json()["results"]] == ["test-us"]
    assert answered["api:changes"].json()["results"] == []


def test_its_own_cluster_is_there_as_for_its_owner(waiting, root):  # noqa: F811
    asked = program(root, waiting.cluster)

    assert [each["slug"] for each in asked.get("/api/v1/clusters/").json()["results"]] == ["test-eu"]
    assert asked.get(f"/api/v1/changes/CR-{waiting.pk}/").status_code == 200
    assert asked.get("/api/v1/clusters/test-eu/compare/?other=test-eu").status_code == 200


def test_no_comparison_reaches_beyond_its_cluster(waiting, root, other_cluster):  # noqa: F811
    compare = "/api/v1/clusters/test-eu/compare/?other=test-us"
    everywhere, limited = program(root, None), program(root, waiting.cluster)

    told, unknown = limited.get(compare), limited.get(compare.replace("test-us", "test-xx"))

    assert told.status_code == unknown.status_code
    assert told.text == unknown.text.replace("test-xx", "test-us")
    assert everywhere.get(compare).text != told.text


def test_its_owner_has_all_rights_besides(cluster, other_cluster, root):
    _, secret = tokens.issue(root, "report", 7, cluster=other_cluster)
    limited = tokens.check(secret).owner

    assert not access.may(limited, "view", cluster)
    assert access.may(limited, "administer", other_cluster)
    assert access.may(root, "view", cluster)
    assert access.visible_clusters(root).count() == 2


def test_it_is_made_only_of_a_cluster_that_its_owner_sees_and_goes_with_it(cluster, other_cluster, ada):
    with pytest.raises(tokens.TokenError, match="ada has no role on test-us"):
        tokens.issue(ada, "report", 7, cluster=other_cluster)
    token, _ = tokens.issue(ada, "report", 7, cluster=cluster)

    told = trail.sentence(Event.objects.get(verb="token.issued-on"))
    assert f"token report for ada, limited to test-eu, valid until {token.expires_at:%Y-%m-%d}" in told
    cluster.delete()
    assert not ApiToken.objects.exists()


def test_a_role_that_was_taken_is_taken_from_its_token(cluster, ada):
    asked = program(ada, cluster)
    assert asked.get("/api/v1/clusters/test-eu/").status_code == 200

    Grant.objects.filter(user=ada).delete()

    assert asked.get("/api/v1/clusters/test-eu/").status_code == 404
