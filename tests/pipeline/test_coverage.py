"""Is a broker one broker, however its log rotates, and never two?"""

from __future__ import annotations

import pytest

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
