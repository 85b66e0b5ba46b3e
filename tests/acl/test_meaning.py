"""What one impact means beyond another: which answers of which sessions, on which names."""

from __future__ import annotations

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import AclBinding, Delta
from aclweb.acl.simulate import Names, meaning_of, simulate
from aclweb.acl.simulate.meaning import Answer, Difference, Meaning
from tests.builders import allow, deny

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
