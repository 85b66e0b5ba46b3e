"""What happened to the ACLs of a cluster in a week is counted by the database, however much it is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from aclweb.changes.week import DAYS, SHOWN, acl_week
from aclweb.inventory.models import Cluster, Revision

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.objects.create(slug="test-eu", name="test-eu", kind="file", address="none")


def read(
    cluster: Cluster, number: int, *, days_ago: int = 1, added: int = 1, removed: int = 0, **facts: str
) -> None:
    Revision.objects.create(
        cluster=cluster,
        number=number,
        read_at=timezone.now() - timedelta(days=days_ago),
        acls=number,
        acls_added=added,
        acls_removed=removed,
        digest="",
        **facts,
    )


def test_of_many_edits_made_elsewhere_some_are_brought_and_all_counted(cluster, monkeypatch):
    for number in range(1, 41):
        read(cluster, number, removed=2)
    made: list[int] = []
    from_db = Revision.from_db.__func__
    counted = classmethod(lambda cls, *row: made.append(1) or from_db(cls, *row))
    monkeypatch.setattr(Revision, "from_db", counted)

    found = acl_week(cluster, timezone.now())

    assert [each.number for each in found.elsewhere] == list(range(40, 40 - SHOWN, -1))
    assert (found.elsewhere_count, found.added, found.removed) == (39, 39, 78)
    assert found.first_read
    assert len(made) == SHOWN + 1


def test_what_is_older_or_ours_or_changed_no_acl_is_no_edit_made_elsewhere(cluster):
    read(cluster, 1, days_ago=DAYS + 2)
    read(cluster, 2, days_ago=DAYS + 1)
    read(cluster, 3, cause=Revision.Cause.OURS)
    read(cluster, 4, added=0)
    read(cluster, 5, added=3)

    found = acl_week(cluster, timezone.now())

    assert [each.number for each in found.elsewhere] == [5]
    assert (found.elsewhere_count, found.added, found.first_read) == (1, 3, False)


def test_a_week_without_a_revision_has_nothing(cluster):
    found = acl_week(cluster, timezone.now())

    assert (found.elsewhere, found.elsewhere_count, found.added, found.removed) == ((), 0, 0, 0)
    assert not found.first_read
