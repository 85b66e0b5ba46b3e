"""How are classes of names, ACLs and counts said in the sentences about an edit?"""

from __future__ import annotations

from collections.abc import Sequence

from aclweb.acl.model import AclBinding, acl_text, number_of
from tests.cell_by_cell.classes import EXACT, Spot

NAMES_SHOWN = 3
"""How many names a warning spells out before it counts the rest."""


def it_or_them(spots: Sequence[Spot]) -> str:
    return "it" if len(spots) == 1 and spots[0].kind == EXACT else "them"


def first_said(bindings: Sequence[AclBinding]) -> str:
    rest = len(bindings) - NAMES_SHOWN
    shown = ". ".join(acl_text(binding) for binding in bindings[:NAMES_SHOWN])
    return f"{shown}." if rest <= 0 else f"{shown}; and {rest:,} more."


def listed(texts: Sequence[str], one: str, joined: str = ", ", many: str = "") -> str:
    rest = len(texts) - NAMES_SHOWN
    shown = joined.join(texts[:NAMES_SHOWN])
    return shown if rest <= 0 else f"{shown} and {number_of(rest, f'more {one}', many and f'more {many}')}"
