"""A name, principal or host may hold anything: no page of anybody fails, and no character of it hides.

The ACLs of the cluster, a change, its commands and what people type hold lone surrogates,
terminal escapes, marks that turn the writing direction, zero-width characters and 32,000
letters. Each page is asked whole and as htmx asks, and its links are followed.
"""

from __future__ import annotations

import html
import json
import os
import re
import unicodedata
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command

from aclweb.acl.kafka.tool import plan
from aclweb.acl.model.delta import Delta
from aclweb.changes import review
from aclweb.inventory.sync.run import sync
from aclweb.web.shell import links
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers, topics
from tests.web.test_access import browser_of, cast  # noqa: F401

FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
MIXED = (
    "\ud800x\x1b[31m\u202egnp.exe\u200b\ufeff\x85\u2028\u2066\U000e0041\x7f\x07'\"<script>alert(1)</script>"
)
STORABLE = MIXED.replace("\ud800", "")
TEXTS = {
    "surrogate": "a\ud800b",
    "mixed": MIXED,
    "without a surrogate": STORABLE,
    "long": STORABLE + "y" * 32_000,
}
if FULL:
    TEXTS |= {f"U+{ord(letter):04X}": f"a{letter}b" for letter in MIXED if not letter.isalnum()}
MOST_PAGES = 400 if FULL else 6
PARTS = {"HX-Request": "true"}
# What a form sends back must be what was typed, so it stands there as it is.
FORM_VALUES = re.compile(r"<textarea[^>]*>.*?</textarea>|<input[^>]*>", re.DOTALL)
VALUE = re.compile(r' value="[^"]*"', re.DOTALL)
LINKS = re.compile(r'(?:href|hx-get)="(/[^"]*)"')


def hidden_in(shown: str) -> list[str]:
    """Return the characters of a page that nobody can see, but for what a form holds."""
    shown = FORM_VALUES.sub(lambda found: VALUE.sub("", found[0]) if "<input" in found[0] else "", shown)
    hidden = {
        letter
        for letter in set(shown) - {"\n", "\t", " "}
        if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    }
    if not hidden:
        return []
    return sorted(
        {
            f"U+{ord(letter):04X} in {shown[max(0, place - 60) : place + 20]!a}"
            for place, letter in enumerate(shown)
            if letter in hidden
        }
    )[:5]


@pytest.fixture
def hostile(cluster, ada, request):
    """The cluster with ACLs of this text in each place that holds one, and a change about it."""
    text = TEXTS[request.param]
    acls = [
        allow("User:bob", "READ", "orders"),
        allow(f"User:{text}", "READ", text, resource_type="GROUP"),
        deny(f"User:{text}", "READ", "orders", host=text),
        allow(text, "WRITE", text, pattern="PREFIXED", host=text),
        allow("User:bob", "ALL", text, resource_type="TRANSACTIONAL_ID"),
    ]
    groups = [text] if "\ud800" not in text and len(text) < 250 else []
    sync(cluster, client=Answers(acls, topics=topics("orders"), groups=groups))
    cluster.refresh_from_db()
    return cluster, text


def addresses_about(slug: str, text: str) -> list[str]:
    """Return the addresses of every page, about this text wherever one can ask about a text."""
    c, quoted = f"/c/{slug}", links.encoded
    asked = quoted(principal=f"User:{text}", operation="READ", type="GROUP", name=text, host="")
    return [
        "/",
        f"/?{asked}",
        "/clusters/",
        f"{c}/",
        f"{c}/search/?{quoted(q=text)}",
        f"{c}/explain/?{asked}",
        f"{c}/explain/?{quoted(principal=f'User:{text}', operation='READ', type='TOPIC', name='orders', host=text)}",
        f"{c}/explain/client/?{quoted(principal=f'User:{text}', action='consume', group=text, host='')}",
        f"{c}/topics/",
        f"{c}/topics/?{quoted(type='GROUP')}",
        f"{c}/topics/?{quoted(q=text)}",
        f"{c}/topics/orders",
        f"{c}/resource/?{quoted(type='GROUP', name=text)}",
        f"{c}/resource/?{quoted(type='TRANSACTIONAL_ID', name=text)}",
        f"{c}/cell/?{quoted(principal=f'User:{text}', operation='READ', type='GROUP', name=text, host=text)}",
        f"{c}/mapping/?{quoted(kind='ssl', names=text, rules='DEFAULT')}",
        f"{c}/mapping/?{quoted(kind='ssl', names='CN=a', rules=f'RULE:{text}/$1/')}",
        f"{c}/principals/",
        f"{c}/principals/?{quoted(q=text)}",
        f"{c}/principal/?{quoted(name=f'User:{text}')}",
        f"{c}/acls/",
        f"{c}/acls/?{quoted(principal=f'User:{text}')}",
        f"{c}/acls/?{quoted(name=text, host=text, text=text)}",
        f"{c}/what-if/",
        f"{c}/what-if/?{quoted(add=json.dumps(allow('User:x', 'READ', text).as_dict()))}",
        f"{c}/what-if/matches/?{quoted(pattern='PREFIXED', resource_name=text)}",
        f"{c}/compare/?{quoted(other=slug)}",
        f"{c}/compare/drafts/?{quoted(first=json.dumps({'op': 'add', **allow('User:x', 'READ', text).as_dict()}))}",
        f"{c}/findings/",
        f"{c}/insights/",
        f"{c}/insights/?{quoted(principal=text, name=text)}",
        "/changes/?tab=all",
        f"/events/?{quoted(target=text, actor=text)}",
        f"{c}/roles/?{quoted(q=text, role=text)}",
        f"/people/?{quoted(q=text, cluster=text, show=text)}",
        f"/api/v1/clusters/{slug}/acls/",
        f"/api/v1/clusters/{slug}/affecting/?{quoted(resource=f'GROUP:{text}')}",
        f"/api/v1/clusters/{slug}/findings/",
        f"/api/v1/clusters/{slug}/principals/?{quoted(text=text)}",
        f"/api/v1/clusters/{slug}/principals/compare/?{quoted(first=f'User:{text}', second='User:bob')}",
        "/api/v1/changes/",
    ]


def held(page, path: str) -> str:
    """Check one answer, and return it as text."""
    told = f"{path[:200]} {page.status_code}"
    assert page.status_code < 500, told
    shown = b"".join(page.streaming_content).decode() if page.streaming else page.content.decode()
    if page["Content-Type"] != "text/csv; charset=utf-8":  # a file, which holds what the cluster holds
        assert hidden_in(shown) == [], told
    if page["Content-Type"] == "text/html; charset=utf-8":
        assert "<script>alert" not in shown, told
    for name, value in page.headers.items():
        assert value.isascii(), f"{told} {name}"
        assert value.isprintable(), f"{told} {name}"
    return shown


@pytest.mark.parametrize(
    ("person", "hostile"),
    [
        (person, name)
        for person in ("dot", "ada", "ben", "cho", "eve")
        for name in TEXTS
        # The worst text for who may do most, least and nothing; the others are shared out between two who may do much.
        if FULL
        or person == ("ada" if name == "long" else "dot")
        or (name == "mixed" and person in ("cho", "eve"))
    ],
    indirect=["hostile"],
)
def test_no_page_fails_or_hides_a_character(unrecorded, hostile, person, cast, ada):  # noqa: F811
    cluster, text = hostile
    browser = browser_of(cast[person])
    _a_change_about(cluster, text, ada)
    addresses = addresses_about(cluster.slug, text)
    waiting = addresses + [
        f"/changes/CR-{number}/" for number in cluster.changes.values_list("pk", flat=True)
    ]
    seen: set[object] = set()
    followed: dict[str, int] = {}
    asked = 0
    while waiting and asked < MOST_PAGES + len(addresses):
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        asked += 1
        shown = held(browser.get(path), path)
        if asked % 3 == 0:
            held(browser.get(path, headers=PARTS), f"htmx {path}")
        for link in map(html.unescape, LINKS.findall(shown)):
            kind = re.sub(r"CR-\d+", "CR", urlsplit(link).path)
            if not link.startswith("/static/") and link not in seen and followed.get(kind, 0) < 6:
                followed[kind] = followed.get(kind, 0) + 1
                waiting.append(link)


def _a_change_about(cluster, text, author):
    """Draft and submit a change with this text in every place of an ACL; none where aclweb refuses to store it."""
    change = review.draft(
        cluster=cluster,
        author=author,
        title="a title \u202e that turns \u200b",
        reason="because \x1b[31m",
        delta=Delta(add=(allow(f"User:{text}", "WRITE", "orders", host=text),), remove=()),
    )
    review.submit(change=change, actor=author)
    return change


@pytest.mark.parametrize("hostile", TEXTS, indirect=True)
def test_no_form_fails_whatever_is_sent(hostile, dot):
    cluster, text = hostile
    browser = browser_of(dot)
    sendable = text.encode("utf-8", "replace").decode()
    line = json.dumps({"op": "add", **allow(f"User:{text}", "READ", text, host=text).as_dict()})
    c = f"/c/{cluster.slug}"
    for path, fields in (
        (f"{c}/explain/line/", {"line": sendable}),
        (f"{c}/what-if/", {"line": line}),
        (f"{c}/what-if/", {"paste": line}),
        (f"{c}/what-if/", {"paste": sendable, "new_topic": sendable}),
        (f"{c}/what-if/change/", {"line": line, "title": sendable, "reason": sendable}),
        (f"{c}/what-if/change/", {"line": line, "title": "a title", "reason": "a reason"}),
        (f"{c}/compare/drafts/", {"first": line, "second": sendable}),
        (f"{c}/mapping/", {"kind": "kerberos", "names": sendable, "rules": sendable, "realm": sendable}),
        (f"{c}/declare/", {"super_users": sendable, "super_users_known": "on", "default": "deny"}),
        (f"{c}/roles/", {"kind": "group", "who": sendable, "role": "2", "name_prefix": sendable}),
        (f"{c}/roles/", {"kind": "person", "who": "dot", "role": "3", "name_prefix": sendable}),
        ("/tokens/", {"name": sendable, "days": sendable}),
        ("/tokens/", {"name": sendable[:90], "days": "7"}),
        ("/sign-in/", {"username": sendable, "password": sendable, "next": sendable}),
    ):
        for headers in ({}, PARTS):
            held(browser.post(path, fields, headers=headers), f"POST {path} {sorted(fields)}")


@pytest.mark.parametrize("hostile", TEXTS, indirect=True)
def test_no_command_of_the_operator_fails_or_drives_the_terminal(hostile, ada, capsys, tmp_path):
    cluster, text = hostile
    change = _a_change_about(cluster, text, ada)
    for command in (
        ["cluster", "list"],
        ["grant", "list"],
        ["audit", "verify"],
        ["export", cluster.slug],
    ):
        for options in ([], ["--json"]):
            if command[0] == "export" and not options:
                continue
            call_command(*command, *options)
            told = capsys.readouterr().out
            assert hidden_in(told) == [], command
    assert change.pk


@pytest.mark.parametrize("hostile", ["without a surrogate", "long"], indirect=True)
def test_a_copied_command_gives_the_acl_of_the_list_and_names_what_it_hides(hostile, ada):
    cluster, text = hostile
    path = f"/c/{cluster.slug}/acls/export/?format=kafka-acls"
    copied = held(browser_of(ada).get(path), path).splitlines()

    said = [command for command in copied if command.startswith("kafka-acls")]
    got = [binding for command in said for binding in plan(command).acls]

    assert allow(f"User:{text}", "READ", text, resource_type="GROUP") in got
    assert any("U+202E (RIGHT-TO-LEFT OVERRIDE)" in line for line in copied if line.startswith("# "))
    assert all(line.isprintable() for line in copied)


def test_a_change_says_which_characters_its_commands_write_as_bytes(cluster, ada, ben):
    sync(cluster, client=Answers([allow("User:bob", "READ", "orders")]))
    change = _a_change_about(cluster, "\u202egnp.exe", ada)

    page = browser_of(ben).get(f"/changes/CR-{change.pk}/").content.decode()

    assert "\\342\\200\\256 for U+202E (RIGHT-TO-LEFT OVERRIDE)" in html.unescape(page)
