"""What does each page show to each person?

Every state that an address brings, as ada sees it; then one page of each kind that their links lead to; then all of
them as everybody else. Forms are sent too, as somebody would fill them in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.urls import Resolver404, URLResolver, get_resolver, resolve

from tools.facts import worlds
from tools.facts.asking import Asker
from tools.facts.book import Group
from tools.facts.seen import links, seen
from tools.facts.site import DEMO, LARGE, Site

SMALL = ("never", "gone", "held", "open", "zookeeper", "file", "empty", "waiting")
# Words of an address that make another page of the same kind.
STATES = (
    "show",
    "tab",
    "step",
    "use",
    "who",
    "kind",
    "sort",
    "only",
    "severity",
    "effect",
    "acls",
    "format",
    "type",
)
MOST_FOLLOWED = 400

LINE = (
    "[2026-11-21 09:15:02,114] INFO Principal = User:bob is Denied operation = READ from host = 10.0.0.7 on resource = "
    "Topic:LITERAL:orders.eu for request = Fetch with resourceRefCount = 1 based on rule DefaultDeny "
    "(kafka.authorizer.logger)"
)


def record(group: Group, site: Site) -> None:
    asked: set[str] = set()
    ada = Asker(site, "ada")
    starts = list(_starts(site))
    waiting: list[str] = []
    for path in starts:
        waiting += links(_note(group, ada, path), path)
    followed = _one_of_each_kind(waiting, starts)
    for path in followed:
        _note(group, ada, path)
    everything = [*starts, *followed]
    for person in ("cho", "ben", "dot"):
        asker = Asker(site, person)
        for path in everything:
            _note(group, asker, path)
    for person in ("nobody", "eve"):
        asker = Asker(site, person)
        for path in starts[:60]:
            _note(group, asker, path)
    asked |= {_route(path) for path in everything}
    for person in ("nobody", "cho", "ada", "ben", "dot"):
        asker = Asker(site, person)
        for number, (path, form) in enumerate(_forms(site)):
            asked.add(_route(path))
            _note(group, asker, path, form, number)
    for path in (
        f"/c/test-eu/acls/?{urlencode({'text': 'bob'})}",
        "/c/test-eu/topics/?q=orders",
        "/changes/?tab=all",
    ):
        _note(group, ada, path, htmx=True)
    group.note(
        "addresses that no page was asked of", "\n".join(sorted(_names(get_resolver().url_patterns) - asked))
    )


def _note(
    group: Group,
    asker: Asker,
    path: str,
    form: dict[str, Any] | None = None,
    number: int = 0,
    htmx: bool = False,
) -> str:
    status, headers, html = asker(path, form=form, htmx=htmx)
    shown = seen(html, path) if "text/html" in headers else html
    sent = "" if form is None else f" POST {number}: {' '.join(form)}"
    group.note(f"{asker.person} {path}{sent}{' (part)' if htmx else ''}", f"{status}\n{headers}\n\n{shown}")
    return html if "text/html" in headers else ""


def _starts(site: Site) -> Iterator[str]:
    """Yield the addresses that are asked for before any link is followed."""
    yield from (
        "/",
        "/sign-in/",
        "/clusters/",
        "/events/",
        "/password/",
        "/changes/",
        "/changes/?tab=mine",
        "/changes/?tab=all",
    )
    yield from ("/nothing/", "/c/nowhere/", "/healthz", "/version", "/changes/CR-9999/", "/sign-out/")
    for key in site.changes:
        yield f"/changes/{key}/"
        yield f"/changes/{key}/commands/"
    yield from _of("test-eu", "User:bob", "orders.eu", "bobs")
    yield from _of("prod-eu", "User:billing-svc", "payments.orders.v1", "ledger")
    large = worlds.large()
    yield from _of(LARGE, "User:orders-api-1", large.topics[7], large.groups[3])
    for slug in (*SMALL, DEMO[1]):
        yield from _elsewhere(slug)
    yield from _only_test_eu()


def _of(slug: str, who: str, topic: str, group: str) -> Iterator[str]:
    """Yield the addresses of a cluster that was read."""
    base = f"/c/{slug}"

    def at(path: str, **query: str) -> str:
        return f"{base}/{path}" + (f"?{urlencode(query)}" if query else "")

    asked = {"principal": who, "operation": "READ", "type": "TOPIC", "name": topic}
    add = json.dumps(worlds.acl("TOPIC", topic, "LITERAL", "User:zoe", "*", "READ", "ALLOW"))
    yield at("")
    yield at("explain/")
    yield at("explain/", paste="1")
    for host in ("10.0.0.9", ""):
        yield at("explain/", **asked, host=host)
        yield at("explain/", **asked | {"operation": "WRITE"}, host=host)
    yield at("explain/", **asked, host="not a host")
    yield at("explain/", **asked | {"principal": "User:nobody", "name": "no-such-topic"}, host="")
    yield at("explain/", **asked, host="10.0.0.9", as_of="1")
    yield at("explain/", principal=who, operation="READ", type="GROUP", name=group, host="")
    yield at("explain/", principal=who, operation="READ", type="ANY_TOPIC", name="", host="")
    yield at("explain/client/")
    for action in ("consume", "produce", "streams"):
        yield at("explain/client/", principal=who, action=action, topic=topic, group=group, host="")
    yield at("cell/", **asked, host="10.0.0.7")
    for query in (
        {},
        {"q": topic[:6]},
        {"q": "nothing-has-this"},
        {"type": "GROUP"},
        {"type": "CLUSTER"},
        {"page": "2"},
    ):
        yield at("topics/", **query)
    yield at(f"topics/{topic}")
    yield at(f"topics/{topic}", as_of="1")
    yield at(f"topics/{topic}", all="1")
    yield at("topics/no-such-topic")
    yield at("resource/", type="GROUP", name=group)
    yield at("resource/", type="CLUSTER", name="kafka-cluster")
    yield at("resource/", type="TRANSACTIONAL_ID", name="tx-1")
    yield at("principals/")
    yield at("principals/", q=who[5:8])
    for name in (who, "User:*", "User:admin", "User:nobody"):
        yield at("principal/", name=name)
    yield at("principal/", name=who, as_of="1")
    for query in (
        {}, {"permission": "DENY"}, {"orphan": "1"}, {"text": "nothing-has-this"}, {"as_of": "1"}, {"use": "unused"},
        {"principal": who}, {"name": topic, "match": "affects", "resource_type": "TOPIC"}, {"operation": "FLY"},
        {"reach": "PREFIXED"}, {"page": "2"}, {"typed": f"op:read topic:{topic}"},
    ):  # fmt: skip
        yield at("acls/", **query)
    for form in ("csv", "json", "jsonl", "yaml", "kafka-acls", "listing", "zk", "fish"):
        yield at("acls/export/", format=form)
    yield at("acls/export/", format="csv", principal=who)
    yield at("acls/export/", format="yaml", as_of="1")
    yield at("mapping/")
    yield at("mapping/", kind="ssl", names="CN=bob,O=x", rules="RULE:^CN=(.*?),.*$/$1/")
    yield at("mapping/", kind="kerberos", names="bob@X.COM", realm="X.COM")
    yield at("search/")
    yield at("search/", q="o")
    yield at("search/", q=topic)
    yield at("search/", q="nothing-has-this")
    yield at("what-if/")
    yield at("what-if/", add=add)
    yield at("what-if/", new_topic="orders.new")
    yield at("what-if/", principal=who, resource_type="TOPIC", resource_name=topic[:7], pattern="PREFIXED")
    yield at("what-if/matches/", pattern="PREFIXED", resource_type="TOPIC", resource_name=topic[:7])
    yield at("what-if/commands/", line='{"op": "add", ' + add[1:])
    yield at("compare/")
    yield at("compare/", other=slug, other_at="1")
    yield at("compare/", at="1", other=slug)
    yield at("compare/", other="nowhere")
    yield at("compare/drafts/")
    yield at("compare/drafts/", first='{"op": "add", ' + add[1:], second="")
    for query in (
        {},
        {"show": "can-go"},
        {"show": "fewer"},
        {"text": "nothing-has-this"},
        {"severity": "error"},
    ):
        yield at("findings/", **query)
    yield at("insights/")


def _elsewhere(slug: str) -> Iterator[str]:
    base = f"/c/{slug}"
    asked = {"principal": "User:bob", "operation": "READ", "type": "TOPIC", "name": "orders.eu", "host": ""}
    add = json.dumps(worlds.acl("TOPIC", "orders.eu", "LITERAL", "User:zoe", "*", "READ", "ALLOW"))
    for path in (
        "/", "/topics/", "/topics/orders.eu", "/topics/?type=GROUP", "/principals/", "/principal/?name=User:bob",
        "/acls/",
        f"/explain/?{urlencode(asked)}", "/explain/client/", f"/what-if/?{urlencode({'add': add})}", "/compare/",
        "/findings/", "/insights/", "/search/?q=bob", "/mapping/",
    ):  # fmt: skip
        yield base + path


def _only_test_eu() -> Iterator[str]:
    base = "/c/test-eu"
    bob = {"principal": "User:bob", "operation": "READ", "type": "TOPIC", "name": "orders.eu"}
    yield f"/?{urlencode(bob | {'host': '10.0.0.9'})}"
    yield f"/?{urlencode(bob | {'host': '', 'cluster': 'test-eu', 'operation': 'WRITE'})}"
    for who in ("User:eve", "User:cat", "User:dan", "User:indexer", "User:CN=fraud,OU=risk", "User:hal"):
        yield f"{base}/explain/?{urlencode(bob | {'principal': who, 'host': ''})}"
        yield f"{base}/principal/?{urlencode({'name': who})}"
    logged = {"host": "10.0.0.7", "logged": "DENIED", "at": "2026-11-20 20:00", "rule": "DefaultDeny"}
    yield f"{base}/explain/?{urlencode(bob | logged)}"
    for other in ("open", "never", "zookeeper", "empty", "large"):
        yield f"{base}/compare/?other={other}"
    yield f"{base}/compare/?other=zookeeper&show=depends"
    yield f"{base}/topics/orders.eu?as_of=2020-01-01"
    yield f"{base}/topics/stock"


def _forms(site: Site) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the forms as somebody sends them: where to, and the fields."""
    for slug, topic in (("test-eu", "orders.eu"), (LARGE, worlds.large().topics[7])):
        base = f"/c/{slug}"
        row = worlds.acl("TOPIC", topic, "LITERAL", "User:zoe", "*", "READ", "ALLOW")
        line = json.dumps({"op": "add", **row})
        yield f"{base}/explain/line/", {"line": LINE}
        yield f"{base}/explain/line/", {"line": "no log"}
        yield f"{base}/read/", {}
        yield f"{base}/accept/", {}
        yield f"{base}/findings/again/", {}
        yield f"{base}/declare/", {"super_users": "User:admin;User:root", "allow_everyone": "false"}
        yield f"{base}/declare/", {"super_users": "root", "allow_everyone": "perhaps"}
        yield (
            f"{base}/mapping/",
            {"kind": "ssl", "names": "CN=bob,O=x\nO=y", "rules": "RULE:^CN=(.*?),.*$/$1/U,DEFAULT"},
        )
        yield f"{base}/what-if/", {"line": line}
        yield f"{base}/what-if/", {"paste": worlds.lines([row])}
        yield f"{base}/what-if/", {"paste": "what?"}
        yield f"{base}/what-if/change/", {"line": line, "title": "Zoe reads", "reason": "She asked."}
        yield f"{base}/what-if/change/", {"line": line}
        yield f"{base}/what-if/change/", {"title": "Nothing"}
        yield f"{base}/compare/drafts/", {"first": line, "second": line.replace("READ", "WRITE")}
    yield "/c/held/accept/", {"shown": "2026-11-22T09:00:00+00:00"}
    yield "/sign-in/", {"username": "ada", "password": "wrong"}
    yield "/password/", {"old_password": "wrong", "new_password1": "short", "new_password2": "other"}
    yield "/sign-out/", {}
    for key in site.changes:
        for step in ("submit", "approve", "reject", "withdraw", "queue", "undo", "fly"):
            yield f"/changes/{key}/act/", {"step": step, "comment": "Because."}


def _one_of_each_kind(waiting: list[str], known: list[str]) -> list[str]:
    kinds = {_kind(path) for path in known}
    found: list[str] = []
    for path in waiting:
        kind = _kind(path)
        if kind[0] and kind not in kinds and len(found) < MOST_FOLLOWED:
            kinds.add(kind)
            found.append(path)
    return found


def _kind(path: str) -> tuple[object, ...]:
    parts = urlsplit(path)
    query = parse_qsl(parts.query, keep_blank_values=True)
    where = re.match(r"/c/([^/]+)/", parts.path)
    names = sorted({name for name, _ in query})
    states = [f"{name}={value}" for name, value in query if name in STATES]
    return _route(path), where[1] if where and where[1] in (LARGE, "test-eu") else "", *states, *names


def _route(path: str) -> str:
    try:
        return resolve(urlsplit(path).path).view_name
    except Resolver404:
        return ""


def _names(patterns: list[Any]) -> set[str]:
    found: set[str] = set()
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if not pattern.namespace:  # the API has a group of its own
                found |= _names(pattern.url_patterns)
        else:
            found.add(pattern.name)
    return found
