"""Do the pages of use show what the log has: by day of an ACL, a principal and a topic, and as a map?"""

from __future__ import annotations

import csv
import html
import io
import json
import random
import re
from collections import Counter
from dataclasses import replace
from urllib.parse import quote

import pytest

from aclweb.acl.model import ResourceType
from aclweb.acl.notation.files import binding_key
from aclweb.insights.load import load
from aclweb.insights.models import Load
from aclweb.insights.use_map import KINDS, LEVELS, OTHERS, prefix_of, shown_map, use_map
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import BINDINGS, read_cluster  # noqa: F401 a fixture
from tests.insights.results import file, log_days, request, use, write_result

MAP, DAYS = "/c/test-eu/insights/use/", "/c/test-eu/insights/use/days/"
REFUSALS_ONLY = [file("b1.log"), file("b2.log")]


def logged(principal, name, *, lines, allowed=True, day="2026-11-20", **facts):
    told = {"allowed": allowed, "decided_now": "ALLOWED" if allowed else "DENIED", "lines": lines}
    return request(principal, "READ", name, days=[{"day": day, "lines": lines}], **told, **facts)


REQUESTS = [
    logged("User:bob", "payments.eu", lines=1_200, determining=[binding_key(BINDINGS[0])]),
    logged("User:bob", "payments.us", lines=34, day="2026-11-08", determining=[binding_key(BINDINGS[0])]),
    logged("User:bob", "orders", lines=7),
    logged("User:eve", "payments.eu", lines=5, allowed=False),
    logged("User:bob", "billing", lines=900, resource_type="GROUP"),
]


@pytest.fixture
def give(read_cluster, tmp_path):  # noqa: F811
    def given(requests=REQUESTS, **facts):
        uses = [use(BINDINGS[0], requests=1_234, needed=3)]
        return load(
            write_result(tmp_path / "usage", BINDINGS, usage=uses, requests=requests, **facts), read_cluster
        )

    return given


@pytest.fixture
def page_of(read_cluster, cho, signed_in):  # noqa: F811
    client = signed_in(cho)

    def page(address: str) -> str:
        answer = client.get(address)
        assert answer.status_code == 200
        return answer.getvalue().decode()

    return page


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))[1:]


# --- By day ---


@pytest.mark.parametrize(
    "subject, days",
    [
        (f"acl={binding_key(BINDINGS[0])}", {"2026-11-08": ("34", ""), "2026-11-20": ("1200", "")}),
        ("principal=User:bob", {"2026-11-08": ("34", "0"), "2026-11-20": ("2107", "0")}),
        ("principal=User:eve", {"2026-11-20": ("0", "5")}),
        ("type=TOPIC&name=payments.eu", {"2026-11-20": ("1200", "5")}),
    ],
)
def test_csv_json_and_table_have_the_same_numbers_of_each_day(subject, days, give, page_of):
    give()

    exported = rows_of(page_of(f"{DAYS}?{subject}&days=30&format=csv"))
    answered = json.loads(page_of(f"{DAYS}?{subject}&days=30&format=json"))["days"]
    shown = page_of(f"{DAYS}?{subject}&days=30")

    assert {
        day: (permitted, denied) for day, permitted, denied in exported if {permitted, denied} - {"", "0"}
    } == days
    told = [
        [row["day"], *("" if row[x] is None else str(row[x]) for x in ("permitted", "denied"))]
        for row in answered
    ]
    assert told == exported
    body = shown.split("<tbody>")[1].split("</tbody>")[0]
    cells = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in body.split("</tr>")[:-1]]
    assert [[day, *(number.replace(",", "") for number in rest)] for day, *rest in cells] == [
        [day, *(number for number in rest if number)] for day, *rest in exported
    ]


def test_a_window_has_its_days_and_an_unknown_one_is_the_usual(give, page_of):
    give()

    counts = {
        asked: len(rows_of(page_of(f"{DAYS}?principal=User:bob&days={asked}&format=csv")))
        for asked in ("7", "90", "seven")
    }

    assert counts == {"7": 7, "90": 14, "seven": 14}, "the log has 14 days"


def test_without_permits_what_was_permitted_is_unknown_and_not_zero(give, page_of):
    give(requests=[REQUESTS[3]], files=REFUSALS_ONLY)

    page = page_of(f"{DAYS}?principal=User:eve")

    assert "cannot tell" in page.lower()
    assert rows_of(page_of(f"{DAYS}?principal=User:eve&format=csv"))[-1] == ["2026-11-20", "", "5"]


def assert_cannot_tell(page_of, binding, why):
    """Page, CSV and JSON of an ACL's days have no number, and say why."""
    asked = f"{DAYS}?acl={binding_key(binding)}"
    page, told = page_of(asked), json.loads(page_of(f"{asked}&format=json"))
    exported = rows_of(page_of(f"{asked}&format=csv"))
    assert "Cannot tell how often it was used" in page
    assert why in page.lower()
    assert "decided by it" not in page
    assert why in told["why_not"]
    assert [set(numbers) for _, *numbers in exported] == [{""}] * 14
    assert {(row["permitted"], row["denied"]) for row in told["days"]} == {(None, None)}


def test_without_permits_nobody_can_tell_how_often_an_allow_was_used(give, page_of):
    give(requests=[REQUESTS[3]], files=REFUSALS_ONLY)

    assert_cannot_tell(page_of, BINDINGS[1], "permits are not in the log")
    deny = rows_of(page_of(f"{DAYS}?acl={binding_key(BINDINGS[6])}&format=csv"))
    assert {tuple(numbers) for _, *numbers in deny} == {("", "0")}, "denials are in every log"


def test_an_acl_that_is_newer_than_the_load_has_no_zeros(give, page_of, read_cluster):  # noqa: F811
    give()
    new = allow("User:new", "READ", "payments.eu")
    sync(read_cluster, client=FakeCluster([*BINDINGS, new]))

    assert_cannot_tell(page_of, new, "not in force when the log was last decided")
    unused = rows_of(page_of(f"{DAYS}?acl={binding_key(BINDINGS[1])}&format=csv"))
    assert {tuple(numbers) for _, *numbers in unused} == {("0", "")}, "it was in force and settled nothing"


@pytest.mark.parametrize(
    "address", [f"{DAYS}?principal=User:bob", f"{DAYS}?acl={binding_key(BINDINGS[0])}", MAP]
)
def test_partly_logged_permits_are_said_beside_the_numbers(address, give, page_of, settings):
    settings.ACLWEB_UNUSED_DAYS = 13
    give(coverage=log_days("broker-1.log", permit_hours=range(3)))

    page = page_of(address)
    told = json.loads(page_of(f"{address}{'&' if '?' in address else '?'}format=json"))

    assert "More may have been permitted: too few hours" in page
    assert told["why_not"].startswith("too few hours")
    assert "an empty cell is none" not in page


@pytest.mark.parametrize(
    "asked", ["", "acl=x", f"acl={'0' * 64}", "type=TOPIC", "type=ODD&name=x", "acl=%00"]
)
def test_what_is_no_subject_is_not_found(asked, give, read_cluster, cho, signed_in):  # noqa: F811
    give()

    assert signed_in(cho).get(f"{DAYS}?{asked}").status_code == 404


def test_without_a_log_the_pages_say_so(page_of):
    assert "No authorizer log of this cluster has been read" in page_of(f"{DAYS}?principal=User:bob")
    assert "No authorizer log of" in page_of(MAP)


def test_the_list_of_acls_leads_to_the_days_of_each(give, page_of):
    give()

    menus = re.findall(r'href="(one/[^"]+)"', page_of("/c/test-eu/acls/"))

    days = f"{DAYS}?acl={binding_key(BINDINGS[0])}"
    assert sum(days in page_of(f"/c/test-eu/acls/{html.unescape(menu)}") for menu in menus) == 1


@pytest.mark.parametrize("subject", ["principal=User:bob", f"acl={binding_key(BINDINGS[0])}"])
def test_the_days_take_few_queries(subject, give, cho, signed_in, django_assert_max_num_queries):
    give()
    client = signed_in(cho)
    client.get(f"{DAYS}?{subject}")

    with django_assert_max_num_queries(12):
        client.get(f"{DAYS}?{subject}")


# --- The map ---


@pytest.mark.parametrize(
    "show, days, cells",
    [
        ("used", 30, {("User:bob", "payments."): 1_234, ("User:bob", "orders"): 7}),
        ("used", 7, {("User:bob", "payments."): 1_200, ("User:bob", "orders"): 7}),
        ("denied", 30, {("User:eve", "payments."): 5}),
        (
            "configured",
            30,
            {
                ("User:bob", "payments."): 1,
                ("User:bob", "orders"): 1,
                ("User:CN=fraud,OU=risk", "orders"): 1,
                ("User:notes", "customers"): 1,
                ("User:indexer", "images"): 1,
            },
        ),
    ],
)
def test_the_map_counts_what_it_says_by_principal_and_prefix(show, days, cells, give, page_of):
    give()

    answered = json.loads(page_of(f"{MAP}?show={show}&days={days}&format=json"))["cells"]
    exported = rows_of(page_of(f"{MAP}?show={show}&days={days}&format=csv"))

    assert {(cell["principal"], cell["prefix"]): cell["number"] for cell in answered} == cells
    assert {(principal, prefix): int(number) for principal, prefix, number in exported} == cells


def test_a_cell_shows_its_number_beside_its_colour(give, page_of):
    give()

    page = page_of(f"{MAP}?show=used")

    assert f'<td data-level="{LEVELS}" title="1,234 permitted requests">1.2k</td>' in page
    assert quote("payments.") in page
    assert "match=starts" in page


def test_principals_and_prefixes_beyond_the_limits_are_one_row_and_one_column(give, read_cluster):  # noqa: F811
    give(
        requests=[
            logged(f"User:u{who}", f"p{what}.x", lines=1 + who + what)
            for who in range(5)
            for what in range(4)
        ]
    )

    found = use_map(read_cluster, kind="used", days=30, most_principals=2, most_prefixes=3)

    assert [(row.principal, row.count) for row in found.rows] == [("User:u4", 1), ("User:u3", 1), (OTHERS, 3)]
    assert found.prefixes == (("p3.", 1), ("p2.", 1), ("p1.", 1), (OTHERS, 1))
    assert (
        sum(row.total for row in found.rows)
        == found.total
        == sum(1 + a + b for a in range(5) for b in range(4))
    )
    assert len(found.every) == 20


def test_an_acl_on_all_topics_is_of_no_prefix(read_cluster):  # noqa: F811
    sync(read_cluster, client=FakeCluster([allow("User:all", "READ", "*"), allow("User:all", "READ", "a.b")]))
    read_cluster.refresh_from_db()

    found = use_map(read_cluster, kind="configured", days=30)

    assert set(found.every) == {("User:all", "*", 1), ("User:all", "a.", 1)}


def test_an_acl_on_an_empty_prefix_is_of_no_prefix_and_not_of_the_others(read_cluster):  # noqa: F811
    sync(read_cluster, client=FakeCluster([allow("User:bob", "READ", "", pattern="PREFIXED")]))
    read_cluster.refresh_from_db()

    assert use_map(read_cluster, kind="configured", days=30).every == (("User:bob", "*", 1),)


def test_what_is_configured_is_of_the_prefix_of_each_name(read_cluster):  # noqa: F811
    chance = random.Random(3)
    acls = {
        allow(
            f"User:{chance.choice('ab')}",
            chance.choice(["READ", "WRITE"]),
            "".join(chance.choices("ab.-_*", k=chance.randrange(1, 5))),
            pattern=chance.choice(["LITERAL", "PREFIXED"]),
        )
        for _ in range(900)
    }
    acls |= {deny("User:a", "READ", "a.b"), allow("User:a", "READ", "a.", resource_type="GROUP")}
    sync(read_cluster, client=FakeCluster([*acls]))
    read_cluster.refresh_from_db()

    found = use_map(read_cluster, kind="configured", days=30)

    one_by_one = Counter(
        (each.principal, prefix_of(each.resource_name))
        for each in acls
        if not each.is_deny and each.resource_type is ResourceType.TOPIC
    )
    assert len(one_by_one) > 40
    assert {(principal, prefix): number for principal, prefix, number in found.every} == one_by_one
    assert (found.pairs, found.total) == (len(one_by_one), one_by_one.total())


def test_the_map_of_a_page_is_that_of_its_files_and_of_the_newest_acls(read_cluster):  # noqa: F811
    for name in ("a.b", "c.d"):
        sync(read_cluster, client=FakeCluster([allow("User:bob", "READ", name)]))
        read_cluster.refresh_from_db()

        for kind in KINDS:
            whole = use_map(read_cluster, kind=kind, days=30)
            assert shown_map(read_cluster, kind=kind, days=30) == replace(whole, every=())
            assert shown_map(read_cluster, kind=kind, days=30) == replace(whole, every=())


def test_without_permits_the_map_of_what_is_used_cannot_tell(give, page_of):
    give(requests=[REQUESTS[3]], files=REFUSALS_ONLY)

    assert "the log holds no permits" in page_of(MAP)
    assert "5 denied requests" in page_of(f"{MAP}?show=denied")


def test_what_nobody_can_tell_is_no_empty_csv_and_no_empty_list(give, page_of, read_cluster, cho, signed_in):  # noqa: F811
    give(requests=[REQUESTS[3]], files=REFUSALS_ONLY)

    told = json.loads(page_of(f"{MAP}?format=json"))
    refused = signed_in(cho).get(f"{MAP}?format=csv")

    assert (told["cells"], told["unknown"]) == (None, True)
    assert told["why_not"].startswith("permits are not in the log")
    assert refused.status_code == 404
    assert "nobody can tell what it would hold: permits are not in the log" in refused.content.decode()
    assert json.loads(page_of(f"{MAP}?show=denied&format=json"))["unknown"] is False


@pytest.mark.parametrize("asked, said", [(7, "last 7 days of the log"), (90, "last 14 days of the log")])
def test_the_map_says_how_many_days_the_log_has(asked, said, give, page_of):
    give()

    assert said in page_of(f"{MAP}?days={asked}")


def test_the_map_counts_only_so_many_pairs_and_says_so(give, page_of, read_cluster, monkeypatch):  # noqa: F811
    give()
    for module in ("pairs", "use_map"):
        monkeypatch.setattr(f"aclweb.insights.{module}.MOST_PAIRS", 2)

    found = use_map(read_cluster, kind="used", days=30)

    assert (found.every, found.whole) == ((("User:bob", "payments.", 1_234),), False)
    assert "Counted are the 2 pairs of principal and topic with most requests" in page_of(MAP)


def test_hosts_and_operations_of_a_pair_are_added_up_in_the_database(give, read_cluster, monkeypatch):  # noqa: F811
    give(requests=[logged("User:bob", "a.b", lines=2, host=f"10.0.0.{host}") for host in range(9)])
    for module in ("pairs", "use_map"):
        monkeypatch.setattr(f"aclweb.insights.{module}.MOST_PAIRS", 1)

    found = use_map(read_cluster, kind="used", days=30)

    assert (found.every, found.whole) == ((("User:bob", "a.", 18),), True)


@pytest.mark.parametrize(
    "topic, prefix",
    [
        ("payments.eu.x", "payments."),
        ("a-b.c", "a-"),
        ("__consumer", "_"),
        ("orders", "orders"),
        ("a\nb.c", "a\nb."),
    ],
)
def test_a_prefix_ends_with_the_first_delimiter(topic, prefix):
    assert prefix_of(topic) == prefix


def test_the_map_takes_few_queries(give, cho, signed_in, django_assert_max_num_queries):
    give()
    client = signed_in(cho)
    client.get(MAP)

    with django_assert_max_num_queries(12):
        client.get(MAP)


@pytest.mark.half
@pytest.mark.parametrize(
    "path",
    [
        "topics/",
        "topics/orders",
        "topics/payments.eu?tab=acls",
        "topics/payments.eu?tab=denials",
        "topics/payments.eu?tab=traffic",
        "principal/?name=User:bob",
        "acls/?use=unused",
        "findings/",
        "insights/",
        "insights/use/",
        "insights/use/owners/",
        "insights/use/beside/",
        "insights/week/",
        "insights/analyses/",
        "insights/coverage/",
        "",
    ],
)
def test_a_load_with_an_empty_manifest_breaks_no_page(give, page_of, path):
    give()
    Load.objects.update(manifest={})

    assert "</html>" in page_of(f"/c/test-eu/{path}")
