"""Producers and consumers of the file broker as processes of their own, for tests/test_filebroker.py.

python -m tests.queue_processes produce FOLDER NAME COUNT SIZE
python -m tests.queue_processes consume FOLDER        prints each message it acknowledges; once FOLDER/finish
                                                      is there, it ends when nothing waits
python -m tests.queue_processes hold FOLDER COUNT     takes so many messages, says so, never acknowledges
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from kombu import Connection, Consumer, Queue

from aclweb.runtime import queue as filebroker

QUEUE = "work"
FINISH = "finish"


def connect(folder: str) -> Connection:
    filebroker.register()
    return Connection(
        "acfs://",
        transport_options={
            "data_folder_in": folder,
            "data_folder_out": folder,
            "control_folder": str(Path(folder) / "control"),
            "polling_interval": 0.01,
        },
    )


def produce(folder: str, name: str, count: str, size: str) -> None:
    with connect(folder) as connection, connection.Producer() as producer:
        for number in range(int(count)):
            producer.publish(
                {"id": f"{name}-{number}", "padding": "x" * int(size)},
                routing_key=QUEUE,
                declare=[Queue(QUEUE)],
                retry=False,
            )


def consume(folder: str) -> None:
    def take(body, message):
        message.ack()
        print(body["id"], flush=True)

    with (
        connect(folder) as connection,
        Consumer(connection, Queue(QUEUE), callbacks=[take], prefetch_count=4),
    ):
        while True:
            finishing = (Path(folder) / FINISH).exists()
            try:
                connection.drain_events(timeout=0.2)
            except TimeoutError:
                if finishing:
                    return


def hold(folder: str, count: str) -> None:
    held = []
    with (
        connect(folder) as connection,
        Consumer(connection, Queue(QUEUE), callbacks=[lambda _, m: held.append(m)]),
    ):
        while len(held) < int(count):
            connection.drain_events(timeout=10)
        print(f"holds {len(held)}", flush=True)
        time.sleep(600)


if __name__ == "__main__":
    actions: dict[str, Callable[..., None]] = {"produce": produce, "consume": consume, "hold": hold}
    actions[sys.argv[1]](*sys.argv[2:])
