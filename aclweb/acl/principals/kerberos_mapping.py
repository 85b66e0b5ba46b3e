"""Which name does `sasl.kerberos.principal.to.local.rules` make of a Kerberos principal?

A principal `service/host@REALM` has two components, one without a host has one. A rule is for
one of these numbers, puts the parts into a form, may ask for a pattern to match that text,
and may replace in it. The first result wins; one that still has a slash or an at sign is an
error at once. A name without host and realm is taken as it is and no rule runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from aclweb.acl.model import AclError, shown
from aclweb.acl.principals.java_regex import MOST_RESULT, CannotTell, JavaPattern, RegexError, Work
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

SETTING = "sasl.kerberos.principal.to.local.rules"

# These have the same meaning in Java and here: plain characters, sets of ASCII and no backtracking.
_COMMA = re.compile(r"[ \t\n\x0b\f\r]*,[ \t\n\x0b\f\r]*")
_NAME = re.compile(r"([^/@]*)(?:/([^/@]*))?@([^/@]*)")
_RULE = re.compile(
    r"(?P<default>DEFAULT)|RULE:\[(?P<count>[0-9]*):(?P<form>[^\]]*)\](?:\((?P<pattern>[^)]*)\))?"
    r"(?:s/(?P<old>[^/]*)/(?P<new>[^/]*)/(?P<all>g)?)?/?(?P<case>[LU])?"
)
_PARAMETER = re.compile(r"\$([0-9]*)")


@dataclass(frozen=True, slots=True)
class KerberosName:
    """A principal in its parts; None for a part that it has not."""

    service: str
    host: str | None
    realm: str | None

    @staticmethod
    def read(text: str) -> KerberosName:
        """Return the parts of a principal; raise NoName."""
        found = _NAME.fullmatch(text)
        if found is not None:
            return KerberosName(found[1], found[2], found[3])
        if "@" in text:
            raise NoName(
                f"The principal {shown(text)} is neither service@REALM nor service/host@REALM.",
                f"Malformed Kerberos name: {text}",
            )
        return KerberosName(text, None, None)

    @property
    def kafka_text(self) -> str:
        """The principal as Kafka prints it."""
        host = "" if self.host is None else f"/{self.host}"
        realm = "" if self.realm is None else f"@{self.realm}"
        return f"{self.service}{host}{realm}"

    @property
    def parameters(self) -> tuple[str, ...]:
        """What `$0`, `$1` and `$2` stand for."""
        return tuple(part for part in (self.realm, self.service, self.host) if part is not None)


@dataclass(frozen=True, slots=True)
class Substitution:
    """The part `s/old/new/` of a mapping rule, with or without `g`."""

    old: JavaPattern
    new: str
    is_everywhere: bool


@dataclass(frozen=True, slots=True)
class KerberosRule:
    """One mapping rule; `component_count` is None for DEFAULT. `case` is "L", "U" or empty."""

    text: str
    component_count: int | None
    form: str = ""
    pattern: JavaPattern | None = None
    substitution: Substitution | None = None
    case: str = ""

    @property
    def kafka_text(self) -> str:
        """The mapping rule as Kafka prints it."""
        if self.component_count is None:
            return DEFAULT
        parts = [f"RULE:[{self.component_count}:{self.form}]"]
        if self.pattern is not None:
            parts.append(f"({self.pattern.text})")
        if self.substitution is not None:
            sign = "g" if self.substitution.is_everywhere else ""
            parts.append(f"s/{self.substitution.old.text}/{self.substitution.new}/{sign}")
        if self.case:
            parts.append(f"/{self.case}")
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class KerberosRules:
    """All mapping rules of one setting, in order; without a realm DEFAULT applies to nobody."""

    rules: tuple[KerberosRule, ...]
    realm: str | None

    @staticmethod
    def read(text: str, *, realm: str | None = None) -> KerberosRules:
        """Return the mapping rules; raise InvalidRules. Empty text has none."""
        whole = trimmed(text)
        texts = _COMMA.split(whole) if whole else []
        return KerberosRules(tuple(map(_read_rule, texts)), realm)

    def map(self, name: str) -> MappedName:
        """Return what a principal maps to, with every mapping rule that was reached."""
        try:
            principal = KerberosName.read(name)
        except NoName as error:
            return unmapped(name, error, None, ())
        if principal.realm is None:
            return mapped(name, principal.service, None, ())
        tried: list[Tried] = []
        work = Work()
        for rule in self.rules:
            try:
                result, sentence = self._apply(rule, principal, work)
            except AclError as error:
                tried.append(Tried(rule.text, str(error)))
                return unmapped(name, error, rule.text, tried)
            tried.append(Tried(rule.text, sentence))
            if result is not None:
                return mapped(name, result, rule.text, tried)
        printed = ", ".join(rule.kafka_text for rule in self.rules)
        nobody = NoName(
            f"No rule applies to {shown(name)}, so that the client cannot log in.",
            f"No rules apply to {principal.kafka_text}, rules [{printed}]",
        )
        return unmapped(name, nobody, None, tried)

    def _apply(self, rule: KerberosRule, principal: KerberosName, work: Work) -> tuple[str | None, str]:
        """Return the result of one mapping rule, None where it does not apply, and what it did; raise AclError."""
        require_patience(work)
        if rule.component_count is None:
            if self.realm is None or principal.realm != self.realm:
                wanted = "no default realm is given" if self.realm is None else f"that is {shown(self.realm)}"
                return None, f"DEFAULT is for principals of the default realm only, and {wanted}."
            result = principal.service
            sentence = (
                f"DEFAULT takes the first component of a principal of the default realm: {shown(result)}."
            )
        else:
            count = len(principal.parameters) - 1
            if rule.component_count != count:
                return None, f"It is for {rule.component_count} components, and the principal has {count}."
            base = formed(rule.form, principal.parameters)
            if rule.pattern is not None and rule.pattern.matches(base, work) is None:
                return None, f"Its pattern does not match the whole of {shown(base)}."
            result = _substituted(base, rule.substitution)
            sentence = f"It makes {shown(base)} of the principal, and {shown(result)} of that."
        if "/" in result or "@" in result:
            raise NoName(
                f"The rule makes {shown(result)} of the principal, and a name may hold neither / nor @; "
                "the rules after it are not tried.",
                f"Non-simple name {result} after auth_to_local rule {rule.kafka_text}",
            )
        return {"L": lowered, "U": uppered}.get(rule.case, str)(result), sentence


def _substituted(base: str, substitution: Substitution | None) -> str:
    if substitution is None:
        return base
    if substitution.is_everywhere:
        return substitution.old.replace_all(base, substitution.new)
    return substitution.old.replace_first(base, substitution.new)


def formed(form: str, parameters: tuple[str, ...]) -> str:
    """Return the form with its parameters put in; raise NoName or CannotTell."""
    if form.count("$") * max(map(len, parameters)) > MOST_RESULT:
        raise CannotTell(
            f"The form {shown(form)} makes a text of more than {MOST_RESULT:,} characters of this principal, "
            "which is not worked out."
        )

    def parameter(found: re.Match[str]) -> str:
        digits = found[1]
        if not digits or int(digits[:11]) > GREATEST_INT or len(digits.lstrip("0")) > 10:
            raise NoName(
                f"In the form {shown(form)} a $ is not followed by the number of a component.",
                f"bad format in username mapping in {digits}",
            )
        if int(digits) >= len(parameters):
            raise NoName(
                f"The form {shown(form)} asks for component {int(digits)}; there are 0, the realm, "
                f"to {len(parameters) - 1}.",
                f"index {int(digits)} from {form} is outside of the valid range 0 to {len(parameters) - 1}",
            )
        return parameters[int(digits)]

    return _PARAMETER.sub(parameter, form)


def _read_rule(text: str) -> KerberosRule:
    found = _RULE.match(text)
    if found is None:
        raise InvalidRules(f"Invalid rule: {text}. {_what_is_right(text)}")
    if found.end() < len(text):
        raise InvalidRules(
            f"Invalid rule: `{text}`, unmatched substring: `{text[found.end() :]}`. {_what_is_right(text)}"
        )
    if found["default"]:
        return KerberosRule(text, None)
    digits = found["count"]
    if not digits or len(digits.lstrip("0")) > 10 or int(digits) > GREATEST_INT:
        raise InvalidRules(
            f"The rule {shown(text)} has no number of components that a broker can read: "
            "write RULE:[1:$1] or RULE:[2:$1]."
        )
    try:
        pattern = None if found["pattern"] is None else JavaPattern.read(found["pattern"])
        substitution = None
        if found["old"] is not None:
            substitution = Substitution(
                JavaPattern.read(found["old"]), found["new"], found["all"] is not None
            )
    except RegexError as error:
        raise rule_problem(text, error) from error
    return KerberosRule(text, int(digits), found["form"], pattern, substitution, found["case"] or "")


def _what_is_right(text: str) -> str:
    what = "A rule is DEFAULT, or RULE:[number:form](pattern)s/old/new/g with L or U at its end"
    return (
        f"{what}; commas separate mapping rules and cannot be inside one."
        if text
        else f"{what}, and not empty."
    )
