"""The what-if page shows the difference in access of a draft, saves nothing, and loses nothing that was typed."""

from __future__ import annotations

import json
import re
import zlib
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from aclweb.acl.simulate import Budget, plain
from aclweb.changes.models import Change
from aclweb.clusters import TopicInfo
from aclweb.inventory.sync.run import sync
from aclweb.web.drafts import before_adding, impact_rows, whatif
from aclweb.web.models import KeptDraft
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.inventory.answering_cluster import Answers
from tests.web.diff_rows import shown_rows

IN_FORCE = allow("User:bob", "READ", "orders.eu")
RULE = {
    "add_rule": "1",
    "permission_type": "ALLOW",
    "principal": "User:cat",
    "operation": "READ",
    "resource_type": "TOPIC",
    "pattern": "PREFIXED",
    "resource_name": "orders.",
    "host": "",
}


@pytest.fixture
def address(cluster) -> str:
    with FakeCluster(bindings=[IN_FORCE], topics=["orders.eu", "orders.us", "stock"]) as fake:
        sync(cluster, client=fake)
    return f"/c/{cluster.slug}/what-if/"


@pytest.fixture
def ada_browser(ada, signed_in):
    return signed_in(ada)


def line(binding, op="add") -> str:
    return json.dumps({"op": op, **binding.as_dict()})


def test_an_acl_that_was_typed_joins_the_draft_and_shows_who_gains(address, ada_browser):
    page = ada_browser.post(address, RULE, follow=True)

    tiles = {tile.kind: tile.count for tile in page.context["tiles"]}
    assert page.status_code == 200
    assert tiles["loses"] == 0
    (row,) = shown_rows(page)
    assert plain(row.which) == "every topic that starts with 'orders.' (2 now, and all to come)"
    assert (plain(row.who), row.operations) == (RULE["principal"], "Read, Describe")
    assert not Change.objects.exists()


def test_a_removal_shows_who_loses_first(address, ada_browser):
    page = ada_browser.get(address, {"remove": json.dumps(IN_FORCE.as_dict())})

    assert page.context["show"] == "loses"
    assert [plain(row.who) for row in shown_rows(page)] == ["User:bob"]


def test_a_row_chosen_in_the_acl_list_becomes_a_removal(address, ada_browser, cluster):
    key = cluster.acls.get().key

    page = ada_browser.post(address, {"remove_key": key}, follow=True)

    assert [(found.op, found.binding) for found in page.context["draft"].lines] == [("remove", IN_FORCE)]


def test_a_new_topic_shows_who_could_use_it_on_its_first_day(address, ada_browser):
    page = ada_browser.get(
        address, {"line": line(allow("User:cat", "READ", "new.", pattern="PREFIXED")), "new_topic": "new.one"}
    )

    rows = shown_rows(page)
    assert {plain(row.who) for row in rows if plain(row.which) == "new.one"} == {"User:cat"}


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        (
            "principal",
            ",".join(f"User:c{number}" for number in range(501)),
            "names 501 principals, and at most 500",
        ),
        ("principal", "User:cat ", "begins or ends with a space"),
        ("host", "cats-laptop", "is not an address"),
        ("operation", "IDEMPOTENT_WRITE", "means nothing on a topic"),
        ("resource_name", "", "A name is needed"),
        ("resource_name", "*", "begin with an asterisk"),
    ],
)
def test_a_wrong_field_says_what_would_be_right_and_keeps_the_rest(
    address, ada_browser, field, value, sentence
):
    page = ada_browser.post(
        address,
        {**RULE, field: value, "line": line(allow("User:dan", "WRITE", "stock"))},
        follow=True,
    )

    form = page.context["form"]
    assert sentence in " ".join(form.errors[field])
    assert form["principal"].value() == {**RULE, field: value}["principal"]
    assert len(page.context["draft"].lines) == 1


def test_a_bare_name_gets_its_type_and_the_page_says_so(address, ada_browser):
    page = ada_browser.post(address, RULE | {"principal": "cat"}, follow=True)

    assert [line.binding.principal for line in page.context["draft"].lines] == ["User:cat"]
    assert "'cat' has no type, so it is read as 'User:cat'." in unescape(page.content.decode())


@pytest.mark.parametrize(
    "typed",
    ["User:cat,User:dan", "User:cat; User:dan;User:cat", "cat, dan", "User:cat\nUser:dan", "cat,User:dan"],
)
def test_several_principals_get_an_acl_each(address, ada_browser, typed):
    page = ada_browser.post(address, RULE | {"principal": typed}, follow=True)

    assert [line.binding.principal for line in page.context["draft"].lines] == ["User:cat", "User:dan"]
    assert {line.binding.resource_name for line in page.context["draft"].lines} == {RULE["resource_name"]}


def test_a_certificate_name_with_commas_stays_one_principal(address, ada_browser):
    name = "User:CN=fraud,OU=risk, O=Acme"
    page = ada_browser.post(address, RULE | {"principal": f"{name},User:cat"}, follow=True)

    assert [line.binding.principal for line in page.context["draft"].lines] == [name, "User:cat"]


def test_what_is_in_force_of_several_is_left_out_and_counted_in_the_button(address, ada_browser, cluster):
    sync(cluster, client=FakeCluster([allow("User:cat", "READ", "orders.", pattern="PREFIXED")]))
    typed = RULE | {"principal": "User:cat,User:dan,User:eli"}

    shown = ada_browser.get(f"{address}matches/", typed).content.decode()
    page = ada_browser.post(address, typed, follow=True)

    assert '<span id="add-count" hx-swap-oob="true"> 3 ACLs</span>' in shown
    assert "1 of these 3 ACLs is in force already, and left out." in shown
    assert [line.binding.principal for line in page.context["draft"].lines] == ["User:dan", "User:eli"]
    assert "1 of these 3 ACLs is in force already, and left out." in page.content.decode()


def test_a_draft_that_would_become_too_long_takes_none_of_them(address, ada_browser, monkeypatch):
    monkeypatch.setattr("aclweb.web.drafts.whatif.MOST_LINES", 2)
    page = ada_browser.post(address, RULE | {"principal": "User:a,User:b,User:c"}, follow=True)

    assert "with these 3 it would have 3" in page.content.decode()
    assert page.context["form"]["principal"].value() == "User:a,User:b,User:c"
    assert page.context["draft"].lines == ()


@pytest.mark.parametrize("field", ["principal", "resource_name", "host", "new_topic", "paste"])
def test_a_key_in_the_wrong_field_is_reported_and_neither_shown_nor_kept(address, ada_browser, field):
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n"
    lines = [line(allow("User:eve", "READ", f"t{number}")) for number in range(40)]

    page = ada_browser.post(address, RULE | {field: key, "line": lines}, follow=True)

    told = unescape(page.content.decode())
    assert "This is a certificate or a key in PEM" in told
    assert "MIIEv" not in told
    assert page.context["form"]["operation"].value() == "READ" or field in ("new_topic", "paste")
    assert len(page.context["draft"].lines) >= 40
    assert not any(b"MIIEv" in zlib.decompress(bytes(kept.content)) for kept in KeptDraft.objects.all())


def test_a_name_that_no_topic_may_have_is_reported_by_the_check_of_the_core(address, ada_browser):
    page = ada_browser.post(address, {"new_topic": ["x" * 300, "good.name"]}, follow=True)

    told = unescape(page.content.decode())
    assert "no topic has a name of more than 249 characters" in told
    assert page.context["draft"].new_topics == ("good.name",)
    assert f'name="new_topic" value="{"x" * 300}"' in told


def test_a_short_ipv6_host_is_written_as_brokers_compare_it(address, ada_browser):
    page = ada_browser.post(address, {**RULE, "host": "::1"}, follow=True)

    assert page.context["draft"].lines[0].binding.host == "0:0:0:0:0:0:0:1"


def test_pasted_acls_that_cannot_be_read_are_named_and_nothing_is_lost(address, ada_browser):
    page = ada_browser.post(
        address, {"paste": '{"nonsense": 1}', "line": line(IN_FORCE, "remove")}, follow=True
    )

    assert any("Line 1:" in fault.sentence for fault in page.context["draft"].faults)
    assert b"{&quot;nonsense&quot;: 1}" in page.content
    assert len(page.context["draft"].lines) == 1


def test_a_long_draft_is_listed_a_page_at_a_time_and_carries_all_of_it(address, ada_browser):
    lines = [line(allow("User:eve", "READ", f"t{number:03}"), "add") for number in range(203)]

    page = ada_browser.post(address, {"line": lines, "cards": "26"}, follow=True)

    assert "201 to 203 of 203" in page.text
    assert re.findall(r'name="drop" value="(\d+)"', page.text) == ["200", "201", "202"]
    assert len(page.context["draft"].lines) == 203
    left = ada_browser.post(page.request["PATH_INFO"], {"line": lines, "drop": "201"}, follow=True)
    assert [each.binding.resource_name for each in left.context["draft"].lines[-2:]] == ["t200", "t202"]


def test_an_acl_that_joins_a_long_draft_is_in_sight(address, ada_browser):
    lines = [line(allow("User:eve", "READ", f"t{number}")) for number in range(30)]

    page = ada_browser.post(address, {"line": lines, **RULE, "add_rule": "1"}, follow=True)

    assert page.context["cards"].object_list[-1].line.binding.principal == RULE["principal"]


def test_removing_what_is_not_there_is_said(address, ada_browser):
    page = ada_browser.get(address, {"line": line(allow("User:eve", "READ", "x"), "remove")})

    assert "no such ACL" in page.context["draft"].faults[0].sentence
    assert page.context["draft"].is_empty


def test_a_hostile_name_is_shown_and_never_run(address, ada_browser):
    hostile = allow("User:<script>alert(1)</script>", "READ", 'x"><img src=x>')

    page = ada_browser.get(address, {"line": line(hostile)})

    assert b"<script>alert" not in page.content
    assert b"<img src=x" not in page.content


def test_a_draft_becomes_a_change_that_waits_for_review(address, ada_browser, ada):
    answer = ada_browser.post(
        address + "change/",
        {
            "line": line(allow("User:cat", "READ", "stock")),
            "title": "Cat reads stock",
            "reason": "She asked.",
        },
    )

    change = Change.objects.get()
    assert answer.status_code == 302
    assert (change.state, change.author, change.title) == (Change.State.IN_REVIEW, ada, "Cat reads stock")


def test_a_change_without_a_title_is_refused_and_the_draft_stays(address, ada_browser):
    page = ada_browser.post(
        address + "change/", {"line": line(allow("User:cat", "READ", "stock")), "title": " ", "reason": "why"}
    )

    assert page.status_code == 422
    assert page.context["request_error"]
    assert page.context["reason"] == "why"
    assert len(page.context["draft"].lines) == 1
    assert not Change.objects.exists()


def test_somebody_who_only_looks_sees_the_effect_and_cannot_request_it(address, cho, signed_in):
    browser = signed_in(cho)

    page = browser.get(address, {"line": line(allow("User:cat", "READ", "stock"))})
    refused = browser.post(
        address + "change/", {"line": line(allow("User:cat", "READ", "stock")), "title": "t"}
    )

    assert page.status_code == 200
    assert b"Request this change" not in page.content
    assert refused.status_code == 403
    assert not Change.objects.exists()


def test_htmx_gets_only_the_part_and_a_link_that_shows_the_draft_again(address, ada_browser):
    part = ada_browser.post(address, RULE, headers={"HX-Request": "true"})
    again = ada_browser.get(part["HX-Push-Url"])

    assert b"<html" not in part.content
    assert again.context["draft"] == part.context["draft"]


@pytest.mark.parametrize(("pattern", "count"), [("PREFIXED", 2), ("ALL", 3), ("LITERAL", 0)])
def test_the_names_that_a_pattern_covers_now_are_counted_while_typing(address, ada_browser, pattern, count):
    part = ada_browser.get(
        address + "matches/", {"resource_type": "TOPIC", "pattern": pattern, "resource_name": "orders."}
    )

    assert part.context["count"] == count


def test_what_an_acl_would_change_is_shown_before_it_is_added(address, ada_browser):
    part = ada_browser.get(f"{address}matches/", RULE)

    (row,) = part.context["before_adding"].told.rows
    assert (row.kind, plain(row.who), row.operations) == ("gains", RULE["principal"], "Read, Describe")
    assert plain(row.which) == "every topic that starts with 'orders.' (2 now, and all to come)"
    page = ada_browser.post(address, RULE, follow=True)
    assert part.context["before_adding"].counts == page.context["preview"].impact.counts
    assert part.context["before_adding"].with_draft is None


def test_what_the_draft_would_change_with_an_acl_is_shown_before_it_is_added(address, ada_browser):
    removal = line(IN_FORCE, "remove")
    deny = {
        **RULE,
        "permission_type": "DENY",
        "principal": "User:bob",
        "pattern": "LITERAL",
        "resource_name": "stock",
    }

    part = ada_browser.get(f"{address}matches/", {**RULE, "line": removal})
    same_draft = ada_browser.post(address, {**RULE, "line": removal, "add_rule": "1"}, follow=True)
    nothing = ada_browser.get(f"{address}matches/", {**deny, "principal": "User:nobody-else"})

    before = part.context["before_adding"]
    assert before.counts["loses"] == 0 < before.with_draft["loses"]
    assert before.with_draft == same_draft.context["preview"].impact.counts
    assert "By itself it would change no answer" in nothing.text


def test_an_acl_that_is_there_or_cannot_be_has_no_impact_before_it_is_added(address, ada_browser, cluster):
    there = {**RULE, "principal": IN_FORCE.principal, "operation": IN_FORCE.operation.name}
    there |= {"pattern": IN_FORCE.pattern_type.name, "resource_name": IN_FORCE.resource_name}

    for typed in (there, {**RULE, "operation": "IDEMPOTENT_WRITE"}, {**RULE, "principal": ""}):
        part = ada_browser.get(f"{address}matches/", typed)
        assert part.status_code == 200
        assert not part.context.get("before_adding")


def test_an_acl_whose_impact_takes_long_is_not_worked_out_while_it_is_typed(
    address, ada_browser, monkeypatch
):
    monkeypatch.setattr(before_adding, "WHILE_TYPING", Budget(steps=1, differences=1))

    part = ada_browser.get(f"{address}matches/", RULE)

    assert "Add it to see what would change" in part.text


def test_the_page_needs_few_queries_however_long_the_draft_is(
    address, ada_browser, django_assert_max_num_queries
):
    lines = [line(allow(f"User:u{number}", "READ", "stock")) for number in range(50)]

    with django_assert_max_num_queries(6):
        sent = ada_browser.post(address, {"line": lines})
    with django_assert_max_num_queries(10):
        page = ada_browser.get(sent["Location"])
    assert len(page.context["draft"].lines) == 50


def test_the_copied_commands_are_those_of_every_line_of_a_long_draft(address, ada_browser):
    lines = [line(allow("User:eve", "READ", f"t{number}")) for number in range(203)]
    page = ada_browser.post(
        address, {"line": [*lines, line(IN_FORCE, "remove")], "tab": "commands"}, follow=True
    )

    (link,) = re.findall(r'data-copy-url="([^"]*commands[^"]*)"', page.content.decode())
    text = b"".join(ada_browser.get(unescape(link)).streaming_content).decode()

    assert "Copy all 204" in page.content.decode()
    assert len(page.context["preview"].commands) == 204
    assert text.splitlines()[1:] == page.context["preview"].commands


@pytest.mark.parametrize(
    "hostile", ["[" * 5_000, '{"op": ' + "9" * 5_000 + "}", '{"op": {}}', '"\\ud800"', "\x00", "{}"]
)
def test_a_line_that_cannot_be_read_is_reported_and_left_out(ada_browser, address, hostile):
    page = ada_browser.post(
        address, {"line": [hostile, line(allow("User:cat", "READ", "stock"))]}, follow=True
    )

    assert page.status_code == 200
    assert len(page.context["draft"].faults) == 1
    assert len(page.context["draft"].lines) == 1


def test_a_place_that_no_line_has_drops_nothing(ada_browser, address):
    page = ada_browser.post(
        address, {"line": line(IN_FORCE, "remove"), "drop": ["9" * 5_000, "²", "-1"]}, follow=True
    )

    assert len(page.context["draft"].lines) == 1


def test_no_gains_does_not_mean_that_nobody_is_affected(ada_browser, address):
    page = ada_browser.post(address, {"line": line(IN_FORCE, "remove"), "show": "gains"}, follow=True)

    assert page.context["preview"].impact.loses
    assert b"Nobody&#x27;s access would change" not in page.content
    assert b"Nobody's access would change" not in page.content
    assert b"None of these" in page.content


def test_no_effect_is_reported_of_a_cluster_that_was_never_read(ada_browser, cluster):
    page = ada_browser.post(f"/c/{cluster.slug}/what-if/", RULE, follow=True)

    assert b"Cannot tell yet" in page.content
    assert b"Gains access" not in page.content


@pytest.mark.parametrize(
    "wrong",
    [{"principal": "bob"}, {"resource_name": ""}, {"operation": "UNKNOWN"}, {"pattern_type": "GLOB"}],
    ids=str,
)
@pytest.mark.parametrize("field", ["add", "paste"])
def test_an_acl_that_no_broker_takes_is_reported_beside_the_draft(address, ada_browser, field, wrong):
    rule = {**allow("User:cat", "READ", "stock").as_dict(), **wrong}

    page = ada_browser.post(
        address,
        {field: json.dumps(rule), "line": line(allow("User:dan", "WRITE", "stock"))},
        follow=True,
    )

    assert page.status_code == 200
    assert page.context["draft"].faults
    assert [found.binding.principal for found in page.context["draft"].lines] == ["User:dan"]


def test_a_draft_that_adds_and_removes_the_same_acl_keeps_the_first_and_says_so(address, ada_browser):
    page = ada_browser.post(address, {"line": [line(IN_FORCE, "remove"), line(IN_FORCE, "add")]}, follow=True)

    assert [found.op for found in page.context["draft"].lines] == ["remove"]
    assert "cannot add and remove the same ACL" in " ".join(map(str, page.context["draft"].faults))


def test_what_is_legal_and_probably_wrong_is_told_while_it_is_typed_and_in_the_draft(address, ada_browser):
    typed = ada_browser.get(address + "matches/", RULE | {"resource_name": "order"})
    added = ada_browser.post(address, RULE | {"resource_name": "order"}, follow=True)
    clean = ada_browser.get(address + "matches/", RULE)

    assert [finding.rule for finding in typed.context["cautions"]] == ["prefix-without-delimiter"]
    assert b"prefix-without-delimiter" in typed.content
    assert b"this also matches order2" in added.content
    assert not clean.context["cautions"]


def test_acls_for_hosts_that_no_client_has_change_nothing_and_that_is_said(address, ada_browser):
    nowhere = [allow("User:cat", "READ", "stock", host=host) for host in ("cats-laptop", "::1")]
    somewhere = allow("User:cat", "READ", "stock", host="10.0.0.9")

    page = ada_browser.post(address, {"line": [line(rule) for rule in (*nowhere, somewhere)]}, follow=True)

    assert {plain(row.where) for row in shown_rows(page)} == {"from 10.0.0.9"}
    (note,) = page.context["preview"].notes
    assert note.startswith("2 of these ACLs match no request, so they change nothing for anybody.")


def test_only_the_differences_of_the_page_shown_are_put_into_words(address, ada_browser, monkeypatch):
    acls = [allow(f"User:u{number}", "READ", f"stock.{number}") for number in range(30)]
    told, row = [], impact_rows._row
    monkeypatch.setattr("aclweb.web.drafts.whatif.FOLDS_A_PAGE", 4)
    monkeypatch.setattr(impact_rows, "_row", lambda *place: told.append(place) or row(*place))

    page = ada_browser.post(address, {"line": [line(rule) for rule in acls], "page": "2"}, follow=True)

    assert page.context["diff"].paginator.count == 30
    assert [plain(row.who) for row in shown_rows(page)] == sorted(rule.principal for rule in acls)[4:8]
    assert len(told) == 4 + impact_rows.MOST_TOLD


def test_what_other_acls_would_allow_is_shown_with_the_acls_of_before_and_after(address, ada_browser):
    prefix = allow("User:bob", "READ", "orders.", pattern="PREFIXED")
    swap = [line(prefix), line(IN_FORCE, "remove")]

    page = ada_browser.post(address, {"line": swap, "show": "recovered"}, follow=True)

    (row,) = shown_rows(page)
    assert (row.before.bindings, row.after.bindings) == ((IN_FORCE,), (prefix,))
    table = page.content.decode().partition('<table class="table delta"')[2].partition("</table>")[0]
    assert table.count('class="binding"') == 2


def test_a_difference_says_of_what_kind_its_resource_is_where_it_is_no_topic(address, ada_browser):
    acls = [
        allow("User:cat", "READ", "billing", resource_type="GROUP"),
        allow("User:cat", "DESCRIBE", "kafka-cluster", resource_type="CLUSTER"),
        allow("User:cat", "READ", "stock"),
    ]

    page = ada_browser.post(address, {"line": [line(rule) for rule in acls], "show": "gains"}, follow=True)

    table = page.content.decode().partition('<table class="table delta"')[2].partition("</table>")[0]
    cells = [re.sub("<[^>]+>", "", cell) for cell in re.findall('delta-resource">(.*?)<td', table)]
    assert sorted(cells) == ["group billing", "stock", "the cluster"]


# --- a row that is open -----------------------------------------------------------------------


def test_a_row_opens_to_all_names_hosts_and_acls_that_it_is_about(address, ada_browser, cluster):
    sync(cluster, client=Answers([IN_FORCE], topics=[TopicInfo(f"orders.{n:03}") for n in range(250)]))
    acl = allow("User:cat", "READ", "orders.", pattern="PREFIXED", host="10.0.0.9")

    first = ada_browser.post(address, {"line": line(acl), "open": "0"}, follow=True)
    third = ada_browser.get(address, {"line": line(acl), "open": "0.7"})
    closed = ada_browser.get(address, {"line": line(acl), "open": ""})

    opened = first.context["opened"]
    assert (opened.principals.texts, opened.hosts.texts) == (("User:cat",), ("10.0.0.9",))
    assert opened.after.bindings == (acl,)
    assert [plain(name) for name in third.context["opened_names"].object_list][-3:] == [
        "orders.249",
        "orders.eu (known from ACLs alone)",
        "any other topic that starts with 'orders.'",
    ]
    assert len(first.context["opened_names"].object_list) == 40
    assert opened.cells == 2 * 252
    assert b'aria-expanded="true"' in first.content
    assert "opened" not in closed.context


def test_the_page_of_the_row_that_opens_is_shown(address, ada_browser, monkeypatch):
    monkeypatch.setattr("aclweb.web.drafts.whatif.FOLDS_A_PAGE", 4)
    lines = [line(allow(f"User:u{n}", "READ", f"stock.{n}")) for n in range(9)]

    page = ada_browser.post(address, {"line": lines, "open": "6"}, follow=True)

    assert page.context["diff"].number == 2
    assert page.context["opened"].principals.texts == ("User:u6",)


@pytest.mark.parametrize("wrong", ["99", "-1", "x", "1.x", "²", "9" * 40, "0.999"])
def test_a_row_that_is_not_there_is_not_opened(address, ada_browser, wrong):
    page = ada_browser.get(address, {"line": line(allow("User:cat", "READ", "stock")), "open": wrong})

    assert page.status_code == 200
    assert page.context.get("opened") is None or wrong == "0.999"


def test_a_draft_is_shown_as_text_and_read_from_it(address, ada_browser):
    gains = line(allow("User:cat", "READ", "stock"))
    removal = line(IN_FORCE, "remove")
    page = ada_browser.post(address, {"line": gains, "as": "text"}, follow=True)
    assert page.context["text"] == f"{gains}\n"
    assert 'name="text"' in page.text

    edited = ada_browser.post(
        address, {"line": gains, "as": ["text", ""], "text": f"{gains}\n{removal}\n"}, follow=True
    )
    emptied = ada_browser.post(address, {"line": gains, "text": " \n"}, follow=True)
    commands = "kafka-acls --add --allow-principal User:dog --operation Write --topic stock"
    typed = ada_browser.post(address, {"line": gains, "text": commands}, follow=True)

    assert [each.as_text() for each in edited.context["draft"].lines] == [gains, removal]
    assert not edited.context["is_text"]
    assert emptied.context["draft"].is_empty
    assert {each.binding.principal for each in typed.context["draft"].lines} == {"User:dog"}


def test_a_text_that_cannot_be_read_stays_as_it_was_typed_and_the_draft_as_it_was(address, ada_browser):
    gains = line(allow("User:cat", "READ", "stock"))
    wrong = gains.replace("READ", "REED")

    page = ada_browser.post(address, {"line": gains, "as": "", "text": f"{gains}\n{wrong}\n"})

    assert [each.as_text() for each in page.context["draft"].lines] == [gains]
    assert page.context["text"] == f"{gains}\n{wrong}\n"
    (fault,) = page.context["draft"].faults_by_field["text"]
    assert fault.sentence.startswith("Line 2: ")
    assert "REED" in fault.sentence


def test_a_draft_of_very_many_acls_is_no_text_to_edit(address, ada_browser, monkeypatch):
    monkeypatch.setattr(whatif, "MOST_AS_TEXT", 1)
    lines = [line(allow(f"User:u{number}", "READ", "stock")) for number in range(2)]

    page = ada_browser.get(address, {"line": lines, "as": "text"})

    assert not page.context["is_text"]
    assert len(page.context["draft"].lines) == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xef\xbb\xbf" + line(allow("User:cat", "READ", "stock")).encode() + b"\r\n", ""),
        (b"\xff\xfe", "The file is no UTF-8 text: byte 1 cannot be read."),
        (b"x" * (whatif.MOST_UPLOADED + 1), "up to 1,048,576 are read here"),
    ],
    ids=["read", "not UTF-8", "too large"],
)
def test_a_file_joins_the_draft_or_is_refused_beside_its_field(address, ada_browser, content, said):
    there = line(allow("User:dog", "READ", "stock"))
    file = SimpleUploadedFile("acls.jsonl", content)

    page = ada_browser.post(address, {"line": there, "paste": "", "file": file}, follow=True)

    principals = {each.binding.principal for each in page.context["draft"].lines}
    assert principals == ({"User:dog"} if said else {"User:dog", "User:cat"})
    assert "".join(fault.sentence for fault in page.context["draft"].faults).count(said) >= bool(said)
    assert said in unescape(page.text)


def test_an_impact_is_a_sentence_before_it_is_numbers_and_rows(address, ada_browser):
    removal = line(IN_FORCE, "remove")
    adds = [
        line(allow(f"User:u{number}", "READ", name))
        for number in range(5)
        for name in ("stock", f"n{number}")
    ]

    one = ada_browser.get(address, {"line": removal})
    many = ada_browser.get(address, {"line": [removal, *adds]})

    (row,) = one.context["told"].rows
    assert (row.kind, plain(row.who), row.are_several) == ("loses", "User:bob", False)
    assert "loses <b>Read, Describe</b> on" in one.text
    told = many.context["told"]
    assert [each.kind for each in told.rows] == ["loses", "gains", "gains"]
    kinds = [group.change for group in many.context["preview"].impact.groups]
    assert told.more == len(impact_rows.rows(many.context["preview"].impact, *impact_rows.TOLD)) - 3
    assert set(kinds) >= {"loses", "gains"}
    assert f"and {told.more} more groups of answers" in many.text


def test_an_acl_for_hundreds_of_principals_is_looked_at_before_it_is_added(address, ada_browser):
    page = ada_browser.get(address)
    names = ", ".join(f"User:service-{number:03}" for number in range(400))

    part = ada_browser.post(f"{address}matches/", {**RULE, "principal": names})

    assert f'hx-post="{address}matches/"' in page.text
    assert part.context["acls"] == 400
    assert part.context["before_adding"].counts["gains"] > 400
