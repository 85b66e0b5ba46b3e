"""What real Kafka servers and tools printed, kept under tests/data.

The brokers were 3.9.2 (ZooKeeper mode) and 4.0.2 to 4.4.0 (KRaft); kafka-acls was that of
3.9.2 and 4.3.1. `4.3.1-truth` is what DescribeAcls answered when `4.3.1-list-all` was
printed, in wire codes. One ACL was left out of both and of `4.3.1-list-after`: its name began
with a character that sorts before `*`, which no record of a KRaft broker here shows.
"""

from __future__ import annotations

import gzip
from pathlib import Path

DATA = Path(__file__).parent / "data"


def real_output(name: str) -> str:
    """Return the text of one file below tests/data, with its line ends as they were."""
    return gzip.decompress((DATA / f"{name}.gz").read_bytes()).decode("utf-8")
