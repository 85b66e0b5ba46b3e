"""Does the page of two clusters beside each other say "not used" only where a log may, and show nobody's cluster?"""

from __future__ import annotations

import csv
import io
import json
import random
from datetime import timedelta
from html import unescape

import pytest

from aclweb.accounts.models import Grant, Role
from aclweb.acl.notation import binding_key
from aclweb.insights import pairs
from aclweb.insights.current import current_load
from aclweb.insights.load import load
from aclweb.insights.models import AclUse
from aclweb.insights.unused import evidence_of, unused_acls
from aclweb.insights.use_beside import use_beside
from aclweb.inventory.current import in_force
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import BINDINGS, read_cluster, two_weeks_will_do  # noqa: F401 fixtures
from tests.insights.results import LAST, use, write_result
from tests.web.test_use_pages import REFUSALS_ONLY, REQUESTS, logged

URL = "/c/test-eu/insights/use/beside/"
THERE = [BINDINGS[0], BINDINGS[1], allow("User:bob", "READ", "stock")]
ASKED_THERE = [
    logged("User:bob", "stock", lines=70),
    logged("User:bob", "orders", lines=3, allowed=False),
    logged("User:bob", "payments.eu", lines=11),
]


@pytest.fixture
def both(read_cluster, other_cluster, cho):  # noqa: F811
    """Two clusters that cho may look at, each read once."""
    sync(other_cluster, client=FakeCluster(THERE, topics=["orders", "stock", "payments.eu"], groups=[]))
    other_cluster.refresh_from_db()
    Grant.objects.create(user=cho, cluster=other_cluster, role=Role.VIEWER)
    return read_cluster, other_cluster


@pytest.fixture
def give(both, tmp_path):
    def given(*, here=REQUESTS, there=ASKED_THERE, here_facts=(), there_facts=()):
        sides = ((BINDINGS, here, here_facts), (THERE, there, there_facts))
        for cluster, (bindings, requests, facts) in zip(both, sides, strict=True):
            folder = tmp_path / f"usage-{cluster.slug}"
            load(write_result(folder, bindings, requests=requests, **dict(facts)), cluster)

    return given


@pytest.fixture
def page_of(both, cho, signed_in):
    client = signed_in(cho)

    def page(query: str = "") -> str:
        answer = client.get(f"{URL}?other={both[1].slug}{query}")
        assert answer.status_code == 200
        return unescape(answer.getvalue().decode())

    return page


def states(found):
    return {row.name: (row.relation, row.here.state, row.there.state) for row in found.rows}


def test_a_topic_is_used_on_both_on_one_absent_or_idle(both, give, page_of):
    give()

    assert states(use_beside(*both, kind="topics", days=None)) == {
        "payments.eu": ("both", "used", "used"),
        "stock": ("there", "absent", "used"),
        "orders": ("here", "used", "idle"),
        "payments.us": ("here", "used", "absent"),
    }
    assert states(use_beside(*both, kind="principals", days=None)) == {"User:bob": ("both", "used", "used")}
    assert f"/insights/analyses/?beside={both[1].slug}#card-compare" in page_of()


def test_turned_round_it_says_the_same(both, give):
    give()
    turned = {"here": "there", "there": "here", "both": "both", "open": "open"}

    for kind in ("topics", "principals", "acls"):
        there = states(use_beside(*reversed(both), kind=kind, days=30))
        back = {name: (turned[relation], b, a) for name, (relation, a, b) in there.items()}
        assert states(use_beside(*both, kind=kind, days=30)) == back, kind


@pytest.mark.parametrize(
    "facts, days",
    [({"files": REFUSALS_ONLY}, None), ({}, 7)],
    ids=["a log without permits", "days that are too few"],
)
def test_what_a_log_cannot_tell_is_never_called_idle(both, give, page_of, facts, days):
    give(there=ASKED_THERE[1:2], there_facts=facts)

    found = use_beside(*both, kind="topics", days=days)

    assert states(found)["orders"] == ("open", "used", "unknown")
    assert states(found)["payments.eu"] == ("open", "used", "unknown")
    page = page_of(f"&days={days or 'all'}")
    assert "cannot tell what is not used" in page
    assert "not used</span>" not in page


def test_a_cluster_without_a_log_has_no_number(both, read_cluster, tmp_path, page_of):  # noqa: F811
    load(write_result(tmp_path / "usage", BINDINGS, requests=REQUESTS), read_cluster)

    page = page_of()
    assert "cannot tell what is used: no authorizer log of it has been read" in page
    assert "/insights/analyses/?beside=" not in page, "an analysis beside it would be refused"
    rows = list(csv.DictReader(io.StringIO(page_of("&format=csv"))))
    told = {(row["there"], row["there_permitted"], row["there_denied"]) for row in rows}
    assert told == {("unknown", "", ""), ("absent", "", "")}
    assert {row["here_denied"] for row in rows} == {"0", "5"}


def test_a_number_of_what_is_absent_or_not_compared_is_null_unless_logged(both, give, monkeypatch, page_of):
    give(there=[*ASKED_THERE, logged("User:eve", "payments.us", lines=6, allowed=False)])

    def denied_there():
        return {
            row["name"]: (row["there"], row["there_denied"])
            for row in map(json.loads, page_of("&days=all&format=jsonl").splitlines())
        }

    told = denied_there()
    assert told["payments.us"] == ("absent", 6)
    assert told["orders"] == ("idle", 3)
    give()
    assert denied_there()["payments.us"] == ("absent", None)
    monkeypatch.setattr("aclweb.insights.use_beside.MOST_NAMES", 1)
    assert denied_there()["payments.eu"] == ("unknown", None)


def test_an_acl_has_requests_of_its_own_permission_alone(both, give, page_of):
    give(here_facts={"usage": [use(BINDINGS[6], requests=8), use(BINDINGS[1], requests=4)]})

    told = {
        row["principal"]: [
            row[f"{side}_{number}"] for side in ("here", "there") for number in ("permitted", "denied")
        ]
        for row in map(json.loads, page_of("&what=acls&format=jsonl").splitlines())
    }

    assert told == {"User:eve": [None, 8, None, None], "User:bob": [4, None, 0, None]}
    assert "8 denied" in page_of("&what=acls")
    assert "8 requests" not in page_of("&what=acls")


def test_an_acl_that_was_removed_after_the_load_is_not_there(both, give, page_of):
    used = [use(BINDINGS[0], requests=9), use(BINDINGS[2], requests=2)]
    give(here_facts={"usage": used}, there_facts={"usage": [use(BINDINGS[0], requests=5)]})
    sync(both[0], client=FakeCluster(BINDINGS[3:], topics=["orders"], groups=[]))
    both[0].refresh_from_db()

    rows = [json.loads(line) for line in page_of("&what=acls&format=jsonl").splitlines()]

    told = [
        [row[key] for key in ("resource_name", "relation", "here", "here_permitted", "there")] for row in rows
    ]
    assert told == [["payments.", "there", "absent", None, "used"]], "the other is on neither cluster"


def some_uses(seed, bindings):
    chance = random.Random(seed)
    return [
        use(each, requests=chance.choice([0, 1, 1, 5, 900]), needed=chance.choice([0, 3]))
        for each in bindings
        if chance.random() < 0.7
    ]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most", [2, None])
def test_acls_are_judged_as_one_after_the_other(both, give, seed, most):
    give(
        here_facts={"usage": some_uses(seed, BINDINGS)},
        there_facts={
            "usage": some_uses(seed + 100, THERE),
            **({"files": REFUSALS_ONLY} if seed == 3 else {}),
        },
    )
    if seed == 2:
        # What is new since the first reading, and within the days of the log, may be needed yet.
        sync(both[0], client=FakeCluster([*BINDINGS[1:], THERE[2]], topics=["orders"], groups=[]))
    for cluster in both:
        cluster.refresh_from_db()

    found = use_beside(*both, kind="acls", days=None, most=most)

    told = []
    for cluster in both:
        load = current_load(cluster)
        used = {each.key: each for each in AclUse.objects.filter(load=load, requests__gt=0)}
        compared = sorted(used, key=lambda key: (-used[key].requests, key))[:most]
        idle = set(unused_acls(cluster, load, evidence_of(load)).values_list("key", flat=True))
        there_now = {binding_key(each) for each in in_force(cluster).index}
        told.append((used, compared, idle, there_now))
    expected = {}
    for key in {key for _, compared, _, there_now in told for key in compared}:
        if not any(key in there_now for *_, there_now in told):
            continue
        states = [
            "absent"
            if key not in there_now
            else "used"
            if key in compared
            else "idle"
            if key in idle
            else "unknown"
            for _, compared, idle, there_now in told
        ]
        if {"used", "unknown"} & {*states}:
            expected[key] = states
    assert {row.name: [row.here.state, row.there.state] for row in found.rows} == expected
    assert len(expected) >= 2
    requests = [
        sum(used[row.name].requests for used, compared, *_ in told if row.name in compared)
        for row in found.rows
    ]
    assert requests == sorted(requests, reverse=True)
    assert found.here.whole == (len(told[0][0]) == len(told[0][1]))


def test_a_kept_comparison_of_acls_is_not_shown_once_anything_of_it_moved(both, give, page_of, settings):
    only_first = {"usage": [use(BINDINGS[0], requests=9)]}
    give(here_facts=only_first, there_facts=only_first)
    for _ in range(2):
        assert "1 ACL in use on both, 0 only on test-eu" in page_of("&what=acls")

    sync(both[1], client=FakeCluster(THERE[1:], topics=["orders"], groups=[]))
    assert "0 ACLs in use on both, 1 only on test-eu" in page_of("&what=acls")

    uses = {"usage": [use(each, requests=9) for each in BINDINGS[:2]]}
    give(here_facts=uses, there_facts=only_first)
    assert "0 ACLs in use on both, 2 only on test-eu" in page_of("&what=acls")

    settings.ACLWEB_UNUSED_DAYS = 90
    assert "1 only on test-eu, 0 only on test-us; of 1 nobody can tell" in page_of("&what=acls")


def test_acls_are_compared_by_all_their_parts(both, give, page_of):
    used_here = [use(each, requests=number) for each, number in zip(BINDINGS, (9, 4, 2), strict=False)]
    give(
        here_facts={"usage": used_here},
        there_facts={"usage": [use(BINDINGS[0], requests=5), use(THERE[2], requests=1)]},
    )

    found = [json.loads(line) for line in page_of("&what=acls&format=jsonl").splitlines()]

    told = {
        (row["principal"], row["resource_name"]): (row["relation"], row["here"], row["there"])
        for row in found
    }
    assert told == {
        ("User:bob", "payments."): ("both", "used", "used"),
        ("User:bob", "orders"): ("here", "used", "idle"),
        ("User:CN=fraud,OU=risk", "orders"): ("here", "used", "absent"),
        ("User:bob", "stock"): ("there", "absent", "used"),
    }
    page = page_of("&what=acls&show=here")
    assert page.count("<tr data-row>") == 2
    assert "not there</span>" in page
    assert "not used</span>" in page


def test_rows_are_filtered_and_the_numbers_of_the_groups_add_up(give, page_of):
    give()

    assert "1 topic in use on both, 2 only on test-eu, 1 only on" in page_of("&days=all")
    assert page_of("&days=all&show=there").count("<tr data-row>") == 1
    assert "payments.us" not in page_of("&days=all&q=EU")
    assert "No row fits" in page_of("&days=all&q=zzz")


def test_names_beyond_the_most_are_not_called_idle(both, give, monkeypatch, page_of):
    give()
    monkeypatch.setattr("aclweb.insights.use_beside.MOST_NAMES", 1)

    found = use_beside(*both, kind="topics", days=None)

    assert states(found) == {"payments.eu": ("open", "used", "unknown"), "stock": ("there", "absent", "used")}
    assert "Its log has more than the 1 with most requests that are compared here" in page_of("&days=all")


def test_a_page_compares_fewer_names_than_its_files_and_says_so(both, give, monkeypatch, page_of):
    give()
    monkeypatch.setattr("aclweb.web.browse.use_beside.MOST_ON_PAGE", 1)

    page = page_of("&days=all")

    assert page.count("<tr data-row>") == 2
    assert "compared here; the files compare 50,000." in page
    assert len(page_of("&days=all&format=jsonl").splitlines()) == 4


def some_requests(seed):
    """Requests of few principals, hosts and days on few names, so that many have the same numbers."""
    chance = random.Random(f"beside {seed}")
    keys = {
        (
            chance.choice("abcde"),
            chance.choice(["payments.eu", "orders", "stock", "trades", "users"]),
            host,
            allowed,
        )
        for host in range(4)
        for allowed in (True, False)
        for _ in range(12)
    }
    return [
        logged(
            f"User:{who}",
            name,
            lines=chance.randint(1, 3),
            allowed=allowed,
            day=(day := LAST - timedelta(days=chance.choice([0, 0, 10, 40, 80]))).date().isoformat(),
            host=f"10.0.0.{host}",
            resource_type=chance.choice(["TOPIC", "TOPIC", "GROUP"]),
            last_at=day,
            first_at=day - timedelta(days=90),
        )
        for who, name, host, allowed in sorted(keys)
    ]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most", [3, None])
def test_names_added_up_from_kept_pairs_are_those_of_each_request(both, give, monkeypatch, seed, most):
    give(here=some_requests(seed), there=some_requests(seed + 100))

    def told():
        questions = [(kind, days) for kind in ("topics", "principals") for days in (7, 30, 90, None)]
        found = [use_beside(*both, kind=kind, days=days, most=most) for kind, days in questions]
        return [
            [
                (row.name, row.relation, side.state, side.permitted, side.denied, side.used.last_at)
                for row in each.rows
                for side in (row.here, row.there)
            ]
            for each in found
        ]

    kept = told()

    monkeypatch.setattr(pairs, "MOST_PAIRS", 1)

    assert told() == kept
    assert all(kept)
    assert kept[0] != kept[3]


def test_a_cluster_that_one_may_not_look_at_is_not_found(both, give, dot, signed_in):
    give()

    assert signed_in(dot).get(f"{URL}?other={both[1].slug}").status_code == 404
    assert "This is the only cluster that you may look at" in signed_in(dot).get(URL).content.decode()
    assert signed_in(dot).get(f"{URL}?other=no-such").status_code == 404


def test_the_queries_do_not_grow_with_the_names(both, give, django_assert_max_num_queries):
    many = [logged("User:bob", f"payments.{n}", lines=1) for n in range(200)]
    give(here=many, there=many[50:])

    for kind in ("topics", "principals", "acls"):
        use_beside(*both, kind=kind, days=30)
        with django_assert_max_num_queries(5):
            use_beside(*both, kind=kind, days=30)
