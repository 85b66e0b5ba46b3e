"""The embedded queue loses no message, whatever happens to the processes that use it."""

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from kombu import Queue

from tests.queue_processes import FINISH, QUEUE, connect

ROOT = Path(__file__).resolve().parents[1]


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.queue_processes", *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    return out.split()


def publish(folder, *bodies):
    with connect(str(folder)) as connection, connection.Producer() as producer:
        for body in bodies:
            producer.publish(body, routing_key=QUEUE, declare=[Queue(QUEUE)])


def take(connection):
    return connection.default_channel.basic_get(QUEUE)


def waiting(folder):
    return sorted(path.name for path in folder.glob("*.msg"))


def in_flight(folder):
    return sorted(path.name for path in folder.glob("in-flight/*/*.msg"))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "queue"


@pytest.mark.every_run
@pytest.mark.long
@pytest.mark.parametrize("size", [10, 200_000])
def test_two_producers_and_two_consumers_lose_and_double_nothing(folder, size):
    count = 600 if size == 10 else 60
    consumers = [start("consume", folder), start("consume", folder)]
    producers = [start("produce", folder, name, count, size) for name in ("a", "b")]

    for producer in producers:
        finish(producer)
    (folder / FINISH).touch()
    taken = Counter(name for consumer in consumers for name in finish(consumer))

    assert taken == Counter(f"{name}-{number}" for name in ("a", "b") for number in range(count))
    assert waiting(folder) == in_flight(folder) == []


def test_messages_of_a_killed_consumer_come_back(folder):
    publish(folder, *({"id": f"m-{number}"} for number in range(5)))
    holder = start("hold", folder, 3)
    assert holder.stdout.readline() == "holds 3\n"
    assert len(in_flight(folder)) >= 3

    holder.kill()
    holder.wait()
    (folder / FINISH).touch()
    taken = finish(start("consume", folder))

    assert sorted(taken) == [f"m-{number}" for number in range(5)]


def test_a_consumer_that_keeps_running_picks_up_what_a_killed_one_had(folder):
    publish(folder, {"id": "m-0"})
    holder = start("hold", folder, 1)
    assert holder.stdout.readline() == "holds 1\n"
    with connect(str(folder)) as survivor:
        assert take(survivor) is None

        holder.kill()
        holder.wait()
        deadline = time.monotonic() + 300
        while (message := take(survivor)) is None and time.monotonic() < deadline:
            time.sleep(0.05)

        assert message.payload == {"id": "m-0"}
        message.ack()


def test_messages_of_a_living_consumer_stay_with_it(folder):
    publish(folder, {"id": "m-0"})
    holder = start("hold", folder, 1)
    assert holder.stdout.readline() == "holds 1\n"
    try:
        with connect(str(folder)) as other:
            assert other.default_channel.recover() == 0
            assert take(other) is None
        assert len(in_flight(folder)) == 1
    finally:
        holder.kill()
        holder.wait()


def test_an_acknowledged_message_leaves_no_file(folder):
    publish(folder, {"id": "m-0"})
    with connect(str(folder)) as connection:
        message = take(connection)
        assert len(in_flight(folder)) == 1

        message.ack()

    assert waiting(folder) == in_flight(folder) == []


def test_a_rejected_message_is_gone_and_a_requeued_one_waits_as_delivered_before(folder):
    publish(folder, {"id": "gone"}, {"id": "again"})
    with connect(str(folder)) as connection:
        take(connection).reject()
        take(connection).requeue()
        assert in_flight(folder) == []
        (name,) = waiting(folder)
        assert json.loads((folder / name).read_text())["redelivered"] is True

        assert take(connection).payload == {"id": "again"}


def test_what_a_closing_consumer_has_not_finished_waits_once(folder):
    publish(folder, {"id": "m-0"})
    with connect(str(folder)) as connection:
        take(connection)
    assert len(waiting(folder)) + len(in_flight(folder)) == 1

    with connect(str(folder)) as connection:
        assert len(waiting(folder)) + len(in_flight(folder)) == 1
        assert take(connection).payload == {"id": "m-0"}


def test_a_half_written_message_is_never_delivered(folder):
    publish(folder, {"id": "whole"})
    (name,) = waiting(folder)
    (folder / f".0000{name}.tmp").write_text('{"body": "ha')

    with connect(str(folder)) as connection:
        assert take(connection).payload == {"id": "whole"}
        assert take(connection) is None


def test_a_file_that_holds_no_message_is_put_aside_and_the_next_one_is_delivered(folder):
    publish(folder, {"id": "whole"})
    (folder / f"00000000000000000000_0.{QUEUE}.msg").write_text("no message")

    with connect(str(folder)) as connection:
        assert take(connection).payload == {"id": "whole"}

    assert [path.name for path in (folder / "unreadable").iterdir()] == [
        f"00000000000000000000_0.{QUEUE}.msg"
    ]


def test_binding_queues_from_many_processes_forgets_none(folder):
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import sys; from kombu import Exchange, Queue; from tests.queue_processes import connect\n"
                "with connect(sys.argv[1]) as connection:\n"
                "    for number in range(20):\n"
                "        Queue(f'{sys.argv[2]}-{number}', Exchange('all', type='fanout'))"
                "(connection.default_channel).declare()",
                str(folder),
                name,
            ],
            cwd=ROOT,
        )
        for name in "abc"
    ]
    assert [process.wait(60) for process in processes] == [0, 0, 0]

    with connect(str(folder)) as connection:
        bound = {row.queue for row in connection.default_channel.get_table("all")}

    assert bound == {f"{name}-{number}" for name in "abc" for number in range(20)}
