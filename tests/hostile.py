"""Texts and ACLs that break careless readers, for Hypothesis.

No name starts with a character that sorts before `*`.
"""

from __future__ import annotations

import os
import string

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from aclweb.acl.model import AclBinding, Operation, PatternType, PermissionType, ResourceType

FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
EXAMPLES = 2_000 if FULL else 200

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
names = texts.filter(lambda name: name == "" or name[0] >= "*")


def _without_filters_words(enum: type) -> st.SearchStrategy:
    return st.sampled_from([word for word in enum if word.name not in ("ANY", "MATCH", "GLOB")])


def acls(
    *, names: st.SearchStrategy[str] = names, texts: st.SearchStrategy[str] = texts
) -> st.SearchStrategy:
    """Return ACLs of every form, UNKNOWN words and principals without a colon among them."""
    return st.builds(
        AclBinding,
        resource_type=_without_filters_words(ResourceType),
        resource_name=names,
        pattern_type=_without_filters_words(PatternType),
        principal=st.one_of(texts, texts.map(lambda text: f"User:{text}")),
        host=st.one_of(texts, st.sampled_from(["*", "10.0.0.7", "10.0.0.0/8", "0:0:0:0:0:0:0:1"])),
        operation=_without_filters_words(Operation),
        permission_type=_without_filters_words(PermissionType),
    )
