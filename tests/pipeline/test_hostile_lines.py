"""Is no record with hostile names read as something that nobody logged? ACLWEB_TEST_SCALE=full asks a million."""

from __future__ import annotations

import os

from tests.pipeline.hostile_lines import Found, judge, read_by_core, read_by_worker, try_out

COUNT = 1_000_000 if os.environ.get("ACLWEB_TEST_SCALE") == "full" else 3_000
REQUEST = ("User:a", "10.0.0.7", "READ", "TOPIC", "orders", True, "Fetch", "SuperUser", None)
TEXT = (
    "INFO Principal = User:a is Allowed operation = READ from host = 10.0.0.7 on resource = Topic:LITERAL:orders for "
    "request = Fetch with resourceRefCount = 1 based on rule SuperUser (kafka.authorizer.logger)"
)


def test_no_record_with_hostile_names_is_read_as_what_nobody_logged():
    by_worker, by_core = try_out(COUNT, 14)

    assert (by_worker.wrong[:3], by_core.wrong[:3]) == ([], [])
    assert by_worker == by_core
    assert by_worker.records == COUNT
    assert by_worker.right > 0.8 * COUNT
    assert 0 < by_worker.ambiguous_and_other < by_worker.ambiguous < 0.1 * COUNT


def test_a_wrong_reading_would_be_noticed_unless_it_says_that_it_is_not_sure():
    (read,) = read_by_worker([f"[2026-11-21 13:28:48,372] {TEXT}"])
    assert [read] == [*read_by_core([f"[2026-11-21 13:28:48,372] {TEXT}"])]
    assert read == (TEXT, "decision", REQUEST, False, 1)
    other = (*REQUEST[:4], "other", *REQUEST[5:])

    for truths, is_ambiguous, wanted in (
        ({REQUEST}, False, (1, 0, 0)),
        ({other}, False, (0, 0, 1)),
        ({REQUEST, other}, False, (0, 0, 1)),
        ({other}, True, (0, 1, 0)),
        (set(), False, (0, 0, 1)),
    ):
        found = Found()
        judge(found, [(*read[:3], is_ambiguous, 1)], {TEXT: truths})
        assert (found.right, found.ambiguous_and_other, len(found.wrong)) == wanted
