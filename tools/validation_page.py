"""Write docs/validation.md from the rules that the program itself goes by.

    python tools/validation_page.py

A test holds the page against the rules, so run this after changing one of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "validation.md"
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from aclweb.acl.kafka import (  # noqa: E402
    CREATION_RULES,
    DELETION_RULES,
    LISTING_RULES,
    MOST_RECORDS,
    YOUNGER_WORDS,
    Item,
    Rule,
    Scope,
    Seen,
    Target,
    refused_by_client,
)
from aclweb.acl.matching import AclFilter  # noqa: E402
from aclweb.acl.model import (  # noqa: E402
    VERSIONS,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)

_ACL = Item(2, "orders", 3, "User:bob", "*", 3, 3)
_EXAMPLES = (
    _ACL,
    replace(_ACL, principal="bob"),
    replace(_ACL, host="10.0.0.0/33"),
    replace(_ACL, resource_name="a/b"),
    replace(_ACL, resource_name="."),
    replace(_ACL, resource_type=4),
    replace(_ACL, resource_name=""),
    replace(_ACL, host=""),
    replace(_ACL, pattern_type=4),
    replace(_ACL, resource_type=99),
    replace(_ACL, pattern_type=99),
    replace(_ACL, operation=99),
    replace(_ACL, permission_type=99),
)
_UNKNOWN = Operation.UNKNOWN
_PLACES = {"standard": "KRaft", "acl": "ZooKeeper", "": "all"}


def _clients_words(verb: str, operation: Operation) -> str:
    """Return what Java's own client answers to an ACL, or a filter, with this operation."""
    given = AclBinding(
        ResourceType.TOPIC, "t", PatternType.LITERAL, "User:a", "*", operation, PermissionType.ALLOW
    )
    answer = refused_by_client(verb, given if verb == "add" else AclFilter.exactly(given))
    assert answer is not None
    words = f"{answer.error.name} `{answer.text}`" if answer.text else answer.error.name
    return f"{words}, and so on" if verb == "add" else words


_HEAD = """\
# What Kafka refuses, and in which words

aclweb predicts what a cluster would answer to an ACL or a filter: with Kafka's name, code and
text, and a sentence of its own. These tables are written from the checks of the program itself,
and the tests compare them with real brokers of Kafka 4.4.0 and 3.9.2. A request meets
the checks from top to bottom; the first that applies answers. "4.1 and later" means the newest patch
of each line: a KRaft controller of 3.9.0 still stored a principal without a colon.

A code of -1 comes without a text. "Connection closed" means that the broker answers nothing at all.
An ACL that exists already is no error, and neither is a filter that finds nothing.

"""

_TAIL = f"""\
## Limits

A KRaft controller takes at most {MOST_RECORDS:,} new ACLs in one request: beyond that every item it was passed gets
POLICY_VIOLATION (44) `Unable to perform excessively large batch operation.`, and ACLs that exist already do not
count. A request that would remove more than {MOST_RECORDS:,} gets INVALID_REQUEST (42)
`Cannot remove more than {MOST_RECORDS} acls in a single delete operation.` on every filter.
ZooKeeper has neither limit.

## What Java's own client refuses before it sends anything

| asked | who refuses | in which words |
| --- | --- | --- |
| an ACL with ANY or MATCH | constructor | {_clients_words("add", Operation.ANY)} |
| an ACL with UNKNOWN | AdminClient | {_clients_words("add", _UNKNOWN)} |
| a filter with UNKNOWN, to list by | AdminClient | {_clients_words("list", _UNKNOWN)} |
| a filter with UNKNOWN, to delete with | request object | {_clients_words("remove", _UNKNOWN)}; the whole call fails |

## What nobody checks

Whether the principal or its type exists, whether an operation suits the type of its resource, the letters of a
topic's name, the host before 4.4, and white space at either end: what was written is kept as it is.

## What can be shown and not be deleted

An ACL with a word that this program does not know is shown with UNKNOWN in its place. No filter can name UNKNOWN, and
one with ANY in its place could delete other ACLs too, so aclweb does not delete such an ACL and says so. Brokers in
ZooKeeper mode delete what such a wider filter finds and then give no answer at all, and whatever they write to the same
pattern later turns the unknown word into `Unknown`, for good. aclweb deletes with filters that name all seven fields:
each finds one ACL and no other.

## Who must be asked

Brokers in KRaft mode pass creations and deletions on to the active controller. Another controller that is asked itself
answers NOT_CONTROLLER (41). A write that the controller did not finish in time is REQUEST_TIMED_OUT (7), and may have
been done all the same.
"""


def page() -> str:
    """Return the text of docs/validation.md."""
    young = ", ".join(
        f"{word.name} {since[0]}.{since[1]}"
        for word, since in sorted(YOUNGER_WORDS.items(), key=lambda one: one[1])
    )
    return "".join(
        (
            _HEAD,
            _section("Creating ACLs", CREATION_RULES),
            "A KRaft controller also checks for an empty name itself (`Resource name should not be empty`),\n"
            "but the broker's own check comes first.\n\n"
            f"Words that older versions do not know, with the first version that does: {young}.\n\n",
            _section("Deleting by filters", DELETION_RULES),
            "ZooKeeper's authorizer takes any other filter; one with a word that it does not know finds nothing.\n\n",
            _section("Listing by a filter", LISTING_RULES),
            "A word that the version does not know finds nothing there, and is no error. In ZooKeeper somebody may\n"
            "have written an ACL with a word that the brokers do not know: then every list that contains it\n"
            "is UNKNOWN_SERVER_ERROR (-1), whatever else is in it.\n\n",
            _TAIL,
        )
    )


def _section(title: str, rules: Iterable[Rule]) -> str:
    rows = ["| asked | who refuses | answer | for | in |", "| --- | --- | --- | --- | --- |"]
    rows += [
        f"| {_cell(rule.what)} | {rule.layer.value} | {_cell(_answer(rule))} | {_scope(rule)} | {_where(rule)} |"
        for rule in rules
    ]
    return f"## {title}\n\n" + "\n".join(rows) + "\n\n"


def _answer(rule: Rule) -> str:
    """Return Kafka's words for an example that the rule applies to."""
    settings = AuthorizerSettings(authorizer=rule.authorizer or "standard")
    seen = [Seen.by(Target(settings), item) for item in _EXAMPLES]
    example = next((one for one in seen if rule.applies(one)), seen[0])
    text = rule.refusal(example).text
    code = "" if rule.error.code is None else f" ({rule.error.code})"
    tick = "``" if text and "`" in text else "`"
    return rule.error.name + code + (f" {tick}{text}{tick}" if text else "")


def _scope(rule: Rule) -> str:
    return {Scope.ITEM: "the item", Scope.PATTERN: "its pattern", Scope.REQUEST: "the request"}[rule.scope]


def _where(rule: Rule) -> str:
    place = _PLACES[rule.authorizer]
    if rule.authorizer and rule.since > _first(rule.authorizer):
        return f"{place} {rule.since[0]}.{rule.since[1]} and later"
    return place


def _first(authorizer: str) -> tuple[int, int]:
    return AuthorizerSettings(authorizer=authorizer, kafka_version=VERSIONS[authorizer][0]).version


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
