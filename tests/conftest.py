"""The cast and the cluster that tests share.

ada asks for changes, ben approves them, cho only looks, dot administers; each has that
one role on `cluster` and nothing elsewhere. eve signs in and has no role at all; root
administers the site. The cluster is a StandardAuthorizer one, declared, switched on for changes, and not yet read.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client, TransactionTestCase
from pytest_django import DjangoDbBlocker

from aclweb.accounts.models import Grant, Role, User
from aclweb.audit import triggers
from aclweb.inventory.models import Cluster
from tests.sessions import sign_in

# Real servers, started when the first test asks for one, and which tests run together so that each starts once.
pytest_plugins = [
    "tests.servers",
    "tests.servers_data",
    "tests.browsing",
    "tests.oracle.programs",
    "tests.groups",
]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark who copies `tables`: pytest-django makes no database where no test of a run bears this mark."""
    for item in items:
        if "tables" in getattr(item, "fixturenames", ()):
            item.add_marker("django_db")


# Names a database on the PostgreSQL of a run that has the tables; its copies need no migrations.
TEMPLATE_VARIABLE = "ACLWEB_TESTS_TEMPLATE"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> Iterator[None]:
    """Keep SQLite in a file: threads then wait for each other's locks as they do in production."""
    with tempfile.TemporaryDirectory(prefix="aclweb-test-db-") as directory:
        if connection.vendor == "sqlite":
            connection.settings_dict["TEST"]["NAME"] = str(Path(directory) / "test.sqlite3")
        yield


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_keepdb: bool, django_db_modify_db_settings: None) -> bool:
    """Whether the test database is there already: `django_db_setup` copies what another process has made."""
    return django_db_keepdb or (connection.vendor == "sqlite" and _test_database().exists())


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest,
    django_db_modify_db_settings: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Migrate once a run, whatever number of processes share it, and keep a copy as it is before the first test."""
    if connection.vendor != "sqlite":
        if template := os.environ.get(TEMPLATE_VARIABLE):
            connection.settings_dict["TEST"] |= {"TEMPLATE": template, "MIGRATE": False}
        request.getfixturevalue("django_db_setup")
        return
    file = _tables_file(request.config, tmp_path_factory)
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if file.exists():
            shutil.copy(file, _test_database())
            connection.settings_dict["TEST"]["MIGRATE"] = False
        request.getfixturevalue("django_db_setup")
        if not file.exists():
            whole = file.with_suffix(".new")
            with django_db_blocker.unblock():
                connection.cursor().execute("VACUUM INTO %s", [str(whole)])
            whole.replace(file)


@pytest.fixture(scope="session")
def tables(
    django_db_setup: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """An SQLite file with every table and no row, for processes that need a database: copying takes no time."""
    file = _tables_file(request.config, tmp_path_factory)
    if not file.exists():
        assert connection.vendor != "sqlite"
        pytest.skip("The tests run on another database than SQLite, so there is no file to copy.")
    return file


def _test_database() -> Path:
    return Path(connection.settings_dict["TEST"]["NAME"])


def _tables_file(config: pytest.Config, factory: pytest.TempPathFactory) -> Path:
    """Return the file of a run: processes that share it have folders of their own in one folder."""
    own = factory.getbasetemp()
    return (own.parent if hasattr(config, "workerinput") else own) / "tables.sqlite3"


@pytest.fixture(scope="session", autouse=True)
def clean_up_past_the_audit_triggers() -> Iterator[None]:
    """Let tests that commit empty the tables afterwards, which the audit trail refuses to everybody else."""
    tear_down = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]

    def without_triggers(self: TransactionTestCase) -> None:
        triggers.remove(connection)
        try:
            tear_down(self)
        finally:
            triggers.install(connection)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", without_triggers)
        yield


@pytest.fixture(autouse=True)
def no_counters_of_other_tests() -> None:
    """Forget who sent how much: a limit that one test reached is not the next one's."""
    cache.clear()


@pytest.fixture
def cluster(db: None) -> Cluster:
    return Cluster.objects.create(
        slug="test-eu",
        name="test-eu",
        kind="admin",
        address="127.0.0.1:1",
        super_users="User:admin",
        allow_everyone=False,
        changes_enabled=True,
    )


@pytest.fixture
def other_cluster(db: None) -> Cluster:
    """A cluster on which nobody of the cast has a role."""
    return Cluster.objects.create(slug="test-us", name="test-us", kind="admin", address="127.0.0.1:1")


@pytest.fixture
def ada(cluster: Cluster) -> User:
    return _person("ada", cluster, Role.REQUESTER)


@pytest.fixture
def ben(cluster: Cluster) -> User:
    return _person("ben", cluster, Role.APPROVER)


@pytest.fixture
def cho(cluster: Cluster) -> User:
    return _person("cho", cluster, Role.VIEWER)


@pytest.fixture
def dot(cluster: Cluster) -> User:
    return _person("dot", cluster, Role.ADMINISTRATOR)


@pytest.fixture
def eve(db: None) -> User:
    return User.objects.create_user("eve", password="a password for eve")


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root", password="a password for root")


@pytest.fixture
def signed_in() -> Callable[..., Client]:
    """Return a function that gives a browser in which this person has signed in."""

    def browser(person: User, **options: Any) -> Client:
        client = Client(**options)
        sign_in(client, person)
        return client

    return browser


def _person(name: str, cluster: Cluster, role: Role) -> User:
    person = User.objects.create_user(name, password=f"a password for {name}")
    Grant.objects.create(user=person, cluster=cluster, role=role)
    return person
