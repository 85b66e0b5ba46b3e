"""The ACLs after an edit are those that can match the same names, found without looking at every other ACL."""

from __future__ import annotations

import random
import time

import pytest

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.matching import covers_name
from aclweb.acl.model import AuthorizerSettings, Delta
from aclweb.changes.acls_after import MOST_KEPT, PRINCIPALS, RESOURCES, acls_after
from tests.builders import allow, deny

SETTINGS = AuthorizerSettings()
TEXTS = ("a", "ab", "abc", "abd", "b", "ba", "*")
# Any name that one of these patterns matches, and no other one tells from these.
NAMES = [one + more for one in (*TEXTS, "x") for more in ("", "a", "z", "bq")]


def some(chance: random.Random):
    pattern = chance.choice(("LITERAL", "PREFIXED"))
    name = chance.choice(TEXTS)
    pattern = "LITERAL" if name == "*" else pattern
    made = chance.choice((allow, deny))
    kind = chance.choice(("TOPIC", "TOPIC", "GROUP"))
    return made(f"User:{chance.choice('pqr')}", "READ", name, pattern=pattern, resource_type=kind)


@pytest.mark.half
@pytest.mark.parametrize("seed", range(60))
def test_they_are_those_that_match_a_name_which_the_edit_matches(seed):
    chance = random.Random(seed)
    there = list(dict.fromkeys(some(chance) for _ in range(25)))
    new = some(chance)
    delta = Delta(add=() if new in there else (new,), remove=(there[0],))
    edited = (*delta.add, *delta.remove)

    found = acls_after(AclIndex(there), SETTINGS, delta, of=RESOURCES)

    def meets(binding) -> bool:
        return any(
            binding.resource_type is own.resource_type
            and any(
                covers_name(binding.pattern, name, SETTINGS) and covers_name(own.pattern, name, SETTINGS)
                for name in NAMES
            )
            for own in edited
        )

    by_state = {
        state: {row.binding for row in found.rows if row.state == state}
        for state in ("removed", "added", "kept")
    }
    assert by_state == {
        "removed": {there[0]},
        "added": set(delta.add),
        "kept": {binding for binding in there if binding != there[0] and meets(binding)},
    }
    assert len(found.rows) == found.removed + found.added + found.kept
    assert not found.is_cut


def test_those_of_its_principals_are_asked_for_instead():
    kept, other = allow("User:bob", "READ", "stock"), allow("User:eve", "READ", "orders")
    gone = allow("User:bob", "WRITE", "orders")
    edit = Delta(remove=(gone, allow("User:bob", "READ", "never-there")))

    found = acls_after(AclIndex([kept, other, gone]), SETTINGS, edit, of=PRINCIPALS)

    assert [(row.state, row.binding) for row in found.rows] == [("removed", gone), ("kept", kept)]


def test_of_many_acls_those_of_one_topic_are_found_at_once_and_a_list_ends():
    index = AclIndex([allow(f"User:u-{n % 997}", "READ", f"topic-{n}") for n in range(20_000)])
    index.shelf(allow("User:a", "READ", "topic").resource_type).bindings  # noqa: B018 - filed, as on the site
    one = Delta(add=(deny("User:*", "READ", "topic-77"),))
    every = Delta(add=(deny("User:*", "READ", "*"),))

    begun = time.process_time()
    found = acls_after(index, SETTINGS, one, of=RESOURCES)
    took = time.process_time() - begun
    whole = acls_after(index, SETTINGS, every, of=RESOURCES)

    assert (found.kept, found.added) == (1, 1)
    assert took < 0.02
    assert (whole.kept, whole.is_cut, len(whole.rows)) == (MOST_KEPT, True, MOST_KEPT + 1)
