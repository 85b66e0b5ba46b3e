"""The columns of a large cluster's ACLs say what its rows do, and rows are read where columns cannot be."""

from __future__ import annotations

import logging
import random
from contextlib import contextmanager

import pytest
from django.db import DatabaseError
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from aclweb.acl.authorizer import AclColumns, columns_from_bytes, columns_to_bytes
from aclweb.inventory import tasks
from aclweb.inventory.current import loading_acls
from aclweb.inventory.current import view as current
from aclweb.inventory.current.view import in_force
from aclweb.inventory.models import Cluster, Revision, StoredColumns
from aclweb.inventory.store import columns as storing
from aclweb.inventory.sync import run as syncing
from tests.builders import acl, allow
from tests.inventory.answering_cluster import Answers, topics

pytestmark = pytest.mark.django_db

HOSTILE = ("a\0b", "a\\b", "\ud800", "", "\\u0000", "*", "é", "\U0001f600", "a\nb", "plain")
ACLS = [
    acl("DENY" if number % 3 == 0 else "ALLOW", f"User:{name}", "READ", name, pattern=pattern, host=name)
    for number, name in enumerate(HOSTILE)
    for pattern in ("LITERAL", "PREFIXED")
]


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr(loading_acls, "_MANY", 3)
    monkeypatch.setattr(loading_acls, "_ONE_IN", 1)
    monkeypatch.setattr(storing, "_BYTES_AT_ONCE", 100)
    monkeypatch.setattr(storing, "_FEW", 0)
    current.forget()
    yield
    current.forget()


def test_they_are_what_the_rows_are_and_no_row_is_read(cluster):
    synced(cluster, Answers(ACLS))
    of_rows = loading_acls.acls_of_rows(cluster, cluster.revision)

    with CaptureQueriesContext(database) as queries:
        index = in_force(cluster).index

    assert not any("inventory_storedacl" in query["sql"] for query in queries)
    assert StoredColumns.objects.count() > 3
    assert list(index) == list(of_rows.bindings())
    assert set(index) == set(ACLS)


def test_those_of_the_newest_revision_alone_stay(cluster):
    synced(cluster, Answers(ACLS))
    first = set(StoredColumns.objects.values_list("pk", flat=True))
    synced(cluster, Answers(ACLS))
    synced(cluster, Answers(ACLS, topics("t")))
    assert set(StoredColumns.objects.values_list("pk", flat=True)) == first

    synced(cluster, Answers(ACLS[1:]))

    cluster.refresh_from_db()
    assert set(StoredColumns.objects.values_list("revision", flat=True)) == {cluster.revision_id}
    assert set(in_force(cluster).index) == set(ACLS[1:])


def test_of_a_cluster_that_has_few_acls_now_none_stay(cluster):
    synced(cluster, Answers(ACLS))
    assert StoredColumns.objects.exists()

    synced(cluster, Answers(ACLS[:2]))

    assert not StoredColumns.objects.exists()
    assert set(in_force(cluster).index) == set(ACLS[:2])


def test_of_a_cluster_with_few_acls_none_are_stored_or_looked_for(cluster):
    with CaptureQueriesContext(database) as queries:
        synced(cluster, Answers(ACLS[:2]))
        assert set(in_force(cluster).index) == set(ACLS[:2])

    assert not any("storedcolumns" in query["sql"] for query in queries)


@pytest.mark.parametrize("harm", ["none", "first part", "a part", "cut", "turned", "layout", "other ACLs"])
def test_rows_are_read_where_they_are_not_whole(cluster, caplog, harm):
    synced(cluster, Answers(ACLS))
    parts = StoredColumns.objects.order_by("part")
    if harm == "none":
        parts.delete()
    elif harm == "first part":
        parts.filter(part=0).delete()
    elif harm == "a part":
        parts.filter(part=2).delete()
    elif harm == "other ACLs":
        rewrite(columns_to_bytes(AclColumns.of(ACLS[1:])))
    else:
        whole = b"".join(bytes(part.content) for part in parts)
        middle = len(whole) - 30
        turned = whole[:middle] + bytes([whole[middle] ^ 8]) + whole[middle + 1 :]
        rewrite(
            {"cut": whole[:-1], "turned": turned, "layout": whole.replace(b'"layout": 2', b'"layout": 9')}[
                harm
            ]
        )
    current.forget()

    with caplog.at_level(logging.WARNING):
        index = in_force(cluster).index

    assert set(index) == set(ACLS)
    assert bool(caplog.messages) == (harm not in ("none", "first part"))


@pytest.mark.parametrize("missing", [0, 2])
def test_what_was_left_half_done_is_stored_anew(cluster, missing):
    synced(cluster, Answers(ACLS))
    StoredColumns.objects.filter(part=missing).delete()

    synced(cluster, Answers(ACLS))

    assert StoredColumns.objects.filter(part=missing).exists()
    assert set(in_force(cluster).index) == set(ACLS)


def test_a_sync_succeeds_where_they_cannot_be_stored(cluster, monkeypatch, caplog):
    def fail(*_):
        raise DatabaseError("disk full")

    monkeypatch.setattr(storing, "_store", fail)

    synced(cluster, Answers(ACLS))

    assert cluster.revision.number == 1
    assert "were not stored" in caplog.text
    assert set(in_force(cluster).index) == set(ACLS)


@pytest.mark.parametrize("few", [0, 4, 1_000])
@pytest.mark.parametrize("seed", range(4))
def test_after_each_of_many_edits_they_are_what_the_rows_are(cluster, monkeypatch, seed, few):
    monkeypatch.setattr(storing, "_FEW", few)
    chance = random.Random(seed)
    acls = [*ACLS, *(allow(f"User:{number}", "READ", f"t{number % 5}") for number in range(20))]
    there = set(ACLS)

    for step in range(12):
        kind = chance.choice(("add", "remove", "both", "names", "nothing"))
        others = [each for each in acls if each not in there]
        gone = chance.sample(sorted(there, key=str), 2) if kind in ("remove", "both") else []
        come = chance.sample(others, min(3, len(others))) if kind in ("add", "both") else []
        there = (there - set(gone)) | set(come)
        order = sorted(there, key=str)
        chance.shuffle(order)
        synced(cluster, Answers(order, topics(f"t{step}") if kind == "names" else ()))
        if chance.random() < 0.5:
            current.forget()
        then = chance.choice(Revision.objects.filter(cluster=cluster))

        for view in (in_force(cluster), in_force(cluster, current.Moment(then))):
            assert list(view.index) == list(loading_acls.acls_of_rows(cluster, view.revision).bindings())
        assert set(in_force(cluster).index) == there


@pytest.mark.parametrize("in_memory", [True, False])
def test_after_an_edit_only_the_rows_that_differ_are_read(cluster, monkeypatch, in_memory):
    monkeypatch.setattr(storing, "_FEW", 10)
    synced(cluster, Answers(ACLS))
    kept = set(StoredColumns.objects.values_list("pk", flat=True))
    in_force(cluster)
    new = allow("User:new", "READ", "new")
    synced(cluster, Answers([*ACLS[1:], new]))
    if not in_memory:
        current.forget()
    monkeypatch.setattr(loading_acls, "acls_of_rows", None)

    index = in_force(cluster).index

    assert set(index) == {*ACLS[1:], new}
    assert list(index)[-1] == new
    assert set(StoredColumns.objects.values_list("pk", flat=True)) == kept


def test_after_a_large_edit_rows_are_read(cluster, monkeypatch):
    monkeypatch.setattr(storing, "_FEW", 1_000)
    synced(cluster, Answers(ACLS))
    in_force(cluster)
    monkeypatch.setattr(loading_acls, "_ONE_IN", 4)
    monkeypatch.setattr(loading_acls, "columns_after", None)

    synced(cluster, Answers(ACLS[8:]))

    assert set(in_force(cluster).index) == set(ACLS[8:])
    assert set(StoredColumns.objects.values_list("revision", flat=True)) == {cluster.revision_id}


def test_columns_of_a_database_that_was_restored_are_not_those_of_its_revision(cluster):
    synced(cluster, Answers(ACLS))
    in_force(cluster)
    synced(cluster, Answers(ACLS[1:]))
    first = Revision.objects.get(number=1)
    then = Revision(pk=first.pk, read_at=first.read_at, digest="of others", acls=first.acls)

    assert loading_acls.rows_between(cluster, first, cluster.revision) == 1
    assert loading_acls.rows_between(cluster, then, cluster.revision) is None
    other = loading_acls.Held(then, AclColumns.of(ACLS))
    assert loading_acls.acls_near(cluster, other, cluster.revision) is None


def test_columns_into_which_the_rows_do_not_fit_are_not_read(cluster, monkeypatch, caplog):
    monkeypatch.setattr(storing, "_FEW", 10)
    synced(cluster, Answers(ACLS))
    synced(cluster, Answers(ACLS[1:]))
    StoredColumns.objects.update(revision=cluster.revision)
    synced(cluster, Answers(ACLS[2:]))
    current.forget()

    with caplog.at_level(logging.WARNING):
        index = in_force(cluster).index

    assert list(index) == ACLS[2:]
    assert "not read, but its rows" in caplog.text


def test_an_earlier_revision_is_as_it_was(cluster):
    synced(cluster, Answers(ACLS))
    first = Revision.objects.get(number=1)
    synced(cluster, Answers([*ACLS[2:], allow("User:new", "READ", "new")]))

    then = in_force(Cluster.objects.get(pk=cluster.pk), current.Moment(first))

    assert set(then.index) == set(ACLS)


def test_no_acls_are_columns_too():
    assert len(columns_from_bytes(columns_to_bytes(AclColumns.of([])))) == 0


@pytest.mark.parametrize("content", [b"", b"\n", b"[]\n", b"{}\n", b'{"layout": 2}\n', b"x\ny"])
def test_other_bytes_are_refused(content):
    with pytest.raises(ValueError):
        columns_from_bytes(content)


def synced(cluster: Cluster, answers: Answers) -> None:
    """Have a worker sync the cluster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(syncing, "connect", lambda connection: answers)
        tasks.sync_cluster(cluster.pk)
    cluster.refresh_from_db(from_queryset=Cluster.objects.select_related("revision"))


def rewrite(content: bytes) -> None:
    first = StoredColumns.objects.filter(part=0).get()
    StoredColumns.objects.exclude(pk=first.pk).delete()
    first.content = content
    first.save()


def test_all_acls_are_made_as_what_lasts_whoever_asks_for_them_first(cluster, monkeypatch):
    lasting: list[int] = []

    @contextmanager
    def making(objects: int):
        lasting.append(objects)
        yield

    synced(cluster, Answers(ACLS))
    current.forget()
    monkeypatch.setattr(loading_acls.loading, "making_what_lasts", making)
    index = in_force(cluster).index
    lasting.clear()

    assert set(index) == set(ACLS)
    assert list(index.bindings) == list(index)
    assert lasting == [len(ACLS)]


def test_the_newest_revision_stays_in_memory_while_earlier_ones_share_its_acls(cluster, settings):
    settings.ACLWEB_ACLS_IN_MEMORY = 10
    synced(cluster, Answers(ACLS))
    synced(cluster, Answers(ACLS[1:]))
    first = current.Moment(Revision.objects.get(number=1))
    newest = in_force(cluster)
    assert len(newest.index.bindings) == len(ACLS) - 1

    then = in_force(cluster, first)

    assert in_force(cluster).loaded is newest.loaded
    again = in_force(cluster, first)
    assert {id(each) for each in newest.index} <= {id(each) for each in again.index}
    assert list(then.index) == ACLS


def test_an_index_that_two_revisions_have_is_counted_once(cluster, other_cluster, settings):
    settings.ACLWEB_ACLS_IN_MEMORY = len(ACLS) + 10
    synced(other_cluster, Answers(ACLS[:2]))
    synced(cluster, Answers(ACLS))
    synced(cluster, Answers(ACLS, topics("t")))
    assert len(in_force(cluster).index.bindings) == len(ACLS)
    others = in_force(other_cluster)

    first = in_force(cluster, current.Moment(Revision.objects.get(cluster=cluster, number=1)))

    assert first.index is in_force(cluster).index
    assert in_force(other_cluster).loaded is others.loaded


def test_an_earlier_revision_goes_with_the_newest_one_whose_acls_it_shares(cluster, other_cluster, settings):
    settings.ACLWEB_ACLS_IN_MEMORY = 22
    synced(other_cluster, Answers(ACLS[:2]))
    synced(cluster, Answers(ACLS))
    synced(cluster, Answers(ACLS[1:]))
    newest = in_force(cluster)
    in_force(cluster, current.Moment(Revision.objects.get(cluster=cluster, number=1)))
    assert len(current._past) == 1

    in_force(other_cluster)

    assert set(current._now) == {other_cluster.pk}
    assert not current._past
    assert in_force(cluster).loaded is not newest.loaded
