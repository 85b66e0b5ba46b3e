"""Accounts are made, switched off and made administrators, each act recorded; an administrator always stays."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from aclweb.accounts import access, directory, grants, people, tokens
from aclweb.accounts.models import Grant, Role, User
from aclweb.audit import trail
from aclweb.audit.models import Event

pytestmark = pytest.mark.django_db


def recorded(person) -> list[str]:
    return [trail.sentence(event) for event in trail.trail(f"account:{person}").order_by("sequence")]


def test_an_account_is_made_with_a_password_that_nobody_keeps(root):
    person, password = people.add(
        actor=root, username=" zoe ", full_name="Zoe van Dyk", email="z@example.com"
    )

    kept = User.objects.get(username="zoe")
    assert kept == person
    assert kept.check_password(password)
    assert kept.password_is_first
    assert (kept.first_name, kept.last_name, kept.is_superuser) == ("Zoe", "van Dyk", False)
    assert recorded("zoe") == ["root added the account zoe."]
    assert password not in str(list(Event.objects.values()))
    _, other = people.add(actor=root, username="yan", administrator=True)
    assert other != password
    assert recorded("yan") == ["root added the account yan, an administrator of the site."]


@pytest.mark.parametrize(
    ("wrong", "field", "told"),
    [
        ({"username": ""}, "username", "1 to 150 characters"),
        ({"username": "a b"}, "username", "without spaces"),
        ({"username": "x" * 151}, "username", "1 to 150 characters"),
        ({"username": "ADA"}, "username", "There is an account 'ada' already."),
        ({"username": "zoe", "email": "nowhere"}, "email", "valid email"),
        ({"username": "zoe", "full_name": "x" * 151}, "full_name", "at most 150"),
    ],
)
def test_an_account_that_cannot_be_is_refused_at_its_field(root, ada, wrong, field, told):
    before = User.objects.count()
    with pytest.raises(people.PeopleError) as refused:
        people.add(actor=root, **wrong)
    assert told in refused.value.faults[field]
    assert User.objects.count() == before


def test_a_user_name_that_was_taken_just_now_is_refused_at_its_field(root, monkeypatch):
    of_django = User.save

    def save_second(person, **options):
        User.objects.bulk_create([User(username=person.username)])
        of_django(person, **options)

    monkeypatch.setattr(User, "save", save_second)

    with pytest.raises(people.PeopleError) as refused:
        people.add(actor=root, username="zoe")
    assert refused.value.faults == {"username": "There is an account 'zoe' already."}
    assert not Event.objects.filter(verb="account.added").exists()


def test_no_list_of_roles_or_tokens_reads_the_login_of_a_cluster(cluster, ada):
    tokens.issue(ada, "report", 7, cluster=cluster)

    for row in (*grants.listed(cluster=cluster), *directory.tokens()):
        assert row.cluster.get_deferred_fields() == {"options"}


def test_switching_off_ends_rights_tokens_and_sessions(root, ada, cluster, signed_in):
    _, secret = tokens.issue(ada, "report", 7)
    browser = signed_in(ada)
    assert browser.get("/clusters/").status_code == 200

    assert people.switch_off(actor=root, person=ada)
    ada.refresh_from_db()
    assert not access.may(ada, "view", cluster)
    assert tokens.check(secret) is None
    assert not people.switch_off(actor=root, person=ada)

    assert people.switch_on(actor=root, person=ada)
    ada.refresh_from_db()
    assert access.may(ada, "request", cluster)
    assert tokens.check(secret) is not None
    assert browser.get("/clusters/").status_code == 302
    assert signed_in(ada).get("/clusters/").status_code == 200
    assert recorded("ada") == [
        "root switched off the account ada; its sessions ended.",
        "root switched on the account ada.",
    ]


def test_the_last_active_administrator_stays_one(root, ada):
    off = User.objects.create_superuser("off")
    people.switch_off(actor=root, person=off)
    for act in (people.switch_off, people.unmake_administrator):
        with pytest.raises(people.PeopleError, match="root is the only active administrator"):
            act(actor=root, person=root, own_too=True)
        with pytest.raises(people.PeopleError, match="root is the only active administrator"):
            act(actor="shell", person=root)

    assert people.make_administrator(actor=root, person=ada)
    assert people.unmake_administrator(actor=root, person=root, own_too=True)
    assert list(User.objects.filter(is_superuser=True, is_active=True)) == [ada]


def test_nobody_loses_their_own_account_without_saying_so(root, ada):
    people.make_administrator(actor=root, person=ada)
    for act in (people.switch_off, people.unmake_administrator, people.sign_out):
        with pytest.raises(people.PeopleError, match="your own account"):
            act(actor=root, person=root)
    with pytest.raises(people.PeopleError, match="on the page Password"):
        people.reset_password(actor=root, person=root)
    root.refresh_from_db()
    assert (root.is_active, root.is_superuser, root.sessions_ended) == (True, True, 0)


def test_who_is_switched_off_becomes_no_administrator(root, ada):
    people.switch_off(actor=root, person=ada)
    ada.refresh_from_db()

    with pytest.raises(people.PeopleError, match="switch the account on first"):
        people.make_administrator(actor=root, person=ada)


def test_ending_all_sessions_leaves_the_password_and_tokens(root, ada, signed_in):
    _, secret = tokens.issue(ada, "report", 7)
    browser, others = signed_in(ada), signed_in(root)

    people.sign_out(actor=root, person=ada)

    assert browser.get("/clusters/").status_code == 302
    assert others.get("/clusters/").status_code == 200
    ada.refresh_from_db()
    assert ada.check_password("a password for ada")
    assert tokens.check(secret) is not None


def test_a_session_counts_under_an_older_secret_key_until_all_are_ended(root, ada, signed_in, settings):
    people.sign_out(actor=root, person=ada)
    ada.refresh_from_db()
    browser = signed_in(ada)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another-key-" * 5
    # What a session holds is signed with the key of its time.
    assert ada.get_session_auth_hash() not in list(ada.get_session_auth_fallback_hash())
    assert all(each.endswith(".1") for each in ada.get_session_auth_fallback_hash())
    assert browser.get("/clusters/").status_code == 200


def test_a_new_first_password_replaces_the_old_one_and_ends_sessions(root, ada, signed_in):
    browser = signed_in(ada)

    password = people.reset_password(actor=root, person=ada)

    ada.refresh_from_db()
    assert ada.check_password(password)
    assert ada.password_is_first
    assert browser.get("/clusters/").status_code == 302
    assert recorded("ada") == ["root gave the account ada a new first password; its sessions ended."]


def test_a_group_gives_its_roles_to_whoever_is_in_it(root, eve, cluster):
    assert people.join(actor=root, person=eve, group=" platform ")
    assert not people.join(actor=root, person=eve, group="platform")
    group = Group.objects.get(name="platform")
    grants.give(actor=root, to=group, role=Role.VIEWER, cluster=cluster)
    assert access.may(eve, "view", cluster)

    assert people.leave(actor=root, person=eve, group=group)
    assert not people.leave(actor=root, person=eve, group=group)
    assert not access.may(eve, "view", cluster)
    assert recorded("eve") == [
        "root put eve into the group platform.",
        "root took eve out of the group platform.",
    ]
    with pytest.raises(people.PeopleError, match="1 to 150"):
        people.join(actor=root, person=eve, group=" ")


@pytest.mark.parametrize(
    ("role", "prefix", "told"),
    [
        (Role.VIEWER, "pay", "looks at the whole cluster"),
        (Role.ADMINISTRATOR, "pay", "administers the whole cluster"),
        (Role.REQUESTER, "x" * 250, "at most 249"),
    ],
)
def test_a_prefix_that_would_mean_nothing_is_refused(role, prefix, told, eve, cluster):
    with pytest.raises(grants.GrantError, match=told):
        grants.give(actor="shell", to=eve, role=role, cluster=cluster, name_prefix=prefix)
    assert not Grant.objects.filter(user=eve).exists()


def test_nobody_takes_the_role_by_which_they_take_it(cluster, dot, root):
    own = Grant.objects.get(user=dot)
    with pytest.raises(grants.GrantError, match="By this role you administer test-eu yourself"):
        grants.take(actor=dot, grant=own)
    assert Grant.objects.filter(pk=own.pk).exists()
    assert not Event.objects.filter(verb="grant.taken").exists()

    assert grants.take(actor=root, grant=own)
    assert not grants.take(actor=root, grant=own)


def test_the_roles_of_many_people_are_those_of_each_and_take_two_queries(
    cluster, other_cluster, ada, ben, eve, root, django_assert_num_queries
):
    people.join(actor=root, person=eve, group="platform")
    people.join(actor=root, person=ada, group="platform")
    grants.give(actor=root, to=Group.objects.get(), role=Role.APPROVER, cluster=other_cluster)
    grants.give(actor=root, to=ada, role=Role.REQUESTER, cluster=other_cluster, name_prefix="pay")

    with django_assert_num_queries(2):
        held = grants.of_each([ada, ben, eve, root])

    for person in (ada, ben, eve, root):
        assert held[person.pk] == list(grants.listed(person=person))
    assert [grants.named(grant) for grant in held[ada.pk]] == [
        "ada is requester on test-eu",
        "The group platform is approver on test-us",
        "ada is requester on test-us for names that start with 'pay'",
    ]
    assert [grant.cluster.slug for grant in held[eve.pk]] == ["test-us"]


def found(**filters) -> list[str]:
    return [person.username for person in directory.people(directory.Filters(**filters))]


def test_accounts_are_found_by_text_state_and_what_they_may(cluster, ada, ben, cho, dot, eve, root):
    User.objects.filter(pk=ben.pk).update(first_name="Benjamin", email="b@example.com")
    User.objects.filter(pk=ada.pk).update(last_login=timezone.now())
    User.objects.filter(pk=cho.pk).update(last_login=timezone.now() - timedelta(days=1))
    people.join(actor=root, person=eve, group="platform")

    assert found() == ["ada", "ben", "cho", "dot", "eve", "root"]
    assert found(text="benj EXAMPLE") == ["ben"]
    assert found(text="\x00") == []
    assert found(show="administrators") == ["root"]
    assert found(show="no-role") == ["eve"]
    assert found(show="never") == ["ben", "dot", "eve", "root"]
    assert found(sort="-signed-in")[:2] == ["ada", "cho"]
    assert found(sort="signed-in")[-2:] == ["cho", "ada"]
    assert found(sort="-name")[0] == "root"
    assert found(cluster="test-eu", act="approve") == found(act="approve") == ["ben", "dot", "root"]
    assert found(cluster="test-eu") == ["ada", "ben", "cho", "dot", "root"]
    assert found(cluster="test-us") == ["root"]
    grants.give(actor=root, to=Group.objects.get(), role=Role.APPROVER, cluster=cluster)
    assert found(cluster="test-eu", act="approve") == ["ben", "dot", "eve", "root"]
    assert found(show="no-role") == []
    people.switch_off(actor=root, person=ben)
    assert found(cluster="test-eu", act="approve") == ["dot", "eve", "root"]
    assert found(show="off") == ["ben"]
