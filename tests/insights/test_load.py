"""Is a result of the pipeline loaded whole or not at all, and only where it belongs?"""

from __future__ import annotations

import json
import sys
from datetime import timedelta

import pytest
from django.db import OperationalError

from aclweb.acl.notation.files import binding_key
from aclweb.insights.current import current_load
from aclweb.insights.errors import InsightsError
from aclweb.insights.load import load
from aclweb.insights.models import AclUse, Load
from tests.builders import allow
from tests.insights.conftest import BINDINGS
from tests.insights.held import held_in
from tests.insights.results import FIRST, LAST, request, use, write_result


def test_a_result_becomes_the_current_load_with_its_rows(given, read_cluster):
    loaded = given(usage=[use(BINDINGS[0])], requests=[request("User:eve", "READ", "payments.eu")])

    assert loaded.revision_number == read_cluster.revision.number
    assert (loaded.lines_read, loaded.lines_parsed, loaded.permits_seen) == (200, 190, True)
    assert loaded.first_at.replace(tzinfo=None) == FIRST
    assert loaded.last_at.replace(tzinfo=None) == LAST
    assert loaded.uses.get().requests == 5
    ((names, facts),) = held_in(loaded).items()
    assert names == ("User:eve", "10.0.0.7", "READ", "TOPIC", "payments.eu", False)
    assert facts[-1] == (("2026-11-20", 3),)


def test_how_often_an_acl_was_needed_and_what_could_replace_it_is_loaded(given):
    loaded = given(usage=[use(BINDINGS[0], needed=2), use(BINDINGS[1], needed=0, replaceable_by=["a" * 64])])

    rows = {row.key: (row.needed, row.replaceable_by) for row in loaded.uses.all()}
    assert rows == {binding_key(BINDINGS[0]): (2, []), binding_key(BINDINGS[1]): (0, ["a" * 64])}


def test_of_a_request_the_newest_days_are_loaded(given):
    days = [
        {"day": (LAST - timedelta(days=99 - place)).date().isoformat(), "lines": 1} for place in range(100)
    ]

    loaded = given(requests=[request("User:eve", "READ", "payments.eu", lines=100, days=days)])

    (facts,) = held_in(loaded).values()
    assert facts[:4] == (100, 7, 30, 90)
    assert facts[-1] == tuple((day["day"], 1) for day in days[10:])


def test_a_newer_result_takes_the_place_of_the_one_before(given, read_cluster):
    before = given(usage=[use(BINDINGS[0])])

    newer = given(usage=[use(BINDINGS[0], requests=9), use(BINDINGS[1])])

    assert current_load(read_cluster) == newer
    assert newer.uses.count() == 2
    assert before.uses.get().requests == 5, "a page that has begun still reads it"


def test_only_the_load_before_stays_beside_the_current_one(given):
    for requests in (1, 2, 3, 4):
        given(usage=[use(BINDINGS[0], requests=requests)])

    assert sorted(AclUse.objects.values_list("requests", flat=True)) == [3, 4]
    assert Load.objects.count() == 2


def test_the_days_of_an_acl_are_those_of_the_requests_that_it_settles(given):
    first, second = (binding_key(binding) for binding in BINDINGS[:2])
    days = [
        {"day": "2026-10-21", "lines": 4},
        {"day": "2026-10-22", "lines": 2},
        {"day": "2026-11-20", "lines": 1},
    ]
    both = {
        "allowed": True,
        "decided_now": "ALLOWED",
        "days": days,
        "lines": 7,
        "determining": [first, second],
    }

    loaded = given(
        usage=[use(BINDINGS[0]), use(BINDINGS[1]), use(BINDINGS[2])],
        requests=[
            request("User:bob", "READ", "payments.eu", **both),
            request("User:bob", "READ", "payments.us", **both | {"determining": [first]}),
            # The ACLs answer otherwise by now.
            request("User:bob", "READ", "orders", **both | {"decided_now": "DENIED"}),
        ],
    )

    uses = {use.key: (use.requests_30, use.days) for use in loaded.uses.all()}
    assert uses == {
        first: (6, [["2026-10-21", 8], ["2026-10-22", 4], ["2026-11-20", 2]]),
        second: (3, [["2026-10-21", 4], ["2026-10-22", 2], ["2026-11-20", 1]]),
        binding_key(BINDINGS[2]): (0, []),
    }


def test_a_result_of_an_earlier_version_does_not_tell_the_last_30_days(given):
    loaded = given(
        usage=[use(BINDINGS[0])], requests=[request("User:eve", "READ", "x")], without=["determining"]
    )

    assert loaded.uses.get().requests_30 is None


def test_the_last_30_days_of_a_log_without_times_are_unknown_and_not_zero(read_cluster, tmp_path):
    folder = write_result(
        tmp_path / "usage",
        BINDINGS,
        usage=[use(BINDINGS[0])],
        requests=[request("User:eve", "READ", "x", determining=[binding_key(BINDINGS[0])])],
    )
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["coverage"] |= {"first_at": None, "last_at": None}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    assert load(folder, read_cluster).uses.get().requests_30 is None


def test_a_load_that_fails_midway_leaves_the_earlier_one_and_nothing_else(given, read_cluster, monkeypatch):
    before = given(usage=[use(BINDINGS[0])])

    def fail(fresh, row, days):
        raise OperationalError("database or disk is full")

    monkeypatch.setattr("aclweb.insights.load._use", fail)
    with pytest.raises(OperationalError):
        given(usage=[use(BINDINGS[1])], requests=[request("User:eve", "READ", "payments.eu")])

    assert current_load(read_cluster) == Load.objects.get() == before
    assert AclUse.objects.get().key == binding_key(BINDINGS[0])
    assert held_in(before) == {}


def test_a_result_about_other_acls_is_refused(given, read_cluster, tmp_path):
    given(usage=[use(BINDINGS[0])])
    stranger = write_result(tmp_path / "other", [allow("User:x", "READ", "y")])

    with pytest.raises(InsightsError, match="that test-eu never held"):
        load(stranger, read_cluster)

    assert Load.objects.get().uses.count() == 1


@pytest.mark.parametrize(
    "break_it, told",
    [
        (lambda folder: (folder / "manifest.json").unlink(), "holds no manifest.json"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "cannot be read as a manifest"),
        (lambda folder: _change(folder, job="access"), "is not of the job 'usage'"),
        (lambda folder: _change(folder, format=99), "has the format 99"),
        (lambda folder: _change(folder, rows={"usage": 4, "requests": 0}), "should hold 4 rows and holds 0"),
        (lambda folder: (folder / "usage.parquet").unlink(), "is missing"),
    ],
)
def test_a_broken_result_is_refused_and_the_earlier_one_stays(given, read_cluster, tmp_path, break_it, told):
    before = given(usage=[use(BINDINGS[0])])
    folder = write_result(tmp_path / "broken", BINDINGS)
    break_it(folder)

    with pytest.raises(InsightsError, match=told):
        load(folder, read_cluster)

    assert Load.objects.get() == before


def test_a_machine_without_pyarrow_is_told_what_is_missing(read_cluster, tmp_path, monkeypatch):
    folder = write_result(tmp_path / "usage", BINDINGS)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    with pytest.raises(InsightsError, match="pyarrow"):
        load(folder, read_cluster)


def test_names_that_a_database_cannot_hold_come_back_as_they_were(given):
    loaded = given(requests=[request("User:a\x00b\\c", "READ", "t\nwo")])

    ((names, _),) = held_in(loaded).items()
    assert (names[0], names[4]) == ("User:a\x00b\\c", "t\nwo")


def _change(folder, **facts):
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | facts))
