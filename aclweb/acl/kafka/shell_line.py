"""Which words does a POSIX shell make of this line, and which of them are a tool's arguments?

Quotes, backslashes, lines that go on after a backslash, and comments are read as `sh` reads
them. What a shell would look up in its own surroundings (variables, file names, a home
directory) is kept as it is written and remarked on. What would run something else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from aclweb.acl.model import AclError, shown

# What ends a word without quotes around it; the first kind means something to a shell.
_OPERATORS = frozenset(";&|<>()")
_BLANKS = frozenset(" \t")
_PROMPT = re.compile(r"\A\s*[$>]\s+")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_VARIABLE = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[^}'\"`$\n]*\}|[0-9@*#?$!-])")
# The one substitution that is worked out: how `spelled` writes a text with characters that do not show.
_PRINTF = re.compile(r"\$\(printf '((?:[^'\\%]|%%|\\n|\\\\|\\[0-3][0-7]{2})*)'\)")
_PRINTF_ESCAPE = re.compile(rb"%%|\\(?:n|\\|[0-3][0-7]{2})")
# What must not stand as it is between these quotes, or would mean something at the start or to history.
_PRINTF_SPELLING = str.maketrans(
    {"\\": "\\\\", "%": "%%", "\n": "\\n", "'": "\\047", "!": "\\041", "-": "\\055"}
)
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class ShellLine:
    """The words after the tool's name, and sentences about what a shell would put in their place."""

    words: tuple[str, ...]
    remarks: tuple[str, ...]


@dataclass(slots=True)
class _Word:
    """The part of a word that was read; `is_there` is true for an empty word in quotes too."""

    pieces: list[str] = field(default_factory=list)
    is_there: bool = False
    # What a shell looks up, by what it is.
    looked_up: dict[str, None] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def read_shell_line(text: str, tools: Collection[str]) -> ShellLine:
    """Return the arguments in a shell line that calls one of `tools`, or that holds its arguments alone.

    The tool may be given by a path, and behind other words such as `docker exec broker`. Raises
    AclError for what a shell would not read as one command, or not as a command of the tool.
    """
    words = _read_words(_PROMPT.sub("", text, count=1))
    remarks = tuple(remark for word in words for remark in _remarks(word))
    plain = [word.text for word in words]
    while plain and _ASSIGNMENT.match(plain[0]):
        del plain[0]
    place = next((place for place, word in enumerate(plain) if _base_name(word) in tools), None)
    if plain and plain[0].startswith("-"):
        return ShellLine(tuple(plain), remarks)
    if place is None:
        what = f"{shown(plain[0])} is not {min(tools)}" if plain else "The line is empty"
        raise AclError(
            f"{what}; begin the line with {min(tools)}, a path to it, or the first of its options."
        )
    return ShellLine(tuple(plain[place + 1 :]), remarks)


def hidden_in(text: str) -> tuple[str, ...]:
    """Return the characters of `text` that do not show, or change how others show, once each."""
    if text.isprintable():
        return ()
    return tuple(dict.fromkeys(letter for letter in text if not letter.isprintable()))


def spelled(text: str) -> str:
    r"""Return `text` as a POSIX shell takes it, always on one line and with nothing in it that does not show.

    A line break becomes `\n`, another character that does not show its UTF-8 bytes: `$'\u202e'`
    would be shorter, but dash does not know it, and bash in the C locale leaves it as it is.
    Raises AclError for a text that ends in a line break, which a shell cannot be given on one
    line, and for a lone surrogate, which has no bytes.
    """
    if hidden := hidden_in(text):
        if text.endswith("\n"):
            raise AclError(
                f"{shown(text)} ends in a line break, which cannot be written in a line of a shell."
            )
        escapes = {ord(letter): bytes_of(letter) for letter in hidden if letter != "\n"}
        return f"\"$(printf '{text.translate(_PRINTF_SPELLING | escapes)}')\""
    if _PLAIN.fullmatch(text):
        return text
    return "'" + text.replace("'", "'\"'\"'") + "'"


def bytes_of(letter: str) -> str:
    r"""Return the UTF-8 bytes of a character as printf reads them: `\342\200\256`."""
    try:
        return "".join(f"\\{byte:03o}" for byte in letter.encode())
    except UnicodeEncodeError as error:
        raise AclError(f"{shown(letter)} is half a character, which no command line can hold.") from error


def _read_words(text: str) -> list[_Word]:
    words: list[_Word] = []
    word = _Word()
    place = 0
    while place < len(text):
        character = text[place]
        if character in _BLANKS or character == "\n":
            words += [word] if word.is_there else []
            word = _Word()
            place += 1
            if character == "\n" and words:
                _require_no_more(text[place:])
                break
        elif character == "#" and not word.is_there:
            end = text.find("\n", place)
            place = len(text) if end < 0 else end
        elif character in _OPERATORS:
            raise AclError(
                f"{shown(text[place:])} begins with {character!r}, which means something else to a shell; "
                "quote it if it belongs to a name, or give one command alone."
            )
        else:
            place = _read_piece(text, place, word)
    return words + ([word] if word.is_there else [])


def _require_no_more(rest: str) -> None:
    """Raise AclError unless what follows the command is blank or a comment."""
    lines = (line.strip() for line in rest.split("\n"))
    another = next((line for line in lines if line and not line.startswith("#")), None)
    if another is not None:
        raise AclError(
            f"{shown(another)} is on a line of its own, so it is another command; "
            "end a line that continues with a backslash, and give one command at a time."
        )


def _read_piece(text: str, place: int, word: _Word) -> int:
    """Add the piece at `place` to `word`, and return where the next piece begins."""
    character = text[place]
    if text.startswith("\\\n", place):
        return place + 2
    if text.startswith("\\\r\n", place):
        return place + 3
    is_first = not word.is_there
    word.is_there = True
    if character == "\\":
        if place + 1 == len(text):
            raise AclError("The line ends in a backslash, so it continues; give the next line too.")
        word.pieces.append(text[place + 1])
        return place + 2
    if character == "'":
        end = text.find("'", place + 1)
        if end < 0:
            raise AclError(f"The quote before {shown(text[place + 1 :])} is not closed.")
        word.pieces.append(text[place + 1 : end])
        return end + 1
    if character == '"':
        return _read_double_quotes(text, place + 1, word)
    if character in "$`":
        if text.startswith(("$'", '$"'), place):
            raise AclError(
                f"{shown(text[place:])} begins with {text[place : place + 2]}, which not every shell reads alike; "
                "use plain quotes."
            )
        return _read_expansion(text, place, word)
    if character in "*?[":
        word.looked_up["file name"] = None
    if character == "~" and is_first:
        word.looked_up["home directory"] = None
    word.pieces.append(character)
    return place + 1


def _read_double_quotes(text: str, start: int, word: _Word) -> int:
    place = start
    while place < len(text):
        character = text[place]
        if character == '"':
            return place + 1
        if character == "\\" and text[place + 1 : place + 2] == "\n":
            place += 2
        elif character == "\\" and text[place + 1 : place + 2] in ("$", "`", '"', "\\"):
            word.pieces.append(text[place + 1])
            place += 2
        elif character in "$`":
            place = _read_expansion(text, place, word)
        else:
            word.pieces.append(character)
            place += 1
    raise AclError(f"The quote before {shown(text[start:])} is not closed.")


def _read_expansion(text: str, place: int, word: _Word) -> int:
    printed = _PRINTF.match(text, place)
    if printed:
        try:
            text = _PRINTF_ESCAPE.sub(_printed, printed[1].encode("utf-8", "surrogatepass")).decode()
        except UnicodeDecodeError as error:
            raise AclError(f"The bytes that {shown(printed[0])} writes are not UTF-8.") from error
        word.pieces.append(text.rstrip("\n"))
        return printed.end()
    variable = _VARIABLE.match(text, place)
    if variable:
        word.looked_up[variable[0]] = None
        word.pieces.append(variable[0])
        return variable.end()
    if text[place] == "`" or text[place + 1 : place + 2] in ("(", "{"):
        raise AclError(
            f"{shown(text[place:])} makes a shell run or work out something; put its result there instead, "
            "or single quotes around it."
        )
    word.pieces.append("$")
    return place + 1


def _printed(escape: re.Match[bytes]) -> bytes:
    """Return what printf makes of one escape in its format."""
    code = escape[0][1:]
    return bytes([int(code, 8)]) if code.isdigit() else {b"n": b"\n"}.get(code, code)


def _remarks(word: _Word) -> list[str]:
    remarks = []
    for what in word.looked_up:
        if what == "file name":
            remarks.append(
                f"Without quotes, a shell replaces {shown(word.text)} by the names of the files that fit it."
            )
        elif what == "home directory":
            remarks.append(
                f"Without quotes, a shell replaces the ~ of {shown(word.text)} by a home directory."
            )
        else:
            remarks.append(
                f"A shell replaces {what} in {shown(word.text)}; it is read here as it is written."
            )
    return remarks


def _base_name(word: str) -> str:
    return re.split(r"[/\\]", word)[-1]
