"""Whatever a file holds, a reader gives its values exactly or one sentence for each bad line."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aclweb.acl.cli.commands.check import Scenario, read_scenarios
from aclweb.acl.cli.commands.inputs import Inputs
from aclweb.acl.cli.commands.options import Declared
from aclweb.acl.model.authorizers import VERSIONS, AuthorizerSettings
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import (
    AclBinding,
    AclError,
    Operation,
    PatternType,
    PermissionType,
    ResourcePattern,
    ResourceType,
)
from aclweb.acl.notation import znodes
from aclweb.acl.notation.authorizer_log import AccessEvent, parse_record, parse_suffix, records
from aclweb.acl.notation.files import (
    ACL_KEYS,
    FORMATS,
    NotationError,
    filter_from_dict,
    parse_object,
    read_acl_file,
    read_delta,
    read_names,
    read_requests,
    recognise,
    write_acls,
    write_delta,
)
from aclweb.acl.notation.znodes import ZnodeError
from tests.hostile import acls, damaged, is_node_name, names, requests, round_trip, texts
from tests.log_records import FAMILIES, LAYOUT, TIME, decisions, message_of, printed

BOM = "\ufeff"
ENUMS = {
    "resource_type": ResourceType,
    "pattern_type": PatternType,
    "operation": Operation,
    "permission_type": PermissionType,
}
LONGEST_SENTENCE = 1_000
"""A value is cut in a message, so a message never grows with the file."""


def assert_tells(messages: Sequence[str], text: str) -> None:
    """Each message is one line with file, line and a sentence; they come in the order of lines."""
    assert messages
    places = []
    for message in messages:
        found = re.fullmatch(r"x:([1-9][0-9]*): \S.*[.]", message)
        assert found is not None, message
        assert_sentence(message)
        places.append(int(found[1]))
    assert places == sorted(places)
    assert places[-1] <= text.count("\n") + 1


def assert_sentence(error: object) -> None:
    """It is one, on one line, and cuts a long value."""
    text = str(error)
    assert text.isprintable()
    assert text.endswith(".")
    assert len(text) < LONGEST_SENTENCE


def plain(word: str) -> str:
    """The letters of a word, whatever its spelling."""
    assert word.isascii()
    return word.upper().replace("_", "")


def assert_says(binding: AclBinding, row: Mapping[str, object]) -> None:
    """The object that another reader sees has exactly the keys and values of `binding`."""
    assert sorted(row) == sorted(ACL_KEYS)
    for key, value in binding.as_dict().items():
        found = row[key]
        assert isinstance(found, str)
        if key in ENUMS:
            assert plain(found) == plain(value)
            assert value not in ("ANY", "MATCH")
        else:
            assert found == value


# What another reader makes of a file that was accepted.


def no_key_twice(pairs: list[tuple[str, object]]) -> dict[str, object]:
    assert len({key for key, _value in pairs}) == len(pairs)
    return dict(pairs)


def json_rows(text: str) -> list[dict[str, object]]:
    return [
        json.loads(line, object_pairs_hook=no_key_twice) for line in text.split("\n") if line.strip(" \t\r")
    ]


def check_jsonl(text: str, bindings: Sequence[AclBinding]) -> None:
    for binding, row in zip(bindings, json_rows(text), strict=True):
        assert_says(binding, row)


def check_csv(text: str, bindings: Sequence[AclBinding]) -> None:
    # Python's reader ends a row at a lone CR too, where it stands outside quotes; none was accepted there.
    keys, *rows = [row for row in csv.reader(io.StringIO(text, newline="")) if "".join(row).strip(" \t\r")]
    for binding, row in zip(bindings, rows, strict=True):
        assert_says(binding, dict(zip(keys, (cell.removeprefix("'") for cell in row), strict=True)))


def check_yaml(text: str, bindings: Sequence[AclBinding]) -> None:
    # PyYAML refuses tabs between the parts of a line, where YAML 1.2 has them.
    lines = [
        re.sub(r"[ \t]*\t[ \t]*($|#)", r" \1", line) for line in re.split(r"\r\n|\r|\n", text)
    ]  # a lone CR ends a line, too
    loaded = yaml.load("\n".join(lines), Loader=yaml.BaseLoader)  # every plain value is a text, as here
    for binding, row in zip(bindings, loaded or [], strict=True):
        assert_says(binding, row)


def check_listing(text: str, bindings: Sequence[AclBinding]) -> None:
    for binding in bindings:
        for value in (binding.resource_name, binding.principal, binding.host):
            assert value in text
        for enum in (binding.operation, binding.permission_type):
            assert enum.name in text or enum.pascal.lower() in text.lower()


def check_zk(text: str, bindings: Sequence[AclBinding]) -> None:
    expected: list[AclBinding] = []
    for row in json_rows(text):
        path, data = row["path"], row["data"]
        assert isinstance(path, str)
        parts = path.split("/")[1:]
        if parts[0] == "kafka-acl" and len(parts) == 3:
            pattern_type = PatternType.LITERAL
        elif parts[:2] == ["kafka-acl-extended", "prefixed"] and len(parts) == 4:
            pattern_type = PatternType.PREFIXED
        else:
            continue
        kind = next((kind for kind in ResourceType if kind.pascal == parts[-2]), None)
        if kind is None:
            continue
        entries = entries_of(data)
        expected.extend(
            dict.fromkeys(
                AclBinding(
                    kind,
                    parts[-1],
                    pattern_type,
                    entry["principal"],
                    entry["host"],
                    word_of(Operation, entry["operation"]),
                    word_of(PermissionType, entry["permissionType"]),
                )
                for entry in entries
            )
        )
    assert list(bindings) == expected


def entries_of(data: object) -> list[dict[str, str]]:
    """The entries of a node's text; none where it is empty or does not begin with a JSON value."""
    if not data:
        return []
    assert isinstance(data, str)
    try:
        document, _end = json.JSONDecoder().raw_decode(data.encode().decode("utf-8-sig").lstrip(" \t\r\n"))
        return document["acls"]
    except (ValueError, RecursionError):
        return []


def word_of(enum: Any, word: str) -> Any:
    return next((member for member in enum if member.pascal.upper() == word.upper()), enum.UNKNOWN)


CHECKS: dict[str, Callable[[str, Sequence[AclBinding]], None]] = {
    "jsonl": check_jsonl,
    "csv": check_csv,
    "yaml": check_yaml,
    "listing": check_listing,
    "zk": check_zk,
}


NODE_NAMES = names.filter(is_node_name)
NODE_PRINCIPALS = texts.map(lambda text: f"User:{text}")


def as_known(binding: AclBinding) -> AclBinding:
    """The ACL with a word that every Kafka knows where it had UNKNOWN."""
    words: dict[str, Any] = {
        "resource_type": ResourceType.TOPIC,
        "pattern_type": PatternType.LITERAL,
        "operation": Operation.READ,
        "permission_type": PermissionType.DENY,
    }
    return replace(
        binding, **{key: word for key, word in words.items() if getattr(binding, key).name == "UNKNOWN"}
    )


def written(notation: str) -> st.SearchStrategy[str]:
    """Good files of a notation."""

    def write(bindings: list[AclBinding]) -> str:
        try:
            return write_acls(bindings, format=notation)
        except NotationError:
            good = [binding for binding in bindings if _is_held(binding, notation)]
            return write_acls(good, format=notation)

    held = acls()
    if notation == "zk":
        held = acls(names=NODE_NAMES, principals=NODE_PRINCIPALS).map(as_known)
    return st.lists(held, max_size=3).map(write)


def _is_held(binding: AclBinding, notation: str) -> bool:
    try:
        write_acls([binding], format=notation)
    except NotationError:
        return False
    return True


@pytest.mark.parametrize("notation", FORMATS)
def test_a_file_of_acls_is_read_as_another_reader_would_or_refused_line_by_line(notation):
    @round_trip
    @given(damaged(written(notation)))
    def holds(text: str) -> None:
        try:
            file = read_acl_file(text, source="x", format=notation)
        except NotationError as refusal:
            assert_tells(refusal.messages, text)
            return
        content = text.removeprefix(BOM)
        CHECKS[notation](content, file.bindings)
        assert len(file.lines) == len(file.bindings)
        assert all(1 <= line <= content.count("\n") + 1 for line in file.lines)
        again = read_acl_file(write_acls(file.bindings, format="jsonl"), source="x", format="jsonl")
        assert list(again.bindings) == list(file.bindings)

    holds()


@round_trip
@given(st.sampled_from(FORMATS).flatmap(written).flatmap(lambda text: damaged(st.just(text))))
def test_a_format_is_recognised_or_refused_with_the_line(text):
    text = text.removeprefix(BOM)
    try:
        found = recognise(text, source="x")
    except NotationError as refusal:
        assert_tells(refusal.messages, text)
        assert not any(line.startswith(("- ", "Current ACLs for resource `")) for line in text.split("\n"))
    else:
        assert found in FORMATS


@pytest.mark.parametrize("notation", FORMATS)
def test_bytes_that_are_no_utf_8_are_reported_line_by_line_in_every_notation(tmp_path, notation):
    path = tmp_path / "x"

    @round_trip
    @given(written(notation), st.lists(st.tuples(st.integers(0, 2_000), st.binary(min_size=1, max_size=3))))
    def holds(text: str, damage: list[tuple[int, bytes]]) -> None:
        data = text.encode("utf-8")
        for place, junk in damage:
            data = data[: place % (len(data) + 1)] + junk + data[place % (len(data) + 1) :]
        path.write_bytes(data)
        inputs = Inputs()
        file = inputs.acls(str(path), notation)
        bad = [number for number, line in enumerate(data.split(b"\n"), start=1) if not is_utf_8(line)]
        try:
            inputs.require_good()
        except NotationError as refusal:
            messages = [message.removeprefix(str(tmp_path) + "/") for message in refusal.messages]
            assert_tells(messages, data.decode("utf-8", "replace"))
            told = [int(message.split(":")[1]) for message in messages if "is not UTF-8" in message]
            assert told == bad or "in UTF-16" in messages[0]
        else:
            assert not bad
            CHECKS[notation](data.decode("utf-8").removeprefix(BOM), file.bindings)

    holds()


def is_utf_8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


# Requests, edits, filters, settings, scenarios, names.


def object_lines(values: Sequence[Mapping[str, object]]) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


@round_trip
@given(
    damaged(st.lists(requests(), max_size=3).map(lambda asked: object_lines([r.as_dict() for r in asked])))
)
def test_requests_are_read_exactly_or_refused_line_by_line(text):
    try:
        asked = read_requests(text, source="x")
    except NotationError as refusal:
        assert_tells(refusal.messages, text)
        return
    for request, row in zip(asked, json_rows(text.removeprefix(BOM)), strict=True):
        assert row.keys() == request.as_dict().keys()
        for key, value in request.as_dict().items():
            found = row[key]
            assert isinstance(found, str)
            assert plain(found) == plain(value) if key in ENUMS else found == value
        assert not {request.operation.name, request.resource_type.name} & {"ANY", "UNKNOWN"}
    assert read_requests(object_lines([r.as_dict() for r in asked]), source="x") == asked


def edits(bindings: Sequence[AclBinding], ops: Sequence[str]) -> str:
    return object_lines([{"op": op, **b.as_dict()} for op, b in zip(ops, bindings, strict=False)])


@round_trip
@given(damaged(st.builds(edits, st.lists(acls(), max_size=3), st.lists(st.sampled_from(["add", "remove"])))))
def test_an_edit_is_read_exactly_or_refused_line_by_line(text):
    try:
        delta = read_delta(text, source="x")
    except NotationError as refusal:
        assert_tells(refusal.messages, text)
        return
    sides: dict[object, list[dict[str, object]]] = {"add": [], "remove": []}
    for row in json_rows(text.removeprefix(BOM)):
        sides[row.pop("op")].append(row)
    for op, bindings in (("add", delta.add), ("remove", delta.remove)):
        rows = [dict(binding.as_dict()) for binding in bindings]
        assert len(rows) <= len(sides[op])
        for binding in bindings:
            assert any(says_so(binding, row) for row in sides[op])
    again = read_delta(write_delta(delta), source="x")
    assert (set(again.add), set(again.remove)) == (set(delta.add), set(delta.remove))


def says_so(binding: AclBinding, row: Mapping[str, object]) -> bool:
    try:
        assert_says(binding, row)
    except AssertionError:
        return False
    return True


FILTER_VALUES = st.one_of(
    st.none(), texts, st.sampled_from(["ANY", "MATCH", "UNKNOWN", "topic", "Read", "GLOB"])
)


@round_trip
@given(damaged(st.fixed_dictionaries(dict.fromkeys(ACL_KEYS, FILTER_VALUES)).map(json.dumps)))
def test_a_filter_is_read_exactly_or_refused_with_a_sentence(text):
    try:
        asked = filter_from_dict(parse_object(text))
    except NotationError as refusal:
        assert_sentence(refusal)
        return
    row = json.loads(text, object_pairs_hook=no_key_twice)
    assert sorted(row) == sorted(ACL_KEYS)
    for key in ACL_KEYS:
        value = getattr(asked, key)
        assert plain(row[key]) == plain(value.name) if key in ENUMS else row[key] == value


SUPER_USERS = st.lists(
    st.one_of(
        texts, texts.map(lambda name: f"User:{name}"), st.sampled_from([";", " ; ", "", "\x1f", "\xa0"])
    )
).map(";".join)


@pytest.mark.parametrize("text", ["bob;" * 300, "x" * 900, "User:a;" * 200 + "bob"])
def test_a_long_value_of_a_setting_is_cut_where_it_is_refused(text):
    with pytest.raises(AclError, match="so a broker would not start") as refused:
        AuthorizerSettings.read(config={"super.users": text})

    assert_sentence(refused.value)
    assert len(str(refused.value)) < 400


@round_trip
@given(SUPER_USERS, st.sampled_from(sorted(VERSIONS)))
def test_super_users_are_read_as_java_reads_them_or_refused(text, authorizer):
    java_trim = "".join(map(chr, range(0x21)))
    parts = text.split(";")
    if authorizer == "acl":
        while parts and not parts[-1]:
            parts.pop()
        parts = [part.strip(java_trim) for part in parts]
    else:
        parts = [part.strip(java_trim) for part in parts if part.strip(java_trim)]
    try:
        settings = AuthorizerSettings.read(authorizer=authorizer, config={"super.users": text})
    except AclError as error:
        assert_sentence(error)
        is_good = False
    else:
        is_good = settings.super_users == set(parts)
    assert is_good == all(":" in part for part in parts)


CONFIG_VALUES = st.one_of(texts, st.booleans(), st.integers(), st.none(), st.lists(texts, max_size=2))


@round_trip
@given(
    st.dictionaries(
        st.sampled_from(["super.users", "allow.everyone.if.no.acl.found", "x", ""]), CONFIG_VALUES, max_size=3
    ),
    st.one_of(texts, st.sampled_from(sorted(VERSIONS))),
    st.one_of(texts, st.sampled_from(["4.4", "3.9.1", "2.4", "4.4.", "4.4.0.0", "٤.٤", "4.४"])),
)
def test_a_configuration_is_read_or_refused_with_a_sentence(config, authorizer, version):
    try:
        settings = AuthorizerSettings.read(authorizer=authorizer, kafka_version=version, config=config)
    except AclError as error:
        assert_sentence(error)
        return
    assert settings.kafka_version in VERSIONS[settings.authorizer]
    assert not version or re.fullmatch(rf"{re.escape(settings.kafka_version)}(\.[0-9]+)?", version)
    assert set(config) <= {"super.users", "allow.everyone.if.no.acl.found"}
    assert isinstance(config.get("super.users", ""), str)
    assert isinstance(config.get("allow.everyone.if.no.acl.found", ""), (str, bool))


def scenario_line(name: object, bindings: list[AclBinding], request: Mapping[str, object], word: str) -> str:
    held = [binding.as_dict() for binding in bindings]
    return object_lines([{"id": name, "acls": held, "request": request, "expected": word}])


@round_trip
@given(
    damaged(
        st.builds(
            scenario_line,
            st.one_of(texts, st.integers()),
            st.lists(acls(), max_size=2),
            requests().map(lambda request: request.as_dict()),
            st.sampled_from(["ALLOWED", "DENIED"]),
        )
    )
)
def test_a_scenario_is_read_exactly_or_reported_with_its_line(text):
    data = text.encode("utf-8", "surrogatepass")
    lines = [line for line in data.removeprefix(BOM.encode()).split(b"\n") if line.strip(b" \t\r")]
    found = list(read_scenarios(data.removeprefix(BOM.encode()), Declared(None, None, None, None)))

    assert len(found) == len(lines)
    for scenario, line in zip(found, lines, strict=True):
        if isinstance(scenario, Scenario):
            row = json.loads(line, object_pairs_hook=no_key_twice)
            assert scenario.name == row["id"]
            assert row.keys() <= {
                "id",
                "acls",
                "request",
                "requests",
                "expected",
                "authorizer",
                "config",
                "kafka_version",
            }
            assert set(scenario.expected) <= {"ALLOWED", "DENIED"}
            assert len(scenario.requests) == len(scenario.expected)
        else:
            assert_tells([f"x:{scenario.line}: {scenario.reason}"], data.decode("utf-8", "replace"))


@round_trip
@given(damaged(st.lists(texts).map("\n".join)))
def test_names_are_every_line_that_is_not_empty(text):
    assert list(read_names(text)) == list(dict.fromkeys(filter(None, text.removeprefix(BOM).split("\n"))))


# ZooKeeper.


def node_data(bindings: list[AclBinding]) -> str:
    entries = [
        {
            "principal": binding.principal,
            "permissionType": binding.permission_type.pascal,
            "host": binding.host,
            "operation": binding.operation.pascal,
        }
        for binding in bindings
    ]
    return json.dumps({"version": 1, "acls": entries})


@round_trip
@given(damaged(st.lists(acls(), max_size=3).map(node_data)), st.sampled_from([b"", b"\xff", b"\xef\xbb\xbf"]))
def test_the_data_of_a_node_is_read_as_its_json_says_or_refused(text, start):
    pattern = ResourcePattern(ResourceType.TOPIC, "t", PatternType.LITERAL)
    data = start + text.encode("utf-8", "surrogatepass")
    try:
        reading = znodes.read_node(pattern, data)
    except ZnodeError as error:
        assert_sentence(error)
        return
    assert all(remark.isprintable() and remark.endswith(".") for remark in reading.remarks)
    try:
        document, _end = json.JSONDecoder(parse_constant=int).raw_decode(
            data.decode("utf-8-sig").lstrip(" \t\r\n")
        )
    except (ValueError, RecursionError):
        assert reading.bindings == ()
        assert len(reading.remarks) == 1
        return
    assert document["version"] == 1
    assert reading.bindings == tuple(
        dict.fromkeys(
            AclBinding(
                ResourceType.TOPIC,
                "t",
                PatternType.LITERAL,
                entry["principal"],
                entry["host"],
                word_of(Operation, entry["operation"]),
                word_of(PermissionType, entry["permissionType"]),
            )
            for entry in document["acls"]
        )
    )


PATHS = st.lists(
    st.one_of(
        texts,
        st.sampled_from(
            ["kafka-acl", "kafka-acl-extended", "prefixed", "Topic", "TransactionalId", "a", ".", "..", "", "\0",
             "kafka-acl-changes", "acl_changes_0000000001", "Thing"]
        ),
    )
).map(lambda parts: "/" + "/".join(parts))  # fmt: skip


@round_trip
@given(damaged(PATHS))
def test_a_path_is_one_patterns_node_or_none_and_never_two(path):
    try:
        znodes.check_path(path)
    except ZnodeError as error:
        assert_sentence(error)
        return
    pattern = znodes.pattern_of(path)
    if pattern is None:
        reason = znodes.why_unread(path)
        assert reason is None or reason.isprintable()
    else:
        assert znodes.path_of(pattern) == path
        assert znodes.why_unread(path) is None


@round_trip
@given(
    st.sampled_from([*znodes.CHANGE_ROOTS.values(), "/kafka-acl"]),
    damaged(
        st.one_of(
            texts,
            texts.map(lambda name: f"Topic:{name}"),
            st.builds(
                lambda name, kind: json.dumps(
                    {"version": 1, "resourceType": kind, "name": name, "patternType": "PREFIXED"}
                ),
                texts,
                st.sampled_from(["TOPIC", "TransactionalId", "TRANSACTIONAL_ID", "Thing"]),
            ),
        )
    ),
    st.sampled_from([b"", b"\xff"]),
)
def test_a_change_node_names_one_pattern_or_is_refused(parent, text, start):
    data = start + text.encode("utf-8", "surrogatepass")
    try:
        pattern = znodes.read_change_node(parent, data)
    except ZnodeError as error:
        assert_sentence(error)
        return
    assert parent == znodes.CHANGE_ROOTS[pattern.pattern_type]
    if pattern.pattern_type is PatternType.LITERAL:
        word, _colon, name = data.decode("utf-8").partition(":")
    else:
        notice, _end = json.JSONDecoder().raw_decode(data.decode("utf-8").lstrip(" \t\r\n"))
        word, name = notice["resourceType"], notice["name"]
    assert pattern.name == name
    assert pattern.resource_type.name.replace("_", "") in (word.upper().replace("_", ""), "UNKNOWN")


# The authorizer's log.


NOTES = st.builds(
    "{}{}{}".format,
    st.sampled_from(["principal = ", "No acl found for resource ", "operation = READ on resource = ", ""]),
    texts,
    st.sampled_from(
        [" is a super user, allowing operation without checking acls.", ", authorized = false",
         " from host = 1.1.1.1 is ALLOW based on acl = x", ""]
    ),
)  # fmt: skip
DECISIONS = st.sampled_from(FAMILIES).flatmap(decisions)
LOG_RECORDS = st.one_of(
    DECISIONS.map(printed), NOTES.map(lambda note: LAYOUT.format(time=TIME, level="DEBUG", message=note))
)


@round_trip
@given(damaged(st.one_of(DECISIONS.map(message_of), NOTES)), damaged(LOG_RECORDS))
def test_a_log_record_is_read_as_the_words_that_it_holds_or_not_at_all(message, record):
    for text, event in ((message, parse_suffix(message)), (record, parse_record(record))):
        if not isinstance(event, AccessEvent):
            assert event.reason
            continue
        # Words that Kafka does not know come back as UNKNOWN, and numbers without leading zeros.
        if Operation.UNKNOWN is event.operation or ResourceType.UNKNOWN is event.resource_type:
            continue
        if event.acl is not None and event.acl.has_unknown:
            continue
        said = {message_of(event, brackets=brackets).lower() for brackets in ("()", "[]")}
        found = re.sub(r"resourceRefCount = 0*(?=[0-9])", "resourceRefCount = ", text)
        assert any(one.replace("_", "") in found.lower().replace("_", "") for one in said)
        if event.time is not None:
            assert text.startswith(f"[{event.time}] {event.level} ")


@round_trip
@given(st.lists(damaged(LOG_RECORDS), max_size=4))
def test_the_records_of_a_log_hold_all_of_its_lines(written_records):
    text = "\n".join(written_records)
    found = list(records(text.split("\n")))

    assert re.sub(r"[\r\n]+", "", "".join(found)).strip() == re.sub(r"[\r\n]+", "", text).strip()
    assert len(found) <= 1 + text.count("\n")


def test_nothing_is_removed_or_added_by_an_edit_that_is_empty():
    assert read_delta("", source="x") == Delta()
