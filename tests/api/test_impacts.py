"""An impact is answered in pages of groups, which together are all of it, or cell by cell as a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import Delta
from aclweb.acl.simulate import (
    LISTS,
    Effect,
    Impact,
    Names,
    entries_as_json,
    groups_as_json,
    packed,
    simulate,
    trimmed,
    unpacked,
)
from aclweb.api import groups
from aclweb.api.impacts import AskedImpact, streamed
from tests.acl.test_whatif import random_edit
from tests.builders import allow, deny
from tests.random_cases import SCALE

TOPICS = tuple(f"topic-é-{n}" for n in range(60))
OF_THE_WHOLE = ("counts", "unchanged", "resources", "warnings")


def asked(**query: Any) -> AskedImpact:
    return AskedImpact(Request(APIRequestFactory().get("/", query)))


def pages(impact: Impact, most: int | None = None, **query: Any) -> Iterator[dict[str, Any]]:
    """Yield every page, each asked for with the key that the one before it gives."""
    page = asked(**query).page(impact, most)
    yield page
    while page["next"] is not None:
        page = asked(after=page["next"], **query).page(impact, most)
        yield page


def groups_of(impact: Impact) -> list[dict[str, Any]]:
    """Return the groups as `whatif --json --groups` prints them."""
    found: list[dict[str, Any]] = json.loads("".join(groups_as_json(impact)))["groups"]
    return found


def of_many_groups(count: int = 40) -> Impact:
    add = tuple(allow(f"User:u{n}", "READ", f"{n}-", pattern="PREFIXED") for n in range(count))
    return trimmed(simulate(Delta(add=add), AclIndex(), Names(topics=tuple(f"{n}-t" for n in range(count)))))


def of_one_large_group(*, warnings: int = 0) -> Impact:
    """One principal gains every topic, by many ACLs; other ACLs bring warnings."""
    of_nobody = (allow(f"no-type-{n}-{'x' * 200}", "READ", "*") for n in range(warnings))
    delta = Delta(add=(allow("User:new", "READ", "*"), *of_nobody))
    found = trimmed(simulate(delta, AclIndex(), Names(topics=TOPICS)))
    (group,) = found.groups
    after = replace(group.after, determining=tuple(allow("User:new", "READ", name) for name in TOPICS[:2]))
    return replace(found, groups=(replace(group, after=after),))


# --- Pages ----------------------------------------------------------------------------------


@pytest.mark.half
@pytest.mark.parametrize("seed", range(25 * SCALE))
def test_all_pages_together_are_the_groups_that_the_command_prints(seed):
    case = random_edit(70_000 + seed)
    impact = trimmed(simulate(case.delta, AclIndex(case.before.bindings), case.names, case.before.settings))
    whole = asked(size=200).page(impact)

    for size in (1, 2, 7):
        found = list(pages(impact, size=size))

        assert [group for page in found for group in page["groups"]] == groups_of(impact)
        assert [len(page["groups"]) for page in found[:-1]] == [size] * (len(found) - 1)
        assert {json.dumps([page[key] for key in OF_THE_WHOLE]) for page in found} == {
            json.dumps([whole[key] for key in OF_THE_WHOLE])
        }
        assert all(page["is_complete"] for page in found)


def test_a_page_counts_all_that_there_is():
    impact = of_many_groups()

    page = asked(size=3).page(impact)

    assert len(page["groups"]) == 3
    assert page["counts"] == {**impact.counts, "groups": 40, "resources": 40, "warnings": 0}
    assert sum(page["counts"][name] for name in LISTS) == len(impact.gains) > 40
    assert page["resources"] == [each.as_dict() for each in impact.resources]


def test_an_impact_without_groups_is_one_empty_page():
    page = asked().page(trimmed(simulate(Delta(), AclIndex())))

    assert (page["groups"], page["next"], page["is_complete"]) == ([], None, True)


def test_a_page_holds_fewer_groups_where_more_would_be_too_large():
    impact = of_many_groups()

    found = list(pages(impact, 20_000, size=200))

    assert len(found) > 3
    assert [group for page in found for group in page["groups"]] == groups_of(impact)
    assert all(len(json.dumps(page)) < 20_500 for page in found)


def test_a_page_costs_its_own_groups_wherever_it_is(monkeypatch):
    written = []
    as_dict = groups.group_as_dict
    monkeypatch.setattr(groups, "group_as_dict", lambda *given: written.append(given[1]) or as_dict(*given))
    impact = of_many_groups(120)
    keys = [page["next"] for page in pages(impact, size=5)]

    for place in (0, 11, 22):
        written.clear()
        asked(size=5, after=keys[place]).page(impact)

        assert written == list(impact.groups[5 * place + 5 : 5 * place + 10])


@pytest.mark.parametrize("most", [0, 1, 1_400, 2_000, 2_600])
def test_a_group_that_is_too_large_alone_is_cut_beside_its_whole_lengths(most):
    impact = of_one_large_group()
    (whole,) = groups_of(impact)

    page = asked().page(impact, most)

    (cut,) = page["groups"]
    assert len(json.dumps(page)) <= most + 1_500
    assert (page["next"], page["is_complete"]) == (None, False)
    assert page["counts"] == asked().page(impact)["counts"]
    for key, list_name in (
        ("principals", "in"),
        ("hosts", "not_in"),
        ("names", "existing"),
        ("names", "patterns"),
        ("after", "determining"),
    ):
        kept, everything = cut[key][list_name], whole[key][list_name]
        assert kept == everything[: len(kept)]
        assert cut[key].get(f"{list_name}_total", len(kept)) == len(everything)
    assert (cut["cells"], cut["operations"]) == (whole["cells"], whole["operations"])
    assert "existing_total" in cut["names"]


def test_a_group_is_cut_in_its_longest_list_alone():
    impact = of_one_large_group()
    (whole,) = groups_of(impact)

    (cut,) = asked().page(impact, 2_600)["groups"]

    existing = cut["names"]["existing"]
    assert cut["names"].pop("existing_total") == len(whole["names"]["existing"])
    assert 20 < len(existing) < len(whole["names"]["existing"])
    assert {**cut, "names": {**cut["names"], "existing": whole["names"]["existing"]}} == whole


def test_after_a_group_that_was_cut_the_next_one_follows():
    first, second = of_one_large_group(), of_many_groups(1)
    large = first.groups[0]
    impact = replace(first, groups=(large, replace(large, operations=large.operations[:1]), large))

    found = list(pages(impact, 0, size=200))

    assert [page["groups"][0]["operations"] for page in found] == [
        [operation.name for operation in group.operations] for group in impact.groups
    ]
    assert second.groups  # a group of its own is not cut to nothing
    assert asked().page(second)["groups"][0]["names"]["existing"]


def test_too_many_warnings_are_cut_and_the_rest_is_counted():
    impact = of_one_large_group(warnings=40)

    page = asked().page(impact, 20_000)

    assert page["counts"]["warnings"] == len(impact.warnings) == 40
    assert page["is_complete"] is False
    *kept, last = page["warnings"]
    assert kept == list(impact.warnings[: len(kept)])
    assert 0 < len(kept) < 40
    assert last == f"{40 - len(kept)} more warnings are left out, because this answer would be too large."
    assert page["groups"][0]["names"]["existing"], "warnings leave room for groups"


def test_resources_take_a_quarter_of_a_page_at_most_however_small_its_groups_are():
    impact = of_many_groups(300)

    page = asked(size=1).page(impact, 20_000)

    assert len(page["groups"]) == 1
    assert page["resources"] == [each.as_dict() for each in impact.resources[: len(page["resources"])]]
    assert 4_000 < len(json.dumps(page["resources"])) <= 5_000
    assert (page["counts"]["resources"], page["is_complete"]) == (300, False)


# --- Keys -----------------------------------------------------------------------------------


def test_a_key_is_good_in_every_process_that_has_the_same_impact():
    impact = of_many_groups()
    again = of_many_groups()
    key = asked(size=3).page(impact)["next"]

    for same in (again, unpacked(packed(impact)), replace(impact)):
        assert asked(size=3, after=key).page(same) == asked(size=3, after=key).page(impact)


def test_a_key_of_another_impact_is_refused_and_never_answered_with_a_wrong_page():
    impact = of_many_groups()
    key = asked(size=3).page(impact)["next"]
    others = [
        of_many_groups(39),
        of_many_groups(41),
        of_one_large_group(),
        replace(impact, groups=impact.groups[::-1]),
    ]

    for other in others:
        with pytest.raises(ValidationError) as refused:
            asked(size=3, after=key).page(other)
        (sentence,) = [str(each) for each in refused.value.detail.values()]
        assert key in sentence
        assert "is of another impact" in sentence


@pytest.mark.parametrize(
    "text", ["3", "0-0123456789abcdef", "-", "x" * 300, "3-0123456789ABCDEF", "١-0123456789abcdef"]
)
def test_what_is_no_key_is_refused_with_what_would_be_right(text):
    with pytest.raises(ValidationError) as refused:
        asked(after=text)

    assert "is no key of a page; give `next`" in str(refused.value.detail["after"])
    assert len(str(refused.value.detail["after"])) < 300


def test_a_key_behind_the_last_group_is_no_key():
    impact = of_many_groups()
    _, digest = asked(size=3).page(impact)["next"].split("-")

    with pytest.raises(ValidationError) as refused:
        asked(after=f"40-{digest}").page(impact)

    assert "is no key of a page" in str(refused.value.detail["after"])


@pytest.mark.parametrize(
    "query",
    [
        {"size": "0"},
        {"size": "201"},
        {"size": "many"},
        {"cells": "yes"},
        {"cells": "True"},
        {"page": "2"},
        {"cells": "true", "size": "5"},
        {"cells": "true", "after": "3-0123456789abcdef"},
    ],
)
def test_what_cannot_be_asked_of_an_impact_is_refused_beside_its_name(query):
    with pytest.raises(ValidationError) as refused:
        asked(**query)

    (name, sentence), *more = refused.value.detail.items()
    assert not more
    assert name in query
    assert name in str(sentence)


# --- Cells ----------------------------------------------------------------------------------


@pytest.fixture
def of_many_cells() -> Impact:
    """One group of 200 named callers from 20 named hosts."""
    names = Names(
        topics=("t",),
        principals=tuple(f"User:u{n}" for n in range(200)),
        hosts=tuple(f"10.0.0.{n}" for n in range(20)),
    )
    impact = simulate(
        Delta(add=(allow("User:*", "ALL", "t"),)), AclIndex([deny("User:x", "READ", "u")]), names
    )
    callers, hosts = impact.axes.principals, impact.axes.hosts
    group = replace(impact.groups[0], principals=callers.all ^ callers.others, hosts=hosts.all ^ hosts.others)
    return replace(impact, groups=(group,))


def answer(impact: Impact, method: str = "get") -> Any:
    request = Request(getattr(APIRequestFactory(), method)("/"))
    return streamed(request, entries_as_json(impact, {"revision": 7}))


def test_a_stream_is_the_json_of_the_command_in_chunks(of_many_cells):
    chunks = list(answer(of_many_cells).streaming_content)

    assert json.loads(b"".join(chunks)) == {"revision": 7, **of_many_cells.as_dict()}
    assert len(chunks) > 50
    assert all(64 * 1024 <= len(chunk) < 66 * 1024 for chunk in chunks[:-1])


def test_a_stream_makes_the_entries_of_a_chunk_when_the_chunk_is_taken(of_many_cells, monkeypatch):
    made = []

    def counted(**fields: Any) -> Effect:
        made.append(1)
        return Effect(**fields)

    monkeypatch.setattr("aclweb.acl.simulate.impact.Effect", counted)
    stream = iter(answer(of_many_cells).streaming_content)
    assert not made

    for _ in range(3):
        before = len(made)
        written = next(stream).count(b'"principal": ')
        assert 0 <= len(made) - before - written // 2 <= 2 * written
    assert len(made) < len(of_many_cells.gains) // 20


def test_only_what_is_asked_of_an_answer_without_a_body_is_made(of_many_cells, monkeypatch):
    monkeypatch.setattr("aclweb.acl.simulate.impact.Effect", None)

    assert b"".join(answer(of_many_cells, "head").streaming_content) == b""
