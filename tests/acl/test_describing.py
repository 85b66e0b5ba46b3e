"""The words for a group say exactly its principals, hosts and names, and few of them do."""

from __future__ import annotations

import random

import pytest

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import AclBinding, AuthorizerSettings, Delta, ResourceType
from aclweb.acl.simulate import (
    Impact,
    Names,
    described,
    plain,
    simulate,
    trimmed,
    where,
    which,
    which_of,
    who,
)
from aclweb.acl.simulate.axes import NameAxis, TextAxis
from aclweb.acl.simulate.describing import describe
from aclweb.acl.simulate.sets import places_in, set_of
from tests.acl import test_whatif
from tests.builders import allow, deny
from tests.each import each
from tests.random_cases import SCALE

TOPICS = tuple(f"{team}.{number}" for team in ("orders", "payments") for number in range(10))


def said(acls: list[AclBinding], *delta: AclBinding, names: Names | None = None) -> list[str]:
    """Return the groups of adding these ACLs, each as one line."""
    names = names or Names(topics=TOPICS)
    impact = simulate(Delta(add=delta), AclIndex(acls), names, merge_equal_hosts=True, met_only=True)
    return [line(trimmed(impact), place) for place in range(len(impact.groups))]


def line(impact: Impact, place: int) -> str:
    group = impact.groups[place]
    words = [
        group.change,
        plain(who(impact.axes.principals, group.principals)),
        ", ".join(operation.pascal for operation in group.operations),
        plain(which(described(impact, group))),
        plain(where(impact.axes.hosts, group.hosts, reason=group.reason)),
    ]
    return " | ".join(filter(None, words))


def test_an_acl_for_a_prefix_is_said_as_it_was_written() -> None:
    assert said([], allow("User:etl", "READ", "payments.", pattern="PREFIXED")) == [
        "gains | User:etl | Read, Describe | every topic that starts with 'payments.' (10 now, and all to come)"
    ]


def test_names_that_were_allowed_before_are_excepted() -> None:
    own = [allow("User:etl", "READ", f"payments.{number}") for number in range(2)]
    assert said(own, allow("User:etl", "READ", "payments.", pattern="PREFIXED")) == [
        "gains | User:etl | Read, Describe | every topic that starts with 'payments.' "
        "(8 now, and all to come), except payments.0 and payments.1"
    ]


def test_names_to_come_that_were_allowed_before_are_excepted_by_their_beginning() -> None:
    own = [allow("User:etl", "READ", "payments.", pattern="PREFIXED")]
    assert said(own, allow("User:etl", "READ", "*")) == [
        "gains | User:etl | Read, Describe | every topic (10 now, and all to come), "
        "except those that start with 'payments.'"
    ]


def test_where_most_names_were_allowed_before_the_few_others_are_said() -> None:
    own = [allow("User:etl", "READ", name) for name in TOPICS[:-2]]
    assert said(own, allow("User:etl", "READ", "*")) == [
        "gains | User:etl | Read, Describe | every topic to come, and payments.8 and payments.9"
    ]


def test_what_a_range_gives_is_said_in_one_row() -> None:
    ranged = allow("User:a", "READ", "orders", host="10.0.0.0/8")
    named = allow("User:a", "READ", "orders", host="192.168.0.1")

    for own in ([], [named]):
        assert said(own, ranged) == ["gains | User:a | Read, Describe | orders | from 10.0.0.0/8"]


def test_ranges_in_one_another_are_rows_of_addresses_that_they_do_not_share() -> None:
    inner = deny("User:a", "READ", "orders", host="10.1.0.0/16")
    outer = allow("User:a", "READ", "orders", host="10.0.0.0/8")

    assert said([inner], outer) == [
        "gains | User:a | Read | orders | from 10.0.0.0/8",
        "gains | User:a | Describe | orders | from 10.0.0.0/8 and 10.1.0.0/16",
    ]


def test_what_an_older_version_said_to_depend_on_a_range_is_not_said_to_be_outside() -> None:
    axis = TextAxis(("10.0.0.0/8", "192.168.0.1"))
    reason = "It depends on whether the address lies in 10.0.0.0/8 (DENIED before, ALLOWED after)"

    assert plain(where(axis, axis.others, reason=reason)) == "from anywhere but 192.168.0.1"
    assert plain(where(TextAxis(("10.0.0.0/8",)), 2, reason=reason)) == "from an address that no ACL names"


def test_everyone_comes_first_less_those_who_could_already() -> None:
    own = [allow(f"User:{name}", "READ", "*") for name in ("ada", "bob", "eve", "joe")]
    assert said(own, allow("User:*", "READ", "*")) == [
        "gains | Everyone but User:ada, User:bob, User:eve and 1 more principal | Read, Describe | "
        "every topic (20 now, and all to come)"
    ]


def test_hosts_the_cluster_and_groups_are_said_in_words() -> None:
    assert said([], allow("User:a", "ALTER", "kafka-cluster", resource_type="CLUSTER", host="10.0.0.7")) == [
        "gains | User:a | Alter, Describe | the cluster | from 10.0.0.7"
    ]
    denied = deny("User:a", "READ", "g", resource_type="GROUP", host="10.0.0.7")
    assert said([denied], allow("User:a", "READ", "g", resource_type="GROUP")) == [
        "gains | User:a | Read | group g | from anywhere but 10.0.0.7",
        "gains | User:a | Describe | group g",
    ]
    assert said(
        [], allow("User:*", "DELETE", "*", resource_type="GROUP"), names=Names(groups=("a", "b"))
    ) == [
        "gains | Everyone | Describe, Delete | every group (2 now, and all to come), "
        "except other names that start with *"
    ]


def test_of_many_prefixes_the_first_are_said_and_the_others_counted() -> None:
    topics = tuple(f"team{number}.orders" for number in range(300))
    delta = Delta(
        add=tuple(allow("User:a", "READ", f"team{number}.", pattern="PREFIXED") for number in range(300))
    )
    impact = simulate(
        delta, AclIndex([]), Names(topics=topics), AuthorizerSettings(allow_everyone=True), met_only=True
    )
    losing = max(impact.groups, key=lambda group: group.names.bit_count())
    said = (
        "every topic that starts with 'team0.' (1 now, and all to come), every topic that starts with 'team1.' "
        "(1 now, and all to come), every topic that starts with 'team2.' (1 now, and all to come), and those "
        "under 297 more prefixes"
    )
    assert plain(which(described(impact, losing))) == said
    assert impact.warnings == (
        f"These are the first ACLs on {said}: everyone may use them today, and from then on only those whom "
        "an ACL allows.",
    )


@each("seed", range(60 * SCALE))
def test_the_words_hold_for_exactly_the_names_of_each_group(seed: int) -> None:
    case = test_whatif.random_edit(60_000 + seed)
    for met_only in (False, True):
        impact = simulate(
            case.delta,
            AclIndex(case.before.bindings),
            case.names,
            case.before.settings,
            case.after.settings,
            merge_equal_hosts=True,
            met_only=met_only,
        )
        for told in (impact, trimmed(impact)):
            for group in told.groups:
                axis = told.axes.names[group.resource_type]
                words = described(told, group)
                met = axis.all & ~told.unmet.get(group.resource_type, 0)
                held = {axis.name_class(place) for place in places_in(met)}
                assert {each for each in held if words.covers(each)} == set(axis.classes(group.names))
                assert plain(which(words))


@each("seed", range(300 * SCALE))
def test_any_set_of_names_is_said_exactly(seed: int) -> None:
    rng = random.Random(f"names {seed}")
    texts = sorted({"".join(rng.choices("ab.", k=rng.randrange(1, 4))) for _ in range(rng.randrange(1, 12))})
    prefixes = sorted({"".join(rng.choices("ab.", k=rng.randrange(1, 3))) for _ in range(rng.randrange(5))})
    size = len(texts) + len(prefixes) + 1
    axis = NameAxis(texts, prefixes, (), has_any_other=True, given=rng.getrandbits(len(texts)))
    members = rng.getrandbits(size) | (rng.getrandbits(size) if rng.random() < 0.6 else 0)
    starts = tuple(rng.sample([*prefixes, ""], rng.randrange(len(prefixes) + 2)))

    words = describe(ResourceType.TOPIC, axis, members, starts)

    assert set_of(place for place in range(size) if words.covers(axis.name_class(place))) == members
    for region in words.regions:
        exact = axis.beginning_with(region.start) & axis.given & members
        assert region.existing == (0 if region.is_to_come else exact.bit_count())


def test_many_hosts_are_the_first_ones_and_how_many_more() -> None:
    add = [allow("User:a", "DELETE", "orders.1", host=f"10.0.0.{last}") for last in range(1, 6)]
    impact = simulate(Delta(add=tuple(add)), AclIndex(), Names(topics=TOPICS), met_only=True)
    of_all = set_of(places_in(impact.axes.hosts.all ^ impact.axes.hosts.others))

    assert plain(where(impact.axes.hosts, of_all)) == "from 10.0.0.1, 10.0.0.2, 10.0.0.3 and 2 more hosts"
    assert plain(where(impact.axes.hosts, of_all, 1)) == "from 10.0.0.1 and 4 more hosts"
    assert plain(where(impact.axes.hosts, impact.axes.hosts.others, 4)) == (
        "from anywhere but 10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4 and 1 more host"
    )


def test_what_is_called_something_in_the_cluster_is_a_name_and_the_rest_is_words() -> None:
    add = allow("User:a", "DELETE", "orders.", pattern="PREFIXED", host="10.0.0.7")
    impact = trimmed(simulate(Delta(add=(add,)), AclIndex(), Names(topics=TOPICS), merge_equal_hosts=True))
    group = impact.groups[0]
    phrases = (
        who(impact.axes.principals, group.principals),
        which(described(impact, group)),
        where(impact.axes.hosts, group.hosts),
    )

    assert [[piece.text for piece in phrase if piece.is_name] for phrase in phrases] == [
        ["User:a"],
        ["orders."],
        ["10.0.0.7"],
    ]
    assert plain(phrases[2]) == "from 10.0.0.7"


def test_classes_of_names_are_said_whatever_others_there_are() -> None:
    said = {
        "orders": [("EXACT", "orders")],
        "any other topic that starts with a-": [("PREFIX", "a-")],
        "any other topic": [("ANY_OTHER", "")],
        "a and b and any other topic that starts with a-": [("EXACT", "a"), ("EXACT", "b"), ("PREFIX", "a-")],
    }

    for words, classes in said.items():
        assert plain(which_of(ResourceType.TOPIC, classes)) == words
    assert plain(which_of(ResourceType.GROUP, [("EXACT", name) for name in "abcde"], 2)) == (
        "groups a, b and 3 more"
    )


def test_an_edit_of_settings_alone_is_said_of_every_name() -> None:
    impact = simulate(
        Delta(),
        AclIndex([allow("User:a", "READ", "orders.1")]),
        Names(topics=("orders.1", "orders.2")),
        AuthorizerSettings(),
        AuthorizerSettings(allow_everyone=True),
        merge_equal_hosts=True,
    )

    (said_of_topics,) = {
        plain(which(described(impact, group)))
        for group in impact.groups
        if group.resource_type is ResourceType.TOPIC
    }
    assert said_of_topics == "every topic (1 now, and all to come), except orders.1"


def test_names_that_nobody_can_have_are_counted_where_all_classes_are_told() -> None:
    own = [allow("User:etl", "READ", "orders.0")]
    add = allow("User:etl", "READ", "orders.", pattern="PREFIXED")
    impact = simulate(Delta(add=(add,)), AclIndex(own), Names(topics=TOPICS), merge_equal_hosts=True)

    words = "every topic that starts with 'orders.' (9 now, and all to come), except orders.0"
    for told in (impact, trimmed(impact)):
        (group,) = told.groups
        assert plain(which(described(told, group))) == words


def test_what_is_excepted_is_quoted_and_patterns_are_called_patterns() -> None:
    axis = NameAxis(["a b", "c"], ["d"], ["x*"], has_any_other=True, given=0b11)
    members = axis.all & ~set_of([0, axis.first_pattern])

    words = which(describe(ResourceType.GROUP, axis, members, ("",)))

    assert [piece.text for piece in words if piece.is_name] == ["a b", "x*"]
    assert plain(words).endswith(", except 'a b' and names that match x*")


def test_a_prefix_of_no_name_that_exists_says_so() -> None:
    assert said([], allow("User:etl", "DELETE", "absent.", pattern="PREFIXED")) == [
        "gains | User:etl | Describe, Delete | every topic that starts with 'absent.' (none known now, and all to come)"
    ]


@pytest.mark.parametrize(("count", "rest"), [(3, ""), (4, "1 more prefix"), (5, "2 more prefixes")])
def test_many_prefixes_are_the_first_ones_and_how_many_more(count: int, rest: str) -> None:
    starts = tuple(f"p{place}." for place in range(count))
    axis = NameAxis([], starts, (), has_any_other=True, given=0)

    line = plain(which(describe(ResourceType.TOPIC, axis, set_of(range(count)), starts)))

    assert line.count("every topic that starts with ") == 3
    assert line.endswith(f", and those under {rest}" if rest else "'p2.' (none known now, and all to come)")
