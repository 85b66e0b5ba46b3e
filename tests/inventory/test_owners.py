"""Who owns a name: by itself before a prefix, by a longer prefix before a shorter.

Files are loaded whole or not at all.
"""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from aclweb.acl.model import NotationError, PatternType, ResourcePattern, ResourceType
from aclweb.audit.models import Event
from aclweb.inventory.admin import owners
from aclweb.inventory.lists import OwnerBook, owner_of, owners_matched, owners_of
from tests.steps import steps_in

HEADER = "kind,pattern_type,name,owner,labels\n"
ROWS = HEADER + (
    "TOPIC,PREFIXED,orders.,payments,\n"
    "TOPIC,PREFIXED,orders.eu.,payments-eu,restricted\n"
    "TOPIC,LITERAL,orders.eu.audit,audit,\n"
    'PRINCIPAL,LITERAL,User:bob,payments,"human, on-call"\n'
)


@pytest.fixture
def owned(cluster):
    owners.load(actor="ada", cluster=cluster, rows=owners.read(ROWS, "rows.csv"))
    return cluster


@pytest.mark.parametrize(
    "name, owner",
    [
        ("orders.eu.audit", "audit"),
        ("orders.eu.audit.old", "payments-eu"),
        ("orders.us", "payments"),
        ("orders.", "payments"),
        ("orders", None),
        ("Orders.us", None),
        ("", None),
        ("orders.\x00\ud800", "payments"),
        ("orders." + "x" * 900, "payments"),
    ],
)
def test_a_name_counts_before_a_prefix_and_a_longer_prefix_before_a_shorter(owned, name, owner):
    found = owner_of(owned, "TOPIC", name)

    assert (found.owner if found else None) == owner
    assert owners_of(owned, "TOPIC", [name]).get(name) == found


def test_a_name_of_another_kind_or_cluster_has_no_owner(owned, other_cluster):
    assert owner_of(owned, "GROUP", "orders.eu") is None
    assert owner_of(owned, "CLUSTER", "kafka-cluster") is None
    assert owner_of(other_cluster, "TOPIC", "orders.eu") is None
    assert owner_of(owned, "PRINCIPAL", "User:bob").labels == ("human", "on-call")


def test_rows_that_are_the_same_again_are_filed_once(owned, other_cluster):
    first, second = OwnerBook(owned), OwnerBook(owned)
    assert second._literal is first._literal
    assert OwnerBook(owned, "TOPIC").of("PRINCIPAL", "User:bob") is None
    assert not OwnerBook(other_cluster)

    owned.owned_names.filter(name="orders.").update(owner="shop")

    assert OwnerBook(owned).of("TOPIC", "orders.us").owner == "shop"
    assert first.of("TOPIC", "orders.us").owner == "payments"


def test_one_query_finds_the_owner_of_one_name_and_of_many(owned, django_assert_num_queries):
    with django_assert_num_queries(1):
        owner_of(owned, "TOPIC", "orders.eu")
    with django_assert_num_queries(1):
        assert len(owners_of(owned, "TOPIC", [f"orders.{number}" for number in range(300)])) == 300


def test_what_is_written_is_read_again_and_changes_nothing(owned):
    text = owners.text_of(owned.owned_names.all())

    assert owners.loading(owned, owners.read(text, "again")).is_empty
    assert sorted(text.splitlines()) == sorted(ROWS.splitlines())


def test_a_file_has_exactly_its_rows_and_one_event(owned):
    text = HEADER + "TOPIC,PREFIXED,orders.,shop,public\ngroup,literal,billing,billing,\n"
    found = owners.load(actor="ada", cluster=owned, rows=owners.read(text, "new.csv"))

    assert (len(found.added), len(found.changed), len(found.removed), found.same) == (1, 1, 3, 0)
    assert found.sentence == "1 row is added, 1 row is changed, 3 rows are removed, 0 rows stay"
    assert {(row.kind, row.name, row.owner, row.labels) for row in owned.owned_names.all()} == {
        ("TOPIC", "orders.", "shop", "public"),
        ("GROUP", "billing", "billing", ""),
    }
    assert Event.objects.filter(verb="owners.loaded").count() == 2


def test_each_bad_line_is_named_and_nothing_is_stored(owned):
    text = HEADER + (
        "TOPIC,PREFIXED,stock.,stock,\n"
        "QUEUE,PREFIXED,a,b,\n"
        "TOPIC,PREFIXED,,b,\n"
        "TOPIC,PREFIXED,c,,\n"
        "PRINCIPAL,LITERAL,bob,b,\n"
        "TOPIC,PREFIXED,d,b,Ünclear\n"
        "TOPIC,PREFIXED,stock.,other,\n"
        f"TOPIC,PREFIXED,{'e' * 501},b,\n"
    )
    with pytest.raises(NotationError) as raised:
        owners.read(text, "bad.csv")

    assert [message.split(": ", 1)[0] for message in raised.value.messages] == [
        f"bad.csv:{line}" for line in range(3, 10)
    ]
    told = str(raised.value)
    for part in (
        "'QUEUE' is none; use TOPIC, GROUP, TRANSACTIONAL_ID, PRINCIPAL.",
        "Give an owner, a label, or both.",
        "A principal has a type, as in User:bob.",
        "'ünclear' is no label; use letters a to z, digits, - and _.",
        "topics that begin with stock. are on line 2 already; keep one.",
        "This has 501 characters; up to 500 fit.",
    ):
        assert part in told
    assert owned.owned_names.count() == 4


def test_a_file_of_too_many_rows_is_refused(owned, monkeypatch):
    monkeypatch.setattr(owners, "MOST_ROWS", 3)

    with pytest.raises(NotationError, match="This is row 4; up to 3 fit, so use prefixes"):
        owners.read(ROWS, "rows.csv")
    with pytest.raises(owners.OwnerError, match="has 3 rows, and no more are kept"):
        owners.add(
            actor="ada", cluster=owned, kind="TOPIC", pattern_type="LITERAL", name="a", owner="b", labels=""
        )


def test_the_command_prints_tells_and_loads(owned, tmp_path, capsys):
    file = tmp_path / "owners.csv"
    file.write_text(HEADER + "TOPIC,PREFIXED,orders.,payments,\n", encoding="utf-8-sig")

    call_command("owners", "test-eu")
    printed = capsys.readouterr().out
    call_command("owners", "test-eu", str(file), "--dry-run")
    told = capsys.readouterr().out

    assert sorted(printed.splitlines()) == sorted(ROWS.splitlines())
    sentence = "none is added, none is changed, 3 rows are removed, 1 row stays"
    assert told == f"test-eu: {sentence}; nothing was stored.\n"
    assert owned.owned_names.count() == 4
    call_command("owners", "test-eu", str(file))
    assert capsys.readouterr().out == f"test-eu: {sentence}.\n"
    assert owned.owned_names.count() == 1
    file.write_bytes(b"\xff")
    with pytest.raises(CommandError, match="is no UTF-8 text"):
        call_command("owners", "test-eu", str(file))
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("owners", "test-eu", str(tmp_path / "none.csv"))


@pytest.mark.parametrize(
    "pattern, name, found",
    [
        ("LITERAL", "orders.eu.audit", {"audit"}),
        ("LITERAL", "orders.eu.x", {"payments-eu"}),
        ("PREFIXED", "orders.eu.audit", {"audit", "payments-eu"}),
        ("PREFIXED", "orders.eu.x", {"payments-eu"}),
        ("PREFIXED", "ord", {"audit", "payments", "payments-eu"}),
        ("GLOB", "orders.eu.?udit", {"audit", "payments-eu"}),
        ("LITERAL", "*", {"audit", "payments", "payments-eu"}),
        ("PREFIXED", "stock", set()),
    ],
)
def test_a_pattern_matches_names_of_each_owner_below_and_the_one_above(owned, pattern, name, found):
    patterns = [ResourcePattern(ResourceType.TOPIC, name, PatternType[pattern])]

    assert {each.owner for each in owners_matched(owned, patterns)} == found
    assert (
        owners_matched(owned, [ResourcePattern(ResourceType.CLUSTER, "kafka-cluster", PatternType.LITERAL)])
        == ()
    )


def test_the_owners_that_a_literal_matches_are_those_of_its_name(owned):
    for name in ("orders.eu.audit", "orders.eu.audit.x", "orders.", "orders", "stock", "orders.eu."):
        each = owner_of(owned, "TOPIC", name)
        literal = [ResourcePattern(ResourceType.TOPIC, name, PatternType.LITERAL)]

        assert [found.owner for found in owners_matched(owned, literal)] == ([each.owner] if each else [])


@pytest.mark.parametrize("pattern", ["LITERAL", "PREFIXED"])
@pytest.mark.parametrize("said", ["LITERAL", "PREFIXED"])
def test_twice_the_rows_and_patterns_are_about_twice_the_work(cluster, pattern, said):
    def work(count):
        rows = HEADER + "".join(f"TOPIC,{said},t{number:05}.,o,\n" for number in range(count))
        owners.load(actor="ada", cluster=cluster, rows=owners.read(rows, "rows.csv"))
        # Each begins with one text more, so that what is below one is below all before it.
        names = [f"t{number:05}." for number in range(count)] + ["t" + "0" * zeros for zeros in range(5)]
        patterns = [ResourcePattern(ResourceType.TOPIC, name, PatternType[pattern]) for name in names]
        assert len(owners_matched(cluster, patterns)[0].names) == count
        return steps_in("aclweb.inventory.lists.owners", lambda: owners_matched(cluster, patterns))

    assert work(400) < 2.5 * work(200)


def test_yaml_says_what_the_csv_says(owned):
    written = owners.text_of(owned.owned_names.all(), as_yaml=True)

    assert (
        '- kind: "PRINCIPAL"\n  pattern_type: "LITERAL"\n  name: "User:bob"\n  owner: "payments"\n' in written
    )
    assert owners.read(written, "rows.yaml") == owners.read(
        owners.text_of(owned.owned_names.all()), "rows.csv"
    )
    assert owners.loading(owned, owners.read(written, "rows.yaml")).is_empty


def test_a_yaml_list_may_have_comments_and_leave_out_what_nobody_says(cluster):
    text = (
        "# ours\n---\n"
        "- name: orders.  # all of them\n  kind: topic\n  pattern_type: prefixed\n  labels: Restricted\n"
    )

    assert owners.read(text, "rows.yaml") == [
        {"kind": "TOPIC", "pattern_type": "PREFIXED", "name": "orders.", "owner": "", "labels": "restricted"}
    ]
    assert owners.read("[]\n", "rows.yaml") == owners.read("%YAML 1.1\n---\n[]\n", "rows.yaml") == []
    assert len(owners.read("[{kind: topic, pattern_type: literal, name: a, owner: b}]\n", "rows.yaml")) == 1
    for labels in ("[pii, restricted]", "\n    - restricted\n    - pii", "pii, restricted"):
        rows = "- {kind: topic, pattern_type: literal, name: on, owner: 007}\n- name: n\n  kind: group\n"
        found = owners.read(rows + f"  labels: {labels}\n  pattern_type: literal\n  owner:\n", "rows.yaml")
        assert [(each["name"], each["owner"], each["labels"]) for each in found] == [
            ("on", "007", ""),
            ("n", "", "pii, restricted"),
        ]
    assert owners.text_of([], as_yaml=True) == "[]\n"


def test_each_bad_row_of_a_yaml_list_is_named(cluster):
    text = (
        "- kind: TOPIC\n  pattern_type: LITERAL\n  name: a\n  owner: x\n  colour: red\n"
        "- kind: TOPIC\n  owner: x\n"
        "- kind: TOPIC\n  pattern_type: LITERAL\n  name: b\n"
        "- kind: TOPIC\n  pattern_type: LITERAL\n  name: [c, d]\n  owner: x\n"
        "- &a [*a, *a]\n"
        "- kind: TOPIC\n  ? [x]\n  : y\n  pattern_type: LITERAL\n  labels: [a, [b], {c: d}]\n  name: e\n  name: f\n"
    )

    with pytest.raises(NotationError) as refused:
        owners.read(text, "rows.yaml")

    told = "\n".join(refused.value.messages)
    assert "rows.yaml:5: 'colour' is no key of a row; use kind, pattern_type, name, owner, labels." in told
    assert "rows.yaml:6: This row lacks pattern_type and name." in told
    assert "rows.yaml:8: Give an owner, a label, or both." in told
    assert "rows.yaml:13: The value of 'name' is no text; write it out, in quotes if need be." in told
    assert "rows.yaml:15: This is no row; write 'key: value' pairs, one a line." in told
    assert "rows.yaml:17: A key is no text; write it out, in quotes if need be." in told
    assert (
        "rows.yaml:20: A word in the value of 'labels' is no text; write it out, in quotes if need be."
        in told
    )
    assert "rows.yaml:22: The key 'name' is given twice in one row; keep one." in told
    assert len(refused.value.messages) == 8


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- kind: topic\n name: x\n", "rows.yaml:2: This is no YAML: "),
        (
            "- kind: topic\n---\n- kind: group\n",
            "rows.yaml:2: Here a second document begins; one file has one list.",
        ),
        ("- a\n", "rows.yaml:1: This is no row; write 'key: value' pairs, one a line."),
        ("# ours\nkind: TOPIC\nname: a\n", "rows.yaml:2: This is no list of rows; begin each with '- '."),
        ("rows:\n- kind: TOPIC\n", "rows.yaml:1: This is no list of rows; begin each with '- '."),
        ("{kind: TOPIC, name: a}\n", "rows.yaml:1: This is no list of rows; begin each with '- '."),
        ("kind;pattern_type;name\n", "rows.yaml:1: The CSV header is 'kind;pattern_type;name'; "),
        ("kind,a: b\n", "rows.yaml:1: The CSV header is 'kind,a: b'; "),
        ("-\0", "rows.yaml:1: This is no YAML: "),
        *((f"- {one * 200_000}", "rows.yaml:1: This is nested more than 100 levels deep.") for one in "[{"),
        (f"- labels: {'[' * 200_000}", "rows.yaml:1: This is nested more than 100 levels deep."),
        ("- " * 100_000, "rows.yaml:1: This is nested more than 100 levels deep."),
        (f"- {'? ' * 100_000}", "rows.yaml:1: This is nested more than 100 levels deep."),
        (
            "[]\n...\n" + "".join(f"%TAG !{number}! x\n" for number in range(50_000)) + "---\n",
            "rows.yaml:23: More than 20 lines of this file begin with %, and a list needs none; leave them out.",
        ),
    ],
)
def test_what_is_no_list_of_rows_is_told(text, told):
    with pytest.raises(NotationError) as refused:
        owners.read(text, "rows.yaml")

    assert any(message.startswith(told) for message in refused.value.messages), refused.value.messages[:3]


def test_the_command_prints_yaml_and_takes_it_back(owned, tmp_path, capsys):
    call_command("owners", owned.slug, "--yaml")
    file = tmp_path / "rows.yaml"
    file.write_text(capsys.readouterr().out, encoding="utf-8")

    call_command("owners", owned.slug, str(file), "--dry-run")

    assert "none is added, none is changed, none is removed, 4 rows stay" in capsys.readouterr().out
    with pytest.raises(CommandError, match="--yaml prints, and a file is loaded"):
        call_command("owners", owned.slug, str(file), "--yaml")
