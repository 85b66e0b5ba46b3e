"""The cluster's page says what aclweb sees of it and what not, and each list of what brokers tell has a page."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from django.http import HttpResponse

from aclweb.clusters import (
    Detail,
    DetailKind,
    DetailList,
    Details,
    GroupMember,
    GroupType,
    Known,
    ListedGroup,
)
from aclweb.clusters.broker_settings import BrokerSettings, ClusterSettings, combined_settings
from aclweb.insights.principals import GONE, NO_LOGIN, PrincipalList, listed_principals
from aclweb.inventory.models import Cluster, DetailsRead, StoredGroup
from aclweb.inventory.sync import run as syncing
from aclweb.inventory.sync import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster

C, A = "/c/test-eu/", "/api/v1/clusters/test-eu/"
END = int(datetime(2027, 1, 2, 3, 4, tzinfo=UTC).timestamp() * 1000)
LISTS = {
    DetailKind.SCRAM_USERS: DetailList(
        Known.ALL, (Detail("erin", user="erin", facts={"mechanisms": {"SCRAM-SHA-256": 4096}}),)
    ),
    DetailKind.QUOTAS: DetailList(
        Known.ALL,
        (
            Detail(
                "every other user, client-id x",
                facts={
                    "entity": {"user": None, "client-id": "x"},
                    "limits": {"producer_byte_rate": 1024.0},
                },
            ),
        ),
    ),
    DetailKind.TRANSACTIONAL_IDS: DetailList(
        Known.VISIBLE,
        (Detail("tx-<b>"),),
        "Only transactional ids that this login may describe are listed, so there may be others.",
        "kafka-acls --add --transactional-id '*'",
    ),
    DetailKind.TOKENS: DetailList(
        Known.UNKNOWN, sentence="Brokers tell of tokens only where a client logs in."
    ),
}
TOKEN = Detail(
    "t-1",
    principal="User:bob",
    facts={"requester": None, "renewers": ["User:ann"], "issued": END, "expires": END, "ends": END},
)


def text_of(page: HttpResponse) -> str:
    without_tags = re.sub(r"<[^>]*>", " ", page.content.decode().replace("<wbr>", ""))
    return unescape(re.sub(r"\s+", " ", without_tags))


@pytest.fixture
def fake(monkeypatch, cluster) -> FakeCluster:
    fake = FakeCluster([allow("User:bob", "READ", "orders")], topics=["orders"], groups=["billing", "shop"])
    fake.details = Details(
        LISTS, (ListedGroup("billing", GroupType.CONSUMER), ListedGroup("shop", GroupType.SHARE))
    )
    fake.members = {"billing": (GroupMember("orders-app", "10.0.0.7"),)}
    monkeypatch.setattr(syncing, "connect", fake.connect)
    return fake


@pytest.fixture
def page_of(fake, cluster, cho, signed_in):
    sync(cluster)
    browser = signed_in(cho)
    return browser.get


def test_the_clusters_page_says_what_is_seen_and_what_not(page_of):
    page = text_of(page_of(C))

    assert "Groups all 1 consumer, 1 share" in page
    assert "Members of groups some of 1 group The members of 1 group are not known." in page
    assert "SCRAM users all 1" in page
    assert "Transactional ids some 1" in page
    assert "kafka-acls --add --transactional-id '*'" in page
    assert re.search(r"Delegation tokens unknown [–, ]*Brokers tell of tokens only", page)


def test_what_is_missing_comes_first_and_is_counted(page_of, cluster):
    Cluster.objects.update(groups_listed=Known.VISIBLE, super_users="User:admin", settings_read=None)

    rows = page_of(C).context["sights"].rows
    page = text_of(page_of(C))

    order = ["unknown", "declared", "visible", "all"]
    assert [order.index(row.known) for row in rows] == sorted(order.index(row.known) for row in rows)
    assert {row.word: row.known for row in rows if row.word in ("Super users", "Groups", "SCRAM users")} == {
        "Super users": "declared",
        "Groups": "visible",
        "SCRAM users": "all",
    }
    assert "there may be others. So no ACL of groups can be called orphaned for that." in page
    for word, known in (("unknown", ("unknown",)), ("in part", ("visible", "declared")), ("whole", ("all",))):
        assert f" {sum(row.known in known for row in rows)} {word} " in page


def test_before_the_first_read_nothing_is_called_empty(cluster, cho, signed_in):
    page = text_of(signed_in(cho).get(C))

    assert page.count("No sync has read them yet.") == 4
    assert "SCRAM users all" not in page


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("scram-users", ["erin", "SCRAM-SHA-256 with 4,096 iterations"]),
        ("quotas", ["every other user, client-id x", "producer_byte_rate 1,024"]),
        ("transactional-ids", ["tx-<b>", "so there may be others"]),
        ("tokens", ["Cannot tell which there are", "only where a client logs in"]),
    ],
)
def test_each_list_has_a_page(page_of, kind, words):
    page = text_of(page_of(f"{C}details/{kind}/"))

    for word in words:
        assert word in page


def test_a_token_is_listed_with_its_owner_and_its_end(fake, page_of, cluster):
    fake.details = Details({DetailKind.TOKENS: DetailList(Known.ALL, (TOKEN,))}, None)
    DetailsRead.objects.update(at=datetime(2026, 1, 1, tzinfo=UTC))
    sync(cluster)

    page = text_of(page_of(f"{C}details/tokens/"))

    assert "t-1 User:bob User:ann 2027-01-02 03:04 2027-01-02 03:04" in page


def test_an_unknown_list_is_not_found(page_of):
    assert page_of(f"{C}details/passwords/").status_code == 404


def test_a_filter_finds_part_of_a_name(page_of):
    assert "erin" in text_of(page_of(f"{C}details/scram-users/?q=RI"))
    assert "None contains this text" in text_of(page_of(f"{C}details/scram-users/?q=zzz"))


def test_the_api_tells_how_complete_each_list_is(page_of):
    found = {each["kind"]: each for each in page_of(f"{A}details/").json()}

    assert (found["scram-users"]["known"], found["scram-users"]["count"]) == ("all", 1)
    assert (found["tokens"]["known"], found["tokens"]["count"]) == ("unknown", None)
    assert found["transactional-ids"]["command"] == "kafka-acls --add --transactional-id '*'"
    assert found["quotas"]["read_at"] is not None


def test_the_api_lists_the_entries_and_none_of_an_unknown_list(page_of):
    (user,) = page_of(f"{A}details/scram-users/").json()["results"]

    assert user["name"] == "erin"
    assert user["facts"] == {"mechanisms": {"SCRAM-SHA-256": 4096}}
    assert page_of(f"{A}details/tokens/").json()["results"] == []
    assert page_of(f"{A}details/passwords/").status_code == 404


def test_the_api_lists_groups_with_their_members_or_null(page_of):
    billing, shop = page_of(f"{A}groups/").json()["results"]

    assert (billing["name"], billing["type"], billing["members"][0]["host"]) == (
        "billing",
        "consumer",
        "10.0.0.7",
    )
    assert (shop["type"], shop["members"], shop["read_at"]) == ("share", None, None)
    assert [each["name"] for each in page_of(f"{A}groups/?type=share").json()["results"]] == ["shop"]
    assert "is no type of a group" in page_of(f"{A}groups/?type=odd").json()["type"]


def test_the_pages_ask_few_questions(page_of, django_assert_max_num_queries):
    with django_assert_max_num_queries(14):
        page_of(f"{C}details/scram-users/")
    with django_assert_max_num_queries(13):
        page_of(C)
    with django_assert_max_num_queries(12):
        page_of(f"{C}topics/?type=GROUP")
    with django_assert_max_num_queries(12):
        page_of(f"{C}topics/?type=TRANSACTIONAL_ID")
    with django_assert_max_num_queries(12):
        page_of(f"{C}resource/?type=TRANSACTIONAL_ID&name=tx-%3Cb%3E")


# --- principals and groups -----------------------------------------------------------------------


def test_a_principal_shows_how_it_logs_in_and_its_quotas(page_of):
    page = text_of(page_of(f"{C}principal/?name=User%3Aerin&tab=limits"))

    assert "Unknown name" not in page
    assert "SCRAM-SHA-256 with 4,096 iterations" in page
    assert "every other user, client-id x producer_byte_rate 1,024" in page
    assert "cannot tell : Brokers tell of tokens only where a client logs in." in page


def test_a_principal_that_is_no_scram_user_may_log_in_in_other_ways(page_of):
    page = text_of(page_of(f"{C}principal/?name=User%3Abob&tab=limits"))

    assert "The brokers list no such SCRAM user. It may log in by a certificate" in page


def test_nothing_is_said_of_a_principal_before_the_lists_are_read(cluster, cho, signed_in):
    page = text_of(signed_in(cho).get(f"{C}principal/?name=User%3Abob&tab=limits"))

    assert page.count("cannot tell : No sync has read them yet.") == 3


def test_principals_that_brokers_list_are_principals_of_the_site(page_of):
    page = text_of(page_of(f"{C}principals/"))
    rows = {row["principal"]: row for row in page_of(f"{A}principals/").json()["principals"]}

    assert "User:erin" in page
    assert (rows["User:erin"]["acls"], rows["User:erin"]["marks"], rows["User:erin"]["listed_as"]) == (
        0,
        ["no-acl"],
        ["scram"],
    )
    assert rows["User:bob"]["listed_as"] == []
    only = page_of(f"{A}principals/?show=no-acl").json()["principals"]
    assert [row["principal"] for row in only] == ["User:erin"]


def test_nobody_is_said_to_have_no_login_where_clients_log_in_in_other_ways(page_of):
    mark = next(mark for mark in page_of(f"{A}principals/").json()["marks"] if mark["mark"] == "no-login")

    assert mark["count"] is None
    assert mark["sentence"] == "Cannot tell: the listeners of the brokers have not been read."


def only_scram(**others: str) -> ClusterSettings:
    shown = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "listeners": "SASL_SSL://:9093",
        "sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "super.users": None,
    }
    found = combined_settings([BrokerSettings(1, shown | others)])
    assert found is not None
    return found


def no_login(found: PrincipalList) -> tuple[set[str], str]:
    return {row.principal for row in found.rows if NO_LOGIN in row.marks}, found.of(NO_LOGIN).sentence


def test_where_clients_log_in_with_scram_alone_an_acl_of_no_user_is_told(fake, cluster):
    fake.bindings += [allow("User:erin", "READ", "orders"), allow("User:admin", "READ", "orders")]
    fake.details = Details(LISTS | {DetailKind.TOKENS: DetailList(Known.ALL, (TOKEN,))}, None)
    fake.bindings.append(allow("User:gone", "READ", "orders"))
    fake.facts = replace(fake.facts, settings=only_scram())
    sync(cluster)

    gone, sentence = no_login(listed_principals(cluster))

    # bob owns a token, erin is a SCRAM user, and admin a super user, who may be a broker.
    assert gone == {"User:gone"}
    assert "neither a SCRAM user of that name nor a delegation token of theirs on 20" in sentence


@pytest.mark.parametrize(
    ("others", "lists", "why"),
    [
        ({"sasl.enabled.mechanisms": "SCRAM-SHA-512,PLAIN"}, {}, "other ways than SCRAM"),
        ({"listeners": "SASL_SSL://:9093,SSL://:9094"}, {}, "other ways than SCRAM"),
        ({"principal.builder.class": "com.example.Builder"}, {}, "class of their own"),
        ({}, {DetailKind.TOKENS: LISTS[DetailKind.TOKENS]}, "tell of tokens only"),
        ({}, {DetailKind.SCRAM_USERS: DetailList(Known.UNKNOWN, sentence="Not to you.")}, "not to you"),
    ],
)
def test_of_nobody_is_it_told_where_it_could_be_false(fake, cluster, others, lists, why):
    fake.details = Details(LISTS | {DetailKind.TOKENS: DetailList(Known.ALL)} | lists, None)
    fake.facts = replace(fake.facts, settings=only_scram(**others))
    sync(cluster)

    gone, sentence = no_login(listed_principals(cluster))

    assert gone == set()
    assert why in sentence


def test_a_broker_that_did_not_answer_may_take_other_logins(fake, cluster):
    fake.details = Details(LISTS | {DetailKind.TOKENS: DetailList(Known.ALL)}, None)
    fake.facts = replace(fake.facts, settings=only_scram(), silent=("broker2:9092",))
    sync(cluster)

    assert no_login(listed_principals(cluster))[0] == set()


def with_users(fake, *users: str, known: Known = Known.ALL, tokens: tuple[Detail, ...] = ()) -> None:
    listed = DetailList(known, tuple(Detail(user, user=user) for user in users), "Not to you.")
    fake.details = Details(
        {DetailKind.SCRAM_USERS: listed, DetailKind.TOKENS: DetailList(Known.ALL, tokens)}, None
    )


def read_again(cluster) -> None:
    DetailsRead.objects.update(at=datetime(2026, 1, 1, tzinfo=UTC))
    sync(cluster)


def gone(cluster) -> tuple[set[str], int | None]:
    found = listed_principals(cluster)
    return {row.principal for row in found.rows if GONE in row.marks}, found.of(GONE).count


def test_a_principal_that_was_a_scram_user_is_told_from_one_that_never_was(fake, cluster, page_of):
    fake.bindings += [allow("User:erin", "READ", "orders"), allow("User:never", "READ", "orders")]
    with_users(fake, "erin", "ann", "dave")
    read_again(cluster)
    assert gone(cluster) == (set(), 0)
    with_users(fake, "ann")
    read_again(cluster)

    # dave is named by nothing any more, so that he is no principal of the site.
    assert gone(cluster) == ({"User:erin"}, 1)
    assert "no longer a SCRAM user" in text_of(page_of(f"{C}principals/?show=gone"))
    assert "They listed one until" in text_of(page_of(f"{C}principal/?name=User%3Aerin&tab=limits"))
    assert "They listed one" not in text_of(page_of(f"{C}principal/?name=User%3Anever&tab=limits"))


def test_a_scram_user_that_is_back_or_owns_a_token_is_not_gone(fake, cluster, page_of):
    fake.bindings += [allow("User:erin", "READ", "orders")]
    with_users(fake, "erin", "bob")
    read_again(cluster)
    with_users(fake, tokens=(TOKEN,))
    read_again(cluster)
    assert gone(cluster) == ({"User:erin"}, 1)  # bob owns a token
    with_users(fake, "erin", "bob")
    read_again(cluster)

    assert gone(cluster) == (set(), 0)


@pytest.mark.parametrize("known", [Known.VISIBLE, Known.UNKNOWN])
def test_nobody_is_gone_from_a_list_that_may_lack_some(fake, cluster, page_of, known):
    fake.bindings += [allow("User:erin", "READ", "orders")]
    with_users(fake, "erin", "ann")
    read_again(cluster)
    with_users(fake, "ann")
    read_again(cluster)
    with_users(fake, "ann", known=known)
    read_again(cluster)

    assert gone(cluster) == (set(), None)
    assert "They listed one" not in text_of(page_of(f"{C}principal/?name=User%3Aerin&tab=limits"))


def test_a_list_that_changed_is_read_anew_for_the_list_of_principals(fake, cluster, page_of):
    assert "User:erin" in text_of(page_of(f"{C}principals/"))
    with_users(fake, "frida")
    read_again(cluster)

    page = text_of(page_of(f"{C}principals/"))
    assert "User:frida" in page
    assert "User:erin" not in page


def test_a_page_of_principals_that_only_brokers_list_keeps_to_its_budget(fake, cluster, page_of):
    users = [f"service-account-{number:06}" for number in range(400)]
    tokens = tuple(replace(TOKEN, name=f"t-{user}", principal=f"User:{user}") for user in users)
    with_users(fake, *users, tokens=tokens)
    read_again(cluster)

    page = page_of(f"{C}principals/?q=service")

    assert text_of(page).count(" SCRAM user owns a token ") == 50
    assert len(page.content) <= 50 * 1024
    assert "No log has been read, so nobody can tell when they were last seen or denied" in text_of(page)


# --- names that brokers list ----------------------------------------------------------------------


def test_transactional_ids_of_the_brokers_are_listed_with_those_of_acls(fake, cluster, page_of):
    fake.bindings.append(allow("User:bob", "WRITE", "tx-of-acl", resource_type="TRANSACTIONAL_ID"))
    sync(cluster)

    page = text_of(page_of(f"{C}topics/?type=TRANSACTIONAL_ID"))
    assert "All 2 Listed by brokers 1 Named by ACLs alone 1" in page
    assert "tx-<b>" in page
    assert "tx-of-acl named by ACLs" in page
    assert "Brokers list the transactional ids that they remember, so others may be in use." in page

    only = text_of(page_of(f"{C}topics/?type=TRANSACTIONAL_ID&from=brokers&sort=-writers"))
    assert "tx-<b>" in only
    assert "tx-of-acl" not in only


def test_a_new_list_of_ids_shows_without_a_new_revision(fake, cluster, page_of):
    assert "tx-<b>" in text_of(page_of(f"{C}topics/?type=TRANSACTIONAL_ID&sort=-writers"))
    fake.details = Details({DetailKind.TRANSACTIONAL_IDS: DetailList(Known.ALL, (Detail("tx-2"),))}, None)
    read_again(cluster)

    page = text_of(page_of(f"{C}topics/?type=TRANSACTIONAL_ID&sort=-writers"))
    assert "tx-2" in page
    assert "tx-<b>" not in page


def test_ids_of_a_list_that_is_unknown_now_are_not_called_listed(fake, cluster, page_of):
    fake.details = Details(
        {DetailKind.TRANSACTIONAL_IDS: DetailList(Known.UNKNOWN, sentence="Not to you.")}, None
    )
    read_again(cluster)

    page = text_of(page_of(f"{C}topics/?type=TRANSACTIONAL_ID"))
    assert "tx-<b>" not in page
    assert "Cannot tell which transactional ids exist" in page
    badge = text_of(page_of(f"{C}resource/?type=TRANSACTIONAL_ID&name=tx-%3Cb%3E"))
    assert "listed by brokers" not in badge
    assert "cannot tell whether it exists" in badge


def test_the_page_of_an_id_says_since_when_brokers_list_it(page_of):
    assert "listed by brokers since " in text_of(
        page_of(f"{C}resource/?type=TRANSACTIONAL_ID&name=tx-%3Cb%3E")
    )
    other = text_of(page_of(f"{C}resource/?type=TRANSACTIONAL_ID&name=tx-9"))
    assert "cannot tell whether it exists" in other


def offered(page: Any) -> list[tuple[str, str]]:
    return [(each.name, each.note) for each in page.context["completions"]]


def test_names_that_brokers_list_are_offered_and_found(fake, cluster, page_of):
    assert offered(page_of(f"{C}completions/TRANSACTIONAL_ID/?q=tx")) == [("tx-<b>", "")]
    assert offered(page_of(f"{C}completions/principal/?q=eri")) == [("User:erin", "listed by brokers")]
    places = page_of(f"{C}completions/any/?q=tx-").context["completions"]
    assert ("tx-<b>", "transactional id") in [(each.name, each.note) for each in places]
    assert "Transactional ids 1 tx-<b>" in text_of(page_of(f"{C}search/?q=tx-&all=1"))


def test_principals_of_a_new_list_are_offered(fake, cluster, page_of):
    page_of(f"{C}completions/principal/?q=eri")
    with_users(fake, "erik")
    read_again(cluster)

    assert offered(page_of(f"{C}completions/principal/?q=eri")) == [("User:erik", "listed by brokers")]


def test_groups_are_listed_with_their_types_and_members(page_of):
    page = text_of(page_of(f"{C}topics/?type=GROUP"))

    assert "Group Type Members May consume" in page
    assert re.search(r"billing consumer 1 ", page)
    assert re.search(r"shop share cannot tell ", page)


def test_a_list_of_groups_of_which_brokers_tell_no_type_has_no_such_column(cluster, fake, cho, signed_in):
    fake.details = Details(LISTS, None)
    sync(cluster)

    page = text_of(signed_in(cho).get(f"{C}topics/?type=GROUP"))
    assert "billing" in page
    assert "Group May consume" in page


def test_a_group_shows_its_type_and_who_is_in_it(page_of):
    billing = text_of(page_of(f"{C}resource/?type=GROUP&name=billing&tab=members"))
    shop = text_of(page_of(f"{C}resource/?type=GROUP&name=shop&tab=members"))

    assert "Type consumer" in billing
    assert "10.0.0.7 orders-app" in billing
    assert "Type share" in shop
    assert "cannot tell : its members have not been read yet" in shop


def test_a_group_that_brokers_do_not_list_has_no_known_member(page_of):
    page = text_of(page_of(f"{C}resource/?type=GROUP&name=nobody&tab=members"))

    assert "No member is known" in page


def test_members_are_read_at_once_when_somebody_asks(page_of, cluster, ada, signed_in):
    asked = signed_in(ada).post(f"{C}members/?name=billing", follow=True)

    assert "A worker will read its members now" in text_of(asked)
    assert StoredGroup.objects.get(name="billing").asked_at is not None

    unlisted = signed_in(ada).post(f"{C}members/?name=nobody", follow=True)
    assert "The brokers list no such group" in text_of(unlisted)
