"""Does the load-bearing job find what removing each ACL, and all of a set, does to every logged request?"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from aclweb.acl.authorizer.decision import decide
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.logged.evidence import Wanted
from aclweb.acl.logged.open_names import LAST_COVER
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.notation.files import binding_key
from aclweb.pipeline.history import Ages, History, Period
from tests.builders import allow, deny
from tests.pipeline.made_logs import ALL_HOURS, Line, logged, saying
from tests.pipeline.test_pages import of_arrow, on_the_page
from tests.random_cases import random_request, random_world

pytestmark = pytest.mark.spark

NEEDED = allow("User:a", "WRITE", "orders")
FORBIDS = deny("User:b", "READ", "secret")
ALLOWS_B = allow("User:b", "READ", "*")
EXACT = allow("User:c", "READ", "news")
PREFIX = allow("User:c", "READ", "ne", pattern="PREFIXED")
ALL = allow("User:c", "ALL", "news")
POINTLESS = deny("User:z", "READ", "orders")
UNUSED = allow("User:d", "READ", "orders")
UNUSED_DENY = deny("User:d", "WRITE", "orders")
ORPHAN = allow("User:d", "READ", "gone.", pattern="PREFIXED")
GROUP = allow("User:d", "READ", "no-such-group", resource_type="GROUP")
STRANGER = allow("User:nobody", "READ", "orders")
YOUNG = allow("User:d", "READ", "open")
YOUNG_ORPHAN = allow("User:d", "READ", "soon.", pattern="PREFIXED")
YOUNG_SPARE = allow("User:a", "ALL", "orders")
PLANTED = [
    *(NEEDED, FORBIDS, ALLOWS_B, EXACT, PREFIX, ALL),
    *(POINTLESS, UNUSED, UNUSED_DENY, ORPHAN, GROUP, STRANGER, YOUNG, YOUNG_ORPHAN),
]
LINES = [
    Line("User:a", "WRITE", "orders", lines=7),
    Line("User:a", "WRITE", "orders", lines=5, days_ago=40),
    Line("User:b", "READ", "secret", allowed=False, lines=3),
    Line("User:b", "READ", "open", lines=2),
    Line("User:c", "READ", "news", lines=4),
    Line("User:z", "READ", "orders", allowed=False),
    # It was denied then and is allowed now, so it is no use of the ACL that allows it.
    Line("User:d", "READ", "orders", allowed=False),
]


def run(
    spark, out: Path, bindings, lines, *, days: int = 31, settings=None, history=None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the manifest and the rows of the job, by key."""
    from aclweb.pipeline.job import keeping
    from aclweb.pipeline.load_bearing import STEPS, write_load_bearing

    with keeping() as keep, saying(STEPS) as step:
        write_load_bearing(
            spark,
            snapshot_of(bindings, settings),
            logged(spark, lines, days=days),
            out,
            keep,
            wanted=Wanted(),
            history=history,
            step=step,
        )
    rows = pq.read_table(out / "acls.parquet").to_pylist()
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    return manifest, {row["binding_key"]: row for row in rows}


def snapshot_of(bindings, settings=None):
    from aclweb.acl.matching import SortedNames
    from aclweb.acl.model import ResourceType
    from aclweb.pipeline.snapshot import Snapshot, digest_of

    existing = {
        ResourceType.TOPIC: SortedNames(["orders", "news", "secret", "open"]),
        ResourceType.GROUP: SortedNames(()),
    }
    keys = {binding_key(binding): binding for binding in bindings}
    settings = settings or AuthorizerSettings()
    return Snapshot("test-eu", 7, settings, keys, digest_of(keys), digest_of(keys), existing)


@pytest.fixture(scope="module")
def planted(spark, tmp_path_factory) -> tuple[dict[str, Any], dict[str, Any]]:
    history = grown(PLANTED, {YOUNG, YOUNG_ORPHAN})
    return run(spark, tmp_path_factory.mktemp("out") / "planted", PLANTED, LINES, history=history)


def grown(bindings, young) -> History:
    """A history whose first sync was long ago, and whose sixth found the young ACLs ten days before the log's end."""
    long_ago, lately = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 11, 10, tzinfo=UTC)
    return History(
        tuple(
            Period(each, 6, lately, None, None) if each in young else Period(each, 1, long_ago, None, None)
            for each in bindings
        )
    )


def test_each_planted_acl_has_its_state(planted):
    manifest, rows = planted

    assert {binding: rows[binding_key(binding)]["state"] for binding in PLANTED} == {
        NEEDED: "needed",
        FORBIDS: "needed",
        ALLOWS_B: "needed",
        **dict.fromkeys((EXACT, PREFIX, ALL, POINTLESS), "replaceable"),
        **dict.fromkeys((UNUSED, UNUSED_DENY, GROUP, STRANGER), "unused"),
        **dict.fromkeys((YOUNG, YOUNG_ORPHAN), "too young"),
        ORPHAN: "orphaned",
    }
    assert manifest["load_bearing"] == {
        "needed": 3,
        "replaceable": 4,
        "unused": 4,
        "orphaned": 1,
        "too young": 2,
        "no data": 0,
        "removable": 3,
    }


def test_what_explains_that_nothing_needed_it_is_said(planted):
    reasons = {each: planted[1][binding_key(each)]["reason"] for each in (UNUSED, GROUP, STRANGER, YOUNG)}

    assert reasons == {
        UNUSED: "",
        GROUP: "No group that exists matches it.",
        STRANGER: "No request of its principal is in the log.",
        YOUNG: "It exists since 2026-11-10 00:00 UTC, so the log covers too little of its time.",
    }


def test_a_young_acl_may_not_go_though_others_settle_what_was_logged(spark, tmp_path):
    both = [NEEDED, YOUNG_SPARE]
    lines = [Line("User:a", "WRITE", "orders")]

    _, rows = run(spark, tmp_path / "out", both, lines, history=grown(both, {YOUNG_SPARE}))

    found = {each: rows[binding_key(each)] for each in both}
    assert {row["state"] for row in found.values()} == {"replaceable"}
    assert [found[each]["removable"] for each in both] == [True, False]


def test_a_needed_acl_has_its_lines_of_the_whole_log_and_of_the_last_days(planted):
    row = planted[1][binding_key(NEEDED)]

    assert (row["requests"], row["needed"], row["needed_lately"]) == (12, 12, 7)
    assert (row["replaceable_by"], row["removable"]) == ([], False)


def test_a_replaceable_acl_names_the_others_and_one_of_them_stays(planted):
    rows = planted[1]
    keys = {binding_key(binding) for binding in (EXACT, PREFIX, ALL)}

    assert {key: set(rows[key]["replaceable_by"]) for key in keys} == {key: keys - {key} for key in keys}
    assert sorted(rows[key]["removable"] for key in keys) == [False, True, True]
    assert rows[binding_key(POINTLESS)]["reason"] == "Without it the default gives the same answers."


def test_too_short_a_log_calls_nothing_unused_and_says_what_is_missing():
    from aclweb.acl.logged.evidence import BrokerDay, evidence_in
    from aclweb.pipeline.load_bearing import _Known, _state

    day = BrokerDay("a", date(2026, 11, 20), ALL_HOURS, ALL_HOURS)
    noon = datetime(2026, 11, 20, 12)
    evidence = evidence_in([day], first_at=noon, last_at=noon, permits_seen=True, wanted=Wanted())
    known = _Known(
        evidence,
        snapshot_of([]).existing,
        AuthorizerSettings(),
        AclIndex([]),
        Ages({}, {}),
        frozenset({"User:d"}),
        is_then_known=False,
    )
    reason = "the log covers 1 hour, and at least 30 days are needed (ACLWEB_UNUSED_DAYS)"

    states = [_state(binding, {}, known) for binding in (UNUSED, ORPHAN)]

    assert states == [("no data", reason), ("orphaned", "No topic that exists matches it.")]


def test_what_the_first_sync_found_within_the_days_is_unused_and_of_unknown_age():
    from aclweb.acl.logged.evidence import Evidence, both
    from aclweb.pipeline.load_bearing import _Known, _state

    found_at = datetime(2026, 11, 10, tzinfo=UTC)
    known = _Known(
        Evidence(30, datetime(2026, 10, 21), datetime(2026, 11, 20), both("")),
        snapshot_of([]).existing,
        AuthorizerSettings(),
        AclIndex([]),
        Ages({YOUNG: found_at}, {UNUSED: found_at}),
        frozenset({"User:d"}),
        is_then_known=False,
    )

    assert _state(UNUSED, {}, known) == (
        "unused",
        "Its age is unknown: the first sync found it on 2026-11-10.",
    )
    assert _state(YOUNG, {}, known)[0] == "too young"


def test_the_last_acl_on_a_name_is_needed_where_no_acl_means_that_everyone_may(spark, tmp_path):
    pay = allow("User:bob", "READ", "pay")
    both = [allow("User:c", "READ", "news"), allow("User:c", "ALL", "news")]
    lines = [Line("User:bob", "READ", "pay"), Line("User:c", "READ", "news")]
    eve = Line("User:eve", "READ", "pay").request
    world = AuthorizerSettings(allow_everyone=True)

    _, rows = run(spark, tmp_path / "out", [pay, *both], lines, settings=world)

    alone = rows[binding_key(pay)]
    assert (alone["requests"], alone["needed"], alone["replaceable_by"]) == (1, 0, [])
    assert (alone["state"], alone["reason"], alone["removable"]) == ("needed", LAST_COVER, False)
    assert sorted(rows[binding_key(each)]["removable"] for each in both) == [False, True]
    left = AclIndex(each for each in [pay, *both] if not rows[binding_key(each)]["removable"])
    assert decide(eve, left, world)[0].name == "DENIED"
    assert decide(replace(eve, resource_name="news"), left, world)[0].name == "DENIED"


def test_what_too_short_a_log_shows_is_removable_for_no_acl(spark, tmp_path):
    manifest, rows = run(spark, tmp_path / "out", [EXACT, ALL], LINES, days=2)

    assert {row["state"] for row in rows.values()} == {"replaceable"}
    assert [row["removable"] for row in rows.values()] == [False, False]
    assert manifest["load_bearing"]["removable"] == 0


def test_the_page_names_every_column_with_its_type():
    from aclweb.pipeline.load_bearing import ACLS

    assert on_the_page("`acls.parquet`") == of_arrow(ACLS)


@pytest.mark.parametrize("seed", [3])
def test_in_a_random_world_it_finds_what_removing_one_and_all_does(spark, tmp_path, seed):
    rng = random.Random(f"load bearing {seed}")
    world = random_world(rng, authorizer="standard", most=60)
    bindings = list(dict.fromkeys((*world.bindings, *(random_world(rng, authorizer="standard").bindings))))
    index = AclIndex(bindings)
    lines = []
    for _ in range(150):
        request = random_request(rng, world)
        allowed = decide(request, index, world.settings)[0].name == "ALLOWED"
        lines.append(
            Line(
                request.principal,
                request.operation.name,
                request.resource.name,
                allowed=allowed if rng.random() < 0.9 else not allowed,
                lines=rng.randint(1, 9),
                kind=request.resource_type.name,
                host=request.host,
            )
        )
    needed: Counter[str] = Counter()
    for binding in bindings:
        without = AclIndex(other for other in bindings if other != binding)
        for line in lines:
            now = decide(line.request, index, world.settings)[0]
            agrees = (now.name == "ALLOWED") == line.allowed
            if agrees and decide(line.request, without, world.settings)[0] is not now:
                needed[binding_key(binding)] += line.lines

    manifest, rows = run(spark, tmp_path / "out", bindings, lines, settings=world.settings)

    assert {key: row["needed"] for key, row in rows.items() if row["needed"]} == needed
    states = {key for key, row in rows.items() if row["state"] == "needed"}
    assert {key for key in states if rows[key]["reason"] != LAST_COVER} == set(needed)
    left = AclIndex(binding for binding in bindings if not rows[binding_key(binding)]["removable"])
    turned = [
        line
        for line in lines
        if decide(line.request, index, world.settings)[0] is not decide(line.request, left, world.settings)[0]
    ]
    assert turned == []
    assert manifest["load_bearing"]["removable"] > 0
