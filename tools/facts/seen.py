"""What does a person have of a page? Its words, and all that can be followed, filled in and pressed.

One line for each block of text. What can be used stands in angle brackets where it stands on the page:

    Which ACLs affect <a /c/prod/topics/orders>orders</a>?
    <form post /c/prod/declare/>
    <input checkbox name=all value=1 checked>

Classes, styles and scripts are left out: how it looks may change.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "details", "dialog", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hr", "legend", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody",
    "td", "tfoot", "th", "thead", "title", "tr", "ul", "select", "textarea", "option", "template",
))  # fmt: skip
HEADS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
SKIPPED = frozenset(("script", "style", "svg", "noscript"))
# What is read aloud or shown, and what asks for more.
TOLD = ("aria-label", "title", "alt", "placeholder", "role", "aria-current", "content")
# A verdict, a warning or a side that is told by shape and colour.
MEANING = (
    "data-verdict",
    "data-state",
    "data-tone",
    "data-permission",
    "data-effect",
    "data-op",
    "data-sign",
)
ASKING = (
    "hx-get",
    "hx-post",
    "hx-trigger",
    "hx-confirm",
    "hx-include",
    "hx-vals",
    "download",
    "disabled",
    "required",
)


def seen(html: str, address: str) -> str:
    """Return what a page at this address shows and offers."""
    reader = _Reader(address)
    reader.feed(html)
    reader.close()
    return reader.text()


class _Reader(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self._address = address
        self._lines: list[str] = []
        self._line: list[str] = []
        self._skipping = 0

    def text(self) -> str:
        self._break()
        return "\n".join(self._lines)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in SKIPPED:
            self._skipping += 1
            return
        if self._skipping:
            return
        if tag in BLOCKS:
            self._break()
        if tag in HEADS:
            self._line.append(f"{'#' * int(tag[1])} ")
        if tag in ("a", "form", "input", "button", "select", "textarea", "option", "img"):
            self._line.append(f"<{' '.join([*self._what(tag, given), *self._more(given)])}>")
        elif tag == "meta" and given.get("name") == "description":
            self._line.append(f"<description {given.get('content', '')}>")
            self._break()
        elif tag not in ("link", "meta", "html", "head", "path", "use"):
            told = self._more(given)
            if told:
                self._line.append(f"<{' '.join(told)}>")

    def handle_endtag(self, tag: str) -> None:
        if tag in SKIPPED:
            self._skipping = max(0, self._skipping - 1)
        elif not self._skipping:
            if tag in ("a", "button"):
                self._line.append(f"</{tag}>")
            if tag in BLOCKS:
                self._break()

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self._line.append(data)

    def _what(self, tag: str, given: dict[str, str]) -> list[str]:
        if tag == "a":
            return ["a", self._whole(given.get("href", ""))]
        if tag == "form":
            return ["form", given.get("method", "get").lower(), self._whole(given.get("action", ""))]
        words = [tag]
        if tag == "input":
            words.append(given.get("type", "text"))
        words += [
            f"{name}={given[name]}"
            for name in ("name", "value", "formaction", "maxlength", "form")
            if name in given
        ]
        return words + [name for name in ("checked", "selected", "multiple", "open") if name in given]

    def _more(self, given: dict[str, str]) -> list[str]:
        names = [name for name in (*TOLD, *MEANING, *ASKING) if name in given]
        return [name if not given[name] else f"{name}={' '.join(given[name].split())}" for name in names]

    def _whole(self, target: str) -> str:
        return urljoin(self._address, target) if target else self._address

    def _break(self) -> None:
        line = re.sub(r"\s+", " ", "".join(self._line)).strip()
        if line and line.strip("#"):
            self._lines.append(line)
        self._line = []


def links(html: str, address: str) -> list[str]:
    """Return the addresses of this site that a page's links lead to, in order, without what stands behind #."""
    found = re.findall(r"<a\s[^>]*?href=\"([^\"]*)\"", html)
    whole = [
        urljoin(address, one.replace("&amp;", "&").replace("&#x27;", "'")).partition("#")[0] for one in found
    ]
    return list(dict.fromkeys(one for one in whole if one.startswith("/")))
