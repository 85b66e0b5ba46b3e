"""How is bad input reported? One sentence for each bad line, and all of them at once.

Readers collect what is wrong in a `Problems` and raise one NotationError at the end, so
that a person mends a file in one go and nothing of a bad file is ever used.
"""

from __future__ import annotations

import json

from aclweb.acl.model.vocabulary import AclError

# Long enough to recognise a value, short enough for one line of a terminal.
SHOWN_CHARACTERS = 80


class NotationError(AclError):
    """Text that is no ACL, request or mapping rule; `messages` holds one sentence for each bad line."""

    def __init__(self, *messages: str) -> None:
        super().__init__("\n".join(messages))
        self.messages: tuple[str, ...] = messages

    def __reduce__(self) -> tuple[type[NotationError], tuple[str, ...]]:
        return type(self), self.messages


class KeyProblem(NotationError):
    """A value that is not allowed under `key`; a reader that knows the key's own line names that one."""

    def __init__(self, key: str, sentence: str) -> None:
        super().__init__(sentence)
        self.key = key

    def __reduce__(self) -> tuple[type[KeyProblem], tuple[str, ...]]:
        return type(self), (self.key, *self.messages)


class Problems:
    """What is wrong in one file, in the order of its lines."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._found: list[tuple[int, str]] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, line: int, sentence: object) -> None:
        """Note that `line` (counted from 1) is bad, and why."""
        self._found.append((line, str(sentence)))

    @property
    def messages(self) -> tuple[str, ...]:
        """One sentence for each bad line, with file and line."""
        found = sorted(self._found, key=lambda place: place[0])
        return tuple(f"{self.source}:{line}: {sentence}" for line, sentence in found)

    def raise_if_any(self) -> None:
        """Raise NotationError with every sentence; do nothing when all lines were good."""
        if self._found:
            raise NotationError(*self.messages)


def visible(text: str) -> str:
    """Return a text with an escape for each character that one cannot see, ends of lines among them."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def shown(value: object) -> str:
    """Return `value` as a person wrote it, on one line, cut when long."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, default=repr)
    if len(text) > SHOWN_CHARACTERS:
        characters = len(value) if isinstance(value, str) else len(text)
        return f"{text[: SHOWN_CHARACTERS - 20]}… ({characters:,} characters)"
    return text
