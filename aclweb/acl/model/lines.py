"""Which lines does a text have? Only LF ends one, and a big text is not copied.

`str.splitlines` would also part names at U+2028, U+0085 and other characters that Kafka
takes for letters.
"""

from __future__ import annotations

from collections.abc import Iterator


def lines_of(text: str) -> Iterator[str]:
    """Return the lines one after the other, without their LF."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        if end < 0:
            end = len(text)
        yield text[start:end]
        start = end + 1
