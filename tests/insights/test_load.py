"""Is a result of the pipeline loaded whole or not at all, and only where it belongs?"""

from __future__ import annotations

import json
import sys

import pytest

from aclweb.insights.load import InsightsError, load
from aclweb.insights.models import AclUse, Load, SeenRequest
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
