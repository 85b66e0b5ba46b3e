"""Which pages and which heavy states does `bench.pages` ask, and at which addresses?

Made for the cluster `big` of `bench.page_world`. A state is asked with another object at each request, where it is
about one: a topic, a principal, a draft. The address of a state is the whole of it, as in a browser.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any
from urllib.parse import quote, urlencode

from bench.page_world import Subjects

Address = Callable[[], str]
# The first page of a process that is about an earlier revision reads its ACLs and names.
_OF_AN_EARLIER_REVISION = 14
# KiB of HTML that are known to be more than the goal, on 100,000 ACLs. A sheet has all of a change, for paper.
_LARGER = {
    "review of 2,000 ACLs: sheet": 720,
}


@dataclass(frozen=True)
class State:
    """One page in one state.

    posted: the fields of its form, where it is sent; is_part: whether it is the part of a page that htmx asks for;
    anew: whether all kept answers are forgotten before each request, as for whoever is the first to ask. queries, kib
    (of HTML): the most that it may take; 12 and 50 are the goal, and more is known to be missed.
    """

    title: str
    address: Address
    posted: Mapping[str, Any] | None = None
    is_part: bool = False
    anew: bool = False
    queries: int = 12
    kib: int = 50


def states(made: Subjects) -> Iterator[State]:
    """Yield every state, those of a page beside each other."""
    for state in _states(made):
        yield replace(state, kib=_LARGER.get(state.title, state.kib))


def _states(made: Subjects) -> Iterator[State]:
    chance = random.Random(7)

    def of(path: str, **query: Any) -> Address:
        """Return the address of a page of the cluster; a value that can be called is another one each time."""

        def address() -> str:
            values = {name: value() if callable(value) else value for name, value in query.items()}
            place = path if "{" not in path else path.format(topic=quote(topic()))
            return f"/c/big/{place}{'?' if values else ''}{urlencode(values, doseq=True)}"

        return address

    def any_of(values: Any) -> Callable[[], Any]:
        return lambda: chance.choice(values)

    def page_to(last: int) -> Callable[[], int]:
        return lambda: chance.randrange(1, last + 1)

    topic, group, principal = any_of(made.topics), any_of(made.groups), any_of(made.principals)
    for title, address in (
        ("home", lambda: "/"),
        ("clusters", lambda: "/clusters/"),
        ("people", lambda: "/people/"),
        ("account", lambda: f"/people/{made.person}/"),
        ("roles", of("roles/")),
        ("tokens", lambda: "/tokens/"),
        ("events", lambda: "/events/"),
        ("words", lambda: "/words/"),
        ("cluster", of("")),
        ("log sources", of("log-sources/")),
        ("owners", of("owners/", page=page_to(20))),
        ("policy", of("policy/")),
    ):
        yield State(title, address)
    question = {
        "principal": principal,
        "operation": "READ",
        "type": "TOPIC",
        "name": topic,
        "host": "10.0.0.7",
    }
    consuming = {"principal": principal, "action": "consume", "topic": topic, "group": group, "host": ""}
    yield State("home: an answer", lambda: "/" + of("", cluster="big", **question)().removeprefix("/c/big/"))
    yield State("explain", of("explain/", **question))
    yield State("explain: any topic", of("explain/", **question | {"type": "ANY_TOPIC", "name": ""}))
    yield State("explain: client action", of("explain/client/", **consuming))
    yield State("explain: as of a revision", of("explain/", **question, as_of=1))

    yield from _lists(of, page_to, topic, made)
    for tab in ("access", "acls", "denials", "groups", "traffic", "history"):
        yield State(f"topic: {tab}", of("topics/{topic}", tab=tab))
    for show in ("used", "denied"):
        yield State(f"topic: access {show}", of("topics/{topic}", show=show))
    yield State("topic: as of a revision", of("topics/{topic}", as_of=1))
    for tab in ("access", "acls", "denials", "traffic", "history"):
        yield State(f"group: {tab}", of("resource/", type="GROUP", name=group, tab=tab))
    yield State("cluster as a resource", of("resource/", type="CLUSTER", name="kafka-cluster"))
    yield State("graph of a topic", of("graph/", type="TOPIC", name=topic))

    for tab in ("access", "names", "seen", "denials", "traffic"):
        yield State(f"principal: {tab}", of("principal/", name=principal, tab=tab))
        yield State(f"User:*: {tab}", of("principal/", name="User:*", tab=tab))
    # A part of the first tab, which asks for it by itself.
    yield State("principal: what it did", of("principal/beside/", name=principal), is_part=True)
    for part in ("only-first", "only-second", "other-hosts", "both"):
        yield State(
            f"principals compared: {part}",
            of("principal/compare/", **{"name": principal, "with": principal, "part": part}),
        )
    yield State(
        "principals compared with User:*", of("principal/compare/", **{"name": principal, "with": "User:*"})
    )
    yield State("principal to clone", of("principal/clone/", name=principal))
    for days in (7, 30, 90):
        yield State(f"fewer rights, {days} days", of("principal/least-privilege/", name=principal, days=days))

    yield from _findings_and_log(of, page_to, made, any_of)
    yield from _drafts(of, page_to, made)


def _lists(of: Any, page_to: Any, topic: Any, made: Subjects) -> Iterator[State]:
    page = {"page": page_to(100)}
    yield State("topics", of("topics/", **page))
    for sort in ("-readers", "-writers", "denials", "-last", "owner"):
        yield State(f"topics by {sort}", of("topics/", sort=sort, **page))
    yield State("topics that hold a text", of("topics/", q="team17", sort="-readers"))
    yield State("groups by readers", of("topics/", type="GROUP", sort="-readers", **page))
    yield State("names that ACLs alone name", of("topics/", **{"from": "acls"}, **page))
    yield State("search", of("search/", q="orders"))
    yield State("completions", of("completions/TOPIC/", q="nl.team1"))
    for text in ("team1", "svc", "nobody yet"):
        yield State(f"completions of principals: {text}", of("completions/principal/", q=text, typed=1))
    yield State("names to choose from", of("choose/", field="topic", back="home", topic="nl."))

    yield State("principals", of("principals/", page=page_to(20)))
    yield State("menu of a principal", of("principals/one/", name=lambda: random.choice(made.principals)))
    for sort in ("-reads", "-writes", "-administers", "-last-seen", "-denials"):
        yield State(f"principals by {sort}", of("principals/", sort=sort))
    for mark in ("orphaned", "never-seen", "denied", "writes-all", "reads-all"):
        yield State(f"principals {mark}", of("principals/", show=mark))

    # The first list of a revision also counts its findings by lint rule.
    yield State("ACLs", of("acls/", **page), queries=13)
    yield State("ACLs, 200 rows", of("acls/", rows=200, **page), kib=200)
    yield State("ACLs that affect a topic", of("acls/", match="affects", resource_type="TOPIC", name=topic))
    yield State("ACLs with a text", of("acls/", text="team17.orders"))
    for lens in ("principal", "resource", "host", "role"):
        yield State(f"ACLs by {lens}", of("acls/", by=lens, **page))
        yield State(f"ACLs by {lens}, most first", of("acls/", by=lens, sort="acls"))
    for sort in ("principal", "-resource", "host", "-matches", "requests", "last-used"):
        yield State(f"ACLs sorted by {sort}", of("acls/", sort=sort, **page))
    for name, value in (
        ("use", "unused"),
        ("use", "cannot-tell"),
        ("finding", "any"),
        ("finding", "can-go"),
        ("added", "30"),
        ("orphan", "1"),
        ("role", "consumer"),
        ("permission", "DENY"),
    ):
        yield State(f"ACLs, {name} {value}", of("acls/", **{name: value}))
    yield State("ACLs, two filters", of("acls/", use="unused", finding="any"))
    yield State("ACLs, two filters sorted", of("acls/", use="unused", permission="ALLOW", sort="-matches"))
    yield State("ACLs, two filters, every column", of("acls/", use="unused", operation="READ", columns="all"))
    yield State("ACLs, as of a revision", of("acls/", as_of=1, **page))
    yield State("ACLs by role, two filters", of("acls/", by="role", use="unused", operation="READ"))
    yield State("menu of an ACL", of("acls/one/", key=lambda: random.choice(made.keys)))
    yield State("saved views", of("acls/views/"))


def _findings_and_log(of: Any, page_to: Any, made: Subjects, any_of: Any) -> Iterator[State]:
    principal, topic = any_of(made.principals), any_of(made.topics)
    yield State("findings", of("findings/", page=page_to(20)))
    for show in ("can-go", "fewer", "dismissed"):
        yield State(f"findings: {show}", of("findings/", show=show))
    for rule in made.rules:
        yield State(f"findings: {rule}", of("findings/", rule=rule))
    yield State("findings with a text", of("findings/", text="team17"))

    for days in ("all", "7", "30", "90"):
        yield State(f"denials, {days} days", of("insights/", days=days))
    yield State("denials: new", of("insights/", state="new", days="all"))
    yield State(
        "denials: one open", of("insights/", days="all", open=any_of([key[:16] for key in made.denials]))
    )
    yield State("denials: ACLs for one", of("insights/denials/acls/", choose=any_of(made.denials)))
    yield State("week", of("insights/week/"))
    for days in (7, 30, 90):
        yield State(f"coverage, {days} days", of("insights/coverage/", days=days))
        yield State(f"use map, {days} days", of("insights/use/", days=days))
        yield State(f"use by owner, {days} days", of("insights/use/owners/", days=days))
    yield State("coverage of a broker", of("insights/coverage/broker/", name="b1"))
    yield State("map of denials", of("insights/use/", show="denied", days=90))
    yield State("map of what is configured", of("insights/use/", show="configured"))
    yield State("use, denials and ACLs", of("insights/use/", show="all", days=90))
    for what in ("topics", "principals", "acls"):
        yield State(f"{what} of two clusters", of("insights/use/beside/", other="other", what=what, days=90))
    yield State("days of a principal", of("insights/use/days/", principal=principal))
    yield State("days of a topic", of("insights/use/days/", type="TOPIC", name=topic))
    yield State("days of an ACL", of("insights/use/days/", acl=any_of(made.used)))
    yield State("analyses", of("insights/analyses/"))


def _drafts(of: Any, page_to: Any, made: Subjects) -> Iterator[State]:
    yield State("drafts", of("drafts/"))
    yield State("what-if: empty", of("what-if/"))
    for size, addresses in made.drafts.items():
        title = f"what-if of {size:,} ACLs"
        [first, *_] = addresses
        yield State(f"{title}: of nobody yet", partial_next(addresses), anew=True)
        shown = (
            "",
            "&view=matrix",
            "&open=0",
            "&tab=replay",
            "&tab=after",
            "&tab=commands",
            "&tab=matched",
            "&as=text",
        )
        for each in shown:
            yield State(f"{title}{each}", lambda first=first, each=each: first + each)
        last = max(2, size // 10)
        yield State(f"{title}, any page", lambda first=first, last=last: f"{first}&page={page_to(last)()}")
    typed = {
        "principal": "User:svc-0007",
        "resource_type": "TOPIC",
        "pattern": "PREFIXED",
        "resource_name": "nl.team1",
    }
    typed |= {"permission": "ALLOW", "operation": "READ", "host": "*", "add_rule": "1"}
    yield State("what-if: while typing", of("what-if/matches/"), posted=typed)
    # It is stored, and then shown by its address: two requests.
    yield State("what-if sent: 2,000 ACLs", of("what-if/"), posted={"line": made.lines}, anew=True)

    for tab in ("mine", "all"):
        yield State(f"changes: {tab}", lambda tab=tab: f"/changes/?tab={tab}&page={page_to(10)()}")
    for size, numbers in made.changes.items():
        title, first = f"review of {size:,} ACLs", numbers[0]
        yield State(
            f"{title}: of nobody yet", partial_next([f"/changes/CR-{each}/" for each in numbers]), anew=True
        )
        for each in (
            "",
            "?view=matrix",
            "?open=0",
            "?acls=2",
            "?by=principal",
            "?days=30",
            "?only=0&only=1",
        ):
            yield State(f"{title}{each}", lambda first=first, each=each: f"/changes/CR-{first}/{each}")
        yield State(f"{title}: sheet", lambda first=first: f"/changes/CR-{first}/print/")
    yield State("review with comments", lambda: f"/changes/CR-{made.commented}/")
    yield State(
        "review after an edit elsewhere",
        lambda: f"/changes/CR-{made.overtaken}/",
        anew=True,
        queries=_OF_AN_EARLIER_REVISION,
    )

    yield State("compare", of("compare/"))
    sides = {
        "two revisions": {"other": "big", "other_at": 1},
        "a change": {"other": "big", "other_change": f"CR-{made.changes[max(made.changes)][0]}"},
        "another cluster": {"other": "other"},
    }
    for title, side in sides.items():
        yield State(f"compare with {title}: of nobody yet", of("compare/", **side), anew=True)
        for view in ({}, {"view": "matrix"}, {"open": 0}, {"lines": 2}, {"page": 3}, {"principal": "svc-00"}):
            told = "&".join(f"{name}={value}" for name, value in view.items())
            yield State(f"compare with {title} {told}", of("compare/", **side, **view))
    yield State("two drafts compared", of("compare/drafts/", **made.two_drafts))


def partial_next(values: list[str]) -> Address:
    """Return what gives one value after the other, and begins anew behind the last."""
    turn = cycle(values)
    return lambda: next(turn)
