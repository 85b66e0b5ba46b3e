"""The GLOB proposal's tables, and ACLs said with globs and without."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.lint.globs import Compiler, as_glob
from aclweb.acl.matching.glob import matches
from aclweb.acl.model.authorizers import OPERATIONS, AuthorizerSettings
from aclweb.acl.model.vocabulary import AccessRequest, AclBinding, PatternType, ResourceType
from aclweb.acl.simulate.classes import Names
from tests import reference
from tests.builders import acl, allow, deny, topic
from tests.random_cases import HOSTS, PRINCIPALS, SCALE, random_name, random_request, random_world

GLOB, STANDARD = AuthorizerSettings("glob"), AuthorizerSettings("standard")

# The proposal's example of which pattern is named for a name; None where none matches. It reads its
# patterns as beginnings (`Hello` is named for HelloDolly), although by its own words a name matches as a
# whole and a prefix becomes a GLOB by a `*` behind it; with that `*`, every row holds.
COLUMNS = ("Hello", "HelloWo*d", "HelloW*", "He*m*m")
ROWS = {
    "Hello": "Hello",
    "HelloWorld": "HelloWo*d",
    "HelloWonderful": "HelloWo*d",
    "HelloWorldWide": "HelloWo*d",
    "HelloDolly": "Hello",
    "Hermesmoon": "He*m*m",
    "Helmsman": "He*m*m",
    "HelloWiked": "HelloW*",
    "Helpme": None,
}


@pytest.mark.parametrize(("name", "named"), ROWS.items())
def test_the_pattern_that_the_proposal_names_is_the_most_specific_one_that_covers(name, named) -> None:
    globs = [allow("User:a", "READ", f"{text}*", pattern="GLOB") for text in COLUMNS]
    covering = AclIndex(globs).affecting(topic(name), GLOB)
    assert (covering[0].resource_name if covering else None) == (named and f"{named}*")


def test_as_printed_the_patterns_of_that_table_contradict_its_own_definition() -> None:
    missed = {name for name, named in ROWS.items() if named is not None and not matches(named, name)}
    assert missed == {"HelloDolly", "HelloWonderful", "HelloWorldWide", "Hermesmoon", "Helmsman"}


@pytest.mark.parametrize(
    ("pattern", "asked", "literal", "prefixed", "glob"),
    [
        # Where the proposal's tables say so: rows are what is stored, columns what is asked for.
        ("Hello", "Hello", True, True, True),
        ("Hello", "HelloWorld", False, True, False),
        ("HelloWorld", "HelloWorld", True, True, True),
        ("H*World", "HelloWorld", False, False, True),
        ("H*World", "HappyWorld", False, False, True),
        ("Hello", "HappyWorld", False, False, False),
        ("HelloWorld", "HappyWorld", False, False, False),
        ("HelloWorld", "Hello", False, False, False),
        ("H*World", "Hello", False, False, False),
    ],
)
def test_the_tables_of_matching_hold(pattern, asked, literal, prefixed, glob) -> None:
    def covers(kind: str) -> bool:
        binding = allow("User:a", "READ", pattern, pattern=kind)
        return reference.covers(binding, ResourceType.TOPIC, asked, GLOB)

    assert (covers("LITERAL"), covers("PREFIXED"), covers("GLOB")) == (literal, prefixed, glob)
    assert matches(pattern, asked) is glob


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        ("LITERAL", "SomeName", "SomeName"),
        ("PREFIXED", "SomeName", "SomeName*"),
        ("LITERAL", "*", ""),
        ("PREFIXED", "", "*"),
    ],
)
def test_the_table_of_rewriting_holds(kind: str, name: str, text: str) -> None:
    own = allow("User:a", "READ", name, pattern=kind)
    (glob,) = as_glob(own).acls
    assert glob == replace(own, pattern_type=PatternType.GLOB, resource_name=text)
    for asked in ("", "Some", "SomeName", "SomeName2", "*", "*team", "other"):
        assert reference.covers(glob, ResourceType.TOPIC, asked, GLOB) is reference.covers(
            own, ResourceType.TOPIC, asked, GLOB
        )


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("PREFIXED", "*"),
        ("LITERAL", "a*b"),
        ("PREFIXED", "who?"),
        ("LITERAL", "?"),
        ("LITERAL", ""),
        ("UNKNOWN", "a"),
    ],
)
def test_names_that_a_glob_cannot_say_stay_as_they_are(kind: str, name: str) -> None:
    own = acl("ALLOW", "User:a", "READ", name, pattern=kind, resource_type="GROUP")
    said = as_glob(own)
    assert said.acls == (own,)
    assert len(said.remarks) == 1


def test_rewriting_random_acls_changes_no_answer() -> None:
    rewritten = 0
    for seed in range(100 * SCALE):
        rng = random.Random(f"rewriting {seed}")
        world = random_world(rng, authorizer="glob")
        after = [new for binding in world.bindings for new in as_glob(binding).acls]
        rewritten += sum(b.pattern_type is PatternType.GLOB for b in after)
        for _ in range(6):
            request = random_request(rng, world)
            assert reference.answer(request, after, world.settings) == reference.answer(
                request, world.bindings, world.settings
            ), (seed, request)
    assert rewritten > 500


def test_what_is_compiled_grants_the_same_on_what_exists_and_knows_no_globs() -> None:
    seen = {True: 0, False: 0}
    for seed in range(40 * SCALE):
        rng = random.Random(f"compiling {seed}")
        world = random_world(rng, authorizer="glob", most=8)
        bindings = [
            b for b in world.bindings if b.pattern_type is not PatternType.PREFIXED or b.resource_name
        ]
        near = {b.resource_name.replace("*", "a").replace("?", "b") for b in bindings}
        topics = tuple(sorted(({random_name(rng, GLOB) for _ in range(3)} | near) - {"", "*"}))
        names = Names(
            topics=tuple(name for name in topics if not name.startswith("*")),
            groups=tuple(name for name in topics),
            principals=PRINCIPALS,
            hosts=HOSTS,
        )
        compiler = Compiler(names)
        after = [new for binding in bindings for new in compiler.compile(binding).acls]
        assert all(new.pattern_type is not PatternType.GLOB for new in after)
        for kind, name in [
            *((ResourceType.TOPIC, name) for name in names.topics),
            *((ResourceType.GROUP, name) for name in names.groups),
        ]:
            for principal in rng.sample(PRINCIPALS, 3):
                asked = AccessRequest(principal, rng.choice(HOSTS), rng.choice(OPERATIONS[kind]), kind, name)
                before = reference.allows(asked, bindings, GLOB)
                assert reference.allows(asked, after, STANDARD) is before, (seed, asked, bindings, after)
                seen[before] += 1
    assert min(seen.values()) > 30, seen


def test_what_is_compiled_never_covers_a_name_that_the_glob_does_not() -> None:
    for seed in range(100 * SCALE):
        rng = random.Random(f"covering {seed}")
        text = "".join(rng.choice("ab*?") for _ in range(rng.randint(0, 5)))
        topics = tuple("".join(rng.choice("ab") for _ in range(rng.randint(1, 4))) for _ in range(6))
        glob = allow("User:a", "READ", text, pattern="GLOB")
        said = Compiler(Names(topics=topics)).compile(glob)
        for name in (*topics, "", "a", "b", "ab", "ba", "aab", "abab", "bbbbb", "zz"):
            covered = any(reference.covers(b, ResourceType.TOPIC, name, STANDARD) for b in said.acls)
            wanted = reference.covers(glob, ResourceType.TOPIC, name, GLOB)
            assert covered <= wanted, (text, name)
            assert covered == wanted or not (said.exact or name in topics), (text, name)


NAMES = Names(
    topics=("nl-accounts-a", "de-accounts-b", "nl-bills"),
    groups=("*team", "team", "*"),
    principals=("User:alice", "User:bob", "Group:a"),
    hosts=("10.0.0.7", "10.1.0.7"),
)


@pytest.mark.parametrize(
    ("glob", "patterns", "exact"),
    [
        ("*-accounts-*", {("LITERAL", "nl-accounts-a"), ("LITERAL", "de-accounts-b")}, False),
        ("nl-*", {("PREFIXED", "nl-")}, True),
        ("nl-?*", {("LITERAL", "nl-accounts-a"), ("LITERAL", "nl-bills")}, False),
        ("nl-**", {("PREFIXED", "nl-")}, True),
        ("nl-bills", {("LITERAL", "nl-bills")}, True),
        ("", {("LITERAL", "*")}, True),
        ("*", {("LITERAL", "*")}, True),
        ("us-?", set(), False),
    ],
)
def test_a_prefix_is_used_only_where_it_covers_the_same(glob, patterns, exact) -> None:
    said = Compiler(NAMES).compile(allow("User:a", "READ", glob, pattern="GLOB"))
    assert {(b.pattern_type.name, b.resource_name) for b in said.acls} == patterns
    assert said.exact is exact
    assert bool(said.remarks) is not exact


def test_principals_and_hosts_are_spelled_out_and_what_is_to_come_is_said() -> None:
    glob = deny("User:*b*", "READ", "t", host="10.0.*")
    said = Compiler(NAMES).compile(glob)
    assert [(b.principal, b.host) for b in said.acls] == [("User:bob", "10.0.0.7")]
    assert not said.exact
    assert any("Principals that do not exist yet" in remark for remark in said.remarks)
    assert any("Hosts that do not exist yet" in remark for remark in said.remarks)
    assert any("DENY" in remark for remark in said.remarks)
    everybody = Compiler(NAMES).compile(allow("*:*", "READ", "t", host="**"))
    assert [(b.principal, b.host, everybody.exact) for b in everybody.acls] == [("User:*", "*", True)]


def test_groups_with_an_asterisk_are_named_apart_and_never_by_the_wildcard() -> None:
    every = Compiler(NAMES).compile(allow("User:a", "READ", "*", pattern="GLOB", resource_type="GROUP"))
    assert {b.resource_name for b in every.acls} == {"*", "*team"}
    assert not every.exact
    wildcard = Compiler(NAMES).compile(deny("User:a", "READ", "*", resource_type="GROUP"))
    assert ({b.resource_name for b in wildcard.acls}, wildcard.exact) == ({"*", "*team"}, False)
    assert Compiler(NAMES).compile(deny("User:a", "READ", "*")).exact
    short = Compiler(NAMES).compile(allow("User:a", "READ", "?", pattern="GLOB", resource_type="GROUP"))
    assert short.acls == ()
    assert any(
        remark.endswith(": An empty name, or one that is a single asterisk, cannot be said alone.")
        for remark in short.remarks
    )


def test_the_cluster_has_one_name() -> None:
    glob: AclBinding = allow("User:a", "ALTER", "kafka*", pattern="GLOB", resource_type="CLUSTER")
    said = Compiler(NAMES).compile(glob)
    assert [(b.pattern_type.name, b.resource_name, said.exact) for b in said.acls] == [
        ("LITERAL", "kafka-cluster", True)
    ]
