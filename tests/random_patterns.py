"""Seeded patterns of java.util.regex with texts they may match, and replacements for them.

A pattern is grown from the grammar together with a text that it ought to match, so that most
cases are valid and about half of them match; the text is then left so, or spoilt. The words of
`Drawn.kinds` say what a pattern has in it.

`random_loops` draws what Java runs in ways of its own: repeated groups in repeated groups, which refer back to one
another, on characters of one and of two units.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

LETTERS = "aabbcABk1_"
OTHERS = ".-,=@/ \n\ré\u0141ß\U0001f600"
CLASSES = {
    r"\d": "017", r"\D": "ab-", r"\w": "ab_1", r"\W": "-. ,", r"\s": " \n", r"\S": "ab", r"\h": " ", r"\v": "\n",
    r"\H": "ab", r"\V": "ab", r"\p{Lower}": "ab", r"\p{Upper}": "AB", r"\p{Alpha}": "aB", r"\p{Alnum}": "a1",
    r"\p{Punct}": "-.", r"\p{L}": "aéB", r"\pL": "ab", r"\p{Lu}": "ABŁ", r"\P{Lu}": "ab1", r"\p{IsL}": "aé",
    r"\p{javaLowerCase}": "abé", r"\p{IsUppercase}": "AŁ", r"\p{Nd}": "12", r"\p{XDigit}": "abA1", r"\p{Cs}": "a",
}  # fmt: skip
ESCAPES = {
    r"\t": "\t", r"\n": "\n", r"\x61": "a", r"\u0062": "b", r"\x{1F600}": "\U0001f600", r"\uD83D\uDE00": "\U0001f600",
    r"\0101": "A", r"\.": ".", r"\/": "/", r"\-": "-", r"\cA": "\x01", r"\Qa.b\E": "a.b", r"\Q-\E": "-", r"\e": "\x1b",
    r"\é": "é",
}  # fmt: skip
PLACES = ("^", "$", r"\b", r"\B", r"\A", r"\z", r"\Z", r"\G")
QUANTIFIERS = ("?", "*", "+", "{2}", "{0,1}", "{1,2}", "{0,2}", "{1,}", "{2,}", "{0}")
LOOPED = ("a", "b", ".", ".", ".", "[\U0001f600a]", "[\U0001f600ab]", "[^b]", r"\w", r"\R")
REFUSED = ("(?<=a)", "(?<!b)", r"\X", r"\N{COMMA}", "(?U)", r"\p{IsLatin}", r"\p{InGreek}", r"\b{g}")
BROKEN = (
    "(",
    ")",
    "[",
    "*",
    "+",
    "?",
    "{",
    "\\",
    "[b-a]",
    "{2",
    "(?<a",
    r"\p{",
    r"\x",
    r"\u12",
    "(?z)",
    r"\q",
    "{,2}",
)


@dataclass
class Drawn:
    """A pattern, a text and a replacement; `kinds` names what is in the pattern."""

    pattern: str = ""
    text: str = ""
    replacement: str = ""
    groups: int = 0
    names: list[str] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)


def random_pattern(rng: random.Random) -> Drawn:
    """A pattern of any shape; a few are refused or broken on purpose."""
    drawn = Drawn()
    if rng.random() < 0.08:
        flags = rng.choice(("i", "s", "m", "d", "x", "iu", "md", "is"))
        drawn.kinds.add(f"(?{flags})")
        drawn.pattern = f"(?{flags})"
    pattern, text = _choice(rng, drawn, rng.choice((1, 2, 2, 3, 3)))
    drawn.pattern += pattern
    if rng.random() < 0.02:
        _insert(rng, drawn, REFUSED, "refused on purpose")
    if rng.random() < 0.03:
        _insert(rng, drawn, BROKEN, "broken on purpose")
    drawn.text = _spoilt(rng, text)
    drawn.replacement = random_replacement(rng, drawn.groups, drawn.names)
    return drawn


def random_loops(rng: random.Random) -> Drawn:
    """A pattern of repeated groups, and a text of few characters, so that many turns are possible."""
    drawn = Drawn()
    drawn.pattern = _loops(rng, drawn, 3)
    letters = "aab\U0001f600\U0001f600" + ("\r\n\n" if rng.random() < 0.3 else "")
    drawn.text = "".join(rng.choice(letters) for _ in range(rng.randint(2, 14)))
    drawn.replacement = random_replacement(rng, drawn.groups, drawn.names)
    return drawn


def _loops(rng: random.Random, drawn: Drawn, depth: int) -> str:
    return "".join(_loop(rng, drawn, depth) for _ in range(rng.choice((1, 2, 2, 3))))


def _loop(rng: random.Random, drawn: Drawn, depth: int) -> str:
    if not depth or rng.random() < 0.55:
        part = rng.choice(LOOPED)
        if rng.random() < 0.12 and drawn.groups:
            part = f"\\{rng.randint(1, drawn.groups)}"
        often = 0.25
    else:
        opening = rng.choice(("(", "(", "(", "(?:", "(?>", "(?=", "(?!"))
        drawn.groups += opening == "("
        ways = [_loops(rng, drawn, depth - 1) for _ in range(rng.choice((1, 1, 1, 2)))]
        part = f"{opening}{'|'.join(ways)})"
        often = 0.75
    if rng.random() > often:
        return part
    return part + rng.choice((*QUANTIFIERS, "*", "*")) + rng.choice(("", "", "", "?", "+"))


def random_replacement(rng: random.Random, groups: int, names: list[str]) -> str:
    parts = []
    for _part in range(rng.choice((0, 1, 1, 2, 3))):
        kind = rng.random()
        if kind < 0.5 and groups:
            parts.append(f"${rng.randint(0, groups)}")
        elif kind < 0.6:
            parts.append(f"${rng.randint(0, 25)}")
        elif kind < 0.65 and names:
            parts.append(f"${{{rng.choice(names)}}}")
        elif kind < 0.7:
            parts.append(rng.choice((r"\$", r"\\", r"\x", "${no}", "$", "\\", "${", "$x")))
        else:
            parts.append(rng.choice(("x", "-", "1", "Ab", "\U0001f600")))
    return "".join(parts)


def _insert(rng: random.Random, drawn: Drawn, pieces: tuple[str, ...], kind: str) -> None:
    at = rng.randint(0, len(drawn.pattern))
    drawn.pattern = drawn.pattern[:at] + rng.choice(pieces) + drawn.pattern[at:]
    drawn.kinds.add(kind)


def _spoilt(rng: random.Random, text: str) -> str:
    kind = rng.random()
    letters = LETTERS + OTHERS
    if kind < 0.45:
        return text[:40]
    at = rng.randint(0, len(text))
    if kind < 0.6:
        return text[:at] + rng.choice(letters) + text[at : at + 40]
    if kind < 0.75:
        return text[:at] + text[at + 1 : at + 40]
    if kind < 0.85:
        return (text + text)[:40]
    return "".join(rng.choice(letters) for _ in range(rng.randint(0, 12)))


def _choice(rng: random.Random, drawn: Drawn, depth: int) -> tuple[str, str]:
    ways = [_sequence(rng, drawn, depth) for _ in range(rng.choice((1, 1, 1, 2, 3)) if depth else 1)]
    if len(ways) > 1:
        drawn.kinds.add("alternation")
        if rng.random() < 0.15:
            drawn.kinds.add("empty alternative")
            ways.insert(rng.randint(0, len(ways)), ("", ""))
    return "|".join(way for way, _text in ways), rng.choice(ways)[1]


def _sequence(rng: random.Random, drawn: Drawn, depth: int) -> tuple[str, str]:
    parts = [_quantified(rng, drawn, depth) for _ in range(rng.choice((1, 1, 2, 3, 4)))]
    return "".join(part for part, _text in parts), "".join(text for _part, text in parts)


def _quantified(rng: random.Random, drawn: Drawn, depth: int) -> tuple[str, str]:
    part, text = _part(rng, drawn, depth)
    if rng.random() < 0.55:
        return part, text
    quantifier = rng.choice(QUANTIFIERS)
    greed = rng.choice(("", "", "", "?", "+"))
    least = {"?": 0, "*": 0, "+": 1}.get(quantifier[0], int(quantifier[1]) if len(quantifier) > 1 else 0)
    most = (
        1
        if quantifier == "?"
        else 3
        if "," not in quantifier or quantifier.endswith(",}")
        else int(quantifier[3])
    )
    if quantifier[-1] == "}" and "," not in quantifier:
        most = least
    drawn.kinds.add({"": "greedy", "?": "lazy", "+": "possessive"}[greed])
    if part[0] == "(":
        drawn.kinds.add("quantified group")
    return part + quantifier + greed, text * rng.randint(least, max(least, most))


def _part(rng: random.Random, drawn: Drawn, depth: int) -> tuple[str, str]:
    kind = rng.random()
    if depth and kind < 0.3:
        return _group(rng, drawn, depth - 1)
    if kind < 0.55:
        letter = rng.choice(LETTERS)
        return letter, letter
    if kind < 0.65:
        drawn.kinds.add("dot")
        return ".", rng.choice(LETTERS + "=,")
    if kind < 0.75:
        drawn.kinds.add("class")
        return _class(rng, drawn, 2)
    if kind < 0.82:
        drawn.kinds.add("predefined class")
        name = rng.choice(list(CLASSES))
        return name, rng.choice(CLASSES[name])
    if kind < 0.87:
        drawn.kinds.add("escape")
        name = rng.choice(list(ESCAPES))
        return name, ESCAPES[name]
    if kind < 0.92:
        drawn.kinds.add("place")
        return rng.choice(PLACES), ""
    if kind < 0.935 and drawn.groups:
        drawn.kinds.add("reference back")
        return f"\\{rng.randint(1, drawn.groups)}", ""
    if kind < 0.94:
        drawn.kinds.add("line break")
        return r"\R", rng.choice(("\n", "\r\n", "\r"))
    letter = rng.choice(OTHERS)
    return letter if letter not in ".-" or rng.random() < 0.3 else "\\" + letter, letter


def _group(rng: random.Random, drawn: Drawn, depth: int) -> tuple[str, str]:
    kind = rng.random()
    if kind < 0.5:
        drawn.groups += 1
        drawn.kinds.add("capturing group")
        body, text = _choice(rng, drawn, depth)
        return f"({body})", text
    if kind < 0.6:
        drawn.groups += 1
        name = f"n{drawn.groups}"
        body, text = _choice(rng, drawn, depth)
        drawn.names.append(name)
        drawn.kinds.add("named group")
        return f"(?<{name}>{body})", text
    if kind < 0.63:
        flag = rng.choice(("i", "s", "-i", "m"))
        drawn.kinds.add("flag inside")
        return f"(?{flag})" if rng.random() < 0.5 else f"(?{flag}:a)", "" if rng.random() < 0.5 else "A"
    body, text = _choice(rng, drawn, depth)
    if kind < 0.85:
        drawn.kinds.add("group without capture")
        return f"(?:{body})", text
    if kind < 0.92:
        drawn.kinds.add("atomic group")
        return f"(?>{body})", text
    drawn.kinds.add("look-ahead")
    return f"(?{rng.choice('=!')}{body})", ""


def _class(rng: random.Random, drawn: Drawn, depth: int) -> tuple[str, str]:
    items, texts = [], []
    for _item in range(rng.choice((1, 2, 2, 3))):
        kind = rng.random()
        if kind < 0.45:
            letter = rng.choice(LETTERS)
            items.append(letter)
            texts.append(letter)
        elif kind < 0.65:
            first, last = rng.choice(("ac", "AZ", "09", "az", "!/", "éÿ", "\u0100\U0001ffff", "!~"))
            items.append(f"{first}-{last}")
            texts.append(first)
        elif kind < 0.75:
            name = rng.choice(list(CLASSES))
            items.append(name)
            texts += CLASSES[name]
        elif kind < 0.85 and depth:
            inside, text = _class(rng, drawn, depth - 1)
            drawn.kinds.add("class in class")
            items.append(inside)
            texts += text
        else:
            letter = rng.choice(
                (".", "-", "^", "&", ",", "=", "]", "#", " ", "\U0001f600", "é", "$", "(", r"\n", r"\]")
            )
            items.append(letter)
            texts.append(letter[-1])
    if depth and rng.random() < 0.2:
        drawn.kinds.add("intersection")
        right, _text = _class(rng, drawn, 0)
        items.append("&&" + (right if rng.random() < 0.6 else right[1:-1].removeprefix("^")))
    sign = "^" if rng.random() < 0.25 else ""
    return f"[{sign}{''.join(items)}]", "-" if sign else rng.choice(texts)
