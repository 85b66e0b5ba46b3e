"""An administrator of the site removes a cluster on a page or at the shell; pages of its changes say so afterwards."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from aclweb.accounts import access, grants, people, tokens
from aclweb.accounts.access import is_site_administrator
from aclweb.accounts.models import Role
from aclweb.acl.model.delta import Delta
from aclweb.changes import queries, review
from aclweb.inventory.admin import deleting, register, removing
from aclweb.inventory.admin.events import target_of
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster

pytestmark = pytest.mark.django_db

PAGE = "/c/test-eu/remove/"


@pytest.fixture(autouse=True)
def nothing_enqueued(monkeypatch, settings, tmp_path):
    monkeypatch.setattr(deleting.delete_removed, "delay", lambda: None)
    settings.ACLWEB_ACCESS_TABLE = tmp_path / "access"


@pytest.fixture
def change(cluster, ada, ben):
    sync(cluster, client=FakeCluster([allow("User:bob", "READ", "orders")], topics=["orders"]))
    cluster.refresh_from_db()
    delta = Delta(add=(allow("User:cat", "READ", "stock"),))
    made = review.draft(cluster=cluster, author=ada, title="Let cat read", reason="She asked.", delta=delta)
    made = review.submit(change=made, actor=ada)
    review.comment(change=made, actor=ben, text="Does she need it?")
    return made


@pytest.fixture
def browser(signed_in, root) -> Client:
    return signed_in(root)


def text(answer) -> str:
    return " ".join(answer.content.decode().split())


def remove(cluster):
    return removing.remove(actor="root", cluster=cluster, confirmed=cluster.name)


def test_the_page_says_what_is_kept_and_what_is_deleted_before_anything_is(browser, change, cluster):
    shown = text(browser.get(PAGE))

    assert "1 change request with its ACLs, approvals and comments" in shown
    assert f"1 change request that waits is withdrawn: {change.key}" in shown
    assert "Its login, at once." in shown
    assert "2 roles on it, at once." in shown
    assert "API token limited to it" not in shown
    assert "(1 ACL in force) and their history in 1 revision" in shown
    assert Cluster.objects.get() == cluster


def test_another_name_removes_nothing_and_is_kept_in_the_field(browser, cluster):
    answer = browser.post(PAGE, {"name": "test-us"})

    assert answer.status_code == 422
    assert 'value="test-us"' in text(answer)
    assert "type test-eu to remove it" in text(answer)
    assert Cluster.objects.get() == cluster


def test_its_name_removes_it_and_leads_to_what_is_kept(browser, change, cluster):
    answer = browser.post(PAGE, {"name": "test-eu"}, follow=True)

    assert answer.redirect_chain[-1][0] == f"/clusters/removed/{cluster.pk}/"
    shown = text(answer)
    assert "root removed it on" in shown
    assert "being deleted" in shown
    assert reverse("change", args=[change.pk]) in shown
    assert "Withdrawn: 1 change request." in shown


def test_who_administers_only_the_cluster_cannot_remove_it(signed_in, dot, cluster):
    browser = signed_in(dot)

    assert "is for administrators of the site" in text(browser.post(PAGE, {"name": "test-eu"}))
    assert PAGE not in text(browser.get("/c/test-eu/connection/"))
    assert Cluster.objects.get() == cluster


def test_the_page_of_its_connection_leads_an_administrator_of_the_site_there(browser, cluster):
    assert PAGE in text(browser.get("/c/test-eu/connection/"))


@pytest.mark.half
@pytest.mark.parametrize(
    "address",
    [
        *("/", "/clusters/", "/changes/", "/metrics", "/api/v1/clusters/", "/api/v1/changes/", "/tokens/"),
        *("/c/test-us/compare/", "/c/test-us/log-sources/", "/c/test-us/insights/use/beside/", "/people/"),
    ],
)
def test_no_list_has_a_removed_cluster(browser, change, cluster, other_cluster, address):
    remove(cluster)

    answer = browser.get(address, HTTP_AUTHORIZATION="")

    if address != "/metrics":  # which may be for a program with a key alone
        assert answer.status_code == 200
    assert "test-eu" not in text(answer)


def test_its_pages_answer_that_there_is_no_such_cluster_in_the_frame(browser, cluster, other_cluster):
    gone = remove(cluster)

    for slug in ("test-eu", gone.slug):
        answer = browser.get(f"/c/{slug}/acls/")
        assert answer.status_code == 404
        assert "test-us" in text(answer)


def test_the_page_of_its_change_shows_what_was_asked_and_that_it_was_removed(browser, change, cluster):
    remove(cluster)
    deleting.delete_removed()

    shown = text(browser.get(reverse("change", args=[change.pk])))

    assert "<b>The cluster was removed.</b> root removed test-eu from aclweb" in shown
    assert "She asked." in shown
    assert "Does she need it?" in shown
    assert "User:cat" in shown
    assert "root removed the cluster test-eu. So this was withdrawn" in shown
    assert "decision-bar" not in shown
    assert "User:cat" in browser.get(reverse("change-commands", args=[change.pk])).getvalue().decode()


def test_what_needs_the_cluster_has_no_page_for_its_changes_any_more(browser, change, cluster):
    remove(cluster)

    for name in ("change-diff", "change-replay", "change-print"):
        assert browser.get(reverse(name, args=[change.pk])).status_code == 404
    done = browser.post(reverse("change-act", args=[change.pk]), {"step": "comment", "text": "x"})
    assert done.status_code == 404


def test_only_who_administers_the_site_sees_the_changes_of_a_removed_cluster(
    signed_in, ada, dot, change, cluster
):
    remove(cluster)

    for person in (ada, dot):
        assert signed_in(person).get(reverse("change", args=[change.pk])).status_code == 404


@pytest.fixture
def auditor(eve, settings):
    """Eve, who has no role, in the group of auditors."""
    settings.ACLWEB_AUDITORS = "audit"
    people.join(actor="root", person=eve, group="audit")
    return eve


def test_an_auditor_reads_what_is_kept_and_the_whole_trail_and_may_do_nothing(
    signed_in, auditor, change, cluster, other_cluster
):
    asked = signed_in(auditor)
    assert asked.get("/c/test-eu/").status_code == 404
    assert asked.get(reverse("change", args=[change.pk])).status_code == 404
    remove(cluster)

    assert "/clusters/removed/" in text(asked.get("/clusters/"))
    assert "test-eu" in text(asked.get("/clusters/removed/"))
    assert change.title in text(asked.get(f"/clusters/removed/{cluster.pk}/"))
    kept = text(asked.get(reverse("change", args=[change.pk])))
    assert "Does she need it?" in kept
    assert "<form" not in kept.partition("<main")[2].partition("</main>")[0]
    assert "kafka-acls" in b"".join(asked.get(reverse("change-commands", args=[change.pk]))).decode()
    assert "root removed test-eu" in text(asked.get("/events/"))
    assert "put eve into the group audit" in text(asked.get("/events/"))
    assert "/people/" not in text(asked.get("/events/"))  # which she may not see
    assert asked.get("/c/test-us/").status_code == 404
    assert asked.get("/people/").status_code == 403
    assert asked.get("/clusters/new/").status_code == 403


@pytest.mark.parametrize("named", ["", "Audit", "audit "], ids=["no group", "another", "another too"])
def test_a_group_is_of_auditors_only_where_the_site_names_it(
    signed_in, auditor, change, cluster, settings, named
):
    settings.ACLWEB_AUDITORS = named
    remove(cluster)

    assert signed_in(auditor).get("/clusters/removed/").status_code == 403
    assert signed_in(auditor).get(reverse("change", args=[change.pk])).status_code == 404
    assert "removed test-eu" not in text(signed_in(auditor).get("/events/"))


def test_an_auditor_who_is_switched_off_or_whose_token_is_limited_reads_nothing(auditor, other_cluster):
    assert access.may_audit(auditor)
    auditor.only_cluster = other_cluster.pk
    assert not access.may_audit(auditor)
    auditor.only_cluster = None
    auditor.is_active = False
    assert not access.may_audit(auditor)


def test_a_program_of_an_auditor_reads_the_kept_changes(auditor, change, cluster):
    _, secret = tokens.issue(auditor, "t", 1)
    asked = Client(headers={"authorization": f"Bearer {secret}"})
    assert asked.get(f"/api/v1/removed-clusters/{cluster.pk}/changes/").status_code == 404
    remove(cluster)

    (gone,) = asked.get("/api/v1/removed-clusters/").json()["results"]
    (listed,) = asked.get(f"/api/v1/removed-clusters/{gone['number']}/changes/").json()["results"]
    assert (listed["key"], listed["cluster"], listed["title"]) == (change.key, "test-eu", change.title)
    whole = asked.get(f"/api/v1/changes/{change.key}/").json()
    assert [item["principal"] for item in whole["items"]] == ["User:cat"]
    assert whole["impact"]["counts"]["gains"] > 0
    assert asked.get("/api/v1/changes/").json()["results"] == []


def test_a_new_cluster_of_the_name_shows_no_event_and_no_change_of_the_old_one(
    browser, signed_in, change, cluster, cho
):
    remove(cluster)
    deleting.delete_removed()
    new = register.add(actor="root", slug="test-eu", name="Tests", kind="admin", address="127.0.0.1:1")
    grants.give(actor="root", to=cho, role=Role.VIEWER, cluster=new)

    assert "removed test-eu" not in text(browser.get("/c/test-eu/"))
    seen = text(signed_in(cho).get("/events/"))
    assert "root made the cluster Tests known" in seen
    assert "removed test-eu" not in seen
    assert change.title not in text(browser.get("/changes/?tab=all"))
    all_of_it = text(browser.get("/events/", {"target": target_of(new)}))
    assert "removed test-eu" in all_of_it
    assert (
        all_of_it.count('href="/c/test-eu/"')
        == text(browser.get("/events/?actor=nobody")).count('href="/c/test-eu/"') + 2
    )  # it was made known, and cho got a role


def test_the_list_of_removed_clusters_says_how_far_deleting_is(browser, change, cluster):
    assert "No cluster was removed" in text(browser.get("/clusters/removed/"))
    assert "/clusters/removed/" not in text(browser.get("/clusters/"))
    remove(cluster)
    assert "/clusters/removed/" in text(browser.get("/clusters/"))
    assert "0 rows so far" in text(browser.get("/clusters/removed/"))

    deleting.delete_removed()

    rows = Cluster.including_removed.get(pk=cluster.pk).rows_deleted
    assert f"{rows} rows" in text(browser.get("/clusters/removed/"))
    assert rows > 0


def test_the_pages_of_removed_clusters_keep_to_the_budget(
    browser, change, cluster, django_assert_max_num_queries
):
    remove(cluster)

    for address in (
        "/clusters/removed/",
        f"/clusters/removed/{cluster.pk}/",
        reverse("change", args=[change.pk]),
    ):
        with django_assert_max_num_queries(14):  # two of them are of the session
            assert len(browser.get(address).content) < 50_000


def test_the_command_says_what_is_kept_and_removes_only_with_the_name(change, cluster, capsys):
    with pytest.raises(SystemExit) as ended:
        call_command("cluster", "remove", "test-eu")
    told = capsys.readouterr().out
    assert ended.value.code == 1
    assert "Nothing was removed. To remove it, add --confirm test-eu." in told
    assert "1 change request with its ACLs" in told
    with pytest.raises(CommandError, match="type test-eu"):
        call_command("cluster", "remove", "test-eu", "--confirm", "prod")
    assert Cluster.objects.get() == cluster

    call_command("cluster", "remove", "test-eu", "--confirm", "test-eu", "--json")

    found = json.loads(capsys.readouterr().out)
    assert found["removed"] is True
    assert not Cluster.objects.exists()
    call_command("cluster", "list")
    assert capsys.readouterr().out == ""


def test_an_id_that_two_clusters_have_is_told_on_the_list_and_on_each_page(
    browser, signed_in, cho, cluster, other_cluster
):
    Cluster.objects.update(cluster_id="abc")
    told = "is the same Kafka cluster as test-us: both have the id abc."

    assert f"test-eu {told}" in text(browser.get("/clusters/"))
    assert f"It {told}" in text(browser.get("/c/test-eu/"))
    # Who may not look at the other one is told nothing of it.
    assert "same Kafka cluster" not in text(signed_in(cho).get("/c/test-eu/"))
    assert "same Kafka cluster" not in text(signed_in(cho).get("/clusters/"))
    remove(other_cluster)
    assert "same Kafka cluster" not in text(browser.get("/clusters/"))


def test_a_token_limited_to_a_cluster_removes_none(root, cluster):
    root.only_cluster = cluster.pk

    assert access.may(root, "administer", cluster)
    assert not is_site_administrator(root)


STEPS = {
    "pause": ("/c/test-eu/pause/", {}),
    "test": ("/c/test-eu/connection/test/", {}),
    "declare": ("/c/test-eu/declare/", {"default": "allow", "super_users_known": "", "super_users": ""}),
    "log source": ("/c/test-eu/log-sources/", {"path": "/var/log/kafka"}),
    "policy gate": ("/c/test-eu/policy/", {"kind": "no-wildcard", "approvals": "2"}),
    "owner": ("/c/test-eu/owners/", {"kind": "TOPIC", "pattern_type": "LITERAL", "name": "a", "owner": "b"}),
    "name of a principal": ("/c/test-eu/principal-names/", {"principal": "User:1", "name": "one"}),
    "approve": ("/changes/CR-{change}/act/", {"step": "approve"}),
    "withdraw": ("/changes/CR-{change}/act/", {"step": "withdraw"}),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_meets_the_removal_of_its_cluster_is_told_so(browser, change, cluster, monkeypatch, step):
    address, given = STEPS[step]
    for module, name in ((access, "cluster_or_404"), (queries, "change_of")):
        monkeypatch.setattr(module, name, removing_after(getattr(module, name), cluster))

    answer = browser.post(address.format(change=change.pk), given)

    assert Cluster.including_removed.get(pk=cluster.pk).is_removed
    assert answer.status_code in (302, 404, 409, 422), text(answer)
    if answer.status_code != 302:
        assert "was removed" in text(answer)


@pytest.mark.parametrize("asked", [("patch", "", {"paused": True}), ("post", "check/", {})])
def test_a_program_that_meets_the_removal_of_its_cluster_is_told_so(root, cluster, monkeypatch, asked):
    method, path, given = asked
    _, secret = tokens.issue(root, "deploy", 7)
    monkeypatch.setattr("aclweb.api.clusters.cluster_or_404", removing_after(access.cluster_or_404, cluster))

    answer = getattr(Client(headers={"Authorization": f"Bearer {secret}"}), method)(
        f"/api/v1/clusters/test-eu/{path}", given, content_type="application/json"
    )

    assert answer.status_code == 404
    assert answer.json()["detail"] == removing.MEANWHILE


def removing_after(look_up, cluster):
    """Return the look-up, after whose first answer somebody else removes the cluster."""

    def looked_up(*given):
        found = look_up(*given)
        if not Cluster.including_removed.get(pk=cluster.pk).is_removed:
            remove(cluster)
        return found

    return looked_up
