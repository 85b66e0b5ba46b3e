"""A cluster in a directory, read once, that workers write to; and changes brought to a state in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aclweb.accounts.models import User
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import AclBinding
from aclweb.changes import review, tasks
from aclweb.changes.models import Change
from aclweb.changes.rollout import hold
from aclweb.changes.rollout import run as rollout
from aclweb.inventory.current import view as current
from aclweb.inventory.current.view import connection_of
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.changes.file_cluster import FileClient, FileCluster

WISH = allow("User:ledger", "READ", "payments.eu")


@pytest.fixture
def kafka(tmp_path: Path) -> FileCluster:
    """What brokers would hold: a rule for bob, one for eve, and three topics."""
    kafka = FileCluster(tmp_path / "kafka")
    kafka.set_topics("orders", "payments.eu", "payments.us")
    kafka.edit(add=[allow("User:bob", "READ", "orders"), allow("User:eve", "WRITE", "payments.us")])
    return kafka


@pytest.fixture
def cluster(cluster: Cluster, kafka: FileCluster, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """The cast's cluster, living in a directory and read once."""
    current.forget()
    monkeypatch.setattr(rollout, "connect", FileClient)
    monkeypatch.setattr(hold, "BARRIER_SECONDS", 0)
    cluster.address = str(kafka.directory)
    cluster.save()
    reread(cluster)
    return cluster


@pytest.fixture(autouse=True)
def rung(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids that tasks were rung for; no queue is needed, because the row is the truth."""
    rung: list[int] = []
    monkeypatch.setattr(tasks.apply_change, "delay", rung.append)
    return rung


@pytest.fixture
def ask(cluster: Cluster, ada: User) -> Callable[..., Change]:
    """Return a function that drafts a change by ada: what to add, and what to remove."""

    def ask(*add: AclBinding, remove: tuple[AclBinding, ...] = (), author: User = ada) -> Change:
        return review.draft(
            cluster=cluster,
            author=author,
            title="Let ledger read payments",
            delta=Delta(add=add, remove=remove),
        )

    return ask


@pytest.fixture
def approved(ask: Callable[..., Change], ada: User, ben: User) -> Callable[..., Change]:
    """Return a function that brings a change by ada through review by ben, so that it is queued."""

    def approved(*add: AclBinding, remove: tuple[AclBinding, ...] = ()) -> Change:
        change = review.submit(change=ask(*add, remove=remove), actor=ada)
        return review.approve(change=change, reviewer=ben)

    return approved


def reread(cluster: Cluster) -> None:
    """Read the cluster as beat does."""
    result = sync(cluster, client=FileClient(connection_of(cluster)))
    assert result.read, result.sentence
