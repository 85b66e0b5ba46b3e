"""What differs from run to run and means nothing: directories, tokens, nonces, process numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping

PATTERNS = [
    (re.compile(r"(csrfmiddlewaretoken\W{1,12}(?:value\W{1,3})?)[A-Za-z0-9]{32,64}"), r"\1<csrf>"),
    (re.compile(r"('nonce-|nonce=\W?)[A-Za-z0-9+/=_-]{16,}"), r"\1<nonce>"),
    (re.compile(r'("X-CSRFToken"\W{1,6})[A-Za-z0-9]{32,64}', re.IGNORECASE), r"\1<csrf>"),
    (re.compile(r"\bPage made in [\d.,]+ m?s\b"), "Page made in <time>"),
    (re.compile(r"\bpid[ =:]+\d+\b"), "pid <pid>"),
    (re.compile(r"0x[0-9a-f]{8,}"), "<memory>"),
    (re.compile(r"facts-[a-z0-9_]{8}\b"), "facts-<directory>"),
]


class Masks:
    """Takes out of a text what `PATTERNS` say and the directories of this run."""

    def __init__(self, directories: Mapping[str, str]) -> None:
        # The longest first: one may lie in another.
        self._directories = sorted(directories.items(), key=lambda item: -len(item[0]))

    def __call__(self, text: str) -> str:
        for directory, name in self._directories:
            text = text.replace(directory, name)
        for pattern, shown in PATTERNS:
            text = pattern.sub(shown, text)
        return text
