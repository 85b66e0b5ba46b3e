"""Which filters does an address hold, how are they shown, and which addresses change them?

Every filter of the ACL list is a field of the query under the name it has in a sentence:
`?principal=User:bob&resource_type=TOPIC&name=orders.eu&match=affects`; the API takes the
same. A person may also type them: `principal:User:bob op:write topic:orders.eu`. What
cannot be understood is left out, and a sentence says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

from django.http import QueryDict

from aclweb.acl.model import AclError, ResourceType, spoken
from aclweb.inventory import lists
from aclweb.inventory.lists import AclListFilters

FIELDS = (
    "text",
    "principal",
    "permission",
    "operation",
    "resource_type",
    "name",
    "match",
    "host",
    "exactly",
    "reach",
    "role",
    "orphan",
    "use",
    "finding",
    "added",
)
# Filters that mean nothing without another one.
_GO_WITH = {"name": "match", "principal": "exactly", "host": "exactly"}
_MATCHES = (("exact", "exact"), ("affects", "affects"), ("starts", "starts with"))
_WORDS = {
    "op": "operation",
    "perm": "permission",
    "type": "resource_type",
    "pattern": "reach",
}
# topic:orders.eu stands for type:TOPIC name:orders.eu.
_TYPES = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "cluster": ResourceType.CLUSTER,
    "txn": ResourceType.TRANSACTIONAL_ID,
    "token": ResourceType.DELEGATION_TOKEN,
}
_KNOWN = re.compile(r"(?:^|\s)(" + "|".join([*FIELDS, *_WORDS, *_TYPES]) + r"):", re.IGNORECASE)


@dataclass(frozen=True)
class Chip:
    """One filter in force: what it says, and the address without it."""

    label: str
    value: str
    is_name: bool
    without: str


@dataclass(frozen=True)
class Choice:
    """One value that can be filtered by: a link that turns it on, or off where it is on."""

    value: str
    word: str
    count: int | None
    current: bool
    url: str


@dataclass(frozen=True)
class Facet:
    label: str
    values: tuple[Choice, ...]


def typed(text: str) -> dict[str, str]:
    """Return the fields that a typed filter line stands for; text without a known word is searched for."""
    found: dict[str, str] = {}
    marks = list(_KNOWN.finditer(text))
    head = text[: marks[0].start()] if marks else text
    if head.strip():
        found["text"] = head.strip()
    for mark, following in zip_longest(marks, marks[1:]):
        word = mark[1].lower()
        value = text[mark.end() : following.start() if following else len(text)].strip()
        if word in _TYPES:
            found |= {"resource_type": _TYPES[word].name, "name": value, "match": "affects"}
        elif value:
            found[_WORDS.get(word, word)] = value
    return found


def read(query: Mapping[str, str]) -> tuple[AclListFilters, tuple[str, ...]]:
    """Return the filters of an address, and a sentence for each value that is none."""
    good, faults = {}, []
    for name in FIELDS:
        try:
            AclListFilters.read({name: query.get(name, "")})
        except AclError as error:
            faults.append(str(error))
        else:
            good[name] = query.get(name, "")
    return AclListFilters.read(good), tuple(faults)


def chips(query: QueryDict, filters: AclListFilters, stored: Mapping[str, tuple[str, str]]) -> list[Chip]:
    """Return the filters in force in the order of a sentence.

    stored: field -> (label, value) of those that ask what is stored beside the ACLs; see `acl_keys`.
    """
    shown = {
        "text": ("holds", filters.text, True),
        "principal": ("principal", filters.principal, True),
        "permission": ("permission", spoken(filters.permission), False),
        "operation": ("operation", spoken(filters.operation), False),
        "resource_type": ("on a", spoken(filters.resource_type).lower(), False),
        "name": ("name", filters.name, True),
        "host": ("host", filters.host, True),
        "exactly": ("read", "an asterisk at the end as it is" if filters.exactly else "", False),
        "reach": ("pattern", filters.reach, False),
        "role": ("role", lists.ROLES[filters.role].word.lower() if filters.role else "", False),
        "orphan": ("covers", "nothing now" if filters.orphan else "", False),
        **{name: (label, value, False) for name, (label, value) in stored.items()},
    }
    return [
        Chip(label, value, is_name, without(query, name))
        for name, (label, value, is_name) in shown.items()
        if value
    ]


def matches(query: QueryDict, filters: AclListFilters) -> list[Choice]:
    """Return the three ways to compare a name, as links."""
    return [
        Choice(value, word, None, filters.match == value, with_field(query, "match", value))
        for value, word in _MATCHES
    ]


def facets(query: QueryDict, counts: Mapping[str, Mapping[str, int]]) -> list[Facet]:
    """Return the counts beside the list, each as a link that filters by it or takes the filter out."""
    found: dict[str, list[Choice]] = {}
    for name, field, head, words in _FACETS:
        values = counts.get(name, {})
        for value in [*(word for word in words if word in values), *(v for v in values if v not in words)]:
            current = query.get(field) == value
            url = without(query, field) if current else with_field(query, field, value)
            choice = Choice(value, words.get(value, spoken(value)), values[value], current, url)
            found.setdefault(head, []).append(choice)
    return [Facet(label, tuple(choices)) for label, choices in found.items()]


def with_field(query: QueryDict, name: str, value: str) -> str:
    """Return the address with this field set, at its first page."""
    return with_fields(query, {name: value})


def with_fields(query: QueryDict, fields: Mapping[str, str]) -> str:
    """Return the address with these fields set, those without a value left out, at its first page."""
    changed = query.copy()
    for name, value in fields.items():
        # No address holds a lone surrogate.
        changed[name] = value.encode("utf-8", "replace").decode()
    return _address(changed)


def without(query: QueryDict, name: str) -> str:
    """Return the address without this field, at its first page."""
    changed = query.copy()
    changed.pop(name, None)
    if name in _GO_WITH:
        changed.pop(_GO_WITH[name], None)
    return _address(changed)


def with_typed(query: QueryDict) -> str:
    """Return the address in which what was typed into `add` has become fields."""
    changed = query.copy()
    for name, value in typed(query.get("add", "")).items():
        changed[name] = value
        if name in ("principal", "host"):
            # What somebody types is read as people type it.
            changed.pop("exactly", None)
    return _address(changed)


def _address(query: QueryDict) -> str:
    for name in ("page", "add"):
        query.pop(name, None)
    for name in [name for name, value in query.items() if not value]:
        query.pop(name)
    # The names of columns stay apart by commas, which an address may hold: a page has dozens of these addresses.
    return f"?{query.urlencode(safe='/,')}"


# The counts of a list: their name, the filter that each turns on, its heading, and words for its values.
_FACETS: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    ("permission", "permission", "Permission", {"DENY": "DENY", "ALLOW": "Allow"}),
    ("reach", "reach", "Pattern", {"all": "all", "prefix": "prefix", "exact": "exact", "unknown": "unknown"}),
    ("principal", "principal", "Applies to", {"User:*": "Any user"}),
    ("host", "host", "Applies to", {"*": "Any host"}),
    ("type", "resource_type", "Resource", {}),
    ("operation", "operation", "Operation", {}),
    ("orphan", "orphan", "Checks", {"1": "Matches nothing now"}),
)
