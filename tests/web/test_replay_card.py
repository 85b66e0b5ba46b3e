"""What-ifs, changes and comparisons say what would become of the requests that the log holds."""

from __future__ import annotations

import json
import re
from html import unescape
from urllib.parse import urlencode

import pytest

from aclweb.acl.model.delta import Delta
from aclweb.acl.notation.files import read_delta, write_delta
from aclweb.changes import asking, question, review
from aclweb.changes.computing import run_next
from aclweb.insights.load import load
from aclweb.insights.models import Analysis
from aclweb.inventory.current.view import in_force
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.browsing import axe_violations
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.insights.results import file, request, write_result
from tests.web import pressing

BINDINGS = [allow("User:bob", "READ", "orders"), allow("User:eve", "READ", "stock.", pattern="PREFIXED")]
LOGGED = [
    request("User:bob", "READ", "orders", allowed=True, lines=40),
    *(request("User:eve", "READ", f"stock.{number}", allowed=True, lines=1) for number in range(12)),
    request("User:dan", "READ", "orders", lines=7),
]
CLOSES = Delta(add=(allow("User:dan", "READ", "orders"),), remove=tuple(BINDINGS))
SENTENCE = (
    "52 logged requests of 2 principals would be newly refused; "
    "7 logged requests of 1 principal would be newly allowed."
)


@pytest.fixture
def synced(cluster, settings):
    settings.ACLWEB_UNUSED_DAYS = 13
    with FakeCluster(BINDINGS, topics=["orders"]) as fake:
        sync(cluster, client=fake)
    cluster.refresh_from_db()
    return cluster


@pytest.fixture
def logged(synced, tmp_path):
    load(write_result(tmp_path / "usage", BINDINGS, requests=LOGGED), synced)
    return synced


def what_if(edit: Delta, **more: str) -> str:
    return f"/c/test-eu/what-if/?{urlencode({'paste': write_delta(edit), **more})}"


def asked_for(cluster: Cluster, author) -> str:
    change = review.draft(cluster=cluster, author=author, title="Close", reason="Asked for.", delta=CLOSES)
    return f"/changes/{review.submit(change=change, actor=author).key}/"


def addresses(cluster: Cluster, author) -> dict[str, str]:
    """Return a page of each kind that shows CLOSES."""
    there = write_delta(Delta(add=(BINDINGS[0],), remove=()))
    other = {"first": there, "second": write_delta(CLOSES)}
    change = asked_for(cluster, author)
    number = change.strip("/").rpartition("/")[2]
    return {
        "what-if": what_if(CLOSES),
        "change": change,
        "drafts": f"/c/test-eu/compare/drafts/?{urlencode(other)}",
        "comparison": f"/c/test-eu/compare/?other=test-eu&other_change={number}",
    }


def test_every_page_with_a_difference_shows_the_same_replay(logged, ada, signed_in):
    browser = signed_in(ada)
    for name, address in addresses(logged, ada).items():
        page = browser.get(address)
        assert page.context["replay"].sentence == SENTENCE, name
        assert SENTENCE in page.content.decode(), name
        assert [flip.principal for flip in page.context["flips"]][:2] == ["User:bob", "User:eve"], name


def test_rows_are_paged_and_each_leads_to_its_explanation(logged, ada, signed_in):
    browser = signed_in(ada)
    page = browser.get(what_if(CLOSES, tab="replay", flips="2"))

    flips = page.context["flips"]
    assert (flips.number, flips.paginator.count, len(flips.object_list)) == (2, 14, 7)
    text = page.content.decode()
    assert 'name="flips" value="1"' in text
    explain = "/c/test-eu/explain/?principal=User%3Adan&amp;operation=READ"
    assert explain in text
    assert (
        browser.get(explain.replace("&amp;", "&") + "&type=TOPIC&name=orders&host=10.0.0.7").status_code
        == 200
    )


@pytest.mark.parametrize(
    "by, first, cells, total",
    [
        ("principal", "User:bob", ("40", "0"), 3),
        ("resource", "orders", ("40", "7"), 13),
        ("day", "2026-11-20", ("52", "7"), 1),
        ("odd", "User:bob", ("40",), 14),
    ],
)
def test_the_replay_is_added_up_by_principal_resource_and_day(
    logged, ada, signed_in, by, first, cells, total
):
    page = signed_in(ada).get(what_if(CLOSES, tab="replay", by=by))

    text = page.content.decode().split('id="replay"')[1]
    row = text.split("<tbody>")[1].split("<tr")[1]
    assert first in row
    assert tuple(re.findall(r'<td class="number"[^>]*>(\d+)\s*<', row)) == cells
    assert page.context["flips"].paginator.count == total
    assert f'name="by" value="{"" if by == "odd" else by}" aria-current="true"' in text


def test_the_requests_logged_most_often_open_at_their_row(logged, ada, signed_in):
    text = signed_in(ada).get(what_if(CLOSES, tab="replay", by="principal")).content.decode()

    eve = text.split('id="replay"')[1].split("<tbody>")[1].split("</tr>")[1]
    samples = re.findall(r"<li>(.*?)</li>", eve)
    assert len(samples) == 3
    assert (
        re.sub(r"<[^>]*>", "", samples[0])
        == "Read on topic stock.0 from 10.0.0.7: 1 time, last 20 Nov 2026 20:00"
    )
    assert "<details" in eve


def test_the_samples_of_one_request_from_several_hosts_are_named_by_host(synced, tmp_path, ada, signed_in):
    hosts = [request("User:bob", "READ", "orders", host=f"10.0.0.{n}", allowed=True, lines=n) for n in (1, 2)]
    load(write_result(tmp_path / "usage", BINDINGS, requests=[*hosts, LOGGED[1]]), synced)
    text = signed_in(ada).get(what_if(CLOSES, tab="replay")).content.decode().split('id="replay"')[1]

    samples = re.findall(r"<li>(.*?)</li>", text.split("<tbody>")[1].partition("</tbody>")[0])
    assert [re.sub(r"<[^>]*>", "", sample) for sample in samples] == [
        "10.0.0.2: 2 times, last 20 Nov 2026 20:00",
        "10.0.0.1: 1 time, last 20 Nov 2026 20:00",
    ]


@pytest.mark.parametrize("flips", ["0", "-1", "x", "9" * 40, "½"])
def test_a_page_that_is_not_there_is_the_nearest(logged, ada, signed_in, flips):
    page = signed_in(ada).get(what_if(CLOSES, flips=flips))

    assert page.status_code == 200
    assert page.context["flips"].number in (1, 2)


@pytest.mark.parametrize(
    ("name", "most"), [("what-if", 12), ("change", 12), ("comparison", 12), ("drafts", 12)]
)
def test_a_page_with_a_log_stays_within_its_budget(
    logged, ada, ben, signed_in, django_assert_max_num_queries, name, most
):
    address, browser = addresses(logged, ada)[name], signed_in(ben)
    browser.get(address)  # works out the impact and the replay, which are kept

    with django_assert_max_num_queries(most):
        page = browser.get(address)

    assert page.context["diff_log"].rows
    assert len(page.content) < 50 * 1024
    assert len(re.findall("<[a-z]", page.text)) < 2_000


def test_without_a_log_the_card_says_that_it_cannot_tell(synced, ada, signed_in):
    page = signed_in(ada).get(what_if(CLOSES))

    assert page.context["replay"] is None
    assert "No authorizer log of test-eu has been read" in page.content.decode()


def test_without_permits_what_would_be_refused_is_no_number(synced, tmp_path, ada, signed_in):
    load(write_result(tmp_path / "usage", BINDINGS, requests=LOGGED[-1:], files=[file("a.log")]), synced)
    text = signed_in(ada).get(what_if(Delta(add=(), remove=(BINDINGS[0],)))).content.decode()

    assert "Cannot tell whether anything that is in use would be refused." in text
    assert "permits are not logged" in text


def test_without_permits_no_principal_has_a_number_of_refused_requests(synced, tmp_path, ada, signed_in):
    load(write_result(tmp_path / "usage", BINDINGS, requests=LOGGED[-1:], files=[file("a.log")]), synced)
    text = signed_in(ada).get(what_if(CLOSES, tab="replay", by="principal")).content.decode()

    row = text.split('id="replay"')[1].split("<tbody>")[1].split("</tr>")[0]
    assert "User:dan" in row
    assert "cannot tell" in row
    assert re.findall(r'<td class="number"[^>]*>(\d+)</td>', row) == ["7"]


@pytest.fixture
def over_days(synced, tmp_path):
    """Three kinds of requests; that of bob was logged on the first day only."""
    early = LOGGED[0] | {"days": [{"day": "2026-11-07", "lines": 40}]}
    load(write_result(tmp_path / "usage", BINDINGS, requests=[early, *LOGGED[1:]]), synced)
    return synced


def test_the_days_of_the_log_are_chosen_on_each_page(over_days, ada, signed_in):
    browser = signed_in(ada)
    for name, address in addresses(over_days, ada).items():
        whole, week = (
            browser.get(f"{address}{'&' if '?' in address else '?'}days={days}") for days in ("", "7")
        )
        assert (whole.context["replay"].denied_lines, week.context["replay"].denied_lines) == (52, 12), name
        text = week.content.decode()
        assert 'name="days" value="7" aria-current="true"' in text, name
        assert "14 Nov 2026 00:00 to 20 Nov 2026 20:00" in text, name
        assert "Whole days, counted back from the last day of the log." in text, name


@pytest.mark.parametrize("days", ["8", "-7", "x", "9" * 30])
def test_days_that_are_not_offered_are_the_whole_log(over_days, ada, signed_in, days):
    page = signed_in(ada).get(what_if(CLOSES, days=days))

    assert page.context["replay"].days is None


def test_a_window_without_a_difference_still_offers_the_others(over_days, ada, signed_in):
    edit = Delta(add=(), remove=(BINDINGS[0],))
    text = signed_in(ada).get(what_if(edit, days="7")).content.decode()

    assert "No request of the last 7 days of the log would be answered otherwise." in text
    assert 'id="replay-days-all" name="days" value=""' in text


def test_the_file_of_a_change_has_the_days_that_its_page_shows(over_days, ada, signed_in):
    browser, change = signed_in(ada), asked_for(over_days, ada)
    page = browser.get(change, {"by": "principal", "days": "7"}).content.decode()
    link = unescape(re.findall(r'href="(/changes/CR-\d+/replay/[^"]*csv)"', page)[0])
    rows = browser.get(link)

    assert "-replay-principal-7-days.csv" in rows["Content-Disposition"]
    assert file_of(rows).splitlines()[1:] == ["User:eve,12,0,0", "User:dan,0,7,0"]


def test_a_change_that_is_decided_shows_no_replay(logged, ada, signed_in):
    address = asked_for(logged, ada)
    number = int(address.strip("/").rpartition("-")[2])
    review.withdraw(change=review.Change.objects.get(pk=number), actor=ada)
    page = signed_in(ada).get(address)

    assert page.context["replay"] is None
    assert "Replay of the log" not in page.content.decode()


def file_of(answer) -> str:
    return b"".join(answer).decode()


@pytest.mark.parametrize(
    "by, count, first",
    [
        ("", 14, "refused,User:bob,READ,TOPIC,orders,"),
        ("principal", 3, "User:bob,40,0,0"),
        ("resource", 13, "TOPIC,orders,40,7,0"),
        ("day", 1, "2026-11-20,52,7,0,true"),
        ("odd", 14, "refused,User:bob,READ,TOPIC,orders,"),
    ],
)
def test_the_replay_of_a_change_is_a_file_of_all_its_rows(logged, ada, signed_in, by, count, first):
    browser, change = signed_in(ada), asked_for(logged, ada)
    page = browser.get(change, {"by": by}).content.decode()
    links = [unescape(link) for link in re.findall(r'href="(/changes/CR-\d+/replay/[^"]*)"', page)]
    assert len(links) == 2

    rows, lines = (browser.get(link) for link in links)
    header, *cells = file_of(rows).splitlines()
    objects = [json.loads(line) for line in file_of(lines).splitlines()]
    key, kind = change.strip("/").rpartition("/")[2], "" if by in ("", "odd") else f"-{by}"
    assert rows["Content-Disposition"] == f'attachment; filename="{key}-replay{kind}.csv"'
    assert (len(cells), len(objects)) == (count, count)
    assert cells[0].startswith(first)
    assert list(objects[0]) == header.split(",")


@pytest.mark.parametrize("kind", ["what-if", "drafts", "comparison", "computation"])
def test_every_page_with_a_replay_gives_the_file_of_what_it_shows(
    over_days, ada, signed_in, django_user_model, kind
):
    browser = signed_in(ada)
    place = computed(over_days, ada) if kind == "computation" else addresses(over_days, ada)[kind]
    shown = f"{place}{'&' if '?' in place else '?'}by=principal&days=7&flips=2"
    page = browser.get(shown).content.decode()
    rows, lines = (browser.get(link) for link in file_links(page))

    assert file_of(rows).splitlines() == [
        "principal,would_be_refused,would_be_allowed,unclear",
        "User:eve,12,0,0",
        "User:dan,0,7,0",
    ]
    assert rows["Content-Disposition"].endswith('-replay-principal-7-days.csv"')
    assert [json.loads(line)["principal"] for line in file_of(lines).splitlines()] == ["User:eve", "User:dan"]
    nobody = django_user_model.objects.create_user("nobody", password="no-role-anywhere-1")
    assert signed_in(nobody).get(file_links(page)[0]).status_code == 404
    assert browser.get(f"{place}{'&' if '?' in place else '?'}replay=xml").status_code == 404


@pytest.mark.parametrize("kind", ["what-if", "change", "drafts", "comparison", "computation"])
def test_a_row_of_the_diff_and_the_replay_below_it_are_chosen_each_by_itself(over_days, ada, signed_in, kind):
    place = computed(over_days, ada) if kind == "computation" else addresses(over_days, ada)[kind]
    shown = f"{place}{'&' if '?' in place else '?'}by=principal&days=7&open=0"
    page = signed_in(ada).get(shown)
    assert (page.context["open_row"], page.context["replay_by"], page.context["replay_days"]) == (
        0,
        "principal",
        7,
    )
    found = [
        action
        for action in pressing.actions(pressing.read(page.content.decode()), shown, lambda *_: "")
        if not action.is_link
    ]

    def sent_by(button):
        sent = [dict((*action.query, *action.fields)) for action in found if f"'{button}'" in action.source]
        return {(fields.get("open"), fields.get("by"), fields.get("days")) for fields in sent}

    assert sent_by("Close row 1") == {("", "principal", "7")}
    if kind == "what-if":  # its rows are shown in the place of the diff
        assert sent_by("Show these requests") == {("0", "principal", "7")}
    else:
        assert sent_by("By resource") == {("0", "resource", "7")}


def file_links(page: str) -> list[str]:
    """Return the addresses of the files of a replay."""
    card = page.split('id="replay"')[1].partition("</section>")[0]
    return [unescape(link) for link in re.findall(r'href="([^"]*)" download', card)]


def computed(cluster: Cluster, person) -> str:
    """Have a worker compute CLOSES, and return the address of the page."""
    row = asking.ask(question.what_if(in_force(cluster), CLOSES), person=person)
    assert run_next("a worker")
    return f"/c/test-eu/computations/{row.address}/"


@pytest.mark.parametrize("place", ["what-if", "compare", "compare/drafts"])
def test_a_page_without_an_impact_has_no_file_of_a_replay(synced, ada, signed_in, place):
    assert signed_in(ada).get(f"/c/test-eu/{place}/?replay=csv").status_code == 404


def test_somebody_without_a_role_gets_no_replay_of_a_change(logged, ada, signed_in, django_user_model):
    address = asked_for(logged, ada) + "replay/"
    nobody = django_user_model.objects.create_user("nobody", password="no-role-anywhere-1")

    assert signed_in(ada).get(address).status_code == 200
    assert signed_in(nobody).get(address).status_code == 404


def test_what_the_log_cannot_show_is_no_number_in_a_file_either(synced, tmp_path, ada, signed_in):
    load(write_result(tmp_path / "usage", BINDINGS, requests=LOGGED[-1:], files=[file("a.log")]), synced)
    answer = signed_in(ada).get(asked_for(synced, ada) + "replay/?by=principal&format=jsonl")

    assert json.loads(file_of(answer)) == {
        "principal": "User:dan",
        "would_be_refused": None,
        "would_be_allowed": 7,
        "unclear": 0,
    }


def test_an_odd_format_and_a_decided_change_have_no_file(logged, ada, signed_in):
    browser, address = signed_in(ada), asked_for(logged, ada)
    assert browser.get(f"{address}replay/?format=xml").status_code == 404
    number = int(address.strip("/").rpartition("-")[2])
    review.withdraw(change=review.Change.objects.get(pk=number), actor=ada)

    assert browser.get(f"{address}replay/").status_code == 404


def test_the_next_page_asks_the_log_nothing_again(logged, ada, signed_in, monkeypatch):
    browser = signed_in(ada)
    browser.get(what_if(CLOSES))
    monkeypatch.setattr("aclweb.changes.replaying.replay", None)  # would fail if it were called

    assert browser.get(what_if(CLOSES, tab="replay", flips="2")).context["flips"].number == 2


def test_names_that_no_address_holds_are_shown_escaped(synced, tmp_path, ada, signed_in):
    odd = request("User:\u202egpj<b>\n", "READ", "a&<i>?#\x00", allowed=False, lines=2)
    load(write_result(tmp_path / "usage", BINDINGS, requests=[odd]), synced)
    text = signed_in(ada).get(what_if(Delta(add=(allow("User:*", "READ", "*"),), remove=()))).content.decode()

    assert "2 logged requests of 1 principal would be newly allowed." in text
    assert "<b>" not in text.split('id="replay"')[1].split("</table>")[0].replace("<b>2 logged", "")


def test_a_deny_for_everyone_is_refused_to_those_who_ask(logged, ada, signed_in):
    page = signed_in(ada).get(what_if(Delta(add=(deny("User:*", "ALL", "*"),), remove=())))

    assert page.context["replay"].denied_lines == 52
    assert page.context["replay"].unchanged == 7


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "name",
    [
        "what-if",
        *(
            pytest.param(
                page,
                marks=pytest.mark.thorough(
                    instead="tests/web/test_replay_card.py::test_every_page_with_a_difference_shows_the_same_replay"
                ),
            )
            for page in ("change", "drafts", "comparison")
        ),
    ],
)
def test_the_rows_are_paged_in_place_where_scripts_run(logged, ada, window, name):
    page = window(ada, addresses(logged, ada)[name])

    if name == "what-if":
        page.get_by_role("button", name="Show these requests").click()
    page.get_by_role("button", name="Next rows of the replay").click()
    page.get_by_role("button", name="Previous rows of the replay").wait_for()
    assert page.locator("#replay tbody tr").count() == 7
    if name in ("what-if", "drafts"):
        assert page.evaluate("document.activeElement.id") == "flips-back"
    page.get_by_role("button", name="Previous rows of the replay").click()
    page.get_by_role("button", name="Next rows of the replay").wait_for()
    assert page.locator("#replay tbody tr").count() == 7
    page.get_by_role("button", name="By resource").click()
    page.locator("#replay-by-resource[aria-current]").wait_for()
    page.get_by_role("button", name="Next rows of the replay").click()
    page.get_by_role("button", name="Previous rows of the replay").wait_for()

    assert page.locator("#replay tbody tr").count() == 6
    page.get_by_role("button", name="7 days").click()
    page.locator("#replay-days-7[aria-current]").wait_for()
    assert page.locator("#replay tbody tr").count() == 7
    assert page.locator("#replay-by-resource[aria-current]").count() == 1
    assert "days=7" in page.url
    assert axe_violations(page) == []
    assert page.watch.complaints == []


@pytest.fixture
def few_at_once(monkeypatch):
    monkeypatch.setattr("aclweb.insights.replay.MOST_REQUESTS", 2)
    monkeypatch.setattr("aclweb.insights.analyses.ringing.enqueue", lambda: None)


def all_link(page) -> str:
    found = re.search(r'id="replay-all" href="([^"]+)"', page.content.decode())
    return unescape(found[1]) if found else ""


def test_what_a_card_leaves_out_a_worker_replays_from_a_what_if(logged, few_at_once, ada, signed_in):
    browser = signed_in(ada)
    page = browser.get(what_if(CLOSES), follow=True)
    asking_page = browser.get(all_link(page))
    answer = browser.post(
        "/c/test-eu/insights/analyses/start/",
        {
            name: unescape(value)
            for name, value in re.findall(r'name="(job|delta)" value="([^"]*)"', text_of(asking_page))
        },
    )

    row = Analysis.objects.get()
    assert answer.headers["Location"] == f"/c/test-eu/insights/analyses/{row.address}/"
    assert (row.job, row.asked_by) == ("replay", "ada")
    assert read_delta(row.delta, source="x") == CLOSES
    assert row.options["edit"].startswith("1 to add, 2 to remove (")
    assert "1 ACL to add, 2 to remove" in text_of(asking_page)


def test_a_change_offers_the_replay_of_all_requests_where_its_card_leaves_some_out(
    logged, few_at_once, ada, signed_in
):
    address = asked_for(logged, ada)

    link = all_link(signed_in(ada).get(address))

    assert b'name="job" value="replay"' in signed_in(ada).get(link).content


def test_a_comparison_with_the_acls_in_force_offers_the_replay_of_all_requests(
    logged, few_at_once, ada, signed_in
):
    browser = signed_in(ada)
    link = all_link(browser.get(addresses(logged, ada)["comparison"]))

    page = text_of(browser.get(link))

    delta = re.search(r'name="delta" value="([^"]*)"', page)
    assert delta is not None
    assert read_delta(unescape(delta[1]), source="x") == CLOSES
    assert 'name="job" value="replay"' in page
    back = unescape(re.search(r'href="([^"]*/compare/[^"]*)"', page.partition("<main")[2])[1])
    assert browser.get(back).context["replay"] is not None


def test_what_is_no_edit_of_the_acls_in_force_offers_none_from_a_comparison(
    logged, few_at_once, ada, signed_in
):
    change = addresses(logged, ada)["comparison"].partition("other_change=")[2]
    page = signed_in(ada).get(f"/c/test-eu/compare/?other=test-eu&change={change}")

    assert page.context["replay"] is not None
    assert all_link(page) == ""


def test_a_card_that_replays_all_requests_offers_no_other_replay(logged, ada, signed_in):
    assert all_link(signed_in(ada).get(what_if(CLOSES), follow=True)) == ""


def text_of(page) -> str:
    return page.content.decode()
