"""Every link and every button of every page, in every state, pressed as each of four people.

Who may do most begins in every state, and in each run in half of them and in every change; the others share the states
out, and the other clusters are shared out among all (in each run who may do most begins at a quarter of the pages of
each of these, and who may do least at all of one). Two days ask all states, four all pages of each cluster.
Beside who may do most, every run asks who may do least in a sixth of the states and a third of the changes, and looks
where links lead without pressing on there; thorough runs ask that person wholly, and the two between. At full scale
each of the four begins everywhere.

A page is asked for, all that it offers is pressed (forms filled in as somebody would), and the pages behind are
pressed in turn. At most a few of a kind: two actions are of one kind if they stand on the same page of the site and
lead to the same address with the same names of fields. What a button changes is undone before the next is pressed.
What changes something is pressed by each person. What only asks is pressed by who may do most and by who may do least,
and by the two between if neither has it; a plain link by the first who has it, and by who may do least if it leads to
a page that is new to them. Of the kinds of what only asks, each run presses half, and two days later the others;
those that stand on pages of other clusters four days later, since these pages take four days; thorough runs press all.
At full scale everything is pressed by each.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import transaction
from django.test import Client
from django.urls import Resolver404, resolve

from aclweb.changes.models import Change
from aclweb.inventory.findings import pages as findings
from tests.builders import allow
from tests.sessions import sign_in
from tests.turns import TURN, due, is_due, part_of
from tests.web import pressing, world
from tests.web.pressing import Action

FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
# Of one kind, so many are pressed; so many pages of one kind are opened.
PRESSED, OPENED = (6, 12) if FULL else (1, 1)

BOB = "principal=User:bob&operation=READ&type=TOPIC&name=orders.eu"
C = "/c/test-eu"
ADD = json.dumps(allow("User:zoe", "READ", "stock").as_dict())

# Beside what is reached by links from the home page: each state that only an address or a moment brings.
STATES = [
    "/", "/?principal=User:bob&operation=READ&type=TOPIC&name=orders.eu&host=10.0.0.9",
    "/?principal=User:bob&operation=WRITE&type=TOPIC&name=orders.eu&host=",
    "/?principal=User:eve&operation=READ&type=TOPIC&name=orders.eu&host=10.0.0.9",
    "/?principal=User:admin&operation=READ&type=TOPIC&name=orders.eu&host=",
    "/?principal=User:nobody&operation=READ&type=TOPIC&name=no-such-topic&host=",
    "/clusters/", "/events/", "/changes/", "/changes/?tab=mine", "/changes/?tab=all",
    f"{C}/explain/", f"{C}/explain/?paste=1", f"{C}/explain/?{BOB}&host=10.0.0.9&as_of=1",
    f"{C}/explain/?{BOB}&host=10.0.0.7&logged=DENIED&at=2026-11-20+20:00&rule=DefaultDeny",
    f"{C}/explain/?principal=User:app-00&operation=READ&type=ANY_TOPIC&name=&host=",
    f"{C}/explain/client/", f"{C}/explain/client/?principal=User:bob&action=consume&topic=orders.eu&group=bobs&host=",
    f"{C}/explain/client/?principal=User:eve&action=produce&topic=orders.eu&host=10.0.0.9",
    f"{C}/topics/orders.eu", f"{C}/topics/no-such-topic", f"{C}/topics/orders.eu?as_of=1", f"{C}/topics/?type=GROUP",
    f"{C}/topics/?q=orders", f"{C}/topics/?q=nothing-has-this", f"{C}/resource/?type=GROUP&name=bobs",
    f"{C}/resource/?type=TRANSACTIONAL_ID&name=tx-1", f"{C}/resource/?type=CLUSTER&name=kafka-cluster",
    f"{C}/principal/?name=User:bob", f"{C}/principal/?name=User:bob&as_of=1", f"{C}/principal/?name=User:*",
    f"{C}/principal/least-privilege/?name=User:bob",
    f"{C}/principal/?name=User:admin", f"{C}/principal/?name=User:nobody", f"{C}/principals/?q=bob",
    f"{C}/principals/one/?name=User:bob", f"{C}/principals/?sort=-administers",
    f"{C}/search/", f"{C}/search/?q=o", f"{C}/search/?q=nothing-has-this",
    f"{C}/acls/?permission=DENY", f"{C}/acls/?orphan=1", f"{C}/acls/?text=nothing-has-this", f"{C}/acls/?as_of=1",
    f"{C}/mapping/", f"{C}/mapping/?kind=ssl&names=CN=bob,O=x&rules=RULE:^CN=(.*?),.*$/$1/",
    f"{C}/mapping/?kind=kerberos&names=bob@X.COM&realm=X.COM",
    f"{C}/drafts/", f"{C}/what-if/", f"{C}/what-if/?add={ADD}", f"{C}/what-if/?new_topic=orders.new",
    f"{C}/what-if/?principal=User:bob&resource_type=TOPIC&resource_name=orders.&pattern=PREFIXED",
    f"{C}/compare/", f"{C}/compare/?other=open", f"{C}/compare/?other=test-eu&other_at=1", f"{C}/compare/?other=never",
    f"{C}/compare/?other=zookeeper&show=depends", f"{C}/compare/?other=open&view=matrix", f"{C}/compare/drafts/",
    f"{C}/findings/", f"{C}/findings/?show=can-go", f"{C}/findings/?show=fewer", f"{C}/findings/?text=nothing-has-this",
    f"{C}/insights/", f"{C}/insights/?state=new&days=all", f"{C}/insights/coverage/",
    f"{C}/insights/week/",
    f"{C}/insights/use/owners/", f"{C}/insights/use/owners/?owner=&days=all", f"{C}/insights/use/beside/?other=open",
    f"{C}/insights/use/", f"{C}/insights/use/?show=configured", f"{C}/insights/use/days/?principal=User:bob",
    f"{C}/topics/orders.eu?as_of=2020-01-01", f"{C}/log-sources/", f"{C}/roles/", f"{C}/roles/?q=nothing-has-this",
    "/tokens/", f"{C}/findings/?rule=implied", f"{C}/principal-names/",
]  # fmt: skip
# Of each other cluster; ACLs, names and logs differ, the pages are the same.
EVERYWHERE = (
    "/", "/topics/", "/topics/orders.eu", "/topics/?type=GROUP", "/principals/", "/principal/?name=User:bob", "/acls/",
    f"/explain/?{BOB}&host=", "/explain/client/", f"/what-if/?add={ADD}", "/compare/", "/findings/", "/insights/",
    "/insights/coverage/", "/insights/use/", "/search/?q=bob",
)  # fmt: skip
REFUSED = {f"{C}/topics/orders.eu?as_of=2020-01-01": 422}

LINE = (
    "[2026-11-21 09:15:02,114] INFO Principal = User:bob is Denied operation = READ from host = 10.0.0.7 on resource = "
    "Topic:LITERAL:orders.eu for request = Fetch with resourceRefCount = 1 based on rule DefaultDeny "
    "(kafka.authorizer.logger)"
)
LISTING = (
    "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=stock, patternType=LITERAL)`:\n"
    " \t(principal=User:bob, host=*, operation=READ, permissionType=ALLOW)\n"
)
# What somebody types into an empty field.
TYPED = {
    "principal": "User:bob", "name": "orders.eu", "host": "10.0.0.9", "q": "o", "text": "bob", "add": "",
    "new_topic": "",
    "resource_name": "stock", "title": "Let bob in", "reason": "He asked.", "comment": "Not now.", "line": LINE,
    "names": "CN=bob,O=x", "as_of": "1", "holding": "bob", "topic": "orders.eu", "group": "bobs", "paste": "",
    "new_password1": "a longer password 7", "new_password2": "a longer password 7",
    "path": "/var/log/kafka", "first": ADD, "second": ADD, "transactional_id": "tx-1", "owner": "shop",
    "principals": "User:zoe", "who": "ada", "days": "7", "address": "b1.example:9092",
    "rows": "kind,pattern_type,name,owner,labels\nTOPIC,PREFIXED,orders.,shop,public\n",
    "csv": "principal,name\nUser:bob,Bob\n",
}  # fmt: skip


@pytest.fixture
def site(unrecorded, cluster, ada, ben, cho, dot, tmp_path, monkeypatch):
    monkeypatch.setattr("aclweb.inventory.tasks.sync_cluster.delay", lambda *_: None)
    monkeypatch.setattr("aclweb.inventory.tasks.lint_cluster.delay", lambda *_: None)
    monkeypatch.setattr("aclweb.changes.tasks.apply_change.delay", lambda *_: None)
    monkeypatch.setattr("aclweb.insights.reading.enqueue", lambda *_: None)
    built = world.build(cluster, (ada, ben, cho, dot), tmp_path)
    cluster.log_sources.create(path="/logs", broker="one", time_zone="UTC")
    monkeypatch.setattr(findings, "AT_ONCE", 0)  # what nobody has looked through yet is for a worker
    return built


@dataclass
class Crawl:
    """One person at work. `wrong` lists what was pressed and did not do what it promised.

    known: the kinds of asking that somebody has pressed before. again: whether this person presses one of these too.
    goes_on: whether what stands on the pages behind links is pressed too.
    in_turn: whether half of what only asks is left to another day.
    asked: those that this person has pressed.
    """

    browser: Client
    person: str
    known: set[tuple[object, ...]]
    again: Callable[[Crawl, Action], bool]
    goes_on: bool = True
    in_turn: bool = False
    wrong: list[str] = field(default_factory=list)
    pages: int = 0
    asked: set[tuple[object, ...]] = field(default_factory=set)
    pressed: Counter[str] = field(default_factory=Counter)
    _opened: Counter[tuple[object, ...]] = field(default_factory=Counter)
    _kinds: Counter[tuple[object, ...]] = field(default_factory=Counter)
    _seen: set[str] = field(default_factory=set)
    _answers: dict[tuple[object, ...], tuple[Any, dict[str, Any]]] = field(default_factory=dict)
    _waiting: deque[tuple[str, str]] = field(default_factory=deque)

    def run(self, starts: Iterable[str]) -> None:
        for address in starts:
            self._seen.add(address)
            answer = self._get(address)
            if answer.status_code != REFUSED.get(address, 200):
                self.wrong.append(f"{address} answers {answer.status_code}")
            self._press_all(address, answer.content.decode())
            while self._waiting:
                self._press_all(*self._waiting.popleft())

    def _press_all(self, address: str, html: str) -> None:
        self.pages += 1
        root = pressing.read(html)
        self.wrong.extend(f"{address}: {fault}" for fault in pressing.faults(root))
        shown = pressing.body_of(html)
        for action in pressing.actions(root, address, self._typed):
            kind = self._kind(address, action)
            if kind is None:
                self.wrong.append(f"{address}: {action.source} leads to {action.address}, where no page is")
            elif (
                self.in_turn
                and action.method == "get"
                and not is_asked(address, part_of(repr(kind), 2), TURN)
            ):
                continue
            elif self._kinds[kind] < PRESSED and (kind not in self.known or self.again(self, action)):
                self._kinds[kind] += 1
                if action.method == "get":
                    self.asked.add(kind)
                self.pressed[action.method] += 1
                self._press(address, shown, root, action)

    def has_opened(self, target: str) -> bool:
        """Return whether as many pages of this kind as wanted are open already."""
        return self._opened[_kind_of_page(target)] >= OPENED

    def _press(self, address: str, shown: str, root: pressing.Element, action: Action) -> None:
        headers = {"HX-Request": "true"} if action.swaps else {}
        if action.method == "post":
            status, html, end = self._post(action, headers)
        else:
            target, _, fragment = action.address.partition("#")
            answer = self._get(target, action.fields, headers, follow=True)
            status, end = answer.status_code, _where_it_ends(answer, target)
            if answer.get("Content-Disposition", "").startswith("attachment"):
                if not b"".join(answer):
                    self.wrong.append(f"{address}: {action.source} downloads nothing ({target})")
                return
            html = answer.content.decode()
            is_news = action.is_link and not (action.is_current or action.in_frame or fragment)
            if status < 400 and is_news and pressing.body_of(html) == shown:
                self.wrong.append(f"{address}: {action.source} changes nothing ({target})")
            if fragment and not action.swaps and f'id="{fragment}"' not in html:
                self.wrong.append(f"{address}: {action.source} leads to #{fragment}, which is not there")
            if status < 400 and not action.swaps:
                self._later(target, end, html)
        if status >= 400:
            told = dict(action.fields) or action.address
            self.wrong.append(f"{address}: {action.source} answers {status} ({told!r:.300}) {_reason(html)}")
        elif action.swaps and action.swaps != "this":
            self._check_swap(address, action, html)
        elif action.method == "post" and end == action.path and action.path not in self._seen:
            # A page that only a button brings: what stands on it is pressed too.
            self._seen.add(action.path)
            self._press_all(action.path, html)

    def _check_swap(self, address: str, action: Action, html: str) -> None:
        if action.selects and f'id="{action.selects}"' not in html:
            self.wrong.append(
                f"{address}: {action.source} takes #{action.selects}, which is not in the answer"
            )
        if action.is_outer and f'id="{action.swaps}"' not in html:
            self.wrong.append(f"{address}: after {action.source} #{action.swaps} is gone")
        if not html.strip():
            self.wrong.append(f"{address}: {action.source} brings nothing")

    def _get(
        self,
        address: str,
        fields: Iterable[tuple[str, str]] = (),
        headers: dict[str, str] | None = None,
        follow: bool = False,
    ) -> Any:
        """Ask for a page, once for each state of the cookies: what buttons change is undone."""
        sent, headers, cookies = dict(fields), headers or {}, self.browser.cookies
        held = sorted((name, morsel.value) for name, morsel in cookies.items())
        asked = (address, *sent.items(), *headers, follow, *held)
        if asked in self._answers:
            answer, after = self._answers[asked]
            cookies.clear()
            cookies.update(after)
            return answer
        answer = self.browser.get(address, sent, headers=headers, follow=follow)
        if not answer.streaming:  # a download is read once
            self._answers[asked] = answer, dict(cookies)
        return answer

    def _post(self, action: Action, headers: dict[str, str]) -> tuple[int, str, str]:
        """Send a form, look at where it leads, and undo what it did."""
        fields: dict[str, list[str]] = {}
        for name, value in action.fields:
            fields.setdefault(name, []).append(value)
        cookies = dict(self.browser.cookies)
        with transaction.atomic():
            answer = self.browser.post(action.address, fields, headers=headers, follow=True)
            transaction.set_rollback(True)
        self.browser.cookies.clear()
        self.browser.cookies.update(cookies)
        return answer.status_code, answer.content.decode(), answer.request["PATH_INFO"]

    def _typed(self, path: str, name: str) -> str:
        if name == "old_password":
            return f"a password for {self.person}"
        # A log is at a path or in a topic.
        if name == "topic" and "/log-sources/" in path:
            return ""
        if name == "address" and path.endswith("/move/"):
            return "zk.example:2181"
        # What was never read has no revision to ask of.
        if name == "as_of" and path.startswith("/c/never/"):
            return ""
        if name == "text" and path.endswith("/file/"):
            return LISTING
        return TYPED.get(name, "")

    def _later(self, target: str, end: str, html: str) -> None:
        if target not in self._seen and not self.has_opened(target):
            self._opened[_kind_of_page(target)] += 1
            self._seen.add(target)
            if self.goes_on:
                self._waiting.append((end, html))

    def _kind(self, address: str, action: Action) -> tuple[object, ...] | None:
        route = _route(action.path)
        if route is None:
            return None
        names = {name for name, _ in (*action.query, *action.fields)}
        steps = [value for name, value in (*action.query, *action.fields) if name in ("step", "show", "tab")]
        here = "" if action.in_frame else _route(urlsplit(address).path)
        # Each state of a change has its own buttons and parts; its plain links are those of every change.
        state = _where(address) if here == "change" and (action.method == "post" or action.swaps) else ""
        return (here, state, route, action.method, action.swaps, action.is_current, *steps, *sorted(names))


def is_asked(address: str, half: int, turn: int) -> bool:
    """Return whether a run asks this half of the kinds of what only asks, where they stand on the page of an address.

    Each half has as many turns in a row as the pages take that are shared out: two those of the states, four those of
    other clusters. Of a page that has its turn with one half alone, the other half would never be asked.
    """
    is_elsewhere = address.startswith("/c/") and not address.startswith(f"{C}/")
    return is_due(2, half, turn // (4 if is_elsewhere else 2))


def _everything(crawl: Crawl, action: Action) -> bool:
    return True


def _parts_and_new_pages(crawl: Crawl, action: Action) -> bool:
    return not action.is_link or bool(action.swaps) or not crawl.has_opened(action.address.partition("#")[0])


def _nothing(crawl: Crawl, action: Action) -> bool:
    return False


def _kind_of_page(address: str) -> tuple[object, ...]:
    return (_route(urlsplit(address).path), _where(address))


@cache
def _route(path: str) -> str | None:
    try:
        return resolve(path).view_name
    except Resolver404:
        return None


def _where(address: str) -> str:
    """Return the part of an address that makes a state of its own: the cluster, or the change."""
    found = re.match(r"/(?:c|changes)/([^/]+)/", address)
    return found[1] if found else ""


def _where_it_ends(answer: Any, target: str) -> str:
    """Return the address that the browser then shows: its links that name no page lead on from there."""
    *_, (end, _) = getattr(answer, "redirect_chain", None) or [(target, 302)]
    return str(end)


def _reason(html: str) -> str:
    found = re.search(r'role="alert"[^>]*>(.{0,1500})', html, re.S)
    return " ".join(re.sub(r"<[^>]+>", " ", found[1] if found else "").split())[:200]


def test_each_page_is_asked_both_halves_of_its_kinds_in_eight_days():
    pages = [(address, 2, place) for place, address in enumerate(STATES)]
    pages += [
        (f"/c/{slug}{path}", 4, number - place)
        for place, slug in enumerate(("open", "never", "held"))
        for number, path in enumerate(EVERYWHERE)
    ]

    for first in range(8):
        for address, parts, number in pages:
            days = [day for day in range(first, first + 8) if day % parts == number % parts]
            assert {half for day in days for half in (0, 1) if is_asked(address, half, day)} == {0, 1}, (
                address
            )


@pytest.mark.long
def test_every_link_and_every_button_of_every_page_leads_somewhere(site, cho, dot):
    press_everything(site, dot, cho, sampled=cho)


@pytest.mark.long
@pytest.mark.thorough(
    instead="tests/web/test_every_button.py::test_every_link_and_every_button_of_every_page_leads_somewhere"
)
def test_all_that_each_of_four_people_can_press_leads_somewhere(site, cho, dot, ada, ben):
    press_everything(site, dot, cho, ada, ben)


def pages_of_others(others, number, people, is_sampled):
    """Yield the other clusters, each with the pages of it at which the person of this number begins."""
    for place, slug in enumerate(others):
        if FULL or (not is_sampled and place % people == number):
            yield slug, EVERYWHERE
        elif is_sampled and number == 0:
            yield slug, due(EVERYWHERE, 4, TURN + place)
        elif is_sampled and slug == "open":
            yield slug, EVERYWHERE


def press_everything(site, *people, sampled=None):
    """Press all that these people can press; the first may do most, the second least.

    sampled: who begins in a third of the changes too and presses nothing on the pages behind links; who may do most
    begins in half of the states then.
    """
    dot, cho = people[:2]
    known: set[tuple[object, ...]] = set()
    others = [slug for slug in site.clusters if slug != "test-eu"]
    for number, person in enumerate(people):
        browser = Client()
        sign_in(browser, person)
        browser.cookies["aclweb-cluster"] = "test-eu"
        changes = [
            f"/changes/{change.key}/"
            for change in site.changes.values()
            if change.state != Change.State.DRAFT or change.author == person
        ]
        is_sample = person == sampled and not FULL
        in_turn = sampled is not None and not FULL
        share = slice(number - 1, None, 3)
        states = STATES if FULL or person == dot else STATES[::6] if is_sample else STATES[share]
        if person == dot and in_turn:
            states = due(STATES, 2)
        changes = changes[share] if is_sample else changes
        elsewhere = [
            f"/c/{slug}{path}"
            for slug, paths in pages_of_others(others, number, len(people), sampled is not None)
            for path in paths
        ]
        again = _everything if FULL else _parts_and_new_pages if person == cho else _nothing
        crawl = Crawl(browser, person.username, known, again, goes_on=not is_sample, in_turn=in_turn)

        crawl.run([*states, *changes, *elsewhere])
        known |= crawl.asked

        assert not crawl.wrong, f"{person}, ACLWEB_TEST_TURN={TURN}:\n" + "\n".join(crawl.wrong)
        # The net holds: a crawl that sees little finds nothing wrong.
        assert crawl.pages > (200 if FULL else 30 if person != dot else 60 if in_turn else 120), person
        assert crawl.pressed["post"] > 20, person
