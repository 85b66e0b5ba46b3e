"""Where can somebody go who types this: to a page, a change, a topic, a group, a principal, or a question about one?

The search field offers these places while somebody types, and a text that is exactly one of them leads there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from django.urls import reverse

from aclweb.accounts.models import User
from aclweb.acl.model import NOUNS, ResourceType
from aclweb.changes.queries import changes_of
from aclweb.inventory import lists
from aclweb.inventory.current import ClusterView
from aclweb.web.shell import links

_MOST_OF_A_KIND = 5
_MOST_CHANGES = 4
# "can bob consume orders.eu", as far as it is typed.
_QUESTION = re.compile(
    r"(?:(?:can|may|ask)\s+)?(?P<who>\S+)\s+(?P<verb>consume|produce)(?:\s+(?:to\s+|from\s+)?(?P<topic>\S+?)\??)?\s*",
    re.IGNORECASE,
)
_CHANGE = re.compile(r"CR-?\s*([0-9]{1,9})", re.IGNORECASE)

# What people call a page, and the name of its address. Those of a cluster take its slug.
_PAGES_OF_A_CLUSTER = (
    ("What if: simulate a change", "what-if"),
    ("Why, and why not: explain a request", "explain"),
    ("Client action: can a client consume or produce", "client-action"),
    ("Principal names: test the name mapping", "mapping"),
    ("Topics", "topics"),
    ("Principals", "principals"),
    ("ACLs", "acls"),
    ("Findings: lint, redundant ACLs", "findings"),
    ("Denials in the log", "insights"),
    ("Coverage of the log", "coverage"),
    ("Use map: configured, used, denied", "use-map"),
    ("Use by owner", "by-owner"),
    ("Use beside another cluster", "use-beside"),
    ("Analyses of the log", "analyses"),
    ("Compare clusters and dates", "compare"),
    ("Compare two drafts", "compare-drafts"),
    ("Log sources", "log-sources"),
    ("This cluster: revisions and settings", "cluster"),
)
_PAGES = (
    ("Home: ask a question", "home"),
    ("Changes and reviews", "changes"),
    ("All clusters", "clusters"),
    ("Audit trail", "events"),
)


@dataclass(frozen=True)
class Place:
    """A page to go to: what it is about, which kind of page it is, and its address."""

    name: str
    note: str
    url: str
    is_name: bool = True


def exact_place(view: ClusterView, person: User, text: str) -> Place | None:
    """Return the one page that is meant by exactly this text; None where it is none, or more than one."""
    text = text.strip()
    change = _CHANGE.fullmatch(text)
    found = [place for place in _named(view, text, 1) if place.name == text]
    if change is not None:
        found += _change_numbered(person, int(change[1]))
    return found[0] if len(found) == 1 else None


def places_like(view: ClusterView, person: User, text: str, most: int) -> list[Place]:
    """Return at most so many pages whose name contains the text, the last of them that of all finds; three queries."""
    change = _CHANGE.fullmatch(text)
    changes = _change_numbered(person, int(change[1])) if change else _changes_titled(person, text)
    pages = [*_pages(view, text)]
    first = [page for page in pages if page.name.casefold().startswith(text.casefold())]
    others = [page for page in pages if page not in first]
    named = [*_named(view, text, _MOST_OF_A_KIND)]
    questions = questions_about(view, text)
    found = [*first, *islice(changes, _MOST_CHANGES), *named[:1], *questions, *named[1:], *others]
    address = f"{reverse('search', args=[view.cluster.slug])}?{links.encoded(q=text, all='1')}"
    every = Place(f"All names and ACLs that contain {text}", "search", address, is_name=False)
    return [*found[: most - 1], every]


def questions_about(view: ClusterView, text: str) -> list[Place]:
    """Return the question that the text asks, or one about the first principal or topic of such a name.

    Each leads to the form for client actions with what is known filled in.
    """
    asked = _QUESTION.fullmatch(text.strip())
    if asked is not None:
        who, verb, topic = asked["who"], asked["verb"].lower(), asked["topic"] or ""
        address = links.client_action(view.cluster, principal=who, action=verb, topic=topic)
        return [
            Place(f"Ask: may {who} {verb}{f' {topic}' if topic else ''}?", "question", address, is_name=False)
        ]
    if not text.strip():
        return []
    for name in lists.principals_like(view, text, 1):
        address = links.client_action(view.cluster, principal=name, action="consume")
        return [Place(f"Ask: may {name} consume, produce, …?", "question", address, is_name=False)]
    for name in lists.resources_like(view, ResourceType.TOPIC, text, 1):
        address = links.client_action(view.cluster, topic=name, action="consume")
        return [Place(f"Ask: may a client use {name}?", "question", address, is_name=False)]
    return []


def _named(view: ClusterView, text: str, most: int) -> Iterator[Place]:
    cluster = view.cluster
    for name in lists.principals_like(view, text, most):
        yield Place(name, "principal", links.principal(cluster, name))
    for kind in (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID):
        for name in lists.resources_like(view, kind, text, most):
            yield Place(name, NOUNS[kind][0], links.resource(cluster, kind, name))


def _pages(view: ClusterView, text: str) -> Iterator[Place]:
    """Yield the pages whose title has a word that begins with the text."""
    is_meant = re.compile(rf"\b{re.escape(text)}", re.IGNORECASE).search
    for title, name in _PAGES_OF_A_CLUSTER:
        if is_meant(title):
            yield Place(title, "page", reverse(name, args=[view.cluster.slug]), is_name=False)
    for title, name in _PAGES:
        if is_meant(title):
            yield Place(title, "page", reverse(name), is_name=False)


def _change_numbered(person: User, number: int) -> Iterator[Place]:
    for pk, title in changes_of(person).filter(pk=number).values_list("pk", "title"):
        yield _change(pk, title)


def _changes_titled(person: User, text: str) -> Iterator[Place]:
    found = changes_of(person).filter(title__icontains=text).order_by("-pk")
    for pk, title in found.values_list("pk", "title")[:_MOST_CHANGES]:
        yield _change(pk, title)


def _change(number: int, title: str) -> Place:
    return Place(f"CR-{number}: {title}", "change", reverse("change", args=[number]), is_name=False)
