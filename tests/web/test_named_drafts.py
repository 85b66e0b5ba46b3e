"""A draft under a name keeps each edit of its owner, is opened by others and edited by nobody else."""

from __future__ import annotations

import json
import re
from html import unescape
from importlib import import_module

import pytest
from django.apps import apps

from aclweb.accounts.models import Grant, Role
from aclweb.clusters import TopicInfo
from aclweb.inventory.sync.run import sync
from aclweb.web.drafts import named
from aclweb.web.models import KeptDraft, NamedDraft
from tests.builders import allow
from tests.inventory.answering_cluster import Answers
from tests.web.test_kept_drafts import HELD, PAGE, drafted, lines

SAVE, LIST = f"{PAGE}save/", "/c/test-eu/drafts/"


@pytest.fixture
def site(cluster):
    sync(cluster, client=Answers(HELD))


@pytest.fixture
def browser(site, ada, signed_in):
    return signed_in(ada)


def text(page) -> str:
    return unescape(page.content.decode())


def saved(browser, count=3, name="for billing"):
    answer = browser.post(SAVE, {"line": lines(count), "name": name})
    assert answer.status_code == 302, text(answer)
    return NamedDraft.objects.get(name=name), answer["Location"]


def hidden(page) -> dict[str, list[str]]:
    """What the form of the draft sends again."""
    form = page.content.decode().split('class="workbench-draft')[1].split("</form>")[0]
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form):
        found.setdefault(name, []).append(unescape(value))
    found.pop("csrfmiddlewaretoken", None)
    return found


@pytest.mark.parametrize("count", [1, 30, 400])
def test_a_saved_draft_is_at_one_address_however_long_it_is(browser, count):
    draft, address = saved(browser, count)

    page = browser.get(address)

    assert address == f"{PAGE}?saved={draft.key}"
    assert drafted(page) == lines(count)
    assert page.context["permalink"] == address
    assert "<b>for billing</b>, saved" in text(page)


def test_each_edit_of_its_owner_is_kept_in_it_with_scripts_and_without(browser):
    draft, address = saved(browser)

    sent = browser.post(PAGE, hidden(browser.get(address)) | {"drop": "1"})
    assert sent["Location"] == address
    assert drafted(browser.get(address)) == [lines(3)[0], lines(3)[2]]
    more = hidden(browser.get(address)) | {"line": lines(5)}
    swapped = browser.post(PAGE, more, headers={"HX-Request": "true"})

    assert swapped["HX-Push-Url"] == address
    draft.refresh_from_db()
    assert (draft.version, draft.lines) == (3, 5)
    assert drafted(browser.get(address)) == lines(5)


def test_looking_and_turning_the_answer_writes_nothing(browser):
    draft, address = saved(browser)

    browser.get(address)
    turned = browser.post(PAGE, hidden(browser.get(address)) | {"show": "gains", "page": "1"})

    assert turned["Location"] == f"{address}&show=gains&page=1"
    before = draft.updated_at
    draft.refresh_from_db()
    assert (draft.version, draft.updated_at) == (1, before)


def test_what_was_edited_elsewhere_meanwhile_is_not_written_over(browser):
    draft, address = saved(browser)
    here = hidden(browser.get(address))
    browser.post(PAGE, hidden(browser.get(address)) | {"drop": "0"})

    late = browser.post(PAGE, here | {"drop": "2"}, follow=True)

    assert "for billing was edited elsewhere since" in text(late)
    assert drafted(late) == lines(3)[:2], "what was made here is on the page"
    assert drafted(browser.get(address)) == lines(3)[1:]
    again = browser.post(PAGE, hidden(late) | {"drop": "0"}, follow=True)
    assert drafted(again) == lines(3)[1:2]
    draft.refresh_from_db()
    assert draft.version == 2
    rescued = browser.post(SAVE, hidden(late) | {"name": "mine"}, follow=True)
    assert drafted(rescued) == lines(3)[:2]


def test_another_person_opens_it_and_edits_a_copy(browser, cho, signed_in):
    draft, address = saved(browser)
    other = signed_in(cho)

    page = other.get(address)
    edited = other.post(PAGE, hidden(page) | {"drop": "0"}, follow=True)
    forged = other.post(PAGE, {"saved": draft.key, "version": "1", "line": lines(1)}, follow=True)

    assert "A draft of ada: for billing." in text(page)
    assert drafted(page) == lines(3)
    assert drafted(edited) == lines(3)[1:]
    assert drafted(forged) == lines(1)
    draft.refresh_from_db()
    assert draft.version == 1
    assert drafted(browser.get(address)) == lines(3)
    copied = other.post(SAVE, hidden(page) | {"name": "for billing"}, follow=True)
    assert drafted(copied) == lines(3)
    assert NamedDraft.objects.count() == 2


def test_only_its_owner_renames_and_removes_it(browser, cho, signed_in):
    draft, address = saved(browser)
    other = signed_in(cho)

    for act in ("rename", "remove"):
        assert other.post(f"{LIST}{draft.key}/{act}/", {"name": "x"}).status_code == 404
    assert "for billing" not in text(other.get(LIST))
    assert "for billing" in text(browser.get(LIST))
    assert "is removed" in text(browser.post(f"{LIST}{draft.key}/remove/", follow=True))
    gone = browser.get(address)
    assert "The draft behind this link is gone" in text(gone)
    assert drafted(gone) == []


def test_a_form_of_a_removed_draft_loses_nothing(browser):
    draft, address = saved(browser)
    form = hidden(browser.get(address))
    named.remove(draft)

    page = browser.post(PAGE, form | {"drop": "0"}, follow=True)

    assert drafted(page) == lines(3)[1:]
    assert "its owner has removed it" in text(page)


@pytest.mark.parametrize("edit", [{"drop": "1"}, {"effect": "1"}])
def test_a_draft_whose_kept_copy_is_pruned_loses_no_line(browser, edit):
    draft, address = saved(browser, 59)
    form = hidden(browser.get(address))
    assert "draft" in form
    KeptDraft.objects.all().delete()

    page = browser.post(PAGE, form | edit, follow=True)

    left = [line for number, line in enumerate(lines(59)) if str(number) != edit.get("drop")]
    assert drafted(page) == drafted(browser.get(address)) == left
    draft.refresh_from_db()
    assert draft.lines == len(left)


def test_a_pruned_copy_of_what_was_edited_elsewhere_writes_nothing(browser):
    _, address = saved(browser, 59)
    form = hidden(browser.get(address))
    browser.post(PAGE, form | {"drop": "0"})
    KeptDraft.objects.all().delete()

    late = browser.post(PAGE, form | {"effect": "1"}, follow=True)

    assert "The draft behind this link is gone" in text(late)
    assert drafted(browser.get(address)) == lines(59)[1:]


def left_out(page) -> list[str]:
    return [each.line.as_text() for each in page.context["cards"].paginator.object_list if each.is_left_out]


def removals(*bindings) -> list[str]:
    return [json.dumps({"op": "remove", **each.as_dict()}) for each in bindings]


@pytest.mark.parametrize("count", [1, 40])
def test_a_line_that_is_left_out_for_now_stays_written_in_its_draft(browser, cluster, count):
    gone, stays = removals(*HELD[:2])
    browser.post(SAVE, {"line": [gone, stays, *lines(count)], "name": "tidy up"})
    address = f"{PAGE}?saved={NamedDraft.objects.get().key}"
    sync(cluster, client=Answers(HELD[1:]))

    page = browser.get(address)
    assert "The cluster has no such ACL" in text(page)
    assert left_out(page) == [gone]
    assert page.context["permalink"] == address
    browser.post(PAGE, hidden(page) | {"effect": "1"})
    assert NamedDraft.objects.get().version == 1, "nothing was edited"
    edited = browser.post(PAGE, hidden(page) | {"drop": "1"}, follow=True)
    assert drafted(edited) == drafted(browser.get(address)) == lines(count)
    assert left_out(edited) == [gone]

    sync(cluster, client=Answers(HELD))
    assert drafted(browser.get(address)) == [gone, *lines(count)]


def test_a_topic_that_is_there_for_now_stays_written_in_its_draft(browser, cluster):
    browser.post(SAVE, {"line": lines(1), "new_topic": ["stock.new", "stock.two"], "name": "topics"})
    address = f"{PAGE}?saved={NamedDraft.objects.get().key}"
    sync(cluster, client=Answers(HELD, topics=[TopicInfo("stock.new", 1)]))

    page = browser.get(address)
    assert page.context["draft"].new_topics == ("stock.two",)
    assert "Topic 'stock.new' exists already" in text(page)
    inputs = re.findall(r'name="new_topic" value="([^"]+)"', page.content.decode())
    browser.post(PAGE, hidden(page) | {"new_topic": [*inputs, ""], "line": lines(2)})

    assert drafted(browser.get(address)) == lines(2)
    sync(cluster, client=Answers(HELD, topics=[TopicInfo("other", 1)]))
    assert set(browser.get(address).context["draft"].new_topics) == {"stock.new", "stock.two"}


def test_what_is_left_out_is_taken_out_at_a_press_and_is_in_no_request(browser, cluster):
    gone, gone_too, stays = removals(*HELD[:3])
    browser.post(SAVE, {"line": [gone, stays, gone_too], "name": "tidy up"})
    address = f"{PAGE}?saved={NamedDraft.objects.get().key}"
    sync(cluster, client=Answers(HELD[2:]))
    page = browser.get(address)

    asked = browser.post(f"{PAGE}change/", hidden(page) | {"title": "Tidy", "reason": "up"}, follow=True)
    cleared = browser.post(PAGE, hidden(page) | {"drop": "left-out"}, follow=True)

    assert asked.context["change"].delta.remove == (HELD[2],)
    assert drafted(cleared) == [stays]
    assert left_out(cleared) == []
    assert "no such ACL" not in text(cleared)
    sync(cluster, client=Answers(HELD))
    assert drafted(browser.get(address)) == [stays]


def test_to_add_what_is_left_out_as_removed_takes_its_place(browser, cluster):
    (gone,) = removals(HELD[0])
    browser.post(SAVE, {"line": [gone, *lines(1)], "name": "tidy up"})
    address = f"{PAGE}?saved={NamedDraft.objects.get().key}"
    sync(cluster, client=Answers(HELD[1:]))
    added = json.dumps({"op": "add", **HELD[0].as_dict()})

    page = browser.post(PAGE, hidden(browser.get(address)) | {"paste": added}, follow=True)

    assert drafted(page) == [*lines(1), added]
    assert left_out(page) == []
    sync(cluster, client=Answers(HELD))
    assert drafted(browser.get(address)) == [*lines(1), added]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("  ", "needs a name"),
        ("x" * 101, "has 101 characters"),
        ("a\u202eb", "holds characters that one cannot see"),
        ("for billing", "have a draft 'for billing' on test-eu already"),
    ],
)
def test_a_name_that_will_not_do_is_said_and_the_draft_stays(browser, name, sentence):
    saved(browser)

    page = browser.post(SAVE, {"line": lines(4), "name": name, "title": "typed"})

    assert page.status_code == 422
    assert sentence in text(page)
    assert drafted(page) == lines(4)
    assert NamedDraft.objects.count() == 1


def test_there_is_a_most_of_them_and_of_what_one_holds(browser, monkeypatch):
    saved(browser)
    monkeypatch.setattr(named, "MOST_NAMED", 1)
    assert "which is the most" in text(browser.post(SAVE, {"line": lines(1), "name": "two"}))
    monkeypatch.setattr(named, "MOST_NAMED", 9)
    monkeypatch.setattr(named, "LARGEST", 1_000)

    assert "at most 1,000 are kept" in text(browser.post(SAVE, {"line": lines(9), "name": "two"}))
    draft, address = NamedDraft.objects.get(), f"{PAGE}?saved={NamedDraft.objects.get().key}"
    page = browser.post(PAGE, hidden(browser.get(address)) | {"line": lines(9)}, follow=True)
    assert "at most 1,000 are kept" in text(page)
    assert ", saved" not in text(page)
    assert drafted(page) == lines(9)
    draft.refresh_from_db()
    assert draft.version == 1
    form = hidden(page)
    form.pop("draft")
    browser.post(PAGE, form | {"line": lines(2)})
    draft.refresh_from_db()
    assert (draft.version, draft.lines) == (2, 2), "a smaller edit is kept again"


def test_a_draft_of_another_cluster_is_not_opened_here(browser, other_cluster, ada):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.REQUESTER)
    draft, _ = saved(browser)

    assert "The draft behind this link is gone" in text(browser.get(f"/c/test-us/what-if/?saved={draft.key}"))


def test_the_number_of_ones_drafts_is_in_the_bar(browser, cho, signed_in):
    assert "drafts of yours" not in text(browser.get("/c/test-eu/acls/"))
    saved(browser)
    saved(browser, name="two")

    assert '<span class="count">2<span class="visually-hidden"> drafts of yours' in text(
        browser.get("/c/test-eu/acls/")
    )
    assert "drafts of yours" not in text(signed_in(cho).get("/c/test-eu/acls/"))


def test_the_commands_and_the_request_are_of_the_saved_draft(browser):
    draft, address = saved(browser, 2)

    commands = browser.get(f"{PAGE}commands/?saved={draft.key}")
    asked = browser.post(
        f"{PAGE}change/",
        hidden(browser.get(address)) | {"title": "Let eli read", "reason": "stock"},
        follow=True,
    )

    assert commands.getvalue().decode().count("stock.") == 2
    assert len(asked.context["change"].delta.add) == 2
    assert allow("User:eli", "READ", "stock.1") in asked.context["change"].delta.add


def test_the_list_reads_no_content_however_many_there_are(
    browser, ada, cluster, django_assert_max_num_queries
):
    for number in range(30):
        saved(browser, 1, name=f"draft {number}")
    browser.get(LIST)

    with django_assert_max_num_queries(8) as queries:
        assert "draft 29" in text(browser.get(LIST))
    assert not any('nameddraft"."content"' in query["sql"] for query in queries.captured_queries)


def test_the_list_says_how_many_new_topics_a_draft_has_beside_its_acls(browser):
    browser.post(SAVE, {"new_topic": ["stock.new", "stock.two"], "name": "topics"})
    address = f"{PAGE}?saved={NamedDraft.objects.get().key}"

    def counts():
        return re.findall(r'data-label="(ACLs|new topics)">(\d+)<', browser.get(LIST).content.decode())

    assert counts() == [("ACLs", "0"), ("new topics", "2")]
    browser.post(PAGE, hidden(browser.get(address)) | {"new_topic": ["stock.new"], "line": lines(3)})
    assert counts() == [("ACLs", "3"), ("new topics", "1")]


def test_the_new_topics_of_drafts_that_were_saved_before_are_counted(browser):
    browser.post(SAVE, {"new_topic": ["stock.new", "stock.two"], "name": "topics"})
    saved(browser)
    NamedDraft.objects.update(new_topics=0)
    count = import_module("aclweb.web.migrations.0003_new_topics_of_drafts").count

    count(apps, None)

    assert dict(NamedDraft.objects.values_list("name", "new_topics")) == {"topics": 2, "for billing": 0}
