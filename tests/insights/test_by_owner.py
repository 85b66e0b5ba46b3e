"""Is the use by owner what adding up request by request gives, whoever owns what, and however pairs are kept?"""

from __future__ import annotations

import random
from collections import defaultdict

import pytest

from aclweb.insights import pairs
from aclweb.insights.by_owner import by_owner
from aclweb.insights.current import current_load
from aclweb.insights.models import LoadedPairs
from aclweb.insights.pairs import pairs_of
from aclweb.insights.use_map import use_map, used_denied_configured
from aclweb.insights.window import Window
from aclweb.inventory.lists import OwnerBook
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import BINDINGS
from tests.insights.results import request

LETTERS = "ab.é\U0001f600"
KINDS = ("TOPIC", "GROUP", "CLUSTER")


def name(chance):
    return "".join(chance.choices(LETTERS, k=chance.randint(1, 5)))


@pytest.fixture
def world(read_cluster, given):
    """Return a function that makes a cluster of random names, owners and requests, and returns these."""

    def made(seed):
        chance = random.Random(seed)
        said = {
            (
                kind,
                pattern,
                f"User:{name(chance)}"[: chance.randint(6, 9)] if kind == "PRINCIPAL" else name(chance),
            )
            for kind in ("TOPIC", "GROUP", "PRINCIPAL")
            for pattern in ("LITERAL", "PREFIXED")
            for _ in range(chance.randint(1, 12))
        }
        for kind, pattern, text in said:
            read_cluster.owned_names.create(
                kind=kind, pattern_type=pattern, name=text, owner=chance.choice(("", "pay", "ship", "ops"))
            )
        topics = sorted({name(chance) for _ in range(30)})
        added = [
            allow("User:a", "READ", name(chance), pattern=chance.choice(("LITERAL", "PREFIXED")))
            for _ in range(12)
        ]
        sync(read_cluster, client=FakeCluster([*BINDINGS, *set(added)], topics=topics))
        read_cluster.refresh_from_db()
        asked = {
            (
                f"User:{name(chance)}"[: chance.randint(6, 8)],
                chance.choice(KINDS),
                chance.choice((name(chance), chance.choice(topics))),
                chance.random() < 0.7,
                f"10.0.0.{chance.randint(1, 3)}",
            )
            for _ in range(150)
        }
        rows = [
            request(who, "READ", text, resource_type=kind, allowed=allowed, host=host)
            | lines_of(chance.randint(1, 90), chance.choice(("2026-11-08", "2026-11-20")))
            for who, kind, text, allowed, host in sorted(asked)
        ]
        given(requests=rows)
        return topics, rows

    return made


def lines_of(lines, day):
    return {"lines": lines, "days": [{"day": day, "lines": lines}]}


def plainly(cluster, topics, rows):
    """Return by owner what the report has, request by request."""
    book = OwnerBook(cluster)

    def owner(kind, text):
        said = book.of(kind, text)
        return said.owner if said else ""

    found = defaultdict(lambda: defaultdict(int))
    sets = defaultdict(set)
    for topic in topics:
        found[owner("TOPIC", topic)]["topics"] += 1
    for row in rows:
        who, kind, text, lines = (
            row[key] for key in ("principal", "resource_type", "resource_name", "lines")
        )
        asking = owner("PRINCIPAL", who)
        sets[asking, "own_principals"].add(who)
        found[asking]["use" if row["allowed"] else "refused"] += lines
        if row["allowed"]:
            sets[asking, "used"].add((kind, text))
        if kind == "CLUSTER":
            continue
        own = owner(kind, text)
        found[own]["permitted" if row["allowed"] else "denied"] += lines
        if row["allowed"]:
            sets[own, "principals"].add(who)
            sets[own, "bright"].add(text if kind == "TOPIC" and text in topics else None)
            found[own]["others"] += lines if "" != own != asking != "" else 0
    for (own, what), members in sets.items():
        found[own][what] = len(members - {None})
    return found


NUMBERS = (
    *("topics", "permitted", "others", "denied", "principals"),
    *("use", "used", "refused", "own_principals"),
)


@pytest.mark.parametrize("seed", range(4))
def test_the_report_adds_up_what_each_request_says(read_cluster, world, seed):
    topics, rows = world(seed)

    for days, counted in ((None, rows), (7, [row for row in rows if row["days"][0]["day"] > "2026-11-13"])):
        plain = plainly(read_cluster, topics, counted)
        told = {row.owner: row for row in by_owner(read_cluster, days=days).rows}
        for owner, row in told.items():
            assert {each: getattr(row, each) for each in NUMBERS} == {
                each: plain[owner][each] for each in NUMBERS
            }, owner
            if days is None:
                assert row.dark == plain[owner]["topics"] - plain[owner]["bright"]
            assert sum(use.permitted for use in row.names) == row.permitted
            assert sum(use.exists is True for use in row.names) == row.topics
        assert {owner for owner, numbers in plain.items() if any(numbers.values())} <= set(told)
    assert len(told) >= 3


@pytest.mark.parametrize("most", [20, 50_000])
def test_pairs_that_are_kept_are_those_that_are_counted(read_cluster, world, monkeypatch, most):
    monkeypatch.setattr(pairs, "MOST_PAIRS", most)
    world(1)
    load = current_load(read_cluster)
    windows = [Window.of(load, days) for days in (None, 7, 30, 90)]
    kept = [in_words(pairs_of(window)) for window in windows]

    LoadedPairs.objects.all().delete()

    assert [in_words(pairs_of(window)) for window in windows] == kept
    assert {whole for whole, _ in kept} == {most > 20}
    assert kept[0] != kept[1]


def in_words(found):
    """Return whether it is whole, and each pair with its lines and its last time."""
    rows = zip(found.principal, found.name, found.allowed, found.lines, found.last, strict=True)
    return found.whole, sorted(
        (found.principals[who], found.kinds[what], found.names[what], allowed, lines, last)
        for who, what, allowed, lines, last in rows
    )


@pytest.mark.parametrize("seed", range(4))
def test_owners_of_sorted_names_are_those_of_each_name(read_cluster, world, seed):
    world(seed)
    chance = random.Random(f"names {seed}")
    book = OwnerBook(read_cluster)
    names = sorted({name(chance) for _ in range(400)})

    def owner(said):
        return said.owner if said else ""

    assert book.owners_of_each("TOPIC", names) == [owner(book.of("TOPIC", each)) for each in names]
    assert book.owners_of_all_each("TOPIC", names) == [owner(book.of_all("TOPIC", each)) for each in names]


@pytest.mark.parametrize("seed", range(2))
def test_the_map_by_kept_pairs_is_the_map_by_requests(read_cluster, world, monkeypatch, seed):
    world(seed)
    questions = [("used", 7), ("used", 90), ("denied", 90)]
    kept = [use_map(read_cluster, kind=kind, days=days).every for kind, days in questions]
    together = used_denied_configured(read_cluster, days=90).rows

    monkeypatch.setattr(pairs, "MOST_PAIRS", 1)

    assert [use_map(read_cluster, kind=kind, days=days).every for kind, days in questions] == kept
    assert used_denied_configured(read_cluster, days=90).rows == together
    assert all(kept)
