import threading
import time

import pytest

from aclweb.acl.authorizer.column_index import ColumnIndex
from aclweb.acl.authorizer.columns import AclColumns
from aclweb.acl.model import ResourceType
from aclweb.inventory.current import view as current
from aclweb.inventory.current import warming
from aclweb.inventory.current.warming import warm
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers


@pytest.fixture(autouse=True)
def nothing_in_memory():
    current.forget()
    yield
    current.forget()


def test_a_newer_revision_of_a_cluster_in_use_is_prepared_before_anybody_asks(cluster, monkeypatch):
    current.in_force(cluster)
    sync(cluster, client=Answers([allow("User:bob", "READ", "orders")]))
    current.in_force(cluster)
    sync(cluster, client=Answers([allow("User:cat", "READ", "orders")]))

    warm({})

    monkeypatch.setattr(current, "_build", None)  # would fail if anything were built now
    loaded = current.in_force(cluster).loaded
    assert {"names", "in_reading_order"} <= loaded.__dict__.keys()
    assert {"count_by_principal", "denies_by_principal"} <= loaded.index.__dict__.keys()
    assert set(loaded.index._filed) == set(loaded.index._compiled) == {ResourceType.TOPIC.value}


def test_only_a_newer_revision_is_prepared_anew(cluster, monkeypatch):
    prepared = []

    def prepare(loaded):
        prepared.append(loaded)

    monkeypatch.setattr(current.LoadedRevision, "prepare", prepare)
    sync(cluster, client=Answers([allow("User:bob", "READ", "orders")]))
    current.in_force(cluster)
    held = warm({})

    held = warm(held)
    sync(cluster, client=Answers([allow("User:cat", "READ", "orders")]))
    held = warm(held)

    assert [len(loaded.index) for loaded in prepared] == [1, 1]
    assert prepared[1] is held[cluster.pk] is current.in_force(cluster).loaded


def test_what_depends_on_more_than_the_acls_is_asked_for_each_time(cluster):
    sync(cluster, client=Answers([allow("User:bob", "READ", "orders")]))
    current.in_force(cluster)
    once, each_time = [], []

    held = warm({}, once.append, beside=[each_time.append])
    warm(held, once.append, beside=[each_time.append])

    assert (len(once), len(each_time)) == (1, 2)


def test_clusters_that_nobody_opens_are_left_alone(cluster, other_cluster, monkeypatch):
    for each in (cluster, other_cluster):
        sync(each, client=Answers([allow("User:bob", "READ", "orders")]))
    current.forget()
    current.in_force(cluster)

    assert set(warm({})) == {cluster.pk}

    monkeypatch.setattr(warming, "_IN_USE_SECONDS", 0)
    time.sleep(0.01)
    assert warm({}) == {}


def test_what_was_let_go_of_while_others_are_prepared_is_not_built_again(db, settings):
    settings.ACLWEB_ACLS_IN_MEMORY = 250
    bindings = [allow("User:bob", "READ", f"t{number}") for number in range(100)]
    first, second, opened = (
        Cluster.objects.create(slug=f"c{number}", name=f"c{number}", kind="admin", address="127.0.0.1:1")
        for number in range(3)
    )
    for each in (second, first, opened):
        sync(each, client=Answers(bindings))
    for each in (second, first):
        current.in_force(each)

    held = warm({}, lambda _view: current.in_force(opened))

    assert set(held) == {first.pk}
    assert set(current._now) == {first.pk, opened.pk}


def test_nobody_is_pushed_out_by_what_nobody_asked_for(cluster, other_cluster, settings):
    settings.ACLWEB_ACLS_IN_MEMORY = 2
    for each in (cluster, other_cluster):
        sync(each, client=Answers([allow("User:bob", "READ", "orders")]))
    current.forget()
    current.in_force(cluster)

    current.in_force(other_cluster, asked=False)

    assert set(current._now) == {cluster.pk}


def test_memory_holds_no_more_than_it_may_and_lets_go_of_what_was_asked_for_first(db, settings):
    settings.ACLWEB_ACLS_IN_MEMORY = 250
    bindings = [allow("User:bob", "READ", f"t{number}") for number in range(100)]
    clusters = [
        Cluster.objects.create(slug=f"c{number}", name=f"c{number}", kind="admin", address="127.0.0.1:1")
        for number in range(20)
    ]
    for cluster in clusters:
        sync(cluster, client=Answers(bindings))
    for cluster in clusters:
        assert len(current.in_force(cluster).index) == 100
        assert sum(kept.loaded.weight for kept in current._now.values()) <= 250
    current.in_force(clusters[18])
    current.in_force(clusters[3])

    assert set(current._now) == {clusters[18].pk, clusters[3].pk}


def test_a_cluster_larger_than_memory_may_hold_is_shown_all_the_same(cluster, settings):
    settings.ACLWEB_ACLS_IN_MEMORY = 10
    sync(cluster, client=Answers([allow("User:bob", "READ", f"t{number}") for number in range(100)]))

    first, second = current.in_force(cluster), current.in_force(cluster)

    assert len(first.index) == 100
    assert second.loaded is first.loaded


def test_building_the_index_of_100_000_acls_lets_other_threads_go_on():
    gaps, done = [], threading.Event()

    def beat():
        before = time.process_time()
        while not done.wait(0.01):
            gaps.append(time.process_time() - before)
            before = time.process_time()

    beating = threading.Thread(target=beat)
    beating.start()
    rows = (
        (i, "TOPIC", f"team{i % 500}.topic-{i}", "LITERAL", f"User:u{i % 5000}", "*", "READ", "ALLOW")
        for i in range(100_000)
    )
    try:
        current.LoadedRevision(ColumnIndex(AclColumns.of_rows(rows)), (), (), "").prepare()
    finally:
        done.set()
        beating.join()

    # gunicorn kills a process whose main thread gets no turn for 60 s; here the longest is a fifth of a second of
    # computing, which is what a busy machine does not change.
    assert max(gaps) < 10
    assert len(gaps) > 5
