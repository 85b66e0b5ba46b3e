"""Rules that make names: what Kafka's documentation and its own tests promise, and what went wrong with it."""

from __future__ import annotations

import pytest

from aclweb.acl.principals.kerberos_mapping import KerberosRules
from aclweb.acl.principals.name_mapping import InvalidRules
from aclweb.acl.principals.ssl_mapping import SslRules

DUKE = "CN=Duke,OU=ServiceUsers,O=Org,C=US"


def ssl(rules: str, name: str) -> str | None:
    return SslRules.read(rules).map(name).name


def kerberos(rules: str, name: str, *, realm: str | None = "R") -> str | None:
    return KerberosRules.read(rules, realm=realm).map(name).name


# ssl.principal.mapping.rules


@pytest.mark.parametrize(
    "rules, name, expected",
    [
        ("DEFAULT", DUKE, DUKE),
        ("RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/", DUKE, "Duke"),
        ("RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L", DUKE, "duke"),
        ("RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/U", DUKE, "DUKE"),
        ("RULE:^CN=(.*?), OU=(.*?)$/$1@$2/, DEFAULT", DUKE, DUKE),
        ("RULE:^CN=([^,ADEFLTU,]+)(,.*|$)/$1/", "CN=jsmith,OU=x", "jsmith"),
        ("RULE:.*/X/L", "abc", "xx"),
        ("RULE:(.*)/$1-/", "abc", "abc--"),
        ("RULE:ß/ß/U", "ß", "SS"),
        ("RULE:a\\/b/x\\/y/", "a/b", "x/y"),
        ("RULE:(a)(b).*/$12/", "abc", "a2"),
        ("RULE:(a).*/$5/", "abc", "$5"),
        (" , DEFAULT , ", DUKE, DUKE),
    ],
)
def test_the_first_rule_that_matches_the_whole_subject_names_the_client(rules, name, expected):
    assert ssl(rules, name) == expected


@pytest.mark.parametrize(
    "rules",
    ["default", "DEFAULT/L", "RULE:a/b", "RULE:a/b/L/U", "RULE:a/b/c/L", "RULE:(/x/", "RULE:(?<=a)b/x/", "x"],
)
def test_rules_that_a_broker_would_not_start_with_are_refused_with_a_sentence(rules):
    with pytest.raises(InvalidRules) as refusal:
        SslRules.read(rules)

    assert str(refusal.value).endswith(".")


def test_rules_have_commas_inside_of_patterns_and_the_shortest_legal_rule_counts():
    rules = SslRules.read("RULE:a,b/x,y/L,RULE:c/d/, DEFAULT")

    assert [rule.text for rule in rules.rules] == ["RULE:a,b/x,y/L", "RULE:c/d/", "DEFAULT"]


def test_no_rule_for_a_name_is_an_error_in_kafka_s_words_and_ours():
    found = SslRules.read("RULE:a/b/, RULE:x/y/L").map("c")

    assert found.name is None
    assert found.rule is None
    assert found.kafka_error == "No rules apply to c, rules [RULE:a/b, RULE:x/y/L]"
    assert "cannot log in" in found.error
    assert [tried.rule for tried in found.tried] == ["RULE:a/b/", "RULE:x/y/L"]


def test_empty_rules_are_no_rules():
    assert SslRules.read("").map(DUKE).error is not None
    assert KerberosRules.read("", realm="R").map("a@R").error is not None


def test_a_reference_without_any_group_fails_at_run_time_and_names_its_rule():
    found = SslRules.read("RULE:abc/$5/").map("abc")

    assert found.name is None
    assert found.rule == "RULE:abc/$5/"
    assert "group 5" in found.error


def test_many_rules_that_are_each_just_bearable_are_given_up_together():
    heavy = SslRules.read("RULE:CN=.*a.*a.*a.*b/$1/, " * 500 + "DEFAULT")

    found = heavy.map(f"CN={'a' * 5_000}")

    assert found.is_uncertain
    assert len(found.tried) < 20
    assert "so many ways to match that this one was not tried" in (found.error or "")


def test_hundreds_of_ordinary_rules_are_all_tried():
    rules = SslRules.read("RULE:^CN=svc-[0-9]+,OU=([^,]*),.*$/$1/L, " * 400 + "DEFAULT")

    assert len(rules.map(f"CN=svc-x,OU=apps,O={'o' * 400}").tried) == 401


@pytest.mark.parametrize("rule", ["RULE:[1:$1]s/a/bbbbbbbbbbbbbbbbbbbb/g", f"RULE:[1:{'$1' * 20}](x.*)"])
def test_a_result_far_longer_than_any_name_is_not_worked_out(rule):
    found = KerberosRules.read(rule).map(f"{'a' * 60_000}@REALM")

    assert found.is_uncertain
    assert "more than 1,000,000 characters" in (found.error or "")


def test_a_rule_that_is_too_much_work_gives_no_name_and_says_so():
    found = SslRules.read(r"RULE:(?:(a*)b?)*(?:(a*)b?)*(?:(a*)b?)*\1c/x/").map("a" * 60)

    assert found.name is None
    assert "given up" in found.error


# sasl.kerberos.principal.to.local.rules


@pytest.mark.parametrize(
    "rules, name, expected",
    [
        ("DEFAULT", "joe@R", "joe"),
        ("DEFAULT", "kafka/host@R", "kafka"),
        ("DEFAULT", "joe", "joe"),
        ("RULE:[1:x]", "a/b", "a/b"),
        ("RULE:[1:$1]", "App.service-name@REALM", "App.service-name"),
        ("RULE:[1:$1]L", "ABC@X", "abc"),
        ("RULE:[1:$1]/U", "abc@X", "ABC"),
        ("RULE:[2:$1.$2]", "a/b@X", "a.b"),
        ("RULE:[2:$1@$0](.*@X)s/@.*//", "a/b@X", "a"),
        ("RULE:[1:$1](a.*)s/a/b/g", "aXa@X", "bXb"),
        ("RULE:[1:$1](a.*)s/a/b/", "aXa@X", "bXa"),
        ("RULE:[2:$1],RULE:[1:$1]", "a@X", "a"),
        ("RULE:[1:$1](^a$), RULE:[1:other]", "b@X", "other"),
    ],
)
def test_the_first_kerberos_rule_that_applies_names_the_client(rules, name, expected):
    assert kerberos(rules, name) == expected


@pytest.mark.parametrize(
    "rules",
    [
        "default",
        "DEFAULT,",
        "RULE:[:$1]",
        "RULE:[1:$1]L/g",
        "RULE:[1:$1](a,b)",
        "RULE:[1:$1](()",
        "DEFAULT/L",
    ],
)
def test_kerberos_rules_that_a_broker_would_not_start_with_are_refused(rules):
    with pytest.raises(InvalidRules):
        KerberosRules.read(rules)


@pytest.mark.parametrize(
    "rules, name, words",
    [
        ("DEFAULT", "a/b/c@R", "Malformed Kerberos name: a/b/c@R"),
        ("DEFAULT", "a@b@c", "Malformed Kerberos name: a@b@c"),
        ("RULE:[1:$1@$0],RULE:[1:x]", "a@X", "Non-simple name a@X after auth_to_local rule RULE:[1:$1@$0]"),
        ("RULE:[1:$2]", "a@X", "index 2 from $2 is outside of the valid range 0 to 1"),
        ("RULE:[1:$x]", "a@X", "bad format in username mapping in "),
        ("DEFAULT", "a@X", "No rules apply to a@X, rules [DEFAULT]"),
    ],
)
def test_a_principal_without_a_name_is_an_error_in_kafka_s_words(rules, name, words):
    found = KerberosRules.read(rules, realm="R").map(name)

    assert found.name is None
    assert found.kafka_error == words


def test_without_a_realm_the_kerberos_default_never_applies():
    assert kerberos("DEFAULT", "joe@R", realm=None) is None
    assert kerberos("DEFAULT", "joe@", realm=None) is None
