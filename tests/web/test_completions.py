"""A field offers the names that fit what is typed, by keys too; the search field leads to pages and changes."""

from __future__ import annotations

import re
from html import unescape
from random import Random

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from aclweb.changes.models import Change
from aclweb.clusters import TopicInfo
from aclweb.insights.load import load
from aclweb.insights.models import LoggedPrincipal
from aclweb.inventory.lists.completion import KnownNames
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.insights.results import file, request, write_result
from tests.inventory.answering_cluster import Answers

pytestmark = pytest.mark.django_db

TOPICS = ("orders.eu", "orders.us", "payments.orders", "reorders", "Orders.asia", "stock")
HELD = [
    allow("User:bob", "READ", "orders.eu"),
    allow("User:bob", "WRITE", "orders.eu"),
    allow("User:billing", "READ", "gone.topic", host="10.0.0.7"),
    allow("User:*", "READ", "stock"),
    allow("User:bob", "READ", "bob-app", resource_type="GROUP"),
]


@pytest.fixture
def synced(cluster):
    sync(cluster, client=Answers(HELD, topics=[TopicInfo(name, 1) for name in TOPICS]))
    cluster.refresh_from_db()
    return cluster


@pytest.fixture
def offered(client, synced, ada):
    client.force_login(ada)

    def ask(kind, text, **more):
        answer = client.get(reverse("completions", args=[synced.slug, kind]), {"q": text, **more})
        assert answer.status_code == 200
        ask.page = " ".join(unescape(re.sub("<[^>]*>", " ", answer.content.decode())).split())
        return [(each.name, each.note) for each in answer.context["completions"]]

    return ask


@pytest.fixture
def logged(synced, tmp_path):
    def with_log(**facts):
        requests = [
            request("User:bob", "READ", "orders.eu", allowed=True, decided_now="ALLOWED"),
            request("User:bobby", "READ", "orders.eu"),
        ]
        load(write_result(tmp_path / "usage", HELD, requests=requests, **facts), synced)

    return with_log


def names(found):
    return [name for name, _ in found]


def test_names_that_begin_with_the_text_come_before_words_and_others():
    known = KnownNames(["b.orders", "orders", "orders.eu", "reorders", "Orders.x"])

    assert known.containing("orders", 9) == ["orders", "Orders.x", "orders.eu", "b.orders", "reorders"]
    assert known.containing("ORDERS", 2) == ["Orders.x", "orders"]
    assert known.containing("nothing", 9) == []


@pytest.mark.parametrize("seed", range(20))
def test_names_that_begin_with_the_text_are_those_that_a_look_at_each_finds(seed):
    dice = Random(seed)
    word = "".join(dice.choice("abAB.\u00df\u0130") for _ in range(dice.randrange(1, 3)))
    some = {"".join(dice.choice("abAB.\u00df\u0130s") for _ in range(dice.randrange(6))) for _ in range(60)}

    found = KnownNames(some).containing(word, 4)

    beginning = [name for name in sorted(some) if name.casefold().startswith(word.casefold())][:4]
    expected = [word, *(name for name in beginning if name != word)][:4] if word in some else beginning
    assert found[: len(expected)] == expected


def test_the_same_name_is_first_however_many_begin_with_it():
    known = KnownNames([*(f"Ab{number}" for number in range(50)), "ab"])

    assert known.containing("ab", 3)[0] == "ab"
    assert len(known.containing("", 3)) == 3


def test_names_that_no_field_can_hold_are_not_offered():
    assert KnownNames(["a\nb", "a\0", "a\udcff", "a"]).containing("a", 9) == ["a"]


def test_topics_are_offered_with_those_that_only_acls_name(offered):
    found = offered("TOPIC", "o")

    assert found[:2] == [("Orders.asia", ""), ("orders.eu", "")]
    assert ("gone.topic", "named by ACLs, does not exist") in found


def test_principals_are_found_without_their_type(offered):
    assert offered("principal", "bob") == [("User:bob", "3 ACLs")]
    assert names(offered("principal", "user:b")) == ["User:billing", "User:bob"]
    assert names(offered("principal", "*")) == []


def test_a_principal_comes_with_its_acls_and_when_the_log_last_saw_it(offered, logged):
    logged()

    offered("principal", "b")

    assert offered.page == (
        "User:billing 1 ACL not in the log User:bob 3 ACLs last seen 20 Nov 20:00 "
        "User:bobby denied in the log last seen 20 Nov 20:00"
    )


def test_without_permits_nobody_can_tell_when_somebody_was_last_seen(offered, logged):
    logged(files=[file("broker-1.log", permits=0)])

    offered("principal", "bil")

    assert offered.page == "User:billing 1 ACL last seen: cannot tell"


def test_a_load_of_an_earlier_version_tells_the_same_of_the_principals_that_fit(offered, logged):
    logged()
    LoggedPrincipal.objects.all().delete()

    offered("principal", "bobby")

    assert offered.page == "User:bobby denied in the log last seen 20 Nov 20:00"


@pytest.mark.parametrize(
    ("kind", "text", "last"),
    [
        ("principal", "bil", ("User:bil", "no ACL names it")),
        ("principal", "Team:x", ("Team:x", "no ACL names it")),
        ("principal", "*", ("User:*", "1 ACL")),
        ("principal", "admin", ("User:admin", "super user")),
        ("TOPIC", "orders", ("orders", "no topic has this name")),
        ("GROUP", "bob", ("bob", "no group has this name")),
        ("TRANSACTIONAL_ID", "tx", ("tx", "no ACL names it")),
        ("host", "10.0.0.70", ("10.0.0.70", "")),
        ("host", " 10.0.0.70 ", ("10.0.0.70", "")),
        ("host", "::FFFF:10.0.0.70", ("10.0.0.70", "")),
    ],
)
def test_what_is_typed_is_offered_last_with_what_is_known_of_it(offered, kind, text, last):
    offered_before = offered(kind, text)

    assert offered(kind, text, typed="1") == [*(each for each in offered_before if each != last), last]


def test_what_is_typed_says_whether_the_log_names_it(offered, logged):
    logged()

    assert offered("principal", "User:bo", typed="1")[-1] == ("User:bo", "no ACL and no log line names it")
    assert "User:bo as typed: no ACL and no log line names it" in offered.page
    assert offered.page.endswith("names it"), "nothing is said twice"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("principal", "User:bob"),
        ("principal", "bob"),
        ("principal", "User:a,User:b"),
        ("principal", "zed\0"),
        ("principal", "z" * 301),
        ("principal", " "),
        ("principal", "User:zed "),
        ("GROUP", " bob"),
        ("TOPIC", "orders.eu"),
        ("TOPIC", "no/topic"),
        ("CLUSTER", "mine"),
        ("host", "10.0."),
        ("host", "10.0.0.7"),
    ],
)
def test_what_no_form_takes_and_what_is_in_the_list_is_not_offered_as_typed(offered, kind, text):
    assert offered(kind, text, typed="1") == offered(kind, text)


def test_the_list_of_principals_takes_few_queries(client, offered, logged, django_assert_max_num_queries):
    logged()
    offered("principal", "bo", typed="1")

    with django_assert_max_num_queries(12):
        offered("principal", "bo", typed="1")


def test_hosts_are_those_that_acls_name(offered):
    assert offered("host", "10.") == [("10.0.0.7", "named by ACLs")]


def test_a_cluster_that_was_never_read_offers_nothing(client, cluster, ada):
    client.force_login(ada)
    for kind in ("principal", "host", "TOPIC", "GROUP", "CLUSTER"):
        answer = client.get(reverse("completions", args=[cluster.slug, kind]), {"q": "a"})
        assert answer.status_code == 200


def test_an_unknown_kind_and_a_foreign_cluster_are_not_there(client, synced, other_cluster, cho):
    client.force_login(cho)

    assert client.get(reverse("completions", args=[synced.slug, "colour"]), {"q": "a"}).status_code == 404
    assert (
        client.get(reverse("completions", args=[other_cluster.slug, "TOPIC"]), {"q": "a"}).status_code == 404
    )


def test_search_offers_pages_changes_and_names_with_their_addresses(client, synced, ada, offered):
    change = Change.objects.create(cluster=synced, author=ada, title="Let bob read orders")

    assert ("What if: simulate a change", "page") in offered("any", "what")
    assert offered("any", f"cr-{change.pk}")[0] == (f"CR-{change.pk}: Let bob read orders", "change")
    assert [note for _, note in offered("any", "bob")] == [
        "change", "principal", "question", "group", "search",
    ]  # fmt: skip
    assert offered("any", "") == []


@pytest.mark.parametrize(
    ("text", "name"),
    [("User:bob", "principal"), ("orders.eu", "topic"), ("bob-app", "resource")],
)
def test_a_text_that_is_one_name_leads_to_its_page(client, synced, ada, text, name):
    client.force_login(ada)
    answer = client.get(reverse("search", args=[synced.slug]), {"q": text})

    assert answer.status_code == 302
    assert client.get(answer.url).resolver_match.url_name == name


@pytest.mark.parametrize(
    ("typed", "name", "filled"),
    [
        ("can bob consume orders.eu?", "Ask: may bob consume orders.eu?", ("bob", "consume", "orders.eu")),
        (
            "User:bob produce to orders.eu",
            "Ask: may User:bob produce orders.eu?",
            ("User:bob", "produce", "orders.eu"),
        ),
        ("bob consume", "Ask: may bob consume?", ("bob", "consume", "")),
        ("bob", "Ask: may User:bob consume, produce, …?", ("User:bob", "consume", None)),
        ("orders.eu", "Ask: may a client use orders.eu?", (None, "consume", "orders.eu")),
    ],
)
def test_a_question_in_the_search_field_leads_to_its_form(client, synced, ada, offered, typed, name, filled):
    client.force_login(ada)
    assert (name, "question") in offered("any", typed)

    page = client.get(reverse("search", args=[synced.slug]), {"q": typed, "all": "1"})
    (place,) = page.context["questions"]
    form = client.get(place.url).context["form"]

    assert place.name == name
    assert place.url.replace("&", "&amp;") in page.content.decode()
    assert (form["principal"].value(), form["action"].value(), form["topic"].value()) == filled
    assert not form.is_bound


@pytest.mark.parametrize("asked", [{"q": "orders"}, {"q": "orders.eu", "all": "1"}, {"q": "CR-99"}])
def test_a_part_of_a_name_leads_to_the_list_of_finds(client, synced, ada, asked):
    client.force_login(ada)

    assert client.get(reverse("search", args=[synced.slug]), asked).status_code == 200


def test_a_group_that_is_called_like_a_change_hides_neither(client, cluster, ada):
    change = Change.objects.create(cluster=cluster, author=ada, title="Let bob read orders")
    sync(cluster, client=Answers([allow("User:bob", "READ", change.key, resource_type="GROUP")], topics=[]))
    client.force_login(ada)

    assert client.get(reverse("search", args=[cluster.slug]), {"q": change.key}).status_code == 200


def test_names_with_letters_that_no_database_holds_find_nothing(offered):
    assert offered("principal", "bob\0x") == []
    assert [note for _, note in offered("any", "a\0b")] == ["search"]


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
class TestInABrowser:
    def test_a_question_is_asked_by_keys_alone(self, window, synced, ada):
        page = window(ada, "/?raw=1")
        who = page.locator("#ask-principal")
        who.focus()
        page.keyboard.type("bo")
        page.get_by_role("option", name="User:bob").wait_for()
        assert who.get_attribute("aria-expanded") == "true"
        page.keyboard.press("ArrowDown")
        assert who.get_attribute("aria-activedescendant") == "completion-0"
        page.keyboard.press("Enter")
        assert who.input_value() == "User:bob"
        assert page.get_by_role("listbox").count() == 0

        page.locator("#ask-name").focus()
        page.keyboard.type("orders.e")
        page.get_by_role("option", name="orders.eu").wait_for()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        page.get_by_text("Yes, allowed").first.wait_for()
        assert page.watch.complaints == []

    def test_a_name_that_nothing_knows_is_chosen_as_it_is_typed(self, window, synced, ada):
        page = window(ada, "/?raw=1")
        who = page.locator("#ask-principal")
        who.press_sequentially("User:new")
        option = page.get_by_role("option", name="User:new as typed: no ACL names it")
        option.wait_for()
        expect(page.get_by_text("No known name fits; Down chooses.")).to_be_attached()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")

        expect(who).to_have_value("User:new")
        assert page.get_by_role("listbox").count() == 0
        assert page.watch.complaints == []

    def test_escape_closes_the_list_and_keeps_what_was_typed(self, window, synced, ada):
        page = window(ada, "/c/test-eu/what-if/")
        field = page.get_by_label("Principal", exact=True)
        field.press_sequentially("b")
        page.get_by_role("option", name="User:bob").wait_for()
        page.keyboard.press("Escape")

        assert page.get_by_role("listbox").count() == 0
        assert field.input_value() == "b"

    def test_a_filter_is_completed_behind_its_word(self, window, synced, ada):
        page = window(ada, "/c/test-eu/acls/")
        field = page.locator("#filter-q")
        field.press_sequentially("op:read principal:User:bo")
        page.get_by_role("option", name="User:bob").click()

        assert field.input_value() == "op:read principal:User:bob"

    def test_a_list_that_fits_no_more_closes_and_takes_nothing_away(self, window, synced, ada):
        page = window(ada, "/c/test-eu/acls/")
        field = page.locator("#filter-q")
        field.press_sequentially("op:read principal:User:bo")
        page.get_by_role("option", name="User:bob").wait_for()
        field.press_sequentially("x op:")
        page.get_by_role("listbox").wait_for(state="hidden")
        page.keyboard.press("ArrowDown")

        assert field.input_value() == "op:read principal:User:box op:"

    def test_the_search_field_leads_to_a_page(self, window, synced, ada):
        page = window(ada, "/")
        page.keyboard.press("Meta+k")
        page.keyboard.type("orders.us")
        page.get_by_role("option", name="orders.us topic").wait_for()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**/topics/orders.us")

    def test_lines_pasted_for_principals_become_several_and_the_last_is_completed(self, window, synced, ada):
        page = window(ada, "/c/test-eu/what-if/")
        page.set_default_timeout(15_000)
        field = page.locator("#id_principal")
        paste = """(field, text) => {
            const given = new DataTransfer();
            given.setData("text", text);
            field.dispatchEvent(new ClipboardEvent("paste", {clipboardData: given, bubbles: true, cancelable: true}));
        }"""

        field.focus()
        field.evaluate(paste, "User:a\nUser:b\r\n\nUser:c\n")
        expect(field).to_have_value("User:a, User:b, User:c")
        for held, at, whole in (
            ("User:a", 6, "User:a, User:b, User:c"),
            ("User:a, ", 8, "User:a, User:b, User:c"),
            ("User:a", 0, "User:b, User:c, User:a"),
        ):
            field.fill(held)
            field.evaluate("(field, at) => field.setSelectionRange(at, at)", at)
            field.evaluate(paste, "User:b\nUser:c\n")
            expect(field).to_have_value(whole)
        field.fill("User:a, User:b, User:c")
        for label in ("Allow", "Exact"):
            page.get_by_text(label, exact=True).first.click()
        page.locator("#id_operation").select_option("READ")
        page.locator("#id_resource_name").fill("orders.us")
        expect(page.locator("#add-count")).to_have_text(" 3 ACLs")
        field.press("End")
        field.press_sequentially(", bo")
        page.locator("#completions [role=option]").first.click()
        expect(field).to_have_value("User:a, User:b, User:c, User:bob")
        page.get_by_role("button", name="Add 4 ACLs to the draft").click()
        expect(page.locator(".draft-lines > li")).to_have_count(4)

        assert page.watch.complaints == []
