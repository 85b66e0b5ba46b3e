"""What a client action needs, what these ACLs make of it, and the smallest set of ACLs that would do."""

from __future__ import annotations

import io
import itertools
import json
import random
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from aclweb.acl.authorizer.answers import Result
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.cli.main import main
from aclweb.acl.model.authorizers import VERSIONS, AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding, AclError, ResourceType
from aclweb.acl.needs.actions import ACTIONS
from aclweb.acl.needs.answers import assess, find_action, missing_roles, needed_acls
from aclweb.acl.needs.assessment import Assessment, Outcome
from aclweb.acl.needs.calls import Check, Refusal
from aclweb.acl.needs.protocol import APIS
from aclweb.acl.needs.roles import GIVEN_ROLES, ClientAction
from aclweb.acl.notation.files import write_acls
from tests import reference
from tests.builders import acl, allow, deny
from tests.each import each
from tests.random_cases import FIRST, HOSTS, PRINCIPALS, SCALE, World, random_name, random_world

ROOT = Path(__file__).parents[2]

NAMES = {
    "topic": ("orders",),
    "group": ("billing",),
    "transactional-id": ("billing-1",),
    "output-topic": ("invoices",),
    "owner": ("User:ann",),
    "token-id": ("t0k3n",),
}
HOST = "10.0.0.7"
RULES = [
    AuthorizerSettings(authorizer, version)
    for authorizer in ("standard", "acl")
    for version in VERSIONS[authorizer]
]


def asked(
    action: str, *bindings: AclBinding, settings: AuthorizerSettings | None = None, **names: str
) -> Assessment:
    """Assess an action of User:bob from HOST; names as keywords, or all of NAMES."""
    given = {key.replace("_", "-"): (name,) for key, name in names.items()} or NAMES
    return assess(
        find_action(action),
        principal="User:bob",
        host=HOST,
        names=given,
        index=AclIndex(bindings),
        settings=settings or AuthorizerSettings(),
    )


def needed(action: str, settings: AuthorizerSettings | None = None, **names: str) -> set[AclBinding]:
    given = {key.replace("_", "-"): (name,) for key, name in names.items()} or NAMES
    return set(
        needed_acls(
            find_action(action),
            principal="User:bob",
            host=HOST,
            names=given,
            settings=settings or AuthorizerSettings(),
        )
    )


def bobs(operation: str, kind: str, name: str, pattern: str = "LITERAL") -> AclBinding:
    return allow("User:bob", operation, name, resource_type=kind, host=HOST, pattern=pattern)


# What it takes.


def test_a_name_that_an_action_and_a_call_have_is_the_call_in_capital_letters() -> None:
    assert find_action("PRODUCE") == find_action("0") != find_action("produce")
    assert find_action("Produce") == find_action("produce")


def test_producing_takes_write_on_the_topic_and_nothing_else():
    assert needed("produce", topic="orders") == {bobs("WRITE", "TOPIC", "orders")}


def test_an_idempotent_producer_needs_no_more_than_a_plain_one_since_2_8():
    assert needed("produce-idempotent", topic="orders") == {bobs("WRITE", "TOPIC", "orders")}
    assert needed("produce-idempotent", AuthorizerSettings("acl", "2.7"), topic="orders") == {
        bobs("WRITE", "TOPIC", "orders"),
        bobs("IDEMPOTENT_WRITE", "CLUSTER", "kafka-cluster"),
    }


def test_a_transaction_takes_write_on_its_id_and_the_group_only_to_commit_offsets():
    plain = {bobs("WRITE", "TRANSACTIONAL_ID", "tx"), bobs("WRITE", "TOPIC", "orders")}

    assert needed("produce-transactional", topic="orders", transactional_id="tx") == plain
    assert needed("produce-transactional", topic="orders", transactional_id="tx", group="g") == plain | {
        bobs("READ", "GROUP", "g"),
        bobs("READ", "TOPIC", "orders"),
    }


def test_consuming_takes_read_on_the_topic_and_on_the_group():
    assert needed("consume", topic="orders", group="g") == {
        bobs("READ", "TOPIC", "orders"),
        bobs("READ", "GROUP", "g"),
    }


def test_consuming_without_a_group_takes_read_on_the_topic_alone():
    assert needed("consume-manual", topic="orders") == {bobs("READ", "TOPIC", "orders")}


def test_streams_takes_a_prefix_for_the_topics_that_it_makes_itself():
    found = needed("streams", topic="orders", group="app")

    assert {one for one in found if one.resource_name == "app-"} == {
        bobs(operation, "TOPIC", "app-", pattern="PREFIXED")
        for operation in ("READ", "WRITE", "CREATE", "DELETE")
    }
    assert found >= {bobs("READ", "GROUP", "app"), bobs("READ", "TOPIC", "orders")}
    assert bobs("WRITE", "TOPIC", "invoices") in needed("streams")


def test_a_connect_worker_has_topics_of_its_own_that_have_usual_names():
    found = needed("connect", group="workers")

    assert {one.resource_name for one in found if one.resource_type.name == "TOPIC"} == {
        "connect-configs", "connect-offsets", "connect-status",
    }  # fmt: skip
    assert bobs("READ", "GROUP", "workers") in found


def test_the_narrower_of_two_rights_is_proposed():
    assert needed("admin-create-topics", topic="orders") == {bobs("CREATE", "TOPIC", "orders")}
    assert needed("admin-delete-topics", topic="orders") == {bobs("DELETE", "TOPIC", "orders")}
    assert needed("admin-list-groups", group="g") == {bobs("DESCRIBE", "GROUP", "g")}


def test_a_right_on_the_cluster_is_proposed_where_no_name_is_given():
    assert needed("admin-list-groups", topic="orders") == {bobs("DESCRIBE", "CLUSTER", "kafka-cluster")}


@each("action, settings", list(itertools.product(ACTIONS, RULES)))
def test_the_proposed_set_is_enough_and_nothing_in_it_can_be_left_out(action, settings):
    found = needed(action, settings)

    assert asked(action, *found, settings=settings).outcome is Outcome.WORKS
    # Each version is enough for a third of the actions: what may be left out is a matter of the calls.
    tried = SCALE > 1 or (RULES.index(settings) + list(ACTIONS).index(action)) % 3 == 0
    for less in itertools.combinations(found, len(found) - 1) if found and tried else ():
        assert asked(action, *less, settings=settings).outcome in (Outcome.FAILS, Outcome.SHOWS_LESS)


# What becomes of it.


def test_the_first_failing_call_is_the_one_that_the_client_meets():
    outcome = asked("consume", bobs("READ", "TOPIC", "orders"), topic="orders", group="g")

    assert outcome.first_failing is not None
    assert outcome.first_failing.call.api.name == "FIND_COORDINATOR"
    assert [verdict.first_failing for verdict in outcome.calls].count(True) == 1
    assert outcome.error is not None
    assert (outcome.error.name, outcome.error.code) == ("GROUP_AUTHORIZATION_FAILED", 30)
    assert outcome.missing == (bobs("READ", "GROUP", "g"),)


def codes(outcome: Assessment) -> list[int]:
    return [error.code for error in outcome.errors]


@pytest.mark.parametrize("action", ["consume", "consume-new-protocol", "consume-share", "streams"])
def test_a_consumer_without_any_right_may_report_the_group_or_the_topic(action: str) -> None:
    outcome = asked(action)

    assert codes(outcome) == [30, 29]
    assert outcome.error is not None
    assert outcome.error.code == 30
    both = "GROUP_AUTHORIZATION_FAILED (30) or TOPIC_AUTHORIZATION_FAILED (29)"
    assert f"The client sees {both}, whichever it reports first." in outcome.sentences


def test_a_consumer_that_lacks_one_of_the_two_reports_that_one() -> None:
    assert codes(asked("consume", bobs("READ", "GROUP", "billing"))) == [29]
    assert codes(asked("consume", bobs("READ", "TOPIC", "orders"))) == [30]


def test_whoever_sets_offsets_may_meet_the_group_or_the_topic_first() -> None:
    outcome = asked("admin-reset-offsets")

    assert codes(outcome) == [30, 29]
    assert outcome.first_failing is not None
    assert outcome.first_failing.call.api.name == "FIND_COORDINATOR"
    assert codes(asked("admin-reset-offsets", bobs("READ", "GROUP", "billing"))) == [29]


def test_calls_one_after_the_other_have_one_first_error() -> None:
    for name, action in ACTIONS.items():
        outcome = asked(name)
        marked = [verdict for verdict in outcome.calls if verdict.may_fail_first]
        assert len(marked) <= 1 or all(verdict.call.at_once for verdict in marked), action.name
        assert (outcome.first_failing in marked) is bool(marked)


def test_an_idempotent_producer_is_refused_in_the_name_of_the_cluster():
    outcome = asked("produce-idempotent", bobs("DESCRIBE", "TOPIC", "orders"), topic="orders")

    assert outcome.first_failing is not None
    assert outcome.first_failing.call.api.name == "INIT_PRODUCER_ID"
    assert outcome.error is not None
    assert outcome.error.code == 31


def test_write_on_another_topic_lets_an_idempotent_producer_start_and_not_write():
    outcome = asked("produce-idempotent", bobs("WRITE", "TOPIC", "other"), bobs("DESCRIBE", "TOPIC", "orders"),
                    topic="orders")  # fmt: skip

    assert outcome.first_failing is not None
    assert outcome.first_failing.call.api.name == "PRODUCE"
    assert outcome.error is not None
    assert outcome.error.code == 29


def test_one_refused_topic_of_two_fails_the_action_and_alone_is_proposed():
    outcome = assess(
        find_action("produce"),
        principal="User:bob",
        host=HOST,
        names={"topic": ("orders", "secrets")},
        index=AclIndex([bobs("WRITE", "TOPIC", "orders")]),
        settings=AuthorizerSettings(),
    )

    assert outcome.outcome is Outcome.FAILS
    assert outcome.missing == (bobs("WRITE", "TOPIC", "secrets"),)


def test_a_list_without_rights_is_short_and_no_error():
    outcome = asked("admin-list-groups", group="g")

    assert outcome.outcome is Outcome.SHOWS_LESS
    assert outcome.first_failing is None
    assert outcome.error is None
    assert outcome.missing == (bobs("DESCRIBE", "GROUP", "g"),)


def test_a_deny_in_the_way_is_named_and_no_acl_is_proposed_against_it():
    refusal = deny("User:bob", "WRITE", "ord", pattern="PREFIXED")

    outcome = asked("produce", refusal, bobs("WRITE", "TOPIC", "orders"), topic="orders")

    assert outcome.outcome is Outcome.FAILS
    assert outcome.missing == ()
    assert outcome.denied_by == (refusal,)
    assert any("deny it" in sentence for sentence in outcome.sentences)


def test_a_deny_on_one_right_leaves_the_other_one_that_would_do():
    refusal = deny("User:bob", "CREATE", "kafka-cluster", resource_type="CLUSTER")

    outcome = asked("admin-create-topics", refusal, topic="orders")

    assert outcome.missing == (bobs("CREATE", "TOPIC", "orders"),)
    assert outcome.denied_by == ()


def test_a_super_user_can_do_everything():
    settings = AuthorizerSettings(super_users=frozenset({"User:bob"}))

    assert all(asked(action, settings=settings).outcome is Outcome.WORKS for action in ACTIONS)


def test_what_is_open_by_default_stays_open_under_the_proposal():
    settings = AuthorizerSettings(allow_everyone=True)
    others = allow("User:ann", "READ", "orders")

    outcome = asked("consume", others, settings=settings, topic="orders", group="g")
    after = asked("consume", others, *outcome.missing, settings=settings, topic="orders", group="g")

    assert outcome.missing == (bobs("READ", "TOPIC", "orders"),)
    assert after.outcome is Outcome.WORKS


def test_a_call_that_is_not_always_made_is_judged_and_not_counted():
    outcome = asked("produce", bobs("WRITE", "TOPIC", "orders"), topic="orders")
    create = next(verdict for verdict in outcome.calls if verdict.call.case.name == "create")

    assert not create.needed
    assert create.outcome is Outcome.FAILS
    assert outcome.outcome is Outcome.WORKS


def test_an_acl_of_an_unknown_operation_leaves_the_outcome_open():
    outcome = asked("produce", bobs("UNKNOWN", "TOPIC", "orders"), topic="orders")

    assert outcome.outcome is Outcome.UNDECIDED
    assert outcome.calls[0].result is Result.UNDECIDED


# Against the reference authorizer, on random ACLs.


def random_question(seed: int) -> tuple[ClientAction, str, str, dict[str, tuple[str, ...]], World]:
    rng = random.Random(f"needs {seed}")
    world = random_world(rng)
    names = {
        role.key: tuple(
            filter(None, (random_name(rng, world.settings) for _ in range(rng.choice((1, 1, 2)))))
        )
        or ("a",)
        for role in GIVEN_ROLES
    }
    on_the_cluster = (
        acl(
            rng.choice(("ALLOW", "ALLOW", "DENY")),
            rng.choice(PRINCIPALS[:2]),
            rng.choice(("ALL", "CREATE", "DESCRIBE", "ALTER", "IDEMPOTENT_WRITE", "CLUSTER_ACTION")),
            "kafka-cluster",
            resource_type="CLUSTER",
        )
        for _ in range(rng.choice((0, 0, 1, 2)))
    )
    in_the_way = (
        deny(PRINCIPALS[0], rng.choice(("ALL", "READ", "WRITE")), rng.choice(names["topic"]))
        for _ in range(rng.choice((0, 0, 1)))
    )
    action = rng.choice([*ACTIONS.values(), *(find_action(str(key)) for key in APIS)])
    principal = rng.choice(PRINCIPALS[:2])
    return (
        action,
        principal,
        rng.choice(HOSTS),
        names,
        World((*world.bindings, *on_the_cluster, *in_the_way), world.settings),
    )


def failing_by_the_reference(
    assessment: Assessment, bindings: Iterable[AclBinding]
) -> list[tuple[int, Check]]:
    """The calls and checks that the reference authorizer refuses, hidden parts of answers left out."""
    held = tuple(bindings)
    found = []
    for place, verdict in enumerate(assessment.calls):
        for asked in verdict.asked if verdict.needed else ():
            requests = [decision.request for decision in asked.decisions]
            if asked.check.refusal is not Refusal.HIDDEN and not any(
                reference.allows(request, held, assessment.settings) for request in requests
            ):
                found.append((place, asked.check))
    return found


def test_every_outcome_and_proposal_holds_by_the_reference_authorizer():
    outcomes: Counter[tuple[Outcome | None, bool]] = Counter()

    @each("seed", range(400 * SCALE))
    def claim(seed: int) -> None:
        outcome = checked_by_the_reference(seed)
        outcomes[outcome.outcome, bool(outcome.missing)] += 1

    claim()

    for expected in ((Outcome.WORKS, False), (Outcome.FAILS, True), (Outcome.FAILS, False)):
        assert outcomes[expected] >= 10 * SCALE, outcomes
    assert outcomes[Outcome.SHOWS_LESS, True] > 3 * SCALE, outcomes


def checked_by_the_reference(seed: int) -> Assessment:
    """Return what becomes of a random action, after comparing it with the reference."""
    action, principal, host, names, world = random_question(seed)
    outcome = assess(
        action,
        principal=principal,
        host=host,
        names=names,
        index=AclIndex(world.bindings),
        settings=world.settings,
    )

    refused = failing_by_the_reference(outcome, world.bindings)
    errors = [(place, check.error) for place, check in refused if check.refusal.is_error]
    first = outcome.first_failing
    assert (None if first is None else outcome.calls.index(first)) == (errors[0][0] if errors else None)
    assert outcome.error == (errors[0][1] if errors else None)
    assert (outcome.outcome is Outcome.WORKS) == (not refused)

    if outcome.missing:
        assert not failing_by_the_reference(outcome, [*world.bindings, *outcome.missing])
        for left_out in outcome.missing:
            others = [one for one in outcome.missing if one != left_out]
            assert failing_by_the_reference(outcome, [*world.bindings, *others])
    elif refused:
        everything = [
            allow(principal, "ALL", name, resource_type=kind.name, pattern=pattern)
            for kind in ResourceType
            if kind.value > 1
            for name in ("*", "kafka-cluster", *FIRST)
            for pattern in ("LITERAL", "PREFIXED")
        ]
        assert failing_by_the_reference(outcome, [*world.bindings, *everything])
    return outcome


# What is asked for.


@each("action", ACTIONS)
def test_an_action_without_names_asks_for_those_it_depends_on(action):
    lacking = missing_roles(find_action(action), {}, AuthorizerSettings())

    if lacking:
        with pytest.raises(AclError, match=f"--{lacking[0].key}"):
            assess(
                find_action(action),
                principal="User:bob",
                host=HOST,
                names={},
                index=AclIndex(()),
                settings=AuthorizerSettings(),
            )
    assert not missing_roles(
        find_action(action), {role.key: NAMES[role.key] for role in lacking}, AuthorizerSettings()
    )


def test_a_call_by_its_name_depends_on_the_cases_whose_names_are_given():
    outcome = asked("FindCoordinator", bobs("DESCRIBE", "GROUP", "g"), group="g")

    assert {verdict.call.case.name: verdict.outcome for verdict in outcome.calls} == {
        "group": Outcome.WORKS, "transaction": Outcome.NOT_ASKED, "share": Outcome.FAILS,
    }  # fmt: skip
    assert outcome.outcome is Outcome.WORKS
    assert [verdict.call.case.name for verdict in outcome.calls if verdict.needed] == ["group"]


def test_a_call_that_may_be_about_the_cluster_is_about_the_topic_that_is_given():
    configs = bobs("DESCRIBE_CONFIGS", "TOPIC", "orders")

    assert asked("DescribeConfigs", configs, topic="orders").outcome is Outcome.WORKS
    assert asked("DescribeConfigs", configs, owner="User:ann").outcome is Outcome.FAILS
    with pytest.raises(AclError, match="--topic"):
        asked("Fetch", configs, owner="User:ann")


@each("key", APIS)
def test_every_call_can_be_judged_under_every_version(key):
    for settings in RULES:
        assert asked(str(key), settings=settings).calls


def test_the_topic_that_was_read_may_be_another_than_the_one_that_is_written():
    plain = needed("produce-transactional", topic="out", transactional_id="tx", group="g", input_topic="in")

    assert bobs("READ", "TOPIC", "in") in plain
    assert bobs("READ", "TOPIC", "out") not in plain


def test_roles_are_given_under_options_of_their_own():
    assert [role.key for role in GIVEN_ROLES][:3] == ["topic", "group", "transactional-id"]


# The command.


@pytest.fixture
def run(tmp_path, monkeypatch, capfdbinary):
    """Return a function that runs `needs` in an empty directory: (status, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        capfdbinary.readouterr()
        status = main(["needs", *arguments])
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return command


def acls(*bindings: AclBinding) -> str:
    Path("acls.jsonl").write_text(write_acls(bindings, format="jsonl"))
    return "acls.jsonl"


def test_several_actions_give_a_line_each_in_their_order(run):
    status, out, err = run("produce", "CONSUME", "Fetch", "16", "--json")

    assert (status, err) == (0, "")
    answers = [json.loads(line) for line in out.splitlines()]
    assert [(one["action"], one["kind"]) for one in answers] == [
        ("produce", "CLIENT_ACTION"),
        ("consume", "CLIENT_ACTION"),
        ("FETCH", "API"),
        ("LIST_GROUPS", "API"),
    ]
    assert [right["resource_type"] for right in answers[3]["calls"][0]["needs"][0]["any_of"]] == [
        "CLUSTER", "GROUP",
    ]  # fmt: skip


def test_an_unknown_action_is_answered_with_its_close_matches(run):
    status, out, err = run("produce", "comsume", "admin-topics", "descrbe_acls", "zzz")

    assert (status, out) == (2, "")
    lines = err.splitlines()
    assert len(lines) == 4
    assert "'comsume'" in lines[0]
    assert "consume" in lines[0].partition("did you mean")[2]
    assert "admin-" in lines[1].partition("did you mean")[2]
    assert "DESCRIBE_ACLS" in lines[2]
    assert "'zzz'" in lines[3]


def test_the_outcome_marks_the_first_failing_call(run):
    asked_of = [
        "--acls",
        acls(bobs("DESCRIBE", "TOPIC", "orders")),
        "--principal",
        "User:bob",
        "--host",
        HOST,
    ]

    status, out, _ = run("produce-idempotent", *asked_of, "--topic", "orders", "--json")
    answer = json.loads(out)
    _, text, _ = run("produce-idempotent", *asked_of, "--topic", "orders")

    assert status == 0
    assert answer["outcome"] == "FAILS"
    assert answer["calls"][answer["first_failing"]]["api_name"] == "INIT_PRODUCER_ID"
    assert [call["first_failing"] for call in answer["calls"]].count(True) == 1
    assert answer["error"]["code"] == 31
    assert answer["missing"] == [bobs("WRITE", "TOPIC", "orders").as_dict()]
    assert [error["code"] for error in answer["errors"]] == [31]
    (marked,) = [line for line in text.splitlines() if "the first that fails" in line]
    assert "INIT_PRODUCER_ID" in marked

    status, out, _ = run("consume", "--acls", acls(), *asked_of[2:], "--topic", "t", "--group", "g", "--json")
    answer = json.loads(out)
    assert [error["code"] for error in answer["errors"]] == [30, 29]
    assert [c["api_name"] for c in answer["calls"] if c["may_fail_first"]] == ["FIND_COORDINATOR", "METADATA"]


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--acls", "acls.jsonl"], "give --principal and --host"),
        (["--acls", "acls.jsonl", "--principal", "User:bob"], "give --host"),
        (["--acls", "acls.jsonl", "--principal", "User:bob", "--host", HOST], "give --topic, --group"),
        (["--principal", "User:bob"], "--acls FILE"),
        (["--topic", "orders"], "--acls FILE"),
        (["--kafka-version", "9.9"], "'9.9'"),
    ],
)
def test_what_is_left_out_is_asked_for_in_one_sentence(run, arguments, sentence):
    acls()

    status, out, err = run("consume", *arguments)

    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert sentence in err


def test_no_action_is_a_usage_error(run):
    status, out, err = run()

    assert (status, out) == (2, "")
    assert "ACTION" in err


def test_the_page_in_the_docs_is_what_the_table_says():
    tool = runpy.run_path(str(ROOT / "tools" / "needs_page.py"))

    written = (ROOT / "docs" / "needs.md").read_text(encoding="utf-8")

    assert written == tool["page"](), "Run python tools/needs_page.py."


def test_it_runs_on_a_bare_python():
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c",
         f"import sys; sys.path.insert(0, {str(ROOT)!r}); from aclweb.acl.cli.main import main; "
         "sys.exit(main(['needs', 'streams', 'connect', '--json']))"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(ran.stdout.splitlines()) == 2
