import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import pytest

from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.cli.main import main
from aclweb.acl.lint import RULES, findings_in, lint, lint_all
from aclweb.acl.lint import rules as rules_folder
from aclweb.acl.lint.redundancy import redundant
from aclweb.acl.lint.registry import RuleError, read_rules, why_incomplete
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import Operation
from aclweb.acl.notation.files import write_acls
from tests.builders import acl, allow, deny
from tests.each import each
from tests.random_cases import SCALE, random_case

ROOT = Path(__file__).resolve().parents[2]
BOB = "User:bob"
OLD = AuthorizerSettings(kafka_version="3.9")
ZOOKEEPER = AuthorizerSettings(authorizer="acl")
OPEN = AuthorizerSettings(allow_everyone=True)

BREAKING = [
    ("refused-by-kafka", allow(BOB, "READ", ""), AuthorizerSettings()),
    ("refused-by-kafka", allow(BOB, "DESCRIBE", "other", resource_type="CLUSTER"), AuthorizerSettings()),
    ("refused-by-kafka", allow(BOB, "READ", "a/b", resource_type="GROUP"), ZOOKEEPER),
    (
        "unknown-value",
        replace(allow(BOB, "READ", "orders"), operation=Operation.UNKNOWN),
        AuthorizerSettings(),
    ),
    ("unparsable-principal", allow("bob", "READ", "orders"), AuthorizerSettings()),
    ("dormant-address-range", allow(BOB, "READ", "orders", host="10.0.0.0/8"), OLD),
    ("host-never-matches", deny(BOB, "READ", "orders", host="example.com"), AuthorizerSettings()),
    ("host-never-matches", deny(BOB, "READ", "orders", host="::1"), AuthorizerSettings()),
    ("host-not-everywhere", allow(BOB, "READ", "orders", host="0.0.0.0"), AuthorizerSettings()),
    ("host-not-everywhere", deny(BOB, "READ", "orders", host="0.0.0.0/0"), AuthorizerSettings()),
    ("host-not-everywhere", deny(BOB, "READ", "orders", host="::/0"), AuthorizerSettings()),
    (
        "locks-out-administrators",
        deny("User:*", "ALTER", "kafka-cluster", resource_type="CLUSTER"),
        AuthorizerSettings(),
    ),
    ("locks-out-administrators", deny("User:*", "ALL", "kafka-cluster", resource_type="CLUSTER"), ZOOKEEPER),
    ("prefix-of-asterisk", allow(BOB, "READ", "*", pattern="PREFIXED"), AuthorizerSettings()),
    ("asterisk-in-name", allow(BOB, "READ", "team-*", resource_type="GROUP"), AuthorizerSettings()),
    ("asterisk-in-name", allow(BOB, "READ", "orders-*", pattern="PREFIXED"), AuthorizerSettings()),
    ("asterisk-in-name", allow(BOB, "READ", "team-?", resource_type="GROUP"), AuthorizerSettings("glob")),
    ("prefix-without-delimiter", allow(BOB, "READ", "order", pattern="PREFIXED"), AuthorizerSettings()),
    ("name-cannot-exist", allow(BOB, "READ", "or ders"), AuthorizerSettings()),
    ("name-cannot-exist", allow(BOB, "CREATE_TOKENS", "ada", resource_type="USER"), AuthorizerSettings()),
    ("unlikely-principal", allow("User:a*", "READ", "orders"), AuthorizerSettings()),
    ("unlikely-principal", allow("user:bob", "READ", "orders"), AuthorizerSettings()),
    ("unlikely-principal", allow("User:User:bob", "READ", "orders"), AuthorizerSettings()),
    ("unlikely-principal", allow("User:CN=bob, OU=x", "READ", "orders"), AuthorizerSettings()),
    ("unlikely-principal", allow("User:cn=bob,ou=x", "READ", "orders"), AuthorizerSettings()),
    ("unlikely-principal", allow("User:", "READ", "orders"), AuthorizerSettings()),
    ("invisible-character", allow(BOB, "READ", "team\u200b", resource_type="GROUP"), AuthorizerSettings()),
    ("invisible-character", allow("User:bob ", "READ", "orders"), AuthorizerSettings()),
    ("invisible-character", allow("User: bob", "READ", "orders"), AuthorizerSettings()),
    ("invisible-character", allow("User:jose\u0301", "READ", "orders"), AuthorizerSettings()),
    ("operation-without-meaning", allow(BOB, "WRITE", "team", resource_type="GROUP"), AuthorizerSettings()),
    ("operation-without-meaning", allow(BOB, "DESCRIBE_CONFIGS", "team", resource_type="GROUP"), OLD),
    ("open-to-everyone", allow("User:*", "READ", "*"), AuthorizerSettings()),
    ("anonymous-allowed", allow("User:ANONYMOUS", "READ", "orders"), AuthorizerSettings()),
    ("super-user-unaffected", deny(BOB, "READ", "orders"), AuthorizerSettings(super_users=frozenset({BOB}))),
    ("wildcard-skips-starred-names", deny(BOB, "READ", "*", resource_type="GROUP"), AuthorizerSettings()),
]

KEEPING = [
    ("dormant-address-range", allow(BOB, "READ", "orders", host="10.0.0.0/8"), AuthorizerSettings()),
    ("host-never-matches", deny(BOB, "READ", "orders", host="0:0:0:0:0:0:0:1"), AuthorizerSettings()),
    ("host-never-matches", deny(BOB, "READ", "orders", host="10.0.0.0/8"), AuthorizerSettings()),
    ("host-not-everywhere", deny(BOB, "READ", "orders", host="10.0.0.0/8"), AuthorizerSettings()),
    ("host-not-everywhere", deny(BOB, "READ", "orders"), AuthorizerSettings()),
    (
        "locks-out-administrators",
        deny(BOB, "ALTER", "kafka-cluster", resource_type="CLUSTER"),
        AuthorizerSettings(),
    ),
    (
        "locks-out-administrators",
        deny("User:*", "CREATE", "kafka-cluster", resource_type="CLUSTER"),
        AuthorizerSettings(),
    ),
    ("prefix-of-asterisk", allow(BOB, "READ", "*"), AuthorizerSettings()),
    ("asterisk-in-name", allow(BOB, "READ", "*"), AuthorizerSettings()),
    ("asterisk-in-name", allow(BOB, "READ", "team-?", resource_type="GROUP"), AuthorizerSettings()),
    (
        "asterisk-in-name",
        allow(BOB, "READ", "team-*", pattern="GLOB", resource_type="GROUP"),
        AuthorizerSettings("glob"),
    ),
    ("prefix-without-delimiter", allow(BOB, "READ", "order.", pattern="PREFIXED"), AuthorizerSettings()),
    ("prefix-without-delimiter", allow(BOB, "READ", "order"), AuthorizerSettings()),
    ("name-cannot-exist", allow(BOB, "READ", "or ders", resource_type="GROUP"), AuthorizerSettings()),
    (
        "name-cannot-exist",
        allow(BOB, "CREATE_TOKENS", "User:ada", resource_type="USER"),
        AuthorizerSettings(),
    ),
    ("name-cannot-exist", allow(BOB, "CREATE_TOKENS", "*", resource_type="USER"), AuthorizerSettings()),
    ("unlikely-principal", allow("User:*", "READ", "orders"), AuthorizerSettings()),
    ("unlikely-principal", allow("User:CN=bob,OU=x\\, y", "READ", "orders"), AuthorizerSettings()),
    ("unlikely-principal", allow("Group:readers", "READ", "orders"), AuthorizerSettings()),
    ("invisible-character", allow("User:josé", "READ", "orders"), AuthorizerSettings()),
    ("operation-without-meaning", allow(BOB, "ALL", "team", resource_type="GROUP"), AuthorizerSettings()),
    (
        "operation-without-meaning",
        allow(BOB, "DESCRIBE_CONFIGS", "team", resource_type="GROUP"),
        AuthorizerSettings(),
    ),
    ("open-to-everyone", allow("User:*", "READ", "orders.", pattern="PREFIXED"), AuthorizerSettings()),
    ("open-to-everyone", deny("User:*", "READ", "*"), AuthorizerSettings()),
    ("anonymous-allowed", deny("User:ANONYMOUS", "READ", "orders"), AuthorizerSettings()),
    ("super-user-unaffected", deny(BOB, "READ", "orders"), AuthorizerSettings()),
    ("wildcard-skips-starred-names", deny(BOB, "READ", "*", resource_type="GROUP"), ZOOKEEPER),
    ("wildcard-skips-starred-names", deny(BOB, "READ", "*"), AuthorizerSettings()),
]


def broken(binding, settings=None):
    return {finding.rule for finding in lint(binding, settings)}


@pytest.mark.parametrize(("rule", "binding", "settings"), BREAKING)
def test_a_rule_finds_what_it_is_for(rule, binding, settings):
    found = {finding.rule: finding for finding in lint(binding, settings)}

    assert rule in found
    assert found[rule].sentence.endswith((".", ")"))
    assert found[rule].acl == binding


@pytest.mark.parametrize(("rule", "binding", "settings"), KEEPING)
def test_a_rule_leaves_alone_what_is_right(rule, binding, settings):
    assert rule not in broken(binding, settings)


def test_a_plain_acl_breaks_no_rule():
    assert lint(allow(BOB, "READ", "orders")) == ()


def test_a_deny_that_guards_nothing_is_an_error_and_an_empty_allow_a_warning():
    for rule, name in (("host-never-matches", "orders"), ("name-cannot-exist", "or ders")):
        host = "example.com" if rule == "host-never-matches" else "*"
        (refusal,) = [f for f in lint(deny(BOB, "READ", name, host=host)) if f.rule == rule]
        (grant,) = [f for f in lint(allow(BOB, "READ", name, host=host)) if f.rule == rule]
        assert (refusal.severity, grant.severity) == ("error", "warning")


@pytest.mark.parametrize(
    ("binding", "told"),
    [
        (allow(BOB, "READ", "pay*"), {"asterisk-in-name"}),
        (allow(BOB, "READ", "pay*", pattern="PREFIXED"), {"asterisk-in-name"}),
        (allow(BOB, "READ", "pa y*"), {"asterisk-in-name", "name-cannot-exist"}),
        (allow(BOB, "DESCRIBE", "nobody", resource_type="CLUSTER"), {"refused-by-kafka"}),
        (allow(BOB, "DESCRIBE", "nob*", resource_type="CLUSTER"), {"refused-by-kafka"}),
        (allow(BOB, "DESCRIBE", "kafka", pattern="PREFIXED", resource_type="CLUSTER"), {"refused-by-kafka"}),
        (allow(BOB, "READ", ""), {"refused-by-kafka"}),
        (
            allow(BOB, "READ", "or ders", host=""),
            {"refused-by-kafka", "host-never-matches", "name-cannot-exist"},
        ),
    ],
)
def test_what_is_wrong_with_a_name_is_reported_by_one_rule(binding, told):
    assert broken(binding) == told


def test_what_is_known_to_be_redundant_is_not_worked_out_again(monkeypatch):
    index = AclIndex([allow(BOB, "READ", "orders"), deny(BOB, "ALL", "orders")])
    wasted = tuple(redundant(index))
    alone = tuple(lint_all(index))
    monkeypatch.setattr("aclweb.acl.lint.beside.redundant", None)

    assert tuple(lint_all(index, wasted=wasted)) == alone
    assert "shadowed" in {finding.rule for finding in alone}


def of_rule(rule, *bindings, settings=None):
    return [finding for finding in lint_all(AclIndex(bindings), settings) if finding.rule == rule]


def test_a_consumer_without_a_group_is_reported_once():
    topics = [allow(BOB, "READ", f"orders.{country}") for country in ("cz", "de")]

    assert len(of_rule("group-right-missing", *topics)) == 1
    assert not of_rule("group-right-missing", *topics, allow(BOB, "READ", "team", resource_type="GROUP"))
    assert not of_rule("group-right-missing", *topics, allow("User:*", "ALL", "*", resource_type="GROUP"))


def test_a_transactional_id_without_a_topic_is_reported_once_for_its_writer():
    own = allow(BOB, "WRITE", "tx", resource_type="TRANSACTIONAL_ID")
    other = allow(BOB, "WRITE", "tx2", resource_type="TRANSACTIONAL_ID")

    assert len(of_rule("topic-right-missing", own, other)) == 1
    assert not of_rule("topic-right-missing", own, allow(BOB, "WRITE", "orders"))
    assert not of_rule("topic-right-missing", replace(own, operation=Operation.DESCRIBE))


@pytest.mark.parametrize(
    ("binding", "what"),
    [
        (allow(BOB, "READ", "orders"), "an ALLOW adds nothing for"),
        (deny(BOB, "READ", "orders"), "a DENY does not stop"),
    ],
    ids=["allow", "deny"],
)
def test_an_acl_of_a_super_user_says_whether_it_adds_nothing_or_stops_nobody(binding, what):
    settings = AuthorizerSettings(super_users=frozenset({BOB}))

    (finding,) = of_rule("super-user-unaffected", binding, settings=settings)

    assert what in finding.sentence


def test_a_right_to_groups_is_no_right_to_topics():
    group = allow(BOB, "READ", "team", resource_type="GROUP")
    read = allow(BOB, "READ", "orders")
    own = allow(BOB, "WRITE", "tx", resource_type="TRANSACTIONAL_ID")

    found = {finding.rule for finding in lint_all(AclIndex([group, read, own]))}

    assert "topic-right-missing" in found
    assert "group-right-missing" not in found


def test_a_denial_of_describe_on_one_name_does_not_cover_every_topic():
    refusals = (deny(BOB, "READ", "*"), *(deny(BOB, "DESCRIBE", name) for name in ("x", "y")))

    assert [finding.acl for finding in of_rule("deny-leaves-describe", *refusals)] == [refusals[0]]


def test_a_denial_of_read_that_leaves_describe_is_told_unless_describe_is_denied_too():
    refusal = deny(BOB, "READ", "orders")

    assert of_rule("deny-leaves-describe", refusal)
    assert not of_rule("deny-leaves-describe", refusal, deny(BOB, "DESCRIBE", "orders"))
    assert not of_rule("deny-leaves-describe", deny(BOB, "ALL", "orders"))


def test_a_name_with_an_asterisk_at_its_end_is_reported_as_the_prefix_that_was_meant():
    (finding,) = lint(allow(BOB, "READ", "team-*", resource_type="GROUP"))

    assert finding.sentence.endswith("for names that begin with team- write PREFIXED team-.")


SHUTS = deny("User:app", "WRITE", "orders.eu")


@pytest.mark.parametrize(
    "others",
    [
        [],
        [allow("User:*", "DESCRIBE", "orders.eu")],
        [allow("User:*", "ALL", "orders.eu", host="10.0.0.7")],
        [allow("User:*", "ALL", "orders.de")],
        [allow(BOB, "READ", "orders.eu", host="example.com")],
        [deny(BOB, "READ", "orders.eu")],
    ],
)
def test_a_denial_that_shuts_everybody_out_of_a_name_is_reported(others):
    assert [finding.acl for finding in of_rule("ends-the-default", SHUTS, *others, settings=OPEN)][:1] == [
        SHUTS
    ]


@pytest.mark.parametrize(
    "others",
    [
        [allow("User:*", "ALL", "orders.eu")],
        [allow("User:*", "ALL", "*")],
        [allow("User:*", "ALL", "orders.", pattern="PREFIXED")],
        [
            allow("User:*", name, "*")
            for name in ["READ", "WRITE", "CREATE", "DELETE", "ALTER", "ALTER_CONFIGS"]
        ],
        [allow(BOB, "READ", "orders.", pattern="PREFIXED")],
    ],
)
def test_a_denial_where_everybody_may_or_the_default_was_ended_by_name_is_not_told(others):
    assert not of_rule("ends-the-default", SHUTS, *others, settings=OPEN)


def test_an_allow_that_nobody_can_match_ends_the_default_and_a_live_one_was_meant_to():
    assert of_rule("ends-the-default", allow(BOB, "READ", "orders", host="example.com"), settings=OPEN)
    assert not of_rule("ends-the-default", allow(BOB, "READ", "orders"), settings=OPEN)
    assert not of_rule("ends-the-default", SHUTS)


@pytest.mark.parametrize(
    ("refusal", "wider"),
    [
        (deny(BOB, "READ", "orders.eu"), deny("User:*", "DESCRIBE", "orders.eu")),
        (deny(BOB, "READ", "orders.eu"), deny(BOB, "DESCRIBE", "orders.", pattern="PREFIXED")),
        (deny(BOB, "READ", "orders.eu", host="10.0.0.7"), deny(BOB, "DESCRIBE", "orders.eu")),
        (deny(BOB, "READ", "orders.eu", host="10.0.0.7"), deny(BOB, "ALL", "orders.eu", host="10.0.0.0/8")),
    ],
)
def test_a_denial_under_a_wider_denial_of_describe_leaves_nothing_open(refusal, wider):
    assert of_rule("deny-leaves-describe", refusal)
    assert not of_rule("deny-leaves-describe", refusal, wider)


def test_denials_of_describe_that_together_hold_the_range_leave_nothing_open():
    refusal = deny(BOB, "READ", "orders.eu", host="10.0.0.0/24")
    halves = [deny(BOB, "DESCRIBE", "orders.eu", host=f"10.0.0.{start}/25") for start in (0, 128)]

    assert of_rule("deny-leaves-describe", refusal, halves[0])
    assert not of_rule("deny-leaves-describe", refusal, *halves)


def test_a_denial_for_a_host_that_no_client_has_leaves_nothing_open():
    assert not of_rule("deny-leaves-describe", deny(BOB, "READ", "orders.eu", host="example.com"))


@pytest.mark.parametrize(
    ("rule", "own"),
    [
        ("group-right-missing", allow("User:app", "READ", "orders")),
        ("topic-right-missing", allow("User:app", "WRITE", "tx", resource_type="TRANSACTIONAL_ID")),
    ],
)
def test_no_right_is_missing_for_super_users_or_where_the_default_allows(rule, own):
    missing = {"group-right-missing": "GROUP", "topic-right-missing": "TOPIC"}[rule]
    ended = (
        deny(BOB, "DELETE", "*", resource_type=missing),
        deny(BOB, "DELETE", "*", pattern="PREFIXED", resource_type=missing),
    )

    assert of_rule(rule, own)
    assert not of_rule(rule, own, settings=AuthorizerSettings(super_users=frozenset({"User:app"})))
    assert not of_rule(rule, own, settings=OPEN)
    assert of_rule(rule, own, *ended, settings=OPEN)


def test_an_operation_without_meaning_tells_of_the_describe_that_it_brings():
    on_cluster = [
        acl("ALLOW", BOB, name, "kafka-cluster", resource_type="CLUSTER") for name in ("READ", "WRITE")
    ]
    for binding in on_cluster:
        (finding,) = [f for f in lint(binding) if f.rule == "operation-without-meaning"]
        assert finding.sentence.endswith("But it brings Describe with it, which is enough to list all ACLs.")

    (denied,) = [
        f
        for f in lint(deny(BOB, "WRITE", "g", resource_type="GROUP"))
        if f.rule == "operation-without-meaning"
    ]
    assert "brings" not in denied.sentence


def test_the_settings_reach_the_rules_through_the_command(capsysbinary, tmp_path):
    path = tmp_path / "acls.jsonl"
    path.write_text(write_acls([allow(BOB, "READ", "orders"), SHUTS], format="jsonl"))

    def settings(*settings):
        assert main(["lint", "--acls", str(path), "--json", *settings]) == 0
        return {json.loads(line)["rule"] for line in capsysbinary.readouterr().out.splitlines()}

    assert settings() == {"group-right-missing", "deny-leaves-describe"}
    assert "group-right-missing" not in settings("--super-users", BOB)
    assert settings("--allow-everyone") == {"ends-the-default", "deny-leaves-describe"}


def test_an_asterisk_as_a_prefix_is_worse_where_no_name_begins_with_one():
    kinds = {"TOPIC": "error", "GROUP": "warning", "TRANSACTIONAL_ID": "warning"}

    for kind, severity in kinds.items():
        found = lint(deny(BOB, "DESCRIBE", "*", pattern="PREFIXED", resource_type=kind))
        assert [f.severity for f in found if f.rule == "prefix-of-asterisk"] == [severity]


def test_an_allow_under_a_denial_of_all_names_the_denial():
    refusal = deny("User:*", "ALL", "orders.", pattern="PREFIXED")

    (finding,) = of_rule("shadowed", allow(BOB, "READ", "orders.eu"), refusal)

    assert finding.by == (refusal,)


@each("seed", range(100 * SCALE))
def test_any_acl_is_looked_at_without_a_fault_and_by_known_rules(seed):
    world, _ = random_case(seed)

    for finding in lint_all(AclIndex(world.bindings), world.settings):
        assert finding.rule in RULES
        assert finding.severity in ("error", "warning", "info")
        assert finding.sentence[-1] in ".)"


EXAMPLES = [(rule, example) for rule in RULES.values() for example in rule.bad]


@pytest.mark.parametrize(("rule", "example"), EXAMPLES, ids=[rule.id for rule, _ in EXAMPLES])
def test_a_bad_example_gives_the_finding_of_its_rule_and_no_other(rule, example):
    found = findings_in(example)

    assert [finding.rule for finding in found] == [rule.id, *example.also]
    assert all(finding.sentence.endswith((".", ")")) for finding in found)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_good_example_does_not_give_the_finding_of_its_rule(rule):
    for example in rule.good:
        index = AclIndex((example.acl, *example.others))
        assert rule.id not in {finding.rule for finding in lint_all(index, example.settings)}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_some_bad_example_has_the_severity_of_its_rule(rule):
    severities = {finding.severity for example in rule.bad for finding in findings_in(example)}

    assert rule.severity in severities or rule.why_no_bad_example


def test_only_the_rule_on_dangerous_names_has_no_bad_example():
    assert {rule.id for rule in RULES.values() if not rule.bad} == {"kraft-name-below-asterisk"}


def test_every_file_of_the_folder_is_a_rule():
    files = {path.stem for path in (ROOT / "aclweb" / "acl" / "lint" / "rules").glob("[!_]*.py")}

    assert {rule_id.replace("-", "_") for rule_id in RULES} == files


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": "other"}, "file name"),
        ({"severity": "grave"}, "severity"),
        ({"title": ""}, "title"),
        ({"why": ""}, "why"),
        ({"alone": {}}, "give either `alone` or `beside`."),
        ({"bad": ()}, "bad example"),
        ({"good": ()}, "good example"),
    ],
)
def test_an_incomplete_rule_file_is_refused_with_what_it_lacks(change, said):
    rule = RULES["open-to-everyone"]

    assert why_incomplete(rule, "open_to_everyone") is None
    assert said in why_incomplete(replace(rule, **change), "open_to_everyone")


def test_a_new_file_in_the_folder_is_a_new_rule(monkeypatch, tmp_path):
    old = ROOT / "aclweb" / "acl" / "lint" / "rules" / "open_to_everyone.py"
    text = old.read_text(encoding="utf-8").replace("open-to-everyone", "brand-new")
    (tmp_path / "brand_new.py").write_text(text, encoding="utf-8")
    (tmp_path / "without_examples.py").write_text(text.replace("RULE =", "OTHER ="), encoding="utf-8")
    monkeypatch.setattr(rules_folder, "__path__", [*rules_folder.__path__, str(tmp_path)])

    with pytest.raises(RuleError, match=r"without_examples\.py has no RULE"):
        read_rules()
    (tmp_path / "without_examples.py").unlink()

    assert set(read_rules()) == {*RULES, "brand-new"}


def test_the_pages_of_the_rules_are_current():
    spec = importlib.util.spec_from_file_location("lint_pages", ROOT / "tools" / "lint_pages.py")
    lint_pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lint_pages)

    wanted = dict(lint_pages.pages())

    written = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "lint").iterdir()}
    assert written == wanted, "run python tools/lint_pages.py"


def test_the_command_prints_one_finding_a_line_and_fails_when_told_to(capsysbinary, tmp_path):
    path = tmp_path / "acls.jsonl"
    path.write_text(write_acls([allow(BOB, "READ", "order", pattern="PREFIXED")], format="jsonl"))

    assert main(["lint", "--acls", str(path), "--json"]) == 0
    findings = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert [finding["rule"] for finding in findings] == ["prefix-without-delimiter", "group-right-missing"]
    assert set(findings[0]) == {"rule", "severity", "sentence", "acl", "by"}
    assert main(["lint", "--acls", str(path), "--fail-on", "error"]) == 0
    assert main(["lint", "--acls", str(path), "--fail-on", "warning"]) == 1
    assert main(["lint", "--acls", str(path), "--fail-on", "info"]) == 1


@pytest.mark.parametrize("letter", ["\x1b", "\n", "\u202e", "\x00"])
@pytest.mark.parametrize("kind", ["TOPIC", "USER"])
def test_no_sentence_holds_a_character_that_drives_a_terminal_or_ends_a_line(letter, kind):
    odd = allow(f"a{letter}b", "DESCRIBE_TOKENS", f"a{letter}b", resource_type=kind, host=f"a{letter}b")

    findings = list(lint_all(AclIndex([odd]), AuthorizerSettings()))

    assert {finding.rule for finding in findings} >= {"refused-by-kafka", "invisible-character"}
    assert all(finding.sentence.isprintable() for finding in findings)


def test_the_empty_glob_is_no_empty_name():
    every, nothing = allow("User:bob", "WRITE", "", pattern="GLOB"), allow("User:bob", "WRITE", "")

    assert not list(lint_all(AclIndex([every]), AuthorizerSettings("glob")))
    assert "refused-by-kafka" in {
        finding.rule for finding in lint_all(AclIndex([nothing]), AuthorizerSettings("glob"))
    }
