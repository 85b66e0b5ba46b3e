"""Do many lines of Kafka's own layout say in columns what the core reads in each?"""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from aclweb.acl.notation import kafka_records, starts_record
from aclweb.pipeline import kafka_lines

TAIL = b" (kafka.authorizer.logger)"
STARTS = (
    b"[2026-11-20 10:00:00,000] DEBUG ",
    b"[2024-02-29 23:59:59.999] INFO ",
    b"[0001-01-01 00:00:00,000] WARN ",
    b"[9999-12-31 23:59:59,999] ERROR ",
    b"[1969-12-31 23:59:59,999] TRACE ",
)
# Each is something else: a time that no clock shows, a level that is none, a byte that is wrong.
OTHERS = (
    b"[2026-02-29 10:00:00,000] DEBUG ",
    b"[2026-13-01 10:00:00,000] DEBUG ",
    b"[2026-00-10 10:00:00,000] DEBUG ",
    b"[2026-11-00 10:00:00,000] DEBUG ",
    b"[2026-11-20 24:00:00,000] DEBUG ",
    b"[2026-11-20 10:60:00,000] DEBUG ",
    b"[0000-11-20 10:00:00,000] DEBUG ",
    b"[2026-11-20 10:00:00;000] DEBUG ",
    b"[2026-11-20T10:00:00,000] DEBUG ",
    b"[2026-11-20 10:00:0\xd9\xa3,000] DEBUG ",
    b"[2026-11-20 10:00:00,000] debug ",
    b"[2026-11-20 10:00:00,000]  DEBUG ",
    b"[2026-11-20 10:00:00,000] UNUSUALLYLONG ",
    b" [2026-11-20 10:00:00,000] DEBUG ",
    b"\xe9[2026-11-20 10:00:00,000] DEBUG ",
    b"",
)
TEXTS = (
    b"",
    b"x",
    b"x" * 900,
    "caf\u00e9 \u2603".encode(),
    b"\xff",
    b" \r",
    b"y\r\r",
    b"[",
    b"\x00",
    b"\x0b",
)


def some_lines(seed: int) -> list[bytes]:
    dice = random.Random(seed)
    return [
        dice.choice(STARTS if dice.random() < 0.7 else OTHERS) + dice.choice(TEXTS) + dice.choice((TAIL, b""))
        for _ in range(200)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_whole_lines_say_what_the_core_reads_in_them(seed):
    lines = some_lines(seed)

    found = kafka_lines.read(pa.array(lines, pa.binary()))

    texts = iter(found.texts(found.is_whole).to_pylist())
    for place, line in enumerate(lines):
        text = line.decode("utf-8", "replace")
        assert found.starts[place] == starts_record(text), line
        if found.is_whole[place]:
            (record,) = kafka_records([text])
            assert (next(texts), record.time.micros) == (record.text, found.micros[place]), line
        else:
            assert not line.startswith(STARTS) or len(line) < 34 or b"\xff" in line, line
    assert next(texts, None) is None
    assert 50 < found.is_whole.sum() < 180


def test_a_slice_of_lines_says_the_same_as_the_lines():
    lines = pa.array(some_lines(0), pa.binary())

    whole, part = kafka_lines.read(lines), kafka_lines.read(lines.slice(50, 70))

    assert (whole.micros[50:120] == part.micros).all()
    assert (whole.is_whole[50:120] == part.is_whole).all()
    assert (
        whole.texts(whole.is_whole).to_pylist()[whole.is_whole[:50].sum() :][:5]
        == (part.texts(part.is_whole).to_pylist()[:5])
    )


def test_no_lines_say_nothing():
    found = kafka_lines.read(pa.array([], pa.binary()))

    assert (len(found.starts), len(found.micros)) == (0, 0)
    assert kafka_lines.read(pa.array([b"", b""], pa.binary())).starts.tolist() == [False, False]


def test_line_feeds_count_only_before_the_end_of_a_message():
    values = [b"one", b"one\n", b"one\r\n\n", b"one\ntwo", b"\n", b"one\n \n", b""]

    found = kafka_lines.spans_lines(pa.array(values, pa.binary()))

    assert found.tolist() == [b"\n" in value.rstrip(b"\r\n") for value in values]
    assert np.flatnonzero(found).tolist() == [3, 5]


@pytest.mark.parametrize(("start", "end"), [(0, 2), (1, 3), (1, 4), (3, 4)])
def test_of_some_messages_only_their_own_line_feeds_count(start, end):
    values = [b"a\nb", b"one", b"c\nd\n", b"\n\n"]

    found = kafka_lines.spans_lines(pa.array(values, pa.binary()).slice(start, end - start))

    assert found.tolist() == [True, False, True, False][start:end]
