"""Lint rule invisible-character: a character that one cannot see."""

from __future__ import annotations

import unicodedata

from aclweb.acl.lint.claims import NoClaim
from aclweb.acl.lint.rule import WARNING, About, Broken, Example, LintRule, allow
from aclweb.acl.lint.subject import Subject


def check_name(acl: Subject) -> tuple[Broken, ...]:
    name = acl.binding.resource_name
    odd = _invisible(name)
    return () if odd is None else (Broken(acl.sentence(f"the name {name!a} {odd}.")),)


def check_principal(acl: Subject) -> tuple[Broken, ...]:
    if acl.principal_parts is None:
        return ()
    principal = acl.binding.principal
    if (odd := _invisible(principal)) is not None:
        return (Broken(acl.sentence(f"the principal {principal!a} {odd}.")),)
    if (odd := _invisible(acl.principal_parts[1])) is not None:
        return (Broken(acl.sentence(f"the name in the principal {principal!a} {odd}.")),)
    return ()


def _invisible(text: str) -> str | None:
    """Say what in a text cannot be seen, as the end of a sentence; None if all can."""
    if text != text.strip():
        return "begins or ends with a space, which counts"
    if text.isascii() and text.isprintable():
        return None
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp"):
            return f"contains the character U+{ord(character):04X}, which cannot be seen"
    if unicodedata.normalize("NFC", text) != text:
        return "has a letter and its accent apart, which looks like one letter and is another name"
    return None


RULE = LintRule(
    id="invisible-character",
    severity=WARNING,
    title="A character that one cannot see",
    claims=NoClaim("it is about what a reader sees"),
    why=(
        "Spaces at either end, control characters, characters of no width, and letters composed in two "
        "ways make two names that look alike and are different."
    ),
    instead="Type the name again.",
    bad=(
        Example(allow("User:bob", "READ", "team\u200b", kind="GROUP")),
        Example(allow("User:bob ", "READ", "orders")),
        Example(allow("User: bob", "READ", "orders")),
        Example(allow("User:jose\u0301", "READ", "orders")),
    ),
    good=(Example(allow("User:josé", "READ", "orders")),),
    alone={About.NAME: check_name, About.PRINCIPAL: check_principal},
    rank=1,
)
