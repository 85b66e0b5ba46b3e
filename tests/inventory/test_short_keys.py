"""Which ACLs have a key that begins so?"""

from __future__ import annotations

import pytest

from aclweb.acl.notation import binding_key
from aclweb.inventory import lists
from aclweb.inventory.lists import short_keys
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

ACLS = [allow("User:bob", "READ", f"orders.{number}") for number in range(60)]


@pytest.fixture
def synced(cluster):
    sync(cluster, client=Answers(ACLS))
    cluster.refresh_from_db()
    return cluster


def test_whole_keys_and_their_beginnings_find_their_acls(synced):
    keys = [binding_key(ACLS[0]), binding_key(ACLS[1])[:16], "0" * 16, "x", binding_key(ACLS[2])[:17]]

    assert lists.acls_of_short_keys(synced, keys) == {ACLS[0], ACLS[1]}


def test_what_is_no_longer_in_force_is_not_found(synced):
    sync(synced, client=Answers(ACLS[1:]))
    synced.refresh_from_db()

    found = lists.acls_of_short_keys(synced, [binding_key(acl)[:16] for acl in ACLS])

    assert found == set(ACLS[1:])


def test_a_beginning_that_two_acls_have_finds_neither(synced, monkeypatch):
    monkeypatch.setattr(short_keys, "SHORT", 1)
    begun = {}
    for acl in ACLS:
        begun.setdefault(binding_key(acl)[0], []).append(acl)
    several = next(letter for letter, acls in begun.items() if len(acls) > 1)

    assert lists.acls_of_short_keys(synced, [several]) == frozenset()
    assert lists.acls_of_short_keys(synced, [binding_key(begun[several][0])]) == {begun[several][0]}
