"""How large is the page of a draft, on a cluster as companies have them, and how many queries does it take?"""

from __future__ import annotations

import json
import re

import pytest

from aclweb.insights.load import load
from aclweb.inventory.sync.run import sync
from devstack.demo import company
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.insights.results import request, use, write_result

PAGE = "/c/test-eu/what-if/"
SHOWN = ("", "&view=matrix", "&tab=replay", "&tab=after", "&tab=commands", "&tab=matched")
BINDINGS = company.bindings()
NAMED = [each for each in BINDINGS if each.principal != "User:*" and each.resource_type.name == "TOPIC"]


@pytest.fixture
def demo(cluster):
    """The ACLs of the demo company's shop."""
    sync(cluster, client=FakeCluster(BINDINGS, topics=company.topics(), groups=company.groups()))
    cluster.refresh_from_db()
    return cluster


def draft_of(count: int) -> list[str]:
    """Return lines that remove ACLs of the company, half of the draft as far as it has so many, and add others."""
    removed = BINDINGS[:: max(1, len(BINDINGS) * 2 // count)][: count // 2]
    added = [
        allow(
            f"User:team-{number % 40:02}-service",
            "READ",
            f"payments.{number // 40}.events",
            pattern="LITERAL" if number % 3 else "PREFIXED",
        )
        for number in range(count - len(removed))
    ]
    return [
        json.dumps({"op": op, **binding.as_dict()})
        for op, bindings in (("remove", removed), ("add", added))
        for binding in bindings
    ]


@pytest.mark.parametrize("has_log", [False, True], ids=["no log", "log"])
@pytest.mark.parametrize("count", [5, 42, 2_000])
def test_the_page_of_any_draft_stays_within_its_budget(
    demo, ada, signed_in, tmp_path, django_assert_max_num_queries, count, has_log
):
    if has_log:
        asked = dict.fromkeys((each.principal, each.resource_name) for each in NAMED)
        requests = [request(who, "READ", name, allowed=True, lines=40) for who, name in asked]
        load(write_result(tmp_path, BINDINGS, usage=[use(each) for each in NAMED], requests=requests), demo)
    browser = signed_in(ada)
    address = browser.post(PAGE, {"line": draft_of(count)})["Location"]
    browser.get(address)

    for shown in SHOWN if count < 2_000 else SHOWN[:3]:
        with django_assert_max_num_queries(12):
            page = browser.get(address + shown)
        assert len(page.context["draft"].lines) == count
        assert len(page.content) < 50 * 1024, shown
        assert len(re.findall("<[a-z]", page.text)) < 2_000, shown
        assert bool(page.context["replay"]) is has_log


def test_what_a_page_does_not_show_of_a_draft_is_a_press_away(demo, ada, signed_in):
    browser = signed_in(ada)
    page = browser.post(PAGE, {"line": draft_of(42)}, follow=True)

    assert [name for name, *_ in page.context["tabs"]] == ["", "after", "commands", "matched"]
    for name, words, _ in page.context["tabs"]:
        assert re.search(rf'<button [^>]*name="tab" value="{name}"[^>]*>{words}', page.text)
    assert '<pre class="commands"' not in page.text
    sent = browser.post(
        PAGE, {"line": draft_of(42), "show": "gains", "tab": ["after", "commands"]}, follow=True
    )
    assert page.context["preview"].commands[0] in sent.context["preview"].commands
    assert '<pre class="commands"' in sent.text
