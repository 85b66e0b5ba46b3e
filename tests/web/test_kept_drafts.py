"""A draft of any length survives Back, a click, a new sign-in and a link, and only where it may be seen."""

from __future__ import annotations

import json
import random
import re
from datetime import timedelta
from html import unescape
from unittest.mock import Mock
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import DatabaseError, connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from playwright.sync_api import expect

from aclweb.accounts.models import Grant, Role
from aclweb.changes import preview as previews
from aclweb.changes.kept import forget
from aclweb.changes.models import Change
from aclweb.clusters import TopicInfo
from aclweb.inventory.current import in_force
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from aclweb.web.drafts import draft as drafts
from aclweb.web.drafts import keeping
from aclweb.web.models import KeptDraft
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

PAGE = "/c/test-eu/what-if/"
HELD = [allow("User:bob", "READ", f"orders.{number}") for number in range(60)]


def lines(count: int) -> list[str]:
    return [
        json.dumps({"op": "add", **allow("User:eli", "READ", f"stock.{number}").as_dict()})
        for number in range(count)
    ]


@pytest.fixture
def browser(cluster, ada, signed_in):
    sync(cluster, client=Answers(HELD))
    return signed_in(ada)


def drafted(page) -> list[str]:
    return [line.as_text() for line in page.context["draft"].lines]


def text(page) -> str:
    return unescape(page.content.decode())


@pytest.mark.parametrize("count", [1, 5, 30, 400])
def test_a_draft_of_any_length_has_an_address_that_shows_it_again(browser, count):
    sent = browser.post(PAGE, {"line": lines(count)})

    assert sent.status_code == 302
    assert len(sent["Location"]) <= keeping.LONGEST_LINK
    assert drafted(browser.get(sent["Location"])) == lines(count)


@pytest.mark.thorough(
    instead="tests/web/test_kept_drafts.py::test_a_draft_of_any_length_has_an_address_that_shows_it_again"
)
def test_the_largest_draft_has_an_address_too_and_sends_no_line_twice(browser):
    browser.post(PAGE, {"line": lines(5_000)})
    kept = KeptDraft.objects.get()

    page = browser.get(PAGE, {"draft": kept.key})

    assert len(page.context["draft"].lines) == 5_000
    assert len(kept.content) < 200_000
    assert page.content.decode().count('name="line"') == 0


def test_a_short_draft_is_stored_nowhere(browser):
    browser.post(PAGE, {"line": lines(2)}, follow=True)

    assert not KeptDraft.objects.exists()


def test_the_copied_link_names_the_draft(browser):
    page = browser.post(PAGE, {"line": lines(30)}, follow=True)

    (link,) = re.findall(r'data-copy-link="([^"]*)"', page.content.decode())
    assert drafted(browser.get(unescape(link))) == lines(30)


def test_htmx_is_told_the_address_of_a_long_draft(browser):
    part = browser.post(PAGE, {"line": lines(30)}, headers={"HX-Request": "true"})

    assert drafted(browser.get(part["HX-Push-Url"])) == lines(30)


def test_rows_picked_in_the_acl_list_have_an_address_of_their_own(browser, cluster):
    keys = list(cluster.acls.values_list("key", flat=True)[:50])

    sent = browser.post(PAGE, {"remove_key": keys})

    assert len(browser.get(sent["Location"]).context["draft"].lines) == 50


def test_an_edit_of_a_long_draft_goes_on_from_it_and_back_finds_the_step_before(browser):
    first = browser.post(PAGE, {"line": lines(40)})["Location"]
    key = parse_qs(urlsplit(first).query)["draft"][0]

    second = browser.post(PAGE, {"draft": key, "drop": "0"})["Location"]

    assert drafted(browser.get(second)) == lines(40)[1:]
    assert drafted(browser.get(first)) == lines(40)


def test_a_new_topic_is_taken_out_of_a_long_draft(browser):
    first = browser.post(PAGE, {"line": lines(40), "new_topic": ["stock.new", "stock.other"]})["Location"]
    key = parse_qs(urlsplit(first).query)["draft"][0]

    second = browser.post(PAGE, {"draft": key, "new_topic": ["", "stock.other"]}, follow=True)

    assert second.context["draft"].new_topics == ("stock.other",)


def test_what_could_not_be_read_is_in_the_link_and_reported_again(browser):
    wrong = "kafka-acls --add --allow-principal User:eli --operation Read --topic t\nkafka-acls --nonsense\n"
    page = browser.post(PAGE, {"paste": wrong, "line": lines(40)})

    again = browser.get(page.context["permalink"])

    assert again.context["draft"].faults == page.context["draft"].faults != ()
    assert wrong in text(again)
    assert drafted(again) == drafted(page)


def test_a_removal_by_a_pattern_is_fixed_when_it_is_pasted(browser, cluster):
    command = (
        "kafka-acls --remove --force --topic orders. --resource-pattern-type match\nkafka-acls --nonsense"
    )
    page = browser.post(PAGE, {"paste": command.replace("orders.", "orders.1"), "line": lines(40)})
    before = drafted(page)
    sync(cluster, client=Answers([*HELD, allow("User:late", "READ", "orders.1")]))

    again = browser.get(page.context["permalink"])

    assert drafted(again) == before
    assert not any("User:late" in line for line in drafted(again))


@pytest.mark.parametrize("who", ["cho", "ben"])
def test_the_link_works_for_anybody_who_may_see_the_cluster(browser, signed_in, request, who):
    link = browser.post(PAGE, {"line": lines(30)})["Location"]

    page = signed_in(request.getfixturevalue(who)).get(link)

    assert drafted(page) == lines(30)
    assert KeptDraft.objects.count() == 1


def test_the_link_shows_nothing_to_who_may_not_see_the_cluster(browser, signed_in, eve):
    link = browser.post(PAGE, {"line": lines(30)})["Location"]

    assert signed_in(eve).get(link).status_code == 404


def test_a_draft_of_one_cluster_is_not_found_on_another(browser, other_cluster, ada):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)
    link = browser.post(PAGE, {"line": lines(30)})["Location"]

    page = browser.get(link.replace("test-eu", "test-us"))

    assert drafted(page) == []
    assert "The draft behind this link is gone" in text(page)


def test_a_link_whose_draft_is_gone_says_so_and_loses_nothing_else(browser):
    page = browser.get(PAGE, {"draft": "0" * 32, "line": lines(1)})

    assert "The draft behind this link is gone" in text(page)
    assert drafted(page) == lines(1)


@pytest.mark.parametrize("key", ["x", "9" * 5_000, "\x00", "../../etc", "ä" * 32])
def test_a_key_that_is_none_is_a_draft_that_is_gone(browser, key):
    page = browser.get(PAGE, {"draft": key})

    assert page.status_code == 200
    assert "The draft behind this link is gone" in text(page)


def test_after_a_new_sign_in_the_draft_is_there_again(browser, client, ada):
    page = browser.post(PAGE, {"line": lines(30)}, follow=True)
    forms = [
        unescape(action) for action in re.findall(r'<form[^>]* action="([^"]*what-if[^"]*)"', text(page))
    ]
    assert len(forms) >= 3

    for form in forms:
        asked = client.post(form, {"anything": "typed"})
        back = parse_qs(urlsplit(asked["Location"]).query)["next"][0]
        assert drafted(browser.get(back, follow=True)) == lines(30), form


def test_a_long_draft_becomes_a_change_with_every_line(browser):
    link = browser.post(PAGE, {"line": lines(100)})["Location"]
    key = parse_qs(urlsplit(link).query)["draft"][0]

    answer = browser.post(f"{PAGE}change/", {"draft": key, "title": "Stock for eli"})

    assert answer.status_code == 302
    assert Change.objects.get().items.count() == 100


def test_a_draft_that_is_gone_becomes_no_change(browser):
    answer = browser.post(f"{PAGE}change/", {"draft": "0" * 32, "title": "Stock for eli"})

    assert answer.status_code == 422
    assert "The draft behind this link is gone" in text(answer)
    assert not Change.objects.exists()


def test_old_drafts_and_those_beyond_the_newest_are_removed(browser, monkeypatch):
    monkeypatch.setattr(keeping, "MOST_KEPT", 3)
    browser.post(PAGE, {"line": lines(30)})
    KeptDraft.objects.update(used_at=timezone.now() - timedelta(days=keeping.KEPT_DAYS + 1))
    old = KeptDraft.objects.get().key

    for count in range(31, 36):
        browser.post(PAGE, {"line": lines(count)})

    assert not KeptDraft.objects.filter(key=old).exists()
    assert KeptDraft.objects.count() == 3
    newest = KeptDraft.objects.order_by("-used_at").first()
    assert len(browser.get(PAGE, {"draft": newest.key}).context["draft"].lines) == 35


def test_at_the_limit_what_was_opened_last_stays_and_so_does_what_has_a_name(
    browser, signed_in, cho, monkeypatch
):
    monkeypatch.setattr(keeping, "MOST_KEPT", 3)
    links = [browser.post(PAGE, {"line": lines(count)})["Location"] for count in (30, 31, 32)]
    saved = browser.post(f"{PAGE}save/", {"line": lines(29), "name": "Stock"})["Location"]
    for age, kept in enumerate(KeptDraft.objects.order_by("-pk"), start=1):
        KeptDraft.objects.filter(pk=kept.pk).update(used_at=timezone.now() - timedelta(days=age))
    signed_in(cho).get(links[0])

    for count in (33, 34):
        browser.post(PAGE, {"line": lines(count)})

    assert drafted(browser.get(links[0])) == lines(30)
    assert drafted(browser.get(saved)) == lines(29)
    gone = browser.get(links[1])
    assert drafted(gone) == []
    assert (
        "is kept for 90 days after somebody last opened it; of each person the newest 500 are kept"
        in text(gone)
    )


def test_a_page_says_how_long_its_draft_is_kept_where_no_address_or_name_holds_it(browser):
    kept_for = "This draft is too long for an address of its own: without a name it is kept for 90 days"

    assert kept_for in text(browser.post(PAGE, {"line": lines(30)}, follow=True))
    assert kept_for not in text(browser.post(PAGE, {"line": lines(1)}, follow=True))
    saved = browser.post(f"{PAGE}save/", {"line": lines(30), "name": "Stock"}, follow=True)
    assert drafted(saved) == lines(30)
    assert kept_for not in text(saved)


def test_drafts_to_compare_that_are_gone_are_told_and_asked_for_again(browser):
    page = browser.get("/c/test-eu/compare/drafts/", {"draft": "0" * 32}, follow=True)

    assert "The drafts behind this link are gone; paste them again. A long pair is kept for 90 days" in text(
        page
    )


def test_who_looks_at_a_kept_draft_writes_nothing_and_its_owner_reads_it_once(browser, signed_in, cho):
    link = browser.post(PAGE, {"line": lines(30)})["Location"]

    for person in (browser, signed_in(cho)):
        with CaptureQueriesContext(connection) as asked:
            assert drafted(person.get(link)) == lines(30)
        of_drafts = [each["sql"] for each in asked.captured_queries if "web_keptdraft" in each["sql"]]
        assert [sql for sql in of_drafts if not sql.startswith("SELECT")] == []
        read = sum('"web_keptdraft"."content"' in sql for sql in of_drafts)
        assert read == (1 if person is browser else 2), (
            "of somebody else it is compared before it is kept anew"
        )


def test_a_draft_in_use_is_not_too_old(browser):
    link = browser.post(PAGE, {"line": lines(30)})["Location"]
    KeptDraft.objects.update(used_at=timezone.now() - timedelta(days=keeping.KEPT_DAYS - 1))

    browser.get(link)

    assert timezone.now() - KeptDraft.objects.get().used_at < timedelta(minutes=1)


def test_a_database_that_refuses_to_keep_a_draft_costs_its_link_and_not_its_answer(browser, monkeypatch):
    def refuse(*_args, **_fields):
        raise DatabaseError("database or disk is full")

    monkeypatch.setattr(KeptDraft, "save", refuse)

    page = browser.post(PAGE, {"line": lines(30)})

    assert page.status_code == 200
    assert drafted(page) == lines(30)
    assert "This draft has no link" in text(page)
    assert page.content.decode().count('name="line"') >= 30


def test_two_long_drafts_to_compare_have_an_address(browser):
    address = "/c/test-eu/compare/drafts/"
    texts = {"first": "\n".join(lines(40)), "second": "\n".join(lines(41))}

    sent = browser.post(address, texts)

    sides = browser.get(sent["Location"]).context["sides"]
    assert {side["name"]: side["text"] for side in sides} == texts


@pytest.mark.django_db(transaction=True)
def test_a_pasted_draft_survives_a_click_back_and_a_reload_in_a_browser(window, cluster, ada):
    sync(cluster, client=Answers(HELD))
    Cluster.objects.filter(pk=cluster.pk).update(allow_everyone=False)
    page = window(ada, PAGE)
    heading = page.locator("#draft-heading")
    page.get_by_text("Paste or upload ACLs").click()
    page.locator("#id_paste").fill("\n".join(lines(30)))
    page.get_by_role("button", name="Show the impact").last.click()
    expect(heading).to_contain_text("30")

    assert "?draft=" in page.url
    page.get_by_role("link", name="Principals").first.click()
    page.get_by_role("heading", name="Principals").wait_for()
    page.go_back()
    expect(heading).to_contain_text("30")
    page.reload()
    expect(heading).to_contain_text("30")
    # One step back within the page itself.
    page.get_by_role("button", name="Remove this ACL from the draft").first.click()
    expect(heading).to_contain_text("29")
    page.go_back()
    expect(heading).to_contain_text("30")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("scripts", [True, False])
def test_what_is_wrong_with_a_pasted_text_is_brought_into_view(window, cluster, ada, scripts):
    sync(cluster, client=Answers(HELD))
    page = window(ada, PAGE, size=(1280, 720), scripts=scripts)
    page.get_by_text("Paste or upload ACLs").click()
    page.locator("#id_paste").fill("User:bob,READ,orders\n" * 30)
    page.get_by_role("button", name="Show the impact").last.click()
    message = page.get_by_text("A CSV needs its header as the first line")

    expect(message).to_be_in_viewport(ratio=1)
    assert page.locator("#id_paste").input_value().count("User:bob,READ,orders") == 30
    if scripts:
        assert page.evaluate("document.activeElement.id") == "id_paste"


@pytest.mark.thorough(
    instead="tests/web/test_kept_drafts.py::test_what_is_wrong_with_a_pasted_text_is_brought_into_view"
)
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("scripts", [True, False])
def test_that_a_pasted_draft_is_too_much_is_brought_into_view_and_loses_nothing(
    window, cluster, ada, scripts, monkeypatch
):
    sync(cluster, client=Answers(HELD))
    monkeypatch.setattr(
        previews, "preview", Mock(side_effect=previews.TooMuch("Too large to work out here."))
    )
    tool = 'kafka-acls --add --allow-principal "User:*" --operation All --topic "*" --allow-host 10.0.'
    page = window(ada, PAGE, size=(1280, 720), scripts=scripts)
    page.get_by_text("Paste or upload ACLs").click()
    page.locator("#id_paste").fill("\n".join(f"{tool}{part // 250}.{part % 250}" for part in range(500)))
    page.get_by_role("button", name="Show the impact").last.click()
    message = page.get_by_text("Too large to work out here.")

    expect(message).to_be_in_viewport(ratio=1)
    assert page.locator("#draft-heading").inner_text().split() == ["Draft", "500"]


def test_a_long_draft_is_read_once_for_all_of_its_pages(browser, monkeypatch):
    address = browser.post(PAGE, {"line": lines(400)})["Location"]
    read: list[str] = []
    collect = drafts._collect

    def counting(found, faults, text, *, op):
        read.append(text)
        collect(found, faults, text, op=op)

    monkeypatch.setattr(drafts, "_collect", counting)
    forget()
    pages = [browser.get(f"{address}{shown}") for shown in ("", "&view=matrix", "&tab=commands", "&page=2")]

    assert [drafted(page) for page in pages] == [lines(400)] * 4
    assert read == lines(400)
    # Whoever edits it makes another draft.
    assert drafted(browser.get(f"{address}&drop=0")) == lines(400)[1:]
    assert read == lines(400) * 2


@pytest.mark.parametrize("seed", range(4))
def test_a_draft_from_memory_is_what_is_read_of_its_form_on_the_cluster_as_it_is(cluster, seed):
    chance = random.Random(seed)
    removals = [json.dumps({"op": "remove", **each.as_dict()}) for each in HELD]
    odd = [lines(1)[0].replace('"add"', '"remove"'), "no ACL", removals[0].replace("TOPIC", "USER")]
    forms = []
    for _ in range(6):
        form = QueryDict(mutable=True)
        form.setlist(
            "line", chance.sample([*removals, *lines(60), *odd], chance.choice((3, 70, len(HELD) + 63)))
        )
        form.setlist("new_topic", chance.sample(["orders", "stock", "no topic", ""], chance.randrange(4)))
        if chance.random() < 0.2:
            form["drop"] = "0"
        forms.append(form)
    views = []
    for bindings, topics, version in (
        (HELD, ["orders"], "4.1"),
        (HELD[:30], ["stock"], "4.1"),
        (HELD, [], "1.0"),
    ):
        there = [TopicInfo(name) for name in topics]
        sync(cluster, client=Answers(bindings, topics=there))
        Cluster.objects.filter(pk=cluster.pk).update(kafka_version=version, name=f"Test {len(topics)}")
        views.append(in_force(cluster))
    asked = [(form, view) for form in forms for view in views] * 2
    chance.shuffle(asked)
    told = [drafts.kept_draft(form, view) for form, view in asked]

    assert told == [drafts.read_draft(form, view) for form, view in asked]
    assert any(draft.faults for draft in told)
    assert any(draft.left_out_topics for draft in told)
    assert len({id(draft) for draft in told}) < len(told)
