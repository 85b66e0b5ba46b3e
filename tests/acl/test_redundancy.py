import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from aclweb.acl.authorizer.answers import Basis, Result
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.cli.main import main
from aclweb.acl.lint import consolidation
from aclweb.acl.lint.consolidation import consolidations
from aclweb.acl.lint.redundancy import redundant, removable
from aclweb.acl.model.authorizers import AuthorizerSettings, operations_of
from aclweb.acl.model.vocabulary import (
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
from aclweb.acl.notation.files import write_acls
from aclweb.acl.simulate.classes import Names
from tests import reference
from tests.builders import allow, deny
from tests.each import each
from tests.random_cases import SCALE, World, random_settings

TYPES = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
NAMES = ("a", "ab", "a.b", "a.b", "a.c", "a.d", "a.", "*", "*", "", "*a")
HOSTS = (
    "*",
    "*",
    "10.0.0.7",
    "10.0.0.8",
    "10.0.0.9",
    "10.0.0.8/31",
    "10.0.0.9/31",
    "10.0.0.0/24",
    "::1",
    "x",
)
SESSION_HOSTS = ("10.0.0.7", "10.0.0.8", "10.0.0.9", "10.0.0.10", "0:0:0:0:0:0:0:1", "0.0.0.0")


def crowded_world(seed):
    """Few names, principals and operations, so that ACLs imply and deny one another."""
    rng = random.Random(f"crowded {seed}")
    settings = random_settings(rng)
    principals = rng.choice((("User:a", "User:*"), ("User:a", "User:b", "User:*", "User:a*")))
    resource_type = rng.choice(TYPES)
    names = [rng.choice(NAMES) for _ in range(4)]
    operations = [Operation.READ, Operation.DESCRIBE, Operation.ALL]
    operations += rng.sample([o for o in Operation if o not in (Operation.UNKNOWN, Operation.ANY)], 2)
    hosts = HOSTS
    if rng.random() < 0.3:
        operations, names, hosts = (
            list(operations_of(resource_type, settings)),
            names[:1],
            ("*", "10.0.0.8/31"),
        )
    permissions = (PermissionType.ALLOW, PermissionType.ALLOW, PermissionType.DENY)
    bindings = tuple(
        AclBinding(
            resource_type,
            rng.choice(names),
            rng.choice((PatternType.LITERAL, PatternType.PREFIXED)),
            rng.choice(principals),
            rng.choice(hosts),
            rng.choice(operations),
            rng.choice(permissions),
        )
        for _ in range(rng.choice((5, 12, 20)))
    )
    return World(bindings, settings), rng


def questions(world, rng, most=600):
    """Requests that could tell two worlds apart: each name and beside it, each principal and a stranger."""
    own = {binding.resource_name for binding in world.bindings}
    names = sorted({*own, *(name + letter for name in own for letter in "a*\ue000"), "*", "zz", "", "*q"})
    principals = [*sorted({b.principal for b in world.bindings} - {"User:*"}), "User:nobody"]
    found = [
        AccessRequest(principal, host, operation, kind, name)
        for kind in sorted({binding.resource_type for binding in world.bindings}, key=lambda kind: kind.code)
        for name in [*rng.sample(names, min(8, len(names))), None]
        for principal in principals
        for host in SESSION_HOSTS
        for operation in (*operations_of(kind, world.settings), Operation.ALL)
    ]
    return rng.sample(found, min(most, len(found)))


def differing(allowed, after, settings):
    """Return the requests that are answered otherwise than they were."""
    return [request for request, was in allowed.items() if reference.allows(request, after, settings) != was]


@each("seed", range(25 * SCALE))
def test_what_is_redundant_alone_changes_no_decision_when_it_goes(seed):
    world, rng = crowded_world(seed)
    index = AclIndex(world.bindings)
    allowed = {r: reference.allows(r, index, world.settings) for r in questions(world, rng)}
    findings = list(redundant(index, world.settings))

    for finding in findings:
        if finding.rule in ("orphan", "unreachable"):
            continue
        left = [binding for binding in index if binding != finding.acl]
        changed = differing(allowed, left, world.settings)
        if finding.rule == "harmless-duplicate" or _rests_on_an_empty_prefix(finding.by):
            changed = [request for request in changed if request.resource_name is not None]
        assert not changed, (finding.sentence, changed[0])

    left = [binding for binding in index if binding not in removable(findings)]
    changed = differing(allowed, left, world.settings)
    if _rests_on_an_empty_prefix(index):
        changed = [request for request in changed if request.resource_name is not None]
    assert not changed


def _rests_on_an_empty_prefix(bindings):
    return any(binding.is_deny and not binding.resource_name for binding in bindings)


def is_as_wide(wide, narrow, settings):
    """Whether one ACL is at least as wide as another, by trying the names that could tell them apart."""
    base = narrow.resource_name
    names = {base, *(base + letter for letter in "a*\ue000"), "*", "*q", "zz", ""}
    covered = [name for name in names if reference.covers(narrow, narrow.resource_type, name, settings)]
    return (
        wide.resource_type is narrow.resource_type
        and wide.principal in ("User:*", narrow.principal)
        and wide.host in ("*", narrow.host)
        and all(reference.covers(wide, narrow.resource_type, name, settings) for name in covered)
    )


@each("seed", range(40 * SCALE))
def test_every_acl_that_one_other_implies_or_denies_whole_is_found(seed):
    world, _ = crowded_world(seed)
    index = AclIndex(world.bindings)
    findings = list(redundant(index, world.settings))
    implied = {finding.acl for finding in findings if finding.rule == "implied"}
    shadowed = {finding.acl for finding in findings if finding.rule == "shadowed"}

    for narrow in index:
        wider = [other for other in index if other != narrow and is_as_wide(other, narrow, world.settings)]
        for other in wider:
            if other.permission_type is narrow.permission_type:
                if other.operation in (narrow.operation, Operation.ALL):
                    assert narrow in implied, (narrow, other)
            elif other.is_deny and other.operation is Operation.ALL:
                assert narrow in shadowed, (narrow, other)


def test_the_crowded_worlds_meet_every_lint_rule():
    met = Counter()
    for seed in range(60):
        world, _ = crowded_world(seed)
        met.update(finding.rule for finding in redundant(AclIndex(world.bindings), world.settings))

    for rule in ("implied", "shadowed", "dead", "harmless-duplicate", "unreachable"):
        assert met[rule] >= 3, met


def world_of_proposals(seed):
    """Many ACLs that differ in one part alone, and a few others in between."""
    rng = random.Random(f"proposals {seed}")
    settings = random_settings(rng, authorizer=rng.choice(("standard", "standard", "acl", "glob")))
    kind = rng.choice(TYPES)
    operations = operations_of(kind, settings)
    names = ("a.b", "a.c", "a.d", "a.", "a", "a.b.c", "a.b.d", "a.b.e", "*")
    hosts = (*HOSTS[1:], "10.0.0.10/31", "10.0.0.11", "0.0.0.0/1", "128.0.0.0/1", "::/127", "::2/127")
    patterns, permissions = (
        (PatternType.LITERAL, PatternType.PREFIXED),
        (PermissionType.ALLOW, PermissionType.DENY),
    )

    def some():
        parts = rng.choice(names), rng.choice(patterns), rng.choice(("User:a", "User:b", "User:*"))
        entry = rng.choice(hosts), rng.choice((*operations, Operation.ALL)), rng.choice(permissions)
        return AclBinding(kind, *parts, *entry)

    alike = some()
    varied = rng.choice(
        (
            [replace(alike, operation=operation) for operation in operations],
            [replace(alike, host=host) for host in hosts if rng.random() < 0.7],
            [replace(alike, resource_name=name, pattern_type=PatternType.LITERAL) for name in names[:-1]],
        )
    )
    return World((*varied, *(some() for _ in range(rng.choice((0, 1, 3))))), settings), rng, kind


@each("seed", range(40 * SCALE))
def test_an_exact_consolidation_changes_no_decision_and_others_say_what_they_change(seed):
    world, rng, kind = world_of_proposals(seed)
    index = AclIndex(world.bindings)
    requests = [r for r in questions(world, rng, 1_000) if r.resource_name is not None]
    requests = [r for r in requests if r.operation is not Operation.ALL]
    allowed = {r: reference.allows(r, index, world.settings) for r in requests}

    for proposal in consolidations(index, world.settings, Names(topics=("a.b", "a.c", "a.x"))):
        after = [binding for binding in index if binding not in proposal.by] + [proposal.acl]
        if not proposal.extra:
            assert not differing(allowed, after, world.settings), proposal.sentence
        for effect in proposal.extra:
            counterexample = AccessRequest(
                _first(("User:zz", "User:yy"), effect.except_principals, effect.principal),
                _first(("192.0.2.9", "192.0.2.10", "10.0.0.77"), effect.except_hosts, effect.host),
                effect.operation,
                kind,
                effect.resource_name if effect.resource_name is not None else f"{effect.names_text}\ue000",
            )
            was = reference.allows(counterexample, index, world.settings)
            assert differing({counterexample: was}, after, world.settings), (proposal, effect)


def _first(others, but, own):
    return own if own != "*" else next(other for other in others if other not in but)


def test_the_worlds_of_proposals_meet_every_kind_exact_or_not():
    met = Counter()
    for seed in range(60):
        world, _, _ = world_of_proposals(seed)
        met.update(
            (found.rule, not found.extra)
            for found in consolidations(AclIndex(world.bindings), world.settings)
        )

    for rule in ("consolidate-operations", "consolidate-hosts", "consolidate-prefix"):
        assert met[rule, True] >= 3, met
    assert met["consolidate-prefix", False] >= 3, met


def test_an_acl_under_a_wider_one_names_it():
    wide = allow("User:bob", "READ", "orders.", pattern="PREFIXED")
    narrow = allow("User:bob", "READ", "orders.eu", host="10.0.0.7")

    (finding,) = redundant(AclIndex([wide, narrow]))

    assert (finding.rule, finding.acl, finding.by) == ("implied", narrow, (wide,))
    assert "another ACL already says the same" in finding.sentence


def test_a_deny_of_read_alone_leaves_describe_and_so_shadows_nothing():
    allowed = allow("User:bob", "READ", "orders")
    refusal = deny("User:*", "READ", "orders")

    assert not list(redundant(AclIndex([allowed, refusal])))
    both = (refusal, deny("User:bob", "DESCRIBE", "ord", pattern="PREFIXED"))
    (finding,) = [f for f in redundant(AclIndex([allowed, *both])) if f.acl == allowed]
    assert finding.rule == "shadowed"
    assert set(finding.by) == set(both)


@pytest.mark.parametrize(
    ("host", "version", "dead"),
    [
        ("example.com", "4.4", True),
        ("::1", "4.4", True),
        ("010.0.0.7", "4.4", True),
        ("0:0:0:0:0:0:0:1", "4.4", False),
        ("fe80:0:0:0:0:0:0:1%eth0", "4.4", False),
        ("10.0.0.7", "4.4", False),
        ("10.0.0.0/8", "4.4", False),
        ("10.0.0.0/8", "4.3", True),
        ("10.0.0.0/33", "4.4", True),
        ("0.0.0.0/32", "4.4", True),
    ],
)
def test_a_host_that_no_session_can_have_makes_an_acl_dead(host, version, dead):
    refusal = deny("User:bob", "READ", "orders", host=host)

    findings = list(redundant(AclIndex([refusal]), AuthorizerSettings(kafka_version=version)))

    assert [finding.rule for finding in findings] == (["dead"] if dead else [])
    assert all(finding.severity == "error" for finding in findings)


def test_a_dead_acl_that_ends_the_default_of_its_topic_is_not_called_dead():
    dead = allow("User:bob", "READ", "orders", host="example.com")
    other = allow("User:eve", "READ", "orders")
    open_by_default = AuthorizerSettings(allow_everyone=True)

    assert not list(redundant(AclIndex([dead]), open_by_default))
    assert [f.rule for f in redundant(AclIndex([dead, other]), open_by_default)] == ["dead"]
    both = AclIndex([dead, replace(dead, host="also.example.com")])
    findings = list(redundant(both, open_by_default))
    assert [finding.rule for finding in findings] == ["dead", "dead"]
    assert len(removable(findings)) == 1


def test_two_spellings_of_one_range_imply_each_other_and_one_of_them_stays():
    one = allow("User:bob", "READ", "orders", host="10.0.0.0/24")
    other = allow("User:bob", "READ", "orders", host="10.0.0.9/24")

    findings = list(redundant(AclIndex([one, other])))

    assert {finding.acl for finding in findings} == {one, other}
    assert removable(findings) == (one,)


def test_an_address_and_the_range_of_it_alone_imply_each_other():
    address = allow("User:bob", "READ", "orders", host="10.0.0.7")
    alone = allow("User:bob", "READ", "orders", host="10.0.0.7/32")

    findings = list(redundant(AclIndex([address, alone])))

    assert [finding.acl for finding in findings] == [address, alone]
    # One IPv6 address is not the range of it, which is for its every interface.
    six = replace(alone, host="fe80::1/128"), replace(alone, host="fe80:0:0:0:0:0:0:1")
    assert [finding.acl for finding in redundant(AclIndex(six))] == [six[1]]


def test_the_address_of_all_zeros_is_in_no_range():
    zeros, around = (allow("User:bob", "READ", "orders", host=host) for host in ("0.0.0.0", "0.0.0.0/8"))

    assert [f for f in redundant(AclIndex([zeros, around])) if f.rule == "implied"] == []


def test_a_whole_chain_of_prefixes_can_go_but_its_widest():
    chain = [allow("User:bob", "READ", "orders"[:length], pattern="PREFIXED") for length in range(1, 7)]

    assert set(removable(redundant(AclIndex(chain)))) == set(chain[1:])


def test_an_acl_with_a_value_that_nobody_knows_is_neither_found_nor_a_proof():
    unknown = replace(allow("User:*", "ALL", "*"), operation=Operation.UNKNOWN)
    narrow = allow("User:bob", "READ", "orders")

    assert not list(redundant(AclIndex([unknown, narrow])))


def test_an_acl_of_a_topic_that_does_not_exist_is_an_orphan_once_names_are_given():
    there, gone = allow("User:bob", "READ", "orders"), allow("User:bob", "READ", "pay", pattern="PREFIXED")

    findings = list(redundant(AclIndex([there, gone]), AuthorizerSettings(), Names(topics=("orders",))))

    assert [(finding.rule, finding.acl) for finding in findings] == [("orphan", gone)]


@pytest.mark.parametrize(("authorizer", "orphans"), [("standard", 1), ("acl", 0)])
def test_a_wildcard_over_a_starred_name_alone_is_an_orphan_where_it_skips_it(authorizer, orphans):
    everything = allow("User:bob", "READ", "*", resource_type="GROUP")

    found = redundant(AclIndex([everything]), AuthorizerSettings(authorizer), Names(groups=("*batch",)))

    assert [finding.rule for finding in found] == ["orphan"] * orphans


def test_all_operations_of_a_topic_are_exactly_all():
    words = ["READ", "WRITE", "CREATE", "DESCRIBE", "DELETE", "ALTER", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"]
    bindings = [allow("User:bob", word, "orders") for word in words]

    (proposal,) = consolidations(AclIndex(bindings))

    assert proposal.rule == "consolidate-operations"
    assert proposal.acl == allow("User:bob", "ALL", "orders")
    assert proposal.extra == ()
    assert proposal.sentence.endswith("exactly the same access, and the operations that a later Kafka adds.")


def test_all_operations_from_one_range_are_exactly_all_also_beside_other_ranges():
    words = ["READ", "WRITE", "CREATE", "DESCRIBE", "DELETE", "ALTER", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"]
    bindings = [allow("User:bob", word, "orders", host="10.0.0.0/8") for word in words]
    other = allow("User:bob", "ALL", "orders", host="10.9.0.0/16")

    for beside in ([], [other]):
        (proposal,) = consolidations(AclIndex([*bindings, *beside]))
        assert proposal.extra == ()


def test_no_acl_is_proposed_that_is_there():
    names = [allow("User:bob", "READ", f"orders.{country}") for country in ("cz", "de", "nl")]
    prefix = allow("User:bob", "READ", "orders.", pattern="PREFIXED")
    index = AclIndex([*names, prefix])

    assert list(consolidations(index)) == []
    assert {finding.acl for finding in redundant(index) if finding.rule == "implied"} == set(names)


def test_a_prefix_in_place_of_names_tells_what_else_it_would_allow():
    bindings = [allow("User:bob", "READ", f"orders.{country}") for country in ("cz", "de", "nl")]
    names = Names(topics=("orders.cz", "orders.de", "orders.nl", "orders.us", "payments"))

    (proposal,) = consolidations(AclIndex(bindings), names=names)

    assert proposal.rule == "consolidate-prefix"
    assert proposal.acl == allow("User:bob", "READ", "orders.", pattern="PREFIXED")
    assert set(proposal.by) == set(bindings)
    assert {e.names_text for e in proposal.extra if e.resource_name is not None} == {"orders.us"}
    assert {e.names_text for e in proposal.extra if e.resource_name is None} == {"orders."}
    assert "orders.us and any other topic that starts with 'orders.'." in proposal.sentence


def test_a_prefix_where_no_other_name_exists_tells_of_names_made_later():
    bindings = [allow("User:bob", "READ", f"orders.{country}") for country in ("cz", "de", "nl")]

    (proposal,) = consolidations(AclIndex(bindings), names=Names(topics=("orders.cz", "payments")))

    assert proposal.sentence == (
        "One ACL could replace 3. Allow User:bob to Read topics that start with 'orders.' from any host: "
        "it would also allow any other topic that starts with 'orders.'."
    )


@pytest.mark.parametrize("kind", ["TOPIC", "GROUP", "TRANSACTIONAL_ID"])
def test_a_prefix_tells_which_existing_names_of_its_own_type_it_opens(kind):
    bindings = [allow("User:bob", "DESCRIBE", f"app.{number}", resource_type=kind) for number in range(3)]
    fields = {"TOPIC": "topics", "GROUP": "groups", "TRANSACTIONAL_ID": "transactional_ids"}
    names = Names(**{field: (f"app.{field}",) for field in fields.values()})

    (proposal,) = consolidations(AclIndex(bindings), names=names)

    opened = {effect.names_text for effect in proposal.extra if effect.resource_name is not None}
    assert opened == {f"app.{fields[kind]}"}


def test_a_prefix_beside_acls_for_others_is_refused_by_them_and_not_by_the_default():
    bindings = [allow("User:bob", "READ", f"orders.{country}") for country in ("cz", "de", "nl")]
    other = allow("User:eve", "READ", "orders.", pattern="PREFIXED")
    there = allow("User:eve", "WRITE", "orders.us")

    (proposal,) = consolidations(AclIndex([*bindings, other, there]), names=Names(topics=("orders.us",)))

    before = {
        effect.names_text: (effect.before.basis, effect.before.determining) for effect in proposal.extra
    }
    assert before == {
        "orders.us": (Basis.NO_ALLOW_ACL, (there,)),
        "orders.": (Basis.NO_ALLOW_ACL, (other,)),
    }


def test_a_prefix_under_a_default_allow_is_said_to_shut_others_out_not_to_allow():
    bindings = [allow("User:bob", "READ", f"orders.{country}") for country in ("cz", "de", "nl")]
    names = Names(topics=("orders.us",))

    (proposal,) = consolidations(AclIndex(bindings), AuthorizerSettings(allow_everyone=True), names)

    assert {(e.before.result, e.after.result) for e in proposal.extra} == {(Result.ALLOWED, Result.DENIED)}
    assert proposal.sentence.endswith(
        "it would also shut out all whom no ACL allows from orders.us and any other topic that starts "
        "with 'orders.'."
    )


def test_what_a_prefix_allows_from_outside_the_ranges_of_other_acls_is_told_too():
    bindings = [allow("User:bob", "WRITE", f"orders.{country}") for country in ("cz", "de", "nl")]
    refusal = deny("User:bob", "DESCRIBE", "orders.us", host="10.0.0.0/24")

    (proposal,) = consolidations(AclIndex([*bindings, refusal]), names=Names(topics=("orders.us",)))

    elsewhere = [e for e in proposal.extra if e.names_text == "orders.us" and e.host == "*"]
    assert {(e.principal, e.operation) for e in elsewhere} == {
        ("User:bob", Operation.WRITE),
        ("User:bob", Operation.DESCRIBE),
    }


def test_proposals_that_are_not_worked_out_are_counted(monkeypatch):
    bindings = [
        allow(f"User:u{principal}", "READ", "orders", host=host)
        for principal in range(5)
        for host in ("10.0.0.2", "10.0.0.3")
    ]
    limits: list[str] = []
    monkeypatch.setattr(consolidation, "PROPOSALS_COMPARED", 2)

    assert len(list(consolidations(AclIndex(bindings), limits=limits))) == 2
    assert limits == ["The 2 proposals that save most were worked out, and 3 more were not."]


def test_hosts_that_make_up_a_range_are_exactly_that_range():
    bindings = [allow("User:bob", "READ", "orders", host=f"10.0.0.{last}") for last in (8, 9, 10, 11, 13)]

    (proposal,) = consolidations(AclIndex(bindings))

    assert (proposal.rule, proposal.acl.host) == ("consolidate-hosts", "10.0.0.8/30")
    assert len(proposal.by) == 4
    assert proposal.extra == ()


def test_finding_the_redundant_looks_at_each_acl_a_bounded_number_of_times():
    """A deep chain with many principals is the worst case: 200 prefixes of each other for 100 principals."""
    name = "a" * 200
    bindings = [
        allow(f"User:u{principal}", "READ", name[:length], pattern="PREFIXED")
        for principal in range(100)
        for length in range(1, 201)
    ]

    findings = list(redundant(AclIndex(bindings)))

    assert len(findings) == 100 * 199
    assert all(len(finding.acl.resource_name) > len(finding.by[0].resource_name) for finding in findings)


def run(capsysbinary, *arguments):
    status = main(["redundant", *map(str, arguments)])
    captured = capsysbinary.readouterr()
    return status, captured.out.decode().splitlines(), captured.err.decode()


@pytest.fixture
def acl_file(tmp_path):
    wide = allow("User:bob", "READ", "orders.", pattern="PREFIXED")
    narrow = allow("User:bob", "READ", "orders.eu")
    dead = deny("User:bob", "WRITE", "orders.eu", host="example.com")
    path = tmp_path / "acls.jsonl"
    path.write_text(write_acls([wide, narrow, dead], format="jsonl"))
    return path


def test_the_command_prints_one_finding_a_line_with_the_promised_keys(capsysbinary, acl_file):
    status, lines, told = run(capsysbinary, "--acls", acl_file, "--json")

    findings = [json.loads(line) for line in lines]
    assert status == 0
    assert [finding["rule"] for finding in findings] == ["implied", "dead"]
    assert all({"rule", "severity", "sentence", "acl", "by"} <= set(finding) for finding in findings)
    assert findings[0]["by"][0]["resource_name"] == "orders."
    assert told == "2 findings and 0 proposals on 3 ACLs; 2 ACLs can be removed together.\n"


@pytest.mark.parametrize(("severity", "status"), [("error", 1), ("warning", 1), ("info", 1)])
def test_the_command_fails_on_findings_of_the_severity_asked_or_worse(
    capsysbinary, acl_file, severity, status
):
    assert run(capsysbinary, "--acls", acl_file, "--fail-on", severity)[0] == status


def test_the_command_does_not_fail_on_findings_that_are_less_than_asked(capsysbinary, tmp_path):
    path = tmp_path / "acls.jsonl"
    bindings = [allow("User:bob", "READ", "orders"), allow("User:*", "READ", "orders")]
    path.write_text(write_acls(bindings, format="jsonl"))

    assert run(capsysbinary, "--acls", path, "--fail-on", "warning")[0] == 0
    assert run(capsysbinary, "--acls", path, "--fail-on", "info")[0] == 1
    assert run(capsysbinary, "--acls", path, "--fail-on", "bad")[0] == 2


def test_the_command_fails_on_proposals_too_where_every_finding_counts(capsysbinary, tmp_path):
    path = tmp_path / "acls.jsonl"
    bindings = [allow("User:bob", "READ", "orders", host=host) for host in ("10.0.0.2", "10.0.0.3")]
    path.write_text(write_acls(bindings, format="jsonl"))

    status, lines, _ = run(capsysbinary, "--acls", path, "--json", "--fail-on", "info")

    assert (status, [json.loads(line)["rule"] for line in lines]) == (1, ["consolidate-hosts"])
    assert run(capsysbinary, "--acls", path, "--fail-on", "warning")[0] == 0


def test_the_command_tells_where_it_stopped(capsysbinary, tmp_path):
    path = tmp_path / "acls.jsonl"
    path.write_text(write_acls([allow("User:bob", "READ", "a*b", pattern="GLOB")], format="jsonl"))

    _status, _lines, err = run(capsysbinary, "--acls", path, "--authorizer", "glob")

    assert "No consolidation is proposed where globs are" in err
