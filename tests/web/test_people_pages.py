"""Administrators of the site manage accounts and roles on pages, and each person their own API tokens."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from aclweb.accounts import people, tokens
from aclweb.accounts.models import ApiToken, Grant, Role, User
from aclweb.audit.models import Event
from aclweb.inventory.models import Cluster

SECRET = re.compile(r'id="secret">([^<]+)<')


def text(page) -> str:
    return unescape(page.content.decode())


def secret_on(page) -> str:
    found = SECRET.search(page.content.decode())
    assert found, text(page)
    return found[1]


@pytest.fixture
def admin(root, cluster, signed_in):
    return signed_in(root)


def test_an_account_is_added_and_its_password_changed_at_the_first_sign_in(admin, cluster):
    added = admin.post("/people/add/", {"username": "zoe", "full_name": "Zoe Dyk"})
    password = secret_on(added)
    person = User.objects.get(username="zoe")
    assert password not in text(admin.get(f"/people/{person.pk}/"))
    Grant.objects.create(user=person, cluster=cluster, role=Role.VIEWER)

    browser = Client()
    signed = browser.post("/sign-in/", {"username": "zoe", "password": password}, follow=True)

    assert signed.request["PATH_INFO"] == "/password/"
    assert "Your password was made by somebody else" in text(signed)
    assert browser.get("/c/test-eu/")["Location"] == "/password/"
    assert browser.get("/c/test-eu/", headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    assert browser.get("/api/v1/clusters/").status_code == 403
    fields = {
        "old_password": password,
        "new_password1": "quite a long one",
        "new_password2": "quite a long one",
    }
    assert browser.post("/password/", fields)["Location"] == "/"
    assert browser.get("/c/test-eu/").status_code == 200
    assert browser.get("/api/v1/clusters/").status_code == 200


def test_what_is_wrong_with_an_account_is_said_at_its_field_and_kept(admin, ada):
    page = admin.post("/people/add/", {"username": "Ada", "email": "a@example.com", "administrator": "on"})

    assert page.status_code == 422
    assert "There is an account 'ada' already." in text(page)
    assert 'value="a@example.com"' in text(page)
    assert re.search(r'name="administrator"[^>]* checked', text(page))
    assert User.objects.count() == 2


def test_the_list_pages_sorts_and_filters_in_its_address_in_few_queries(
    admin, cluster, ada, settings, django_assert_max_num_queries
):
    settings.ACLWEB_PAGE_SIZE = 50
    others = [
        Cluster.objects.create(slug=f"c-{number}", name=f"c-{number}", kind="admin", address="a:1")
        for number in range(6)
    ]
    many = User.objects.bulk_create(User(username=f"p-{number:03}", password="!") for number in range(120))
    Grant.objects.bulk_create(
        Grant(user=person, cluster=each, role=Role.APPROVER) for person in many for each in others
    )
    admin.get("/people/")
    with django_assert_max_num_queries(12):
        first = admin.get("/people/")
    assert "and 3 more" in text(first)
    assert "Page 1 of 3, 122 accounts" in text(first)
    assert len(first.content) < 50_000
    last = text(admin.get("/people/?page=3&sort=-name", headers={"HX-Request": "true"}))
    assert "p-000" in last
    assert "sort=-name" in last
    assert "<html" not in last
    mine = text(admin.get("/people/?cluster=test-eu&may=request"))
    assert "2 accounts" in mine
    assert "ada" in mine
    assert "No account matches" in text(admin.get("/people/?q=nobody+has+this"))


def test_an_account_is_switched_off_and_on_and_made_an_administrator(admin, ada):
    act = f"/people/{ada.pk}/act/"
    assert "ada is switched off; all sessions ended." in text(
        admin.post(act, {"step": "switch-off"}, follow=True)
    )
    off = text(admin.get(f"/people/{ada.pk}/"))
    assert "can neither sign in nor use API tokens" in off
    assert "Switch on" in off
    assert "Make administrator" not in off
    assert "ada is switched on." in text(admin.post(act, {"step": "switch-on"}, follow=True))
    assert "ada is an administrator of the site." in text(
        admin.post(act, {"step": "administrator"}, follow=True)
    )
    assert "no administrator of the site any more" in text(
        admin.post(act, {"step": "no-administrator"}, follow=True)
    )
    assert "All sessions of ada ended." in text(admin.post(act, {"step": "sign-out"}, follow=True))
    assert admin.post(act, {"step": "delete"}).status_code == 422
    assert [event.verb for event in Event.objects.filter(target="account:ada").order_by("sequence")] == [
        "account.off",
        "account.on",
        "account.administrator",
        "account.no-administrator",
        "account.signed-out",
    ]


def test_a_new_password_is_shown_once_and_never_recorded(admin, ada):
    password = secret_on(admin.post(f"/people/{ada.pk}/act/", {"step": "password"}))

    ada.refresh_from_db()
    assert ada.check_password(password)
    for address in (f"/people/{ada.pk}/", "/people/", "/events/"):
        assert password not in text(admin.get(address))
    assert password not in str(list(Event.objects.values()))


def test_of_ones_own_account_one_says_that_one_means_it(admin, root, ada):
    act = f"/people/{root.pk}/act/"
    refused = admin.post(act, {"step": "no-administrator"})
    assert refused.status_code == 422
    assert "This is your own account. Tick that you mean it." in text(refused)
    last = admin.post(act, {"step": "no-administrator", "own_too": "on"})
    assert "root is the only active administrator of the site" in text(last)

    people.make_administrator(actor=root, person=ada)
    left = admin.post(act, {"step": "no-administrator", "own_too": "on"}, follow=True)
    assert left.status_code == 200
    assert "root is no administrator of the site any more." in text(left)
    assert admin.get("/people/").status_code == 403


def test_a_role_is_given_and_taken_on_the_page_of_a_person(admin, cluster, eve):
    page = f"/people/{eve.pk}/"
    assert "has no role, and sees no cluster" in text(admin.get(page))

    given = admin.post(
        f"{page}roles/", {"cluster": "test-eu", "role": "3", "name_prefix": "pay"}, follow=True
    )

    assert "eve is approver on test-eu for names that start with 'pay'." in text(given)
    assert "Looks, requests changes, and approves those of others for names that start with 'pay'." in text(
        given
    )
    grant = Grant.objects.get(user=eve)
    taken = admin.post(f"/c/test-eu/roles/{grant.pk}/take/", {"person": eve.pk}, follow=True)
    assert taken.request["PATH_INFO"] == page
    assert "No longer: eve is approver on test-eu for names that start with 'pay'." in text(taken)
    refused = admin.post(f"{page}roles/", {"cluster": "test-eu", "role": "1", "name_prefix": "pay"})
    assert refused.status_code == 422
    assert "this role has no prefix" in text(refused)
    assert 'value="pay"' in text(refused)
    assert admin.post(f"{page}roles/", {"cluster": "none", "role": "1"}).status_code == 422
    assert not Grant.objects.filter(user=eve).exists()
    again = Grant.objects.create(user=eve, cluster=cluster, role=Role.VIEWER)
    huge = {"person": "9" * 5_000}  # more digits than Python reads as a number
    assert admin.post(f"/c/test-eu/roles/{again.pk}/take/", huge).status_code == 302


def test_an_administrator_of_a_cluster_gives_and_takes_roles_there_only(
    cluster, other_cluster, dot, eve, cho, signed_in
):
    browser, url = signed_in(dot), "/c/test-eu/roles/"
    Group.objects.create(name="platform").user_set.add(cho)

    given = browser.post(
        url, {"kind": "person", "who": "eve", "role": "2", "name_prefix": "pay"}, follow=True
    )
    assert "eve is requester on test-eu for names that start with 'pay'." in text(given)
    given = browser.post(url, {"kind": "group", "who": "platform", "role": "1"}, follow=True)
    assert "The group platform is viewer on test-eu." in text(given)
    assert "group of 1" in text(given)
    assert f"/people/{eve.pk}/" not in text(given)
    assert browser.post("/c/test-us/roles/", {"kind": "person", "who": "eve", "role": "2"}).status_code == 404
    own = Grant.objects.get(user=dot)
    refused = browser.post(f"{url}{own.pk}/take/")
    assert refused.status_code == 422
    assert "By this role you administer test-eu yourself" in text(refused)
    page = text(browser.get(url))
    assert f"{url}{own.pk}/take/" not in page
    assert page.count("/take/") == Grant.objects.filter(cluster=cluster).count() - 1
    Grant.objects.create(group=Group.objects.get(), cluster=cluster, role=Role.ADMINISTRATOR)
    Group.objects.get().user_set.add(dot)
    assert f"{url}{own.pk}/take/" in text(browser.get(url))
    elsewhere = Grant.objects.create(user=eve, cluster=other_cluster, role=Role.VIEWER)
    assert browser.post(f"{url}{elsewhere.pk}/take/").status_code == 404
    assert Grant.objects.filter(pk=elsewhere.pk).exists()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"who": "nobody"}, "There is no account 'nobody'; an administrator of the site adds accounts."),
        ({"kind": "group"}, "There is no group 'eve'"),
        ({"who": ""}, "This field is required"),
        ({"role": "9"}, "Select a valid choice"),
        ({"role": "4", "name_prefix": "pay"}, "An administrator administers the whole cluster"),
    ],
)
def test_a_role_that_cannot_be_given_is_refused_at_its_field(cluster, dot, eve, signed_in, wrong, told):
    fields = {"kind": "person", "who": "eve", "role": "2", "name_prefix": ""} | wrong

    page = signed_in(dot).post("/c/test-eu/roles/", fields)

    assert page.status_code == 422
    assert told in text(page)
    assert not Grant.objects.filter(user=eve).exists()


def test_roles_are_listed_page_by_page_in_few_queries_and_bytes(
    admin, cluster, eve, django_assert_max_num_queries
):
    others = [
        Cluster.objects.create(slug=f"c-{number}", name=f"c-{number}", kind="admin", address="a:1")
        for number in range(30)
    ]
    Grant.objects.bulk_create(
        Grant(user=eve, cluster=each, role=Role.APPROVER, name_prefix="payments.") for each in others
    )
    Grant.objects.bulk_create(
        Grant(user=eve, cluster=cluster, role=Role.APPROVER, name_prefix=f"payments-{number}.")
        for number in range(30)
    )
    for address, told in (
        (f"/people/{eve.pk}/", "Page 1 of 3, 60 roles"),
        ("/c/test-eu/roles/", "Page 1 of 2"),
    ):
        admin.get(address)
        with django_assert_max_num_queries(12):
            page = admin.get(address)
        assert told in text(page)
        assert len(page.content) < 50_000
    assert "eve has 60 roles." in text(admin.get(f"/people/{eve.pk}/?page=3"))


def test_a_list_is_asked_for_more_words_than_any_account_has(admin):
    assert "No account matches" in text(admin.get("/people/?q=" + "+".join(map(str, range(1_500)))))
    assert "1 account" in text(admin.get("/people/?q=" + "+".join(["root"] * 1_500)))


def test_what_no_group_can_be_called_is_said_once(admin, eve):
    page = admin.post(f"/people/{eve.pk}/groups/", {"group": "a\x00b"})

    assert page.status_code == 422
    assert text(page).count("field-error") == 1
    assert not Group.objects.exists()


def test_who_looks_sees_the_roles_filtered_and_no_form(cluster, ada, ben, dot, cho, signed_in):
    browser = signed_in(cho)
    page = text(browser.get("/c/test-eu/roles/"))
    assert "Looks, requests changes, and approves those of others." in page
    assert "Give a role" not in page
    assert "/take/" not in page
    assert "4 roles" not in text(browser.get("/c/test-eu/roles/?role=approver"))
    found = browser.get("/c/test-eu/roles/?role=approver").context["page"].object_list
    assert [line.grant.user for line in found] == [ben]
    assert "No role matches" in text(browser.get("/c/test-eu/roles/?q=zzz"))


def test_a_token_is_made_shown_once_used_and_revoked(cluster, ada, signed_in):
    browser = signed_in(ada)
    made = browser.post("/tokens/", {"name": "nightly-report", "days": "7", "cluster": "test-eu"})
    secret = secret_on(made)
    asked = Client().get("/api/v1/clusters/", headers={"Authorization": f"Bearer {secret}"})
    assert asked.status_code == 200

    page = text(browser.get("/tokens/"))
    assert secret not in page
    assert secret[:16] in page
    assert "nightly-report" in page
    assert ApiToken.objects.get().cluster == cluster
    number = ApiToken.objects.get().pk
    assert "is revoked" in text(browser.post(f"/tokens/{number}/revoke/", follow=True))
    assert "You have no token" in text(browser.get("/tokens/"))
    refused = Client().get("/api/v1/clusters/", headers={"Authorization": f"Bearer {secret}"})
    assert refused.status_code == 401
    assert secret not in str(list(Event.objects.values()))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"cluster": "test-us"}, "There is no such cluster that you may look at."),
        ({"name": " "}, "A token needs a name"),
        ({"days": "91"}, "lasts 1 to 90 days"),
        ({"days": "x"}, "whole number"),
    ],
)
def test_a_token_that_cannot_be_made_is_refused_at_its_field(
    cluster, other_cluster, ada, signed_in, wrong, told
):
    page = signed_in(ada).post("/tokens/", {"name": "report", "days": "7"} | wrong)

    assert page.status_code == 422
    assert told in text(page)
    assert not ApiToken.objects.exists()


def test_an_administrator_sees_and_revokes_the_tokens_of_everybody(admin, ada, ben):
    _, secret = tokens.issue(ada, "report", 7)
    tokens.issue(ben, "deploy", 7)

    page = text(admin.get("/people/tokens/"))
    assert "report" in page
    assert "deploy" in page
    assert secret not in page
    found = text(admin.get("/people/tokens/", {"q": secret}))
    assert "report" in found
    assert "deploy" not in found
    assert secret not in found
    number = ApiToken.objects.get(name="report").pk
    after = admin.post(f"/tokens/{number}/revoke/", {"all": "1"}, follow=True)
    assert after.request["PATH_INFO"] == "/people/tokens/"
    assert "report of ada is revoked" in text(after)


def test_without_a_cluster_an_administrator_of_the_site_is_led_to_adding_one(db, root, eve, signed_in):
    assert "/clusters/new/" in text(signed_in(root).get("/"))
    assert "/clusters/new/" not in text(signed_in(eve).get("/"))


def test_nobody_sees_a_link_that_refuses_them(cluster, cho, root, eve, signed_in):
    def menu(person) -> set[str]:
        page = signed_in(person).get("/").content.decode()
        return {
            each for each in re.findall(r'href="([^"]+)"', page) if re.search(r"people|roles|tokens", each)
        }

    assert menu(cho) == {"/c/test-eu/roles/", "/tokens/"}
    assert menu(eve) == {"/tokens/"}
    assert menu(root) == {"/c/test-eu/roles/", "/tokens/", "/people/"}
    for person in (cho, root, eve):
        for address in menu(person):
            assert signed_in(person).get(address).status_code == 200, (person, address)
