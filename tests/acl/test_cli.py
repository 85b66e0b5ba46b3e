"""`python -m aclweb.acl`: the promised answers, exit codes and messages, on a bare Python."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from aclweb.acl.cli.commands import progress
from aclweb.acl.cli.commands.console import shortened, with_progress
from aclweb.acl.cli.commands.progress import PROGRESS
from aclweb.acl.cli.main import COMMANDS, main
from aclweb.acl.model.vocabulary import AccessRequest, AclBinding
from aclweb.acl.notation.files import OUTPUTS, read_acls, write_acls
from tests.builders import allow, ask, deny, read, write
from tests.layouts.framing import framed
from tests.real_outputs import real_output

ROOT = Path(__file__).parents[2]

BOB_READS = allow("User:bob", "READ", "orders")
EVE_IS_DENIED = deny("User:eve", "READ", "ord", pattern="PREFIXED")
ALL_FILTER = {
    "resource_type": "ANY", "resource_name": None, "pattern_type": "ANY", "principal": None, "host": None,
    "operation": "ANY", "permission_type": "ANY",
}  # fmt: skip


@pytest.fixture
def run(tmp_path, monkeypatch, capfdbinary):
    """Return a function that runs one command in an empty directory: (status, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        status = main(arguments)
        out, err = capfdbinary.readouterr()
        return status, out.decode("utf-8"), err.decode("utf-8")

    return command


def acls(path: str, *bindings: AclBinding) -> str:
    Path(path).write_text(write_acls(bindings, format="jsonl"))
    return path


def lines(path: str, *values: object) -> str:
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    Path(path).write_text("".join(f"{text}\n" for text in texts))
    return path


def requests(path: str, *asked: AccessRequest) -> str:
    return lines(path, *[request.as_dict() for request in asked])


def answers(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


# The command itself.


@pytest.mark.parametrize("arguments", [[], ["lynt", "--acls", "x"], ["globs"], ["--json"], ["decid"]])
def test_an_unknown_command_gives_one_usage_sentence(run, arguments):
    status, out, err = run(*arguments)

    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert ", ".join(COMMANDS) in err


@pytest.mark.parametrize("command", list(COMMANDS))
def test_a_wrong_option_gives_one_usage_sentence(run, command):
    status, out, err = run(command, "--nonsense")

    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert f"{command} --help" in err


def test_help_is_given_on_standard_output(run):
    assert run("--help")[0] == 0
    for command in COMMANDS:
        with pytest.raises(SystemExit) as end:
            run(command, "--help")
        assert end.value.code == 0


BARE_CALLS = {
    "decide": ["decide", "--acls", "a", "--requests", "r", "--explain"],
    "check": ["check", "s"],
    "affecting": ["affecting", "--acls", "a", "--new-topic", "orders"],
    "list": ["list", "--acls", "a", "--filter", json.dumps(ALL_FILTER)],
    "whatif": ["whatif", "--acls", "a", "--new-topic", "orders", "--add", "a", "--requests", "r"],
    "lint": ["lint", "--acls", "a"],
    "redundant": ["redundant", "--acls", "a"],
    "convert": ["convert", "--acls", "a", "--to", "yaml"],
    "audit": ["audit", "l"],
    "needs": ["needs", "produce"],
    "glob": ["glob", "--acls", "a", "--rewrite"],
    "kafka-acls": ["kafka-acls", "--", "--bootstrap-server", "b:1", "--list"],
    "principal": ["principal", "--ssl-rules", "DEFAULT", "names"],
}
"""One call of every command; a new command adds its own."""

BARE = """
import sys
sys.path.insert(0, {root!r})
from aclweb.acl.cli.main import main
statuses = [main(call) for call in {calls!r}]
files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
print(statuses)
print("\\n".join(sorted(files)))
"""


def test_every_command_runs_on_a_bare_python_and_loads_nothing_but_the_core(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    acls("a", BOB_READS)
    requests("r", read("User:bob", "orders"))
    lines("s", {"id": "1", "acls": [], "request": read("User:a", "t").as_dict(), "expected": "DENIED"})
    lines("names", "CN=bob")
    Path("l").write_text(real_output("audit/standard-4.4.0.log"))
    # Every notation, so that every reader and writer is loaded and runs.
    conversions = [["convert", "--acls", "a", "--to", notation] for notation in OUTPUTS]
    assert set(BARE_CALLS) == set(COMMANDS)
    calls = [*BARE_CALLS.values(), *conversions]

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", BARE.format(root=str(ROOT), calls=calls)],
        capture_output=True,
        check=True,
        timeout=600,
        text=True,
    )
    answers_and_statuses, _bracket, files = done.stdout.rpartition("]\n")
    standard_library = sysconfig.get_path("stdlib")
    core = f"{ROOT}/aclweb/acl/"
    others = [
        file
        for file in files.splitlines()
        if file and not file.startswith((core, standard_library)) and file != f"{ROOT}/aclweb/__init__.py"
    ]

    assert answers_and_statuses.splitlines()[-1] == str([0] * len(calls)).removesuffix("]")
    assert len(files.splitlines()) > 50
    assert others == []
    assert "site-packages" not in files


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_the_module_runs_from_the_command_line_and_tells_that_its_reader_left(tmp_path, unbuffered):
    path = tmp_path / "a"
    path.write_text(
        write_acls([allow("User:a", "READ", f"t{number}") for number in range(5_000)], format="jsonl")
    )
    command = f"{sys.executable} -S -m aclweb.acl convert --acls {path} --to csv"

    # The shell tells of the left part by the number it prints last.
    script = f"{{ {command}; echo $? >&2; }} | head -n 1"
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(["sh", "-c", script], cwd=ROOT, env=environment, capture_output=True, timeout=600)

    assert done.stdout.startswith(b"resource_type,")
    assert done.stderr == b"141\n"


@pytest.mark.parametrize(
    ("redirection", "arguments", "told"),
    [
        (">&-", "--acls a", b"The answer cannot be written: standard output is closed.\n"),
        ("<&-", "--acls -", b"-: Standard input is closed; give a file, or open it.\n"),
        ("2>&-", "--acls missing", b""),
    ],
)
def test_a_stream_that_is_closed_is_reported_as_far_as_one_can(tmp_path, redirection, arguments, told):
    (tmp_path / "a").write_text(write_acls([BOB_READS], format="jsonl"))
    command = f"{sys.executable} -S -m aclweb.acl convert {arguments} --to csv {redirection}"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, timeout=600
    )

    assert (done.returncode, done.stdout, done.stderr) == (2, b"", told)


def test_an_answer_that_cannot_be_written_is_reported(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full to write to")
    path = tmp_path / "a"
    path.write_text(write_acls([BOB_READS], format="jsonl"))
    command = [sys.executable, "-S", "-m", "aclweb.acl", "convert", "--acls", str(path), "--to", "csv"]

    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, timeout=600)

    assert done.returncode == 2
    assert done.stderr.startswith(b"The answer cannot be written")


# decide


def test_decide_answers_each_request_in_order(run):
    acls("a", BOB_READS, EVE_IS_DENIED)
    requests(
        "r",
        read("User:bob", "orders"),
        read("User:eve", "orders"),
        read("User:cho", "orders"),
        read("User:bob", "payments"),
        read("User:admin", "payments"),
        ask("User:bob", "READ", None),
    )
    status, out, err = run(
        "decide", "--acls", "a", "--requests", "r", "--super-users", "User:admin", "--json"
    )

    assert (status, err) == (0, "")
    assert answers(out) == [
        {"result": "ALLOWED", "basis": "ALLOW_ACL", "hazards": []},
        {"result": "DENIED", "basis": "DENY_ACL", "hazards": []},
        {"result": "DENIED", "basis": "NO_ALLOW_ACL", "hazards": []},
        {"result": "DENIED", "basis": "DEFAULT_DENY", "hazards": []},
        {"result": "ALLOWED", "basis": "SUPER_USER", "hazards": []},
        {"result": "ALLOWED", "basis": "ALLOW_ACL", "hazards": []},
    ]


def test_decide_uses_the_declared_settings(run):
    acls("a", allow("User:bob", "READ", "t", host="10.0.0.0/8"))
    requests("r", read("User:bob", "t"), read("User:bob", "other"))
    command = ("decide", "--acls", "a", "--requests", "r", "--json")

    def bases(*options: str) -> list[object]:
        return [answer["basis"] for answer in answers(run(*command, *options)[1])]

    assert bases() == ["ALLOW_ACL", "DEFAULT_DENY"]
    assert bases("--kafka-version", "4.3.1") == ["NO_ALLOW_ACL", "DEFAULT_DENY"]
    assert bases("--allow-everyone") == ["ALLOW_ACL", "DEFAULT_ALLOW"]
    assert bases("--authorizer", "acl", "--super-users", "User:bob") == ["SUPER_USER", "SUPER_USER"]


def test_decide_names_hazards(run):
    acls("a", allow("no colon", "READ", "t"), allow("User:*", "READ", "t"))
    requests("r", read("User:bob", "t"), read("User:*", "t"))
    command = ("decide", "--acls", "a", "--requests", "r", "--json")

    assert [answer["hazards"] for answer in answers(run(*command)[1])] == [
        ["unparsable-principal"],
        ["kraft-star-principal", "unparsable-principal"],
    ]
    assert [answer["hazards"] for answer in answers(run(*command, "--authorizer", "acl")[1])] == [[], []]


def test_decide_explains(run):
    acls("a", BOB_READS, allow("User:bob", "WRITE", "orders", host="10.9.9.9"))
    requests("r", read("User:bob", "orders"), write("User:bob", "orders"))
    status, out, _err = run("decide", "--acls", "a", "--requests", "r", "--explain", "--json")
    allowed, refused = answers(out)

    assert status == 0
    assert allowed["determining"] == [BOB_READS.as_dict()]
    assert allowed["broker_rule"] == {"rule": "MatchingAcl", "acl": BOB_READS.as_dict()}
    assert [(part["counted"], part["why_not"]) for part in allowed["affecting"]] == [
        (True, []),
        (False, ["host", "operation"]),
    ]
    assert refused["broker_rule"] == {"rule": "DefaultDeny", "acl": None}
    assert refused["smallest_fix"] == allow("User:bob", "WRITE", "orders", host="10.0.0.7").as_dict()
    assert {miss["acl"]["host"] for miss in refused["near_misses"]} == {"*", "10.9.9.9"}
    assert refused["sentences"][0].endswith(".")


def test_decide_prints_text_for_people(run):
    acls("a", BOB_READS)
    requests("r", read("User:bob", "orders"), ask("User:b\nb", "WRITE", None))
    out = run("decide", "--acls", "a", "--requests", "r")[1]
    explained = run("decide", "--acls", "a", "--requests", "r", "--explain")[1]

    assert out.splitlines()[0] == "ALLOWED    ALLOW_ACL      User:bob READ TOPIC:orders from 10.0.0.7"
    assert len(out.splitlines()) == 2
    assert "    User:bob may Read topic orders from 10.0.0.7" in explained


# check


def scenario(**changes: object) -> dict[str, object]:
    given: dict[str, object] = {
        "id": "one", "acls": [BOB_READS.as_dict()], "request": read("User:bob", "orders").as_dict(),
        "expected": "ALLOWED",
    }  # fmt: skip
    return {key: value for key, value in (given | changes).items() if value is not ...}


def test_check_says_which_scenarios_hold(run):
    lines(
        "s",
        scenario(),
        scenario(id="two", expected="DENIED"),
        scenario(
            id="three",
            request=...,
            requests=[read("User:bob", "orders").as_dict(), read("User:eve", "x").as_dict()],
            expected=["ALLOWED", "DENIED"],
        ),
        scenario(id="four", acls=[], config={"super.users": " User:bob ;"}),
        scenario(id="five", acls=[], config={"allow.everyone.if.no.acl.found": True}, authorizer="acl"),
    )
    status, out, err = run("check", "s", "--json")

    assert status == 1
    assert answers(out) == [
        {"id": "one", "ok": True, "expected": "ALLOWED", "result": "ALLOWED"},
        {"id": "two", "ok": False, "expected": "DENIED", "result": "ALLOWED"},
        {"id": "three", "ok": True, "expected": ["ALLOWED", "DENIED"], "results": ["ALLOWED", "DENIED"]},
        {"id": "four", "ok": True, "expected": "ALLOWED", "result": "ALLOWED"},
        {"id": "five", "ok": True, "expected": "ALLOWED", "result": "ALLOWED"},
    ]
    assert err == "5 scenarios: 4 held, 1 did not, 0 bad.\n"
    assert run("check", "s")[1].splitlines()[:2] == [
        "ok    one",
        "FAIL  two: User:bob READ TOPIC:orders from 10.0.0.7: expected DENIED, got ALLOWED",
    ]


def test_check_takes_options_as_defaults_for_keys_that_a_scenario_lacks(run):
    lines(
        "s",
        scenario(acls=[]),
        scenario(acls=[], config={"super.users": "User:other"}, expected="DENIED"),
        scenario(acls=[], config={"allow.everyone.if.no.acl.found": "true", "super.users": ""}),
    )
    assert run("check", "s", "--super-users", "User:bob")[0] == 0
    assert run("check", "s")[0] == 1


def test_check_looks_at_a_default_only_where_it_applies(run):
    lines("s", scenario(authorizer="acl"), scenario(authorizer="acl", kafka_version="2.8"))
    assert run("check", "s", "--kafka-version", "3.5")[0] == 0
    assert run("check", "s", "--super-users", "User:a;;", "--authorizer", "acl")[0] == 0

    lines("s", scenario(), scenario(authorizer="acl"))
    status, out, err = run("check", "s", "--kafka-version", "3.5", "--json")
    assert status == 2
    assert [answer["ok"] for answer in answers(out)] == [False, True]
    assert err.startswith("s:1: Kafka version '3.5' is not one that the authorizer 'standard' is known for")


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        ("nonsense", "is not JSON"),
        ("[]", "no object"),
        ("\udcff", "is not UTF-8"),
        (scenario(id=...), "id is null"),
        (scenario(id=True), "id is true"),
        (scenario(id=float("nan")), "NaN is no value in JSON"),
        (scenario(acls=...), "'acls' is missing"),
        (scenario(acls=[{}]), "ACL 1: "),
        (scenario(acls=[3]), "ACL 1 is 3"),
        (scenario(acls={}), "acls is {}"),
        (scenario(acls=[BOB_READS.as_dict() | {"pattern_type": "GLOB"}]), "only the authorizer 'glob'"),
        (scenario(request=...), "either 'request' or 'requests'"),
        (scenario(requests=[]), "either 'request' or 'requests'"),
        (scenario(request={}), "request 1: "),
        (scenario(expected=...), "'expected' is missing"),
        (scenario(expected="MAYBE"), "expected is 'MAYBE'"),
        (scenario(expected=["ALLOWED"]), "expected is "),
        (scenario(request=..., requests=[], expected=["ALLOWED"]), "1 answer for 0 requests"),
        (scenario(authorizer="kraft"), "'kraft'"),
        (scenario(authorizer=None), "authorizer is null"),
        (scenario(authorizer="glob", kafka_version="4.3"), "'glob'"),
        (scenario(kafka_version="1.0"), "'1.0'"),
        (scenario(config={"super.users": "bob"}), "super.users"),
        (scenario(config={"acl.super": 1}), "'acl.super'"),
        (scenario(config=[]), "config is []"),
        (scenario(more=1), "'more' is no key"),
    ],
)  # fmt: skip
def test_a_bad_scenario_is_named_while_the_others_are_answered(run, bad, what):
    text = bad if isinstance(bad, str) else json.dumps(bad)
    Path("s").write_bytes(f"{json.dumps(scenario())}\n\n{text}\n".encode(errors="surrogateescape"))
    status, out, err = run("check", "s", "--json")
    good, wrong = answers(out)

    assert status == 2
    assert good["ok"] is True
    assert (wrong["ok"], wrong["id"]) == (
        False,
        bad.get("id") if isinstance(bad, dict) and "NaN" not in text else None,
    )
    assert what in wrong["error"]
    assert err.splitlines()[0] == f"s:3: {wrong['error']}"
    assert err.splitlines()[1] == "2 scenarios: 1 held, 0 did not, 1 bad."


# affecting, list


def test_affecting_gives_the_covering_acls_once_each_in_the_order_of_the_scan(run):
    wildcard, prefixed, other = (
        allow("User:a", "READ", "*"),
        deny("User:b", "WRITE", "ord", pattern="PREFIXED"),
        allow("User:a", "READ", "other"),
    )
    acls("a", wildcard, other, prefixed, BOB_READS, BOB_READS)

    for option in (["--resource", "topic:orders"], ["--new-topic", "orders"]):
        status, out, _err = run("affecting", "--acls", "a", "--json", *option)
        assert status == 0
        assert answers(out) == [binding.as_dict() for binding in (BOB_READS, prefixed, wildcard)]
    assert run("affecting", "--acls", "a", "--new-topic", "orders")[1].splitlines()[0] == (
        "Allow User:bob to Read topic orders from any host"
    )


def test_affecting_splits_the_resource_at_the_first_colon(run):
    colon = allow("User:a", "CREATE_TOKENS", "User:x:y", resource_type="USER")
    acls("a", colon)

    assert answers(run("affecting", "--acls", "a", "--json", "--resource", "USER:User:x:y")[1]) == [
        colon.as_dict()
    ]


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--resource", "orders"],
        ["--resource", "THING:orders"],
        ["--resource", "ANY:orders"],
        ["--resource", "MATCH:orders"],
        ["--resource", "TOPIC:a", "--new-topic", "a"],
    ],
)
def test_affecting_needs_one_resource(run, options):
    acls("a", BOB_READS)
    status, out, err = run("affecting", "--acls", "a", *options)

    assert (status, out, err.count("\n")) == (2, "", 1)


def test_a_resource_of_no_type_is_told_which_types_resources_have(run):
    acls("a", BOB_READS)
    for word in ("MATCH", "ANY", "unknown", "é"):
        err = run("affecting", "--acls", "a", "--resource", f"{word}:a")[2]

        assert err == (
            f"--resource '{word}:a' names no type that resources have; "
            "use one of TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID, DELEGATION_TOKEN, USER.\n"
        )


def test_list_finds_what_describe_acls_would_return_once_each_in_input_order(run):
    acls("a", EVE_IS_DENIED, BOB_READS, EVE_IS_DENIED)
    everything = json.dumps(ALL_FILTER)
    matching = json.dumps(
        ALL_FILTER | {"resource_name": "orders", "pattern_type": "match", "principal": "User:eve"}
    )

    assert answers(run("list", "--acls", "a", "--json", "--filter", everything)[1]) == [
        EVE_IS_DENIED.as_dict(),
        BOB_READS.as_dict(),
    ]
    assert answers(run("list", "--acls", "a", "--json", "--filter", matching)[1]) == [EVE_IS_DENIED.as_dict()]


def test_list_checks_a_filter_without_any_acls(run):
    unknown = json.dumps(ALL_FILTER | {"operation": "UNKNOWN", "resource_type": "TOPIC"})
    exact = json.dumps(BOB_READS.as_dict())

    assert answers(run("list", "--check-filter", "--filter", unknown)[1]) == [
        {"is_unknown": True, "matches_at_most_one": False, "find_indefinite_field": "Resource name is NULL."}
    ]
    assert answers(run("list", "--check-filter", "--filter", exact)[1]) == [
        {"is_unknown": False, "matches_at_most_one": True, "find_indefinite_field": None}
    ]


@pytest.mark.parametrize(
    "options",
    [
        ["--filter", json.dumps(ALL_FILTER)],
        ["--acls", "a"],
        ["--acls", "a", "--filter", "{"],
        ["--acls", "a", "--filter", "{}"],
        ["--acls", "a", "--filter", json.dumps(ALL_FILTER | {"operation": "UNKNOWN"})],
        ["--acls", "a", "--filter", json.dumps(ALL_FILTER | {"pattern_type": "GLOB"})],
        ["--acls", "a", "--filter", json.dumps(ALL_FILTER | {"host": 3})],
    ],
)
def test_list_refuses_a_filter_that_brokers_refuse(run, options):
    acls("a", BOB_READS)
    status, out, err = run("list", *options)

    assert (status, out, err.count("\n")) == (2, "", 1)


# whatif


def test_whatif_shows_what_an_edit_would_change(run):
    acls("a", BOB_READS)
    acls("add", allow("User:eve", "READ", "orders"))
    acls("remove", BOB_READS)
    lines("topics", "orders", "payments")
    status, out, _err = run(
        "whatif", "--acls", "a", "--add", "add", "--remove", "remove", "--topics", "topics", "--json"
    )
    (impact,) = answers(out)

    assert status == 0
    assert set(impact) == {"gains", "loses", "recovered", "depends", "unchanged", "resources", "warnings"}
    assert {(gain["principal"], gain["operation"]) for gain in impact["gains"]} == {
        ("User:eve", "READ"),
        ("User:eve", "DESCRIBE"),
    }
    assert {loss["principal"] for loss in impact["loses"]} == {"User:bob"}
    assert impact["resources"] == [{"resource_type": "TOPIC", "resource_name": "orders"}]
    text = run("whatif", "--acls", "a", "--remove", "remove")[1]
    assert "User:bob READ, DESCRIBE on orders from anywhere: ALLOWED ALLOW_ACL -> DENIED DEFAULT_DENY" in text


@pytest.mark.parametrize("name", ["", "a b", "*", "..", "a" * 250, "x" * 40_000])
def test_whatif_tells_of_a_new_topic_that_can_never_be(run, name):
    acls("a", BOB_READS)
    status, out, _err = run("whatif", "--acls", "a", "--new-topic", name, "--new-topic", "fine", "--json")
    told = [warning for warning in answers(out)[0]["warnings"] if "can never be made" in warning]

    assert status == 0
    assert len(told) == 1
    assert len(told[0]) < 300


def test_whatif_spells_out_twenty_names_of_many_with_equal_results(run):
    acls("a", *(allow("User:bob", "READ", f"t-{number:02}") for number in range(31)))
    text = run("whatif", "--acls", "a", "--remove", "a")[1].splitlines()

    assert text[1].startswith("  User:bob READ, DESCRIBE on t-00, t-01, ")
    assert ", t-19 and 11 more topics from anywhere: ALLOWED ALLOW_ACL -> DENIED " in text[1]


def test_whatif_says_names_as_the_acl_says_them(run):
    acls("a", allow("User:bob", "READ", "t-", pattern="PREFIXED"))
    lines("topics", *(f"t-{number:02}" for number in range(30)))
    command = ("whatif", "--acls", "a", "--remove", "a", "--topics", "topics")
    text = run(*command)[1].splitlines()

    assert text[1] == (
        "  User:bob READ, DESCRIBE on every topic that starts with t- (30 now, and all to come) from anywhere: "
        "ALLOWED ALLOW_ACL -> DENIED DEFAULT_DENY"
    )
    assert "TOPIC:t-19 and 10 more." in text[3]
    (impact,) = answers(run(*command, "--json")[1])
    assert len(impact["loses"]) == 2 * 31


def test_whatif_joins_principals_and_hosts_with_equal_results_in_one_line(run):
    principals, hosts = ("User:a", "User:b"), ("10.0.0.1", "10.0.0.2")
    acls("a", *(allow(principal, "READ", "t", host=host) for principal in principals for host in hosts))
    text = run("whatif", "--acls", "a", "--remove", "a")[1].splitlines()

    assert text[1] == (
        "  User:a and User:b READ, DESCRIBE on t from 10.0.0.1 and 10.0.0.2: "
        "ALLOWED ALLOW_ACL -> DENIED DEFAULT_DENY"
    )
    assert len([line for line in text if line.startswith("  ")]) == 1


def test_whatif_never_joins_what_has_exceptions(run):
    acls("a", deny("User:eve", "READ", "t"), deny("User:bob", "READ", "t", host="10.0.0.1"))
    acls("add", allow("User:*", "READ", "t"))
    text = run("whatif", "--acls", "a", "--add", "add")[1].splitlines()

    assert sorted(text[1:4]) == [
        "  Everyone DESCRIBE on t from anywhere: DENIED NO_ALLOW_ACL -> ALLOWED ALLOW_ACL",
        "  Everyone but User:bob and User:eve READ on t from anywhere: DENIED NO_ALLOW_ACL -> ALLOWED ALLOW_ACL",
        "  User:bob READ on t from anywhere but 10.0.0.1: DENIED NO_ALLOW_ACL -> ALLOWED ALLOW_ACL",
    ]


def test_whatif_reads_a_delta_and_new_topics_and_other_settings(run):
    acls("a", allow("User:bob", "READ", "new", pattern="PREFIXED"))
    lines("d", {"op": "add", **allow("User:eve", "WRITE", "new-1").as_dict()})
    (impact,) = answers(run("whatif", "--acls", "a", "--delta", "d", "--new-topic", "new-1", "--json")[1])
    (default,) = answers(run("whatif", "--acls", "a", "--to-allow-everyone", "true", "--json")[1])
    (upgrade,) = answers(run("whatif", "--acls", "a", "--to-kafka-version", "4.3", "--json")[1])
    (super_user,) = answers(run("whatif", "--acls", "a", "--to-super-users", "User:root", "--json")[1])

    assert all(gain["before"] is None for gain in impact["gains"])
    assert {gain["principal"] for gain in impact["gains"]} == {"User:bob", "User:eve"}
    assert default["gains"]
    assert not any(upgrade[name] for name in ("gains", "loses"))
    assert {gain["principal"] for gain in super_user["gains"]} == {"User:root"}


def test_whatif_compares_two_whole_sets_of_acls_as_access(run):
    acls("a", BOB_READS, allow("User:eve", "READ", "orders"), allow("User:eve", "DESCRIBE", "orders"))
    acls("b", allow("User:eve", "READ", "orders"), allow("User:zoe", "READ", "orders"))
    (impact,) = answers(run("whatif", "--acls", "a", "--to-acls", "b", "--json")[1])
    status, _out, err = run("whatif", "--acls", "a", "--to-acls", "b", "--add", "a")

    assert {gain["principal"] for gain in impact["gains"]} == {"User:zoe"}
    assert {loss["principal"] for loss in impact["loses"]} == {"User:bob"}
    assert status == 2
    assert "leave out --add" in err


def test_whatif_takes_the_sessions_and_resources_of_requests_as_given(run):
    acls("a", BOB_READS)
    acls("add", allow("User:*", "READ", "pay", pattern="PREFIXED"))
    requests("r", read("User:zoe", "payments.eu", host="10.1.1.1"))
    (impact,) = answers(run("whatif", "--acls", "a", "--add", "add", "--requests", "r", "--json")[1])

    assert impact["resources"] == [{"resource_type": "TOPIC", "resource_name": "payments.eu"}]
    assert "payments.eu" in {gain["resource_name"] for gain in impact["gains"]}


def test_a_list_of_names_from_windows_is_reported(run):
    acls("a", BOB_READS)
    Path("topics").write_bytes(b"orders\r\npayments\r\n")
    status, _out, err = run("whatif", "--acls", "a", "--topics", "topics")

    assert status == 0
    assert err.startswith("topics: The name 'orders\\r' ends in a carriage return")


def test_whatif_fails_on_the_lists_that_are_named(run):
    acls("a", BOB_READS)
    command = ("whatif", "--acls", "a", "--remove", "a", "--json")

    assert run(*command, "--fail-on", "loses,gains")[0] == 1
    assert run(*command, "--fail-on", "gains, recovered")[0] == 0
    status, out, err = run(*command, "--fail-on", "gains,wins")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "'wins'" in err


def test_whatif_names_where_an_acl_is_both_added_and_removed(run):
    acls("a", BOB_READS)
    acls("add", EVE_IS_DENIED, BOB_READS)
    acls("remove", BOB_READS, allow("User:cho", "READ", "t"))
    lines("delta", {"op": "add", **allow("User:cho", "READ", "t").as_dict()}, {"op": "remove"})
    status, out, err = run("whatif", "--acls", "a", "--add", "add", "--remove", "remove")

    assert (status, out) == (2, "")
    assert err == (
        "remove:1: The ACL to remove is the one to add at add:2 "
        "('Allow User:bob to Read topic orders from any host'); keep one of the two.\n"
    )

    lines("delta", {"op": "add", **allow("User:cho", "READ", "t").as_dict()})
    _status, _out, err = run("whatif", "--acls", "a", "--remove", "remove", "--delta", "delta")
    assert err.startswith("delta:1: The ACL to add is the one to remove at remove:2 ")

    lines(
        "delta", {"op": "add", **BOB_READS.as_dict()}, {"op": "go"}, {"op": "remove", **BOB_READS.as_dict()}
    )
    _status, _out, err = run("whatif", "--acls", "a", "--delta", "delta")
    assert [line[:8] for line in err.splitlines()] == ["delta:2:", "delta:3:"]


def test_whatif_takes_every_resource_of_the_requests_as_given(run):
    acls("a")
    acls(
        "add",
        allow("User:bob", "DESCRIBE", "t", resource_type="DELEGATION_TOKEN", pattern="PREFIXED"),
        allow("User:bob", "CREATE_TOKENS", "*", resource_type="USER"),
    )
    requests(
        "r",
        ask("User:bob", "DESCRIBE", "tok", resource_type="DELEGATION_TOKEN"),
        ask("User:bob", "CREATE_TOKENS", "User:eve", resource_type="USER"),
        ask("User:bob", "READ", "g", resource_type="GROUP"),
        ask("User:bob", "WRITE", "x", resource_type="TRANSACTIONAL_ID"),
    )
    (impact,) = answers(run("whatif", "--acls", "a", "--add", "add", "--requests", "r", "--json")[1])

    assert {
        (gain["resource_type"], gain["resource_name"])
        for gain in impact["gains"]
        if gain["names"]["kind"] == "EXACT"
    } == {("DELEGATION_TOKEN", "tok"), ("USER", "User:eve")}
    assert [resource["resource_name"] for resource in impact["resources"]] == ["tok", "User:eve"]


# convert, audit


@pytest.mark.parametrize("notation", OUTPUTS)
def test_convert_writes_what_it_read(run, notation):
    acls("a", BOB_READS, EVE_IS_DENIED)
    status, out, err = run("convert", "--acls", "a", "--to", notation)

    assert (status, err) == (0, "")
    if notation != "kafka-acls":
        Path("b").write_text(out)
        assert read_acls(run("convert", "--acls", "b", "--to", "jsonl")[1], source="b") == (
            BOB_READS,
            EVE_IS_DENIED,
        )


def test_convert_writes_the_listing_of_the_version_asked_about(run):
    Path("old").write_text(real_output("kafka-acls/3.9.2-list-any.out"))
    Path("new").write_text(real_output("kafka-acls/4.3.1-list-all.out"))

    for options, source in (
        (["--authorizer", "acl"], "old"),
        (["--kafka-version", "4.0.2"], "old"),
        ([], "new"),
        (["--kafka-version", "4.1"], "new"),
    ):
        assert run("convert", "--acls", source, "--to", "listing", *options)[1] == Path(source).read_text()


def test_convert_names_the_lines_that_a_notation_cannot_hold_and_prints_nothing(run):
    acls("a", BOB_READS, allow("bob", "READ", "t"), allow("User:a", "READ", "t "))
    status, out, err = run("convert", "--acls", "a", "--to", "kafka-acls")

    assert (status, out) == (2, "")
    assert [line[:4] for line in err.splitlines()] == ["a:2:", "a:3:"]


def test_convert_tells_of_nodes_that_a_broker_reads_oddly(run):
    lines("zk", {"path": "/kafka-acl/Topic/t", "data": "oops"}, {"path": "/kafka-acl", "data": None})
    status, out, err = run("convert", "--acls", "zk", "--to", "jsonl")

    assert (status, out) == (0, "")
    assert err.startswith("zk:1: ")


def test_convert_tells_of_nodes_with_acls_that_no_broker_reads(run):
    held = write_acls([BOB_READS], format="zk")
    data = json.loads(held)["data"]
    left_out = ("/kafka-acl/Topic/a/b", "/kafka-acl/Nothing/a", "/kafka-acl-extended/literal/Topic/a")
    others = (
        "/kafka-acl",
        "/kafka-acl/Nothing",
        "/kafka-acl-extended/prefixed/Topic",
        "/kafka-acl-changes/x",
    )
    lines("zk", *({"path": path, "data": data} for path in (*left_out, *others)), held.strip())
    status, out, err = run("convert", "--acls", "zk", "--to", "jsonl")

    assert (status, answers(out)) == (0, [BOB_READS.as_dict()])
    assert [line.split(" is left out")[0] for line in err.splitlines()] == [
        f"zk:{number}: The node {path!r}" for number, path in enumerate(left_out, start=1)
    ]


@pytest.mark.parametrize("notation", OUTPUTS)
def test_convert_prints_json_objects_where_json_is_asked_for(run, notation):
    acls("a", BOB_READS, EVE_IS_DENIED)
    plain = run("convert", "--acls", "a", "--to", notation)[1]
    status, out, _err = run("convert", "--acls", "a", "--to", notation, "--json")

    assert status == 0
    if notation in ("jsonl", "zk"):
        assert out == plain
    else:
        assert answers(out) == [{"notation": notation, "text": plain}]


def test_standard_input_is_a_dash_and_can_be_given_once(run):
    status, out, _err = run(
        "convert", "--acls", "-", "--to", "jsonl", stdin=write_acls([BOB_READS], format="csv").encode()
    )
    assert (status, answers(out)) == (0, [BOB_READS.as_dict()])

    status, out, err = run("convert", "--acls", "-", "--to", "jsonl", stdin=b"{\n")
    assert (status, out) == (2, "")
    assert err.startswith("-:1: ")

    status, out, err = run("decide", "--acls", "-", "--requests", "-")
    assert (status, out) == (2, "")
    assert "two files" in err


def test_audit_finds_the_layout_of_each_log(run):
    lines = real_output("audit/standard-4.4.0.log").rstrip("\n").split("\n")
    Path("l").write_text("\n".join(framed("cri", lines)))
    Path("m").write_text("\n".join(lines))

    framed_events, plain_events = (answers(run("audit", file, "--json")[1]) for file in ("l", "m"))

    assert framed_events == plain_events
    assert len(plain_events) == 200


def test_audit_prints_decisions_and_counts_the_rest(run):
    Path("l").write_text(real_output("audit/acl-3.9.2.log") + "stray\n")
    Path("m").write_bytes(real_output("audit/standard-4.4.0-odd.log").encode() + b"\xff\n")
    status, out, err = run("audit", "l", "m", "--json")
    events = answers(out)

    assert status == 0
    assert len(events) == 75 + 82
    assert "2 records are no decision: no log record." in err
    assert events[0]["family"] == "acl"
    assert sum(event["ambiguous"] for event in events) == 7
    assert "75 records are no decision: note that the client is a super user." in err
    assert (
        run("audit", "l")[1]
        .splitlines()[0]
        .endswith("CLUSTER:kafka-cluster from 127.0.0.1 for UpdateMetadata")
    )


def test_audit_reads_what_gzip_packed_as_it_reads_the_log_itself(run):
    Path("l").write_text(real_output("audit/standard-4.4.0.log"))
    Path("l.gz").write_bytes(gzip.compress(Path("l").read_bytes()))
    Path("packed").write_bytes(Path("l.gz").read_bytes() * 2)

    plain = run("audit", "l", "--json")

    assert plain[1]
    assert run("audit", "l.gz", "--json") == plain
    assert run("audit", "packed", "--json")[1] == plain[1] * 2


@pytest.mark.parametrize("harm", ["cut", "flipped", "text"])
def test_audit_prints_nothing_of_a_broken_gzip_file_and_names_it(run, harm):
    Path("good").write_text(real_output("audit/standard-4.4.0.log"))
    packed = gzip.compress(Path("good").read_bytes())
    flipped = packed[:-6] + bytes([packed[-6] ^ 1]) + packed[-5:]
    Path("bad.gz").write_bytes({"cut": packed[:-20], "flipped": flipped, "text": b"plain"}[harm])

    status, out, err = run("audit", "good", "bad.gz", "--json")

    assert (status, out) == (2, "")
    assert err.startswith("bad.gz: ")
    assert err.count("\n") == 1
    assert "gzip" in err


def test_audit_reads_nothing_when_one_log_is_missing(run):
    Path("l").write_text(real_output("audit/standard-4.4.0.log"))
    status, out, err = run("audit", "l", "missing")

    assert (status, out) == (2, "")
    assert err.startswith("missing: The file cannot be read")


READING_CALLS = {
    name: call for name, call in BARE_CALLS.items() if {"--acls", "check", "principal"} & {*call}
}
"""The calls that read a file."""


@pytest.mark.parametrize("name", READING_CALLS)
def test_every_command_that_reads_tells_what_it_is_at(run, monkeypatch, name):
    stages: list[str] = []
    monkeypatch.setattr(PROGRESS, "at", stages.append)
    acls("a", BOB_READS)
    requests("r", read("User:bob", "orders"))
    lines("s", {"id": "1", "acls": [], "request": read("User:a", "t").as_dict(), "expected": "DENIED"})
    lines("names", "CN=bob")
    assert run(*READING_CALLS[name])[0] == 0

    assert stages[0].startswith("Reading ")
    assert "Printing" in stages


def test_counted_work_tells_how_far_it_is(monkeypatch):
    stages: list[str] = []
    monkeypatch.setattr(PROGRESS, "at", stages.append)

    assert list(with_progress(range(201), what="Decided")) == list(range(201))
    assert stages == ["Decided: 100 of 201", "Decided: 200 of 201"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_work_shows_on_a_terminal_what_it_is_at_and_leaves_nothing_behind(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", 0.001)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    line = progress.Progress()
    line.at("Reading a")
    while "Reading a (0 s)" not in terminal.getvalue():
        time.sleep(0.001)
    line.at("Working")
    while "Working (0 s)" not in terminal.getvalue():
        time.sleep(0.001)
    line.end()

    written = terminal.getvalue()
    assert "\n" not in written
    assert written.endswith("\r" + " " * len("Working (0 s)") + "\r")
    time.sleep(0.01)
    assert terminal.getvalue() == written


def test_work_that_nobody_watches_shows_nothing(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", 0.001)
    file, terminal = io.StringIO(), Terminal()
    for stream, hush in ((file, False), (terminal, True)):
        monkeypatch.setattr(sys, "stderr", stream)
        line = progress.Progress()
        if hush:
            line.hush()  # as where the answers go to the terminal
        line.at("Working")
        time.sleep(0.02)
        line.end()

        assert stream.getvalue() == ""


@pytest.mark.parametrize("name", ["x" * 40_000, "a b" * 10_000, "it's " * 8_000, "\\ " * 20_000])
def test_text_for_people_leaves_out_the_middle_of_a_very_long_name_and_json_does_not(run, name):
    wide, narrow = allow("User:*", "READ", name, resource_type="GROUP"), deny("User:bob", "READ", name)
    acls("a", wide, allow("User:bob", "READ", name, resource_type="GROUP"), narrow)
    for command in (["lint"], ["redundant"], ["whatif", "--remove", "a"]):
        text, whole = run(*command, "--acls", "a")[1], run(*command, "--acls", "a", "--json")[1]

        assert max(map(len, text.splitlines())) < 1_000, command
        assert len(whole) > 20_000
    assert "characters)…" in text


def test_prose_between_short_names_is_left_as_it_is():
    sentence = f"The name 'a' is {'very ' * 100}long, unlike 'b'."

    assert shortened(sentence) == sentence


# Bad input.


def test_every_bad_line_of_every_file_is_named_and_nothing_is_printed(run):
    lines(
        "a",
        BOB_READS.as_dict(),
        "{",
        BOB_READS.as_dict() | {"pattern_type": "GLOB"},
        BOB_READS.as_dict() | {"host": 1},
    )
    lines("r", read("User:a", "t").as_dict(), {"principal": 1})
    status, out, err = run("decide", "--acls", "a", "--requests", "r", "--json")

    assert (status, out) == (2, "")
    assert [line[:4] for line in err.splitlines()] == ["a:2:", "a:3:", "a:4:", "r:2:"]


@pytest.mark.parametrize("notation", ["jsonl", "csv", "yaml", "listing", "zk"])
def test_a_line_that_is_not_utf_8_hides_no_other_bad_line(run, notation):
    good = [allow("User:bob", "READ", name) for name in ("one", "two", "not-utf-8", "four")]
    text = write_acls(good, format=notation)
    data = text.encode().replace(b"one", b"\xfe").replace(b"not-utf-8", b"a\xffb")
    head, _word, tail = data.rpartition(b"READ" if notation != "zk" else b"version")
    data = head + b"FLY" + tail  # the last line is bad in another way
    Path("a:1").write_bytes(data)

    bad = [
        number
        for number, line in enumerate(data.split(b"\n"), start=1)
        if any(part in line for part in (b"\xfe", b"\xff", b"FLY"))
    ]
    status, out, err = run("convert", "--acls", "a:1", "--to", "csv")

    assert (status, out) == (2, "")
    assert [line.split(": ")[0] for line in err.splitlines()] == [f"a:1:{number}" for number in bad]
    assert err.count("not UTF-8") == 2


def test_a_damaged_first_line_hides_no_other_bad_line(run):
    for notation in ("jsonl", "yaml", "zk", "listing"):
        text = write_acls([BOB_READS, EVE_IS_DENIED], format=notation)
        bad = (
            text.replace("Current ACLs", "Current  ACLs", 1)
            if notation == "listing"
            else "{nonsense\n" + text
        )
        bad = bad.replace("LITERAL", "LITTERAL").replace("DENY", "DENIAL").replace("Deny", "Deny\\n")
        if notation == "zk":
            bad += '{"path": 1, "data": null}\n'
        Path("f").write_text(bad)
        status, out, err = run("convert", "--acls", "f", "--to", "csv")

        assert (status, out) == (2, ""), notation
        assert err.startswith("f:1: ")
        assert err.count("\n") > 1, notation


def test_a_message_holds_nothing_that_drives_a_terminal_or_ends_its_line(run):
    odd = "a\x1b[31m\nb\u202e"

    for arguments in (
        ("lint", "--acls", odd),
        ("kafka-acls", "--", "--bootstrap-server", "b:1", "--add", "--topic", "t", "--allow-principal", odd),
        ("principal", "--ssl-rules", odd),
    ):
        status, out, err = run(*arguments)
        assert (status, out) == (2, "")
        assert err.endswith("\n")
        assert err[:-1].isprintable()
        assert "\\u202e" in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfea\x00", "f:1: The file is in UTF-16"),
        (b"a: b\na\xffb\n\xfe\n", "f:1: The format is not recognised"),
        (b"{}\xff", "f:1: Byte 3 of the line is 0xff"),
        (b"hello\n", "f:1: The format is not recognised"),
        (b"resource_type,principal\n", "f:1: The CSV header"),
        (b"- resource_type TOPIC\n", "f:1: "),
        (b"Current ACLs for resource `Topic\n", "f:1: "),
        (b'{"path": "/x", "data": null}\n', "f:1: path '/x'"),
    ],
)
def test_a_file_that_is_none_is_reported_with_its_line(run, content, message):
    Path("f").write_bytes(content)
    status, out, err = run("convert", "--acls", "f", "--to", "jsonl")

    assert (status, out) == (2, "")
    assert err.startswith(message)


@pytest.mark.parametrize(
    "options",
    [
        ["--authorizer", "kraft"],
        ["--authorizer", "glob", "--kafka-version", "4.3"],
        ["--authorizer", "acl", "--kafka-version", "4.0"],
        ["--kafka-version", "3.8"],
        ["--kafka-version", "four"],
        ["--super-users", "bob"],
        ["--authorizer", "acl", "--super-users", ";User:a"],
        ["--format", "xml"],
        ["--allow-everyone=maybe"],
    ],
)
def test_settings_that_no_broker_has_are_refused_in_every_command(run, options):
    acls("a", BOB_READS)
    requests("r", read("User:a", "t"))
    lines("s", scenario())
    calls = [
        ["decide", "--acls", "a", "--requests", "r"],
        ["affecting", "--acls", "a", "--new-topic", "t"],
        ["list", "--acls", "a", "--filter", json.dumps(ALL_FILTER)],
        ["whatif", "--acls", "a"],
        ["convert", "--acls", "a", "--to", "csv"],
    ]
    if options[0] != "--format" and options != ["--kafka-version", "3.8"]:  # one for another authorizer
        calls.append(["check", "s"])
    for call in calls:
        status, out, err = run(*call, *options)
        assert (status, out, err.count("\n")) == (2, "", 1), call


def test_a_patch_part_of_the_version_is_accepted(run):
    acls("a", BOB_READS)

    assert run("affecting", "--acls", "a", "--new-topic", "orders", "--kafka-version", "4.4.0")[0] == 0


def test_text_for_people_stays_on_its_line_whatever_the_names(run):
    odd = allow("User:a\nb\u2028", "READ", "x\ud800\r")
    acls("a", odd)
    out = run("list", "--acls", "a", "--filter", json.dumps(ALL_FILTER))[1]

    assert len(out.splitlines()) == 1
