"""Make the demo's clusters at the first start, and keep them as they were left at later starts.

prod-eu is a real ZooKeeper that holds what brokers of Kafka 3.9 would keep there; edge-eu
is a real KRaft broker; prod-eu-file is prod-eu as a file, for machines without Java. What
people did to them stays: a later start brings the servers back and changes only where
they are found.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from aclweb.clusters import kind_named
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import run as sync
from devstack import first_start as firststart
from devstack.demo import company, traffic
from devstack.servers import KafkaBroker, ZooKeeperServer

CHROOT = "/kafka"
PROD = company.PROD
EDGE = company.EDGE


def plant_prod(server: ZooKeeperServer, directory: Path) -> Cluster:
    """Write prod-eu into a running ZooKeeper, unless it is there, and read it."""
    address = server.address + CHROOT
    company.plant(address)
    return _found_at(company.PROD, "zookeeper", address, logs=str(logs_of_prod(directory) / "*"))


def plant_file(directory: Path) -> Cluster:
    """Write prod-eu as a file, unless it is there, and read it; its changes given as commands."""
    file = directory / f"{company.PROD}.jsonl"
    if not file.exists():
        partial = file.with_suffix(".partial")
        partial.write_text(company.snapshot_text(company.PROD), encoding="utf-8")
        partial.replace(file)
    return _found_at(f"{company.PROD}-file", "snapshot", str(file), logs=str(logs_of_prod(directory) / "*"))


def plant_edge(broker: KafkaBroker) -> Cluster:
    """Make edge-eu's topics and ACLs on a running broker, unless it has ACLs, and read it."""
    company.plant_broker(bootstrap=broker.bootstrap, username="admin", password=broker.users["admin"])
    return _found_at(
        company.EDGE,
        "admin",
        broker.bootstrap,
        options=broker.connection().options,
        logs=str(broker.authorizer_log),
    )


def write_prod_logs(directory: Path) -> bool:
    """Write two weeks of authorizer logs of prod-eu; return False where they are there already."""
    folder = logs_of_prod(directory)
    if folder.exists():
        return False
    partial = folder.with_name(folder.name + ".partial")
    traffic.write_log(partial)
    partial.rename(folder)
    return True


def logs_of_prod(directory: Path) -> Path:
    return directory / f"{company.PROD}-logs"


def broker_users(file: Path) -> Mapping[str, str]:
    """Return the passwords with which clients log in to edge-eu; the first call makes them up."""
    if not file.exists():
        users = {name: secrets.token_urlsafe(18) for name in ("admin", *company.users(company.EDGE))}
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
            json.dump(users, handle)
    found: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _found_at(
    slug: str,
    kind: str,
    address: str,
    *,
    options: Mapping[str, str] | None = None,
    logs: str = "",
) -> Cluster:
    """Return the cluster's row, made at the first start, with the place where it is found now; and read it."""
    name = slug.removesuffix("-file")
    cluster, made = Cluster.objects.get_or_create(
        slug=slug,
        defaults={
            "name": slug,
            "kind": kind,
            "address": address,
            "authorizer": company.authorizer(name),
            "kafka_version": company.kafka_version(name),
            # What an administrator of this company would declare, since no cluster tells it.
            "authorizer_declared": Cluster.Declared.ON,
            "super_users": company.super_users(name),
            "allow_everyone": company.allow_everyone(name),
            "changes_enabled": kind_named(kind).can_write,
        },
    )
    cluster.address = address
    cluster.options = dict(options or {})
    cluster.save(update_fields=["address", "options"])
    if not cluster.log_sources.filter(path=logs).exists():
        cluster.log_sources.all().delete()
        if logs:
            cluster.log_sources.create(path=logs)
    if made:
        firststart.give_roles(cluster)
    sync.sync(cluster)
    cluster.refresh_from_db()
    return cluster
