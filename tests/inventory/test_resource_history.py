"""Which revisions added or removed ACLs that match a resource, told from what each revision held as a whole."""

from __future__ import annotations

import pytest

from aclweb.acl.model.vocabulary import Resource, ResourceType
from aclweb.inventory.current import in_force, moment_of
from aclweb.inventory.lists import history_of
from aclweb.inventory.lists import resource_history as module
from aclweb.inventory.models import Revision
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers

NAMES = ("orders.eu", "Orders.eu", "orders_eu", "*x", "*", "a\\b", "a\\\\b", "nul\0end", "%", "")
PATTERNS = [
    allow("User:a", "READ", "orders.", pattern="PREFIXED"),
    allow("User:a", "READ", "orders_", pattern="PREFIXED"),
    allow("User:b", "READ", "ORDERS.", pattern="PREFIXED"),
    allow("User:a", "READ", "orders.eu"),
    allow("User:a", "READ", "*"),
    allow("User:a", "READ", "*", pattern="PREFIXED"),
    deny("User:a", "WRITE", "a\\", pattern="PREFIXED"),
    allow("User:a", "READ", "a\\b"),
    allow("User:a", "READ", "nul\0", pattern="PREFIXED"),
    allow("User:a", "READ", "", pattern="PREFIXED"),
    allow("User:a", "READ", "%", pattern="PREFIXED"),
    allow("User:g", "READ", "orders.eu", resource_type="GROUP"),
]
# Which of these each revision holds.
HELD = (range(0, 12, 2), range(12), (0, 3, 4, 11), (3, 5, 6, 7, 8, 9, 10), range(12))


@pytest.fixture
def changed(cluster):
    for places in HELD:
        sync(cluster, client=Answers([PATTERNS[place] for place in places]))
    cluster.refresh_from_db()
    return cluster


def by_whole_revisions(cluster, resource, until):
    """Compare what each revision held with the one before, the slow way."""
    found, before = [], frozenset()
    for revision in Revision.objects.filter(cluster=cluster, number__lte=until).order_by("number"):
        then = in_force(cluster, moment_of(revision))
        settings = in_force(cluster).settings
        held = frozenset(then.index.affecting(resource, settings))
        if held != before:
            found.append((revision.number, held - before, before - held))
        before = held
    return found[::-1]


@pytest.mark.parametrize(("authorizer", "most_keys"), [("standard", 2_000), ("acl", 2_000), ("standard", 0)])
def test_it_is_the_difference_of_each_revision_from_the_one_before(
    changed, authorizer, most_keys, monkeypatch
):
    monkeypatch.setattr(module, "_MOST_KEYS", most_keys)
    changed.authorizer = authorizer
    changed.save()
    kinds = 0
    for name in NAMES:
        resource = Resource(ResourceType.TOPIC, name)
        wanted = by_whole_revisions(changed, resource, until=5)
        found = history_of(in_force(changed), resource)

        assert [
            (row.revision.number, set(row.acls_added), set(row.acls_removed)) for row in found
        ] == wanted, name
        assert [(row.added, row.removed) for row in found] == [(len(a), len(r)) for _, a, r in wanted]
        kinds += len(wanted) > 1
    assert kinds >= 6


def test_of_the_past_it_ends_with_the_revision_then(changed):
    then = moment_of(Revision.objects.get(cluster=changed, number=3))
    resource = Resource(ResourceType.TOPIC, "orders.eu")

    assert [row.revision.number for row in history_of(in_force(changed, then), resource)] == [3, 2, 1]


def test_of_many_acls_the_first_are_listed_and_all_are_counted(changed, monkeypatch):
    monkeypatch.setattr(module, "ACLS_SHOWN", 2)
    acls = [allow(f"User:{number}", "READ", "stock") for number in range(5)]
    sync(changed, client=Answers([*acls, deny("User:z", "READ", "*")]))
    changed.refresh_from_db()

    row = history_of(in_force(changed), Resource(ResourceType.TOPIC, "stock"))[0]

    assert (row.added, len(row.acls_added), row.acls_added[0].is_deny) == (6, 2, True)
    assert row.more == row.added + row.removed - 2 - len(row.acls_removed)


def test_what_a_sync_is_still_storing_is_no_part_of_it(changed):
    staged = Revision.including_unpublished.create(
        cluster=changed,
        number=6,
        read_at=changed.read_at,
        acls=0,
        acls_added=0,
        acls_removed=1,
        published=False,
    )
    changed.acls.filter(removed_in=None).update(removed_in=staged)

    found = history_of(in_force(changed), Resource(ResourceType.TOPIC, "orders.eu"))

    assert [row.revision.number for row in found] == [5, 4, 3, 2, 1]


def test_pages_cost_as_few_queries_for_many_revisions_as_for_few(changed, django_assert_num_queries):
    view, resource = in_force(changed), Resource(ResourceType.TOPIC, "orders.eu")

    with django_assert_num_queries(4):
        assert len(history_of(view, resource)[:2]) == 2
    with django_assert_num_queries(4):
        assert len(history_of(view, resource)[:5]) == 5
