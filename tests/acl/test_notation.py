"""No notation changes an ACL silently, and every bad line is named."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from dataclasses import replace

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType, ResourceType
from aclweb.acl.notation.files import (
    ACL_KEYS,
    OUTPUTS,
    NotationError,
    binding_from_dict,
    binding_key,
    canonical,
    filter_from_dict,
    parse_object,
    read_acl_file,
    read_acls,
    read_delta,
    read_names,
    read_requests,
    recognise,
    request_from_dict,
    write_acls,
    write_delta,
)
from tests.builders import allow, ask, deny
from tests.hostile import acls, is_node_name, look_alikes, round_trip, surrogates, texts
from tests.real_outputs import real_output

BOB = allow("User:bob", "READ", "orders")
PREFIXED = deny("User:CN=svc, O=Ex", "DESCRIBE_CONFIGS", "pay", pattern="PREFIXED", host="10.0.0.7")
LINE = json.dumps(BOB.as_dict())
HEADER = ",".join(ACL_KEYS)


HALVES = st.one_of(texts, surrogates.map(lambda half: f"User:{half}"))


def changed(**changes: object) -> str:
    """Return the JSON of one ACL with other values; a key with ... is left out."""
    given = BOB.as_dict() | changes
    return json.dumps({key: value for key, value in given.items() if value is not ...})


def messages_of(text: str, **options: str) -> tuple[str, ...]:
    with pytest.raises(NotationError) as refusal:
        read_acls(text, source="acls.txt", **options)
    return refusal.value.messages


# One ACL.


def test_the_canonical_text_is_sorted_compact_ascii_json():
    assert canonical(allow("User:é", "READ", "x")) == (
        '{"host":"*","operation":"READ","pattern_type":"LITERAL","permission_type":"ALLOW",'
        '"principal":"User:\\u00e9","resource_name":"x","resource_type":"TOPIC"}'
    )


@pytest.mark.parametrize("text", ['"', "\\", "\n\x00\x7f", "é\u2028", "\ud83d", "😀", "a/b"])
def test_the_canonical_text_is_what_json_writes(text: str):
    for binding in (
        replace(BOB, principal=text),
        replace(BOB, host=text),
        replace(BOB, resource_name=text),
    ):
        assert canonical(binding) == json.dumps(binding.as_dict(), sort_keys=True, separators=(",", ":"))


def test_the_key_of_an_acl_is_the_sha256_of_its_canonical_text():
    assert binding_key(BOB) == hashlib.sha256(canonical(BOB).encode()).hexdigest()
    assert (
        len({binding_key(binding) for binding in (BOB, PREFIXED, allow("User:bob", "READ", "orders."))}) == 3
    )


@pytest.mark.parametrize(
    "word", ["DESCRIBE_CONFIGS", "describe_configs", "DescribeConfigs", "describeconfigs"]
)
def test_words_are_read_in_upper_snake_and_pascal_case(word):
    assert binding_from_dict(BOB.as_dict() | {"operation": word}).operation is Operation.DESCRIBE_CONFIGS


@pytest.mark.parametrize(
    ("key", "word"),
    [
        ("operation", "FLY"),
        ("operation", "ANY"),
        ("operation", ""),
        ("operation", " READ"),
        ("operation", None),
        ("operation", 3),
        ("operation", ["READ"]),
        ("resource_type", "ANY"),
        ("resource_type", "TOPİC"),
        ("pattern_type", "MATCH"),
        ("pattern_type", "ANY"),
        ("pattern_type", "PREFıXED"),
        ("permission_type", "ANY"),
        ("permission_type", True),
        ("principal", None),
        ("host", 10),
        ("resource_name", None),
        ("resource_name", ["a"]),
    ],
)
def test_a_wrong_value_is_named_with_its_key(key, word):
    with pytest.raises(NotationError, match=key):
        binding_from_dict(BOB.as_dict() | {key: word})


def test_unknown_words_stay_in_an_acl():
    unknown = dict.fromkeys(["resource_type", "pattern_type", "operation", "permission_type"], "UNKNOWN")

    assert binding_from_dict(BOB.as_dict() | unknown).has_unknown


def test_form_alone_is_checked_so_that_what_a_broker_would_refuse_can_be_read():
    odd = allow("no colon", "CREATE", "", resource_type="CLUSTER", host="not a host", pattern="PREFIXED")

    assert binding_from_dict(odd.as_dict()) == odd


def test_a_request_without_a_name_asks_about_the_type():
    given = {"principal": "User:bob", "host": "10.0.0.7", "operation": "write", "resource_type": "topic"}

    assert request_from_dict(given) == ask("User:bob", "WRITE", None)
    assert request_from_dict(given | {"resource_name": ""}) == ask("User:bob", "WRITE", "")


@pytest.mark.parametrize(
    "changes",
    [
        {"operation": "ANY"},
        {"operation": "UNKNOWN"},
        {"resource_type": "ANY"},
        {"resource_type": "UNKNOWN"},
        {"resource_name": None},
        {"principal": None},
        {"permission_type": "ALLOW"},
    ],
)
def test_a_request_that_nobody_can_make_is_refused(changes):
    given = {"principal": "User:a", "host": "1.1.1.1", "operation": "READ", "resource_type": "TOPIC"}

    with pytest.raises(NotationError):
        request_from_dict(given | changes)


def test_a_filter_takes_null_and_the_words_for_filters():
    given = dict.fromkeys(["resource_name", "principal", "host"]) | {
        "resource_type": "Any",
        "pattern_type": "match",
        "operation": "ANY",
        "permission_type": "UNKNOWN",
    }
    read = filter_from_dict(given)

    assert (read.resource_type, read.resource_name) == (ResourceType.ANY, None)
    assert (read.pattern_type, read.permission_type) == (PatternType.MATCH, PermissionType.UNKNOWN)
    with pytest.raises(NotationError, match="host"):
        filter_from_dict({key: value for key, value in given.items() if key != "host"})


# Round trips.


@round_trip
@given(st.lists(acls(), max_size=4), st.sampled_from(OUTPUTS))
@example([allow("User:a", "READ", "x\n\ty"), allow("User:b", "READ", "x")], "listing")
@example([allow("User:a", "READ", "x", host="a, host=b")], "listing")
@example([allow("User:a", "READ", "'=1", host="'")], "csv")
def test_what_is_written_is_read_back_or_refused(bindings, notation):
    try:
        text = write_acls(bindings, format=notation)
    except NotationError as refusal:
        refused = refusal
    else:
        refused = None
    if refused is not None:
        assert notation in ("kafka-acls", "listing", "zk")
        assert all(message.startswith("ACL:") for message in refused.messages)
        return
    if notation == "kafka-acls":
        assert not bindings or text.startswith("kafka-acls ")
        return

    read = read_acls(text, source="x", format=notation)

    if notation in ("listing", "zk"):  # these put the ACLs of a pattern together, once each
        assert set(read) == set(bindings)
        assert len(read) == len(set(bindings))
    else:
        assert read == tuple(bindings)
    if bindings:
        assert recognise(text, source="x") == notation


@round_trip
@given(acls(texts=HALVES, principals=HALVES))
def test_half_characters_are_held_by_json_lines_and_refused_elsewhere(binding):
    has_half = any("\ud800" <= character <= "\udfff" for character in binding.principal + binding.host)

    assert read_acls(write_acls([binding], format="jsonl"), source="x") == (binding,)
    for notation in ("csv", "yaml", "listing", "zk"):
        if has_half:
            with pytest.raises(NotationError):
                write_acls([binding], format=notation)


def test_json_lines_are_ascii_and_repeat_what_is_repeated():
    text = write_acls([allow("User:é😀", "READ", "x"), BOB, BOB], format="jsonl")

    assert text.isascii()
    assert read_acls(text, source="x")[1:] == (BOB, BOB)


@round_trip
@given(st.lists(acls(), min_size=1, max_size=3))
def test_another_csv_reader_sees_the_same_cells_but_for_the_formula_guard(bindings):
    text = write_acls(bindings, format="csv")
    rows = list(csv.reader(io.StringIO(text, newline="")))

    assert rows[0] == list(ACL_KEYS)
    for row, binding in zip(rows[1:], bindings, strict=True):
        for cell, value in zip(row, binding.as_dict().values(), strict=True):
            assert cell == ("'" + value if value.startswith(("=", "+", "-", "@", "\t", "\r", "'")) else value)
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


@round_trip
@given(st.lists(acls(), min_size=1, max_size=3))
def test_a_real_yaml_reader_sees_the_same_values(bindings):
    text = write_acls(bindings, format="yaml")

    assert yaml.load(text, Loader=yaml.CSafeLoader) == [binding.as_dict() for binding in bindings]


@pytest.mark.parametrize("notation", ["jsonl", "csv", "yaml", "listing", "zk"])
def test_names_that_look_alike_stay_different_in_every_notation(notation):
    bindings = [b for b in look_alikes() if notation != "zk" or is_node_name(b.resource_name)]
    text = write_acls(bindings, format=notation)

    assert len(set(bindings)) == len(bindings) > 40
    assert read_acls(text, source="x", format=notation) == tuple(bindings)
    assert len({binding_key(binding) for binding in bindings}) == len(bindings)


@pytest.mark.parametrize("notation", ["jsonl", "csv", "yaml", "listing", "zk"])
def test_the_longest_names_are_held_by_every_notation(notation):
    longest = "n" * 32_767
    bindings = (
        allow(f"User:{longest}", "READ", longest),
        deny(f"User:{longest}", "WRITE", f"{longest[1:]}\N{LATIN SMALL LETTER E WITH ACUTE}", host=longest),
    )

    assert read_acls(write_acls(bindings, format=notation), source="x", format=notation) == bindings


# Files.


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_notation_is_recognised_with_a_byte_order_mark_and_leading_empty_lines(end):
    for notation in ("jsonl", "csv", "yaml", "listing", "zk"):
        text = "\ufeff" + end + write_acls([BOB, PREFIXED], format=notation).replace("\n", end)

        assert read_acls(text, source="x") == (BOB, PREFIXED), notation


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", " \t\r\n"])
def test_an_empty_file_is_no_acls_but_csv_needs_its_header(text):
    assert read_acls(text, source="x") == ()
    for notation in ("jsonl", "yaml", "listing", "zk"):
        assert read_acls(text, source="x", format=notation) == ()

    assert messages_of(text, format="csv") == (
        f"acls.txt:1: The CSV is empty, but needs its header; begin with {HEADER}.",
    )
    assert read_acls(HEADER + "\n", source="x") == ()


def test_a_file_in_no_notation_says_what_would_be_right():
    (message,) = messages_of("\nhello\n")

    assert message.startswith("acls.txt:2: The format is not recognised from 'hello'")


def test_every_bad_json_line_is_named_and_nothing_is_returned():
    lines = [
        LINE,
        "{",
        "",
        "[1]",
        changed(host=...),
        changed(extra="x", more=1),
        changed(operation="FLY"),
        '{"host": "a", "host": "b"}',
        LINE,
        LINE + LINE,
        "nonsense",
        "[" * 100_000,
        '{"a": ' + "1" * 5000 + "}",
    ]
    messages = messages_of("\n".join(lines), format="jsonl")

    assert [message.split(":")[1] for message in messages] == list(
        map(str, (2, 4, 5, 6, 7, 8, 10, 11, 12, 13))
    )
    assert all(message.startswith("acls.txt:") and "\n" not in message for message in messages)
    assert "'host' is missing" in messages[2]
    assert "'extra', 'more' are no keys of an ACL" in messages[3]
    assert "operation is 'FLY'" in messages[4]
    assert "READ, WRITE" in messages[4]
    assert "'host' is given twice" in messages[5]


def test_lines_end_at_lf_only():
    odd = allow("User:a", "READ", "a\u2028b\x85c\x0bd")
    text = json.dumps(odd.as_dict(), ensure_ascii=False) + "\n" + LINE + "\n{"

    assert messages_of(text)[0].startswith("acls.txt:3:")
    assert read_acls(text[:-2], source="x") == (odd, BOB)


def test_csv_takes_its_columns_in_any_order_and_drops_the_guard():
    keys = list(reversed(ACL_KEYS))
    cells = [BOB.as_dict()[key] for key in keys]
    text = (
        ",".join(keys)
        + "\r\n"
        + ",".join(cells)
        + '\r\n\r\n"ALLOW",READ,*,"\'=User:""x"",y",LITERAL,\'-a,TOPIC'
    )

    assert read_acls(text, source="x") == (BOB, allow('=User:"x",y', "READ", "-a"))


@pytest.mark.parametrize(
    ("rows", "line", "what"),
    [
        ("TOPIC,a,LITERAL,User:a,*,READ", 2, "6 cells where the header has 7"),
        ("TOPIC,a,LITERAL,User:a,b,*,READ,ALLOW", 2, "8 cells"),
        ("TOPIC,a,LITERAL,User:a,*,FLY,ALLOW", 2, "operation is 'FLY'"),
        ('TOPIC,"a\nb",LITERAL,User:a,*,READ,ALLOW\nTOPIC,a,LITERAL,User:a,*,FLY,ALLOW', 4, "FLY"),
        ('TOPIC,"a,LITERAL,User:a,*,READ,ALLOW\n\n', 2, "never closed"),
        ('TOPIC,"a"b,LITERAL,User:a,*,READ,ALLOW', 2, "not CSV"),
        ("TOPIC,a\rb,LITERAL,User:a,*,READ,ALLOW", 2, "carriage return"),
    ],
)
def test_a_bad_csv_row_is_named_by_the_line_on_which_it_starts(rows, line, what):
    (message,) = messages_of(f"{HEADER}\n{rows}\n")

    assert message.startswith(f"acls.txt:{line}: ")
    assert what in message


def test_a_csv_header_with_other_words_is_refused():
    (message,) = messages_of("resource_type,name,principal\nTOPIC,a,b\n")

    assert message.startswith("acls.txt:1: The CSV header is 'resource_type,name,principal'")


def test_yaml_as_people_write_it_is_read():
    text = """
# the payments team
- resource_type: Topic      # a comment
  resource_name: 'it''s # no comment'
  pattern_type: prefixed
  principal: User:CN=a, O=b
  host: "*"
  operation: read
  permission_type: allow

-
  # another
  "resource_type": TOPIC
  'resource_name': "tab\\t \\u00e9 \\x41 \\ud83d\\ude00 \\"q\\" \\\\ "
  pattern_type: LITERAL
  principal: 123
  host: -x
  operation: WRITE
  permission_type: DENY
"""
    assert read_acls(text, source="x") == (
        allow("User:CN=a, O=b", "READ", "it's # no comment", pattern="PREFIXED"),
        deny("123", "WRITE", 'tab\t é A 😀 "q" \\ ', host="-x"),
    )
    assert read_acls("---\n[]\n", source="x") == ()


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("  host: '*'", "  host: *", 5, "quote it"),
        ("  host: '*'", "  host:", 5, "is null"),
        ("  host: '*'", "  host: ~", 5, "is null"),
        ("  host: '*'", "  host: null # why", 5, "is null"),
        ("  host: '*'", "  host: a: b", 5, "quote it"),
        ("  host: '*'", "  host: {a: b}", 5, "quote it"),
        ("  host: '*'", "  host: '*", 5, "not closed"),
        ("  host: '*'", '  host: "*', 5, "not closed"),
        ("  host: '*'", '  host: "*" x', 5, "not closed"),
        ("  host: '*'", r'  host: "\q"', 5, "no escape"),
        ("  host: '*'", r'  host: "\ud800"', 5, "half a character"),
        ("  host: '*'", r'  host: "\UFFFFFFFF"', 5, "no character"),
        ("  host: '*'", "  host: |", 5, "quote it"),
        ("  host: '*'", "   host: '*'", 5, "not in line"),
        ("  host: '*'", "host: '*'", 5, "not in line"),
        ("  host: '*'", "  host '*'", 5, "not 'key: value'"),
        ("  host: '*'", "  host: '*'\n  host: '*'", 6, "is given twice"),
        ("  host: '*'", "  hosts: '*'", 1, "'host' is missing"),
        ("- resource_type", " resource_type", 1, "before the first"),
        ("  permission_type: ALLOW\n", "  permission_type: ALLOW\n - a: b", 8, "stands at column"),
        ("  permission_type: ALLOW\n", "  permission_type: ALLOW\n  name: x", 8, "'name' is no key"),
        ("READ", "FLY", 6, "operation is 'FLY'"),
        ("  host: '*'", "  host: 'a\x85b'", 5, "U+0085"),
        ("  host: '*'", "  # a\u2028b\n  host: '*'", 5, "U+2028"),
        ("- resource_type", "- # \x07\n  resource_type", 1, "U+0007"),
        ("  host: '*'", "  host: a\rb", 5, "U+000D"),
        ("- resource_type", "[]\n- resource_type", 2, "a list of none"),
        ("- resource_type", "[]\n---\n- resource_type", 2, "'---' is where the list has begun"),
        ("  permission_type: ALLOW\n", "  permission_type: ALLOW\n---\n", 8, "one file has one list"),
        ("  host: '*'", "  " + "k" * 99 + ": ~", 5, "(99 characters) is null"),
    ],
)
def test_yaml_outside_the_subset_is_named_by_line(old, new, line, what):
    good = (
        "- resource_type: TOPIC\n  resource_name: orders\n  pattern_type: LITERAL\n  principal: User:bob\n"
        "  host: '*'\n  operation: READ\n  permission_type: ALLOW\n"
    )
    assert read_acls(good, source="x") == (BOB,)

    first = messages_of(good.replace(old, new), format="yaml")[0]

    assert first.startswith(f"acls.txt:{line}: ")
    assert what in first


def test_a_dump_of_zookeeper_gives_its_acls_and_skips_the_other_nodes():
    file = read_acl_file(real_output("znodes-3.9.2.jsonl"), source="zk.jsonl")

    assert len(file.bindings) == 25
    assert not file.remarks
    assert deny("User:a", "READ", "x") not in file.bindings
    assert allow("User:a", "DESCRIBE", "*", pattern="PREFIXED") in file.bindings


@pytest.mark.parametrize(
    ("node", "what"),
    [
        ({"path": "/kafka-acl/Topic/t", "data": '{"version":2,"acls":[]}'}, "version 2"),
        ({"path": "/kafka-acl/Topic/t", "data": '{"version":1}'}, "no key 'acls'"),
        (
            {
                "path": "/kafka-acl/Topic/t",
                "data": '{"version":1,"acls":[{"principal":"a","host":"*","permissionType":"Deny","operation":"Read"}'
                "]}",
            },
            "no colon",
        ),
        ({"path": "/kafka-acl/Topic/t"}, "'data' is missing"),
        ({"path": 7, "data": None}, "path is 7"),
        ({"path": "/kafka-acl/Topic/t", "data": {}}, "data is {}"),
        ({"path": "/kafka/kafka-acl/Topic/t", "data": ""}, "below the chroot"),
    ],
)
def test_a_node_that_would_stop_a_broker_is_bad_input(node, what):
    good = json.dumps({"path": "/kafka-acl", "data": None, "version": 3})
    (message,) = messages_of(f"{good}\n{json.dumps(node)}\n")

    assert message.startswith("acls.txt:2: ")
    assert what in message


def test_nodes_that_a_broker_reads_oddly_are_read_with_a_remark():
    entry = {"principal": "User:a", "host": "*", "operation": "Fly", "permissionType": "Deny"}
    nodes = [
        {"path": "/kafka-acl/Topic/fly", "data": json.dumps({"version": 1, "acls": [entry]})},
        {"path": "/kafka-acl/Topic/empty", "data": None},
        {"path": "/kafka-acl/Topic/text", "data": "no json"},
    ]
    file = read_acl_file("".join(f"{json.dumps(node)}\n" for node in nodes), source="zk")

    assert file.bindings == [deny("User:a", "UNKNOWN", "fly")]
    assert [remark.split(" ")[0] for remark in file.remarks] == ["zk:1:", "zk:2:", "zk:3:"]


# Requests, edits, names.


def test_every_bad_request_is_named():
    good = json.dumps(ask("User:a", "READ", "t").as_dict())
    text = f'{good}\n\n{{"principal": 1}}\n{good.replace("READ", "ANY")}\n'

    assert read_requests(good, source="r") == (ask("User:a", "READ", "t"),)
    assert read_requests("", source="r") == ()
    with pytest.raises(NotationError) as refusal:
        read_requests(text, source="r")
    assert [message[:4] for message in refusal.value.messages] == ["r:3:", "r:4:"]


def test_an_edit_is_read_and_written_in_the_safe_order():
    delta = Delta(add=(BOB, deny("User:a", "READ", "t")), remove=(PREFIXED, allow("User:c", "READ", "t")))
    text = write_delta(delta)

    assert [json.loads(line)["op"] for line in text.splitlines()] == ["add", "add", "remove", "remove"]
    assert [json.loads(line)["permission_type"] for line in text.splitlines()] == [
        "DENY",
        "ALLOW",
        "ALLOW",
        "DENY",
    ]
    again = read_delta(text, source="x")
    assert (set(again.add), set(again.remove)) == (set(delta.add), set(delta.remove))


def test_every_bad_line_of_an_edit_is_named():
    lines = [
        {"op": "add", **BOB.as_dict()},
        {"op": "delete", **BOB.as_dict()},
        BOB.as_dict(),
        {"op": "add"},
        {"op": "remove", **BOB.as_dict()},
    ]
    with pytest.raises(NotationError) as refusal:
        read_delta("\n".join(map(json.dumps, lines)), source="d")

    messages = refusal.value.messages
    assert [message[:4] for message in messages] == ["d:2:", "d:3:", "d:4:", "d:5:"]
    assert "op is 'delete'" in messages[0]
    assert "'op' is missing" in messages[1]
    assert "line 1, which does the opposite" in messages[3]


def test_names_are_one_a_line_once_each():
    assert read_names("\ufeffa\nb c\n\na\n d\n") == ("a", "b c", " d")


# Listings and commands through the same door.


def test_a_listing_is_written_as_the_version_asked_about_prints_it():
    assert " \t(principal=User:bob" in write_acls([BOB], format="listing", settings=AuthorizerSettings("acl"))
    assert " \t(principal=User:bob" in write_acls(
        [BOB], format="listing", settings=AuthorizerSettings("standard", "4.0")
    )
    assert "\n\t(principal=User:bob" in write_acls(
        [BOB], format="listing", settings=AuthorizerSettings("standard", "4.1")
    )


def test_what_cannot_be_written_is_named_by_the_line_it_was_read_from():
    file = read_acl_file(f"\n{LINE}\n{changed(resource_name='a/b')}\n", source="acls.jsonl")

    with pytest.raises(NotationError) as refusal:
        write_acls(file.bindings, format="zk", source=file.source, lines=file.lines)
    assert [message.split(" ")[0] for message in refusal.value.messages] == ["acls.jsonl:3:"]


def test_an_unknown_notation_is_refused():
    with pytest.raises(NotationError, match="'xml' is not a format"):
        write_acls([BOB], format="xml")
    with pytest.raises(NotationError, match="'kafka-acls' is not a format"):
        read_acls("", source="x", format="kafka-acls")


def test_a_template_text_is_read_as_plain_text():
    class SafeText(str):
        __slots__ = ()

    binding = binding_from_dict(BOB.as_dict() | {"principal": SafeText("User:bob")})

    assert type(binding.principal) is str
    assert isinstance(binding, AclBinding)
    assert binding == BOB


def test_a_number_that_no_json_could_print_again_is_refused():
    with pytest.raises(NotationError, match="too large a number"):
        parse_object('{"id": 1e999}')
