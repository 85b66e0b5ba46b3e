"""The Insights page: every denial offers what would mend its cause, and each offer leads somewhere."""

from __future__ import annotations

import csv
import json
import re
from datetime import UTC, timedelta
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.utils import timezone

from aclweb.accounts.models import Grant, Role
from aclweb.acl.model.delta import Delta
from aclweb.changes import review
from aclweb.changes.models import Change
from aclweb.insights import denial_causes, denials
from aclweb.insights.load import load
from aclweb.insights.models import DenialGroup, DenialMark
from aclweb.inventory.sync.run import sync
from tests.browsing import axe_violations
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.insights.results import LAST, log_days, request, write_result

PAGE = "/c/test-eu/insights/"
DAN = ("User:dan", "READ", "TOPIC", "payments.eu")
FRAUD = "User:CN=fraud,OU=risk"
BINDINGS = [
    allow(FRAUD, "READ", "orders"),
    allow("User:jlund", "READ", "orders"),
    allow("User:bob", "WRITE", "orders", host="10.0.0.9"),
    allow("User:cat", "READ", "orders"),
    deny("User:eve", "ALL", "payments.", pattern="PREFIXED"),
]
REFUSED = {
    "a name with other spaces": request("User:CN=fraud, OU=risk", "READ", "orders"),
    "a name in other case": request("User:JLund", "READ", "orders"),
    "a client without a login": request("User:ANONYMOUS", "READ", "orders"),
    "another host": request("User:bob", "WRITE", "orders", host="10.0.0.7"),
    "no ACL": request("User:dan", "READ", "payments.eu"),
    "no group right": request("User:cat", "READ", "billing", resource_type="GROUP"),
    "a DENY": request("User:eve", "READ", "payments.eu"),
    "a name that no address holds": request("User:\u202egpj\n&?#%", "READ", "payments.eu"),
}


@pytest.fixture
def read_cluster(cluster, tmp_path):
    sync(cluster, client=FakeCluster(BINDINGS, topics=["orders", "payments.eu"], groups=["billing"]))
    cluster.refresh_from_db()
    load(write_result(tmp_path / "usage", BINDINGS, requests=REFUSED.values()), cluster)
    return cluster


@pytest.fixture
def page(read_cluster, ada, signed_in):
    client = signed_in(ada)
    return client, client.get(PAGE).content.decode()


def rows(page: str) -> list[str]:
    """Return the text of each group in the inbox."""
    return page.split('id="denials"')[1].split("</table>\n  </div>")[0].split('<tbody id="denial-')[1:]


def offers(page: str) -> dict[str, tuple[str, str]]:
    """Return what each row of the inbox offers, as its principal -> (word, address)."""
    found = {}
    for row in rows(page):
        address, word = re.findall(r'<a class="btn btn-sm" href="([^"]*)">([^<]*)</a>', row)[0]
        principal = re.search(r'href="[^"]*principal/\?name=([^"]*)"', row)
        assert principal is not None
        found[parse_qs(f"n={unescape(principal[1])}")["n"][0]] = (word, unescape(address))
    return found


def opened(client, principal: str, **fields: str):
    """Open the group of a principal; return the answer and the page's address."""
    key = next(
        row.key
        for row in client.get(PAGE, {"days": "all"}).context["page"].object_list
        if row.principal == principal
    )
    address = f"{PAGE}?{urlencode({'open': key, **fields})}"
    return client.get(address), address


def test_every_denial_offers_something_that_leads_to_a_page(page):
    client, text = page
    found = offers(text)

    assert set(found) == {row["principal"] for row in REFUSED.values()}
    answers = {principal: client.get(address).status_code for principal, (_, address) in found.items()}
    assert set(answers.values()) == {200}, answers


def test_a_proposal_opens_a_draft_of_the_acl_that_was_missing(page):
    client, text = page

    word, address = offers(text)["User:dan"]
    draft = client.get(address).context["draft"]

    assert word == "Propose ACL"
    assert [(line.op, line.binding) for line in draft.lines] == [
        ("add", allow("User:dan", "READ", "payments.eu", host="10.0.0.7"))
    ]
    assert not draft.faults


def test_a_name_that_looks_wrong_leads_to_its_mapping_and_not_to_another_acl(page):
    client, text = page

    word, address = offers(text)["User:CN=fraud, OU=risk"]
    mapped = client.get(address)

    assert word == "Test the name mapping"
    assert urlsplit(address).path == "/c/test-eu/mapping/"
    assert [made.name for made in mapped.context["clients"]] == ["CN=fraud, OU=risk"]


def test_a_login_name_in_other_case_leads_to_the_acls_that_it_misses(page):
    client, text = page

    word, address = offers(text)["User:JLund"]

    assert word == "Show the other name"
    assert "User:jlund" in client.get(address).content.decode()


def test_a_client_of_a_plaintext_listener_is_offered_no_acl(page):
    client, text = page

    word, address = offers(text)["User:ANONYMOUS"]
    answer, _ = opened(client, "User:ANONYMOUS")

    assert word == "Explain"
    assert urlsplit(address).path == "/c/test-eu/explain/"
    shown = unescape(answer.content.decode())
    assert (
        "An ACL for User:ANONYMOUS would open the resource to everybody who can reach that listener." in shown
    )
    assert "Propose this ACL" not in shown


def test_an_open_group_shows_the_smallest_acl_and_how_many_denials_it_allows(page):
    client, _ = page

    answer, _ = opened(client, "User:dan")
    (row,) = [row for row in answer.context["rows"] if row.opened]
    (remedy,) = row.opened.remedies
    draft = client.get(remedy.offer.address).context["draft"]

    assert (remedy.allows, remedy.lines) == (3, 3)
    assert remedy.binding == allow("User:dan", "READ", "payments.eu", host="10.0.0.7")
    assert [line.binding for line in draft.lines] == [remedy.binding]
    assert "Allows 3 of 3 denials, and nobody but this principal." in answer.content.decode()


@pytest.fixture
def two_weeks_will_do(settings):
    """The results of these tests cover 13 days and a half."""
    settings.ACLWEB_UNUSED_DAYS = 13


def test_a_client_that_moved_is_offered_its_acl_with_the_new_host(two_weeks_will_do, page):
    client, text = page

    word, address = offers(text)["User:bob"]
    answer = client.get(address)
    (row,) = [row for row in answer.context["rows"] if row.opened]
    draft = client.get(row.opened.host_fix.offer.address).context["draft"]

    assert word == "Fix the host"
    assert {(line.op, line.binding.host) for line in draft.lines} == {
        ("add", "10.0.0.7"),
        ("remove", "10.0.0.9"),
    }
    assert (
        "No logged request needed the ACL of 10.0.0.9 in the 13 days to 2026-11-20" in answer.content.decode()
    )


def bobs_host_fix(client):
    answer, _ = opened(client, "User:bob")
    (row,) = [row for row in answer.context["rows"] if row.opened]
    fix = row.opened.host_fix
    draft = client.get(fix.offer.address).context["draft"]
    assert fix.sentence in unescape(answer.content.decode())
    return fix, [(line.op, line.binding.host) for line in draft.lines]


@pytest.mark.parametrize("operation", ["WRITE", "DESCRIBE"])
def test_the_acl_of_a_host_that_is_still_used_stays(
    two_weeks_will_do, read_cluster, page, tmp_path, operation
):
    client, _ = page
    permitted = request("User:bob", operation, "orders", host="10.0.0.9", allowed=True, decided_now="ALLOWED")
    load(write_result(tmp_path / "used", BINDINGS, requests=[*REFUSED.values(), permitted]), read_cluster)

    fix, lines = bobs_host_fix(client)

    assert (fix.offer.word, lines) == ("Allow this host too", [("add", "10.0.0.7")])
    assert fix.sentence == "The log shows permitted requests from 10.0.0.9, so it stays."


def test_the_acl_of_a_host_stays_where_the_log_has_gaps(page):
    client, _ = page

    fix, lines = bobs_host_fix(client)

    assert (fix.offer.word, lines) == ("Allow this host too", [("add", "10.0.0.7")])
    assert (
        "The log cannot tell whether anybody still uses the ACL of 10.0.0.9: the log covers" in fix.sentence
    )


@pytest.mark.parametrize(
    "binding, told",
    [
        (allow("User:bob", "WRITE", "ord", pattern="PREFIXED", host="10.0.0.9"), "more than this name"),
        (allow("User:bob", "WRITE", "*", host="10.0.0.9"), "more than this name"),
        (allow("User:bob", "ALL", "orders", host="10.0.0.9"), "more than this operation"),
        (allow("User:*", "WRITE", "orders", host="10.0.0.9"), "more than this principal"),
        (allow("User:bob", "WRITE", "orders", host="10.1.0.0/16"), "more than one address"),
    ],
)
def test_an_acl_that_allows_more_than_what_was_denied_stays(
    two_weeks_will_do, cluster, ada, signed_in, tmp_path, binding, told
):
    sync(cluster, client=FakeCluster([binding], topics=["orders", "other"]))
    cluster.refresh_from_db()
    load(write_result(tmp_path / "usage", [binding], requests=[REFUSED["another host"]]), cluster)

    fix, lines = bobs_host_fix(signed_in(ada))

    assert fix.before == binding
    assert [line for line in lines if line[0] == "remove"] == []
    assert told in fix.sentence


def test_an_open_group_of_a_later_page_is_shown_first(page, monkeypatch):
    client, _ = page
    monkeypatch.setattr("aclweb.web.browse.denials.ROWS_A_PAGE", 2)
    last = client.get(PAGE, {"page": 99}).context["rows"][-1].denial

    answer = client.get(PAGE, {"open": last.key})

    assert answer.context["rows"][0].denial.key == last.key
    assert [bool(row.opened) for row in answer.context["rows"]] == [True, False, False]
    for key in ("no-such-key", "\x00", "0" * 64):
        assert client.get(PAGE, {"open": key}).context["rows"][0].opened is None


def test_an_address_may_have_the_whole_key_of_a_group_or_its_beginning(read_cluster, page, tmp_path):
    client, text = page
    topics_of_zoe(read_cluster, tmp_path, "a", "b")
    (zoe,) = [row.denial for row in client.get(PAGE).context["rows"] if row.denial.principal == "User:zoe"]

    assert not re.search("[0-9a-f]{17}", text.partition('id="denials"')[2])
    for key in (zoe.key, zoe.short_key):
        shown = client.get(PAGE, {"open": key}).context["rows"]
        assert [row.denial.key for row in shown if row.opened] == [zoe.key]
        assert len(client.get(PAGE, {"like": key}).context["rows"]) == 2
        for field, number in (("choose", 1), ("alike", 2)):
            assert len(client.get(f"{PAGE}denials/acls/", {field: key}).context["chosen"]) == number


def test_a_beginning_that_several_groups_share_names_none_of_them(read_cluster, page):
    client, _ = page
    begun, other = DenialGroup.objects.values_list("key", flat=True)[:2]
    shared = begun[:16]
    DenialGroup.objects.filter(key=other).update(key=shared + 48 * "0")

    for key, found in ((shared, None), (begun, begun)):
        denial = denials.denial(read_cluster, key, in_force_since=lambda _: {})
        assert (denial.key if denial else None) == found
        chosen = client.get(f"{PAGE}denials/acls/", {"choose": key}).context["chosen"]
        assert [each.denial.key for each in chosen] == ([found] if found else [])


def marking(address: str) -> str:
    return address.replace("/insights/?", "/insights/denials/mark/?")


def test_a_state_is_set_shown_counted_and_recorded(page, ada, ben):
    client, _ = page
    _, address = opened(client, "User:dan", sort="latest")

    answer = client.post(marking(address), {"state": "expected", "reason": "A probe of the platform."})
    shown = client.get(answer["Location"])

    assert answer["Location"] == f"{address}#denials"
    text = shown.content.decode()
    assert "Expected, set by ada on " in text
    assert (
        "ada marked “READ on TOPIC payments.eu, User:dan” as expected: A probe of the platform."
        in unescape(text)
    )
    assert shown.context["inbox"].counts["expected"] == 1
    listed = client.get(f"{PAGE}?state=expected").context["page"].object_list
    assert [row.principal for row in listed] == ["User:dan"]
    assert "User:dan" in client.get("/events/").content.decode()


@pytest.mark.parametrize(
    "given, told",
    [
        ({"state": "ignored"}, "Name the day until which these denials are ignored"),
        ({"state": "ignored", "until": "soon"}, "This is no day; write it as 2026-12-31."),
        ({"state": "ignored", "until": "2001-01-01"}, "2001-01-01 is past; name today or a later day."),
        ({"state": "expected"}, "Say why these denials are expected"),
        (
            {"state": "being-fixed", "change": "CR-99"},
            "There is no change 'CR-99' of test-eu that you may see",
        ),
        ({"state": "gone"}, "Select a valid choice. gone is not one of the available choices."),
    ],
)
def test_a_state_that_cannot_be_set_is_explained_beside_its_field(page, given, told):
    client, _ = page
    _, address = opened(client, "User:dan")

    answer = client.post(marking(address), {"reason": "", **given})

    assert answer.status_code == 422
    text = unescape(answer.content.decode())
    assert told in text.split('class="denial-state"')[1].split("</form>")[0]
    assert answer.context["inbox"].counts["new"] == len(REFUSED)


def test_a_group_that_is_being_fixed_leads_to_its_change(read_cluster, page, ada):
    client, _ = page
    change = review.draft(
        cluster=read_cluster,
        author=ada,
        title="Dan",
        reason="He asked.",
        delta=Delta(add=(allow("User:dan", "READ", "payments.eu"),)),
    )
    _, address = opened(client, "User:dan")

    client.post(marking(address), {"state": "being-fixed", "change": change.key.lower()})

    assert offers(client.get(PAGE).content.decode())["User:dan"] == (change.key, f"/changes/{change.key}/")
    Change.objects.update(state=Change.State.APPLIED, finished_at=timezone.now())
    assert client.get(PAGE).context["inbox"].counts == {
        "new": len(REFUSED) - 1,
        "being-fixed": 0,
        "expected": 0,
        "fixed": 1,
        "ignored": 0,
    }
    topic = client.get("/c/test-eu/topics/payments.eu?tab=denials")
    (dan,) = [each for each in topic.context["denials"] if each.principal == "User:dan"]
    badge = topic.content.decode().split(f"open={dan.short_key}#denials")[1]
    assert badge.split("</a>")[0] == '">fixed'


def test_a_person_who_only_looks_sets_no_state(page, cho, signed_in):
    client = signed_in(cho)
    answer, address = opened(client, "User:dan")

    assert "Set state" not in answer.content.decode()
    assert client.post(marking(address), {"state": "fixed"}).status_code == 403


def test_a_name_prefix_of_a_role_counts_for_the_states_of_denials(page, cluster, eve, signed_in):
    Grant.objects.create(user=eve, cluster=cluster, role=Role.REQUESTER, name_prefix="payments.")
    client = signed_in(eve)

    own, of_payments = opened(client, "User:dan")
    other, of_orders = opened(client, "User:bob")
    refused = client.post(marking(of_orders), {"state": "fixed"})

    assert ("Set state" in own.content.decode(), "Set state" in other.content.decode()) == (True, False)
    assert "for the name orders" in other.content.decode()
    assert refused.status_code == 403
    assert "only for names that start with" in unescape(refused.content.decode())
    assert client.post(marking(of_payments), {"state": "fixed"}).status_code == 302
    assert [mark.state for mark in DenialMark.objects.all()] == ["fixed"]


def test_what_an_address_asks_for_and_nobody_knows_is_reported(page):
    client, _ = page

    answer = client.get(PAGE, {"state": "odd", "days": "9", "sort": "x", "page": "z", "owned": "Pay"})

    text = unescape(answer.content.decode())
    assert "state is 'odd'; use one of new, being-fixed, expected, fixed, ignored." in text
    assert "days is '9'; use one of 1, 7, 14, 30, all." in text
    assert "sort is 'x'; use one of weight, times, latest." in text
    assert "owned is 'Pay'; use no." in text
    assert len(rows(text)) == len(REFUSED)


def test_the_export_has_each_group_and_no_formula(read_cluster, page, tmp_path):
    client, _ = page
    formula = request("User:=1+1", "READ", "=cmd|x")
    load(write_result(tmp_path / "formula", BINDINGS, requests=[*REFUSED.values(), formula]), read_cluster)

    answer = client.get("/c/test-eu/insights/denials/export/")
    lines = list(csv.DictReader(b"".join(answer.streaming_content).decode().splitlines()))

    assert len(lines) >= len(REFUSED) + 1
    assert "'=cmd|x" in {line["resource_name"] for line in lines}
    assert all(line["state"] == "new" for line in lines if line["operation"] in ("READ", "WRITE"))


def test_causes_are_links_with_numbers_that_list_and_download_their_groups(page):
    client, text = page
    address = unescape(re.findall(r'href="([^"]*cause=anonymous[^"]*)#denials"', text)[0])

    answer = client.get(PAGE + address)
    download = unescape(re.findall(r'href="([^"]*format=jsonl[^"]*)"', unescape(answer.content.decode()))[0])
    lines = b"".join(client.get(download).streaming_content).decode().splitlines()

    assert len(rows(answer.content.decode())) == 1
    assert re.search(r'aria-current="true">Anonymous <span class="soft">1<', answer.content.decode())
    (line,) = [json.loads(line) for line in lines]
    assert (line["principal"], line["cause"], line["denials"]) == ("User:ANONYMOUS", "anonymous", 3)
    assert line["burst_day"] is None
    assert client.get(PAGE, {"cause": "odd"}).status_code == 200
    assert client.get(download.replace("jsonl", "xml")).status_code == 404


def test_unknown_causes_of_small_groups_are_said_on_an_empty_list_too(
    read_cluster, page, tmp_path, monkeypatch
):
    client, before = page
    monkeypatch.setattr(denial_causes, "MOST_GROUPS", 1)
    largest = request("User:dan", "WRITE", "payments.eu", lines=9)
    load(write_result(tmp_path / "again", BINDINGS, requests=[*REFUSED.values(), largest]), read_cluster)

    every, none = (client.get(PAGE, asked).content.decode() for asked in ({}, {"cause": "name"}))

    note = "a list by cause, and its numbers, leave smaller groups out"
    assert (note in before, note in every, note in none) == (False, True, True)
    assert "None of the largest groups is like this" in none
    assert "No group is like this" not in none


def test_a_burst_is_a_badge_a_sentence_and_a_filter(read_cluster, page, tmp_path):
    client, before = page
    stormy = request(
        "User:storm",
        "READ",
        "orders",
        lines=404,
        days=[{"day": "2026-11-19", "lines": 400}, {"day": "2026-11-20", "lines": 4}],
    )
    load(write_result(tmp_path / "storm", BINDINGS, requests=[*REFUSED.values(), stormy]), read_cluster)

    text = client.get(PAGE, {"burst": "yes"}).content.decode()
    answer, _ = opened(client, "User:storm")

    assert 'aria-label="Bursts"' not in before
    assert len(rows(text)) == 1
    assert "burst 19 Nov" in rows(text)[0]
    assert "400 denials; its median day of the last 90 days of the log has 0." in answer.content.decode()
    assert "No group is like this" in client.get(PAGE, {"burst": "yes", "days": "1"}).content.decode()


def test_new_groups_are_explained_by_their_causes_and_how_many_need_an_acl(page):
    _, text = page
    lead = " ".join(unescape(re.sub("<[^>]+>", "", text.split('class="lead"')[1].split("</p>")[0])).split())

    assert "2 have names that look wrong" in lead
    assert "1 uses a listener without a login" in lead
    assert "1 is denied by a DENY" in lead
    assert "Only 3 need a new ACL." in lead


def test_the_owner_of_the_principal_is_a_column_and_a_filter(read_cluster, page):
    client, before = page
    read_cluster.owned_names.create(
        kind="PRINCIPAL", pattern_type="LITERAL", name="User:dan", owner="Dan & sons"
    )

    text = client.get(PAGE).content.decode()
    (address,) = set(re.findall(r'href="([^"]*owner=Dan[^"]*)#denials"', text))
    of_dan, of_nobody = client.get(PAGE + unescape(address)), client.get(PAGE, {"owned": "no"})

    assert 'aria-label="Owner of the principal"' not in before
    assert [row.denial.principal for row in of_dan.context["rows"]] == ["User:dan"]
    assert len(of_nobody.context["rows"]) == len(REFUSED) - 1
    lines = b"".join(client.get(f"{PAGE}denials/export/?owner=Dan+%26+sons").streaming_content).decode()
    assert [line["owner"] for line in csv.DictReader(lines.splitlines())] == ["Dan & sons"]


def test_of_many_owners_those_of_most_groups_are_offered(read_cluster, page, tmp_path):
    client, _ = page
    names = [f"User:p{number:02}" for number in range(30)]
    asked = [
        request(name, "READ", f"t{place}") for name in names for place in range(1 + (name == "User:p29"))
    ]
    load(write_result(tmp_path / "owners", BINDINGS, requests=[*REFUSED.values(), *asked]), read_cluster)
    for name in names:
        read_cluster.owned_names.create(
            kind="PRINCIPAL", pattern_type="LITERAL", name=name, owner=f"team {name[-2:]}"
        )

    few, every = client.get(PAGE), client.get(PAGE, {"owners": "all"})

    offered = [{choice.value for choice in each.context["owners"]} for each in (few, every)]
    assert [len(values) for values in offered] == [20, 31]
    assert "team 29" in offered[0]
    assert "all 30 owners" in few.text
    assert "all 30 owners" not in every.text
    assert 'inbox-owner" open' in every.text
    one = client.get(PAGE, {"owner": "team 25", "owners": "all"})
    (link,) = [choice.url for choice in one.context["owners"] if choice.value == "team 26"]
    chosen = client.get(PAGE + link)
    assert 'inbox-owner" open' not in chosen.text, "the menu would cover the list"
    told = {choice.value: (choice.count, choice.current) for choice in chosen.context["owners"]}
    assert told["team 26"] == (1, True)
    assert "all 30 owners" in chosen.text
    gone = client.get(PAGE, {"owner": "nobody by that name"})
    assert {choice.value: choice.count for choice in gone.context["owners"]}["nobody by that name"] == 0
    assert "all 30 owners" in gone.text


def topics_of_zoe(read_cluster, tmp_path, *names, **facts):
    asked = [request("User:zoe", "READ", name, **facts) for name in names]
    load(write_result(tmp_path / "zoe", BINDINGS, requests=[*REFUSED.values(), *asked]), read_cluster)


def test_groups_that_differ_in_their_name_alone_are_one_row_with_all_figures(read_cluster, page, tmp_path):
    client, _ = page
    topics_of_zoe(read_cluster, tmp_path, "a", "b", "c", lines=5)

    answer = client.get(PAGE)
    (row,) = [row for row in answer.context["rows"] if row.denial.principal == "User:zoe"]
    listed = client.get(PAGE, {"like": row.denial.key})

    assert (row.denial.names, row.denial.lines, row.denial.last_day) == (3, 15, 15)
    assert row.denial.days[-1][1] == 15
    assert "and 2 more" in answer.content.decode()
    assert len(answer.context["rows"]) == len(REFUSED) + 1
    assert sorted(each.denial.resource.name for each in listed.context["rows"]) == ["a", "b", "c"]
    assert listed.content.decode().count(" checked") >= 3


def test_chosen_groups_end_in_one_draft_of_the_fewest_acls(read_cluster, page, tmp_path):
    client, _ = page
    topics_of_zoe(read_cluster, tmp_path, "a.1", "a.2")
    rows_shown = client.get(PAGE).context["rows"]
    zoe, anonymous = (
        next(row.denial for row in rows_shown if row.denial.principal == name)
        for name in ("User:zoe", "User:ANONYMOUS")
    )

    asked = {"alike": zoe.key, "choose": anonymous.key}
    exact = client.get(f"{PAGE}denials/acls/", asked)
    wide = client.get(f"{PAGE}denials/acls/", asked | {"names": "first-delimiter", "hosts": "any"})
    draft = client.post("/c/test-eu/what-if/", {"line": exact.context["lines"]}, follow=True)

    assert [row.binding for row in exact.context["rows"]] == [
        allow("User:zoe", "READ", name, host="10.0.0.7") for name in ("a.1", "a.2")
    ]
    assert [row.binding for row in wide.context["rows"]] == [
        allow("User:zoe", "READ", "a.", pattern="PREFIXED")
    ]
    text = unescape(exact.content.decode())
    assert "2 ACLs would have allowed 6 denials of 6 in 3 groups." in text
    assert "an ACL would not mend that" in text
    assert [line.binding for line in draft.context["draft"].lines] == [
        row.binding for row in exact.context["rows"]
    ]


@pytest.mark.parametrize("asked", ["", "?choose=none", "?choose=" + 64 * "0", "?alike=%00&hosts=odd"])
def test_a_choice_of_nothing_is_explained(page, asked):
    client, _ = page

    answer = client.get(f"{PAGE}denials/acls/{asked}")

    assert answer.status_code == 200
    assert "Nothing is chosen" in answer.content.decode()


def test_a_group_without_a_denial_for_a_week_is_folded_as_fixed(read_cluster, page, tmp_path):
    client, _ = page
    old = [{"day": "2026-11-09", "lines": 4}]
    quiet = request("User:zoe", "READ", "a", lines=4, days=old, last_at=LAST - timedelta(days=11))
    load(write_result(tmp_path / "quiet", BINDINGS, requests=[*REFUSED.values(), quiet]), read_cluster)

    folded, shown = client.get(PAGE), client.get(PAGE, {"closed": "shown"})

    def zoes(answer):
        return [row for row in answer.context["rows"] if row.denial.principal == "User:zoe"]

    assert zoes(folded) == []
    assert "1 fixed; 4 denials" in " ".join(re.sub("<[^>]+>", "", folded.content.decode()).split())
    (row,) = zoes(shown)
    assert (row.word, row.denial.quiet_days) == ("fixed", 11)
    assert "no denial for 11 days" in shown.content.decode()
    assert folded.context["inbox"].counts["fixed"] == 1


def test_the_day_before_is_compared_and_coverage_stands_beside(read_cluster, page, tmp_path):
    client, _ = page
    days = [{"day": "2026-11-19", "lines": 11}, {"day": "2026-11-20", "lines": 2}]
    topics_of_zoe(read_cluster, tmp_path, "a", lines=13, days=days)

    whole = unescape(client.get(PAGE).content.decode())
    few = {"hours": [3], "permit_hours": [3]}
    gap = [*log_days("broker-1.log"), *log_days("broker-2.log", last=LAST - timedelta(days=1), **few)]
    load(
        write_result(tmp_path / "gap", BINDINGS, requests=list(REFUSED.values()), coverage=gap), read_cluster
    )
    partial = unescape(client.get(PAGE).content.decode())

    assert "11 the day before; the log ends at 20:00" in whole
    assert "14 of 14 days" in whole.split('class="tile strip"')[1]
    assert "at least 0 the day before" in partial
    assert "no log: 1 day to 20 Nov" in partial.split('class="tile strip"')[1]


def test_the_record_marks_what_was_denied_and_near_names_are_on_the_page(read_cluster, page, tmp_path):
    client, _ = page
    record = (
        "[2026-11-20 20:00:00,000] INFO Principal = User:jlundt is Denied Operation = Describe from host = 10.0.0.7 "
        "on resource = Topic:LITERAL:stock for request = Metadata with resourceRefCount = 1 (kafka.authorizer.logger)"
    )
    asked = request("User:jlundt", "DESCRIBE", "stock", sample=record, api_names=["Metadata"])
    load(write_result(tmp_path / "near", BINDINGS, requests=[asked]), read_cluster)

    answer, _ = opened(client, "User:jlundt")

    text = unescape(answer.content.decode())
    marked = [unescape(re.sub("<[^>]+>", "", part)) for part in re.findall("<mark>(.*?)</mark>", text)]
    assert marked == ["User:jlundt", "Denied", "Describe", "10.0.0.7", "stock"]
    assert "Principals of ACLs with nearly this name" in text
    assert "User:jlund" in text.split("with nearly this name")[1].split("</p>")[0]
    assert "Write may be asked next" in text
    assert "Read may be asked next" in text


def test_an_open_group_tells_its_brokers_and_who_wrote_the_last_record(read_cluster, page, tmp_path):
    client, _ = page
    of_dan = dict(zip(("principal", "operation", "resource_type", "resource_name"), DAN, strict=True))
    at = round(LAST.replace(tzinfo=UTC).timestamp()) * 1_000_000
    brokers = [
        of_dan | {"broker": "/logs/b1", "lines": 52, "last_us": at - 1_000_000},
        of_dan | {"broker": "/logs/b2", "lines": 28, "last_us": at},
    ]
    before, _ = opened(client, "User:dan")
    load(
        write_result(
            tmp_path / "brokers",
            BINDINGS,
            requests=REFUSED.values(),
            denied_by_broker=brokers,
            broker_names={"/logs/b1": "broker 1"},
        ),
        read_cluster,
    )

    after, _ = opened(client, "User:dan")

    def brokers_of(answer):
        text = unescape(answer.content.decode()).split("Brokers, whole log</dt>")[1].split("</dd>")[0]
        return " ".join(re.sub("<[^>]+>", " ", text).split())

    assert "cannot tell" in brokers_of(before)
    assert brokers_of(after) == "52 on broker 1, 28 on /logs/b2"
    (row,) = [row for row in after.context["rows"] if row.opened]
    assert row.denial.last_broker == "/logs/b2"


def test_the_list_takes_at_most_thirteen_queries_and_reads_no_large_column(
    page, django_assert_max_num_queries
):
    client, _ = page

    with django_assert_max_num_queries(12) as asked:
        assert client.get(PAGE).status_code == 200

    wide = [
        query["sql"][:80] for query in asked if '"manifest"' in query["sql"] or '"sample"' in query["sql"]
    ]
    assert wide == []


@pytest.mark.django_db(transaction=True)
def test_a_denial_is_opened_marked_and_walked_to_the_impact_of_its_draft(window, read_cluster, ada):
    page = window(ada, PAGE)

    row = page.locator("table.inbox tbody").filter(has_text="User:dan")
    row.get_by_role("link", name="Open the denials of User:dan").click()
    row.get_by_role("heading", name="Smallest ACL that would have allowed it").wait_for()
    assert page.evaluate("document.activeElement.textContent.trim()").startswith("Close")
    assert "open=" in page.url
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert axe_violations(page) == [], theme
    row.get_by_text("Expected", exact=True).click()
    row.get_by_label("Why", exact=True).fill("a probe")
    row.get_by_role("button", name="Set state").click()
    page.get_by_text("Expected, set by ada on").wait_for()
    row.get_by_role("link", name="Close").click()
    # Pressed at once, the next link would be replaced by the answer to this one.
    row.get_by_role("link", name="Close").wait_for(state="detached")
    # What is expected is folded until somebody asks for it.
    page.get_by_role("link", name="Show all").click()
    row.get_by_role("link", name="Open the denials of User:dan").wait_for()

    page.set_viewport_size({"width": 390, "height": 700})
    link = row.get_by_role("link", name="Open the denials of User:dan")
    link.scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    link.click()
    row.get_by_role("heading", name="Smallest ACL that would have allowed it").wait_for()
    assert page.evaluate("scrollY") == before
    page.set_viewport_size({"width": 1440, "height": 900})

    row = page.locator("table.inbox tbody").filter(has_text="User:cat")
    row.get_by_role("link", name="Propose ACL").click()
    page.get_by_role("heading", name="Access diff").wait_for()

    assert page.locator(".draft-lines li").count() == 1
    assert page.locator(".tile", has_text="Gains").locator(".tile-number").inner_text() != "0"
    assert page.watch.complaints == []
