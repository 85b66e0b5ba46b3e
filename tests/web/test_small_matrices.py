"""A comparison has a small matrix for each principal, whose marks say who allows what, and nothing is left out."""

from __future__ import annotations

import random
import re

import pytest

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model.delta import Delta
from aclweb.acl.simulate import Names, plain, simulate
from aclweb.clusters import TopicInfo
from aclweb.inventory.sync.run import sync
from aclweb.web.drafts import impact_rows, small_matrices
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

TOPICS = (
    "orders.eu",
    "orders.us",
    "stock.eu",
    "log.eu",
    "pay.eu",
    "pay.us",
    "cam.eu",
    "web.eu",
    "crm.eu",
    "bi.eu",
)


def matrices(adds=(), removes=(), topics=TOPICS) -> small_matrices.SmallMatrices:
    delta = Delta(add=tuple(adds), remove=tuple(removes))
    impact = simulate(delta, AclIndex(removes), Names(topics=topics), met_only=True)
    return small_matrices.SmallMatrices(impact_rows.rows(impact, *impact_rows.KINDS))


def marks(found) -> dict[str, dict[tuple[str, str], tuple[str, bool]]]:
    """The marks of each principal, by row and letter."""
    return {
        plain(each.who): {
            (column.label, letter): (cell.side, cell.is_part)
            for column, cells in each.rows
            for (letter, _), cell in zip(each.operations, cells, strict=True)
            if cell.side
        }
        for each in found
    }


def test_a_mark_says_on_which_side_an_operation_is_allowed():
    found = matrices(
        adds=[allow("User:eve", "READ", "stock.eu")], removes=[allow("User:bob", "WRITE", "orders.eu")]
    )

    assert marks(found) == {
        "User:bob": {("orders.eu", "W"): ("left", False), ("orders.eu", "D"): ("left", False)},
        "User:eve": {("stock.eu", "R"): ("right", False), ("stock.eu", "D"): ("right", False)},
    }
    assert [each.count for each in found] == [2, 2]


def test_a_row_of_several_names_has_a_low_mark_for_some_of_them():
    wide = [allow("User:eve", "READ", name) for name in TOPICS]
    found = matrices(
        adds=[*wide, allow("User:bob", "READ", "orders.eu")], removes=[allow("User:bob", "READ", "orders.us")]
    )

    told = marks(found)
    assert told["User:bob"]["orders.", "R"] == ("both", False)
    assert told["User:eve"]["orders.", "R"] == ("right", False)
    only = matrices(adds=[*wide, allow("User:bob", "READ", "orders.eu")])
    assert marks(only)["User:bob"]["orders.", "R"] == ("right", True)


@pytest.mark.parametrize("seed", range(12))
def test_every_difference_is_marked_and_nothing_else_is(seed):
    chance = random.Random(seed)

    def some():
        return [
            allow(f"User:{who}", chance.choice(("READ", "WRITE", "ALTER")), chance.choice(TOPICS))
            for who in "abc"
            for _ in range(chance.randrange(1, 4))
        ]

    removes, adds = list(dict.fromkeys(some())), list(dict.fromkeys(some()))
    adds, removes = [a for a in adds if a not in removes], [r for r in removes if r not in adds]
    found = matrices(adds, removes)
    impact = found._impact

    for sides, kind in ((("left", "both"), "loses"), (("right", "both"), "gains")):
        marked = {
            (who, letter)
            for who, cells in marks(found).items()
            for (_, letter), (side, _) in cells.items()
            if side in sides
        }
        effects = getattr(impact, kind)
        assert marked == {(each.principal, small_matrices.LETTERS[each.operation]) for each in effects}
    assert sum(each.count for each in found) == impact.counts["loses"] + impact.counts["gains"]


def test_the_page_shows_them_the_widest_first_and_within_its_budget(cluster, ada, signed_in):
    names = [
        f"{letter}.{n}"
        for letter in ("orders", "stock", "pay", "log", "web", "crm", "cam")
        for n in range(20)
    ]
    adds = [
        allow(f"User:u{n:02}", operation, name, pattern="PREFIXED" if n % 2 else "LITERAL")
        for n in range(12)
        for operation in ("READ", "WRITE", "ALTER", "DELETE", "CREATE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS")
        for name in names[n:]
    ]
    topics = [TopicInfo(name) for name in names]
    sync(cluster, client=Answers([], topics=topics))
    sync(cluster, client=Answers(adds, topics=topics))
    page = signed_in(ada).get(f"/c/{cluster.slug}/compare/?at=1&other={cluster.slug}&view=small")
    text = page.content.decode()

    counts = [each.count for each in page.context["diff"]]
    assert (page.context["diff_view"], len(counts)) == ("small", small_matrices.MATRICES_A_PAGE)
    assert counts == sorted(counts, reverse=True)
    assert text.count('<table class="small-matrix"') == small_matrices.MATRICES_A_PAGE
    assert 'data-side="right"' in text
    assert "only test-eu now" in text
    assert ">second<" in text
    assert "Page 1 of 2, 12 principals" in re.sub("<[^>]*>", "", text)
    assert len(page.content) < 50 * 1024
    assert len(re.findall("<[a-z]", text)) < 2_000


def test_a_what_if_has_none_of_them(cluster, ada, signed_in):
    sync(cluster, client=Answers([], topics=[TopicInfo("stock")]))
    line = '{"op":"add","resource_type":"TOPIC","resource_name":"stock","pattern_type":"LITERAL",'
    line += '"principal":"User:eve","host":"*","operation":"READ","permission_type":"ALLOW"}'

    page = signed_in(ada).get(f"/c/{cluster.slug}/what-if/", {"line": line, "view": "small"}, follow=True)

    assert page.context["diff_view"] == ""
    assert "small-matrix" not in page.content.decode()
