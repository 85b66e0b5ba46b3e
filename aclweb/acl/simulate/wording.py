"""How are classes of names, ACLs and counts said in the sentences about an edit?"""

from __future__ import annotations

from collections.abc import Sequence

from aclweb.acl.model import AclBinding, ResourceType, acl_text, name_text, number_of, resource_text
from aclweb.acl.simulate.axes import EXACT, PATTERN, PREFIX, NameClass

NAMES_SHOWN = 3
"""How many names a warning spells out before it counts the rest."""


def class_text(resource_type: ResourceType, names: NameClass) -> str:
    kind, text = names
    if kind == EXACT:
        return resource_text(resource_type, text)
    what = resource_type.name.lower().replace("_", " ")
    if kind == PREFIX and text:
        return f"{what}s to come that start with {name_text(text)}"
    if kind == PATTERN:
        return f"{what}s to come that match {name_text(text)}"
    return f"every other {what}"


def first_said(bindings: Sequence[AclBinding]) -> str:
    rest = len(bindings) - NAMES_SHOWN
    shown = ". ".join(acl_text(binding) for binding in bindings[:NAMES_SHOWN])
    return f"{shown}." if rest <= 0 else f"{shown}; and {rest:,} more."


def listed(
    texts: Sequence[str], one: str, joined: str = ", ", many: str = "", count: int | None = None
) -> str:
    """Return the first texts, and how many more there are. count: how many in all, if these are the first."""
    rest = (len(texts) if count is None else count) - NAMES_SHOWN
    shown = joined.join(texts[:NAMES_SHOWN])
    return shown if rest <= 0 else f"{shown} and {number_of(rest, f'more {one}', many and f'more {many}')}"
