"""A cluster that has been read once, and a way to give it the result of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aclweb.insights.load import load
from aclweb.insights.models import Load
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.insights.results import write_result

BINDINGS = [
    allow("User:bob", "READ", "payments.", pattern="PREFIXED"),
    allow("User:bob", "WRITE", "orders", host="10.0.0.9"),
    allow("User:CN=fraud,OU=risk", "READ", "orders"),
    allow("User:ops", "DESCRIBE", "kafka-cluster", resource_type="CLUSTER", host="::1"),
    allow("User:notes", "READ", "customers", host="10.40.0.0/16"),
    allow("User:indexer", "READ", "images", host="search-01.example"),
    deny("User:eve", "ALL", "payments.", pattern="PREFIXED"),
]


@pytest.fixture(autouse=True)
def two_weeks_will_do(settings) -> None:
    """The results of these tests cover 13 days and a half."""
    settings.ACLWEB_UNUSED_DAYS = 13


@pytest.fixture
def read_cluster(cluster: Cluster) -> Cluster:
    sync(cluster, client=FakeCluster(BINDINGS, topics=["orders", "payments.eu"], groups=["billing"]))
    cluster.refresh_from_db()
    return cluster


@pytest.fixture
def given(read_cluster: Cluster, tmp_path: Path) -> Callable[..., Load]:
    """Load a result with these facts: see tests.insights.results.write_result."""

    def give(**facts: Any) -> Load:
        return load(write_result(tmp_path / "usage", BINDINGS, **facts), read_cluster)

    return give


@pytest.fixture
def two_logged(given: Callable[..., Load], other_cluster: Cluster, tmp_path: Path) -> tuple[Cluster, Cluster]:
    """Two clusters whose logs have been read; nobody of the cast has a role on the second."""
    first = given().cluster
    sync(other_cluster, client=FakeCluster(BINDINGS[:2], topics=["orders"]))
    other_cluster.refresh_from_db()
    load(write_result(tmp_path / "usage-us", BINDINGS[:2]), other_cluster)
    return first, other_cluster
