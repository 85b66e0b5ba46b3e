"""Seeded rules that map names, with names that they may map.

Rules are grown from a name: a part of it stays as it is, another becomes a group, so that most
rules are legal and about half of them hit. Some patterns come from tests/random_patterns.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from tests.random_patterns import random_pattern, random_replacement

PEOPLE = (
    "Duke",
    "kafka-user",
    "bob",
    "a b",
    "Łukasz",
    "ß",
    "x1",
    "JSMITH",
    "\U0001f600",
    "a.b",
    "ΣΑΣ",
    "\\, Inc",
    "",
)
KEYS = ("CN", "OU", "O", "L", "ST", "C", "DC", "UID", "1.2.840.113549.1.9.1")
REALMS = ("R", "EXAMPLE.COM", "r", "")
WILD = (
    "(.*?)",
    "(.*)",
    "([^,]*)",
    "([^,]+)",
    ".*",
    "(\\w+)",
    "[a-zA-Z0-9.-]*",
    "(?<who>[^,]*)",
    "(?:.*)",
    "([A-Z]+)?",
    "\\S*",
)


WILD_WITHOUT_GROUPS = (".*", ".+", "[a-zA-Z0-9.-]*", "[^@]*", "\\S*", "\\w+", ".*?", ".{1,9}")


@dataclass(frozen=True)
class MappingCase:
    """One question: `kind` is ssl or kerberos; `about` names what is in it."""

    kind: str
    rules: str
    names: tuple[str, ...]
    realm: str = ""
    about: frozenset[str] = frozenset()


def random_case(rng: random.Random, *, names: int = 1) -> MappingCase:
    return (random_ssl_case if rng.random() < 0.55 else random_kerberos_case)(rng, names)


def random_ssl_case(rng: random.Random, names: int) -> MappingCase:
    about: set[str] = set()
    subjects = _alike(rng, [random_subject(rng) for _ in range(names)])
    rules = [_ssl_rule(rng, rng.choice(subjects), about) for _ in range(rng.choice((1, 1, 2, 3)))]
    text = rng.choice((",", ", ", " , ")).join(rules)
    if rng.random() < 0.04:
        about.add("broken")
        text = _broken(rng, text)
    return MappingCase("ssl", text, subjects, "", frozenset(about))


def _alike(rng: random.Random, names: list[str]) -> tuple[str, ...]:
    """Some of the names as another one with a letter more or less, so that rules hit several."""
    for at in range(1, len(names)):
        if rng.random() < 0.5:
            place = rng.randint(0, len(names[0]))
            names[at] = (
                names[0][:place] + rng.choice(("", "x", "B", "-")) + names[0][place + rng.randint(0, 1) :]
            )
    return tuple(names)


def random_subject(rng: random.Random) -> str:
    if rng.random() < 0.1:
        return random_pattern(rng).text
    keys = ["CN", *rng.sample(KEYS, rng.randint(0, 3))]
    return ",".join(f"{key}={rng.choice(PEOPLE)}" for key in keys)


def _ssl_rule(rng: random.Random, name: str, about: set[str]) -> str:
    kind = rng.random()
    if kind < 0.12:
        about.add("DEFAULT")
        return "DEFAULT"
    if kind < 0.15:
        about.add("empty rule")
        return ""
    pattern, replacement = _pattern(rng, name, about, spoilt=0.35)
    flag = rng.choice(("", "", "L", "U"))
    if flag:
        about.add(flag)
    return f"RULE:{_slashed(pattern)}/{_slashed(replacement)}/{flag}"


def _pattern(
    rng: random.Random, name: str, about: set[str], *, spoilt: float, never: str = ""
) -> tuple[str, str]:
    """A pattern for a name without the letters `never`, and a replacement with references to its groups."""
    drawn = random_pattern(rng)
    if rng.random() < 0.3 and not set(never) & set(drawn.pattern + drawn.replacement):
        about.add("any pattern")
        return drawn.pattern, drawn.replacement
    about.add("pattern grown from a name")
    pieces = _pieces(rng, name, WILD_WITHOUT_GROUPS if ")" in never else WILD)
    if rng.random() < spoilt:
        pieces.insert(rng.randint(0, len(pieces)), rng.choice(("x", ",", "^", "$", "\\.", "(?i)")))
    pattern = "".join(pieces)
    if rng.random() < 0.3:
        pattern = f"^{pattern}$"
    pattern = "".join(letter for letter in pattern if letter not in never)
    groups = pattern.count("(") - pattern.count("(?:") - pattern.count("(?i)") - pattern.count("\\(")
    names = ["who"] if pattern.count("(?<who>") == 1 else []
    replacement = random_replacement(rng, max(groups, 0), names)
    return pattern, "".join(letter for letter in replacement if letter not in never)


def _pieces(rng: random.Random, name: str, wild: tuple[str, ...]) -> list[str]:
    cuts = sorted({0, len(name), *(rng.randint(0, len(name)) for _ in range(rng.choice((1, 2, 2, 3))))})
    pieces = []
    for first, last in pairwise(cuts):
        part = name[first:last]
        pieces.append(rng.choice(wild) if rng.random() < 0.55 else _escaped(rng, part))
    return pieces


def _escaped(rng: random.Random, text: str) -> str:
    if rng.random() < 0.2:
        return f"\\Q{text}\\E"
    return "".join(f"\\{letter}" if letter in "\\.+*?()[]{}^$|/" else letter for letter in text)


def _slashed(text: str) -> str:
    """Return text in which no slash ends a part of a rule and no backslash is left over."""
    written, at = [], 0
    while at < len(text):
        if text[at] == "\\":
            written.append(text[at : at + 2] if at + 1 < len(text) else "\\\\")
            at += 2
            continue
        written.append("\\/" if text[at] == "/" else text[at])
        at += 1
    return "".join(written)


def _broken(rng: random.Random, text: str) -> str:
    at = rng.randint(0, len(text))
    changes: tuple[Callable[[], str], ...] = (
        lambda: text[:at] + rng.choice(("/", "\\", ",", "L", "x", "/L", "\n")) + text[at:],
        lambda: text[:at] + text[at + 1 :],
        text.lower,
        lambda: text[:at],
    )
    return rng.choice(changes)()


def random_kerberos_case(rng: random.Random, names: int) -> MappingCase:
    about: set[str] = set()
    principals = _alike(rng, [random_principal(rng) for _ in range(names)])
    rules = [_kerberos_rule(rng, rng.choice(principals), about) for _ in range(rng.choice((1, 1, 2, 3)))]
    text = rng.choice((",", ", ", " , ")).join(rules)
    if rng.random() < 0.05:
        about.add("broken")
        text = _broken(rng, text)
    return MappingCase("kerberos", text, principals, rng.choice(REALMS), frozenset(about))


def random_principal(rng: random.Random) -> str:
    def part() -> str:
        return rng.choice(("kafka", "bob", "App.service-name", "A", "Łu", "a b", "x1", "aXa", ""))

    kind = rng.random()
    if kind < 0.4:
        return f"{part()}@{rng.choice(REALMS)}"
    if kind < 0.8:
        return f"{part()}/{part()}@{rng.choice(REALMS)}"
    if kind < 0.9:
        return rng.choice((part(), f"{part()}/{part()}", "a/b/c@R", "a@b@c", "/@", "a@b/c"))
    return "".join(rng.choice("ab/@.$ ") for _ in range(rng.randint(0, 8)))


def _kerberos_rule(rng: random.Random, name: str, about: set[str]) -> str:
    if rng.random() < 0.15:
        about.add("DEFAULT")
        return "DEFAULT"
    count = rng.choice((1, 2, 2 if "/" in name else 1, 2 if "/" in name else 1, rng.choice((0, 3, 1))))
    form = rng.choice(
        ("$1", "$1@$0", "$1.$2", "$2", "$1;$2", "$0", "x$1y", "$", "$3", "$1$", "", "$01", "$1/$2")
    )
    if count == 1 and rng.random() < 0.8:
        form = form.replace("$2", "$0")
    service, _sign, rest = name.partition("@")
    base = (
        form.replace("$1", service.partition("/")[0])
        .replace("$0", rest)
        .replace("$2", service.partition("/")[2])
    )
    rule = f"RULE:[{count}:{form}]"
    if rng.random() < 0.5:
        about.add("pattern")
        rule += f"({_pattern(rng, base, about, spoilt=0.2, never=',)')[0]})"
    if rng.random() < 0.5:
        about.add("substitution")
        old, new = _pattern(rng, base[: rng.randint(0, len(base))], about, spoilt=0.2, never=",/")
        rule += f"s/{old}/{new}/{rng.choice(('', 'g'))}"
    return rule + rng.choice(("", "", "", "L", "U", "/L", "/U"))
