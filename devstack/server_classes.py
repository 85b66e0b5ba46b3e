"""Make the archives of the servers' classes, so that each start of a broker or a ZooKeeper takes a third less.

Each server runs once for that; where its archive is there already, nothing is started.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from aclweb.runtime.java import JavaError
from devstack.jars import kafka_jars
from devstack.servers import KafkaBroker, Server, ZooKeeperServer


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="aclweb-classes-", ignore_cleanup_errors=True) as directory:
        folder = Path(directory)
        try:
            keeper = ZooKeeperServer(folder / "zookeeper")
            _make(keeper, "ZooKeeper")
            for version in ("4.4.0", "3.9.2"):
                jars = kafka_jars(version)
                if jars is None:
                    print(f"No archive was made for Kafka {version}, whose jars are not here.")
                elif version.startswith("3."):
                    _make_on_zookeeper(folder, jars, version)
                else:
                    _make(KafkaBroker(folder / version, jars), f"Kafka {version}")
        except JavaError as error:
            print(f"No archive of the servers' classes was made. {error}")
    return 0


def _make_on_zookeeper(folder: Path, jars: Path, version: str) -> None:
    name = f"Kafka {version}"
    broker = KafkaBroker(folder / version, jars, engine="acl", zookeeper="127.0.0.1:1/any")
    if broker.archive.is_file():
        _make(broker, name)
        return
    with ZooKeeperServer(folder / "zookeeper") as keeper:
        _make(KafkaBroker(folder / version, jars, engine="acl", zookeeper=keeper), name)


def _make(server: Server, name: str) -> None:
    """Run a server once for its archive."""
    if server.archive.is_file():
        print(f"The archive of the classes of {name} is here.")
        return
    server.leaves_archive = True
    with server:
        pass
    print(
        f"The archive of the classes of {name} was made."
        if server.archive.is_file()
        else "This Java makes none."
    )


if __name__ == "__main__":
    sys.exit(main())
