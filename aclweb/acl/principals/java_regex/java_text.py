"""How does Java see a text: as units of UTF-16, and as the characters that begin at each."""

from __future__ import annotations

from collections.abc import Sequence

from aclweb.acl.principals.java_regex.characters import FIRST_SUPPLEMENTARY, FIRST_SURROGATE

Span = tuple[int, int]
NO_SPAN = (-1, -1)


class Text:
    """A text as Java sees it: `units` of UTF-16, the code point at each and where the next one is."""

    __slots__ = ("_text", "after", "has_pairs", "points", "units")

    def __init__(self, text: str) -> None:
        self._text: str | None = text
        self.units = list(map(ord, text))
        self.points = self.units
        self.after: Sequence[int] = range(1, len(text) + 1)
        self.has_pairs = False
        if not text.isascii() and max(self.units) >= FIRST_SURROGATE:
            self._split_pairs(text)

    def _split_pairs(self, text: str) -> None:
        self._text = None
        self.has_pairs = True
        encoded = text.encode("utf-16-le", "surrogatepass")
        self.units = memoryview(encoded).cast("H").tolist()
        points, after = list(self.units), list(range(1, len(self.units) + 1))
        for at in range(len(points) - 1):
            high, low = self.units[at], self.units[at + 1]
            if 0xD800 <= high <= 0xDBFF and 0xDC00 <= low <= 0xDFFF:
                points[at] = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
                after[at] = at + 2
        self.points, self.after = points, after

    def __len__(self) -> int:
        return len(self.units)

    def is_inside_of_pair(self, at: int) -> bool:
        """Return whether `at` is between the halves of a pair."""
        return 0 < at < len(self.units) and self.points[at - 1] >= FIRST_SUPPLEMENTARY

    def part(self, span: Span) -> str:
        """Return the text of a span, which may begin or end with half of a pair."""
        if self._text is not None:
            return self._text[span[0] : span[1]]
        return whole_characters("".join(map(chr, self.units[span[0] : span[1]])))


def whole_characters(text: str) -> str:
    """Return text in which halves that belong together are one character."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
