"""Which certificate subjects and Kerberos names can become one principal, by the brokers' mapping rules?

Mapping rules are turned round where that is sure: what is given are all names that one can make the principal of, and
perhaps some that an earlier one takes first. One that cannot yield the principal gives nothing; one that cannot be
turned round says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from aclweb.acl.model import AclError
from aclweb.acl.principals.distinguished_names import DistinguishedNameError, java_name
from aclweb.acl.principals.identity import DEFAULT_BUILDER, BrokerSettings
from aclweb.acl.principals.java_regex import JavaPattern, RegexError
from aclweb.acl.principals.kerberos_mapping import KerberosRule, KerberosRules
from aclweb.acl.principals.name_mapping import InvalidRules
from aclweb.acl.principals.ssl_mapping import SslRule, SslRules

_USER = "User:"
_NOT_TURNED = "This mapping rule cannot be turned round for sure; map names to see what it makes of them."
# A replacement with one group at most, and neither escapes nor names of groups.
_REPLACEMENT = re.compile(r"(?P<head>[^$\\]*)(?:\$(?P<group>[1-9])(?P<tail>(?![0-9])[^$\\]*))?")
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")
_ESCAPED = r"\\(?:[^A-Za-z0-9]|[dwsDWS])"
# Of a pattern: an escape, a set without sets in it, a bracket of a group, or any letter that means the same everywhere.
_TOKEN = re.compile(rf"{_ESCAPED}|\[\^?(?:{_ESCAPED}|[^\\\[\]&])+\]|\((?!\?)|[^\\\[\](^$]")
_COMPONENTS = {1: "{0}@{2}", 2: "{0}/{1}@{2}"}
# What cuts the form $1@$0 behind the service, which holds neither / nor @; no rule can have a / in it.
_CUTS = ("@.*", "@.*$")


class Shape(Enum):
    """How the names of a Source are written: as one name, a pattern of Java, or a form with parts in capitals."""

    NAME = "name"
    PATTERN = "pattern"
    FORM = "form"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Source:
    """The names of which one mapping rule can make a principal. names: empty where it cannot be turned round.

    condition: what must hold besides, or why nobody can tell, in a sentence; empty for nothing.
    """

    rule: str
    shape: Shape
    names: str = ""
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Sources:
    """What can become a principal. login: the name of which logins by other SASL mechanisms make it, None for none.

    certificates, kerberos: by mapping rule, in order; None where these are unknown. why_not: the reason, in a sentence.
    """

    login: str | None
    certificates: tuple[Source, ...] | None
    kerberos: tuple[Source, ...] | None
    why_not: str = ""


def sources_of(principal: str, settings: BrokerSettings) -> Sources:
    """Return what can become the principal on a broker with these settings; None in them is not known."""
    builder = settings.principal_builder
    if builder and builder != DEFAULT_BUILDER:
        return Sources(
            None,
            None,
            None,
            f"The brokers name clients with {builder}, a class of its own, so that nobody can tell.",
        )
    if not principal.startswith(_USER):
        return Sources(
            None, (), (), "Kafka's own principal builder makes only principals that begin with User:."
        )
    name = principal.removeprefix(_USER)
    try:
        of_certificates = _read_ssl(settings.ssl_rules, name)
        of_kerberos = _read_kerberos(settings.kerberos_rules, name)
    except InvalidRules as error:
        return Sources(name, None, None, f"The mapping rules cannot be read. {error}")
    why_not = (
        ""
        if None not in (of_certificates, of_kerberos)
        else "The brokers hide these mapping rules, or have different ones."
    )
    return Sources(name, of_certificates, of_kerberos, why_not)


def _read_ssl(text: str | None, name: str) -> tuple[Source, ...] | None:
    return None if text is None else tuple(_of_subjects(SslRules.read(text), name))


def _read_kerberos(text: str | None, name: str) -> tuple[Source, ...] | None:
    return None if text is None else tuple(_of_kerberos(KerberosRules.read(text).rules, name))


def _of_subjects(rules: SslRules, name: str) -> Iterator[Source]:
    for rule in rules.rules:
        if rule.pattern is None:
            # What comes after DEFAULT is never reached.
            if _is_subject(name) and rules.map(name).rule == rule.text:
                yield Source(rule.text, Shape.NAME, name)
            return
        if (found := _of_pattern(rule, rule.pattern, name)) is not None:
            yield found


def _is_subject(name: str) -> bool:
    """Whether Java writes some certificate's subject so."""
    try:
        return java_name(name).text == name
    except DistinguishedNameError:
        return False


def _of_pattern(rule: SslRule, pattern: JavaPattern, name: str) -> Source | None:
    """Return the subjects of which the mapping rule can make the name; None where there are none."""
    if _is_odd(name):
        return _unknown(rule.text, "The name has characters for which mapping rules are not turned round.")
    if not _fits_case(name, rule.case):
        return None
    replacement = _REPLACEMENT.fullmatch(rule.replacement)
    groups = _groups(pattern.text)
    if replacement is None or groups is None:
        return _unknown(rule.text, _NOT_TURNED)
    head, tail = (_cased(replacement[part] or "", rule.case) for part in ("head", "tail"))
    if replacement["group"] is None:
        return Source(rule.text, Shape.PATTERN, pattern.text) if name == head else None
    if not (name.startswith(head) and name.endswith(tail) and len(name) >= len(head) + len(tail)):
        return None
    span = groups.get(int(replacement["group"]))
    if span is None:
        return _unknown(rule.text, _NOT_TURNED)
    part = name[len(head) : len(name) - len(tail)]
    start, end = span
    try:
        if not rule.case and JavaPattern.read(pattern.text[start + 1 : end - 1]).matches(part) is None:
            return None
    except AclError:
        return _unknown(rule.text, _NOT_TURNED)
    names = (
        f"{pattern.text[:start]}{_SPECIAL.sub(lambda found: chr(92) + found[0], part)}{pattern.text[end:]}"
    )
    return Source(rule.text, Shape.PATTERN, names, _case_said(part, rule.case))


def _groups(text: str) -> dict[int, tuple[int, int]] | None:
    """Return the places of the groups of a pattern that every match has once, by number; None for other patterns.

    The pattern must be anchored at both ends, so that it is replaced as a whole, and hold nothing whose meaning hangs
    on its place: no look-ahead, back reference, flag or choice outside of groups.
    """
    if not (text.startswith("^") and text.endswith("$")) or len(text) < 2:
        return None
    found: dict[int, tuple[int, int]] = {}
    opened: list[tuple[int, int]] = []
    number, place, last = 0, 1, len(text) - 1
    while place < last:
        token = _TOKEN.match(text, place, last)
        if token is None:
            return None
        if token[0] == "(":
            number += 1
            opened.append((number, place))
        elif token[0] == ")" and opened:
            which, start = opened.pop()
            if not opened and text[place + 1] not in "*+?{":
                found[which] = (start, place + 1)
        elif token[0] == ")" or (token[0] == "|" and not opened):
            return None
        place = token.end()
    return found if not opened else None


def _of_kerberos(rules: Sequence[KerberosRule], name: str) -> Iterator[Source]:
    if not name or "/" in name or "@" in name:
        return
    for rule in rules:
        if rule.component_count is None:
            realm = "REALM is the default realm of the brokers' krb5.conf."
            for form in _COMPONENTS.values():
                yield Source(rule.text, Shape.FORM, form.format(name, "HOST", "REALM"), realm)
        elif (found := _of_form(rule, name)) is not None:
            yield found


def _of_form(rule: KerberosRule, name: str) -> Source | None:
    """Return the Kerberos names of which the mapping rule can make the name; None where there are none."""
    if _is_odd(name):
        return _unknown(rule.text, "The name has characters for which mapping rules are not turned round.")
    if not _fits_case(name, rule.case):
        return None
    form = _COMPONENTS.get(rule.component_count or 0)
    parts = ["NAME", "HOST", "REALM"]
    if form is None:
        return _unknown(rule.text, _NOT_TURNED)
    said = _case_said(name, rule.case)
    if rule.substitution is None:
        if "/" in rule.form or "@" in rule.form:
            return None  # such a name is an error
        place = {"$1": 0, "$2": 1, "$0": 2}.get(rule.form)
        if place is None or (place == 1 and rule.component_count == 1):
            return _unknown(rule.text, _NOT_TURNED)
        if rule.pattern is not None and not rule.case and not _matches(rule.pattern, name):
            return None
        parts[place] = name
        return Source(rule.text, Shape.FORM, form.format(*parts), said)
    if (rule.form, rule.substitution.new) != ("$1@$0", "") or rule.substitution.old.text not in _CUTS:
        return _unknown(rule.text, _NOT_TURNED)
    parts[0] = name
    matching = f"{name}@REALM must match {rule.pattern.text}." if rule.pattern is not None else ""
    return Source(rule.text, Shape.FORM, form.format(*parts), " ".join(filter(None, (matching, said))))


def _matches(pattern: JavaPattern, text: str) -> bool:
    """Whether it may match the text: so too where that is too much to work out."""
    try:
        return pattern.matches(text) is not None
    except RegexError:
        return True


def _is_odd(name: str) -> bool:
    return not (name.isascii() and name.isprintable())


def _cased(text: str, case: str) -> str:
    return {"L": text.lower(), "U": text.upper()}.get(case, text)


def _fits_case(name: str, case: str) -> bool:
    return _cased(name, case) == name


def _case_said(part: str, case: str) -> str:
    return f"{part} may be in any letter case." if case and part.lower() != part.upper() else ""


def _unknown(rule: str, why: str) -> Source:
    return Source(rule, Shape.UNKNOWN, condition=why)
