"""What people come for, counted: how often must they press the pointer, and how many fields do they fill in?

Counted from the home page. Keys that the pages name (`/`, Enter, arrows) are free; a pasted text is a field.
That an approved change is written and undone is told in `test_browser_story`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from aclweb.accounts.models import Grant, Role
from aclweb.acl.model import PermissionType
from aclweb.acl.model.delta import Delta
from aclweb.changes import review
from aclweb.changes.models import Change
from aclweb.inventory import checks
from aclweb.inventory.current import in_force
from aclweb.inventory.findings import pages as findings
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.web.test_every_button import LINE
from tests.web.world import BINDINGS, GROUPS, TOPICS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

REDUNDANT = [
    allow(f"User:{who}", "READ", f"{who}.{number}") for who in ("ivy", "jon") for number in range(5)
] + [allow(f"User:{who}", "READ", f"{who}.", pattern="PREFIXED") for who in ("ivy", "jon")]
NEWER = allow("User:newer", "READ", "stock")
DENIES = [binding for binding in BINDINGS if binding.permission_type is PermissionType.DENY]
PREFIX = "payments."
MOST_TABS = 80


@dataclass
class Hand:
    """One person at a page. presses: of the pointer. fields: filled in, chosen from or pasted into."""

    page: Any
    presses: int = 0
    fields: int = 0

    def press(self, found: Locator) -> None:
        found.click()
        self.presses += 1

    def fill(self, found: Locator, text: str) -> None:
        found.fill(text)
        self.fields += 1

    def paste(self, found: Locator, text: str) -> None:
        """Put a text into a field as Ctrl-V does."""
        found.focus()
        found.evaluate(
            """(field, text) => {
                const data = new DataTransfer();
                data.setData("text/plain", text);
                const event = new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true});
                if (field.dispatchEvent(event)) {
                    document.execCommand("insertText", false, text);
                }
            }""",
            text,
        )
        self.fields += 1

    def choose(self, found: Locator, value: str) -> None:
        found.select_option(value)
        self.fields += 1

    def search(self, text: str, option: str) -> None:
        """Type into the search field, which `/` leads to, and take an offered name."""
        self.page.keyboard.press("/")
        self.page.keyboard.type(text)
        self.fields += 1
        self.page.get_by_role("option", name=option).first.wait_for()
        self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("Enter")

    def did(self, *, presses: int, fields: int) -> None:
        """Hold what was done against what it may take."""
        assert self.presses <= presses, self
        assert self.fields <= fields, self
        assert self.page.watch.complaints == []


@pytest.fixture
def home(window, cluster, ada) -> Callable[..., Hand]:
    """Return a function that gives somebody the home page of a cluster with ACLs, topics and groups; without it ada."""
    sync(
        cluster,
        client=FakeCluster(
            [*BINDINGS, *REDUNDANT],
            topics=[*TOPICS, *(binding.resource_name for binding in REDUNDANT[:10])],
            groups=GROUPS,
        ),
    )

    findings.findings(in_force(cluster))

    def opened(person=ada, **options: Any) -> Hand:
        return Hand(window(person, "/", **options))

    return opened


def body(page: Page) -> Locator:
    return page.locator("#main")


def test_why_bob_is_refused_from_a_log_line(home):
    hand = home()
    hand.press(hand.page.get_by_role("link", name="Paste a log line"))
    hand.paste(hand.page.locator("#id_line"), LINE)

    expect(body(hand.page)).to_contain_text("The pasted line says otherwise")
    hand.did(presses=1, fields=1)


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_why_dan_is_refused_from_nothing(home, size):
    hand = home(size=size)
    for name, text in (("principal", "dan"), ("topic", "orders.eu"), ("group", "bobs")):
        hand.fill(hand.page.locator(f"#ask-{name}"), text)
    hand.page.keyboard.press("Enter")

    expect(body(hand.page)).to_contain_text("User:dan may not consume")
    hand.did(presses=0, fields=4)


def test_which_acls_affect_a_topic_and_who_can_read_it(home):
    hand = home()
    hand.search("orders.e", "orders.eu")
    readers = hand.page.locator("#access tbody tr")
    expect(readers.filter(has_text="User:bob").locator("td").first).to_have_attribute("data-state", "allowed")
    expect(readers.filter(has_text="User:dan").locator("td").first).to_have_attribute("data-state", "refused")

    hand.press(hand.page.get_by_role("link", name="ACLs 9"))

    expect(body(hand.page)).to_contain_text("User:eve")
    hand.did(presses=1, fields=1)


def test_the_effect_of_a_new_acl_shows_while_it_is_typed(home):
    hand = home()
    hand.press(hand.page.get_by_role("link", name="What if").first)
    hand.press(hand.page.locator("label[data-permission=ALLOW]"))
    hand.fill(hand.page.get_by_label("Principal", exact=True), "User:zoe")
    hand.choose(hand.page.get_by_label("Operation", exact=True), "READ")
    hand.press(hand.page.locator("label[data-pattern=PREFIXED]"))
    hand.fill(hand.page.get_by_label("Name", exact=True), "orders.")

    expect(hand.page.locator("#matches")).to_contain_text("User:zoe gains")
    hand.did(presses=3, fields=3)


def test_the_effect_of_a_new_topic(home):
    hand = home()
    hand.press(hand.page.get_by_role("link", name="What if").first)
    hand.fill(hand.page.locator("#new-topic"), "orders.new")
    hand.page.keyboard.press("Enter")

    expect(hand.page.locator("[data-answer]")).to_contain_text("User:bob")
    hand.did(presses=1, fields=1)


def test_a_topic_and_its_group_are_asked_for_at_once(home, ada):
    hand = home()
    for name, text in (("principal", "User:zoe"), ("topic", "orders.eu"), ("group", "cats")):
        hand.fill(hand.page.locator(f"#ask-{name}"), text)
    hand.page.keyboard.press("Enter")
    hand.press(body(hand.page).get_by_role("link", name="what-if").first)
    hand.fill(hand.page.get_by_label("Title", exact=True), "Zoe reads orders")
    hand.press(hand.page.get_by_role("button", name="Request this change"))

    expect(hand.page.get_by_role("status")).to_contain_text("Waiting for review")
    hand.did(presses=2, fields=4)
    asked = Change.objects.get(author=ada)
    assert {each.resource_type.name for each in asked.delta.add} == {"TOPIC", "GROUP"}


@pytest.fixture
def waiting(home, cluster, ada) -> Change:
    change = review.draft(
        cluster=cluster,
        author=ada,
        title="Zoe reads stock",
        reason="",
        delta=Delta(add=(allow("User:zoe", "READ", "stock"),), remove=()),
    )
    return review.submit(change=change, actor=ada)


def test_a_change_is_approved(home, waiting, ben, monkeypatch):
    monkeypatch.setattr("aclweb.changes.tasks.apply_change.delay", lambda *_: None)
    hand = home(ben)
    hand.press(hand.page.get_by_role("link", name="Zoe reads stock").first)
    hand.press(hand.page.get_by_role("button", name="Approve"))

    expect(hand.page.get_by_role("status").first).to_be_visible()
    hand.did(presses=3, fields=0)
    waiting.refresh_from_db()
    assert waiting.state == Change.State.QUEUED


def test_a_change_is_rejected_with_a_reason(home, waiting, ben):
    hand = home(ben)
    hand.press(hand.page.get_by_role("link", name="Zoe reads stock").first)
    hand.fill(hand.page.locator("#id_comment"), "Not stock.")
    hand.press(hand.page.get_by_role("button", name="Reject"))

    expect(body(hand.page)).to_contain_text("Not stock.")
    hand.did(presses=3, fields=1)
    waiting.refresh_from_db()
    assert waiting.state == Change.State.REJECTED


def test_five_redundant_acls_of_ten_are_removed(home, ada):
    hand = home()
    hand.press(hand.page.get_by_role("link", name="ACLs", exact=True))
    hand.fill(hand.page.locator("#filter-q"), "finding:can-go principal:User:ivy")
    hand.page.keyboard.press("Enter")
    expect(hand.page.locator(".acl-rows tbody tr")).to_have_count(5)
    hand.press(hand.page.get_by_label("Select every ACL on this page"))
    hand.press(hand.page.get_by_role("button", name="Simulate removing 5"))
    expect(hand.page.locator("button.tile[value=loses] .tile-number")).to_have_text("0")
    hand.press(hand.page.get_by_role("button", name="Request this change"))

    expect(hand.page.get_by_role("status")).to_contain_text("Waiting for review")
    hand.did(presses=4, fields=1)
    asked = Change.objects.get(author=ada)
    assert set(asked.delta.remove) == set(REDUNDANT[:5])
    assert asked.title == "Remove 5 ACLs that change nothing"


def test_thirty_principals_get_a_prefix(home):
    hand = home()
    lines = "\n".join(
        f"kafka-acls --add --allow-principal User:svc-{number:02} --operation Read --topic {PREFIX} "
        "--resource-pattern-type prefixed"
        for number in range(30)
    )
    hand.press(hand.page.get_by_role("link", name="What if").first)
    hand.press(hand.page.get_by_text("Paste or upload ACLs"))
    hand.paste(hand.page.locator("#id_paste"), lines)
    hand.press(hand.page.get_by_role("button", name="Show the impact").last)

    expect(hand.page.locator("#draft-heading")).to_have_text("Draft 30")
    hand.did(presses=3, fields=1)


def test_two_dates_are_compared(home, cluster):
    hand = home()
    sync(cluster, client=FakeCluster([*BINDINGS, *REDUNDANT[1:], NEWER], topics=TOPICS, groups=GROUPS))
    hand.press(hand.page.get_by_role("link", name="Compare", exact=True))
    hand.fill(hand.page.get_by_label("As of").first, "1")
    hand.page.keyboard.press("Enter")

    expect(hand.page.locator("#comparison table")).to_contain_text(["User:newer"])
    hand.did(presses=2, fields=1)


def test_two_clusters_are_compared(home, other_cluster, ada):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)
    sync(other_cluster, client=FakeCluster([*BINDINGS, NEWER], topics=TOPICS, groups=GROUPS))
    hand = home()
    hand.press(hand.page.get_by_role("link", name="Compare", exact=True))
    hand.choose(hand.page.get_by_label("Cluster", exact=True), other_cluster.slug)
    hand.press(hand.page.get_by_role("button", name="Compare", exact=True))

    expect(body(hand.page)).to_contain_text("test-us now grants 1 right that test-eu now does not")
    expect(body(hand.page)).to_contain_text("Only on test-us: User:newer may Read on stock")
    hand.did(presses=2, fields=1)


def test_an_own_cluster_is_added_and_tested(home, root, monkeypatch):
    monkeypatch.setattr(checks, "ask", lambda **_: None)
    hand = home(root)
    hand.press(hand.page.get_by_role("link", name="All clusters").last)
    hand.press(hand.page.get_by_role("link", name="Add a cluster"))
    hand.fill(hand.page.get_by_label("Short name"), "own")
    hand.fill(hand.page.get_by_label("Address"), "broker-1.example:9092")
    hand.press(hand.page.get_by_role("button", name="Store and test"))

    expect(hand.page.get_by_role("status").first).to_contain_text("own is stored, and paused")
    hand.did(presses=3, fields=4)


def test_an_orphaned_principal_is_found(home):
    hand = home()
    hand.press(hand.page.locator("td[data-label=orphaned] a"))

    expect(hand.page.locator("#findings")).to_contain_text("User:gone")
    hand.did(presses=2, fields=0)


def test_all_denies_are_listed_and_exported(home):
    hand = home()
    hand.press(hand.page.get_by_role("link", name="ACLs", exact=True))
    hand.press(hand.page.locator(".facet").get_by_role("link", name=f"DENY {len(DENIES)}"))
    expect(hand.page.locator(".acl-rows tbody tr")).to_have_count(len(DENIES))
    hand.press(hand.page.get_by_text(f"Export {len(DENIES)}"))
    with hand.page.expect_download() as download:
        hand.press(hand.page.get_by_role("link", name="JSON lines"))

    assert len(download.value.path().read_text().splitlines()) == len(DENIES)
    hand.did(presses=4, fields=0)


def test_by_keys_alone_a_refusal_becomes_a_request(home, ada):
    hand = home()
    page = hand.page
    to_the_content(page)
    for name, text in (("principal", "User:zoe"), ("topic", "orders.eu"), ("group", "cats")):
        tab_to(page.locator(f"#ask-{name}"))
        page.keyboard.type(text)
    page.keyboard.press("Enter")
    page.wait_for_url("**/explain/client/**")
    to_the_content(page)
    tab_to(body(page).get_by_role("link", name="what-if").first)
    page.keyboard.press("Enter")
    page.wait_for_url("**/what-if/**")
    to_the_content(page)
    tab_to(page.get_by_label("Title", exact=True))
    page.keyboard.type("Zoe reads orders")
    page.keyboard.press("Enter")

    expect(page.get_by_role("status")).to_contain_text("Waiting for review")
    hand.did(presses=0, fields=0)
    assert Change.objects.get(author=ada).title == "Zoe reads orders"


def to_the_content(page: Page) -> None:
    """Take the first link of the page, which leads past its bar."""
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")


def tab_to(wanted: Locator) -> None:
    """Press the tabulator until this is focused."""
    wanted.wait_for()
    for _ in range(MOST_TABS):
        if wanted.evaluate("found => found === document.activeElement"):
            return
        wanted.page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} takes no focus.")
