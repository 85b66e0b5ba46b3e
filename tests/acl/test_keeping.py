"""An impact that is kept says what the what-if said, entry by entry."""

from __future__ import annotations

import json
import random
import zlib
from dataclasses import replace
from typing import Any

import pytest

from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.matching.unmatchable import why_no_resource, why_unmatchable
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import AclBinding, AclError
from aclweb.acl.simulate import (
    Names,
    digest,
    digest_of,
    keeping,
    meaning_of,
    of_entries,
    packed,
    simulate,
    trimmed,
    unpacked,
)
from aclweb.acl.simulate.impact import LISTS, Effect, Group, Impact
from aclweb.acl.simulate.sets import Compact, places_in, set_of
from tests.builders import allow, deny
from tests.each import each
from tests.random_cases import SCALE, random_binding, random_world

HASHED = ("gains", "loses", "depends")


def texts(told: object) -> list[str]:
    return sorted(json.dumps(entry, sort_keys=True) for entry in told)  # type: ignore[attr-defined]


def random_impact(seed: int, **options: Any) -> tuple[Delta, AclIndex, Names, AuthorizerSettings, Impact]:
    rng = random.Random(f"differences {seed}")
    world = random_world(rng)
    add = [random_binding(rng, world.settings) for _ in range(rng.randrange(1, 4))]
    remove = [acl for acl in world.bindings if rng.random() < 0.2 and acl not in add]
    delta = Delta(add=tuple(dict.fromkeys(add)), remove=tuple(dict.fromkeys(remove)))
    index, names = AclIndex(world.bindings), Names(topics=("orders", "a", "ab"), new_topics=("brand-new",))
    return delta, index, names, world.settings, simulate(delta, index, names, world.settings, **options)


@each("seed", range(60 * SCALE))
def test_what_is_trimmed_reads_like_the_what_if_and_survives_storing(seed: int) -> None:
    *_, impact = random_impact(seed, merge_equal_hosts=True)
    whole: dict[str, Any] = impact.as_dict()

    less = trimmed(impact)
    kept = unpacked(packed(less))
    as_it_was_stored_first = of_entries(json.loads(json.dumps(whole)))

    assert packed(kept) == packed(less)
    for told in (less, kept, as_it_was_stored_first):
        assert told.counts == impact.counts == {name: len(whole[name]) for name in LISTS}
        assert digest_of(told, HASHED) == digest_of(impact, HASHED)
        entries: dict[str, Any] = told.as_dict()
        for name in (*LISTS, "resources"):
            assert texts(entries[name]) == texts(whole[name])
        assert (entries["unchanged"], entries["warnings"]) == (whole["unchanged"], whole["warnings"])
    assert sum(map(less.cells_in, less.groups)) == sum(map(impact.cells_in, impact.groups))


def packed_by_name(impact: Impact) -> bytes:
    """Pack an impact as versions of aclweb did that spelled out each name of each row."""
    names: list[list[tuple[str, str]]] = []
    sides: list[tuple[str, str, list[int]]] = []
    acls: list[list[str]] = []
    rows: dict[str, list[list[object]]] = {name: [] for name in LISTS}

    def side(told: dict[str, Any] | None) -> int:
        if told is None:
            return -1
        places = []
        for acl in told["determining"]:
            acls.append([acl[field] for field in AclBinding.__slots__])
            places.append(len(acls) - 1)
        sides.append((told["result"], told["basis"], places))
        return len(sides) - 1

    for name in LISTS:
        for entry in impact.as_dict()[name]:  # type: ignore[attr-defined]
            less = entry.get("except") or {"principals": [], "hosts": []}
            names.append([(entry["names"]["kind"], entry["names"]["text"])])
            rows[name].append(
                [
                    entry["principal"],
                    entry["host"],
                    less["principals"],
                    less["hosts"],
                    [entry["operation"]],
                    entry["resource_type"],
                    len(names) - 1,
                    side(entry["before"]),
                    side(entry["after"]),
                    entry.get("reason"),
                ]
            )
    told = {
        "format": 1,
        "rows": rows,
        "names": names,
        "sides": sides,
        "acls": acls,
        "unchanged": impact.unchanged,
        "resources": [(each.resource_type.name, each.name) for each in impact.resources],
        "warnings": impact.warnings,
    }
    return zlib.compress(json.dumps(told).encode())


@each("seed", range(20 * SCALE))
def test_an_impact_that_an_older_version_stored_by_name_is_read_the_same(seed: int) -> None:
    impact = random_impact(seed, merge_equal_hosts=True)[-1]
    read = unpacked(packed_by_name(impact))
    entries: dict[str, Any] = read.as_dict()
    whole: dict[str, Any] = impact.as_dict()
    for name in (*LISTS, "resources"):
        assert texts(entries[name]) == texts(whole[name])
    assert digest_of(read, HASHED) == digest_of(impact, HASHED)
    assert packed(unpacked(packed(read))) == packed(read)


def cut_to(group: Group, respect: int, members: int) -> Group:
    """Return the cells of a group with these principals, hosts or names alone."""
    return (
        replace(group, principals=members),
        replace(group, hosts=members),
        replace(group, compact_names=Compact.of(members)),
    )[respect]


def split(rng: random.Random, impact: Impact) -> Impact:
    """Return the same cells in groups that are cut in two, each in a respect of its own."""
    groups: list[Group] = []
    for group in impact.groups:
        respect = rng.randrange(3)
        whole = (group.principals, group.hosts, group.names)[respect]
        part = set_of(place for place in places_in(whole) if rng.random() < 0.5)
        halves = filter(None, (part, whole & ~part))
        groups += [cut_to(group, respect, half) for half in halves]
    return replace(impact, groups=tuple(rng.sample(groups, len(groups))))


@each("seed", range(60 * SCALE))
def test_an_impact_means_the_same_however_its_cells_are_grouped(seed: int) -> None:
    rng = random.Random(f"grouping {seed}")
    impact = random_impact(seed, merge_equal_hosts=True)[-1]
    one, other = trimmed(impact), split(rng, split(rng, impact))
    assert digest_of(one, HASHED) == digest_of(other, HASHED)
    meanings = meaning_of(impact, HASHED), meaning_of(other, HASHED)
    assert not [*meanings[0].beyond(meanings[1]), *meanings[1].beyond(meanings[0])]
    if impact.groups:
        fewer = replace(impact, groups=impact.groups[1:])
        if impact.groups[0].change in HASHED:
            assert digest_of(fewer, HASHED) != digest_of(one, HASHED)
            assert [*meanings[0].beyond(meaning_of(fewer, HASHED))]


@pytest.mark.parametrize("most_runs, most_together", [(0, 8), (0, 1), (1, 1)])
def test_names_in_many_runs_are_hashed_by_what_they_mean_too(
    most_runs: int, most_together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "_MANY", most_runs)
    monkeypatch.setattr(digest, "_MANY_TOGETHER", most_together)
    for seed in range(30 * SCALE):
        rng = random.Random(f"grouping {seed}")
        impact = random_impact(seed, merge_equal_hosts=True)[-1]
        one = digest_of(trimmed(impact), HASHED)
        assert digest_of(split(rng, split(rng, impact)), HASHED) == one
        if impact.groups and impact.groups[0].change in HASHED:
            assert digest_of(replace(impact, groups=impact.groups[1:]), HASHED) != one


@each("seed", range(60 * SCALE))
def test_what_no_client_can_meet_is_all_that_a_page_leaves_out(seed: int) -> None:
    delta, index, names, settings, whole = random_impact(seed)
    *_, met = random_impact(seed, met_only=True)
    acls = (*index, *delta.add)
    principals = {acl.principal for acl in acls} | settings.super_users | {"nobody names this one"}
    hosts = {acl.host for acl in acls} | {"elsewhere"}
    met_hosts = {
        host
        for host in hosts - {"*"}
        if host == "elsewhere" or why_unmatchable(acl_from(host), settings) is None
    }

    def cells(impact: Impact) -> set[tuple[object, ...]]:
        return {
            (
                name,
                principal,
                host,
                effect.operation,
                effect.resource_type,
                effect.names_kind,
                effect.names_text,
            )
            for name in LISTS
            for effect in getattr(impact, name)
            if exists(effect, names)
            for principal in (
                principals - set(effect.except_principals) if effect.principal == "*" else {effect.principal}
            )
            for host in (
                met_hosts - set(effect.except_hosts) if effect.host == "*" else {effect.host} & met_hosts
            )
        }

    assert cells(met) == cells(whole)
    assert all(exists(effect, names) for name in LISTS for effect in getattr(met, name))
    assert not {effect.host for name in LISTS for effect in getattr(met, name)} - met_hosts - {"*"}


def acl_from(host: str) -> AclBinding:
    return allow("User:x", "READ", "t", host=host)


def exists(effect: Effect, names: Names) -> bool:
    """Whether a resource can have a name of the effect's class."""
    kind = effect.resource_type.name
    given = kind == "TOPIC" and effect.names_text in (*names.topics, *names.new_topics)
    every_name = effect.names_kind == "PREFIX" and not effect.names_text
    if given or every_name or effect.names_kind not in ("EXACT", "PREFIX"):
        return True
    pattern = "LITERAL" if effect.names_kind == "EXACT" else "PREFIXED"
    like = allow("User:x", "READ", effect.names_text, pattern=pattern, resource_type=kind)
    return why_no_resource(like) is None


def test_an_effect_stored_by_a_newer_version_is_refused_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keeping, "FORMAT", 9)
    newer = packed(trimmed(random_impact(1)[-1]))
    monkeypatch.undo()

    with pytest.raises(AclError, match="written by a newer one"):
        unpacked(newer)


def test_the_same_answers_have_the_same_hash_whatever_other_acls_divide_the_names() -> None:
    delta = Delta(add=(allow("User:etl", "READ", "*"),))
    names = Names(topics=("a", "b", "c"))
    plain = [deny("User:etl", "WRITE", "a")]
    divided = [*plain, deny("User:etl", "WRITE", "b"), allow("User:etl", "CREATE", "c")]

    first, second = (
        simulate(delta, AclIndex(acls), names, merge_equal_hosts=True) for acls in (plain, divided)
    )

    assert second.groups != first.groups
    assert digest_of(first, HASHED) == digest_of(second, HASHED)


def test_equal_sides_are_stored_once_though_they_are_not_the_same_object() -> None:
    impact = trimmed(random_impact(3, merge_equal_hosts=True)[-1])
    copied = replace(
        impact, groups=tuple(replace(group, after=replace(group.after)) for group in impact.groups)
    )

    assert len(impact.groups) > 1
    assert packed(copied) == packed(impact)
