"""Does the list of principals find the orphaned one, say what each filter means, and keep to its budget?"""

import csv
import io
import json
import re
from html import unescape

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aclweb.clusters import Known
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from aclweb.web.browse.principal_list import STEPS, Share
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import given, read_cluster, two_weeks_will_do  # noqa: F401 fixtures
from tests.insights.results import file
from tests.insights.test_principals import REQUESTS

URL = "/c/test-eu/principals/"
LOG_FILTERS = ("orphaned", "never-seen", "denied")  # each is also told in the title of its filter


@pytest.fixture
def browser(signed_in, cho):
    return signed_in(cho)


@pytest.fixture
def logged(given):  # noqa: F811
    return given(requests=REQUESTS)


def text_of(answer):
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def names_in(page):
    return [
        part.split("</a>")[0].rsplit(">", 1)[-1] for part in page.split('<td data-full><a class="name"')[1:]
    ]


def test_the_orphaned_principal_is_two_clicks_from_home(logged, browser):
    assert f'href="{URL}"' in text_of(browser.get("/c/test-eu/"))
    listed = text_of(browser.get(URL))
    link = next(part for part in listed.split('href="')[1:] if "show=orphaned" in part.split('"')[0])

    page = text_of(browser.get(f"{URL}{link.split(chr(34))[0].removeprefix(URL)}"))

    assert "no request of theirs was logged in the 13 days" in page
    assert "User:eve" in names_in(page)
    assert "User:bob" not in names_in(page)


def test_where_the_log_cannot_tell_the_filter_says_what_is_missing(read_cluster, browser):  # noqa: F811
    page = text_of(browser.get(f"{URL}?show=never-seen"))

    assert page.count("Cannot tell: no authorizer log has been read.") == 1 + len(LOG_FILTERS)
    assert "Coverage of the log" in page
    assert names_in(page) == []


def test_where_topics_are_unknown_the_way_out_is_not_the_log(cluster, browser):
    sync(cluster, client=FakeCluster([allow("User:bob", "READ", "orders")]))
    cluster.topics_listed = Known.UNKNOWN.value
    cluster.save()

    page = text_of(browser.get(f"{URL}?show=reads-all"))

    assert "so which topics exist is unknown." in page
    assert "Coverage of the log" not in page


def test_a_name_that_another_filter_hides_is_not_said_to_be_missing(logged, browser):
    hidden = text_of(browser.get(f"{URL}?q=stranger&show=orphaned"))
    missing = text_of(browser.get(f"{URL}?q=nobody-is-called-so&show=orphaned"))

    assert "No principal contains this text" not in hidden
    assert "No principal contains this text" in missing


def test_the_address_keeps_filter_order_and_text(logged, browser):
    page = text_of(browser.get(f"{URL}?q=user&show=denied&sort=-denials"))

    assert names_in(page) == ["User:stranger", "User:bob"]
    assert 'name="show" value="denied"' in page
    assert 'name="sort" value="-denials"' in page
    assert 'aria-sort="descending"' in page


def test_a_word_that_is_no_filter_is_said_and_filters_nothing(logged, browser):
    page = text_of(browser.get(f"{URL}?show=idle"))

    assert "show is 'idle'; use one of orphaned" in page
    assert "User:bob" in names_in(page)


def test_files_have_every_row_that_the_filters_leave(logged, browser):
    rows = list(csv.DictReader(io.StringIO(browser.get(f"{URL}?format=csv&show=denied").getvalue().decode())))
    lines = [
        json.loads(line) for line in browser.get(f"{URL}?format=jsonl&show=denied").getvalue().splitlines()
    ]

    assert [row["principal"] for row in rows] == ["User:bob", "User:stranger"]
    assert rows[0]["denied_7_days"] == "3"
    assert rows[0]["topics_read"] == "1"
    assert [line["marks"] for line in lines] == [["denied"], ["denied", "no-acl"]]
    assert browser.get(f"{URL}?format=xml").status_code == 404


def test_a_page_of_many_principals_keeps_to_its_budget(cluster, given, browser):  # noqa: F811
    many = [allow(f"User:service-{number:04}", "READ", f"topic-{number}") for number in range(1_000)]
    given(requests=REQUESTS)
    sync(cluster, client=FakeCluster(many, topics=[f"topic-{number}" for number in range(500)]))
    browser.get(URL)

    with CaptureQueriesContext(
        connection,
    ) as asked:
        answer = browser.get(URL)

    assert len(asked) <= 12, [query["sql"] for query in asked]
    assert len(answer.content) <= 50 * 1024
    wide = browser.get(f"{URL}?rows=100&show=reads-all")
    assert wide.status_code == 200


def told_in(page):
    told = page.split('id="principals-told">')[1].split("</p>")[0]
    return " ".join(re.sub("<[^>]*>", "", told).split())


def test_counts_above_the_list_are_those_of_its_filters(logged, browser):
    answer = browser.get(URL)
    found = answer.context["found"]

    told = told_in(text_of(answer))

    assert [found.of(mark).count for mark in ("writes-all", "reads-all")] == [1, 1]  # the super user
    assert told.startswith(f"{found.count} principals: 1 can write to every topic, 1 can read every topic. ")
    assert (
        f"{found.of('orphaned').count} are orphaned, {found.of('never-seen').count} never authenticated"
        in told
    )
    assert told.endswith(
        f"and {found.of('denied').count} were denied something in the last 7 days of the log."
    )


def test_counts_above_the_list_are_of_the_names_with_the_text(logged, browser):
    told = told_in(text_of(browser.get(f"{URL}?q=strang")))

    assert told.startswith("1 principal: none can write")
    assert told.endswith("None is orphaned, and 1 was denied something in the last 7 days of the log.")
    assert told_in(text_of(browser.get(f"{URL}?q=nobody-is-called-so"))) == ""


def test_where_topics_may_be_hidden_every_topic_is_every_one_that_is_seen(cluster, browser):
    sync(cluster, client=FakeCluster([allow("User:bob", "READ", "*")], topics=["orders"]))
    cluster.topics_listed = Known.VISIBLE.value
    cluster.save()

    page = text_of(browser.get(URL))

    assert "can read every topic that aclweb may see." in told_in(page)
    assert "can write to every topic that aclweb may see," in told_in(page)
    assert "A bar is the share of 1 topic that aclweb may see." in page


def test_what_nobody_can_count_is_not_counted_above_the_list(cluster, browser):
    sync(cluster, client=FakeCluster([allow("User:bob", "READ", "orders")]))
    cluster.topics_listed = Known.UNKNOWN.value
    cluster.save()

    told = told_in(text_of(browser.get(URL)))

    assert "Which of them can read or write to every topic: cannot tell: " in told
    assert "were denied lately: cannot tell: no authorizer log has been read." in told
    assert "none" not in told.casefold().replace("none can", "none")


def test_a_log_without_permits_tells_who_was_denied_and_not_who_was_never_seen(given, browser):  # noqa: F811
    given(requests=REQUESTS, files=[file("broker-1.log", permits=0)])

    told = told_in(text_of(browser.get(URL)))

    assert "2 were denied something in the last 7 days of the log." in told
    assert "Which are orphaned or never authenticated: cannot tell: " in told


@pytest.mark.parametrize(
    ("count", "topics", "step", "sentence"),
    [
        (0, 64, 0, ""),
        (0, 0, 0, ""),
        (1, 50_000, 1, ""),
        (32, 64, 10, ""),
        (57, 64, 17, ""),
        (58, 64, 18, "58 of 64 topics"),
        (49_999, 50_000, STEPS - 1, "49,999 of 50,000 topics"),
        (64, 64, STEPS, "all 64 topics"),
    ],
)
def test_a_bar_is_full_only_for_every_topic_and_empty_only_for_none(count, topics, step, sentence):
    share = Share.of("reads", count, topics)

    assert (share.step, share.sentence) == (str(step), sentence)


def test_a_row_shows_what_its_principal_reads_writes_and_administers(cluster, browser):
    rights = [
        allow("User:bob", "READ", "*"),
        allow("User:bob", "WRITE", "orders"),
        allow("User:bob", "DELETE", "orders"),
        deny("User:bob", "READ", "t9"),
    ]
    sync(cluster, client=FakeCluster(rights, topics=["orders", *(f"t{number}" for number in range(10))]))

    row = text_of(browser.get(URL)).split("User:bob</a>")[1].split("</tr>")[0]

    assert 'class=reads data-of=18 title="10 of 11 topics">10<' in row
    assert "class=writes data-of=1>1<" in row
    assert "class=administers data-of=1>1<" in row


def test_any_bar_that_a_row_can_have_is_drawn():
    sheet = (settings.BASE_DIR / "static/css/browse/principals.css").read_text(encoding="utf-8")

    for step in range(1, STEPS + 1):
        assert f'[data-of="{step}"] {{ --of: {100 * step // STEPS}%; }}' in sheet


def test_undeclared_settings_may_let_more_reach_every_topic(logged, browser):
    Cluster.objects.update(super_users=None, allow_everyone=None)

    told = told_in(text_of(browser.get(URL)))

    assert "Perhaps more can: nobody has declared the super users, who may do everything." in told
    assert "what the cluster does with topics that no ACL matches; they count as refused." in told


def menu_of(browser, name, **headers):
    answer = browser.get(f"{URL}one/", {"name": name}, headers=headers)
    return re.findall(
        r'(?:href|action)="([^"]+)"', text_of(answer).split("reason-foot")[1].split("</div>")[0]
    )


def test_each_row_leads_to_its_menu_which_has_the_actions_of_the_page(logged, ada, signed_in):
    browser = signed_in(ada)
    listed = text_of(browser.get(URL))
    assert 'href="one/?name=User%3Abob">More' in listed

    offered = menu_of(browser, "User:bob")
    page = text_of(browser.get("/c/test-eu/principal/?name=User:bob"))

    assert offered[0] == "/c/test-eu/principal/?name=User%3Abob"
    for address in offered[1:]:
        assert f'"{address}"' in page, address
    assert {"clone", "offboard", "least-privilege", "compare"} <= {
        address.split("/principal/")[1].split("/")[0] for address in offered if "/principal/" in address
    }


def test_a_menu_offers_no_draft_to_who_may_not_ask_or_where_no_acl_names_it(logged, ada, cho, signed_in):
    assert not any(
        "offboard" in address or "clone" in address for address in menu_of(signed_in(cho), "User:bob")
    )
    assert not any("offboard" in address for address in menu_of(signed_in(ada), "User:stranger"))
    assert signed_in(ada).get(f"{URL}one/").status_code == 404


def test_a_menu_says_what_its_answer_depends_on_as_the_page_does(logged, browser):
    Cluster.objects.update(super_users=None)

    menu = text_of(browser.get(f"{URL}one/?name=User:bob", headers={"HX-Request": "true"}))

    assert "Nobody has declared the super users of this cluster; super users may do everything." in menu


def test_a_menu_in_a_popover_is_a_part_and_alone_a_page(logged, browser):
    part = text_of(browser.get(f"{URL}one/?name=User:bob", headers={"HX-Request": "true"}))
    page = text_of(browser.get(f"{URL}one/?name=User:bob"))

    assert "<html" not in part
    assert 'popovertarget="reason"' in part
    assert "<html" in page
    assert 'popovertarget="reason"' not in page


def test_rights_on_the_cluster_are_said_to_count_for_no_topic(cluster, browser):
    on_cluster = allow("User:ops", "DELETE", "kafka-cluster", resource_type="CLUSTER")
    sync(cluster, client=FakeCluster([on_cluster], topics=["orders"]))

    page = browser.get(URL)

    assert page.context["page"].object_list[-1].reach.administers == 0
    assert "Alter, AlterConfigs or Delete; rights on the cluster are not counted." in text_of(page)
