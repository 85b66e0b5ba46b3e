"""Are mapping rules turned round so that no name is left out, and never where that is not sure?"""

import random

import pytest

from aclweb.acl.principals import BrokerSettings, Client, Protocol, Shape, SslRules, identify, sources_of
from aclweb.acl.principals.java_regex import JavaPattern
from aclweb.acl.principals.kerberos_mapping import KerberosRules


def of_subjects(principal, rules):
    found = sources_of(principal, BrokerSettings(ssl_rules=rules, kerberos_rules="DEFAULT")).certificates
    return [(each.shape, each.names) for each in found]


def of_kerberos(principal, rules):
    found = sources_of(principal, BrokerSettings(ssl_rules="DEFAULT", kerberos_rules=rules)).kerberos
    return [(each.shape, each.names) for each in found]


@pytest.mark.parametrize(
    ("principal", "rules", "expected"),
    [
        ("User:CN=bob,O=x", "DEFAULT", [(Shape.NAME, "CN=bob,O=x")]),
        ("User:bob", "DEFAULT", []),
        ("User:bob", "RULE:^CN=([^,]*),.*$/$1/L, DEFAULT", [(Shape.PATTERN, "^CN=bob,.*$")]),
        ("User:Bob", "RULE:^CN=([^,]*),.*$/$1/L", []),
        ("User:a,b", "RULE:^CN=([^,]*),.*$/$1/", []),
        ("User:a.b", "RULE:^CN=(.*?),OU=apps.*$/$1/", [(Shape.PATTERN, r"^CN=a\.b,OU=apps.*$")]),
        ("User:svc-bob", "RULE:^CN=(.*?),.*$/svc-$1/", [(Shape.PATTERN, "^CN=bob,.*$")]),
        ("User:bob", "RULE:^CN=(.*?),.*$/svc-$1/", []),
        ("User:ops", "RULE:^.*OU=ops.*$/ops/", [(Shape.PATTERN, "^.*OU=ops.*$")]),
        ("User:bob", "RULE:CN=(.*?),.*/$1/", [(Shape.UNKNOWN, "")]),
        ("User:bob", "RULE:^CN=(.*?),OU=(.*)$/$1$2/", [(Shape.UNKNOWN, "")]),
        ("User:bob", "RULE:^(?i)CN=(.*)$/$1/", [(Shape.UNKNOWN, "")]),
        ("User:bob", "RULE:^CN=(b)*$/$1/", [(Shape.UNKNOWN, "")]),
        ("User:bob", "RULE:^CN=(.*)|O=(.*)$/$1/", [(Shape.UNKNOWN, "")]),
        ("Group:bob", "DEFAULT", []),
        ("User:CN=bob,O=x", "RULE:^CN=([^,]*),.*$/$1/, DEFAULT", []),
    ],
)
def test_mapping_rules_for_certificates_are_turned_round_where_that_is_sure(principal, rules, expected):
    assert of_subjects(principal, rules) == expected


@pytest.mark.parametrize(
    ("principal", "rules", "expected"),
    [
        ("User:bob", "DEFAULT", [(Shape.FORM, "bob@REALM"), (Shape.FORM, "bob/HOST@REALM")]),
        ("User:bob@X", "DEFAULT", []),
        ("User:bob", "RULE:[1:$1]", [(Shape.FORM, "bob@REALM")]),
        ("User:bob", "RULE:[2:$1](kafka)", []),
        ("User:bob", "RULE:[1:$1@$0]", []),
        ("User:bob", "RULE:[1:$1@$0](.*@X)s/@.*//", [(Shape.FORM, "bob@REALM")]),
        ("User:bob", "RULE:[2:$1@$0](.*)s/@.*$///L", [(Shape.FORM, "bob/HOST@REALM")]),
        ("User:Bob", "RULE:[1:$1]/L", []),
        ("User:h1", "RULE:[2:$2]", [(Shape.FORM, "NAME/h1@REALM")]),
        ("User:bob", "RULE:[1:$1](.*)s/svc-//", [(Shape.UNKNOWN, "")]),
        ("User:bob", "RULE:[2:$1;$2]", [(Shape.UNKNOWN, "")]),
    ],
)
def test_mapping_rules_for_kerberos_names_are_turned_round_where_that_is_sure(principal, rules, expected):
    assert of_kerberos(principal, rules) == expected


def test_a_class_of_its_own_or_hidden_mapping_rules_leave_the_names_unknown():
    own = sources_of("User:bob", BrokerSettings(ssl_rules="DEFAULT", principal_builder="com.example.Builder"))
    hidden = sources_of("User:bob", BrokerSettings(ssl_rules="DEFAULT"))
    wrong = sources_of("User:bob", BrokerSettings(ssl_rules="RULE:(/x/", kerberos_rules="DEFAULT"))

    assert (own.login, own.certificates, own.kerberos) == (None, None, None)
    assert "com.example.Builder" in own.why_not
    assert (hidden.certificates, hidden.kerberos) == ((), None)
    assert hidden.why_not
    assert wrong.certificates is None
    assert "cannot be read" in wrong.why_not


PATTERNS = ("^CN=([^,]*),.*$", "^CN=(.*),OU=a.*$", "^CN=(.*?),O(.*)$", "^.*CN=(([a-z]|-)+)(,.*)?$", "CN=(.*)")
REPLACEMENTS = ("$1", "svc-$1", "$1-x", "ops", "$2", "$1$2")
WORDS = ("bob", "Bob", "svc-bob", "ops", "a.b", "b", "bob,OU=a", "x")


@pytest.mark.parametrize("seed", range(3))
def test_whatever_a_subject_becomes_leads_back_to_it(seed):
    draw = random.Random(seed)
    told = 0
    for _ in range(60):
        rules = ",".join(
            f"RULE:{draw.choice(PATTERNS)}/{draw.choice(REPLACEMENTS)}/{draw.choice(('', 'L', 'U'))}"
            for _ in range(draw.randint(1, 3))
        )
        rules += draw.choice(("", ",DEFAULT"))
        subject = f"CN={draw.choice(WORDS)}{draw.choice(('', ',O=x', ',OU=a', ',OU=a,O=x'))}"
        mapped = SslRules.read(rules).map(subject)
        if mapped.name is None:
            continue
        found = sources_of(f"User:{mapped.name}", BrokerSettings(ssl_rules=rules, kerberos_rules="DEFAULT"))
        own = [each for each in found.certificates if each.rule == mapped.rule]
        assert own, (rules, subject, mapped)
        for each in own:
            if each.shape is Shape.NAME:
                assert each.names == subject
            elif each.shape is Shape.PATTERN:
                flags = "(?i)" if each.condition else ""
                assert JavaPattern.read(flags + each.names).matches(subject) is not None, (rules, subject)
            told += each.shape is not Shape.UNKNOWN
    assert told > 15


KERBEROS = ("[1:$1]", "[2:$1]", "[1:$1@$0](.*@X)s/@.*//", "[2:$1@$0]s/@.*//", "[2:$2]", "[2:$1@$0]s/@.*$//g")


@pytest.mark.parametrize("seed", range(3))
def test_whatever_a_kerberos_name_becomes_leads_back_to_it(seed):
    draw = random.Random(seed)
    told = 0
    for _ in range(150):
        rules = ",".join(
            [f"RULE:{draw.choice(KERBEROS)}{draw.choice(('', '/L'))}" for _ in range(draw.randint(0, 3))]
            + ["DEFAULT"]
        )
        name, host, realm = draw.choice(("bob", "Bob")), draw.choice(("", "h1")), draw.choice(("X", "Y"))
        given = f"{name}{'/' if host else ''}{host}@{realm}"
        mapped = KerberosRules.read(rules, realm="X").map(given)
        if mapped.name is None:
            continue
        settings = BrokerSettings(ssl_rules="DEFAULT", kerberos_rules=rules)
        found = sources_of(f"User:{mapped.name}", settings).kerberos
        forms = {each.names for each in found if each.rule == mapped.rule}
        real = {
            form.replace("NAME", name).replace("HOST", host).replace("REALM", realm).lower() for form in forms
        }
        assert given.lower() in real, (rules, given, mapped, forms)
        told += 1
    assert told > 30


def test_a_login_by_another_mechanism_is_the_name_as_it_is():
    found = sources_of("User:bob", BrokerSettings(ssl_rules="DEFAULT", kerberos_rules="DEFAULT"))
    client = Client(Protocol.SASL_SSL, mechanism="SCRAM-SHA-512", authorization_id=found.login)

    assert identify(client, BrokerSettings()).principal == "User:bob"
