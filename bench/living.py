"""Real clusters in ZooKeeper with as many ACLs as asked for, each below a chroot of its own.

Few nodes hold many ACLs each, so that a hundred thousand are written in seconds.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice

from kazoo.client import KazooClient

from aclweb.acl.model import AclBinding, Operation, PatternType, PermissionType, ResourcePattern, ResourceType
from aclweb.acl.notation import encode, path_of, znodes
from bench import worlds
from devstack import servers as embedded

ACLS_A_NODE = 50
_NODES_A_TRANSACTION = 40  # some 250 kB; ZooKeeper takes 1 MB
_TRANSACTIONS_AT_ONCE = 16
_OPERATIONS = (Operation.READ, Operation.WRITE, Operation.DESCRIBE)


def fill(address: str, count: int, *, seed: int, acls_a_node: int = ACLS_A_NODE) -> None:
    """Put so many ACLs, and the topics that the literal ones are for, below the chroot of the address."""
    by_pattern = acls(count, seed=seed, acls_a_node=acls_a_node)
    embedded.lay_out(address, cluster_id=f"cluster-{seed}")
    nodes = {path_of(pattern): encode(bindings) for pattern, bindings in by_pattern.items()}
    nodes |= {
        f"/brokers/topics/{pattern.name}": b'{"version":2,"partitions":{"0":[1]}}'
        for pattern in by_pattern
        if pattern.pattern_type is PatternType.LITERAL
    }
    with _opened(address) as keeper:
        waiting = iter(nodes.items())
        batches = iter(lambda: list(islice(waiting, _NODES_A_TRANSACTION)), [])
        while some := list(islice(batches, _TRANSACTIONS_AT_ONCE)):
            sent = []
            for batch in some:
                transaction = keeper.transaction()
                for path, data in batch:
                    transaction.create(path, data)
                sent.append(transaction.commit_async())
            for one in sent:
                if failed := [each for each in one.get(timeout=60) if isinstance(each, Exception)]:
                    raise SystemExit(f"ZooKeeper did not take the ACLs: {failed[0]!r}.")


def acls(
    count: int, *, seed: int, acls_a_node: int = ACLS_A_NODE
) -> Mapping[ResourcePattern, list[AclBinding]]:
    """Return so many ACLs by their pattern: 60 % of patterns literal, 5 % denials, 10 % for one host."""
    chance = random.Random(seed)
    found: dict[ResourcePattern, list[AclBinding]] = {}
    names = worlds.topic_names(-(-count // acls_a_node), seed=seed)
    for place, name in enumerate(names):
        literal = chance.random() < 0.6
        pattern_type = PatternType.LITERAL if literal else PatternType.PREFIXED
        found[ResourcePattern(ResourceType.TOPIC, name, pattern_type)] = [
            AclBinding(
                ResourceType.TOPIC,
                name,
                pattern_type,
                f"User:svc-{principal:04d}",
                f"10.0.0.{principal % 250}" if chance.random() < 0.1 else "*",
                chance.choice(_OPERATIONS),
                PermissionType.DENY if chance.random() < 0.05 else PermissionType.ALLOW,
            )
            for principal in chance.sample(range(1_000), min(acls_a_node, count - place * acls_a_node))
        ]
    return found


def add_one(address: str, name: str) -> None:
    """Add an ACL on the topic `name`, which has none, as somebody at a shell does: with its change node."""
    binding = AclBinding(
        ResourceType.TOPIC,
        name,
        PatternType.LITERAL,
        "User:new",
        "*",
        Operation.READ,
        PermissionType.ALLOW,
    )
    root, notice = znodes.change_node(binding.pattern)
    with _opened(address) as keeper:
        keeper.create(path_of(binding.pattern), encode([binding]))
        keeper.create(f"{root}/{znodes.CHANGE_PREFIX}", notice, sequence=True)


@contextmanager
def _opened(address: str) -> Iterator[KazooClient]:
    keeper = KazooClient(hosts=address, timeout=10.0)
    keeper.start(timeout=30)
    try:
        yield keeper
    finally:
        keeper.stop()
        keeper.close()
