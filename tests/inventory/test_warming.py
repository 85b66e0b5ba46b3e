from aclweb.inventory import current
from aclweb.inventory.sync import sync
from aclweb.inventory.warming import warm
from tests.builders import allow
from tests.inventory.readings import Answers


def test_what_is_in_force_is_prepared_before_anybody_asks(cluster, monkeypatch):
    sync(cluster, client=Answers([allow("User:bob", "READ", "orders")]))
    current.forget()

    warm({})

    monkeypatch.setattr(current, "_build", None)  # would fail if anything were built now
    holdings = current.in_force(cluster).holdings
    assert {"names", "in_reading_order", "_named_by"} <= holdings.__dict__.keys()
    assert {"_shelves", "_tables"} <= holdings.index.__dict__.keys()


def test_only_a_newer_revision_is_prepared_anew(cluster, monkeypatch):
    prepared = []
    monkeypatch.setattr(current.Holdings, "prepare", lambda holdings: prepared.append(holdings))
    sync(cluster, client=Answers([allow("User:bob", "READ", "orders")]))
    held = warm({})

    held = warm(held)
    sync(cluster, client=Answers([allow("User:cat", "READ", "orders")]))
    held = warm(held)

    assert [len(holdings.index) for holdings in prepared] == [1, 1]
    assert prepared[1] is held[cluster.pk] is current.in_force(cluster).holdings
