"""An impact of groups: exactly the cells that differ, once each, in groups of which no two could be one."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tracemalloc
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import fields, replace
from functools import reduce
from itertools import islice
from operator import or_, xor
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from aclweb.acl.authorizer import AclIndex, Basis, Result
from aclweb.acl.cli.main import main
from aclweb.acl.model import AclBinding, AuthorizerSettings, Delta, ResourceType
from aclweb.acl.simulate import (
    Effect,
    Impact,
    Names,
    digest_of,
    digest_of_groups,
    entries_as_json,
    groups_as_json,
    packed,
    simulate,
    trimmed,
    unpacked,
    whatever_the_acls,
    writing,
)
from aclweb.acl.simulate.axes import NameAxis
from aclweb.acl.simulate.impact import Side
from aclweb.acl.simulate.sessions import Sessions
from aclweb.acl.simulate.sets import (
    Compact,
    InOrder,
    flags_of,
    joined_of,
    least,
    least_of_runs,
    places_in,
    run,
    runs_of,
    set_of,
    set_of_flags,
    set_of_runs,
    whole_of,
)
from aclweb.acl.simulate.warnings import NamesByType, Warnings
from bench import worlds as made_up
from tests.acl import test_glob_whatif, test_whatif
from tests.builders import allow, deny
from tests.cell_by_cell import classes as former
from tests.cell_by_cell.simulation import simulate as cell_by_cell
from tests.each import each
from tests.random_cases import SCALE

LISTS = ("gains", "loses", "recovered", "depends")
CHUNKS, WORLDS = 10, 8 * SCALE
Cells = dict[tuple[object, ...], tuple[object, ...]]

# Prints the groups of an edit that gives each of several hosts an answer of its own.
OF_HOSTS = """
from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import Delta
from aclweb.acl.simulate import Names, groups_as_json, simulate
from tests.builders import allow

add = tuple(allow("User:a", "READ", "t", host=f"10.0.0.{number}") for number in range(20))
print(*groups_as_json(simulate(Delta(add=add), AclIndex(), Names(topics=("t",)))))
"""


def cells_of(impact: Any, principals: Iterable[str], hosts: Iterable[str]) -> Cells:
    """Return what becomes of each cell, as the single differences of an impact say it."""
    everyone, everywhere = (*sorted(principals), None), (*sorted(hosts), None)
    found: Cells = {}
    for change in LISTS:
        for effect in getattr(impact, change):
            callers = _members(effect.principal, effect.except_principals, everyone)
            addresses = _members(effect.host, effect.except_hosts, everywhere)
            assert effect.cells == len(callers) * len(addresses)
            for principal in callers:
                for host in addresses:
                    cell = (
                        effect.resource_type,
                        effect.names_kind,
                        effect.names_text,
                        effect.operation,
                        principal,
                        host,
                    )
                    assert cell not in found, "two differences say what becomes of one cell"
                    found[cell] = _becomes(change, effect)
    return found


def _members(text: str, less: tuple[str, ...], everything: tuple[str | None, ...]) -> list[str | None]:
    return [each for each in everything if each not in less] if text == "*" else [text]


def _becomes(change: str, effect: Effect) -> tuple[object, ...]:
    # The engine of cells lists ranges in its reason on which the operation cannot depend.
    sides = [side and (side.result.value, side.basis.value, side.determining) for side in _sides(effect)]
    return (change, *sides, effect.reason is not None)


def _sides(effect: Effect) -> Iterator[Any]:
    yield effect.before
    yield effect.after


def former_names(names: Names) -> former.Names:
    return former.Names(**{field.name: getattr(names, field.name) for field in fields(names)})


def classes_listed(warnings: Warnings, found: NamesByType) -> str:
    """Return all classes of names that a warning is about, as the engine of cells lists them."""
    return str(
        sorted(
            (kind.name, *each)
            for kind, names in found.items()
            for each in warnings.worlds.universe.axis(kind).classes(names)
        )
    )


def compared(
    delta: Delta,
    bindings: Iterable[AclBinding],
    names: Names,
    settings: AuthorizerSettings,
    after_settings: AuthorizerSettings,
    *,
    brief: bool,
) -> Impact:
    """Return the impact, after comparing it with what the engine of cells finds."""
    index = AclIndex(bindings)
    with mock.patch.object(Warnings, "_classes", classes_listed):
        found = simulate(
            delta, index, names, settings, after_settings, merge_equal_hosts=brief, met_only=brief
        )
    expected = cell_by_cell(
        delta, index, former_names(names), settings, after_settings, merge_equal_hosts=brief, met_only=brief
    )
    axes = found.axes
    assert cells_of(found, axes.principals.texts, axes.hosts.texts) == cells_of(
        expected, axes.principals.texts, axes.hosts.texts
    )
    assert found.unchanged == expected.unchanged
    assert set(found.resources) == set(expected.resources)
    assert sorted(found.warnings) == sorted(expected.warnings)
    return found


def assert_groups_are_disjoint_and_none_can_be_joined(impact: Impact) -> None:
    sets = [
        (group.principals, group.hosts, set_of(op.code for op in group.operations), group.names)
        for group in impact.groups
    ]
    for place, one in enumerate(sets):
        for other, second in enumerate(sets[:place]):
            first_group, second_group = impact.groups[place], impact.groups[other]
            if first_group.resource_type is not second_group.resource_type:
                continue
            assert any(not mine & theirs for mine, theirs in zip(one, second, strict=True))
            becomes = [
                (group.change, group.before, group.after, group.reason)
                for group in (first_group, second_group)
            ]
            if becomes[0] == becomes[1]:
                assert sum(mine != theirs for mine, theirs in zip(one, second, strict=True)) > 1


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_groups_hold_exactly_the_cells_that_the_engine_of_cells_finds(chunk: int) -> None:
    met = 0
    for seed in range(chunk * WORLDS, (chunk + 1) * WORLDS):
        case = test_whatif.random_edit(40_000 + seed)
        for brief in (False, True):
            impact = compared(
                case.delta,
                case.before.bindings,
                case.names,
                case.before.settings,
                case.after.settings,
                brief=brief,
            )
            assert_groups_are_disjoint_and_none_can_be_joined(impact)
            met += len(impact.groups)
    assert met > 10


@pytest.mark.parametrize("chunk", range(CHUNKS // 2))
def test_under_the_glob_proposal_groups_hold_the_same_cells_too(chunk: int) -> None:
    met = 0
    for seed in range(chunk * WORLDS, (chunk + 1) * WORLDS):
        case = test_glob_whatif.random_edit(40_000 + seed)
        for brief in (False, True):
            impact = compared(
                case.delta, case.before, case.names, case.settings, case.after_settings, brief=brief
            )
            assert_groups_are_disjoint_and_none_can_be_joined(impact)
            met += len(impact.groups)
    assert met > 10


@pytest.mark.parametrize("seed", range(4 * SCALE))
def test_clusters_that_share_nothing_differ_alike_without_their_acls(seed: int) -> None:
    count = 120 * (seed % 4 + 1)
    left, right = (list(made_up.bindings(count, seed=2 * seed + side)) for side in (1, 2))
    index, names = AclIndex(left), Names(topics=tuple(made_up.topic_names(40 * count)))
    if seed % 2:
        right.append(allow("User:svc-0001", "READ", "nl.", pattern="PREFIXED", host="10.0.0.0/8"))
        right.append(deny("User:*", "READ", "*", host="10.0.0.0/9"))
    settings = [AuthorizerSettings(), AuthorizerSettings(allow_everyone=seed % 4 > 1)]
    whole, without = (
        simulate(
            Delta.between(left, right),
            index,
            names,
            *settings,
            merge_equal_hosts=True,
            met_only=True,
            with_acls=with_acls,
        )
        for with_acls in (True, False)
    )

    assert digest_of(without, LISTS) == digest_of(whole, LISTS)
    assert len(without.groups) < len(whole.groups)
    assert without.unchanged == whole.unchanged


@each("seed", range(40 * SCALE))
def test_sessions_taken_at_once_make_the_groups_of_those_taken_by_operation(seed: int) -> None:
    case = test_whatif.random_edit(46_000 + seed)
    found = []
    for is_at_once in (True, False):
        with nullcontext() if is_at_once else mock.patch.object(Sessions, "can_be_taken_at_once", _never):
            found.append(
                simulate(
                    case.delta,
                    AclIndex(case.before.bindings),
                    case.names,
                    case.before.settings,
                    case.after.settings,
                    merge_equal_hosts=seed % 2 == 0,
                    with_acls=False,
                )
            )

    assert_groups_are_disjoint_and_none_can_be_joined(found[0])
    assert found[0].groups == found[1].groups
    assert found[0].unchanged == found[1].unchanged


def _never(*_: object) -> bool:
    return False


@each("seed", range(40 * SCALE))
def test_without_their_acls_the_same_answers_differ_in_hardly_more_groups(seed: int) -> None:
    case = test_whatif.random_edit(45_000 + seed)
    whole, without = (
        simulate(
            case.delta,
            AclIndex(case.before.bindings),
            case.names,
            case.before.settings,
            case.after.settings,
            merge_equal_hosts=True,
            met_only=True,
            with_acls=with_acls,
        )
        for with_acls in (True, False)
    )

    assert digest_of(without, LISTS) == digest_of(whole, LISTS)
    assert (without.unchanged, without.covered) == (whole.unchanged, whole.covered)
    assert without.warnings[0].startswith(
        "So many answers differ that the ACLs which settle them are left out."
    )
    assert without.warnings[1:] == whole.warnings
    # Cells are joined by names before they are by principals: equal answers on one name can part two others.
    assert len(without.groups) <= len(whole.groups) * 1.1 + 3
    sides = [side for group in without.groups for side in (group.before, group.after) if side is not None]
    assert not any(side.determining for side in sides)
    assert_groups_are_disjoint_and_none_can_be_joined(without)


@each("seed", range(20 * SCALE))
def test_under_the_glob_proposal_the_same_answers_differ_without_their_acls(seed: int) -> None:
    case = test_glob_whatif.random_edit(46_000 + seed)
    whole, without = (
        simulate(
            case.delta,
            AclIndex(case.before),
            case.names,
            case.settings,
            case.after_settings,
            merge_equal_hosts=True,
            met_only=True,
            with_acls=with_acls,
        )
        for with_acls in (True, False)
    )

    assert digest_of(without, LISTS) == digest_of(whole, LISTS)
    assert without.unchanged == whole.unchanged


def test_an_answer_that_another_acl_settles_in_a_range_does_not_depend_on_it() -> None:
    settings = AuthorizerSettings(authorizer="glob")
    anywhere, in_range = allow("User:a", "READ", "t"), allow("User:a", "READ", "t", host="10.0.0.0/8")
    names = Names(topics=("t",))
    for refused, depend in ((anywhere, False), (deny("User:a", "READ", "t", host="10.0.0.0/9"), True)):
        impact = simulate(
            Delta(add=(anywhere, in_range, refused)), AclIndex(), names, settings, merge_equal_hosts=True
        )
        assert bool(impact.depends) == depend
        assert bool(impact.gains)


def test_an_edit_of_everything_is_one_group_however_many_names_there_are() -> None:
    topics = tuple(f"topic-{number}" for number in range(5_000))
    impact = simulate(Delta(add=(allow("User:etl", "READ", "*"),)), AclIndex(), Names(topics=topics))
    (group,) = impact.groups
    assert impact.cells_in(group) == 2 * (len(topics) + 1)
    assert len(impact.gains) == impact.cells_in(group)


def test_who_could_read_before_is_left_out_of_the_group_that_gains() -> None:
    own = [allow("User:ada", "READ", f"a-{number}") for number in range(20)]
    names = Names(topics=tuple(f"{letter}-{number}" for letter in "ab" for number in range(20)))
    impact = simulate(
        Delta(add=(allow("User:ada", "READ", "*"),)), AclIndex(own), names, merge_equal_hosts=True
    )
    (group,) = impact.groups
    existing = [text for kind, text in impact.axes.names[ResourceType.TOPIC].classes(group.names)]
    assert existing == [*sorted(f"b-{number}" for number in range(20)), ""]


def test_every_process_puts_the_groups_of_an_impact_in_the_same_order() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", OF_HOSTS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            check=True,
            timeout=300,
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(printed) == 1
    assert printed.pop().count(b'"category"') == 20


def test_the_json_of_entries_is_the_dictionary_written_piece_by_piece() -> None:
    acls = AclIndex([deny("User:a", "READ", "t", host="10.0.0.7"), allow("User:*", "WRITE", "u")])
    delta = Delta(add=(allow("User:*", "READ", "*"),), remove=(allow("User:*", "WRITE", "u"),))
    for names in (Names(), Names(topics=("t", "u"), new_topics=("v",))):
        impact = simulate(delta, acls, names)
        assert "".join(entries_as_json(impact)) == json.dumps(impact.as_dict())
    nothing = simulate(Delta(), acls)
    assert "".join(entries_as_json(nothing)) == json.dumps(nothing.as_dict())


def peak_bytes_of(pieces: Iterator[str], count: int | None = None) -> int:
    """Return the most memory that making the first pieces takes, without keeping one."""
    tracemalloc.start()
    try:
        deque(islice(pieces, count), maxlen=0)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_entries_of_a_group_are_made_one_at_a_time_whatever_their_number() -> None:
    names = Names(
        topics=("t",),
        principals=tuple(f"User:u{number}" for number in range(400)),
        hosts=tuple(f"10.0.{number // 250}.{number % 250}" for number in range(500)),
    )
    impact = simulate(Delta(add=(allow("User:*", "READ", "t"),)), AclIndex(), names)
    callers, hosts = impact.axes.principals, impact.axes.hosts
    group = replace(impact.groups[0], principals=callers.all ^ callers.others, hosts=hosts.all ^ hosts.others)
    by_name = replace(impact, groups=(group,))

    assert by_name.effects_in(group) == 2 * 400 * 500
    assert peak_bytes_of(entries_as_json(by_name), 1_000) < 2**20


def test_the_acls_of_few_answers_are_kept_while_entries_are_written(monkeypatch) -> None:
    monkeypatch.setattr(writing, "_MOST_ACLS_KEPT", 2_000)
    impact = simulate(Delta(add=(allow("User:a", "READ", "t"),)), AclIndex(), Names(topics=("t",)))
    (group,) = impact.groups
    acls = tuple(allow("User:a", "READ", f"t{number}") for number in range(500))
    groups = tuple(
        replace(group, after=replace(group.after, determining=acls[: -number - 1])) for number in range(40)
    )

    assert peak_bytes_of(entries_as_json(replace(impact, groups=groups))) < 3 * 2**20


def expanded(told: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    """Yield category, caller and name of each entry that the groups of `whatif --groups` stand for."""
    for group in told["groups"]:
        names = [("EXACT", name) for name in group["names"]["existing"]]
        names += [(pattern["kind"], pattern["text"]) for pattern in group["names"]["patterns"]]
        for principal, less in _spelled_out(group["principals"]):
            for host, less_hosts in _spelled_out(group["hosts"]):
                for operation in group["operations"]:
                    for kind, text in names:
                        yield (
                            group["category"],
                            principal,
                            less,
                            host,
                            less_hosts,
                            operation,
                            group["resource_type"],
                            kind,
                            text,
                        )


def _spelled_out(told: dict[str, list[str]]) -> list[tuple[str, tuple[str, ...]]]:
    if "not_in" in told:
        return [("*", tuple(told["not_in"]))]
    return [(text, ()) for text in told["in"]]


@each("seed", range(20 * SCALE))
def test_groups_as_json_expand_to_the_entries_of_the_plain_form(seed: int) -> None:
    case = test_whatif.random_edit(50_000 + seed)
    impact = simulate(
        case.delta, AclIndex(case.before.bindings), case.names, case.before.settings, case.after.settings
    )
    told = json.loads("".join(groups_as_json(impact)))
    entries = [
        (
            change,
            entry["principal"],
            tuple(entry.get("except", {}).get("principals", ())),
            entry["host"],
            tuple(entry.get("except", {}).get("hosts", ())),
            entry["operation"],
            entry["resource_type"],
            entry["names"]["kind"],
            entry["names"]["text"],
        )
        for change in LISTS
        for entry in json.loads("".join(entries_as_json(impact)))[change]
    ]
    assert sorted(expanded(told)) == sorted(entries)
    assert set(told) == {"groups", "unchanged", "resources", "warnings"}
    assert [group["cells"] for group in told["groups"]] == [impact.cells_in(group) for group in impact.groups]


def test_impacts_with_one_digest_write_the_same_groups() -> None:
    written: dict[str, set[str]] = {}
    for seed in range(60):
        case = test_whatif.random_edit(60_000 + seed)
        impact = trimmed(
            simulate(case.delta, AclIndex(case.before.bindings), case.names, case.before.settings)
        )
        kept = unpacked(packed(impact))
        told = json.dumps(json.loads("".join(groups_as_json(impact)))["groups"])
        written.setdefault(digest_of_groups(impact), set()).add(told)
        assert digest_of_groups(kept) == digest_of_groups(impact)

    assert all(len(told) == 1 for told in written.values())
    assert len(set.union(*written.values())) > 20


def test_a_digest_of_groups_tells_their_order_their_cells_and_their_acls() -> None:
    add = (
        allow("User:a", "READ", "t"),
        deny("User:b", "READ", "t"),
        allow("User:c", "READ", "t-", pattern="PREFIXED"),
    )
    index = AclIndex([allow("User:b", "READ", "t")])
    impact = simulate(Delta(add=add), index, Names(topics=("t", "t-1")), merge_equal_hosts=True)
    first, *others = impact.groups
    principals = impact.axes.principals
    unlike = [
        replace(impact, groups=(*others, first)),
        replace(impact, groups=(first,)),
        replace(impact, groups=(replace(first, operations=first.operations[:1]), *others)),
        replace(impact, groups=(replace(first, principals=principals.all), *others)),
        replace(impact, groups=(replace(first, after=replace(first.after, determining=())), *others)),
        replace(impact, axes=replace(impact.axes, principals=replace(principals, classes_of_others=7))),
    ]

    assert len({digest_of_groups(each) for each in (impact, *unlike)}) == 1 + len(unlike)


def test_the_command_prints_groups_beside_a_file_of_consumer_groups(tmp_path, capsysbinary) -> None:
    (tmp_path / "acls.jsonl").write_text("")
    (tmp_path / "groups.txt").write_text("g1\ng2\n")
    added = allow("User:a", "READ", "*", resource_type="GROUP")
    (tmp_path / "add.jsonl").write_text(json.dumps(added.as_dict()) + "\n")
    command = [
        "whatif",
        "--acls",
        str(tmp_path / "acls.jsonl"),
        "--add",
        str(tmp_path / "add.jsonl"),
        "--json",
    ]

    assert main([*command, "--groups", str(tmp_path / "groups.txt"), "--groups"]) == 0
    told = json.loads(capsysbinary.readouterr().out)
    (group,) = told["groups"]
    # A group can be called `*`, and KRaft answers for it as for no other name.
    assert group["names"]["existing"] == ["*", "g1", "g2"]
    assert group["principals"] == {"in": ["User:a"]}
    assert group["hosts"] == {"not_in": []}
    assert main([*command, "--groups", str(tmp_path / "groups.txt")]) == 0
    assert len(json.loads(capsysbinary.readouterr().out)["gains"]) == group["cells"]


@pytest.mark.parametrize(
    "members",
    [
        0,
        1,
        0b1011,
        1 << 200,
        (1 << 300) - (1 << 17) | 5,
        pytest.param(7 << 9 | 5 << 30_000, id="two parts"),
        pytest.param(sum(3 << place for place in range(40, 90_000, 900)), id="scattered"),
        pytest.param(sum(1 << place for place in range(40, 90_000, 9)), id="many runs"),
    ],
)
def test_a_set_is_its_runs_its_places_and_its_compact_form(members: int) -> None:
    assert set_of_runs(runs_of(members)) == members
    assert set_of(places_in(members)) == members
    flags = flags_of(members, members.bit_length())
    assert [place for place, flag in enumerate(flags) if flag] == list(places_in(members))
    assert set_of_flags(flags) == members
    assert Compact.of(members).whole == members
    assert Compact.of_runs(list(runs_of(members))) == Compact.of(members)
    kept = least(members)
    assert (kept.whole, kept.size, list(kept.runs())) == (
        members,
        members.bit_count(),
        list(runs_of(members)),
    )
    assert (kept.least, kept.dense.least, least_of_runs(runs_of(members))) == (kept, kept, kept)
    assert kept.octets <= max(64, Compact.of(members).octets)


@pytest.mark.half
@pytest.mark.parametrize("seed", range(20 * SCALE))
def test_what_sets_hold_together_has_one_form_whatever_theirs(seed: int) -> None:
    rng = random.Random(f"joined {seed}")
    wholes = [
        set_of(rng.sample(range(rng.choice((9, 5_000, 60_000))), rng.randrange(1, 9)))
        | run(start := rng.randrange(60_000), start + rng.choice((1, 70, 9_000)))
        for _ in range(rng.randrange(1, 9))
    ]
    forms = [rng.choice((Compact.of(whole), least(whole))) for whole in wholes]
    odd = reduce(xor, wholes)

    assert whole_of(forms) == reduce(or_, wholes)
    assert joined_of(forms) == least(odd)
    assert joined_of([*forms, least(odd)]) == least(0)
    assert joined_of([apart := least(wholes[0] & ~odd), least(odd)]) == least(apart.whole | odd)
    assert joined_of([least(odd), *(least(odd & own) for own in wholes[:1])]) == least(odd & ~wholes[0])
    in_order = sorted(map(least, wholes), key=InOrder)
    assert [names.whole for names in in_order] == [names.whole for names in sorted(map(Compact.of, wholes))]


def _two_runs(chance: random.Random) -> list[tuple[int, int]]:
    start = chance.choice((chance.randrange(60), chance.randrange(30_000)))
    end = start + chance.choice((1, 2, 4_096, 4_097, chance.randrange(1, 9_000)))
    behind = end + chance.choice((0, 1, 4_096, 4_097, 8_192, 8_193, chance.randrange(12_000)))
    return [(start, end), (behind, behind + chance.choice((1, 50, 6_000)))]


@pytest.mark.half
@pytest.mark.parametrize("seed", range(20 * SCALE))
def test_a_compact_set_that_is_cut_has_one_form_in_the_end(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(20):
        members, others = (set_of_runs(_two_runs(chance)) for _ in range(2))
        others |= 1 << chance.randrange(30_000)
        runs = _two_runs(chance)
        cut, expected = Compact.cut(members, *runs), members & set_of_runs(runs)
        inside = cut.within(others)
        for found, whole in (
            (cut, expected),
            (inside, expected & others),
            (cut.less(inside), expected & ~others),
        ):
            assert (found.whole, bool(found)) == (whole, bool(whole))
            assert not whole or (found.canonical, found.least) == (Compact.of(whole), least(whole))


@pytest.mark.half
@pytest.mark.parametrize("seed", range(20 * SCALE))
def test_a_set_of_runs_holds_their_places_and_no_others(seed: int) -> None:
    rng = random.Random(f"runs {seed}")
    at, runs = 0, []
    for _ in range(rng.randrange(12)):
        start = at + rng.choice((0, 1, 3, 8, 100))
        at = start + rng.choice((0, 1, 2, 7, 8, 9, 30))
        runs.append((start, at))
    assert set_of_runs(runs) == sum(1 << place for start, end in runs for place in range(start, end))


def test_an_axis_that_is_cut_down_keeps_order_and_kind_of_its_classes() -> None:
    axis = NameAxis(["a", "b", "c"], ["a-", "b-"], ["x*", "y*"], has_any_other=True, given=0b101)
    kept = 0b1010_1010 & axis.all
    cut = axis.cut_to(kept)
    assert list(cut.classes(cut.all)) == list(axis.classes(kept))
    assert list(cut.classes(cut.given)) == list(axis.classes(axis.given & kept))


def test_groups_whose_acls_alone_differ_are_one_group_without_these() -> None:
    add = (allow("User:a", "READ", "t"), allow("User:a", "READ", "t-", pattern="PREFIXED"))
    own = [deny("User:b", "WRITE", "t-1"), allow("User:z", "READ", "u")]
    names = Names(topics=("t", "t-1", "u"))
    impact = simulate(Delta(add=add), AclIndex(own), names, merge_equal_hosts=True)
    gains = [group for group in impact.groups if group.change == "gains"]

    apart, whole = whatever_the_acls(gains), whatever_the_acls(gains, whether_any=True)

    # Before, `t` had no ACL and `t-1` one for somebody else.
    assert {group.before.basis.name for group in apart if group.before} == {"DEFAULT_DENY", "NO_ALLOW_ACL"}
    assert {group.before.basis.name for group in whole if group.before} == {"NO_ALLOW_ACL"}
    assert len(gains) > len(apart) > len(whole) == 1
    for found in (apart, whole):
        assert sum(map(impact.cells_in, found)) == sum(map(impact.cells_in, gains))
        assert {group.after for group in found} == {Side(Result.ALLOWED, Basis.ALLOW_ACL, ())}


def test_lists_of_a_joined_impact_come_in_the_order_of_lists() -> None:
    delta = Delta(
        add=(allow("User:a", "READ", "t"),), remove=(allow("User:b", "READ", "u", resource_type="GROUP"),)
    )
    impact = simulate(delta, AclIndex(delta.remove), Names(topics=("t",), groups=("u",)))

    assert [group.change for group in whatever_the_acls(reversed(impact.groups))] == ["gains", "loses"]
