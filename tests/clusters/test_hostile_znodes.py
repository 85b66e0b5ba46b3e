"""Whatever lies in ZooKeeper, each node is read as a broker reads it, and no node harms another."""

from __future__ import annotations

from collections import Counter

import pytest

from aclweb.acl.notation import znodes
from tests.clusters.hostile_znodes import AT_ONCE, nodes, wrongly_read

COUNT = 20_000


@pytest.mark.half
@pytest.mark.parametrize("seed", range(0, COUNT, AT_ONCE))
def test_hostile_nodes_are_read_as_a_broker_reads_them_and_harm_no_other(seed):
    assert wrongly_read(nodes(AT_ONCE, seed)) == []


def test_the_nodes_are_of_all_kinds():
    kinds = Counter(node.kind for node in nodes(AT_ONCE, 7))

    assert len(kinds) == 9
    assert min(kinds.values()) > AT_ONCE / 20


def test_a_reader_that_takes_what_is_no_json_for_no_acls_is_found_out(monkeypatch):
    read = znodes.read_node
    monkeypatch.setattr(
        znodes,
        "read_node",
        lambda pattern, data: znodes.NodeContent(read(pattern, data).bindings, ()),
    )

    assert wrongly_read(nodes(200, 7))
