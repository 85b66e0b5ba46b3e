"""How are several ACLs or texts said in the sentences about an edit?"""

from __future__ import annotations

from collections.abc import Sequence

from aclweb.acl.model import AclBinding, acl_text, number_of

NAMES_SHOWN = 3
"""How many names a warning spells out before it counts the rest."""

ON_A_RANGE = "It depends on whether the address lies in "
"""How a sentence about an address that nobody names begins, if a range decides."""


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
