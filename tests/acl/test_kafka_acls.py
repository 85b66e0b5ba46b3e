"""A plan is what Kafka's own kafka-acls would do with the same arguments, or its own words of refusal."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclweb.acl.kafka.command_lines import commands, why_no_command
from aclweb.acl.kafka.options import grammar
from aclweb.acl.kafka.shell_line import read_shell_line
from aclweb.acl.kafka.tool import TOOLS, Plan, plan
from aclweb.acl.matching.filters import AclFilter
from aclweb.acl.model.authorizers import VERSIONS, AuthorizerSettings
from aclweb.acl.model.errors import Problems
from aclweb.acl.model.vocabulary import (
    AclBinding,
    AclError,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
from aclweb.acl.notation.listing import read_listing, why_not_listed, write_listing
from devstack.jars import read_lock
from tests.builders import allow, deny
from tests.hostile import FULL, round_trip, texts
from tests.oracle import acl_commands
from tests.oracle.acl_commands import RULES, Answer, difference, question, random_arguments
from tests.oracle.jvm import JavaProgram
from tests.random_cases import SCALE

B = ("--bootstrap-server", "localhost:9092")
SCALA = AuthorizerSettings("acl")
FRESH = 10_000 if FULL else 350


def add(*words: str, settings: AuthorizerSettings | None = None) -> Plan:
    return plan([*B, "--add", *words], settings)


def remove(*words: str) -> Plan:
    return plan([*B, "--remove", "--force", *words])


def listed(*words: str) -> Plan:
    return plan([*B, "--list", *words])


def everything_of(resource_type: ResourceType, name: str | None, pattern: PatternType) -> AclFilter:
    return AclFilter(resource_type, name, pattern, None, None, Operation.ANY, PermissionType.ANY)


# Against Kafka's own classes.


@pytest.mark.parametrize("version", RULES)
def test_every_recorded_answer_of_the_real_tool_is_ours(version):
    differences, outcomes = [], Counter()
    for case in acl_commands.recorded():
        answer = Answer.read(case[version])
        outcomes["refused" if answer.error else "added" if answer.acls else "named"] += 1
        differences.append(difference(case["arguments"], version, answer))

    assert outcomes.total() >= 2000
    assert min(outcomes["refused"], outcomes["added"], outcomes["named"]) > 300, outcomes
    assert [told for told in differences if told] == []


def test_the_answers_were_recorded_from_the_jars_of_the_lock():
    with gzip.open(acl_commands.RECORDED, "rt", encoding="utf-8") as lines:
        jars = json.loads(next(lines))["jars"]

    for version in RULES:
        assert jars[version] == {jar.file_name: jar.sha256 for jar in read_lock(version)}


@pytest.fixture(scope="module", params=RULES)
def real_tool(request, java_program):
    """Kafka's own command class in a JVM."""
    return java_program(acl_commands.PROGRAM, request.param)


def asked(tool: JavaProgram, lists: Sequence[Sequence[str]]) -> list[Answer]:
    return [Answer.read(json.loads(line)) for line in tool.ask_many(map(question, lists))]


def test_the_real_tool_answers_fresh_arguments_as_we_do(real_tool):
    beyond = acl_commands.RECORDED_SEEDS.stop
    lists = [random_arguments(seed) for seed in range(beyond, beyond + FRESH)]

    found = [
        difference(words, real_tool.version, answer)
        for words, answer in zip(lists, asked(real_tool, lists), strict=True)
    ]

    assert [told for told in found if told] == []


def test_the_real_tool_makes_the_same_acl_of_our_commands(real_tool):
    settings = RULES[real_tool.version]
    rng = random.Random("hostile commands")
    drawn = [hostile(rng) for _ in range(300 * SCALE)]
    said = [binding for binding in drawn if not why_no_command(binding, settings)]
    lines = commands(said, bootstrap="h:1", settings=settings)

    answers = asked(real_tool, [read_shell_line(line, TOOLS).words for line in lines])

    assert len(said) > 100
    assert [answer.acls for answer in answers] == [(tuple(binding.as_dict().values()),) for binding in said]


def test_the_real_tool_prints_listings_that_are_read_and_written_byte_for_byte(real_tool):
    rng = random.Random("hostile listings")
    worlds = [[hostile(rng) for _ in range(rng.randint(0, 6))] for _ in range(150 * SCALE)]
    worlds = [[binding for binding in world if not why_not_listed(binding)] for world in worlds]
    questions = [
        json.dumps(
            {
                "arguments": [*B, "--list"],
                "acls": [list(binding.as_dict().values()) for binding in world],
            }
        )
        for world in worlds
    ]

    for world, line in zip(worlds, real_tool.ask_many(questions), strict=True):
        text = json.loads(line)["output"]
        problems = Problems("listing")
        found = [binding for _line, binding in read_listing(text, problems)]

        assert problems.messages == ()
        assert set(found) == set(world)
        assert write_listing(found, scala=real_tool.version == "3.9.2") == text


def hostile(rng: random.Random) -> AclBinding:
    """One ACL whose texts are of signs that a shell or the tool might take for something."""

    def text() -> str:
        return "".join(rng.choices("ab*?-='\"`$\\ !%#~{}()&|;<>,:/é☃\n\t", k=rng.randint(1, 8)))

    kind = rng.choice(
        [ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID, ResourceType.USER]
    )
    return AclBinding(
        kind,
        "a" + text(),
        rng.choice([PatternType.LITERAL, PatternType.PREFIXED]),
        "User:" + text(),
        text(),
        Operation.ALL,
        rng.choice([PermissionType.ALLOW, PermissionType.DENY]),
    )


# What the guide shows.


def test_adding_is_every_principal_with_every_operation_from_every_host():
    planned = add(
        *("--allow-principal", "User:Bob", "--allow-principal", "User:Alice"),
        *("--allow-host", "198.51.100.0", "--allow-host", "198.51.100.1"),
        *("--operation", "Read", "--operation", "Write", "--topic", "Test-topic"),
    )

    assert planned.action == "add"
    assert set(planned.acls) == {
        allow(user, operation, "Test-topic", host=host)
        for user in ("User:Bob", "User:Alice")
        for operation in ("READ", "WRITE")
        for host in ("198.51.100.0", "198.51.100.1")
    }


def test_each_side_has_its_own_hosts_which_default_to_every_host():
    planned = add(
        *("--allow-principal", "User:*", "--deny-principal", "User:BadBob", "--deny-host", "198.51.100.3"),
        *("--operation", "Read", "--topic", "Test-topic"),
    )

    assert planned.acls == (
        allow("User:*", "READ", "Test-topic"),
        deny("User:BadBob", "READ", "Test-topic", host="198.51.100.3"),
    )


def test_a_producer_may_write_describe_and_create_topics_and_use_transactional_ids():
    planned = add(
        *("--allow-principal", "User:a", "--producer", "--topic", "t-", "--transactional-id", " tx "),
        *("--resource-pattern-type", "Prefixed"),
    )

    assert set(planned.acls) == {
        *(
            allow("User:a", operation, "t-", pattern="PREFIXED")
            for operation in ("WRITE", "DESCRIBE", "CREATE")
        ),
        *(
            allow("User:a", operation, " tx ", pattern="PREFIXED", resource_type="TRANSACTIONAL_ID")
            for operation in ("WRITE", "DESCRIBE")
        ),
    }


def test_an_idempotent_producer_gets_the_literal_cluster_even_with_prefixes():
    planned = add(
        *("--allow-principal", "User:a", "--producer", "--idempotent", "--topic", "t"),
        *("--resource-pattern-type", "prefixed"),
    )

    assert allow("User:a", "IDEMPOTENT_WRITE", "kafka-cluster", resource_type="CLUSTER") in planned.acls
    assert "The ACL on the cluster for --idempotent is literal all the same." in planned.notes


def test_a_producer_that_is_a_consumer_too_gets_the_union():
    planned = add("--allow-principal", "User:a", "--producer", "--consumer", "--topic", "t", "--group", "g")

    assert set(planned.acls) == {
        *(allow("User:a", operation, "t") for operation in ("WRITE", "DESCRIBE", "CREATE", "READ")),
        allow("User:a", "READ", "g", resource_type="GROUP"),
    }


def test_listing_without_a_resource_asks_for_everything():
    assert listed().filters == (everything_of(ResourceType.ANY, None, PatternType.ANY),)


def test_listing_by_principal_asks_for_each():
    planned = listed("--principal", "User:a", "--principal=User:b", "--topic", "t")

    assert [asked.principal for asked in planned.filters] == ["User:a", "User:b"]
    assert {asked.resource_name for asked in planned.filters} == {"t"}
    assert (
        "--principal compares texts: ACLs for User:* are not listed, though they count for everyone."
        in planned.notes
    )


# How the tool reads its arguments.


def test_a_value_may_look_like_an_option_or_stand_behind_equals_or_one_hyphen():
    expected = allow("User:a", "ALL", "--x")

    for words in (["--topic", "--x"], ["--topic=--x"], ["-topic", "--x"], ["-topic=--x"]):
        assert add(*words, "--allow-principal", "User:a").acls == (expected,)


def test_options_cannot_be_shortened():
    assert add("--topic", "t", "--allow-princ", "User:a").error == "allow-princ is not a recognized option"


def test_stray_words_are_ignored_aloud():
    planned = add("--topic", "orders", "payments", "--allow-principal", "User:a", "—deny-host", "x")

    assert planned.acls == (allow("User:a", "ALL", "orders"),)
    assert "'payments', '—deny-host', 'x' belong to no option and are ignored." in planned.notes
    assert "'—deny-host' begins with a long dash, so it is no option; write two hyphens." in planned.notes


def test_what_stands_behind_two_lonely_hyphens_is_ignored():
    planned = add("--topic", "t", "--allow-principal", "User:a", "--", "--operation", "Read")

    assert planned.acls == (allow("User:a", "ALL", "t"),)


def test_an_option_without_a_value_counts_whatever_is_said_about_it():
    planned = plan([*B, "--add=false", "--topic", "t", "--allow-principal", "User:a"])

    assert planned.acls == (allow("User:a", "ALL", "t"),)
    assert "--add takes no value, so 'false' is ignored and --add counts." in planned.notes


def test_operations_are_words_without_underscores_in_any_case():
    assert add("--topic", "t", "--allow-principal", "User:a", "--operation", "descRIBEconfigs").acls == (
        allow("User:a", "DESCRIBE_CONFIGS", "t"),
    )
    assert (
        add("--topic", "t", "--allow-principal", "User:a", "--operation", "DESCRIBE_CONFIGS").error or ""
    ).startswith("ResourceType TOPIC only supports operations [")


def test_outer_white_space_is_cut_off_except_from_transactional_ids():
    planned = add(
        "--topic", "t ", "--transactional-id", "x ", "--allow-principal", " User:a", "--allow-host", "* "
    )

    assert set(planned.acls) == {
        allow("User:a", "ALL", "t"),
        allow("User:a", "ALL", "x ", resource_type="TRANSACTIONAL_ID"),
    }
    assert "The white space around 't ' is cut off." in planned.notes
    assert "The white space around 'x ' is kept." in planned.notes


def test_what_the_cluster_will_refuse_is_reported_though_the_tool_sends_it():
    assert add("--topic", "", "--allow-principal", "User:a").notes == (
        "The cluster refuses what is sent. The resource name is empty; give a name, or * for all.",
    )
    (note,) = add(
        "--topic",
        "t",
        "--allow-principal",
        "User:a",
        "--allow-host",
        "10.0.0.0/8",
        settings=AuthorizerSettings("acl"),
    ).notes
    assert "for a mere text that no address equals" in note


# What it refuses.

ONE = "Command must include exactly one action: --list, --add, --remove. "
NOBODY = "You must specify one of: --allow-principal, --deny-principal when trying to add ACLs."
PRINCIPAL = (
    "Error while executing ACL command: expected a string in format principalType:principalName but got bob"
)


@pytest.mark.parametrize(
    ("words", "action", "error"),
    [
        ("--list --add", None, ONE),
        ("", None, ONE),
        ("--list --producer", "list", 'Option "[list]" can\'t be used with option "[producer]"'),
        ("--add --consumer --operation Read", "add", 'Option "[consumer]" can\'t be used with option "[operation]"'),
        ("--add --principal User:a", "add", "The --principal option is only available if --list is set"),
        ("--add --producer --group g", "add", "With --producer you must specify a --topic"),
        ("--add --idempotent", "add", "The --idempotent option is only available if --producer is set"),
        (
            "--remove --consumer --topic t --group g --cluster",
            "remove",
            "With --consumer you must specify a --topic and a --group and no --cluster or --transactional-id option "
            "should be specified.",
        ),
        (
            "--add --topic t --allow-principal User:a --resource-pattern-type match",
            "add",
            "A '--resource-pattern-type' value of 'MATCH' is not valid when adding acls.",
        ),
        (
            "--add --topic t --allow-principal User:a --resource-pattern-type glob",
            "add",
            "Error while executing ACL command: Cannot parse argument 'glob' of option resource-pattern-type",
        ),
        (
            "--remove",
            "remove",
            "You must provide at least one resource: --topic <topic> or --cluster or --group <group> or "
            "--delegation-token <Delegation Token ID>",
        ),
        ("--add --topic t", "add", NOBODY),
        ("--add --topic t --allow-principal bob", "add", PRINCIPAL),
        ("--list --principal bob", "list", PRINCIPAL),
        (
            "--add --topic t --allow-principal User:a --operation Any",
            "add",
            "Error while executing ACL command: operation must not be ANY",
        ),
        ("--add --topic", "add", "Option topic requires an argument"),
        ("--frob --add", "add", "frob is not a recognized option"),
        ("--authorizer-properties x=y --list", "list", "authorizer-properties is not a recognized option"),
        ("--help --list", "list", "This tool helps to manage acls on kafka."),
    ],
)  # fmt: skip
def test_a_refusal_is_in_the_words_of_the_tool(words, action, error):
    assert plan([*B, *words.split()]) == Plan(action, error=error)


def test_how_the_cluster_is_reached_is_checked_by_version():
    both = ["--bootstrap-server", "a:1", "--bootstrap-controller", "b:1", "--list"]
    direct = ["--authorizer-properties", "zookeeper.connect=x=y", "--list"]

    assert (plan(both).error or "").startswith("Only one of --bootstrap-server or --bootstrap-controller")
    assert (plan(["--list"]).error or "").startswith("One of --bootstrap-server or --bootstrap-controller")
    assert plan(both[2:]).error is None
    assert plan(direct, SCALA).error is None
    assert plan(["--list"], SCALA).error == 'Missing required argument "[authorizer-properties]"'
    assert plan([*direct, *B], SCALA).error == (
        "The --authorizer-properties option can only be used with --authorizer option"
    )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (AuthorizerSettings("acl", "3.9"), "DescribeTokens, All"),
        (AuthorizerSettings("standard", "3.9"), "DescribeTokens, All"),
        (AuthorizerSettings("standard", "4.0"), "[ALL, CREATE_TOKENS, DESCRIBE_TOKENS]"),
    ],
)
def test_each_tool_names_operations_in_its_own_spelling(settings, words):
    error = add(
        "--user-principal", "User:a", "--allow-principal", "User:b", "--operation", "Read", settings=settings
    ).error

    assert error is not None
    assert set(words.strip("[]").split(", ")) <= set(
        error.rpartition("operations ")[2].strip("[]").split(", ")
    )
    assert error.endswith("]") == words.endswith("]")


def test_options_are_those_of_the_version():
    user = ("--user-principal", "User:a", "--allow-principal", "User:b")

    assert (
        add(*user, settings=AuthorizerSettings("acl", "3.2")).error
        == "user-principal is not a recognized option"
    )
    assert add(*user, settings=AuthorizerSettings("acl", "3.3")).error is None


def test_the_version_option_only_prints_the_version():
    planned = plan(["--version", "--add"])

    assert (planned.action, planned.error) == (None, None)
    assert planned.notes == ("kafka-acls prints its version and does nothing else.",)


def test_no_command_line_holds_a_nul_or_half_a_character():
    for name in ("a\0b", "a\ud800"):
        with pytest.raises(AclError, match=r"NUL|half a character"):
            add("--topic", name, "--allow-principal", "User:a")


# The sharp edges of removing.


def test_without_a_principal_everything_on_the_resource_goes():
    planned = remove("--topic", "t", "--operation", "Read", "--allow-host", "10.0.0.7")

    assert planned.filters == (everything_of(ResourceType.TOPIC, "t", PatternType.LITERAL),)
    assert (
        "Without a principal this removes ALL ACLs of topic t, and --operation, --allow-host are ignored."
        in planned.notes
    )


def test_with_a_principal_only_one_entry_goes():
    planned = remove("--topic", "t", "--allow-principal", "User:a")

    assert planned.filters == (AclFilter.exactly(allow("User:a", "ALL", "t")),)
    assert planned.notes == (
        "Without --operation only ACLs on ALL are removed, not those on single operations such as READ.",
        "Without --allow-host only ACLs with the host * are removed, not those with an address.",
    )


def test_removing_with_match_reaches_further_than_the_name():
    planned = remove("--topic", "t", "--resource-pattern-type", "match")

    assert planned.filters == (everything_of(ResourceType.TOPIC, "t", PatternType.MATCH),)
    assert any("prefixes and for * are removed too" in note for note in planned.notes)


def test_removing_the_cluster_counts_only_with_literal_patterns():
    planned = remove("--topic", "t", "--cluster", "--resource-pattern-type", "prefixed")

    assert [asked.resource_type for asked in planned.filters] == [ResourceType.TOPIC]
    assert "--cluster is ignored, because it counts only with the pattern type literal." in planned.notes


def test_the_tool_asks_unless_it_is_forced():
    asked = plan([*B, "--remove", "--topic", "t"])

    assert (
        "The tool asks before it removes; without a terminal it fails. --force stops it from asking."
        in asked.notes
    )
    assert not any("asks" in note for note in remove("--topic", "t").notes)


def test_a_line_of_a_shell_is_read_like_its_words():
    line = """bin/kafka-acls.sh --bootstrap-server "localhost:9092" --add \\
        --allow-principal 'User:CN=a, O=b' --topic "it's" """

    planned = plan(line)

    assert planned.acls == (allow("User:CN=a, O=b", "ALL", "it's"),)
    assert planned.notes == ()


# Whatever is given.


@round_trip
@given(
    st.lists(
        st.one_of(
            texts,
            st.sampled_from([f"--{name}" for name in sorted(grammar(AuthorizerSettings()).names)]),
            st.sampled_from(
                ["--bootstrap-server=h", "--topic=t", "--allow-principal=User:a", "--operation=Read"]
            ),
        ),
        max_size=8,
    ),
    st.sampled_from(
        [
            *(AuthorizerSettings("acl", version) for version in VERSIONS["acl"]),
            AuthorizerSettings("standard", "4.0"),
            AuthorizerSettings(),
        ]
    ),
)
def test_any_arguments_give_a_plan_or_one_sentence(words, settings):
    try:
        planned = plan(words, settings)
    except AclError:
        assert any("\0" in word for word in words)
        return

    assert not (planned.acls and planned.filters)
    assert not (planned.error and (planned.acls or planned.filters))
    assert bool(planned.acls) == (planned.action == "add" and planned.error is None)
    assert bool(planned.filters) == (planned.action in ("remove", "list") and planned.error is None)
    assert planned.error != ""


def test_thousands_of_values_are_taken_in_one_go():
    names = [word for number in range(2000) for word in ("--topic", f"t{number}")]
    long_name = "n" * 32_767

    assert len(add(*names, "--allow-principal", "User:a", "--producer").acls) == 6000
    assert add("--topic", long_name, "--allow-principal", "User:a").acls == (
        allow("User:a", "ALL", long_name),
    )


def test_arguments_that_meet_in_too_many_ways_are_refused_with_their_number():
    crowd = [word for n in range(50) for word in ("--allow-principal", f"User:{n}", "--topic", f"t{n}")]

    with pytest.raises(AclError, match=r"mean 2,500 ACLs, and at most 2,499 are worked out"):
        plan([*B, "--add", *crowd], most=2_499)

    assert len(plan([*B, "--add", *crowd], most=2_500).acls) == 2_500
