"""What reading and writing cost grows with the input and no faster, also where every line is bad.

Ratios only: twenty times the input may take a hundred times as long, where work that grows
with the square takes four hundred times.
"""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from time import process_time_ns

import pytest

from aclweb.acl.cli.main import main
from aclweb.acl.model.vocabulary import AclBinding
from aclweb.acl.notation.authorizer_log import NotDecision, parse_suffix
from aclweb.acl.notation.files import (
    ACL_KEYS,
    NotationError,
    read_acls,
    read_delta,
    read_requests,
    write_acls,
)
from tests.builders import allow
from tests.random_cases import SCALE

FEW, MANY, FACTOR = 500, 10_000, 100
ACLS_ON_ONE_TOPIC = 10_000 * SCALE
NOTATIONS = ("jsonl", "csv", "yaml", "listing", "zk")
HEADER = ",".join(ACL_KEYS)


def on_one_topic(count: int) -> list[AclBinding]:
    return [allow(f"User:svc-{number}", "READ", "orders") for number in range(count)]


def time_of(work: Callable[[], object]) -> int:
    """Return the processor's time."""
    start = process_time_ns()
    work()
    return process_time_ns() - start


def assert_grows_no_faster(few: Callable[[], object], many: Callable[[], object]) -> None:
    """Much work takes less than FACTOR times as long as a little; a machine that is busy elsewhere gets more tries."""
    little = min(time_of(few) for _ in range(3))
    times = []
    for _ in range(12):
        times.append(time_of(many))
        if times[-1] < FACTOR * little:
            return
    raise AssertionError(f"It took {min(times):,} ns, and {little:,} ns for a twentieth of the work.")


def refused(text: str, notation: str) -> Callable[[], None]:
    def work() -> None:
        with pytest.raises(NotationError):
            read_acls(text, source="x", format=notation)

    return work


@pytest.mark.parametrize(
    ("notation", "line"),
    [
        ("jsonl", '{"resource_type":\n'),
        ("csv", "a,b,c\n"),
        ("csv", '"a,b,c\n'),
        ("yaml", "- a: 'x\n  b: y\n"),
        ("listing", "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=x\n"),
        ("listing", "\t(principal=User:a, host=*, operation=READ\n"),
        ("listing", "\t(principal=User:a, operation=READ, permissionType=ALLOW)\n"),
        ("listing", "\tUser:a has Allow permission\n"),
        ("zk", '{"path": "/kafka-acl/Topic/t", "data": "{\\"version\\": 2}"}\n'),
    ],
)
def test_a_file_full_of_bad_lines_is_reported_in_time_that_grows_with_it(notation, line):
    start = f"{HEADER}\n" if notation == "csv" else ""
    few, many = (refused(start + line * count, notation) for count in (FEW, MANY))

    assert_grows_no_faster(few, many)


@pytest.mark.parametrize("notation", NOTATIONS)
def test_acls_on_one_topic_are_written_and_read_in_time_that_grows_with_them(notation):
    def work(count: int) -> Callable[[], None]:
        bindings = on_one_topic(count)

        def there_and_back() -> None:
            assert len(read_acls(write_acls(bindings, format=notation), source="x", format=notation)) == count

        return there_and_back

    assert_grows_no_faster(work(FEW), work(MANY))


@pytest.mark.parametrize("notation", NOTATIONS)
def test_reading_and_writing_take_memory_that_a_big_file_can_have(notation):
    # What is traced takes many times as long, and memory a binding is the same for fewer of them.
    bindings = on_one_topic(MANY // 4)
    size = len(write_acls(bindings, format="jsonl"))

    def once(work: Callable[[], object]) -> float:
        tracemalloc.start()
        try:
            work()
            return tracemalloc.get_traced_memory()[1] / size
        finally:
            tracemalloc.stop()

    def is_bearable(work: Callable[[], object]) -> bool:
        # What threads of earlier tests take meanwhile counts too, and is not there each time.
        return any(once(work) < 6 for _ in range(3))

    text = write_acls(bindings, format=notation)
    assert is_bearable(lambda: write_acls(bindings, format=notation))
    assert is_bearable(lambda: read_acls(text, source="x", format=notation))


@pytest.mark.parametrize(
    "words",
    [
        " for request = Fetch with resourceRefCount = 1 based on rule MatchingAcl(acl=StandardAcl(resourceType=",
        " is Denied operation = READ from host = 1.2.3.4 on resource = Topic:",
        ", patternType=LITERAL, principal=User:a, host=*",
    ],
)
def test_a_log_record_full_of_separators_is_given_up_in_time_that_grows_with_it(words):
    def work(count: int) -> Callable[[], None]:
        message = (
            "Principal = User:a is Denied operation = READ from host = 10.0.0.7 on resource = Topic:LITERAL:t"
            f"{words * count} for request = Fetch with resourceRefCount = 1 based on rule "
            f"MatchingAcl(acl=StandardAcl(resourceType=TOPIC, resourceName={words * count})"
        )

        def give_up() -> None:
            assert isinstance(parse_suffix(message), NotDecision)

        return give_up

    assert_grows_no_faster(work(10), work(200))


def test_requests_and_edits_full_of_bad_lines_are_told_in_time_that_grows_with_them():
    def work(read: Callable[..., object], count: int) -> Callable[[], None]:
        def refuse() -> None:
            with pytest.raises(NotationError):
                read("{}\n" * count, source="x")

        return refuse

    for read in (read_requests, read_delta):
        assert_grows_no_faster(work(read, FEW), work(read, MANY))


def test_commands_take_very_many_acls_on_one_topic(tmp_path, capfdbinary):
    path = tmp_path / "acls"
    path.write_text(write_acls(on_one_topic(ACLS_ON_ONE_TOPIC), format="jsonl"))
    requests = tmp_path / "requests"
    asked = {"principal": "User:svc-1", "host": "10.0.0.7", "operation": "READ", "resource_type": "TOPIC"}
    requests.write_text(f"{json.dumps(asked | {'resource_name': 'orders'})}\n" * 2_000)
    everything = json.dumps(
        dict.fromkeys(("resource_name", "principal", "host"))
        | dict.fromkeys(("resource_type", "pattern_type", "operation", "permission_type"), "ANY")
    )

    for arguments, lines in (
        (["decide", "--acls", str(path), "--requests", str(requests), "--json"], 2_000),
        (["affecting", "--acls", str(path), "--new-topic", "orders", "--json"], ACLS_ON_ONE_TOPIC),
        (["list", "--acls", str(path), "--filter", everything, "--json"], ACLS_ON_ONE_TOPIC),
        (["convert", "--acls", str(path), "--to", "zk"], 1),
        (["convert", "--acls", str(path), "--to", "kafka-acls"], ACLS_ON_ONE_TOPIC),
    ):
        assert main(arguments) == 0
        out, err = capfdbinary.readouterr()
        assert (out.count(b"\n"), err) == (lines, b"")
