"""The pages in a real browser: quiet, readable in both themes, whole on a phone, and usable by keyboard."""

from __future__ import annotations

import re
from functools import partial
from urllib.parse import urlencode

import pytest

from aclweb.acl.model.delta import Delta
from aclweb.acl.notation.files import write_delta
from aclweb.changes import review
from aclweb.clusters import TopicInfo
from aclweb.inventory.admin import deleting, register, removing
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from aclweb.web.shell import frame
from aclweb.web.shell.badges import MOST, Badges
from tests.browsing import axe_violations
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers
from tests.turns import TURN, due

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LONG = (
    "User:CN=a-service-with-a-long-name,OU=a department,OU=another department,O=A Company of Some Size,C=SE"
)
RULES = [
    allow(LONG, "READ", "orders.eu"),
    allow("User:cat", "WRITE", "orders.", pattern="PREFIXED", host="10.0.0.7"),
    deny("User:dan", "WRITE", "orders.", pattern="PREFIXED"),
    allow("User:dan", "ALL", "*"),
    *(allow(f"User:agent-{number}", "DESCRIBE", "*") for number in range(6)),
    allow("User:\u202egpj\n", "READ", "billing", resource_type="GROUP"),
    allow("User:*", "DESCRIBE", "orders.eu"),
    *(allow("User:eva", "READ", f"stock.{number}") for number in range(9)),
]
QUESTION = "principal=User:dan&operation=WRITE&type=TOPIC&name=orders.eu&host="
COMMANDS = (
    "kafka-acls --bootstrap-server b:1 --add --allow-principal User:eli --producer --topic stock\n"
    "kafka-acls --bootstrap-server b:1 --remove --topic orders.eu\n"
    "kafka-acls --bootstrap-server b:1 --add --allow-principal eli --topic stock\n"
)
MAPPING = {"kind": "ssl", "rules": "RULE:^CN=([^,]*),.*$/$1/L", "names": f"{LONG[5:]}\nO=Nobody"}
PAGES = {
    "home": "/",
    "home with a verb of many names": "/?action=produce-transactional",
    "home, a raw operation": "/?raw=1",
    "names to choose from": "/c/test-eu/choose/?field=principal&back=home&principal=",
    "a refusal": f"/?{QUESTION}",
    "a permission": f"/?{QUESTION}10.0.0.9".replace("WRITE", "READ"),
    "explain": f"/c/test-eu/explain/?{QUESTION}",
    "a question about any topic": f"/c/test-eu/explain/?{QUESTION}".replace("=TOPIC", "=ANY_TOPIC"),
    "explain after an exception": "/c/test-eu/explain/?error=TOPIC_AUTHORIZATION_FAILED&type=TOPIC&name=stock&more=2",
    "explain beside a log line": f"/c/test-eu/explain/?paste=1&{QUESTION}10.0.0.9&logged=ALLOWED&unsure=1",
    "a client action that fails": "/c/test-eu/explain/client/?principal=User:dan&action=produce&topic=orders.eu&host=",
    "a client action to choose": "/c/test-eu/explain/client/?choose=1&action=streams",
    "a what-if": f"/c/test-eu/what-if/?{urlencode({'paste': COMMANDS})}",
    "a what-if as a matrix": f"/c/test-eu/what-if/?{urlencode({'paste': COMMANDS, 'view': 'matrix'})}",
    "sides to compare": "/c/test-eu/compare/",
    "two clusters compared": "/c/test-eu/compare/?other=test-us",
    "clusters": "/clusters/",
    "a cluster": "/c/test-eu/",
    "its connection": "/c/test-eu/connection/",
    "its removal": "/c/test-eu/remove/",
    "removed clusters": "/clusters/removed/",
    "a removed cluster": "/clusters/removed/{gone}/",
    "a change of a removed cluster": "/changes/CR-{kept}/",
    "log sources": "/c/test-eu/log-sources/",
    "people": "/people/",
    "an account to add": "/people/add/",
    "an account": "/people/{dot}/",
    "roles on a cluster": "/c/test-eu/roles/",
    "API tokens": "/tokens/",
    "API tokens of everybody": "/people/tokens/",
    "an unreachable cluster": "/c/test-us/",
    "topics": "/c/test-eu/topics/",
    "a topic": "/c/test-eu/topics/orders.eu",
    "a topic as a graph": "/c/test-eu/graph/?type=TOPIC&name=orders.eu",
    "the cluster as a resource": "/c/test-eu/resource/?type=CLUSTER&name=kafka-cluster",
    "principals": "/c/test-eu/principals/",
    "a principal": "/c/test-eu/principal/?name=User:dan",
    "the menu of a principal": "/c/test-eu/principals/one/?name=User:dan",
    "hosts of a principal": "/c/test-eu/principal/?name=User:dan&tab=seen",
    "denials of a principal": "/c/test-eu/principal/?name=User:bob&tab=denials",
    "names of a principal": "/c/test-eu/principal/?name=User:bob&tab=names",
    "two principals": "/c/test-eu/principal/compare/?name=User:dan&with=User:cat",
    "a principal to clone": "/c/test-eu/principal/clone/?name=User:dan",
    "names mapped": f"/c/test-eu/mapping/?{urlencode(MAPPING)}",
    "ACLs": "/c/test-eu/acls/?resource_type=TOPIC&name=orders.eu&match=affects",
    "no ACLs": "/c/test-eu/acls/?principal=User:nobody",
    "ACLs by role": "/c/test-eu/acls/?by=role",
    "views of the ACLs": "/c/test-eu/acls/views/",
    "findings": "/c/test-eu/findings/",
    "dismissed findings": "/c/test-eu/findings/?show=dismissed",
    "no findings of a kind": "/c/test-eu/findings/?rule=nothing",
    "what can go": "/c/test-eu/findings/?show=can-go",
    "what can be combined": "/c/test-eu/findings/?show=fewer",
    "two drafts to compare": "/c/test-eu/compare/drafts/",
    "two drafts compared": f"/c/test-eu/compare/drafts/?{urlencode({'first': COMMANDS, 'second': COMMANDS[90:]})}",
    "search": "/c/test-eu/search/?q=or",
    "names of principals": "/c/test-eu/principal-names/",
    "two clusters compared by principal": "/c/test-eu/compare/?other=test-us&view=small",
    "a what-if with closed folds": f"/c/test-eu/what-if/?{urlencode({'paste': COMMANDS, 'open': '_'})}",
    "a move to another way to read it": "/c/test-eu/move/",
}


@pytest.fixture
def visit(window, cluster, other_cluster, dot):
    """Return a function that opens a page in a window of its own, signed in as an administrator of everything."""
    dot.is_superuser = True
    dot.save()
    topics = [TopicInfo("orders.eu", 12), TopicInfo("stock", 3)]
    sync(cluster, client=Answers(RULES, topics=topics, groups=["billing"]))
    Cluster.objects.filter(pk=other_cluster.pk).update(
        state="unreachable", state_sentence="Nobody answers at 127.0.0.1:1.", allow_everyone=True
    )
    return partial(window, dot)


@pytest.fixture
def kept(dot, monkeypatch):
    """A change of a cluster that somebody has removed."""
    monkeypatch.setattr(deleting.delete_removed, "delay", lambda: None)
    gone = register.add(actor="dot", slug="gone", kind="admin", address="127.0.0.1:1")
    change = review.draft(cluster=gone, author=dot, title="Let dan read", delta=Delta(add=(RULES[0],)))
    review.comment(change=change, actor=dot, text="Is it needed?")
    removing.remove(actor="dot", cluster=gone, confirmed="gone")
    return change


# Tablets and laptops: a table may be moved sideways there, but for the buttons of its rows nobody would look for that.
BETWEEN = (768, 901, 1024, 1210, 1366)
OUT_OF_SIGHT = """() => [...document.querySelectorAll("main .scroll")].flatMap(scroll => {
  const edge = scroll.getBoundingClientRect().right;
  const buttons = [...scroll.querySelectorAll("td button, td .btn")].filter(each => each.checkVisibility());
  return buttons.filter(each => each.getBoundingClientRect().right > edge + 1).map(each => each.outerHTML);
})"""

# Two windows that differ in everything that changes how a page looks, and the two others.
PAIRS = [("light", 1440), ("dark", 390)], [("dark", 1440), ("light", 390)]


@pytest.fixture
def faults(visit, dot, kept):
    """Return a function that loads a page once, shows it in windows, and returns what is wrong.

    windows: the theme and the width of each. read: those in which axe reads the page.
    """
    # Without motion: a colour on its way from one theme to the other is none that anybody reads.
    page = visit(motion="reduce")

    def found(name, windows, read):
        problems = []
        page.watch.forget()
        page.set_viewport_size({"width": 1440, "height": 900})
        page.goto(page.site + PAGES[name].format(dot=dot.pk, kept=kept.pk, gone=kept.cluster_id))
        for theme, width in windows:
            page.emulate_media(color_scheme=theme)
            page.set_viewport_size({"width": width, "height": 900})
            shown = f"{name}, {theme} at {width} px"
            if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
                problems.append(f"{shown}: scrolls sideways")
            if (theme, width) in read:
                problems += [f"{shown}: {violation}" for violation in axe_violations(page)]
        for width in BETWEEN:
            page.set_viewport_size({"width": width, "height": 768})
            problems += [
                f"{name} at {width} px: out of sight: {each}" for each in page.evaluate(OUT_OF_SIGHT)
            ]
        problems += [f"{name}: {complaint}" for complaint in page.watch.complaints]
        return problems + [f"{name}: asked {url}" for url in page.watch.elsewhere]

    return found


def test_a_quarter_of_the_pages_are_quiet_accessible_and_fit_their_windows(faults):
    """Each page in two windows, its neighbour in the two others; axe reads it in one of them.

    After four days every page has been looked at, after sixteen in all four windows with axe. Pages with the same
    parts are neighbours above, so what they share is read in both themes every day.
    """
    problems = []
    for number, name in enumerate(due(list(PAGES), 4)):
        windows = PAIRS[(number + TURN // 4) % 2]
        problems += faults(name, windows, [windows[(number // 2 + TURN // 8) % 2]])

    assert problems == [], f"ACLWEB_TEST_TURN={TURN}"


@pytest.mark.thorough(
    instead="tests/web/test_browser_pages.py::test_a_quarter_of_the_pages_are_quiet_accessible_and_fit_their_windows"
)
def test_every_page_is_quiet_accessible_and_fits_each_window(faults):
    problems = []
    for name in PAGES:
        problems += faults(name, [*PAIRS[0], *PAIRS[1]], [*PAIRS[0], *PAIRS[1]])

    assert problems == []


def test_the_bar_fits_windows_of_every_width(visit, monkeypatch):
    monkeypatch.setattr(frame, "badges_of", lambda row: Badges(changes=MOST + 1, denials=MOST + 1))
    page = visit("/c/test-eu/compare/")
    too_wide = []
    for width in (360, 700, 1000, 1001, 1080, 1081, 1100, 1240, 1241, 1300, 1301, 1439, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            too_wide.append(width)

    assert too_wide == []


def test_the_sign_in_page_is_quiet_and_accessible(window):
    page = window(None, "/sign-in/")

    assert page.watch.complaints == []
    assert axe_violations(page) == []


def test_a_question_is_answered_in_place_and_the_address_follows(visit):
    page = visit("/?cluster=test-eu&raw=1")

    page.get_by_label("Who: a principal such as User:bob").fill("User:dan")
    page.get_by_label("Which resource: its name").fill("orders.eu")
    page.get_by_label("May do what: an operation").select_option("WRITE")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("heading", name="No, refused").wait_for()

    assert "principal=User%3Adan" in page.url
    assert page.watch.complaints == []


def test_a_verb_is_chosen_and_asked_by_keys_without_scripts(visit):
    page = visit("/?cluster=test-eu", scripts=False)
    page.get_by_label("Who: a principal such as User:bob").fill("User:dan")
    page.get_by_role("button", name="Produce", exact=True).click()
    page.get_by_label("topic", exact=True).fill("orders")
    page.get_by_role("button", name="List the names for this field: topic").click()
    page.get_by_role("link", name="orders.eu").click()
    page.get_by_label("topic", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="No, it would fail").wait_for()

    assert page.get_by_label("Who", exact=True).input_value() == "User:dan"
    assert "action=produce&" in page.url


def test_the_reason_behind_a_cell_opens_and_closes_by_keyboard(visit):
    page = visit("/c/test-eu/topics/orders.eu?page=2")

    cell = page.get_by_role("link", name=re.compile("refused by a DENY.*Write for User:dan: why"))
    cell.focus()
    page.keyboard.press("Enter")
    reason = page.locator("#reason")
    reason.get_by_text("Write is refused, from every host").wait_for()
    page.keyboard.press("Escape")
    reason.wait_for(state="hidden")

    assert page.evaluate("document.activeElement.classList.contains('cell')")
    assert page.watch.complaints == []


def test_without_scripts_the_same_questions_are_answered(visit):
    page = visit("/?cluster=test-eu&raw=1", scripts=False)
    page.get_by_label("Who: a principal such as User:bob").fill("User:dan")
    page.get_by_label("Which resource: its name").fill("orders.eu")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("heading", name="Yes, allowed").wait_for()

    page.goto(page.url.split("/?")[0] + "/c/test-eu/topics/orders.eu?page=2")
    page.get_by_role("link", name=re.compile("refused by a DENY.*Write for User:dan: why")).click()
    page.get_by_role("heading", name="No, refused").wait_for()


def test_selected_acls_show_a_bar_that_leads_to_a_what_if(visit):
    page = visit("/c/test-eu/acls/?principal=User:dan")

    page.get_by_label("Select every ACL on this page").check()
    bar = page.get_by_text("2 ACLs selected")
    bar.wait_for()
    page.get_by_role("button", name="Simulate removing 2").click()
    page.wait_for_url("**/what-if/**")

    assert page.locator(".draft-lines li").count() == 2


def test_an_acl_is_checked_while_it_is_typed(visit):
    page = visit("/c/test-eu/what-if/")

    page.get_by_label("Principal", exact=True).press_sequentially("eli")
    page.get_by_text("'eli' has no type, so it is read as 'User:eli'.").wait_for()
    page.get_by_label("Principal", exact=True).fill("User:eli")
    page.get_by_text("Allow", exact=True).click()
    page.get_by_label("Operation", exact=True).select_option("READ")
    page.get_by_text("Starts with (prefix)").click()
    page.get_by_label("Name", exact=True).press_sequentially("orders.")
    page.get_by_text("Matches 1 topic now").wait_for()
    page.get_by_text("test-eu would take this ACL.").wait_for()

    assert page.watch.complaints == []


# 130 names of one row, so two pages of names.
MANY = Delta(add=tuple(allow("User:fay", "READ", f"a{number}") for number in range(130)), remove=())


@pytest.mark.parametrize(
    "name",
    [
        "what-if",
        # The same part, on three more pages.
        *(
            pytest.param(
                name,
                marks=pytest.mark.thorough(
                    instead="tests/web/test_browser_pages.py::test_a_row_of_what_differs_opens_in_place_pages_its_names_and_closes"
                ),
            )
            for name in ("change", "dates", "drafts")
        ),
    ],
)
def test_a_row_of_what_differs_opens_in_place_pages_its_names_and_closes(visit, cluster, ada, name):
    page = visit()
    if name == "what-if":
        path = f"/c/test-eu/what-if/?{urlencode({'paste': write_delta(MANY)})}"
    elif name == "drafts":
        none = Delta(add=tuple(RULES[-1:]), remove=())
        texts = {"first": write_delta(none), "second": write_delta(MANY)}
        path = f"/c/test-eu/compare/drafts/?{urlencode(texts)}"
    elif name == "dates":
        sync(cluster, client=Answers([*RULES, *MANY.add], topics=[TopicInfo("stock", 3)]))
        path = "/c/test-eu/compare/?at=1&other=test-eu"
    else:
        change = review.draft(cluster=cluster, author=ada, title="Fay", reason="Asked for.", delta=MANY)
        path = f"/changes/{review.submit(change=change, actor=ada).key}/"
    page.goto(page.site + path)

    page.get_by_role("button", name="Show all of row 1", exact=True).click()
    page.get_by_role("button", name="Close row 1", exact=True).wait_for()
    assert page.evaluate("document.activeElement.id") == "row-0"
    assert page.locator(".opened-pages").inner_text().startswith("Page 1 of 4")
    page.get_by_role("button", name="Next names").click()
    page.get_by_role("button", name="Previous names").wait_for()
    assert page.locator(".opened-pages").inner_text().startswith("Page 2 of 4")
    page.get_by_role("button", name="Close row 1", exact=True).click()
    page.get_by_role("button", name="Show all of row 1", exact=True).wait_for()

    assert page.locator(".opened").count() == 0
    assert page.watch.complaints == []


def test_a_client_action_asks_for_the_names_that_it_uses_and_keeps_what_was_typed(visit):
    page = visit("/c/test-eu/explain/client/")

    page.get_by_label("Who", exact=True).fill("User:dan")
    page.get_by_label("Topic", exact=True).fill("orders.eu")
    page.get_by_label("Does what", exact=True).select_option("consume")
    page.get_by_label("Group", exact=True).fill("billing")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("heading", name="No, it would fail").wait_for()

    assert page.get_by_label("Topic", exact=True).input_value() == "orders.eu"
    assert "action=consume" in page.url
    assert page.get_by_text("the first that fails", exact=True).is_visible()
    assert page.watch.complaints == []


def test_the_past_is_chosen_and_left_again_without_scripts(visit):
    page = visit("/c/test-eu/acls/?principal=User:dan", scripts=False)
    sync(Cluster.objects.get(slug="test-eu"), client=Answers(RULES[:2]))

    page.get_by_text("As of now").click()
    page.get_by_label("A revision, a day, or a time in UTC").fill("1")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_text("This page shows the past").wait_for()
    assert "principal=User%3Adan" in page.url
    page.get_by_role("link", name="Back to now").click()

    page.get_by_text("No ACL matches these filters").wait_for()


def test_without_scripts_a_log_line_is_pasted_and_answered(visit):
    page = visit("/c/test-eu/explain/", scripts=False)

    page.get_by_text("Paste a log line or an exception instead").click()
    page.locator("#id_line").fill(
        "Principal = User:dan is Denied operation = WRITE from host = 10.0.0.9 on resource = Topic:LITERAL:orders.eu "
        "for request = Produce with resourceRefCount = 1 based on rule DefaultDeny"
    )
    page.get_by_role("button", name="Fill in the request").click()
    page.get_by_role("heading", name="No, refused").wait_for()

    assert page.get_by_text("The pasted line agrees").is_visible()


def test_the_theme_that_was_chosen_stays(visit):
    page = visit("/clusters/")

    page.get_by_role("button", name="Switch between light and dark").click()
    page.reload()

    assert page.locator("html").get_attribute("data-theme") == "dark"


def test_keys_explain_a_row_and_open_what_it_is_about(visit):
    page = visit("/c/test-eu/acls/?principal=User:dan")
    listed = page.url

    page.locator("h1").click()
    page.keyboard.press("j")
    page.keyboard.press("e")
    page.locator("#reason").get_by_text("when aclweb first read this cluster").wait_for()
    assert page.url == listed
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/topics/|/principal/"))

    assert page.watch.complaints == []


def test_keys_search_and_go(visit):
    page = visit("/clusters/")

    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url("**/topics/")


def test_the_longest_name_of_a_cluster_fits_a_phone_and_the_bar_of_a_laptop(visit, other_cluster):
    name = f"{'Production Kafka in the United States, east, ' * 2}{'x' * 10}"
    Cluster.objects.filter(pk=other_cluster.pk).update(name=name)
    sync(other_cluster, client=Answers(RULES[1:4]))
    page = visit("/c/test-us/compare/?other=test-eu&view=matrix")

    assert page.locator("#lines .segment").inner_text().count(name) == 1
    wide = []
    for width in (390, 1081, 1101, 1366):
        page.set_viewport_size({"width": width, "height": 844})
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(width)
    assert wide == []
