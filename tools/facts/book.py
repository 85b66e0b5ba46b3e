"""How are facts kept? A group is a file, DIR/GROUP.json: an object of name and text, in the order of recording."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path


class Group:
    """The facts of one question."""

    def __init__(self, name: str, mask: Callable[[str], str]) -> None:
        self.name = name
        self.facts: dict[str, str] = {}
        self._mask = mask

    def note(self, name: str, text: str) -> None:
        """Keep a fact; two facts of one name would hide one another, so that is an error."""
        name = self._mask(name)
        if name in self.facts:
            raise ValueError(f"{self.name} has two facts with the name {name!r}.")
        self.facts[name] = self._mask(text)

    def note_json(self, name: str, value: object) -> None:
        """Keep a value as indented JSON in its own order of keys: the order is a part of what is printed."""
        self.note(name, json.dumps(value, indent=1, ensure_ascii=False, default=str))

    def save(self, folder: Path) -> None:
        path = folder / f"{self.name}.json"
        path.write_text(json.dumps(self.facts, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")


def read(folder: Path) -> dict[str, dict[str, str]]:
    """Return the facts of each group of a recording."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
