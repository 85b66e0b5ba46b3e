"""What does the API answer? Every address, with many parameters, on each cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from tools.facts import worlds
from tools.facts.asking import Asker
from tools.facts.book import Group
from tools.facts.site import DEMO, LARGE, Site

V1 = "/api/v1"
SMALL = ("test-eu", "never", "gone", "held", "open", "zookeeper", "file", "empty", "waiting")
Query = dict[str, str]
LISTS: tuple[Query, ...] = (
    {}, {"page": "2", "size": "5"}, {"text": "orders"}, {"principal": "User:bob"}, {"host": "10.0.0.9"},
    {"operation": "READ", "permission": "ALLOW"}, {"permission": "DENY"}, {"resource_type": "GROUP"},
    {"name": "orders.eu", "match": "affects", "resource_type": "TOPIC"}, {"name": "orders", "match": "starts"},
    {"reach": "PREFIXED"}, {"orphan": "1"}, {"as_of": "1"}, {"as_of": "2026-11-22T09:30"}, {"as_of": "1999"},
    {"operation": "FLY"}, {"page": "0"}, {"page": "x"}, {"size": "9999"}, {"match": "about"},
)  # fmt: skip


def record(group: Group, site: Site) -> None:
    ada = Asker(site, "ada")
    for path, body in _asked(site):
        _note(group, ada, path, body)
    for person in ("nobody", "eve", "cho", "dot"):
        asker = Asker(site, person)
        for path, body in _by_others(site):
            _note(group, asker, path, body)


def _note(group: Group, asker: Asker, path: str, body: Any) -> None:
    status, headers, text = asker(path, body=body)
    asked = "" if body is None else " POST " + (body if isinstance(body, str) else json.dumps(body))
    if headers.startswith("Content-Type: application/json"):
        text = json.dumps(json.loads(text), indent=1)
    name = f"{asker.person} {path}{asked}"
    group.note(
        name if len(name) < 1_000 else name[:900] + f"… ({len(name)})", f"{status}\n{headers}\n\n{text}"
    )


def _asked(site: Site) -> Iterator[tuple[str, Any]]:
    """Yield each path with its query, and the body of a POST or None."""
    yield "/api/schema/", None
    yield "/api/schema/?format=json", None
    for path in ("/clusters/", "/clusters/?page=2", "/changes/", "/changes/?page=9", "/nothing/"):
        yield V1 + path, None
    for key in (*site.changes, "CR-9999"):
        yield f"{V1}/changes/{key}/", None
    for slug in (*SMALL, *DEMO, LARGE, "nowhere"):
        yield from _about(slug)


def _about(slug: str) -> Iterator[tuple[str, Any]]:
    base = f"{V1}/clusters/{slug}"
    whole = slug in ("test-eu", LARGE, *DEMO)
    topic, service, group = _names(slug)
    yield f"{base}/", None
    for query in LISTS if whole else LISTS[:1]:
        yield f"{base}/acls/?{urlencode(query)}", None
    for resource in (
        f"TOPIC:{topic}",
        "GROUP:bobs",
        "CLUSTER:kafka-cluster",
        "TOPIC:*",
        "TOPIC:",
        "what",
        "FISH:a",
        "",
    ):
        yield f"{base}/affecting/?{urlencode({'resource': resource})}", None
        if not whole:
            break
    if whole:
        yield f"{base}/affecting/?{urlencode({'resource': f'TOPIC:{topic}', 'as_of': '1'})}", None
    for question in _questions(slug) if whole else _questions(slug)[:3]:
        yield f"{base}/decide/", question
    yield f"{base}/decide/?as_of=1", _questions(slug)[0]
    for edit in _edits(slug) if whole else _edits(slug)[:1]:
        yield f"{base}/what-if/", edit
    for form in ("size=1", "cells=true"):
        yield f"{base}/what-if/?{form}", _edits(slug)[2]
    for needed in _needed(topic, service, group) if whole else _needed(topic, service, group)[1:2]:
        yield f"{base}/needs/", needed
    yield f"{base}/needs/?as_of=1", _needed(topic, service, group)[1]
    findings: tuple[Query, ...] = (
        {}, {"show": "can-go"}, {"show": "proposals"}, {"severity": "error"}, {"severity": "bad"}, {"text": "orders"},
        {"rule": "shadowed"}, {"page": "2", "size": "20"}, {"show": "luck"}, {"rule": "No Rule"},
    )  # fmt: skip
    for query in findings if whole else findings[:1]:
        yield f"{base}/findings/?{urlencode(query)}", None
    compared: tuple[Query, ...] = (
        {}, {"as_of": "1"}, {"other_as_of": "1"}, {"other": "open"}, {"other": "nowhere"}, {"other": "never"},
        {"as_of": "1", "size": "3"}, {"as_of": "1", "cells": "true"}, {"as_of": "1", "page": "2"},
        {"as_of": "1", "after": "page-2"}, {"other_as_of": "what"},
    )  # fmt: skip
    for query in compared if whole else compared[1:2]:
        yield f"{base}/compare/?{urlencode(query)}", None


def _names(slug: str) -> tuple[str, str, str]:
    if slug == LARGE:
        return worlds.large().topics[7], "User:orders-api-1", "orders-api-1-group"
    if slug == "prod-eu":
        return "payments.orders.v1", "User:billing-svc", "ledger"
    return "orders.eu", "User:bob", "bobs"


def _questions(slug: str) -> list[Any]:
    topic, service, group = _names(slug)

    def ask(principal: str, host: str, operation: str, kind: str, name: str | None = None) -> dict[str, str]:
        asked = {"principal": principal, "host": host, "operation": operation, "resource_type": kind}
        return asked if name is None else asked | {"resource_name": name}

    found: list[Any] = [
        ask(service, "10.0.0.7", "READ", "TOPIC", topic),
        ask(service, "*", "READ", "TOPIC", topic),
        ask(service, "10.0.0.9", "WRITE", "TOPIC", topic),
        ask(service, "*", "WRITE", "TOPIC", topic),
        ask("User:eve", "*", "DESCRIBE", "TOPIC", topic),
        ask("User:admin", "10.0.0.7", "DELETE", "TOPIC", topic),
        ask("User:nobody", "::1", "READ", "TOPIC", "no-such-topic"),
        ask("User:cat", "10.0.0.7", "READ", "TOPIC", "anything"),
        ask(service, "10.0.0.7", "READ", "GROUP", group),
        ask(service, "10.0.0.7", "WRITE", "TOPIC"),
        ask("User:ops", "10.0.0.7", "ALTER", "CLUSTER", "kafka-cluster"),
        ask("User:tx", "10.0.0.7", "WRITE", "TRANSACTIONAL_ID", "tx-1"),
        ask("bob", "10.0.0.7", "READ", "TOPIC", topic),
        ask(service, "not a host", "READ", "TOPIC", topic),
        ask(service, "10.0.0.7", "FLY", "TOPIC", topic),
        ask(service, "10.0.0.7", "READ", "TOPIC", "no topic"),
        {"principal": "User:a"},
        {},
        [],
        "{",
    ]
    if slug == LARGE:
        found += worlds.large().requests[:25]
    return found


def _edits(slug: str) -> list[Any]:
    topic, service, group = _names(slug)
    read = worlds.acl("TOPIC", topic, "LITERAL", "User:zoe", "*", "READ", "ALLOW")
    edits: list[Any] = [
        {"add": [read]},
        {"add": [worlds.acl("TOPIC", topic[:6], "PREFIXED", service, "*", "ALL", "DENY")]},
        {"add": [worlds.acl("GROUP", group, "LITERAL", "User:*", "10.0.0.0/8", "READ", "ALLOW"), read]},
        {"new_topics": ["orders.new", "payments.new"]},
        {"add": [], "remove": []},
        {"add": [{**read, "operation": "FLY"}]},
        {"remove": [read]},
        {"add": "all"},
        {},
        "[",
    ]
    if slug == LARGE:
        edit = worlds.large().edit
        back = [{key: row[key] for key in worlds.KEYS} for row in edit if row["op"] == "remove"]
        gone = [{key: row[key] for key in worlds.KEYS} for row in edit if row["op"] == "add"]
        edits += [{"add": back, "remove": gone}]
    elif slug == "test-eu":
        edits += [{"remove": [worlds.acl("TOPIC", "orders.", "PREFIXED", "User:bob", "*", "READ", "ALLOW")]}]
    return edits


def _needed(topic: str, service: str, group: str) -> list[Any]:
    who = {"principal": service, "host": "10.0.0.7"}
    names = {"topic": [topic], "group": [group], "transactional-id": ["tx-1"]}
    return [
        {"actions": ["consume", "METADATA"]},
        {"actions": ["consume", "produce", "streams"], **who, "names": names},
        {"actions": ["produce-idempotent", "produce-transactional"], **who, "host": "*", "names": names},
        {"actions": ["admin-create-topics"], **who},
        {"actions": ["no-such-action"]},
        {"actions": []},
        {"actions": ["consume"], "names": {"fish": ["a"]}},
        {"actions": ["consume"], "principal": "bob", "host": "10.0.0.7", "names": names},
        {},
    ]


def _by_others(site: Site) -> Iterator[tuple[str, Any]]:
    yield "/api/schema/", None
    base = f"{V1}/clusters/test-eu"
    paths = ("/", "/acls/", "/affecting/?resource=TOPIC:orders.eu", "/findings/", "/compare/?as_of=1")
    for path in (f"{V1}/clusters/", f"{V1}/changes/", *(base + path for path in paths)):
        yield path, None
    yield f"{base}/decide/", _questions("test-eu")[0]
    yield f"{base}/what-if/", _edits("test-eu")[0]
    yield f"{base}/needs/", _needed("orders.eu", "User:bob", "bobs")[0]
    for key in site.changes:
        yield f"{V1}/changes/{key}/", None
