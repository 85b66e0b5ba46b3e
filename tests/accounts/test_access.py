import pytest
from django.contrib.auth.models import AnonymousUser, Group
from django.core.exceptions import PermissionDenied
from django.db import connection as database
from django.http import Http404
from django.test.utils import CaptureQueriesContext

from aclweb.accounts import grants
from aclweb.accounts.access import (
    cluster_or_404,
    holders,
    may,
    require,
    rights,
    visible_clusters,
)
from aclweb.accounts.models import Grant, Role, User
from aclweb.audit import trail

pytestmark = pytest.mark.django_db

ACTS = ("view", "request", "approve", "administer")
ALLOWED = {
    "cho": ("view",),
    "ada": ("view", "request"),
    "ben": ("view", "request", "approve"),
    "dot": ACTS,
    "eve": (),
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("name", ALLOWED)
def test_a_role_allows_its_own_act_and_those_below(name, act, cluster, request):
    person = request.getfixturevalue(name)

    assert may(person, act, cluster) is (act in ALLOWED[name])


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("name", ALLOWED)
def test_a_role_on_one_cluster_is_worth_nothing_on_another(name, act, cluster, other_cluster, request):
    assert not may(request.getfixturevalue(name), act, other_cluster)


def test_each_person_sees_the_clusters_they_have_a_role_on(cluster, other_cluster, cho, eve):
    root = User.objects.create_superuser("root")

    assert list(visible_clusters(cho)) == [cluster]
    assert list(visible_clusters(eve)) == []
    assert list(visible_clusters(AnonymousUser())) == []
    assert list(visible_clusters(root)) == [cluster, other_cluster]


def test_a_cluster_is_visible_once_however_many_grants_lead_to_it(cluster, cho):
    group = Group.objects.create(name="platform")
    cho.groups.add(group)
    Grant.objects.create(group=group, cluster=cluster, role=Role.APPROVER)
    Grant.objects.create(user=cho, cluster=cluster, role=Role.VIEWER, name_prefix="pay")

    assert list(visible_clusters(cho)) == [cluster]


def test_a_foreign_cluster_answers_as_if_it_were_not_there(cluster, other_cluster, cho):
    assert cluster_or_404(cho, "test-eu") == cluster
    with pytest.raises(Http404) as foreign:
        cluster_or_404(cho, "test-us")
    with pytest.raises(Http404) as missing:
        cluster_or_404(cho, "test-xx")
    assert str(foreign.value).replace("test-us", "") == str(missing.value).replace("test-xx", "")


def test_a_group_gives_its_members_its_roles_and_takes_them_away_at_once(cluster, eve):
    group = Group.objects.create(name="platform")
    Grant.objects.create(group=group, cluster=cluster, role=Role.APPROVER)
    assert not may(eve, "approve", cluster)

    eve.groups.add(group)
    assert may(eve, "approve", cluster)

    eve.groups.remove(group)
    assert not may(eve, "view", cluster)


def test_somebody_who_is_switched_off_may_nothing_whatever_their_roles(cluster, dot):
    root = User.objects.create_superuser("root")
    for person in (dot, root):
        person.is_active = False

        assert not any(may(person, act, cluster) for act in ACTS)
        assert not visible_clusters(person).exists()


def test_a_prefix_narrows_requests_and_approvals_to_names_that_start_with_it(cluster, eve):
    Grant.objects.create(user=eve, cluster=cluster, role=Role.APPROVER, name_prefix="payments.")

    assert may(eve, "view", cluster, "orders")
    assert may(eve, "request", cluster)
    assert may(eve, "approve", cluster, "payments.eu")
    assert not may(eve, "request", cluster, "payments")
    assert not may(eve, "approve", cluster, "*")


def test_a_cluster_is_not_administered_through_a_prefix(cluster, eve):
    Grant.objects.create(user=eve, cluster=cluster, role=Role.ADMINISTRATOR, name_prefix="payments.")

    assert not may(eve, "administer", cluster)
    assert may(eve, "approve", cluster, "payments.eu")


def test_a_refusal_says_which_role_is_needed_and_which_one_is_there(cluster, ada, eve):
    with pytest.raises(
        PermissionDenied, match="need the role approver on test-eu, and your role there is requester"
    ):
        require(ada, "approve", cluster)
    with pytest.raises(PermissionDenied, match="and you have no role there"):
        require(eve, "view", cluster)
    require(ada, "request", cluster)


def test_a_refusal_for_a_name_says_which_names_would_do(cluster, eve):
    Grant.objects.create(user=eve, cluster=cluster, role=Role.REQUESTER, name_prefix="payments.")

    with pytest.raises(
        PermissionDenied, match=r"only for names that start with 'payments.', and 'orders' does not"
    ):
        require(eve, "request", cluster, "orders")


def test_all_rights_on_one_cluster_are_one_query(cluster, ben):
    with CaptureQueriesContext(database) as queries:
        held = rights(ben, cluster)
        answers = [held.may(act) for act in ACTS]

    assert answers == [True, True, True, False]
    assert held.role is Role.APPROVER
    assert len(queries) == 1


def test_people_who_may_are_those_with_a_grant_by_name_or_by_group(cluster, ada, ben, dot, eve):
    group = Group.objects.create(name="platform")
    eve.groups.add(group)
    Grant.objects.create(group=group, cluster=cluster, role=Role.APPROVER, name_prefix="payments.")

    held = holders(cluster)
    assert [person for person in held if held[person].may("approve")] == [ben, dot, eve]
    assert [person for person in held if held[person].may("approve", "orders")] == [ben, dot]


def test_giving_and_taking_a_role_is_recorded(cluster, dot, eve):
    grant = grants.give(actor=dot, to=eve, role=Role.REQUESTER, cluster=cluster, name_prefix="payments.")
    grants.give(actor=dot, to=eve, role=Role.REQUESTER, cluster=cluster, name_prefix="payments.")
    assert may(eve, "request", cluster, "payments.eu")

    grants.take(actor=dot, grant=grant)

    assert not may(eve, "view", cluster)
    assert [trail.sentence(event) for event in trail.trail("cluster:test-eu")] == [
        "dot made eve requester on test-eu for names that start with 'payments.'.",
        "dot took from eve the role requester on test-eu for names that start with 'payments.'.",
    ]
