"""Long work shows that it goes on, dims what it will replace, and takes no second press; in Chromium."""

from __future__ import annotations

import threading
from functools import partial

import pytest
from playwright.sync_api import expect

from aclweb.changes import preview as previews
from aclweb.clusters import TopicInfo
from aclweb.inventory.sync.run import sync
from aclweb.web.drafts import compare as comparing
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HELD = [allow("User:bob", "READ", f"orders.{number}") for number in range(5)]


@pytest.fixture
def visit(window, cluster, ada):
    """Return a function that shows ada a page."""
    sync(cluster, client=Answers(HELD, topics=[TopicInfo(f"orders.{number}", 1) for number in range(5)]))
    return partial(window, ada)


# Has the page tell the console whenever it says that it works.
TELLS = """() => {
  const bar = document.querySelector("#working");
  const tell = () => { if (!bar.hidden) console.log("working: " + bar.textContent.trim()); };
  new MutationObserver(tell).observe(bar, { attributes: true, childList: true, subtree: true });
}"""


class Held:
    """A function that waits, the first time, until the test lets it go on."""

    def __init__(self, function):
        self.function = function
        self.go = threading.Event()

    def __call__(self, *args, **fields):
        assert self.go.wait(timeout=300)
        return self.function(*args, **fields)


@pytest.fixture
def held_preview(monkeypatch):
    held = Held(previews.preview)
    monkeypatch.setattr(previews, "preview", held)
    yield held
    held.go.set()


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_what_if_says_what_is_being_done_and_takes_one_press(visit, held_preview, motion):
    page = visit("/c/test-eu/what-if/", motion=motion)
    page.get_by_text("Paste or upload ACLs").click()
    page.locator("#id_paste").fill("kafka-acls --add --allow-principal User:eli --operation Read --topic t")
    button = page.get_by_role("button", name="Show the impact").last
    button.click()

    working = page.locator("#working")
    working.wait_for(state="visible")
    assert working.inner_text() == "Working out who would gain and lose access…"
    assert page.locator(".working-bar").bounding_box()["width"] == 1440
    assert page.locator("#workbench").get_attribute("aria-busy") == "true"
    expect(page.locator("#workbench")).to_have_css("opacity", "0.5")  # it fades, unless motion is reduced
    assert button.is_disabled()
    page.keyboard.press("Enter")

    held_preview.go.set()
    page.get_by_role("heading", name="Access diff").wait_for()
    working.wait_for(state="hidden")
    assert len(page.watch.posts) == 1
    assert page.locator("[aria-busy]").count() == 0
    assert page.watch.complaints == []


def test_comparing_dims_the_old_text_and_says_what_is_being_done(visit, monkeypatch):
    held = Held(comparing.compare)
    monkeypatch.setattr(comparing, "compare", held)
    page = visit("/c/test-eu/compare/")
    page.get_by_role("button", name="Compare", exact=True).click()

    page.locator("#working").wait_for(state="visible")
    assert "Comparing both sides" in page.locator("#working").inner_text()
    assert page.locator("#comparison").get_attribute("aria-busy") == "true"

    held.go.set()
    page.get_by_text("Choose two sides").wait_for(state="detached")
    page.locator("#working").wait_for(state="hidden")


def test_a_whole_page_that_takes_long_says_so_and_is_asked_for_once(visit, held_preview):
    page = visit("/c/test-eu/acls/")
    page.get_by_label("Select every ACL on this page").check()
    page.evaluate(TELLS)
    with page.expect_console_message(lambda heard: heard.text.startswith("working:")) as heard:
        # Twice, as an impatient person does.
        page.evaluate("const b = document.querySelector('[data-selection] button'); b.click(); b.click();")

    assert heard.value.text == "working: Working out who would lose access…"
    held_preview.go.set()
    page.wait_for_url("**/what-if/**")
    page.get_by_role("heading", name="Access diff").wait_for()
    # What the choice would change was asked for beside it.
    asked = [address for address in page.watch.posts if not address.endswith("/acls/chosen/removed/")]
    assert len(asked) == 1


def test_quick_work_and_typing_show_nothing(visit):
    page = visit("/c/test-eu/what-if/")
    page.evaluate(TELLS)
    page.get_by_label("Principal", exact=True).press_sequentially("User:eli")
    page.get_by_text("Starts with (prefix)").click()
    page.get_by_label("Name", exact=True).press_sequentially("orders.")
    page.get_by_text("Matches 5 topics now").wait_for()

    assert page.watch.said == []


def test_an_answer_that_never_comes_leaves_the_page_usable(visit):
    page = visit("/c/test-eu/what-if/")
    page.route("**/what-if/**", lambda route: route.abort())
    button = page.get_by_role("button", name="Show the impact").last
    button.click()
    page.get_by_text("The site did not answer").wait_for()

    assert button.is_enabled()
    assert page.locator("#working").is_hidden()
    assert page.locator("[aria-busy]").count() == 0


def test_after_a_long_paste_its_answer_is_in_view_and_has_the_focus(visit):
    page = visit("/c/test-eu/what-if/")
    page.get_by_text("Paste or upload ACLs").click()
    tool = "kafka-acls --bootstrap-server 127.0.0.1:1 --add --operation Read --topic orders.1 --allow-principal User:p"
    page.locator("#id_paste").fill("\n".join(f"{tool}{number}" for number in range(60)))
    button = page.get_by_role("button", name="Show the impact").last
    button.click()
    page.locator("#draft-heading", has_text="60").wait_for()

    # Once more from below the sixty lines, where the answer is far above.
    page.get_by_text("Paste or upload ACLs").click()
    page.locator("#id_paste").fill(f"{tool}-last")
    button.click()
    page.locator("#draft-heading", has_text="61").wait_for()

    page.wait_for_function("document.activeElement.matches('[data-answer]')")
    page.wait_for_function(
        """() => {
          const top = document.querySelector(".tiles").getBoundingClientRect().top;
          return top >= 0 && top < 450;
        }"""
    )


def test_taking_a_line_out_of_a_long_draft_leaves_the_page_where_it_is(visit):
    page = visit("/c/test-eu/what-if/")
    page.get_by_text("Paste or upload ACLs").click()
    tool = "kafka-acls --bootstrap-server 127.0.0.1:1 --add --operation Read --topic orders.1 --allow-principal User:p"
    page.locator("#id_paste").fill("\n".join(f"{tool}{number}" for number in range(60)))
    page.get_by_role("button", name="Show the impact").last.click()
    page.locator("#draft-heading", has_text="60").wait_for()
    page.set_viewport_size({"width": 1440, "height": 400})
    line = page.get_by_role("button", name="Remove this ACL from the draft").last
    line.scroll_into_view_if_needed()
    before = page.evaluate("window.scrollY")

    line.click()
    page.locator("#draft-heading", has_text="59").wait_for()

    assert before > 300
    assert abs(page.evaluate("window.scrollY") - before) < 50
