"""Can a migration of this room be taken back where its tables have rows, on each database?"""

from __future__ import annotations

import importlib
import shutil
import weakref
from collections.abc import Iterator
from datetime import UTC, date, datetime

import environ
import pytest
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from aclweb.insights.models import DenialGroup, LoggedRequest, Refresh, RequestDay, RequestTotals
from aclweb.inventory.models import Cluster, LogSource
from tests.servers_data import copy_of

pytestmark = pytest.mark.django_db

ALIAS = "migrated"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request, tmp_path, django_db_blocker) -> Iterator[str]:
    """The alias of a database with all tables."""
    if request.param == "sqlite":
        address = f"sqlite:///{shutil.copy(request.getfixturevalue('tables'), tmp_path / 'tables.sqlite3')}"
    else:
        server, tables = (
            request.getfixturevalue("postgres_server"),
            request.getfixturevalue("postgres_tables"),
        )
        address = copy_of(tables, server, "migrated")
    given = environ.Env.db_url_config(address) | {"OPTIONS": {}}
    connections.databases[ALIAS] = connections.databases["default"] | given
    try:
        with django_db_blocker.unblock():
            yield ALIAS
            connections[ALIAS].close()
    finally:
        del connections[ALIAS], connections.databases[ALIAS]


@pytest.mark.thorough(
    instead="tests/insights/test_migrations.py::test_bursts_of_loaded_denials_and_the_last_good_read_are_found_when_migrating"
)
def test_columns_that_nobody_read_come_back_empty_where_there_are_rows(database):
    connection, now = connections[database], timezone.now()
    after = MigrationExecutor(connection).loader.graph.leaf_nodes()
    cluster = _old_cluster(database)
    try:
        load, seen = _at_requests_of_a_load(connection)
        row = load.create(cluster_id=cluster.pk, lines_read=1, lines_parsed=1, lines_unparsed=0, manifest={})
        seen.create(load=row, principal="User:bob", allowed=True, lines=1, first_at=now, last_at=now)

        MigrationExecutor(connection).migrate([("insights", "0003_refresh_lease")])
        with connection.cursor() as cursor:
            cursor.execute("SELECT snapshot_digest FROM insights_load")
            digests = cursor.fetchall()
            cursor.execute("SELECT principal, basis_now FROM insights_seenrequest")
            requests = cursor.fetchall()
        MigrationExecutor(connection).migrate(after)

        assert (digests, requests) == ([("",)], [("User:bob", "")])
        assert LoggedRequest.objects.using(database).get().principal == "User:bob"
    finally:
        MigrationExecutor(connection).migrate(after)
        cluster.delete()


@pytest.mark.thorough(
    instead="tests/insights/test_migrations.py::test_bursts_of_loaded_denials_and_the_last_good_read_are_found_when_migrating"
)
def test_requests_that_are_loaded_stay_with_their_days_and_make_room_backwards(database, most_at_once):
    connection, last = connections[database], datetime(2026, 11, 20, 20, tzinfo=UTC)
    after = MigrationExecutor(connection).loader.graph.leaf_nodes()
    cluster = _old_cluster(database)
    try:
        load, seen = _at_requests_of_a_load(connection)
        facts = {"lines_read": 1, "lines_parsed": 1, "lines_unparsed": 0, "manifest": {}}
        current = load.create(cluster_id=cluster.pk, first_at=last, last_at=last, **facts)
        old = load.create(cluster_id=cluster.pk, current=False, **facts)
        days = [["2026-07-01", 5], ["2026-10-30", 4], ["2026-11-19", 2], ["2026-11-20", 1]]
        told = {"principal": "User:b\\c", "lines": 12, "first_at": last, "last_at": last, "days": days}
        for of_load in (current, old):
            seen.create(load=of_load, allowed=False, sample="a record", **told)
        seen.create(load=current, allowed=True, sample="a permit", **told)
        for number in range(7):
            seen.create(load=current, allowed=True, **told | {"principal": f"User:{number}", "days": []})

        MigrationExecutor(connection).migrate(after)

        kept = RequestTotals.objects.using(database).select_related("request").order_by("request__allowed")
        columns = ("request__principal", "lines", "lines_7", "lines_30", "lines_90", "sample", "added_in")
        assert kept.count() == len(most_at_once) == 9
        assert max(most_at_once) <= 3, "a batch, and the last one of the batch before"
        assert list(kept.filter(request__principal="User:b\\c").values_list(*columns)) == [
            ("User:b\\c", 12, 3, 7, 7, "a record", current.pk),
            ("User:b\\c", 12, 3, 7, 7, "", current.pk),
        ]
        rows = RequestDay.objects.using(database).values_list("day_set__day", "lines", "day_set__loads")
        assert sorted({(str(day), lines, of_load) for day, lines, of_load in rows}) == [
            ("2026-10-30", 4, current.pk),
            ("2026-11-19", 2, current.pk),
            ("2026-11-20", 1, current.pk),
        ]
        assert len(rows) == 6

        MigrationExecutor(connection).migrate([("insights", "0008_unread_files")])
        assert not load.filter(current=True).exists(), "the next refresh loads what the table has"
    finally:
        MigrationExecutor(connection).migrate(after)
        cluster.delete()


@pytest.fixture
def most_at_once(monkeypatch) -> list[int]:
    """How many requests are in memory each time that one is kept, where a batch has two."""
    kept = importlib.import_module("aclweb.insights.migrations.0010_keep_loaded_requests")
    begun, counts, make = [], [], kept._request

    def watched(model, load, row):
        begun.append(weakref.ref(row))
        counts.append(sum(each() is not None for each in begun))
        return make(model, load, row)

    monkeypatch.setattr(kept, "_ROWS_AT_ONCE", 2)
    monkeypatch.setattr(kept, "_request", watched)
    return counts


def _old_cluster(database):
    # In bulk, as saving one also declares something, in the default database.
    (cluster,) = Cluster.objects.using(database).bulk_create(
        [Cluster(slug="old", name="old", kind="admin", address="b:1")]
    )
    return cluster


def _at_requests_of_a_load(connection):
    """Migrate back to where a load had requests of its own; return the rows of both."""
    executor = MigrationExecutor(connection)
    wanted = [("insights", "0008_unread_files")]
    executor.migrate(wanted)
    apps = executor.loader.project_state(wanted).apps
    return tuple(
        apps.get_model("insights", name).objects.using(connection.alias) for name in ("Load", "SeenRequest")
    )


@pytest.mark.thorough(
    instead="tests/insights/test_migrations.py::test_bursts_of_loaded_denials_and_the_last_good_read_are_found_when_migrating"
)
def test_each_line_of_a_clusters_log_paths_becomes_a_log_source_and_comes_back(database):
    connection = connections[database]
    after = MigrationExecutor(connection).loader.graph.leaf_nodes()
    before = [("inventory", "0009_lint_runs")]
    executor = MigrationExecutor(connection)
    executor.migrate(before)
    old = executor.loader.project_state(before).apps.get_model("inventory", "Cluster").objects.using(database)
    cluster = old.create(
        slug="old", name="old", kind="admin", address="b:1", log_paths="/a\n\n /b*.log \n/a\n"
    )
    old.create(slug="none", name="none", kind="admin", address="b:1")

    MigrationExecutor(connection).migrate(after)
    sources = LogSource.objects.using(database).values_list("cluster", "path")
    assert sorted(sources) == [(cluster.pk, "/a"), (cluster.pk, "/b*.log")]
    MigrationExecutor(connection).migrate(before)

    assert sorted(old.values_list("slug", "log_paths")) == [("none", ""), ("old", "/a\n/b*.log")]


@pytest.mark.parametrize(
    "database",
    [
        "sqlite",
        pytest.param(
            "postgresql",
            marks=[
                pytest.mark.postgres,
                pytest.mark.thorough(
                    instead="tests/test_production_parts.py::test_the_rooms_with_tables_hold_on_postgresql"
                ),
            ],
        ),
    ],
    indirect=True,
)
def test_bursts_of_loaded_denials_and_the_last_good_read_are_found_when_migrating(database):
    connection, now = connections[database], timezone.now()
    after = MigrationExecutor(connection).loader.graph.leaf_nodes()
    try:
        executor = MigrationExecutor(connection)
        executor.migrate([("insights", "0012_analyses")])
        before = executor.loader.project_state([("insights", "0012_analyses")]).apps
        # Of the tables of now: those of clusters are not taken back.
        cluster = _old_cluster(database)
        refreshes = before.get_model("insights", "Refresh").objects.using(database)
        refreshes.create(cluster_id=cluster.pk, tried_at=now)
        facts = {"lines_read": 1, "lines_parsed": 1, "lines_unparsed": 0, "manifest": {}}
        load = (
            before.get_model("insights", "Load")
            .objects.using(database)
            .create(
                cluster_id=cluster.pk,
                first_at=datetime(2026, 6, 1, tzinfo=UTC),
                last_at=datetime(2026, 11, 20, tzinfo=UTC),
                **facts,
            )
        )
        counts = dict.fromkeys(("lines", "lines_1", "lines_7", "lines_14", "lines_30", "hosts"), 1)
        of_days = {
            "stormy": [["2026-11-19", 400]],
            "quiet": [["2026-11-19", 4]],
            "long-ago": [["2026-08-22", 400], ["2026-11-19", 4]],
            "again": [*([f"2026-06-{day:02}", 40] for day in range(1, 31)), ["2026-08-23", 300]],
        }
        for key, days in of_days.items():
            before.get_model("insights", "DenialGroup").objects.using(database).create(
                load=load, key=key, first_at=now, last_at=now, days=days, **counts
            )

        MigrationExecutor(connection).migrate(after)

        groups = DenialGroup.objects.using(database).filter(load=load.pk)
        assert set(groups.values_list("key", "burst_day", "burst_lines", "burst_usual")) == {
            ("stormy", date(2026, 11, 19), 400, 0),
            ("quiet", None, 0, 0),
            ("long-ago", None, 0, 0),
            ("again", date(2026, 8, 23), 300, 0),
        }
        assert Refresh.objects.using(database).get(cluster=cluster.pk).read_at == now
    finally:
        MigrationExecutor(connection).migrate(after)
