"""A draft made of pasted text: ACLs, or kafka-acls commands worked out as Kafka's own tool would."""

from __future__ import annotations

import json
from html import unescape

import pytest

from aclweb.acl.notation.files import write_acls
from aclweb.inventory.sync.run import sync
from aclweb.web.drafts import pasting
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers

PAGE = "/c/test-eu/what-if/"
TOOL = "kafka-acls --bootstrap-server b:1"
BOB = allow("User:bob", "READ", "orders")
PREFIX = deny("User:bob", "WRITE", "orders", pattern="PREFIXED")
NOT_THERE = [allow("User:gone", "READ", f"t{number}") for number in range(30)]
OTHERS = [allow("User:cat", "READ", "orders"), allow("User:cat", "READ", "stock")]


@pytest.fixture
def browser(cluster, ada, signed_in):
    sync(cluster, client=Answers([BOB, PREFIX, *OTHERS]))
    return signed_in(ada)


def drafted(browser, text):
    return browser.post(PAGE, {"paste": text}, follow=True).context["draft"]


def lines(draft):
    return [(line.op, line.binding) for line in draft.lines]


def text(page) -> str:
    return unescape(page.content.decode())


def test_a_pasted_command_that_adds_becomes_the_acls_that_the_tool_would_make(browser):
    draft = drafted(
        browser,
        f"{TOOL} --add --allow-principal User:eli --consumer --topic t --group g",
    )

    assert {(op, binding.operation.name, binding.resource_name) for op, binding in lines(draft)} == {
        ("add", "READ", "t"),
        ("add", "DESCRIBE", "t"),
        ("add", "READ", "g"),
    }
    assert not draft.faults


def test_several_commands_with_prompts_comments_and_continued_lines_are_one_draft(browser):
    draft = drafted(
        browser,
        f"# give eli the topic\n\n$ {TOOL} --add \\\n  --allow-principal User:eli --operation Read \\\n  --topic t\n"
        f"bin/{TOOL} --remove --force --allow-principal User:bob --operation Read --topic orders\n",
    )

    assert lines(draft) == [("add", allow("User:eli", "READ", "t")), ("remove", BOB)]
    assert not draft.faults


def test_a_removal_without_a_principal_takes_everything_and_says_so(browser):
    draft = drafted(browser, f"{TOOL} --remove --topic orders --resource-pattern-type any")

    assert {binding for _, binding in lines(draft)} == {BOB, PREFIX, OTHERS[0]}
    assert {op for op, _ in lines(draft)} == {"remove"}
    told = " ".join(draft.warnings)
    assert "Without a principal this removes ALL ACLs of topic orders" in told
    assert "This removes 3 ACLs." in told


def test_a_removal_that_finds_nothing_says_so(browser):
    draft = drafted(browser, f"{TOOL} --remove --allow-principal User:bob --topic orders")

    assert lines(draft) == []
    assert "Line 1: This matches no ACL that is in force, so it removes nothing." in draft.warnings


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            f"{TOOL} --add --allow-principal bob --topic t",
            "kafka-acls would refuse this",
        ),
        (f"{TOOL} --add --topic 'open", "Line 1:"),
        (f"{TOOL} --list", "This only lists ACLs"),
    ],
)
def test_a_command_that_asks_for_nothing_says_why_and_stays_in_the_box(browser, command, told):
    page = browser.post(PAGE, {"paste": command}, follow=True)

    assert lines(page.context["draft"]) == []
    assert told in text(page)
    assert page.context["draft"].warnings or command in text(page)


@pytest.mark.parametrize(
    ("authorizer", "version"), [("standard", "4.1"), ("standard", "3.9"), ("acl", "3.6")]
)
def test_a_command_without_an_address_is_one_for_this_cluster_and_said_to_be(
    browser, cluster, authorizer, version
):
    type(cluster).objects.update(authorizer=authorizer, kafka_version=version)
    command = "kafka-acls --add --allow-principal User:eli --operation Read --topic"

    draft = drafted(browser, "".join(f"{command} t{number} # as asked\n" for number in range(30)))

    assert len(draft.lines) == 30
    assert draft.faults == ()
    assert draft.warnings == ("Lines 1 to 30: No --bootstrap-server is given; this draft is for test-eu.",)


def test_commands_of_another_cluster_are_said_to_be(browser):
    command = "--add --allow-principal User:eli --operation Read --topic"

    draft = drafted(
        browser,
        f"kafka-acls --bootstrap-server kafka-us:9092 {command} a\n"
        f"kafka-acls --bootstrap-server=kafka-us:9092 {command} b\n"
        f"kafka-acls --bootstrap-server 127.0.0.1:1,other:1 {command} c\n"
        f'kafka-acls --bootstrap-server "$BOOTSTRAP" {command} d\n',
    )

    assert len(draft.lines) == 4
    foreign = [sentence for sentence in draft.warnings if "kafka-us:9092" in sentence]
    assert len(foreign) == 1
    assert foreign[0].startswith(
        "Lines 1 and 2: 'kafka-us:9092' is not the address that aclweb has for test-eu"
    )
    assert not any("other:1" in sentence for sentence in draft.warnings)


def test_a_csv_without_its_header_is_told_the_header(browser):
    draft = drafted(browser, "TOPIC,orders,LITERAL,User:bob,*,READ,ALLOW\n" * 5)

    assert [fault.sentence for fault in draft.faults] == [
        "Line 1: A CSV needs its header as the first line: "
        "resource_type,resource_name,pattern_type,principal,host,operation,permission_type"
    ]


@pytest.mark.parametrize(
    "record",
    [
        "Principal = User:bob is Denied operation = READ from host = 10.0.0.7 on resource = Topic:LITERAL:orders "
        "for request = Fetch with resourceRefCount = 1 based on rule DefaultDeny",
        "[2026-11-20 20:00:00,000] INFO Principal = User:bob is Denied Operation = Read from host = 1.2.3.4 on "
        "resource = Topic:LITERAL:x (kafka.authorizer.logger)",
    ],
)
def test_log_lines_are_told_where_they_belong(browser, record):
    page = browser.post(PAGE, {"paste": f"{record}\n" * 3})

    assert "This is a line of an authorizer log, not an ACL." in text(page)
    assert record in text(page)


def test_the_same_message_about_many_lines_is_reported_once(browser):
    wrong = drafted(browser, f"{TOOL} --add --allow-principal bob --topic t\n" * 30)
    gone = drafted(
        browser, "".join(f"{json.dumps({'op': 'remove', **found.as_dict()})}\n" for found in NOT_THERE)
    )

    assert len(wrong.faults) == 1
    assert wrong.faults[0].sentence.startswith("Lines 1 to 30: kafka-acls would refuse this")
    assert len(gone.faults) == 1
    assert ", and 29 more: The cluster has no such ACL" in gone.faults[0].sentence


def test_what_could_not_be_read_is_shown_beside_the_box_and_the_box_points_to_it(browser):
    page = text(browser.post(PAGE, {"paste": "hello\nworld"}))

    box = page.partition('id="id_paste"')
    assert 'id="problems"' not in box[0]
    assert 'aria-describedby="problems"' in box[2][:200]
    assert 'id="problems"' in box[2][:600]
    assert f'action="{PAGE}' in page
    assert '#problems"' in page


@pytest.mark.parametrize("notation", ["jsonl", "csv", "yaml", "listing"])
def test_acls_in_any_notation_are_added(browser, notation):
    acls = [allow("User:eli", "READ", "t"), deny("User:eli", "WRITE", "t.", pattern="PREFIXED")]

    draft = drafted(browser, write_acls(acls, format=notation))

    assert {binding for op, binding in lines(draft) if op == "add"} == set(acls)
    assert (draft.faults, draft.warnings) == ((), ())


def test_what_this_cluster_would_refuse_is_reported_in_kafkas_own_words_too(browser, cluster):
    type(cluster).objects.update(authorizer="acl", kafka_version="3.9")
    rule = {
        "permission_type": "ALLOW",
        "principal": "User:eli",
        "operation": "READ",
        "resource_type": "TOPIC",
    }
    typed = rule | {"pattern": "LITERAL", "resource_name": "orders/eu"}

    added = browser.post(PAGE, typed | {"add_rule": "1"}, follow=True)
    while_typing = browser.get(f"{PAGE}matches/", typed)
    pasted = browser.post(
        PAGE,
        {"paste": f"{TOOL} --add --allow-principal User:eli --operation Read --topic orders/eu"},
        follow=True,
    )

    for page in (added, while_typing, pasted):
        assert "it holds a slash" in text(page)
        assert "Kafka 3.9 would answer" in text(page)
        assert "INVALID_REQUEST (42)" in text(page)
    assert not added.context["draft"].lines
    assert not pasted.context["draft"].lines


def test_what_a_cluster_takes_and_a_person_should_know_is_shown_beside_the_acl(browser, cluster):
    type(cluster).objects.update(kafka_version="4.0")
    rule = allow("User:eli", "READ", "t", host="10.0.0.0/8")
    typed = {
        "permission_type": "ALLOW",
        "principal": "User:eli",
        "operation": "READ",
        "resource_type": "TOPIC",
    }

    page = browser.post(PAGE, {"paste": write_acls([rule], format="jsonl")}, follow=True)
    part = browser.get(
        f"{PAGE}matches/", typed | {"pattern": "LITERAL", "resource_name": "t", "host": "10.0.0.0/8"}
    )

    assert lines(page.context["draft"]) == [("add", rule)]
    for shown in (page, part):
        assert "takes effect with an upgrade" in text(shown)


def test_an_acl_is_checked_as_far_as_it_is_typed(browser):
    begun = browser.get(f"{PAGE}matches/", {"principal": "bob", "resource_type": "TOPIC"})
    whole = browser.get(
        f"{PAGE}matches/",
        {
            "permission_type": "ALLOW",
            "principal": "User:eli",
            "operation": "READ",
            "resource_type": "TOPIC",
            "pattern": "LITERAL",
            "resource_name": "t",
        },
    )

    assert "'bob' has no type, so it is read as 'User:bob'." in text(begun)
    assert "This field is required" not in text(begun)
    assert "test-eu would take this ACL." in text(whole)


def test_a_pasted_line_that_is_taken_out_does_not_come_back_with_what_was_pasted(browser):
    pasted = f"{TOOL} --add --allow-principal User:eli --operation Read --topic t\n{TOOL} --nonsense\n"
    page = browser.post(PAGE, {"paste": pasted}, follow=True)
    (line,) = page.context["draft"].lines

    without = browser.post(PAGE, {"paste": pasted, "line": line.as_text(), "drop": "0"}, follow=True)

    assert without.context["draft"].is_empty
    assert without.context["pasted"] == pasted


def test_a_short_command_for_millions_of_acls_is_refused_before_they_are_worked_out(browser):
    each = " ".join(f"--topic t{n} --allow-principal User:{n} --allow-host 10.0.0.{n}" for n in range(200))

    draft = drafted(browser, f"{TOOL} --add {each} --operation Read")

    assert draft.is_empty
    assert "mean 8,000,000 ACLs, and at most 5,000 are worked out" in draft.faults[0].sentence


def test_what_is_too_much_for_one_paste_is_told_with_the_line_where_reading_ended(browser, monkeypatch):
    monkeypatch.setattr(pasting, "MOST_COMMANDS", 2)
    command = f"{TOOL} --add --allow-principal User:eli --operation Read --topic"

    many = drafted(browser, f"{command} a\n{command} b\n\n{command} c\n{command} d\n")
    monkeypatch.setattr(pasting, "MOST_ACLS", 2)
    large = drafted(browser, f"{command} a --topic b\n{command} c\n")

    assert [binding.resource_name for _, binding in lines(many)] == ["a", "b"]
    assert "Line 4: At most 2 commands" in many.faults[0].sentence
    assert [binding.resource_name for _, binding in lines(large)] == ["a", "b"]
    assert "Line 2: At most 2 ACLs" in large.faults[0].sentence


def test_a_text_of_more_lines_than_a_draft_can_need_is_not_read(browser):
    draft = drafted(browser, "{}\n" * 50_001)

    assert [fault.sentence for fault in draft.faults] == [
        "The pasted text has 50,001 lines, and at most 50,000 are read here."
    ]
