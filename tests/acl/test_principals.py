"""Who a client is: pasted subjects in Java's form, every way to log in, and the command."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclweb.acl.cli.main import main
from aclweb.acl.principals.distinguished_names import DistinguishedNameError, java_name
from aclweb.acl.principals.identity import (
    ANONYMOUS,
    BrokerSettings,
    Client,
    Protocol,
    identify,
    identify_kerberos,
    identify_subject,
)
from aclweb.acl.principals.java_regex import machine
from tests.hostile import round_trip

ROOT = Path(__file__).parents[2]
WORDS_OF_RULES = ("RULE:", "/", ".*", "(", ")", "$1", ",", "L", "U", "DEFAULT", "\\", "[1:", "]", "s/", "a")

# Subjects


@pytest.mark.parametrize(
    "pasted, expected",
    [
        ("CN=a,O=b", "CN=a,O=b"),
        ("CN=a, O=b", "CN=a,O=b"),
        ("Owner: CN=a, O=b", "CN=a,O=b"),
        ("subject=CN=a,O=b", "CN=a,O=b"),
        ("subject=CN = a, O = b", "O=b,CN=a"),
        ("CN = a, O = b", "O=b,CN=a"),
        ("subject=O=b, CN=a", "CN=a,O=b"),
        ("/C=US/O=b/c/CN=a", "CN=a,O=b/c,C=US"),
        ("subject= /O=b/CN=caf\\xC3\\xA9", "CN=café,O=b"),
        ('subject=O = "b, Inc", CN = caf\\C3\\A9', "CN=café,O=b\\, Inc"),
        ("cn=a,ou=b+st=c;s=d", "CN=a,OU=b+ST=c,ST=d"),
        ("2.5.4.3=a,OID.2.5.4.10=b", "CN=a,O=b"),
        ("CN=a=b,O=\\ c\\ ", "CN=a\\=b,O=\\ c\\ "),
        ("emailAddress=x@y.z,CN=a", "1.2.840.113549.1.9.1=#16057840792e7a,CN=a"),
        ("CN=#0c0161,1.2.3.4=#0C0161", "CN=a,1.2.3.4=#0c0161"),
        ("serialNumber=12", "2.5.4.5=#13023132"),
        ("", ""),
    ],
)
def test_a_pasted_subject_becomes_what_java_prints(pasted, expected):
    assert java_name(pasted).text == expected


def test_what_was_changed_or_assumed_is_said():
    assert java_name("CN=a,O=b").changes == ()
    assert "turned round" in java_name("CN = a, O = b").changes[0]
    assert "capitals" in java_name("cn=a").changes[0]
    assert "hexadecimal" in java_name("emailAddress=a@b").changes[0]
    assert "0c was assumed" in java_name("subject=CN = a, title = b").changes[-1]
    assert "left out" in java_name("subject=CN=a").changes[0]


@pytest.mark.parametrize(
    "pasted",
    [
        "hello",
        "CN=a,",
        "CN=a,foo=b",
        'CN="a',
        "CN=a<b",
        "CN=\\",
        "CN=\\q",
        "CN=\\C3",
        "CN=#zz\x00,=",
        'CN="a"b',
    ],
)
def test_what_is_no_subject_is_an_error_with_a_sentence(pasted):
    with pytest.raises(DistinguishedNameError) as refusal:
        java_name(pasted)

    assert str(refusal.value).endswith(".")


@round_trip
@given(st.one_of(st.text(max_size=60), st.text('CN=O,+;"\\#a1 /x=', max_size=40)))
def test_any_pasted_text_is_a_subject_or_a_sentence_and_java_s_form_stays(pasted):
    try:
        found = java_name(pasted)
    except DistinguishedNameError:
        return
    again = java_name(found.text)

    assert again.text == found.text
    assert again.changes == ()


# Clients


def test_a_client_that_nobody_asked_for_a_name_is_anonymous():
    for client in (
        Client(Protocol.PLAINTEXT),
        Client(Protocol.PLAINTEXT, subject="CN=a"),
        Client(Protocol.SSL),
    ):
        assert identify(client, BrokerSettings(ssl_rules="RULE:(/")).principal == ANONYMOUS


def test_a_certificate_goes_through_the_rules_and_each_step_is_reported():
    identity = identify(
        Client(Protocol.SSL, subject="subject=O = b, CN = Duke"),
        BrokerSettings(ssl_rules="RULE:^OU=x/y/,RULE:^CN=([^,]*).*$/$1/L"),
    )

    assert identity.principal == "User:duke"
    assert identity.input == "CN=Duke,O=b"
    assert identity.rule == "RULE:^CN=([^,]*).*$/$1/L"
    assert [tried.rule for tried in identity.tried] == ["RULE:^OU=x/y/", "RULE:^CN=([^,]*).*$/$1/L"]
    assert len(identity.sentences) == 6
    assert identity.sentences[-1] == "So the client is User:duke."


def test_without_rules_the_setting_s_default_is_used():
    assert identify_subject("CN=a", None).principal == "User:CN=a"
    assert identify_kerberos("a/h@R", None, "R").principal == "User:a"


def test_kerberos_names_go_through_their_rules_and_other_sasl_names_do_not():
    settings = BrokerSettings(kerberos_rules="RULE:[1:$1-$0]", realm="R")

    kerberos = Client(Protocol.SASL_SSL, mechanism="GSSAPI", authorization_id="joe@R")
    other = Client(Protocol.SASL_PLAINTEXT, mechanism="SCRAM-SHA-512", authorization_id="joe@R")
    assert identify(kerberos, settings).principal == "User:joe-R"
    assert identify(other, settings).principal == "User:joe@R"


def test_with_a_builder_of_its_own_a_broker_s_names_are_unknown():
    identity = identify(
        Client(Protocol.SSL, subject="CN=a"), BrokerSettings(principal_builder="com.example.Builder")
    )

    assert identity.principal is None
    assert identity.cannot_tell
    assert "com.example.Builder" in identity.sentences[0]
    default = BrokerSettings(
        principal_builder="org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"
    )
    assert identify(Client(Protocol.SSL, subject="CN=a"), default).principal == "User:CN=a"


def test_a_login_name_that_is_not_known_leaves_the_principal_unknown():
    for client in (
        Client(Protocol.SASL_SSL, mechanism="PLAIN"),
        Client(Protocol.SASL_SSL, authorization_id="a"),
    ):
        assert identify(client, BrokerSettings()).cannot_tell


def test_bad_rules_and_names_without_one_are_values_and_no_exceptions():
    assert identify_subject("CN=a", "RULE:(/x/").principal is None
    assert identify_subject("what", "DEFAULT").principal is None
    assert "No rules apply to CN=a, rules []" in identify_subject("CN=a", "").sentences[-1]
    assert identify_subject("CN=a", r"RULE:.*\bé.*/x/,DEFAULT").principal == "User:CN=a"
    uncertain = identify_subject("CN=é", r"RULE:.*\bé.*/x/,DEFAULT")
    assert (uncertain.principal, uncertain.cannot_tell) == (None, True)


@round_trip
@given(
    st.one_of(
        st.text(max_size=40),
        st.lists(
            st.sampled_from(
                ["RULE:", "/", ".*", "(", ")", "$1", ",", "L", "U", "DEFAULT", "\\", "[1:", "]", "s/", "a"]
            )
        ).map("".join),
    ),
    st.text("ab/@,\U0001f600\ud83d", max_size=12),
)
def test_any_rules_and_any_name_end_in_an_identity(rules, name):
    before, machine.MOST_STEPS = machine.MOST_STEPS, 5_000
    try:
        for identity in (identify_subject(f"CN={name}", rules), identify_kerberos(name, rules, "b")):
            assert identity.sentences
    finally:
        machine.MOST_STEPS = before


# The command


@pytest.fixture
def run(tmp_path, monkeypatch, capfdbinary):
    """Return a function that runs the command in an empty directory: (status, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        status = main(["principal", *arguments])
        out, err = capfdbinary.readouterr()
        return status, out.decode("utf-8"), err.decode("utf-8")

    return command


def test_each_line_is_a_name_and_gets_one_answer_in_its_order(run):
    status, out, err = run(
        "--ssl-rules", "RULE:CN=(.*)/$1/, DEFAULT", "--json", stdin="CN=b\nO=é\nCN=b\n\n".encode()
    )

    assert (status, err) == (0, "")
    assert [json.loads(line) for line in out.splitlines()] == [
        {"input": "CN=b", "name": "b", "rule": "RULE:CN=(.*)/$1/", "error": None},
        {"input": "O=é", "name": "O=é", "rule": "DEFAULT", "error": None},
        {"input": "CN=b", "name": "b", "rule": "RULE:CN=(.*)/$1/", "error": None},
        {"input": "", "name": "", "rule": "DEFAULT", "error": None},
    ]
    assert out.isascii()


def test_a_name_without_a_rule_is_a_result_and_no_failure(run):
    Path("names").write_text("joe@R\na@b@c\nplain\n")

    status, out, _err = run("--kerberos-rules", "DEFAULT", "--json", "names")
    results = [json.loads(line) for line in out.splitlines()]

    assert status == 0
    assert [result["name"] for result in results] == [None, None, "plain"]
    assert results[0]["error"].startswith("No rules apply to joe@R, rules [DEFAULT]. ")
    assert results[1]["error"].startswith("Malformed Kerberos name: a@b@c. ")
    assert results[2] == {"input": "plain", "name": "plain", "rule": None, "error": None}


def test_the_realm_makes_the_default_apply_and_text_is_for_people(run):
    status, out, _err = run("--kerberos-rules", "DEFAULT", "--realm", "R", stdin=b"joe@R\nx@S")

    assert status == 0
    assert out.splitlines()[0] == "joe@R is User:joe (by DEFAULT)"
    assert out.splitlines()[1].startswith("x@S has no name: No rules apply")


def test_empty_rules_are_no_rules(run):
    status, out, _err = run("--ssl-rules", "", "--json", stdin=b"CN=a")

    assert status == 0
    assert json.loads(out)["name"] is None


@pytest.mark.parametrize(
    "arguments",
    [
        ("--ssl-rules", "RULE:(/x/"),
        ("--ssl-rules", "RULE:(?<=a)/x/"),
        ("--ssl-rules", "DEFAULT", "--realm", "R"),
        ("--ssl-rules", "DEFAULT", "--kerberos-rules", "DEFAULT"),
        ("--kerberos-rules", "RULE:[:$1]"),
        ("--kerberos-rules", "DEFAULT,,"),
        (),
        ("--ssl-rules", "DEFAULT", "missing"),
    ],
)
def test_bad_rules_and_usage_end_in_one_sentence_and_no_answer(run, arguments):
    status, out, err = run(*arguments, stdin=b"CN=a\n")

    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert err.endswith(".\n")


def test_names_that_are_not_utf_8_are_named_by_line(run):
    status, out, err = run("--ssl-rules", "DEFAULT", stdin=b"ok\n\xff\n")

    assert (status, out) == (2, "")
    assert err.startswith("-:2: ")


def test_the_command_needs_no_package(tmp_path):
    names = tmp_path / "names"
    names.write_text("".join(f"CN=n{number},O=x\n" for number in range(20_000)))

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = [{str(ROOT)!r}]; "
         "from aclweb.acl.cli.main import main; sys.exit(main(sys.argv[1:]))",
         "principal", "--ssl-rules", "RULE:^CN=(.*?),O=.*$/$1/U", "--json", str(names)],
        capture_output=True, timeout=600, text=True,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["name"] == "N19999"
    assert done.stdout.count("\n") == 20_000
