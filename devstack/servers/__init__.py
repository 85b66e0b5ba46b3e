"""How does one start a real ZooKeeper or a real Kafka broker on this machine?

For the demo and the tests: one small JVM each, on 127.0.0.1 only, with its files in a
directory of the caller's choice. Starting again on the same directory goes on with
the same data, and on the same ports unless somebody else has taken them. A server
runs in a process group of its own, so a Ctrl-C meant for the caller does not reach
it: whoever starts a server stops it, the broker before its ZooKeeper.

ZooKeeper comes out of PySpark's jars; a broker needs the jars that `devstack/jars.py` fetches.
"""

from devstack.servers.kafka import KafkaBroker
from devstack.servers.server import EmbeddedError, Server
from devstack.servers.zookeeper import ZooKeeperServer, lay_out, pyspark_jars, zookeeper_jars

__all__ = [
    "EmbeddedError",
    "KafkaBroker",
    "Server",
    "ZooKeeperServer",
    "lay_out",
    "pyspark_jars",
    "zookeeper_jars",
]
