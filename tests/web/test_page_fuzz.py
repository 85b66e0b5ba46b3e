"""Whatever is typed into any page, it answers with a page: on read, unread, undeclared and logged clusters.

The database of these tests stands in for PostgreSQL in one thing: a NUL in any value of
a query is an error, as it is there. The seed in a test's id repeats its requests.
"""

from __future__ import annotations

import json
import os
import random
import re
from itertools import chain

import pytest
from django.db import connection

from aclweb.insights.models import Load, RequestTotals
from aclweb.inventory.models import Cluster
from tests.builders import allow
from tests.insights.conftest import given, read_cluster  # noqa: F401
from tests.insights.results import file, request
from tests.web.test_access import LINE, TABLE, browser_of, filled, waiting  # noqa: F401

SEEDS = 400 if os.environ.get("ACLWEB_TEST_SCALE") == "full" else 5
REQUESTS = 60  # for each seed
ANSWERS = {200, 302, 400, 403, 404, 405, 409, 422, 429}
NUL = "\x00"

# Every field that a page reads, with a value that it understands.
FIELDS = {
    "principal": "User:bob", "operation": "READ", "type": "TOPIC", "name": "payments.eu", "host": "10.0.0.9",
    "q": "payments", "text": "bob", "add": "principal:User:bob op:read", "permission": "DENY",
    "resource_type": "TOPIC", "match": "affects", "reach": "prefix", "orphan": "1", "page": "2", "all": "1",
    "cluster": "test-eu", "tab": "all", "only": "cluster", "actor": "ada", "target": "cluster:test-eu",
    "show": "gains", "line": LINE, "remove": LINE, "remove_key": "a" * 64, "acl": "a" * 16,
    "new_topic": "orders.new", "drop": "0", "paste": LINE, "pattern": "PREFIXED", "resource_name": "orders.",
    "permission_type": "ALLOW", "add_rule": "1", "title": "Let cat in", "reason": "She asked.",
    "step": "approve", "comment": "Fine.", "plan_hash": "{plan}", "shown": "Something", "default": "deny",
    "super_users": "User:admin", "super_users_known": "on", "authorizer": "on", "username": "ada",
    "kind": "ssl", "rules": "RULE:^CN=(.*?),.*$/$1/L,DEFAULT", "realm": "X.COM", "builder": "x.Y", "names": "CN=a,O=b",
    "logged": "DENIED", "rule": "DefaultDeny", "rule_key": "a" * 64, "at": "2026-11-21 09:00:00,000", "unsure": "1",
    "lines": "3", "who": "User:bob", "error": "GROUP_AUTHORIZATION_FAILED", "more": "2",
    "field": "topic", "back": "home",
    "as_of": "1", "change": "CR-{change}", "other": "test-eu", "other_at": "2026-11-21", "other_change": "CR-{change}",
    "action": "consume", "topic": "payments.eu", "group": "g", "choose": "1", "severity": "info",
    "first": LINE, "second": LINE, "proposal": "1", "holding": "bob",
    "state": "expected", "sort": "requests", "days": "7", "open": "a" * 64, "until": "2030-01-01", "undo": "b",
    "broker": "a.log", "since": "2026-11-30", "delimiter": ".", "hosts": "seen", "young": "judge", "groups": "exact",
    "use": "cannot-tell", "flips": "2", "by": "day", "cause": "no-rule", "burst": "yes", "format": "jsonl",
    "job": "anomalies", "lately": "14", "table": "groups", "password": "wrong", "next": "/clusters/",
    "may": "approve", "full_name": "Ada L", "email": "ada@example.com", "administrator": "on", "person": "1",
    "name_prefix": "pay",
}  # fmt: skip
HOSTILE = (
    "", NUL, f"a{NUL}b", f"User:{NUL}", NUL * 64, "*", "User:*", "bob", ":", "\u202egpj", "\ufeff", "\n\r\t", "%00",
    "'; DROP TABLE x; --", "<script>alert(1)", "{{ 7 }}", "9" * 400, "-1", "0", "²", "a" * 40_000, "[" * 3_000, "::1",
    "10.0.0.0/33",     "GLOB", "UNKNOWN", "ANY", "//evil.example", "../..",
    "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
)  # fmt: skip
HEADERS: tuple[dict[str, str], ...] = (
    {},
    {"HX-Request": "true"},
    {"HX-Request": "true", "HX-Boosted": "true"},
    {"HX-Request": "true", "HX-History-Restore-Request": "true"},
    {"HX-Request": "false", "HX-Target": "answer\x7f"},
    {"HX-Request": "TRUE"},
    {"HX-Request": "true", "HX-Current-URL": "not an address", "HX-Trigger": "<x>"},
)


@pytest.fixture(autouse=True)
def as_postgresql():
    """Refuse a NUL in a value, as PostgreSQL does."""

    def refuse(execute, sql, params, many, context):
        for value in chain.from_iterable(params) if many else params or ():
            if isinstance(value, str) and NUL in value:
                raise ValueError("A string literal cannot contain NUL (0x00) characters.")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse):
        yield


@pytest.fixture
def clusters(waiting, given):  # noqa: F811
    """One cluster with ACLs and a log, one of ZooKeeper where nothing is declared, and one that was never read."""
    given(requests=[request("User:bob", "READ", "payments.eu")], files=[file("a.log", permits=3)])
    for slug, authorizer in (("never-read", "standard"), ("undeclared", "acl")):
        Cluster.objects.create(
            slug=slug, name=slug, kind="zookeeper", address="z:2181", authorizer=authorizer
        )
    known = Cluster.objects.get(slug="test-eu")
    Cluster.objects.filter(slug="undeclared").update(
        revision=known.revision, state="ok", read_at=known.read_at, tried_at=known.tried_at
    )
    assert Load.objects.exists()
    assert RequestTotals.objects.exists()
    return ("test-eu", "never-read", "undeclared", "no-such-cluster")


@pytest.mark.half
@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_page_answers_whatever_is_typed(unrecorded, seed, clusters, waiting, dot, cho, monkeypatch):  # noqa: F811
    monkeypatch.setattr("aclweb.inventory.tasks.sync_next.apply_async", lambda **_: None)
    dot.is_superuser = True
    dot.save()
    chance = random.Random(seed)
    names = [name for name in TABLE if ":" not in name and name not in ("sign-out",)]
    browsers = [browser_of(dot), browser_of(cho)]

    for _ in range(REQUESTS):
        row = TABLE[chance.choice(names)]
        path = filled(row.path.partition("?")[0], waiting).replace("test-eu", chance.choice(clusters))
        fields = {
            name: _typed(chance, name, waiting)
            for name in chance.sample(sorted(FIELDS), chance.randint(0, 9))
        }
        browser, headers = chance.choice(browsers), chance.choice(HEADERS)
        send = browser.post if row.method == "post" or chance.random() < 0.2 else browser.get

        page = send(path, fields, headers=headers)

        told = f"{send.__name__} {path} {fields!r:.2000} {headers}"
        assert page.status_code in ANSWERS, told
        is_page = page.status_code == 200 and not page.streaming  # a file holds what it holds
        for typed in chain.from_iterable(fields.values() if is_page else ()):
            assert "<script>alert" not in typed or typed.encode() not in page.content, told


# The pages of what logs say, with the fields that each reads.
LOG_PAGES = {
    "insights": (
        *("state", "cause", "burst", "days", "sort", "page", "open"),
        *("owner", "owned", "closed", "like"),
    ),
    "denials-acls": ("choose", "alike", "hosts", "names"),
    "denials-export": ("state", "cause", "burst", "days", "owner", "format"),
    "coverage": ("broker", "since", "reason"),
    "use-map": ("show", "days", "format"),
    "access-graph": ("type", "name", "format"),
    "by-owner": ("days", "sort", "owner", "q", "page", "format"),
    "use-beside": ("other", "what", "days", "show", "q", "page", "format"),
    "use-days": ("principal", "type", "name", "key", "days", "format"),
    "analyses": ("job", "lately", "beside"),
    "analysis": ("table", "kind", "text", "page", "used_on"),
    "analysis-export": ("table", "kind", "text", "format", "used_on"),
    "least-privilege": (
        *("name", "names", "delimiter", "hosts", "young", "groups", "by", "flips"),
        *("view", "format"),
    ),
    "what-if": ("paste", "show", "view", "page", "by", "flips", "after", "acls"),
}
LONG = "\u202e" + 248 * "x"


@pytest.mark.half
@pytest.mark.parametrize("typed", [*HOSTILE, LONG], ids=lambda typed: ascii(typed)[:20])
def test_every_page_of_the_log_answers_whatever_its_fields_hold(unrecorded, clusters, waiting, dot, typed):  # noqa: F811
    dot.is_superuser = True
    dot.save()
    browser = browser_of(dot)

    for name, fields in LOG_PAGES.items():
        path = filled(TABLE[name].path.partition("?")[0], waiting)
        page = browser.get(path, dict.fromkeys(fields, typed))

        assert page.status_code in ANSWERS, name
        if page.status_code == 200 and not page.streaming:
            assert "\u202e" not in _shown(page), name


def test_names_that_clients_made_up_are_readable_on_every_page_of_the_log(
    unrecorded,
    waiting,  # noqa: F811
    given,  # noqa: F811
    dot,
):
    names = ("User:" + LONG, f"User:a{NUL}b", "User:'; DROP TABLE x; --", "User:<script>alert(1)")
    facts = {"days": [{"day": "2026-11-20", "lines": 5}], "host": "fe80::1%<b>"}
    asked = [
        request(who, "READ", who.removeprefix("User:"), allowed=allowed, **facts)
        for who in names
        for allowed in (True, False)
    ]
    given(requests=asked, files=[file(f"{LONG}.log", permits=3)])
    dot.is_superuser = True
    dot.save()
    browser = browser_of(dot)

    for name in ("insights", "coverage", "use-map", "analyses"):
        text = _shown(browser.get(filled(TABLE[name].path, waiting)))
        assert "\u202e" not in text, name
        assert NUL not in text, name
        assert "<script>alert(1)" not in text, name
    for who in names:
        page = browser.get(filled(TABLE["use-days"].path.partition("?")[0], waiting), {"principal": who})
        assert page.status_code == 200
        assert "5 permitted" in re.sub(r"<[^>]*>", "", page.content.decode())


def _shown(page) -> str:
    """Return a page without what stands in its fields and addresses, which hold what they hold."""
    text = re.sub(r"<textarea.*?</textarea>", "", page.content.decode(), flags=re.DOTALL)
    return re.sub(r'\b(?:value|href|action|hx-\w+)="[^"]*"', "", text)


def _typed(chance, name, change):
    if chance.random() < 0.5:
        return filled(FIELDS[name], change)
    return [chance.choice(HOSTILE) for _ in range(chance.randint(1, 2))]


@pytest.mark.parametrize(
    "path",
    [
        "/events/?actor=%00",
        "/events/?target=cluster%3A%00",
        "/c/test-eu/topics/?q=%00",
        "/c/test-eu/principals/?q=%00",
        "/c/test-eu/search/?q=a%00",
        "/c/test-eu/acls/?text=%00&principal=%00&host=%00&name=%00",
        "/c/test-eu/what-if/matches/?pattern=PREFIXED&resource_name=%00",
    ],
)
def test_a_nul_in_a_filter_finds_nothing_and_says_so(path, clusters, ada):
    page = browser_of(ada).get(path)

    assert page.status_code == 200
    assert any(words in page.content.decode() for words in ("No ", "Nothing ", "Matches 0"))


def test_a_nul_in_what_somebody_writes_about_a_change_is_reported(clusters, ada, ben, waiting):  # noqa: F811
    line = json.dumps({"op": "add", **allow("User:eli", "READ", "orders").as_dict()})
    drafted = browser_of(ada).post(
        "/c/test-eu/what-if/change/", {"line": line, "title": "a", "reason": f"because{NUL}"}
    )
    rejected = browser_of(ben).post(
        f"/changes/CR-{waiting.pk}/act/", {"step": "reject", "comment": f"no{NUL}"}
    )

    for page in (drafted, rejected):
        assert page.status_code == 422
        assert "holds a NUL character" in page.content.decode()
