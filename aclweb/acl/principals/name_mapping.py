"""What does one name map to, and by which mapping rule?

The values and the small parts that the rules for certificates and for Kerberos share. Java's
letter case is among them: as String.toLowerCase and toUpperCase with Locale.ENGLISH do it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aclweb.acl.model import AclError, shown
from aclweb.acl.principals.java_regex import MOST_STEPS, CannotTell, RefusedPattern, RegexError, Work
from aclweb.acl.principals.java_regex.characters import require_settled

DEFAULT = "DEFAULT"
GREATEST_INT = 2**31 - 1
# Of all rules for one name; hundreds of ordinary rules take a fraction of it.
MOST_WORK = MOST_STEPS
_CAPITAL_SIGMA = "\u03a3"


class InvalidRules(AclError):
    """Mapping rules with which a broker would not start; the message is a sentence."""


class RefusedRules(InvalidRules):
    """Mapping rules that a broker takes and that are not evaluated here, because of `construct`."""

    def __init__(self, construct: str, sentence: str) -> None:
        super().__init__(sentence)
        self.construct = construct


class NoName(AclError):
    """A name that gets no answer: `kafka` is what a broker would say, None where it has no words of its own."""

    def __init__(self, sentence: str, kafka: str | None = None) -> None:
        super().__init__(sentence)
        self.kafka = kafka


@dataclass(frozen=True, slots=True)
class Tried:
    """One mapping rule that was reached; `sentence` says what it did with the name."""

    rule: str
    sentence: str


@dataclass(frozen=True, slots=True)
class MappedName:
    """What one name maps to: `name` and the `rule` that gave it, or the `error`.

    `rule` is given with an error too where one rule is to blame. `kafka_error` is the broker's
    own wording, where it has one. `tried` has every rule that was reached, in order.
    """

    input: str
    name: str | None
    rule: str | None
    error: str | None
    kafka_error: str | None
    tried: tuple[Tried, ...]
    # Whether a broker may well have a name where there is none here.
    is_uncertain: bool = False

    @property
    def whole_error(self) -> str | None:
        """The broker's words, if any, and then ours."""
        if self.kafka_error is None or self.error is None:
            return self.error
        return f"{self.kafka_error}. {self.error}"

    def as_dict(self) -> dict[str, str | None]:
        """Return the promised JSON."""
        return {"input": self.input, "name": self.name, "rule": self.rule, "error": self.whole_error}


def require_patience(work: Work) -> None:
    """Raise CannotTell where the mapping rules so far took too much work for another one to be tried."""
    if work.steps > MOST_WORK:
        raise CannotTell(
            "The rules before this one have so many ways to match that this one was not tried; "
            "a broker may take very long too."
        )


def mapped(given: str, name: str, rule: str | None, tried: Sequence[Tried]) -> MappedName:
    """Return the value for a name that has an answer."""
    return MappedName(given, name, rule, None, None, tuple(tried))


def unmapped(given: str, error: AclError, rule: str | None, tried: Sequence[Tried]) -> MappedName:
    """Return the value for a name that has none."""
    kafka = error.kafka if isinstance(error, NoName) else None
    return MappedName(given, None, rule, str(error), kafka, tuple(tried), isinstance(error, CannotTell))


def rule_problem(rule: str, error: RegexError) -> InvalidRules:
    """Return the error for a mapping rule whose pattern cannot be used."""
    sentence = f"The rule {shown(rule)} cannot be used. {error}"
    if isinstance(error, RefusedPattern):
        return RefusedRules(error.construct, sentence)
    return InvalidRules(sentence)


def trimmed(text: str) -> str:
    """Return what Java's trim leaves."""
    return text.strip("".join(map(chr, range(0x21))))


def lowered(text: str) -> str:
    """Return the text in small letters; raise CannotTell where versions of Java differ."""
    _require_settled(text)
    if _CAPITAL_SIGMA in text and not all(character.isalpha() for character in text):
        raise CannotTell(
            "Whether a capital sigma ends a word decides its small letter, and where words end "
            "depends on the broker's version of Java."
        )
    return text.lower()


def uppered(text: str) -> str:
    """Return the text in capital letters; raise CannotTell where versions of Java differ."""
    _require_settled(text)
    return text.upper()


def _require_settled(text: str) -> None:
    if not text.isascii():
        for character in text:
            if not 0xD800 <= ord(character) <= 0xDFFF:
                require_settled(ord(character))
