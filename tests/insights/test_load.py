"""Is a result of the pipeline loaded whole or not at all, and only where it belongs?"""

from __future__ import annotations

import json
import sys
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.db.models import QuerySet
from django.utils import timezone

from aclweb.acl.notation.files import binding_key
from aclweb.insights.current import current_load
from aclweb.insights.load import InsightsError, load
from aclweb.insights.models import AclUse, Load, SeenRequest
from aclweb.inventory.models import Cluster
from tests.builders import allow
from tests.insights.conftest import BINDINGS
from tests.insights.results import FIRST, LAST, request, use, write_result


def test_a_result_becomes_the_current_load_with_its_rows(given, read_cluster):
    loaded = given(usage=[use(BINDINGS[0])], requests=[request("User:eve", "READ", "payments.eu")])

    assert loaded.revision_number == read_cluster.revision.number
    assert (loaded.lines_read, loaded.lines_parsed, loaded.permits_seen) == (200, 190, True)
    assert loaded.first_at.replace(tzinfo=None) == FIRST
    assert loaded.last_at.replace(tzinfo=None) == LAST
    assert loaded.uses.get().requests == 5
    seen = loaded.seen.get()
    assert (seen.principal, seen.allowed, seen.days) == ("User:eve", False, [["2026-11-20", 3]])


def test_how_often_an_acl_was_needed_and_what_could_replace_it_is_loaded(given):
    loaded = given(usage=[use(BINDINGS[0], needed=2), use(BINDINGS[1], needed=0, replaceable_by=["a" * 64])])

    rows = {row.key: (row.needed, row.replaceable_by) for row in loaded.uses.all()}
    assert rows == {binding_key(BINDINGS[0]): (2, []), binding_key(BINDINGS[1]): (0, ["a" * 64])}


def test_of_a_request_the_newest_days_are_loaded(given):
    days = [
        {"day": (LAST - timedelta(days=99 - place)).date().isoformat(), "lines": 1} for place in range(100)
    ]

    loaded = given(requests=[request("User:eve", "READ", "payments.eu", lines=100, days=days)])

    seen = loaded.seen.get()
    assert seen.lines == 100
    assert seen.days == [[day["day"], 1] for day in days[10:]]


def test_a_newer_result_takes_the_place_of_the_one_before(given):
    given(usage=[use(BINDINGS[0])])

    newer = given(usage=[use(BINDINGS[0], requests=9), use(BINDINGS[1])])

    assert Load.objects.get() == newer
    assert AclUse.objects.count() == 2


def test_loading_the_same_result_twice_changes_nothing(given):
    facts = {"usage": [use(BINDINGS[0])], "requests": [request("User:eve", "READ", "payments.eu")]}
    given(**facts)

    given(**facts)

    assert (Load.objects.count(), AclUse.objects.count(), SeenRequest.objects.count()) == (1, 1, 1)


def test_a_large_result_is_stored_in_short_transactions_and_seen_only_when_whole(given, monkeypatch):
    given(usage=[use(BINDINGS[0])])
    seen_meanwhile, together = [], []
    store = QuerySet.bulk_create

    def watch(rows, objects):
        seen_meanwhile.append(current_load(Cluster.objects.get()).uses.count())
        together.append(len(objects))
        return store(rows, objects)

    monkeypatch.setattr(QuerySet, "bulk_create", watch)
    monkeypatch.setattr("aclweb.insights.load._ROWS_AT_ONCE", 2)
    newer = given(
        usage=[use(binding) for binding in BINDINGS[:3]],
        requests=[request("User:eve", "READ", f"payments.{n}") for n in range(5)],
    )

    assert seen_meanwhile == [1] * len(together)
    assert max(together) == 2
    assert (newer.uses.count(), newer.seen.count()) == (3, 5)
    assert current_load(newer.cluster) == newer


def test_a_load_that_fails_midway_leaves_the_earlier_one_and_nothing_else(given, monkeypatch):
    given(usage=[use(BINDINGS[0])])

    def fail(row, load):
        raise OperationalError("database or disk is full")

    monkeypatch.setattr("aclweb.insights.load._seen", fail)
    with pytest.raises(OperationalError):
        given(usage=[use(BINDINGS[1])], requests=[request("User:eve", "READ", "payments.eu")])

    assert Load.objects.get().uses.get().key == binding_key(BINDINGS[0])
    assert AclUse.objects.count() == 1


def test_what_a_killed_load_left_is_taken_away_by_the_next(given, read_cluster):
    left = given(usage=[use(BINDINGS[0])])
    Load.objects.update(current=False, loaded_at=timezone.now() - timedelta(hours=2))

    fresh = given(usage=[use(BINDINGS[1])])

    assert current_load(read_cluster) == fresh != left
    assert Load.objects.count() == AclUse.objects.count() == 1


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

    seen = SeenRequest.objects.get(load=loaded)
    assert (seen.principal, seen.resource_name) == ("User:a\x00b\\c", "t\nwo")


def _change(folder, **facts):
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | facts))
