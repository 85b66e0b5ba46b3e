"""The least-privilege page: a proposal from what was logged, its doubts, and the draft that it opens as."""

from __future__ import annotations

import json
import re
from datetime import UTC
from html import unescape
from urllib.parse import urlencode

import pytest

from aclweb.acl.model.vocabulary import Operation
from aclweb.clusters import Known
from aclweb.insights import narrowing
from aclweb.insights.load import load
from aclweb.inventory.models import Cluster, Revision
from aclweb.inventory.sync.run import sync
from tests.browsing import axe_violations
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.insights.results import LAST, file, request, write_result

PAGE = "/c/test-eu/principal/least-privilege/"
APP = "User:app"
WIDE = allow(APP, "READ", "orders.", pattern="PREFIXED")
UNUSED = allow(APP, "WRITE", "stock")
KEPT = allow(APP, "READ", "app", resource_type="GROUP")
BINDINGS = [WIDE, UNUSED, KEPT, deny("User:*", "DELETE", "*"), deny(APP, "WRITE", "orders.eu")]
TOPICS = ["orders.eu", "orders.us", "orders.asia", "stock"]
USED = [
    request(APP, "READ", "orders.eu", allowed=True, decided_now="ALLOWED", lines=90),
    request(APP, "READ", "orders.us", allowed=True, decided_now="ALLOWED", lines=9),
    request(APP, "READ", "app", resource_type="GROUP", allowed=True, decided_now="ALLOWED", lines=1),
    request(APP, "WRITE", "elsewhere"),
    request("User:other", "READ", "orders.asia", allowed=True, decided_now="ALLOWED", lines=1),
]


@pytest.fixture(autouse=True)
def days_that_the_logs_cover(settings):
    settings.ACLWEB_UNUSED_DAYS = 13


@pytest.fixture
def logged(cluster, tmp_path):
    sync(cluster, client=FakeCluster(BINDINGS, topics=TOPICS, groups=["app"]))
    cluster.refresh_from_db()
    load(write_result(tmp_path / "usage", BINDINGS, requests=USED), cluster)
    return cluster


@pytest.fixture
def proposed(ada, signed_in):
    """Return a function that asks for the page with these knobs and gives the answer."""
    client = signed_in(ada)
    return lambda principal=APP, **knobs: client.get(PAGE, {"name": principal, **knobs})


def test_a_prefix_becomes_the_names_that_were_used_and_what_was_unused_goes(logged, proposed):
    answer = proposed()
    proposal = answer.context["found"].proposal

    assert set(proposal.adds) == {allow(APP, "READ", "orders.eu"), allow(APP, "READ", "orders.us")}
    assert set(proposal.removes) == {WIDE, UNUSED}
    assert (proposal.covered, proposal.lines) == (100, 100)
    page = unescape(answer.content.decode())
    assert "3 ACLs would allow 100 of 100 logged requests, and 2 unused rights would go." in page
    assert answer.context["replay"].denied_lines == 0


@pytest.mark.parametrize("known", [Known.ALL, Known.VISIBLE, Known.UNKNOWN])
def test_topics_that_a_pattern_matches_are_unknown_where_not_all_are_known(logged, proposed, known):
    Cluster.objects.filter(pk=logged.pk).update(topics_listed=known)

    answer = proposed()

    assert (WIDE.pattern in answer.context["unknown_patterns"]) is (known != Known.ALL)
    told = "how many topics an ACL matches: not all that exist are known"
    assert (told in unescape(answer.content.decode())) is (known != Known.ALL)


def test_what_was_denied_then_and_is_allowed_by_now_stays_allowed(logged, proposed, tmp_path):
    late = [
        request(APP, "READ", "orders.asia", allowed=False, decided_now="ALLOWED", lines=7),
        request(APP, "READ", "orders.eu", allowed=False, decided_now="ALLOWED", lines=2),
    ]
    load(write_result(tmp_path / "late", BINDINGS, requests=[*USED, *late]), logged)

    answer = proposed()

    proposal = answer.context["found"].proposal
    assert allow(APP, "READ", "orders.asia") in proposal.adds
    assert (proposal.covered, proposal.lines) == (109, 109)
    assert answer.context["replay"].denied_lines == 0


def test_it_opens_as_a_draft_of_the_same_acls(logged, proposed, ada, signed_in):
    answer = proposed()
    action = unescape(
        re.search(r'<form method="post" action="([^"]+)" data-working="Working out', answer.text)[1]
    )
    draft = signed_in(ada).post(action, follow=True)

    lines = {(line.op, line.binding) for line in draft.context["draft"].lines}
    proposal = answer.context["found"].proposal
    assert lines == {("add", acl) for acl in proposal.adds} | {("remove", acl) for acl in proposal.removes}
    assert not draft.context["draft"].faults


def test_without_a_log_no_draft_claims_that_nothing_would_change(cluster, ada, signed_in):
    sync(cluster, client=FakeCluster(BINDINGS, topics=TOPICS, groups=["app"]))

    answer = signed_in(ada).post(f"{PAGE}?name={APP}", follow=True)

    assert f"No draft was made: {answer.context['found'].why_not}" in unescape(answer.text)
    assert "Nothing would change" not in answer.text


def test_a_draft_is_made_with_the_choices_of_the_page_or_says_why_not(logged, ada, signed_in):
    browser = signed_in(ada)

    first = browser.post(f"{PAGE}?name={APP}&names=first-delimiter", follow=True)
    none = browser.post(f"{PAGE}?name=User:nobody", follow=True)

    assert {(line.op, line.binding) for line in first.context["draft"].lines} == {("remove", UNUSED)}
    assert f"No draft was made: {none.context['found'].why_not}" in unescape(none.text)


def test_a_principal_of_many_acls_has_a_page_of_fifty_kilobytes(cluster, proposed, tmp_path):
    names = [f"orders.{number:03}.a-longer-name-of-a-topic" for number in range(150)]
    acls = [allow(APP, operation, name) for name in names for operation in ("READ", "WRITE")]
    used = [request(APP, "READ", name, allowed=True, decided_now="ALLOWED", lines=3) for name in names[:40]]
    sync(cluster, client=FakeCluster(acls, topics=names, groups=[]))
    cluster.refresh_from_db()
    load(write_result(tmp_path / "usage", acls, requests=used), cluster)

    pages = [proposed(page=number, rights=number) for number in (1, 2, 15)]

    assert all(len(page.content) < 50 * 1024 for page in (*pages, proposed(view="lines")))
    held = {pair.today.binding for page in pages for pair in page.context["pairs"]}
    assert len(held) == 27
    assert held < set(acls)
    assert [row.right.lines for row in pages[0].context["rights"]] == [3] * 12
    assert [row.right.lines for row in pages[2].context["rights"]] == [0] * 12


@pytest.mark.parametrize("number, shown, told", [(4, 4, ""), (5, 3, "and 2 more"), (40, 3, "and 37 more")])
def test_a_row_shows_the_first_acls_that_replace_one_and_says_how_many_more(
    cluster, proposed, tmp_path, number, shown, told
):
    names = [f"orders.{place:03}" for place in range(number)]
    used = [request(APP, "READ", name, allowed=True, decided_now="ALLOWED", lines=3) for name in names]
    wide = [allow(APP, "READ", "orders.", pattern="PREFIXED")]
    sync(cluster, client=FakeCluster(wide, topics=names, groups=[]))
    cluster.refresh_from_db()
    load(write_result(tmp_path / "usage", wide, requests=used), cluster)

    page = proposed(names="exact")

    assert page.text.count("3 requests, from") == shown
    assert (f"{told}; the files have all of them." in page.text) == bool(told)
    assert proposed(names="exact", format="csv").getvalue().count(b"orders.") == number


def test_each_choice_of_names_is_compared_and_the_chosen_one_shown(logged, proposed):
    exact, first = proposed(), proposed(names="first-delimiter")

    settings = {each.names: each.acls for each, _, _ in exact.context["settings"]}
    assert settings == {"exact": 3, "most-used": 3, "first-delimiter": 2}
    assert {each.names: each.acls for each, _, _ in first.context["settings"]} == settings
    assert first.context["found"].proposal.adds == ()
    assert first.context["found"].proposal.removes == (UNUSED,)
    assert proposed(hosts="seen").context["found"].proposal.adds[0].host == "10.0.0.7"


def test_an_acl_younger_than_the_log_stays_unless_it_is_judged_too(logged, proposed):
    young = allow(APP, "ALTER", "stock")
    sync(logged, client=FakeCluster([*BINDINGS, young], topics=TOPICS, groups=["app"]))
    Revision.objects.filter(number=2).update(read_at=LAST.replace(tzinfo=UTC))

    kept, judged = proposed(), proposed(young="judge")

    assert young in kept.context["found"].proposal.keeps
    assert "It was added on 2026-11-20, within the 13 days" in kept.content.decode()
    assert young in judged.context["found"].proposal.removes


@pytest.mark.parametrize(
    "principal, told",
    [
        ("User:nobody", "No ACL allows something to this principal by its name"),
        ("User:admin", "It is a super user: it may do everything, whatever the ACLs say."),
    ],
)
def test_where_nothing_can_be_narrowed_the_page_says_why(logged, proposed, principal, told):
    answer = proposed(principal)

    assert told in unescape(answer.content.decode())
    assert b"Open as draft" not in answer.content


@pytest.fixture
def over_days(logged, tmp_path):
    """orders.us was read two weeks ago, and orders.eu on the last day too."""
    early = {"day": "2026-11-07", "lines": 9}
    used = [*USED[:1], USED[1] | {"days": [early]}, *USED[2:]]
    load(write_result(tmp_path / "days", BINDINGS, requests=used), logged)
    return logged


def test_what_the_last_days_needed_is_proposed_and_replayed_on_the_whole_log(over_days, proposed):
    whole, week = proposed(), proposed(days="7")

    assert allow(APP, "READ", "orders.us") in whole.context["found"].proposal.adds
    proposal = week.context["found"].proposal
    assert set(proposal.adds) == {allow(APP, "READ", "orders.eu")}
    assert (proposal.covered, proposal.lines) == (91, 91)
    assert week.context["replay"].denied_lines == 9, "of the whole log"
    page = unescape(week.content.decode())
    assert "would allow 91 of 91 logged requests of the last 7 days" in page
    assert 'value="7" checked' in page


def test_days_that_are_too_few_call_nothing_unused(over_days, proposed):
    answer = proposed(days="7", young="judge")

    proposal = answer.context["found"].proposal
    assert UNUSED in proposal.keeps
    assert (
        "It may use more than the log shows: the last 7 days alone are looked at, and at least 13 days are needed "
        "(ACLWEB_UNUSED_DAYS)."
    ) in unescape(answer.content.decode())


def test_the_proposal_downloads_as_acls_and_its_edit_as_commands(logged, proposed):
    def file(format):
        answer = proposed(format=format)
        return answer["Content-Disposition"], b"".join(answer).decode()

    name, rows = file("csv")
    assert name == 'attachment; filename="least-privilege-test-eu.csv"'
    assert sorted(row.split(",")[1] for row in rows.splitlines()[1:]) == ["app", "orders.eu", "orders.us"]
    assert len(file("jsonl")[1].splitlines()) == 3
    name, commands = file("kafka-acls")
    assert name == 'attachment; filename="least-privilege-test-eu.sh"'
    assert (commands.count("--add"), commands.count("--remove")) == (2, 2)
    assert proposed(format="xml").status_code == 404
    assert proposed("User:admin", format="csv").status_code == 404


def test_without_permits_in_the_log_nothing_is_proposed(logged, proposed, tmp_path):
    files = [file("b1.log"), file("b2.log")]
    load(write_result(tmp_path / "blind", BINDINGS, requests=USED[3:4], files=files), logged)

    answer = proposed()

    assert "Cannot tell what it uses: the log holds no permits." in answer.content.decode()
    assert answer.context["found"].proposal is None


def test_a_log_that_is_too_short_calls_nothing_unused(logged, proposed, settings):
    settings.ACLWEB_UNUSED_DAYS = 30

    answer = proposed(young="judge")

    proposal = answer.context["found"].proposal
    page = unescape(answer.content.decode())
    missing = "the log covers 14 days, and at least 30 days are needed (ACLWEB_UNUSED_DAYS)"
    assert f"It may use more than the log shows: {missing}." in page
    assert set(proposal.removes) == {WIDE}, "it was used, and narrower ACLs replace it"
    held = next(each for each in proposal.today if each.binding == UNUSED)
    assert (held.stays, held.reason) == (True, f"Cannot tell whether it is used: {missing}.")
    assert all(each.rights.removed <= 1 for each in answer.context["found"].settings)
    assert "and 1 right would go." in page
    assert "unused right" not in page.lower()
    assert ">unused<" not in page
    assert "Open as draft" in page


def test_more_requests_than_a_page_works_out_are_for_the_job(logged, proposed, monkeypatch):
    monkeypatch.setattr(narrowing, "MOST_USED", 2)

    answer = proposed()

    assert "more than 2 different requests and answers of this principal" in answer.content.decode()
    assert answer.context["found"].proposal is None


def test_a_request_with_two_answers_does_not_hide_that_the_list_was_cut(
    logged, proposed, tmp_path, monkeypatch
):
    monkeypatch.setattr(narrowing, "MOST_USED", 3)
    twice = request(APP, "READ", "orders.eu", allowed=False, decided_now="ALLOWED", lines=80)
    load(write_result(tmp_path / "twice", BINDINGS, requests=[*USED, twice]), logged)

    answer = proposed()

    assert answer.context["found"].proposal is None, "a request for the group was not read"
    assert "more than 3 different requests and answers" in answer.content.decode()


FORMATS_ASKED = {"file": "csv", "rights": "rights-csv"}


def test_a_knob_that_nobody_knows_is_reported_and_a_page_needs_a_name(logged, proposed, ada, signed_in):
    page = unescape(proposed(names="odd").content.decode())

    assert "names is 'odd'; use one of exact, most-used, first-delimiter." in page
    assert signed_in(ada).get(PAGE).status_code == 404


@pytest.mark.parametrize("way", ["draft", "file", "rights"])
def test_no_draft_and_no_file_is_of_other_choices_than_those_named(logged, ada, signed_in, way):
    asked = {"name": APP, "hosts": "odd"} | ({} if way == "draft" else {"format": FORMATS_ASKED[way]})
    address, browser = f"{PAGE}?{urlencode(asked)}", signed_in(ada)

    page = browser.post(address) if way == "draft" else browser.get(address)

    assert page.status_code == 422
    assert "hosts is 'odd'; use one of as-today, any, seen." in unescape(page.content.decode())


def test_the_page_takes_few_queries(logged, proposed, django_assert_max_num_queries):
    proposed()

    with django_assert_max_num_queries(12):
        assert proposed().context["found"].proposal.lines == 100


def test_the_principal_page_leads_to_its_proposal(logged, ada, signed_in):
    client = signed_in(ada)

    assert (
        f"{PAGE}?{urlencode({'name': APP})}"
        in client.get("/c/test-eu/principal/", {"name": APP}).content.decode()
    )
    nobody = client.get("/c/test-eu/principal/", {"name": "User:nobody"}).content.decode()
    assert PAGE not in nobody, "there is nothing to narrow"


@pytest.mark.django_db(transaction=True)
def test_a_knob_is_turned_and_the_proposal_opened_as_a_draft(window, logged, ada):
    page = window(ada, f"{PAGE}?{urlencode({'name': APP})}")

    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert axe_violations(page) == [], theme
    page.get_by_label("Prefix at each first delimiter").check()
    page.locator("tr[data-selected]", has_text="Prefix at each first delimiter").wait_for()
    assert "names=first-delimiter" in page.url
    page.get_by_role("button", name="Open as draft").click()
    page.get_by_role("heading", name="Access diff").wait_for()

    assert page.locator(".draft-lines li").count() == 1
    assert page.watch.complaints == []
    assert Operation.WRITE.name.capitalize() in page.locator(".draft-lines li").inner_text()


def test_each_right_of_today_is_listed_with_its_use(logged, proposed):
    answer = proposed()

    rights = {
        (each.right.name, each.right.operation.name): each.right.lines for each in answer.context["rights"]
    }
    assert rights == {
        ("orders.eu", "READ"): 90,
        ("orders.us", "READ"): 9,
        ("app", "READ"): 1,
        ("orders.asia", "READ"): 0,
        ("stock", "WRITE"): 0,
    }
    assert [row.length for row in answer.context["rights"]] == sorted(
        (row.length for row in answer.context["rights"]), reverse=True
    )
    page = " ".join(unescape(answer.content.decode()).split())
    assert "3 used, 2 unused" in page
    file_of = proposed(format="rights-jsonl")
    rows = [json.loads(line) for line in b"".join(file_of.streaming_content).decode().splitlines()]
    assert {(row["resource_name"], row["requests"]) for row in rows} == {
        (name, lines) for (name, _), lines in rights.items()
    }
    assert proposed(format="rights-xml").status_code == 404


def test_other_settings_say_what_is_left_and_which_new_names_match(logged, proposed):
    found = proposed().context["found"]

    left = {each.names: (each.left, [pattern.name for pattern in each.patterns]) for each in found.settings}
    assert left["exact"] == (0, [])
    assert left["first-delimiter"] == (1, ["orders."])
    assert (found.today.left, [pattern.name for pattern in found.today.patterns]) == (2, ["orders."])


def test_the_edit_is_on_the_page_as_lines_and_as_commands(logged, proposed):
    page = unescape(proposed(view="lines").content.decode())
    commands = page.split('id="least-commands"')[1].split(">", 1)[1].split("</pre>")[0]
    file_of = b"".join(proposed(format="kafka-acls").streaming_content).decode()

    assert commands.split() == file_of.split()
    assert "Today, 3 ACLs" not in page
    assert "Today, 3 ACLs" in proposed().content.decode()


def test_owner_seen_names_and_checks_stand_beside_the_knobs(logged, proposed):
    logged.owned_names.create(kind="PRINCIPAL", pattern_type="LITERAL", name=APP, owner="Shop")

    page = " ".join(unescape(re.sub("<[^>]+>", "", proposed().content.decode())).split())

    assert "owner: Shop" in page
    assert "seen: app" in page
    assert "today: any host" in page
    assert "seen: 10.0.0.7" in page
    assert "no ACL of this principal is younger than 13 days" in page
    assert "What runs at the end of a month: cannot tell" in page
    assert "On each of 14 days all brokers logged permits." in page
