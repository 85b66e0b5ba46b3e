"""Texts and ACLs that break careless readers, for Hypothesis.

No name starts with a character that sorts before `*`.
"""

from __future__ import annotations

import os
import re
import string
from enum import Enum

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from aclweb.acl.model.vocabulary import (
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourcePattern,
    ResourceType,
)
from aclweb.acl.notation.znodes import ZnodeError, path_of

FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
EXAMPLES = 20_000 if FULL else 30

round_trip = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=not FULL
)

# Words that the notations themselves use, so that a text can imitate what stands around it.
_IMITATIONS = [
    "*", "/", ":", ";", ",", "'", '"', "`", "\\", "\n", "\r", "\t", "\r\n", " ", "  ", "#", " # ", ": ", "- ",
    "=", "+", "@", "{", "}", "[", "]", "|", "~", "null", "true", "---", "\ufeff", "\x85", "\u2028", "\x00", "\x7f",
    "é", "İ", "ı", "ß", "☃", "😀", "\u0301", ", host=", ", principal=", ", patternType=LITERAL)`: ", ", operation=READ",
    ", permissionType=ALLOW)", " has Allow permission for operations: Read from hosts: *",
    "Current ACLs for resource `", "\n\t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)",
    "\n\nCurrent ACLs for resource `ResourcePattern(resourceType=TOPIC, name=x, patternType=LITERAL)`:\n",
    " is Denied operation = READ from host = 1.2.3.4 on resource = Topic:LITERAL:y",
    " for request = Fetch with resourceRefCount = 1", " based on rule SuperUser", " (kafka.authorizer.logger)",
    "$HOME", "`id`", "$(id)", "!!", "%s", "&amp;", "<b>",
]  # fmt: skip

_pieces = st.one_of(
    st.sampled_from(_IMITATIONS),
    st.text(alphabet=string.ascii_letters + string.digits + "._-", min_size=1, max_size=6),
    st.characters(exclude_categories=["Cs"]),
)

texts = st.lists(_pieces, max_size=6).map("".join)
surrogates = st.characters(categories=["Cs"])
_principals = st.one_of(texts, texts.map(lambda text: f"User:{text}"))
names = texts.filter(lambda name: name == "" or name[0] >= "*")


def _without_filters_words(enum: type[Enum]) -> st.SearchStrategy:
    return st.sampled_from([word for word in enum if word.name not in ("ANY", "MATCH", "GLOB")])


def acls(
    *,
    names: st.SearchStrategy[str] = names,
    texts: st.SearchStrategy[str] = texts,
    principals: st.SearchStrategy[str] = _principals,
) -> st.SearchStrategy:
    """Return ACLs of every form, UNKNOWN words and principals without a colon among them."""
    return st.builds(
        AclBinding,
        resource_type=_without_filters_words(ResourceType),
        resource_name=names,
        pattern_type=_without_filters_words(PatternType),
        principal=principals,
        host=st.one_of(texts, st.sampled_from(["*", "10.0.0.7", "10.0.0.0/8", "0:0:0:0:0:0:0:1"])),
        operation=_without_filters_words(Operation),
        permission_type=_without_filters_words(PermissionType),
    )


LOOK_ALIKES = (
    "orders", "Orders", "ORDERS", "orders ", "orders\t", "orders\u00a0", "orders\u200b", "orders.", "0rders",
    "\xe9", "e\u0301", "\xc9", "\u212b", "\xc5", "A\u030a", "\ufb01", "fi", "\xdf", "ss", "\u1e9e", "\u0130", "i", "I",
    "\u0131", "i\u0307", "\uff41", "a", "\u0430", "\u2126", "\u03a9", "\u03c2", "\u03c3", "\xb2", "2", "1", "01", "1.0",
    "10.0.0.7", "10.0.0.07", "::1", "0:0:0:0:0:0:0:1", "true", "True", "null", "~", "\\", "\\\\", "\\u0041", "A",
)  # fmt: skip
"""Names that a careless reader, database or font takes for each other."""


def look_alikes() -> list[AclBinding]:
    """Return an ACL for each of LOOK_ALIKES, which stands in its name, principal and host."""
    return [
        AclBinding(
            ResourceType.GROUP,
            name,
            PatternType.LITERAL,
            f"User:{name}",
            name,
            Operation.READ,
            PermissionType.ALLOW,
        )
        for name in LOOK_ALIKES
    ]


def is_node_name(name: str) -> bool:
    """Whether ZooKeeper can have a node of that name."""
    try:
        path_of(ResourcePattern(ResourceType.TOPIC, name, PatternType.LITERAL))
    except ZnodeError:
        return False
    return True


def requests() -> st.SearchStrategy[AccessRequest]:
    """Return requests of every form, about names and about whole types."""
    return st.builds(
        AccessRequest,
        principal=texts,
        host=texts,
        operation=st.sampled_from([word for word in Operation if word.name not in ("ANY", "UNKNOWN")]),
        resource_type=st.sampled_from([word for word in ResourceType if word.name not in ("ANY", "UNKNOWN")]),
        resource_name=st.one_of(st.none(), names),
    )


# What stands where something else should: other types, other words, numbers and nestings without end.
_DAMAGES = [
    "", '"', "'", ",", ":", "{", "}", "[", "]", "\\", "\0", "\r", "\n", "\r\n", "\t", " ", "#", "- ", "-", "=", "(",
    "null", "true", "7", "-0.5", "1e999", "NaN", "-Infinity", "1" * 5000, "[]", "{}", '["a"]', '{"a": {"b": 1}}',
    "[" * 2_000, '{"a":' * 2_000, "[" * 2_000 + "]" * 2_000, "[" * 500 + "]" * 500, '"a": "b", ', '"host": "x", ',
    "ANY", "MATCH", "UNKNOWN", "GLOB", "READ", "read", "DescribeConfigs", "ıſ", "ﬁ", "٣", "\ufeff",
    "\\ud800", "\\u00", "\\x4", "\x85", "\u2028", "\u3000", "x" * 32_767, "---", "*", "&a", "!!", "|", ">", "`:", ")",
    "\n\t", "Current ACLs for resource `", " (kafka", "] INFO ",
]  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn, whole: st.SearchStrategy[str]) -> str:
    """Return texts as they are, and cut, stretched, mixed up or with something else in a place."""
    text = draw(whole)
    for _ in range(draw(st.integers(0, 3))):
        words = [found.span() for found in _WORDS.finditer(text)] or [(0, 0)]
        start, end = draw(st.sampled_from(words[:_PLACES]))
        junk = draw(st.sampled_from(_DAMAGES))
        match draw(st.sampled_from(["replace", "insert", "cut", "cut out", "repeat", "swap", "ends"])):
            case "replace":
                text = text[:start] + junk + text[end:]
            case "insert":
                text = text[:start] + junk + text[start:]
            case "cut":
                text = text[:end]
            case "cut out":
                text = text[:start] + text[end:]
            case "repeat":
                text = text[:end] + text[start:end] + text[end:]
            case "swap":
                lines = text.split("\n")
                lines.insert(0, lines.pop())
                text = "\n".join(lines)
            case "ends":
                text = text.replace("\n", draw(st.sampled_from(["\r\n", "\r", "\n\n", "\n \r\n"])), 2)
    return text


_WORDS = re.compile(r"\w+|\W")
_PLACES = 200
