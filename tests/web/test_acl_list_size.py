"""How large is the list of ACLs, on a cluster as companies have them?"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from aclweb.acl.notation import binding_key
from aclweb.insights.load import load
from aclweb.inventory.current import view as current
from aclweb.inventory.findings import pages as findings
from aclweb.inventory.sync.run import sync
from devstack.demo import company
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.insights.results import request, use, write_result

LIST = "/c/test-eu/acls/"


@pytest.fixture
def demo(cluster, ada, signed_in, tmp_path):
    """The ACLs of the demo company's shop, of which every second one was used."""
    bindings = company.bindings()
    sync(cluster, client=FakeCluster(bindings, topics=company.topics(), groups=company.groups()))
    cluster.refresh_from_db()
    findings.findings(current.in_force(cluster))
    load(write_result(tmp_path, bindings, usage=[use(binding) for binding in bindings[::2]]), cluster)
    return signed_in(ada)


def rows_of(page) -> list[str]:
    rows = page.content.decode().partition("acl-rows")[2].partition("<tbody")[2]
    return re.findall(r"<tr>.*?</tr>", rows, re.DOTALL)


@pytest.mark.parametrize(
    "query", ["", "?operation=READ", "?sort=principal&page=3", "?columns=all&sort=last-used"]
)
def test_a_page_of_fifty_acls_stays_below_its_budget(demo, query):
    page = demo.get(LIST + query)

    assert len(rows_of(page)) == 50
    assert len(page.content) < 50 * 1024


# One of them asks for the roles of somebody who is no administrator of the site.
@pytest.mark.parametrize(
    ("query", "most"),
    [
        ("", 13),
        ("?use=unused", 13),
        ("?use=cannot-tell", 14),
        ("?sort=last-used", 13),
        ("?use=used&finding=any", 13),
    ],
)
def test_a_list_with_a_log_and_findings_takes_few_queries(demo, query, most, django_assert_max_num_queries):
    demo.get(LIST + query)

    with django_assert_max_num_queries(most):
        demo.get(LIST + query)


def test_a_page_of_two_hundred_acls_costs_no_more_than_its_rows(demo):
    small, large = (demo.get(f"{LIST}?rows={rows}") for rows in (50, 200))

    assert len(rows_of(large)) == 200
    assert (len(large.content) - len(small.content)) / 150 < 640


def test_what_rows_share_stands_once_below_them(demo):
    page = demo.get(LIST).content.decode()

    assert page.count("the log covers 14 days, and at least 30 days are needed") == 1
    assert "Cannot tell whether 26 ACLs of this page are used" in page
    assert not re.search("[0-9a-f]{64}", page)


@pytest.fixture
def used(cluster, ada, signed_in, tmp_path):
    """Three ACLs, of which one was used on each day, one on the first and the last of them, and one never."""
    acls = [allow(f"User:{name}", "READ", "orders.eu") for name in ("daily", "rare", "never")]
    sync(cluster, client=FakeCluster(acls, topics=[], groups=[]))
    days = [f"2026-11-{day:02}" for day in range(7, 21)]

    def asked(name, lines):
        return request(
            f"User:{name}", "READ", "orders.eu", allowed=True, lines=sum(lines.values()), decided_now="ALLOWED",
            days=[{"day": day, "lines": each} for day, each in lines.items()],
            determining=[binding_key(next(acl for acl in acls if acl.principal == f"User:{name}"))],
        )  # fmt: skip

    requests = [asked("daily", dict.fromkeys(days, 999)), asked("rare", {days[2]: 1, days[-1]: 30})]
    load(write_result(tmp_path, acls, usage=map(use, acls[:2]), requests=requests), cluster)
    return signed_in(ada)


def test_a_row_holds_a_digit_for_each_of_the_last_days_from_the_first_with_requests(used):
    page = used.get(LIST, {"sort": "principal"}).content.decode()

    assert 'data-days-drawn="14"' in page
    assert re.findall(r"data-days=(\d+)>", page) == ["9" * 14, "100000000004"]


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_browser_draws_the_days_and_says_on_how_many_it_was_used(used, window, ada):
    page = window(ada, LIST)
    rare = page.locator("tr", has_text="User:rare")
    expect(rare.get_by_role("img", name="Requests on 2 of the last 14 days of the log")).to_be_visible()
    page.get_by_role("link", name="Principal", exact=True).click()

    expect(page.locator(".last-used .spark")).to_have_count(2)
    assert page.watch.complaints == []
