"""Which name does `ssl.principal.mapping.rules` make of a certificate's subject?

The first rule that yields a name wins. A rule's pattern must match the whole subject; then
every match of the pattern is replaced, so that one without anchors may also replace the empty
match at the end. Kafka splits the setting with regular expressions of its own and takes the
shortest rule that a comma or the end follows; the same expressions are used here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from aclweb.acl.model import AclError, shown
from aclweb.acl.principals.java_regex import NO_SPAN, JavaPattern, RegexError, Text, Work
from aclweb.acl.principals.name_mapping import (
    DEFAULT,
    GREATEST_INT,
    InvalidRules,
    MappedName,
    NoName,
    Tried,
    lowered,
    mapped,
    require_patience,
    rule_problem,
    trimmed,
    unmapped,
    uppered,
)

SETTING = "ssl.principal.mapping.rules"

_TEXT_OF_RULE = r"(?:\\.|[^\\/])*"
_RULE = rf"(DEFAULT)|RULE:({_TEXT_OF_RULE})/({_TEXT_OF_RULE})/([LU]?).*?|.*?"
_WHOLE, _IS_DEFAULT, _PATTERN, _REPLACEMENT, _CASE = range(1, 6)
_REFERENCE = re.compile(r"\$([0-9]+)")


@dataclass(frozen=True, slots=True)
class SslRule:
    """One mapping rule; `pattern` is None for DEFAULT. `case` is "L", "U" or empty."""

    text: str
    pattern: JavaPattern | None
    replacement: str
    case: str

    def apply(self, name: str, work: Work) -> str | None:
        """Return the name that the mapping rule yields, None where it does not match; raise AclError."""
        require_patience(work)
        if self.pattern is None:
            return name
        if self.pattern.matches(name, work) is None:
            return None
        found = self.pattern.replace_all(name, with_literals(self.replacement, self.pattern.group_count))
        return {"L": lowered, "U": uppered}.get(self.case, str)(found)

    @property
    def kafka_text(self) -> str:
        """The mapping rule as Kafka prints it."""
        if self.pattern is None:
            return DEFAULT
        return f"RULE:{self.pattern.text}/{self.replacement}{'/' if self.case else ''}{self.case}"


@dataclass(frozen=True, slots=True)
class SslRules:
    """All mapping rules of one setting, in order."""

    rules: tuple[SslRule, ...]

    @staticmethod
    def read(text: str) -> SslRules:
        """Return the mapping rules; raise InvalidRules. Empty text has none, so no name gets an answer."""
        try:
            texts = _split(trimmed(text))
        except RegexError as error:
            raise InvalidRules(f"{SETTING} is too long or winding to be split into rules. {error}") from error
        return SslRules(tuple(rule for text in texts if (rule := _read_rule(text)) is not None))

    def map(self, name: str) -> MappedName:
        """Return what a subject maps to, with every mapping rule that was reached."""
        tried: list[Tried] = []
        work = Work()
        for rule in self.rules:
            try:
                result = rule.apply(name, work)
            except AclError as error:
                tried.append(Tried(rule.text, str(error)))
                return unmapped(name, error, rule.text, tried)
            if result is not None:
                tried.append(Tried(rule.text, _said_of_hit(rule, result)))
                return mapped(name, result, rule.text, tried)
            tried.append(Tried(rule.text, "Its pattern does not match the whole name."))
        printed = ", ".join(rule.kafka_text for rule in self.rules)
        return unmapped(
            name,
            NoName(
                f"No rule matches the whole name {shown(name)}, so that the client cannot log in.",
                f"No rules apply to {name}, rules [{printed}]",
            ),
            None,
            tried,
        )


def _said_of_hit(rule: SslRule, result: str) -> str:
    if rule.pattern is None:
        return "DEFAULT keeps the name as it is."
    case = {"L": " in small letters", "U": " in capital letters"}.get(rule.case, "")
    return f"Its pattern matches the whole name, which becomes {shown(result)}{case}."


def _split(text: str) -> list[str]:
    splitter = JavaPattern.read(rf"\s*({_RULE})\s*(?:,\s*|$)")
    subject = Text(text)
    return [subject.part(spans[_WHOLE]) for spans in splitter.find_all(text)]


def _read_rule(text: str) -> SslRule | None:
    """Return what one mapping rule says; None for an empty one."""
    spans = JavaPattern.read(rf"\A({_RULE})").find(text)
    assert spans is not None, "the last alternative matches nothing at all"
    subject = Text(text)
    rest = subject.part((spans[_WHOLE][1], len(subject)))
    if rest:
        raise InvalidRules(
            f"Invalid rule: `{text}`, unmatched substring: `{rest}`. "
            "A rule is DEFAULT, or RULE:pattern/replacement/ with nothing, L or U behind the last slash."
        )
    if spans[_IS_DEFAULT] != NO_SPAN:
        return SslRule(text, None, "", "")
    if spans[_PATTERN] == NO_SPAN:
        return None
    try:
        pattern = JavaPattern.read(subject.part(spans[_PATTERN]))
    except RegexError as error:
        raise rule_problem(text, error) from error
    return SslRule(text, pattern, subject.part(spans[_REPLACEMENT]), subject.part(spans[_CASE]))


def with_literals(replacement: str, group_count: int) -> str:
    """Return a replacement in which references to groups that do not exist are text, as Kafka makes it.

    The places are those of the text as it was, and so are one off after each such reference.
    """
    if group_count == 0:
        return replacement
    text = replacement
    for reference in _REFERENCE.finditer(replacement):
        digits = reference[1]
        if digits.startswith("0"):
            continue
        if int(digits) > GREATEST_INT:
            raise NoName(
                f"The replacement {shown(replacement)} asks for group {shown(digits)}, "
                "a number too large for the broker."
            )
        number = int(digits)
        while number > group_count and number >= 10:
            number //= 10
        if number > group_count:
            at = reference.start()
            text = f"{text[:at]}\\{text[at:]}"
    return text
