"""What an impact warns of is said of two clusters in words that name the side, since nobody edits one of them."""

from __future__ import annotations

import pytest

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import AuthorizerSettings, Delta
from aclweb.acl.simulate import Names, said_of_two, simulate
from tests.builders import allow

SIDES = ("prod-eu", "edge-eu")
OURS = allow("User:ada", "READ", "orders")
CLOSED, OPEN = AuthorizerSettings(), AuthorizerSettings(allow_everyone=True)
UNDECLARED = AuthorizerSettings(undeclared=frozenset({"allow_everyone"}))


@pytest.mark.parametrize(
    ("delta", "settings", "said"),
    [
        (
            Delta(remove=(OURS,)),
            CLOSED,
            "Only prod-eu has ACLs on topic orders. On edge-eu, only super users may use it.",
        ),
        (
            Delta(remove=(OURS,)),
            OPEN,
            "Only prod-eu has ACLs on topic orders. On edge-eu, everyone may use it.",
        ),
        (
            Delta(remove=(OURS,)),
            UNDECLARED,
            "Only prod-eu has ACLs on topic orders. On edge-eu, if this cluster allows everyone where no ACL exists, "
            "which nobody has declared, everyone may use it.",
        ),
        (
            Delta(add=(OURS,)),
            OPEN,
            "Only edge-eu has ACLs on topic orders, and only those whom one allows may use it there. "
            "On prod-eu, everyone may use it.",
        ),
    ],
)
def test_first_and_last_acls_are_those_of_a_side(delta, settings, said):
    impact = simulate(delta, AclIndex(delta.remove), Names(topics=("orders",)), settings)

    assert said in [said_of_two(each, *SIDES) for each in impact.warnings], impact.warnings


def test_any_other_warning_says_of_which_side_it_is():
    assert said_of_two("Something is odd.", *SIDES) == (
        "If prod-eu had the ACLs and settings of edge-eu: Something is odd."
    )
