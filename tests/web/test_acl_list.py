"""The list of ACLs keeps its filters in the address, pages on the server, and hands rules on."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.http import QueryDict

from aclweb.acl.kafka.tool import plan
from aclweb.acl.notation.files import read_acls
from aclweb.clusters import TopicInfo
from aclweb.inventory.sync.run import sync
from aclweb.web.browse import acl_filters, acls
from aclweb.web.browse.resource_page import removals
from aclweb.web.shell import exporting
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers

LIST = "/c/test-eu/acls/"


@pytest.fixture
def browser(cluster, ada, signed_in):
    acls = [
        *(allow("User:bob", "READ", f"orders.{number}") for number in range(60)),
        deny("User:bob", "WRITE", "orders.", pattern="PREFIXED"),
        allow("User:cat", "READ", "*"),
        allow("User:o'hara", "READ", "billing", resource_type="GROUP"),
    ]
    sync(cluster, client=Answers(acls))
    return signed_in(ada)


def text(page) -> str:
    return unescape(page.content.decode())


def test_a_page_holds_a_page_and_leads_to_the_next_with_the_filters_kept(browser):
    page = browser.get(LIST, {"principal": "User:bob"})

    assert len(page.context["page"].object_list) == 50
    assert page.context["page"].paginator.count == 61
    assert "?principal=User%3Abob&page=2" in text(page)
    assert len(browser.get(LIST, {"principal": "User:bob", "page": "2"}).context["page"].object_list) == 11


def test_affects_exact_and_starts_with_are_three_answers(browser):
    counts = {
        match: browser.get(LIST, {"resource_type": "TOPIC", "name": "orders.7", "match": match})
        .context["page"]
        .paginator.count
        for match in ("exact", "affects", "starts")
    }

    assert counts == {"exact": 1, "affects": 3, "starts": 1}


def test_each_filter_in_force_is_a_chip_with_the_address_without_it(browser):
    page = browser.get(LIST, {"principal": "User:bob", "permission": "DENY", "page": "1"})

    chips = {chip.label: chip.without for chip in page.context["chips"]}
    assert chips == {"principal": "?permission=DENY", "permission": "?principal=User%3Abob"}


def test_facets_count_what_the_filters_let_through(browser):
    page = browser.get(LIST, {"principal": "User:bob"})

    counts = {
        (facet.label, choice.value): choice.count
        for facet in page.context["facets"]
        for choice in facet.values
    }
    assert counts["Permission", "DENY"] == 1
    assert counts["Permission", "ALLOW"] == 60
    assert counts["Pattern", "prefix"] == 1


def test_typed_filters_become_fields_of_the_address(browser):
    page = browser.get(LIST, {"add": "principal:User:bob op:write topic:orders.7"})

    assert page.status_code == 302
    assert QueryDict(page["Location"].partition("?")[2]).dict() == {
        "principal": "User:bob",
        "operation": "write",
        "resource_type": "TOPIC",
        "name": "orders.7",
        "match": "affects",
    }
    assert browser.get(page["Location"]).context["page"].paginator.count == 1


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("orders", {"text": "orders"}),
        ("orders principal:User:CN=bob, O=Acme", {"text": "orders", "principal": "User:CN=bob, O=Acme"}),
        ("group:bill host:*", {"resource_type": "GROUP", "name": "bill", "match": "affects", "host": "*"}),
        ("User:bob", {"text": "User:bob"}),
        ("", {}),
    ],
)  # fmt: skip
def test_a_typed_line_is_read_word_by_word(line, fields):
    assert acl_filters.typed(line) == fields


def test_a_word_that_kafka_does_not_know_is_reported_and_left_out(browser):
    page = browser.get(LIST, {"operation": "REED", "principal": "User:cat"})

    assert page.context["page"].paginator.count == 1
    assert "'REED' is not one that Kafka knows" in text(page)


def test_a_page_number_that_is_none_is_the_first(browser):
    for page in ("0", "-1", "x", "٣", "1e9", "99999999999999999999"):
        assert browser.get(LIST, {"page": page}).status_code == 200


def exported(browser, **query) -> str:
    answer = browser.get(f"{LIST}export/", query)
    assert answer.status_code == 200
    assert "attachment" in answer["Content-Disposition"]
    return b"".join(answer.streaming_content).decode()


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_an_export_holds_every_row_that_the_filters_let_through(browser, format):
    page = browser.get(LIST, {"principal": "User:bob"})
    assert len(page.context["page"].object_list) == 50

    text_of_all = exported(browser, principal="User:bob", format=format)

    found = read_acls(text_of_all, source="export", format=format)
    assert len(found) == page.context["page"].paginator.count == 61
    assert {binding.principal for binding in found} == {"User:bob"}
    assert [row.binding for row in page.context["page"].object_list] == list(found[:50])


def test_an_export_of_many_pieces_has_one_header_and_every_row(cluster, ada, signed_in, monkeypatch):
    acls = [allow("User:bob", "READ", f"orders.{number}") for number in range(25)]
    sync(cluster, client=Answers(acls))
    monkeypatch.setattr(exporting, "_AT_ONCE", 10)

    found = read_acls(exported(signed_in(ada), format="csv"), source="export", format="csv")

    assert set(found) == set(acls)
    assert len(found) == 25


def test_what_a_spreadsheet_takes_for_a_formula_is_guarded_in_an_export(cluster, ada, signed_in):
    sync(cluster, client=Answers([allow("User:bob", "READ", "-cmd|' /C calc'!A0")]))

    assert ",'-cmd|' /C calc'!A0," in exported(signed_in(ada), format="csv")


def test_the_copied_commands_are_those_of_every_page(browser):
    page = browser.get(LIST, {"principal": "User:bob"})
    address = re.search(r'data-copy-url="([^"]*)"', page.content.decode())

    assert "Copy 61 as kafka-acls" in text(page)
    assert address is not None
    lines = b"".join(browser.get(unescape(address[1])).streaming_content).decode().splitlines()
    assert lines[0].startswith("# 61 ACLs.")
    assert sum(line.startswith("kafka-acls ") for line in lines) == 61


def test_more_commands_than_a_clipboard_should_hold_are_a_download_only(browser, monkeypatch):
    monkeypatch.setattr(acls, "MOST_COPIED", 60)

    page = text(browser.get(LIST, {"principal": "User:bob"}))

    assert "as kafka-acls" not in page
    assert "Export 61" in page
    assert "format=kafka-acls" in page


def test_an_export_of_the_past_holds_the_past(cluster, ada, signed_in):
    sync(cluster, client=Answers([allow("User:bob", "READ", "old")]))
    sync(cluster, client=Answers([allow("User:bob", "READ", "new")]))

    found = read_acls(exported(signed_in(ada), format="jsonl", as_of="1"), source="export")

    assert [binding.resource_name for binding in found] == ["old"]


def test_every_letter_of_an_exported_command_is_quoted(browser):
    lines = exported(browser, principal="User:o'hara", format="kafka-acls").splitlines()

    assert len(lines) == 2
    assert plan(lines[1]).acls == (allow("User:o'hara", "READ", "billing", resource_type="GROUP"),)


def test_a_filter_that_is_none_exports_nothing(browser):
    answer = browser.get(f"{LIST}export/", {"operation": "REED", "format": "csv"}, follow=True)

    assert "'REED' is not one that Kafka knows" in text(answer)


def test_a_format_that_is_none_is_not_found(browser):
    assert browser.get(f"{LIST}export/", {"format": "xlsx"}).status_code == 404


def test_a_cluster_that_was_never_read_exports_no_empty_file(cluster, ada, signed_in):
    answer = signed_in(ada).get(f"{LIST}export/", {"format": "csv"}, follow=True)

    assert "Not synced yet" in text(answer)


def test_what_csv_cannot_hold_is_reported_and_no_shortened_file_is_made(cluster, ada, signed_in):
    half = allow("User:bob", "READ", "half \ud83d")
    sync(cluster, client=Answers([half, allow("User:bob", "READ", "whole")]))
    browser = signed_in(ada)

    answer = browser.get(f"{LIST}export/", {"format": "csv"}, follow=True)

    assert "No CSV was made" in text(answer)
    assert half in read_acls(exported(browser, format="jsonl"), source="export")


def test_selected_acls_go_to_a_what_if_that_removes_them(browser):
    page = browser.get(LIST, {"principal": "User:cat"})

    (short,) = re.findall(r"name=acl value=(\w+)>", text(page))
    answer = browser.post("/c/test-eu/acls/chosen/", {"acl": short, "do": "remove"}, follow=True)
    (line,) = answer.context["draft"].lines
    assert (line.op, line.binding) == ("remove", allow("User:cat", "READ", "*"))


def test_somebody_who_only_looks_gets_no_boxes_to_tick(browser, cho, signed_in):
    assert "name=acl" not in text(signed_in(cho).get(LIST))


def test_an_empty_answer_says_why_and_what_next(browser):
    page = browser.get(LIST, {"principal": "User:nobody"})

    assert "No ACL matches these filters" in text(page)
    assert "Clear the filters" in text(page)


def test_a_cluster_that_was_never_read_is_not_an_empty_list(cluster, ada, signed_in):
    assert "That does not mean that there are no ACLs" in text(signed_in(ada).get(LIST))


def test_an_acl_that_kafka_acls_cannot_be_reported_is_shown_as_a_comment(cluster, cho, signed_in):
    odd = allow("User:bob", "READ", "t", resource_type="CLUSTER")
    sync(cluster, client=Answers([odd, allow("User:bob", "READ", "t")]))

    lines = exported(signed_in(cho), format="kafka-acls").splitlines()[1:]

    assert [line.split()[0] for line in sorted(lines)] == ["#", "kafka-acls"]
    assert any(line.startswith("# Not a command:") and '"CLUSTER"' in line for line in lines)


def test_a_whole_page_of_selected_acls_reaches_the_what_if(browser):
    keys = [row.short_key for row in browser.get(LIST).context["page"].object_list]

    page = browser.post("/c/test-eu/acls/chosen/", {"acl": keys, "do": "remove"}, follow=True)

    assert len(page.context["draft"].lines) == len(keys) == 50


def test_no_link_that_removes_acls_is_longer_than_a_web_server_takes():
    acls = [allow("User:bob", "READ", f"orders.{number}") for number in range(60)]

    assert 2_000 < len(removals(acls[:45])) < 3_600
    assert removals(acls) == ""


def test_an_acl_that_no_tool_can_remove_is_shown_without_a_box_to_select_it(cluster, ada, signed_in):
    newer = allow("User:bob", "UNKNOWN", "newer")
    sync(cluster, client=Answers([newer, allow("User:bob", "READ", "known")]))

    page = signed_in(ada).get(f"/c/{cluster.slug}/acls/").content.decode()

    assert page.count("name=acl") == 1
    assert 'data-mark="gate"' in page


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        ("", ["orders.", "a", "b", "c", "*"]),
        ("principal", ["b", "*", "c", "orders.", "a"]),
        ("-principal", ["a", "orders.", "c", "*", "b"]),
        ("resource", ["*", "a", "b", "c", "orders."]),
        ("-host", ["orders.", "a", "b", "*", "c"]),
        ("operation", ["a", "b", "c", "*", "orders."]),
        ("-matches", ["*", "b", "orders.", "a", "c"]),
        ("matches", ["orders.", "a", "b", "*", "c"]),
    ],
)  # fmt: skip
def test_a_column_sorts_either_way_and_what_nobody_can_count_comes_last(cluster, ada, signed_in, sort, names):
    acls = [
        deny("User:yan", "WRITE", "orders.", pattern="PREFIXED", host="9.9.9.9"),
        allow("User:zoe", "READ", "a", host="8.8.8.8"),
        allow("User:ann", "READ", "b", host="7.7.7.7"),
        allow("User:cat", "READ", "c", resource_type="TRANSACTIONAL_ID"),
        allow("User:bob", "READ", "*", host="5.5.5.5"),
    ]
    sync(cluster, client=Answers(acls, topics=[TopicInfo("b", 1, False), TopicInfo("d", 1, False)]))

    page = signed_in(ada).get(LIST, {"sort": sort})

    assert [row.binding.resource_name for row in page.context["page"].object_list] == names


def test_a_column_leads_to_the_other_way_and_then_to_none(browser):
    def columns(sort):
        page = browser.get(LIST, {"sort": sort, "principal": "User:bob"})
        return {column.word: column for column in page.context["columns"]}

    assert columns("")["Host"].url == "?sort=host&principal=User%3Abob"
    assert columns("host")["Host"].url == "?sort=-host&principal=User%3Abob"
    assert columns("-host")["Host"].url == "?principal=User%3Abob"
    assert columns("-host")["Host"].direction == "descending"
    assert columns("host")["Matches now"].url == "?sort=-matches&principal=User%3Abob"


def test_a_sort_that_is_none_is_reported(browser):
    page = browser.get(LIST, {"sort": "colour"})

    assert page.status_code == 200
    assert "sort is 'colour'; use one of operation, principal," in text(page)


def test_the_number_of_rows_is_in_the_address_and_kept_for_the_next_list(browser):
    def rows(**query):
        return len(browser.get(LIST, query).context["page"].object_list)

    assert rows() == 50
    assert rows(rows="25") == 25
    assert rows() == 25
    assert rows(rows="1000000") == 25
    assert rows(rows="100") == 63


def heads(page) -> list[str]:
    return [column.name for column in page.context["columns"]]


def test_columns_are_chosen_in_the_address_and_stay_with_every_link(browser):
    page = browser.get(LIST, {"columns": "requests,host"})

    assert heads(page) == ["operation", "host", "requests"]
    assert "class=principal" not in text(page)
    assert "columns=requests,host" in page.context["facets"][0].values[0].url


def test_the_ticked_columns_become_one_field_and_those_of_the_beginning_none(browser):
    some = browser.get(LIST, {"column": ["", "host", "matches"], "principal": "User:bob"})
    as_at_first = ["principal", "resource", "host", "matches", "load", "last-used"]
    all_again = browser.get(LIST, {"column": ["", *as_at_first], "columns": "host"})
    none = browser.get(LIST, {"column": ""})

    assert QueryDict(some["Location"].partition("?")[2]).dict() == {
        "principal": "User:bob",
        "columns": "host,matches",
    }
    assert all_again["Location"] == f"{LIST}?"
    assert heads(browser.get(none["Location"])) == ["operation"]


def test_a_column_that_is_none_is_reported_and_left_out(browser):
    page = browser.get(LIST, {"columns": "host,size"})

    assert heads(page) == ["operation", "host"]
    assert "columns holds 'size'; use some of principal, resource," in text(page)


def test_where_no_column_of_the_address_is_known_those_of_the_beginning_are_shown(browser):
    at_first = heads(browser.get(LIST))

    page = browser.get(LIST, {"columns": "size"})

    assert heads(page) == at_first
    assert "columns holds 'size'" in text(page)


def test_all_columns_are_one_word_in_the_address_and_their_names_still_work(browser):
    every = ["principal", "resource", "host", "matches", "load", "requests", "last-used"]

    ticked = browser.get(LIST, {"column": ["", *every]})
    by_word, by_names = (browser.get(LIST, {"columns": columns}) for columns in ("all", ",".join(every)))

    assert ticked["Location"] == f"{LIST}?columns=all"
    assert heads(by_word) == heads(by_names) == ["operation", *every]


def test_the_column_that_sorts_is_shown_and_the_reason_where_nothing_is_known(browser):
    page = browser.get(LIST, {"columns": "host", "sort": "last-used"})

    assert heads(page) == ["operation", "host", "last-used"]
    assert "<td class=last-used>cannot tell<td>" in text(page)
