"""Whatever is typed into any page, it answers with a page: on read, unread, undeclared and logged clusters.

The database of these tests stands in for PostgreSQL in one thing: a NUL in any value of
a query is an error, as it is there. The seed in a test's id repeats its requests.
"""

from __future__ import annotations

import json
import os
import random
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
    "show": "gains", "line": LINE, "remove": LINE, "remove_key": "a" * 64,
    "new_topic": "orders.new", "drop": "0", "paste": LINE, "pattern": "PREFIXED", "resource_name": "orders.",
    "permission_type": "ALLOW", "add_rule": "1", "title": "Let cat in", "reason": "She asked.",
    "step": "approve", "comment": "Fine.", "plan_hash": "{plan}", "shown": "Something", "default": "deny",
    "super_users": "User:admin", "super_users_known": "on", "authorizer": "on", "username": "ada",
    "kind": "ssl", "rules": "RULE:^CN=(.*?),.*$/$1/L,DEFAULT", "realm": "X.COM", "builder": "x.Y", "names": "CN=a,O=b",
    "logged": "DENIED", "rule": "DefaultDeny", "rule_key": "a" * 64, "at": "2026-11-21 09:00:00,000", "unsure": "1",
    "lines": "3", "who": "User:bob",
    "as_of": "1", "change": "CR-{change}", "other": "test-eu", "other_at": "2026-11-21", "other_change": "CR-{change}",
    "action": "consume", "topic": "payments.eu", "group": "g", "choose": "1", "severity": "info",
    "first": LINE, "second": LINE, "proposal": "1", "holding": "bob",
    "state": "expected", "sort": "requests", "days": "7", "open": "a" * 64, "until": "2030-01-01", "undo": "b",
    "broker": "a.log", "since": "2026-11-30", "delimiter": ".", "hosts": "seen", "young": "judge", "groups": "exact",
    "use": "cannot-tell", "flips": "2", "by": "day", "password": "wrong", "next": "/clusters/",
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
