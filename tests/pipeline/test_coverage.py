"""Is a broker one broker, however its log rotates, and never two?"""

from __future__ import annotations

import pytest

from aclweb.acl.notation import UNKNOWN
from aclweb.pipeline.coverage import broker_of, short_names


@pytest.mark.parametrize(
    "files",
    [
        [
            "/l/b1/kafka-authorizer.log",
            "/l/b1/kafka-authorizer.log.2026-11-20-10",
            "/l/b1/kafka-authorizer.log.1.gz",
        ],
        ["/l/authorizer-2026-11-20.log.gz", "/l/authorizer.log", "/l/authorizer-20261121.log"],
        ["/l/2026-11-20/broker-1.log", "/l/2026-11-21/broker-1.log.bz2"],
        ["/l/broker-1.log", "/l/broker-1.log.2026-11-20.3.zst"],
    ],
)
def test_the_rotated_files_of_a_broker_are_one_broker(files):
    assert len({broker_of(file) for file in files}) == 1


@pytest.mark.parametrize(
    "files",
    [
        ["/l/b1/kafka-authorizer.log", "/l/b2/kafka-authorizer.log"],
        ["/l/broker-1.log", "/l/broker-2.log"],
        ["/l/broker.1", "/l/broker.2"],
        ["/l/kafka-0-authorizer.log", "/l/kafka-1-authorizer.log.gz"],
    ],
)
def test_two_brokers_are_never_one(files):
    assert len({broker_of(file) for file in files}) == len(files)


def test_equal_file_names_are_distinguished_by_as_much_of_their_path_as_is_needed():
    assert short_names(["/l/b1/a.log", "/l/b2/a.log", "/l/b1/c.log", "/a.log"]) == {
        "/l/b1/a.log": "b1/a.log",
        "/l/b2/a.log": "b2/a.log",
        "/l/b1/c.log": "c.log",
        "/a.log": "/a.log",
    }


@pytest.mark.parametrize(
    ("state", "layout", "is_unread"),
    [
        ("read", "", False),
        ("truncated", "kafka", False),
        ("gone", UNKNOWN, False),
        ("read", UNKNOWN, True),
        ("refused", "", True),
        ("not a gzip file", "kafka", True),
    ],
)
def test_a_file_that_is_there_and_was_not_understood_is_named(state, layout, is_unread):
    from aclweb.pipeline.files import FileState
    from aclweb.pipeline.manifest import Source, why_unread

    fine = Source("/logs/a.log", FileState("read"))
    reason = why_unread([Source("/logs/c.log", FileState(state), layout), fine])

    expected = "the log file '/logs/c.log' could not be read or understood, so requests may be missing"
    assert reason == (expected if is_unread else "")
    again = why_unread([Source(f"/logs/{name}", FileState("refused")) for name in "zyx"])
    assert again.startswith("the log file '/logs/x' (and 2 more) could not")
