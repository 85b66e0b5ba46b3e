"""What one impact means beyond another: which answers of which sessions, on which names."""

from __future__ import annotations

from itertools import product

from aclweb.acl.authorizer import AclIndex, Result
from aclweb.acl.model import AclBinding, Delta
from aclweb.acl.simulate import Group, Impact, Names, apart, meaning_of, sessions_in, simulate, trimmed
from aclweb.acl.simulate.axes import TextAxis
from aclweb.acl.simulate.meaning import Answer, Difference, Meaning
from tests.acl import test_whatif
from tests.builders import allow, deny
from tests.random_cases import SCALE

DIFFER = ("gains", "loses", "depends")

GAINED = Answer("gains", "DELETE", "TOPIC", "DENIED", "ALLOWED")
NAMES = Names(topics=("t", "u"))


def means(*add: AclBinding, own: tuple[AclBinding, ...] = ()) -> Meaning:
    return meaning_of(simulate(Delta(add=add), AclIndex(own), NAMES, met_only=True), ("gains",))


def deleted(meaning: Meaning, less: Meaning) -> list[object]:
    """Return where a meaning has more of the right to delete: principals, hosts and names."""
    return [
        (principal, host, names)
        for (answer, principal, host), names in meaning.beyond(less)
        if answer == GAINED
    ]


def test_a_difference_names_the_answer_the_session_and_the_names():
    one, other = means(allow("User:a", "DELETE", "t"), allow("User:a", "DELETE", "u")), means()

    found = dict(one.beyond(other))

    assert found[Difference(GAINED, "User:a", "*")] == (("EXACT", "t"), ("EXACT", "u"))
    assert {answer.operation for answer, *_ in found} == {"DELETE", "DESCRIBE"}
    assert list(other.beyond(one)) == []


def test_a_host_without_answers_of_its_own_has_those_of_all_others():
    everywhere, here = (
        means(allow("User:a", "DELETE", "t")),
        means(allow("User:a", "DELETE", "t", host="10.0.0.7")),
    )

    assert deleted(everywhere, here) == [("User:a", "*", (("EXACT", "t"),))]
    assert deleted(here, everywhere) == []


def test_a_principal_without_answers_of_its_own_has_those_of_everybody():
    everybody, one = means(allow("User:*", "DELETE", "t")), means(allow("User:a", "DELETE", "t"))

    assert deleted(everybody, one) == [("*", "*", (("EXACT", "t"),))]
    assert deleted(one, everybody) == []


def test_who_is_denied_has_nothing_of_what_everybody_gains():
    but_b = means(allow("User:*", "DELETE", "t"), own=(deny("User:b", "DELETE", "t"),))
    everybody = means(allow("User:*", "DELETE", "t"))

    assert deleted(but_b, everybody) == []
    assert deleted(everybody, but_b) == [("User:b", "*", (("EXACT", "t"),))]


def test_groups_that_two_impacts_share_are_set_aside_and_nothing_else() -> None:
    shared = 0
    for seed in range(60 * SCALE):
        case = test_whatif.random_edit(70_000 + seed)
        one, other = (
            trimmed(simulate(case.delta, AclIndex(bindings), case.names, case.before.settings))
            for bindings in (case.before.bindings, case.before.bindings[1:])
        )
        ours, theirs = apart(one, other, DIFFER)
        shared += len(other.groups) - len(theirs.groups)
        assert cells(ours, other) - cells(theirs, one) == cells(one, other) - cells(other, one), seed
        assert cells(theirs, one) - cells(ours, other) == cells(other, one) - cells(one, other), seed
        assert {group.change for group in (*ours.groups, *theirs.groups)} <= set(DIFFER)
        assert apart(one, one, DIFFER)[0].groups == ()
    assert shared > 20 * SCALE


def cells(impact: Impact, beside: Impact) -> set[object]:
    """Return each answer of an impact for each session that either impact names, and for all others."""
    everyone, everywhere = (
        ["", *sorted({*one.texts, *other.texts})]
        for one, other in (
            (impact.axes.principals, beside.axes.principals),
            (impact.axes.hosts, beside.axes.hosts),
        )
    )
    return {
        (group.change, group.resource_type, operation, before_of(group), group.after.result, *who, name)
        for group in impact.groups
        if group.change in DIFFER
        for operation in group.operations
        for who in product(
            said(impact.axes.principals, group.principals, everyone),
            said(impact.axes.hosts, group.hosts, everywhere),
        )
        for name in impact.axes.names[group.resource_type].classes(group.names)
    }


def said(axis: TextAxis, members: int, texts: list[str]) -> list[str]:
    """Return which of these texts a set holds; the empty one is all that neither impact names."""
    is_rest, named = axis.described(members)
    return [text for text in texts if (text in named) is not is_rest]


def before_of(group: Group) -> Result | None:
    return None if group.before is None else group.before.result


def test_exceptions_are_counted_as_sessions_that_must_be_looked_at() -> None:
    own = tuple(allow(f"User:n{number}", "READ", "*") for number in range(50))
    everybody = simulate(Delta(add=(allow("User:*", "READ", "*"),)), AclIndex(own), NAMES, met_only=True)

    assert sessions_in(everybody) > 100  # fifty exceptions and all others, for Read and for Describe
    assert sessions_in(everybody) <= 51 * 2 * len(everybody.groups)
