"""Every page with an access diff shows it as a matrix too: bounded, kept in the address, and true cell by cell."""

from __future__ import annotations

import random
import re
from functools import reduce
from html import unescape
from html.parser import HTMLParser
from operator import or_

import pytest

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import ResourceType
from aclweb.acl.model.delta import Delta
from aclweb.acl.simulate import Names, packed, places_in, set_of, simulate, trimmed, unpacked, which_of
from aclweb.web.drafts import impact_rows, matrix
from tests.builders import allow, deny
from tests.web import pressing
from tests.web.test_diff_files import KINDS, place_of
from tests.web.test_replay_card import logged, over_days, synced, what_if  # noqa: F401 fixtures

TOPICS = tuple(f"{family}.{n}" for family in ("orders", "stock", "parts", "pay", "log") for n in range(4))


def matrix_of(delta: Delta, bindings=(), topics=TOPICS) -> matrix.Matrix:
    impact = simulate(delta, AclIndex(bindings), Names(topics=topics), met_only=True)
    return matrix.Matrix(impact_rows.rows(impact, *impact_rows.KINDS))


def told(found: matrix.Matrix) -> dict[str, dict[str, list[tuple]]]:
    return {
        "".join(piece.text for piece in row.who): {
            column.label: [
                (part.kind, ", ".join(each.pascal for each in part.operations), part.limits) for part in parts
            ]
            for column, parts in row.cells
            if parts
        }
        for row in found
    }


def test_a_cell_says_what_a_principal_gains_and_loses_on_a_resource():
    kept = [allow("User:bob", "WRITE", "orders.1")]
    found = matrix_of(
        Delta(add=(allow("User:eve", "READ", "orders.1", host="10.0.0.7"),), remove=tuple(kept)), kept
    )

    assert told(found) == {
        "User:bob": {"orders.1": [("loses", "Write, Describe", "")]},
        "User:eve": {"orders.1": [("gains", "Read, Describe", "some hosts")]},
    }


def test_many_names_share_a_column_by_how_they_begin_and_nothing_is_left_out():
    edit = Delta(
        add=(
            allow("User:*", "READ", "*"),
            *(allow("User:eve", "WRITE", f"{family}.0") for family in ("orders", "pay")),
        )
    )
    found = matrix_of(edit)

    assert len(found.columns) <= matrix.MOST_COLUMNS + 1
    labels = {column.label: column for column in found.columns}
    assert (labels["orders."].names, labels["orders."].has_others) == (4, False)
    rows = told(found)
    everyone = rows["Everyone but User:eve"]
    assert {part[:2] for parts in everyone.values() for part in parts} == {("gains", "Read, Describe")}
    assert rows["User:eve"]["orders."] == [("gains", "Read, Write, Describe", "some names")]
    kind = ResourceType.TOPIC
    reached = 0
    for column in found.columns:
        assert not reached & column.members[kind]
        reached |= column.members[kind]
    assert reached == found._impact.differing_names(impact_rows.KINDS)[kind]


def test_what_is_beyond_the_columns_shares_the_last_one():
    names = [f"{letter}{letter}.{n}" for letter in "abcdefghijkl" for n in range(3)]
    found = matrix_of(
        Delta(add=tuple(allow("User:eve", "READ", name) for name in names)), topics=tuple(names)
    )

    last = found.columns[-1]
    assert (len(found.columns), last.put_together, last.names) == (7, 6, 18)
    assert told(found)["User:eve"]["other resources"] == [("gains", "Read, Describe", "")]


def test_what_is_lost_from_each_host_for_another_reason_is_lost_from_everywhere():
    kept = [allow("User:bob", "READ", name) for name in ("orders.1", "orders.2")]
    closed = deny("User:bob", "READ", "orders.1", host="10.0.0.7")
    found = matrix_of(Delta(add=(closed,), remove=(kept[0],)), kept)
    of_one_host = matrix_of(Delta(add=(closed,)), kept)

    assert told(found) == {"User:bob": {"orders.1": [("loses", "Read, Describe", "")]}}
    assert told(of_one_host) == {"User:bob": {"orders.1": [("loses", "Read", "some hosts")]}}


@pytest.mark.half
@pytest.mark.parametrize("seed", range(40))
def test_pieces_are_from_everywhere_if_each_of_their_names_is(seed):
    chance = random.Random(seed)
    every = 0b111
    pieces = [
        (chance.randrange(1, 32), chance.choice((1, 2, 3, 5, 6, 7))) for _ in range(chance.randrange(1, 7))
    ]
    hosts_of = {
        name: reduce(or_, (hosts for names, hosts in pieces if names >> name & 1), 0) for name in range(5)
    }

    expected = all(hosts in (0, every) for hosts in hosts_of.values())
    assert matrix._is_from_everywhere(pieces, every) is expected


def test_a_column_of_several_types_that_is_held_whole_is_not_some_names():
    topics = tuple(f"a{letter}.{n}" for letter in "bcdefghi" for n in range(2))
    kinds = ("TOPIC", "GROUP")
    whole = [allow("User:eve", "DESCRIBE", "*", resource_type=kind) for kind in kinds]
    told_apart = [allow("User:zoe", "DESCRIBE", name) for name in topics]
    found = matrix_of(Delta(add=(*whole, *told_apart)), topics=topics)

    assert set(found.columns[-1].members) == {ResourceType[kind] for kind in kinds}
    assert told(found)["User:eve"]["other resources"] == [("gains", "Describe", "")]
    assert told(found)["User:zoe"]["other resources"] == [("gains", "Describe", "some names")]


def label_of(kind: ResourceType, name) -> str:
    return "".join(piece.text for piece in which_of(kind, [name]))


def columns_one_by_one(impact, by_type) -> list[tuple]:
    """Return what each column must be, name by name: label, names, whether others are in it, how many, its members."""
    families: dict[tuple, list[tuple]] = {}
    for kind, names in by_type.items():
        for place in places_in(names):
            named, text = name = impact.axes.names[kind].name_class(place)
            start = re.match(r"[^._-]*[._-]", text) if named in ("EXACT", "PREFIX") else None
            families.setdefault((kind, start[0] if start else name), []).append((place, name))
    found = []
    for (kind, start), own in families.items():
        exact = sum(name[0] == "EXACT" for _, name in own)
        label = label_of(kind, own[0][1]) if len(own) == 1 else start
        found.append((label, exact, exact < len(own), 0, {kind: set_of(place for place, _ in own)}))
    if sum(names.bit_count() for names in by_type.values()) <= matrix.MOST_COLUMNS + 1:
        return [
            (
                label_of(kind, name),
                int(name[0] == "EXACT"),
                name[0] != "EXACT",
                0,
                {kind: 1 << place},
            )
            for kind, names in by_type.items()
            for place in places_in(names)
            for name in [impact.axes.names[kind].name_class(place)]
        ]
    found.sort(key=lambda each: (-each[1], each[0]))
    if len(found) <= matrix.MOST_COLUMNS + 1:
        return found
    rest = found[matrix.MOST_COLUMNS :]
    members: dict[ResourceType, int] = {}
    for each in rest:
        for kind, names in each[4].items():
            members[kind] = members.get(kind, 0) | names
    last = (
        "other resources",
        sum(each[1] for each in rest),
        any(each[2] for each in rest),
        len(rest),
        members,
    )
    return [*found[: matrix.MOST_COLUMNS], last]


@pytest.mark.parametrize("seed", range(60))
def test_columns_are_those_of_the_names_put_together_one_by_one(seed):
    chance = random.Random(seed)
    starts = ("a", "ab", "a.", "a-", "ab.", "b_", "b", "c.d.", "-", ".", "zz", "z.", "é.", "")
    ends = ("", "x", "1", "x.y", "-1", "_", ".")
    named = sorted(
        {chance.choice(starts) + chance.choice(ends) for _ in range(chance.randrange(3, 40))} - {""}
    )
    edit = tuple(
        allow(
            f"User:{chance.choice('pq')}",
            "READ",
            name,
            pattern=chance.choice(("LITERAL", "PREFIXED")),
            resource_type=chance.choice(("TOPIC", "GROUP")),
        )
        for name in named
    )
    impact = simulate(
        Delta(add=edit),
        AclIndex([allow("User:p", "READ", "a.x"), allow("User:r", "READ", "ab", pattern="PREFIXED")]),
        Names(topics=tuple(chance.sample(named, len(named) // 2)), groups=tuple(named[::2])),
    )
    if seed % 2:
        # As it is stored, names of two types are one set where they have the same places.
        impact = unpacked(packed(trimmed(impact)))
    rows = impact_rows.rows(impact, *impact_rows.KINDS)
    by_type: dict[ResourceType, int] = {}
    for group in rows.groups:
        by_type[group.resource_type] = by_type.get(group.resource_type, 0) | group.names

    found = matrix.Matrix(rows).columns

    assert [
        (each.label, each.names, each.has_others, each.put_together, dict(each.members)) for each in found
    ] == columns_one_by_one(impact, by_type)


def test_columns_are_worked_out_once_and_only_where_a_family_begins(monkeypatch):
    names = tuple(f"{letter}.{n:03}" for letter in "abcdefghijkl" for n in range(200))
    impact = simulate(
        Delta(
            add=(allow("User:eve", "READ", "*"), *(allow("User:bob", "READ", name) for name in names[::2]))
        ),
        AclIndex(()),
        Names(topics=names),
    )
    rows = impact_rows.rows(impact, *impact_rows.KINDS)
    looked_at: list[int] = []
    family = matrix._family
    monkeypatch.setattr(matrix, "_family", lambda axis, place: looked_at.append(place) or family(axis, place))

    assert len(matrix.Matrix.of(rows).columns) == matrix.MOST_COLUMNS + 1
    # Twelve families, and the names that nobody gave.
    assert len(looked_at) == 13
    assert matrix.Matrix.of(rows) is matrix.Matrix.of(rows)


class _Counted(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.nodes = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.nodes += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.nodes += 1


def test_the_page_of_any_draft_has_at_most_2000_nodes_and_50_kilobytes(synced, ada, signed_in):  # noqa: F811
    operations = ("READ", "WRITE", "ALTER", "DELETE", "DESCRIBE_CONFIGS")
    edit = Delta(
        add=tuple(
            rule(f"User:service-{n}", operations[n % 5], f"{letter * 9}.{n}", host=f"10.0.0.{n % 3}")
            for n in range(60)
            for letter in "abcdefghi"
            for rule in (allow, deny)
        )
    )
    browser = signed_in(ada)
    page = browser.get(what_if(edit, view="matrix"))
    if page.status_code == 302:
        page = browser.get(page["Location"])
    text = page.content.decode()
    answer = text[text.index('id="tab-heading"') :].partition("</section>")[0]

    assert len(page.context["diff"].object_list) == matrix.ROWS_A_PAGE
    assert "and 1 more" not in answer
    assert _Counted(answer).nodes < 1_000
    assert "Page 1 of " in answer


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_shows_the_matrix_and_leads_back_to_the_groups(over_days, ada, signed_in, kind):  # noqa: F811
    browser = signed_in(ada)
    place = place_of(kind, over_days, ada)
    joint = "&" if "?" in place else "?"
    page = browser.get(f"{place}{joint}view=matrix")
    text = page.content.decode()
    table = re.search(r'<table class="table diff-matrix".*?</table>', text, re.DOTALL)

    assert page.context["diff_view"] == "matrix"
    assert table
    cells = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", unescape(table[0])))
    assert "User:bob loses Read, Describe" in cells
    assert "User:dan gains Read, Describe" in cells
    assert "diff-matrix" not in browser.get(place).content.decode()
    # What turns the replay below it keeps the matrix.
    found = [
        dict((*action.query, *action.fields))
        for action in pressing.actions(pressing.read(text), f"{place}{joint}view=matrix", lambda *_: "")
        if ("'Show these requests'" if kind == "what-if" else "'By resource'") in action.source
        and not action.is_link
    ]
    assert found
    assert {fields.get("view") for fields in found} == {"matrix"}


def test_a_tile_leads_from_the_matrix_to_its_rows(over_days, ada, signed_in):  # noqa: F811
    browser = signed_in(ada)
    place = place_of("drafts", over_days, ada)
    kept = browser.get(place, query_params=None)
    fields = {"first": kept.context["sides"][0]["text"], "second": kept.context["sides"][1]["text"]}
    answer = browser.post(
        "/c/test-eu/compare/drafts/", {**fields, "view": "matrix", "show": ["gains", "loses"]}, follow=True
    )

    assert (answer.context["diff_view"], answer.context["show"]) == ("", "loses")
