"""Do charts draw what the tables say, quietly and in both themes, and do their pages keep their policy and cost?"""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from aclweb.acl.notation.files import binding_key
from aclweb.changes.models import Change
from aclweb.insights.load import load
from aclweb.insights.use_map import ALL, OTHERS, together, used_denied_configured
from aclweb.inventory.models import Revision
from aclweb.inventory.sync.run import sync
from tests.browsing import axe_violations
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import BINDINGS, read_cluster  # noqa: F401 a fixture
from tests.insights.results import file, request, use, write_result

MAP = "/c/test-eu/insights/use/?show=all"
DAYS = "/c/test-eu/insights/use/days/?principal=User:bob"
CLUSTER = "/c/test-eu/"
OVER_TIME = "/c/test-eu/acls-over-time/"
# After so many the page has heard of another theme.
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
_JSON = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)


def logged(principal, name, *, lines, allowed=True, day="2026-11-20", **facts):
    told = {"allowed": allowed, "decided_now": "ALLOWED" if allowed else "DENIED", "lines": lines}
    return request(principal, "READ", name, days=[{"day": day, "lines": lines}], **told, **facts)


REQUESTS = [
    logged("User:bob", "payments.eu", lines=1_200, determining=[binding_key(BINDINGS[0])]),
    logged("User:bob", "payments.us", lines=34, day="2026-11-08"),
    logged("User:bob", "payments.us", lines=6, allowed=False),
    logged("User:bob", "web.x", lines=7),
    logged("User:eve", "payments.eu", lines=5, allowed=False),
]
PAIRS = [
    ("User:bob", "payments.", 1_234, 6, 1),
    ("User:bob", "web.", 7, 0, 0),
    ("User:eve", "payments.", 0, 5, 0),
    ("User:CN=fraud,OU=risk", "orders", 0, 0, 1),
    ("User:bob", "orders", 0, 0, 1),
    ("User:indexer", "images", 0, 0, 1),
    ("User:notes", "customers", 0, 0, 1),
]


@pytest.fixture
def give(read_cluster, tmp_path):  # noqa: F811
    def given(requests=REQUESTS, **facts):
        result = write_result(
            tmp_path / "usage", BINDINGS, usage=[use(BINDINGS[0])], requests=requests, **facts
        )
        return load(result, read_cluster)

    return given


@pytest.fixture
def page_of(read_cluster, cho, signed_in):  # noqa: F811
    client = signed_in(cho)

    def page(address: str) -> str:
        answer = client.get(address)
        assert answer.status_code == 200
        return answer.getvalue().decode()

    return page


@pytest.fixture
def revisions(read_cluster, ada):  # noqa: F811
    """Give the cluster three more revisions: a change of ours, an edit made elsewhere, and one of names alone."""
    began = datetime(2026, 11, 1, 8, tzinfo=UTC)
    Revision.objects.filter(cluster=read_cluster, number=1).update(read_at=began)
    for number, acls, added, removed, cause in (
        (2, 9, 2, 0, Revision.Cause.OURS),
        (3, 6, 1, 4, Revision.Cause.READING),
        (4, 6, 0, 0, Revision.Cause.READING),
    ):
        found = Revision.objects.create(
            cluster=read_cluster,
            number=number,
            read_at=began + timedelta(days=number),
            cause=cause,
            acls=acls,
            acls_added=added,
            acls_removed=removed,
            names_added=1,
        )
        if cause == Revision.Cause.OURS:
            state = Change.State.APPLIED
            Change.objects.create(
                cluster=read_cluster, author=ada, title="t", state=state, applied_revision=found
            )
    return read_cluster


def drawn(page: str) -> dict:
    (found,) = _JSON.findall(page)
    return json.loads(found)


def cells_of(page: str, *, part: str) -> list[list[str]]:
    """Return the texts of the rows of a card's table."""
    body = page.split(part)[1].split("<tbody>")[1].split("</tbody>")[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in body.split("</tr>")[:-1]]
    return [[" ".join(unescape(re.sub("<[^>]*>", "", cell)).split()) for cell in row] for row in rows]


def pairs_drawn(page: str) -> list[tuple]:
    found = drawn(page)
    return [
        (found["principals"][row]["name"], found["prefixes"][column]["name"], used, denied, configured)
        for column, row, used, denied, configured, _ in found["cells"]
    ]


# --- Used, denied and configured together ---


def test_chart_table_csv_and_json_of_the_map_have_the_same_numbers(give, page_of):
    give()

    page = page_of(MAP)

    assert sorted(pairs_drawn(page)) == sorted(PAIRS)
    assert [tuple(each.values()) for each in json.loads(page_of(f"{MAP}&format=json"))["cells"]] == PAIRS
    exported = list(csv.reader(io.StringIO(page_of(f"{MAP}&format=csv"))))[1:]
    assert exported == [[str(cell) for cell in pair] for pair in PAIRS]
    shown = [[cell.replace(",", "") for cell in row] for row in cells_of(page, part='id="pairs"')]
    assert shown == [[str(cell).replace(",", "") for cell in pair] for pair in PAIRS]
    assert "of 4 with ACLs no request was logged, 2 have denials" in page


def test_an_acl_on_all_topics_is_not_said_to_be_without_requests(read_cluster, page_of):  # noqa: F811
    rules = [allow("User:all", "READ", "*"), allow("User:all", "READ", "a.b")]
    sync(read_cluster, client=FakeCluster(rules))
    read_cluster.refresh_from_db()

    found = used_denied_configured(read_cluster, days=30)
    page = page_of(MAP)

    assert {(pair.prefix, pair.used, pair.configured) for pair in found.rows} == {
        (ALL, None, 1),
        ("a.", None, 1),
    }
    assert ["User:all", "*", "in its prefixes", "–", "1"] in cells_of(page, part='id="pairs"')


def test_a_use_of_all_topics_counts_at_its_prefixes_alone(give, read_cluster):  # noqa: F811
    sync(read_cluster, client=FakeCluster([*BINDINGS, allow("User:bob", "READ", "*")]))
    read_cluster.refresh_from_db()
    give()

    found = {
        (pair.principal, pair.prefix): pair for pair in used_denied_configured(read_cluster, days=30).rows
    }

    assert found["User:bob", "web."].used == 7
    assert (found["User:bob", ALL].used, found["User:bob", ALL].denied) == (None, None)


def test_without_permits_what_is_used_is_unknown_in_chart_table_and_files(give, page_of):
    give(requests=[REQUESTS[4]], files=[file("b1.log"), file("b2.log")])

    page = page_of(MAP)

    assert {pair[2] for pair in pairs_drawn(page)} == {None}
    assert ["User:eve", "payments.", "cannot tell", "5", "0"] in cells_of(page, part='id="pairs"')
    assert "what is used is unknown" in page
    assert "no request was logged" not in page
    assert {row[2] for row in list(csv.reader(io.StringIO(page_of(f"{MAP}&format=csv"))))[1:]} == {""}


def test_the_map_without_a_log_shows_what_is_configured(page_of):
    page = page_of(MAP)

    assert {pair[2:] for pair in pairs_drawn(page)} == {(None, None, 1)}
    assert "no authorizer log of test-eu has been read" in page


def test_what_is_beyond_the_limits_of_the_map_is_one_row_and_one_column(give, read_cluster):  # noqa: F811
    give(
        requests=[
            logged(f"User:u{who}", f"p{what}.x", lines=1 + who + what, allowed=bool((who + what) % 3))
            for who in range(5)
            for what in range(4)
        ]
    )
    pairs = used_denied_configured(read_cluster, days=30)

    found = together(pairs, most_principals=2, most_prefixes=3)

    assert [name for name, _ in found.principals][-1] == OTHERS == [name for name, _ in found.prefixes][-1]
    for number in ("used", "denied", "configured"):
        every = [getattr(pair, number) or 0 for pair in pairs.rows]
        assert sum(getattr(pair, number) or 0 for *_, pair in found.cells) == sum(every) > 0
    assert len({cell[:2] for cell in found.cells}) == len(found.cells) <= 3 * 4


def test_the_tab_leads_to_the_map_of_all_three_and_without_show_it_is_of_use(give, page_of):
    give()

    assert 'href="/c/test-eu/insights/use/?show=all"' in page_of("/c/test-eu/insights/coverage/")
    assert json.loads(page_of("/c/test-eu/insights/use/?format=json"))["show"] == "used"


def test_names_that_clients_made_up_are_readable_in_the_map_and_run_nothing(give, page_of):
    names = ["User:\u202egpj", "User:a\0b", "User:</script><script>alert(1)", "User:{a|b}"]
    give(requests=[logged(name, f"{name[5:]}.x", lines=5) for name in names])

    page = page_of(MAP)

    assert {each["name"] for each in drawn(page)["principals"]} >= set(names)
    assert "User:\\u202egpj" in [each["label"] for each in drawn(page)["principals"]]
    assert [text for text in ("\u202e", "\0", "<script>alert(1)") if text in page] == []


# --- ACLs over time ---


def test_chart_table_csv_and_json_of_revisions_have_the_same_numbers(revisions, page_of):
    page = page_of(CLUSTER)
    told = json.loads(page_of(f"{OVER_TIME}?format=json"))["revisions"]
    exported = list(csv.DictReader(io.StringIO(page_of(OVER_TIME))))

    assert [(row["revision"], row["acls"], row["made"], row["change"]) for row in told] == [
        (1, 7, "first", ""),
        (2, 9, "ours", Change.objects.get().key),
        (3, 6, "elsewhere", ""),
    ]
    assert drawn(page)["revisions"] == told
    assert exported == [{name: str(cell) for name, cell in row.items()} for row in told]
    table = {row[0]: row[2:5] for row in cells_of(page, part='id="revisions"')}
    for row in told:
        added, removed = (
            sign + str(row[name]) if row[name] else "0" for name, sign in (("added", "+"), ("removed", "−"))
        )
        assert table[str(row["revision"])] == [str(row["acls"]), added, removed]


def test_an_edit_made_elsewhere_is_not_said_to_be_of_a_change_that_found_it_in_place(revisions, ada, page_of):
    elsewhere = Revision.objects.get(cluster=revisions, number=3)
    state = Change.State.APPLIED
    Change.objects.create(cluster=revisions, author=ada, title="t", state=state, applied_revision=elsewhere)

    told = json.loads(page_of(f"{OVER_TIME}?format=json"))["revisions"]

    assert [row["change"] for row in told if row["made"] == "elsewhere"] == [""]


def test_acls_that_never_changed_have_no_chart(read_cluster, page_of):  # noqa: F811
    page = page_of(CLUSTER)

    assert "data-chart" not in page
    assert "echarts" not in page


# --- Every page with a chart ---


@pytest.mark.parametrize("address", [MAP, DAYS, CLUSTER])
def test_a_page_with_a_chart_has_no_script_of_its_own_and_the_strict_policy(
    address, give, revisions, cho, signed_in
):
    give()

    answer = signed_in(cho).get(address)
    scripts = re.findall(r"<script([^>]*)>", answer.content.decode())

    assert "/vendor/echarts/echarts.js" in "".join(scripts)
    assert {"src" if "src=" in each else each.strip() for each in scripts} == {
        "src",
        'type="application/json"',
    }
    policy = answer["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "style-src 'self'" in policy


@pytest.mark.parametrize("address, most", [(MAP, 12), (DAYS, 13), (CLUSTER, 12)])
def test_a_page_with_a_chart_takes_few_queries(
    address, most, give, revisions, cho, signed_in, django_assert_max_num_queries
):
    give()
    client = signed_in(cho)
    client.get(address)

    with django_assert_max_num_queries(most):
        client.get(address)


@pytest.mark.parametrize(
    "address",
    ["/", "/c/test-eu/topics/payments.eu?tab=traffic", "/c/test-eu/insights/use/?show=used"],
)
def test_a_page_without_a_drawn_chart_does_not_fetch_the_library(address, give, page_of):
    give()

    assert "echarts" not in page_of(address)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_each_chart_is_drawn_quietly_in_both_themes_with_the_numbers_of_its_table(
    give, revisions, cho, window
):
    give()
    page = window(cho)
    drawings = []

    for address in (MAP, DAYS, CLUSTER):
        page.goto(page.site + address)
        frame = page.locator("[data-chart]")
        frame.locator(".chart-drawn svg text").first.wait_for()
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            page.evaluate(TWO_FRAMES)
            drawings.append(
                frame.locator(
                    ".chart-drawn path[fill^='rgb'], .chart-drawn path[stroke^='rgb']"
                ).first.evaluate("e => e.outerHTML")
            )
        figures = frame.evaluate("e => e.chart.getOption().series.map((series) => series.data)")
        texts = frame.locator(".chart-drawn text").all_text_contents()
        assert frame.locator(".chart-drawn").get_attribute("aria-label") == frame.get_attribute("data-label")
        assert page.locator("[data-chart-static]:visible").count() == 0
        if address == MAP:
            assert sorted(cell["value"][2] for cell in figures[0]) == sorted(
                used or denied for _, _, used, denied, _ in PAIRS
            )
            assert [cell[2] for cell in figures[1]] == [6], "the one that was used and denied"
            assert {"1.2k", "7", "− 5", "payments.", "User:eve"} <= set(texts)
        elif address == DAYS:
            rows = [
                [cell.replace(",", "") for cell in row]
                for row in cells_of(page.content(), part="Figures of each day")
            ]
            assert [[str(count or 0) for count in row] for row in figures] == [
                [row[1] for row in rows],
                [row[2] for row in rows],
            ]
        else:
            assert [point["value"][1] for point in figures[0]] == [7, 9, 6, 6]
            assert {"+2", "−4"} <= {word for text in texts for word in text.split()}
        assert axe_violations(page) == []
        assert page.watch.complaints == []
        assert page.watch.elsewhere == []

    assert all(light != dark for light, dark in zip(drawings[::2], drawings[1::2], strict=True))


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_cell_of_the_map_leads_to_the_acls_of_its_principal_on_its_prefix(give, read_cluster, cho, window):  # noqa: F811
    give()
    page = window(cho, MAP)
    page.locator(".chart-drawn text", has_text="1.2k").wait_for()

    box = page.locator(".chart-drawn text", has_text="1.2k").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**/acls/**")

    asked = {name: value for name, (value,) in parse_qs(urlsplit(page.url).query).items()}
    assert asked == {
        "principal": "User:bob",
        "resource_type": "TOPIC",
        "name": "payments.",
        "match": "starts",
    }
