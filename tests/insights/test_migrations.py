"""Can a migration of this room be taken back where its tables have rows, on each database?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import environ
import pytest
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from aclweb.insights.models import Load, SeenRequest
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


def test_columns_that_nobody_read_come_back_empty_where_there_are_rows(database):
    connection, now = connections[database], timezone.now()
    after = MigrationExecutor(connection).loader.graph.leaf_nodes()
    # In bulk, as saving one also declares something, in the default database.
    (cluster,) = Cluster.objects.using(database).bulk_create(
        [Cluster(slug="old", name="old", kind="admin", address="b:1")]
    )
    try:
        load = Load.objects.using(database).create(
            cluster=cluster, lines_read=1, lines_parsed=1, lines_unparsed=0, manifest={}
        )
        SeenRequest.objects.using(database).create(
            load=load, principal="User:bob", allowed=True, lines=1, first_at=now, last_at=now
        )

        MigrationExecutor(connection).migrate([("insights", "0003_refresh_lease")])
        with connection.cursor() as cursor:
            cursor.execute("SELECT snapshot_digest FROM insights_load")
            digests = cursor.fetchall()
            cursor.execute("SELECT principal, basis_now FROM insights_seenrequest")
            requests = cursor.fetchall()
        MigrationExecutor(connection).migrate(after)

        assert (digests, requests) == ([("",)], [("User:bob", "")])
        assert SeenRequest.objects.using(database).get().principal == "User:bob"
    finally:
        MigrationExecutor(connection).migrate(after)
        cluster.delete()


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
