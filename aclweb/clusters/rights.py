"""Does a login have one right, and which command would grant it? The lines of `cluster check`."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Answer(enum.StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Right:
    """One line of a check; `command` would grant what is missing."""

    name: str
    answer: Answer
    sentence: str
    command: str = ""
    is_needed: bool = False

    def as_dict(self) -> dict[str, object]:
        return {
            "right": self.name,
            "answer": self.answer.value,
            "sentence": self.sentence,
            "command": self.command or None,
            "needed": self.is_needed,
        }
