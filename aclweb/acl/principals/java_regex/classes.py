"""Which characters does a class in square brackets take, and which a character that is written as itself?"""

from __future__ import annotations

from aclweb.acl.principals.java_regex import characters
from aclweb.acl.principals.java_regex.characters import CharacterSet
from aclweb.acl.principals.java_regex.escapes import character_escape, class_escape
from aclweb.acl.principals.java_regex.pattern_text import PatternFlag, PatternText
from aclweb.acl.principals.java_regex.problems import CannotTell


def single(text: PatternText, code_point: int) -> CharacterSet:
    if PatternFlag.IGNORES_CASE not in text.flags:
        return characters.one(code_point)
    try:
        return characters.folded(code_point, unicode_case=PatternFlag.UNICODE_CASE in text.flags)
    except CannotTell as error:
        raise text.refusal(f"the character {chr(code_point)} under `(?iu)`") from error


def read_class(text: PatternText) -> CharacterSet:
    """Read from the opening bracket to after the closing one."""
    text.at += 1
    text.require_no_space_here()
    is_negative = text.take("^")
    found = _class_items(text)
    text.at += 1
    return found.complement() if is_negative else found


def _class_items(text: PatternText) -> CharacterSet:
    """Return the union and intersections up to the closing bracket, which is not taken."""
    with text.level():
        return _union(text)


def _union(text: PatternText) -> CharacterSet:
    found: CharacterSet | None = None
    has_intersected = False
    while True:
        text.skip_space()
        if text.at >= len(text.characters):
            text.invalid("a class has no closing ]")
        if text.is_next("]") and found is not None:
            return found
        if text.is_next("&&"):
            text.at += 2
            if found is None:
                raise text.refusal("`&&` with nothing before it")
            found = found.intersection(_right_side(text))
            has_intersected = True
            continue
        if has_intersected:
            raise text.refusal("`&` after `&&`")
        item = read_class(text) if text.is_next("[") else _class_item(text)
        found = item if found is None else found.union(item)


def _right_side(text: PatternText) -> CharacterSet:
    """Return the set after &&, read up to the closing bracket or the next &."""
    right: CharacterSet | None = None
    while True:
        text.skip_space()
        if text.at >= len(text.characters):
            text.invalid("a class has no closing ]")
        if text.peek() in ("]", "&"):
            if right is None:
                raise text.refusal("`&&` with nothing after it")
            return right
        # Java reads all that follows a plain character, && too, as one side.
        item = read_class(text) if text.is_next("[") else _class_items(text)
        right = item if right is None else right.union(item)


def _class_item(text: PatternText) -> CharacterSet:
    if text.is_next("\\"):
        found = class_escape(text)
        if found is not None:
            if text.characters[text.at - 1] == "v" and text.is_next("-"):
                raise text.refusal("`\\v-` in a class")
            return found
    first = _class_character(text)
    text.require_no_space_here()
    if not text.is_next("-") or text.peek(1) in ("[", "]"):
        return single(text, first)
    text.at += 1
    text.require_no_space_here()
    if text.at >= len(text.characters):
        text.invalid("a class has no closing ]")
    if text.is_next("\\") and text.peek(1) in tuple("dDsSwWhHvVpPRXbBAGzZk"):
        text.invalid("a range ends in what is not a single character")
    last = _class_character(text)
    if last < first:
        text.invalid(f"the range from {chr(first)} to {chr(last)} runs backwards")
    if PatternFlag.IGNORES_CASE in text.flags:
        return characters.folded_span(first, last, unicode_case=PatternFlag.UNICODE_CASE in text.flags)
    return characters.span(first, last)


def _class_character(text: PatternText) -> int:
    if not text.is_next("\\"):
        text.at += 1
        return ord(text.characters[text.at - 1])
    if text.peek(1) in tuple("123456789bBAGzZRXk"):
        text.invalid(f"\\{text.peek(1)} means nothing in a class")
    return character_escape(text)
