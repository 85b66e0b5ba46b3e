"""What can be pressed on a page: its links, its forms with each of their buttons, what htmx fetches by itself.

    actions(html, address)   every Action of a page as it was answered at that address
    faults(html)             controls that could do nothing: a target that is not there, a button without a purpose

An Action is what a browser would send. Its `kind` is the same for two that differ in their values only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urldefrag, urlencode, urljoin, urlsplit

_VOID = frozenset({"input", "meta", "link", "br", "hr", "img", "use", "wbr", "rect", "path"})
_CONTROLS = frozenset({"button", "input", "select", "textarea"})
# What makes a button that is none of a form do something.
_HOOKS = (
    "data-copy", "data-copy-from", "data-copy-link", "data-theme-toggle", "data-show-keys", "popovertarget",
    "hx-get", "hx-post", "data-opens", "data-copy-url",
)  # fmt: skip
_TYPED = frozenset({"text", "search", "email", "password", "number", "date", "datetime-local", "url", ""})


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    parent: Element | None
    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    # Of the root alone: every control of the page, in its order.
    controls: list[Element] = field(default_factory=list)

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")

    def __contains__(self, name: str) -> bool:
        return name in self.attributes

    def walk(self) -> Iterator[Element]:
        """Yield this element and all within it, in the order of the page."""
        waiting = [self]
        while waiting:
            found = waiting.pop()
            yield found
            waiting.extend(reversed(found.children))

    def above(self, *tags: str) -> Element | None:
        """Return the nearest of these elements around this one."""
        found = self.parent
        while found is not None and found.tag not in tags:
            found = found.parent
        return found

    @property
    def text(self) -> str:
        return " ".join(" ".join(part for each in self.walk() for part in each.texts).split())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("root", {}, None)
        self._open = self.root

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = self._added(tag, attributes)
        if tag not in _VOID:
            self._open = found

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._added(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        found: Element | None = self._open
        while found is not None and found.tag != tag:
            found = found.parent
        if found is not None and found.parent is not None:
            self._open = found.parent

    def handle_data(self, data: str) -> None:
        self._open.texts.append(data)

    def updatepos(self, i: int, j: int) -> int:
        """Count no lines: nobody asks where on the page an element is."""
        return j

    def _added(self, tag: str, attributes: list[tuple[str, str | None]]) -> Element:
        found = Element(tag, {name: value or "" for name, value in attributes}, self._open)
        self._open.children.append(found)
        if tag in _CONTROLS:
            self.root.controls.append(found)
        return found


@dataclass(frozen=True)
class Action:
    """A request that a control of a page makes.

    source: the control, in words. swaps: the id that htmx will replace with the answer, "" for a whole page.
    selects: the id of the part of the answer that it takes. is_current: the page says that it is here.
    in_frame: it stands in the bar that every page has.
    """

    source: str
    method: str
    address: str
    fields: tuple[tuple[str, str], ...] = ()
    swaps: str = ""
    is_outer: bool = False
    selects: str = ""
    is_current: bool = False
    is_link: bool = False
    in_frame: bool = False

    @property
    def path(self) -> str:
        return urlsplit(self.address).path

    @property
    def query(self) -> list[tuple[str, str]]:
        return parse_qsl(urlsplit(self.address).query, keep_blank_values=True)


def read(html: str) -> Element:
    reader = _Reader()
    reader.feed(html)
    return reader.root


def actions(root: Element, address: str, typed: Callable[[str, str], str]) -> Iterator[Action]:
    """Yield what the controls of this page would send.

    typed: what somebody types into an empty field, by the path of its form and its name.
    """
    for element in root.walk():
        if element.tag == "a" and "href" in element:
            yield from _of_link(element, address)
        elif element.tag == "form" and element.get("method").lower() != "dialog":
            yield from _of_form(root, element, address, typed)
        elif "data-copy-url" in element:
            yield Action(
                f"button {element.text!r:.60}", "get", urljoin(address, element.get("data-copy-url"))
            )
        elif "hx-get" in element and element.tag != "form":
            fields = _included(root, element)
            yield _fetched(element, address, "get", element.get("hx-get"), fields)


def _of_link(link: Element, address: str) -> Iterator[Action]:
    href = link.get("href")
    if href.startswith(("http:", "https:", "mailto:", "data:", "blob:")):
        return
    is_current = "aria-current" in link
    source = f"link {link.text or link.get('aria-label')!r:.60}"
    yield Action(
        source,
        "get",
        urljoin(address, href),
        is_current=is_current,
        is_link=True,
        in_frame=link.above("header") is not None,
    )
    if _inherited(link, "hx-boost") == "true":
        yield _fetched(link, address, "get", href, ())
    elif "hx-get" in link:
        yield _fetched(link, address, "get", link.get("hx-get"), ())
    if "data-opens" in link:
        yield Action(source, "get", urljoin(address, href), swaps=link.get("data-opens").lstrip("#"))


def _fetched(
    element: Element, address: str, method: str, to: str, fields: tuple[tuple[str, str], ...]
) -> Action:
    target = _inherited(element, "hx-target")
    swaps = target if target == "this" else target.lstrip("#") or element.get("id")
    return Action(
        f"{element.tag} {element.text or element.get('aria-label') or element.get('id')!r:.60} (htmx)",
        method,
        urljoin(address, to),
        fields,
        swaps=swaps,
        is_outer=_inherited(element, "hx-swap").startswith("outerHTML"),
        selects=_inherited(element, "hx-select").lstrip("#"),
    )


def _inherited(element: Element, name: str) -> str:
    found: Element | None = element
    while found is not None:
        if name in found:
            return found.get(name)
        found = found.parent
    return ""


def _included(root: Element, element: Element) -> tuple[tuple[str, str], ...]:
    form = element.above("form") if "hx-include" in element else None
    return tuple(_fields(root, form, lambda *_: "")) if form is not None else ()


def _of_form(
    root: Element, form: Element, address: str, typed: Callable[[str, str], str]
) -> Iterator[Action]:
    method = form.get("method").lower() or "get"
    to = urljoin(address, form.get("action") or address)
    path = urlsplit(to).path
    given = list(_fields(root, form, lambda name, _: typed(path, name)))
    by_htmx = form.get("hx-post") or form.get("hx-get")
    in_frame = form.above("header") is not None
    for button in _buttons(root, form):
        pressed = [*given, (button.get("name"), button.get("value"))] if button.get("name") else given
        word = button.text or button.get("aria-label") or button.get("value")
        source = f"button {word!r:.60} of {method} {path}"
        for fetched in (False, True) if by_htmx else (False,):
            parts: dict[str, Any] = {}
            if fetched:
                target = form.get("hx-target")
                parts = {
                    "swaps": target.lstrip("#"),
                    "is_outer": form.get("hx-swap").startswith("outerHTML"),
                    "selects": form.get("hx-select").lstrip("#"),
                }
            if method == "get":
                asked = urldefrag(to.partition("?")[0])[0] + "?" + urlencode(pressed)
                yield Action(source, "get", asked, in_frame=in_frame, **parts)
            else:
                yield Action(source, "post", to, tuple(pressed), in_frame=in_frame, **parts)


def _buttons(root: Element, form: Element) -> list[Element]:
    return [
        element
        for element in root.controls
        if element.tag == "button"
        and element.get("type") in ("", "submit")
        and "disabled" not in element
        and _form_of(root, element) is form
    ]


def _form_of(root: Element, control: Element) -> Element | None:
    if "form" in control:
        return next((each for each in root.walk() if each.get("id") == control.get("form")), None)
    return control.above("form")


def _chosen(select: Element) -> Element | None:
    """Return the option that a browser would send, if there is any."""
    options = [each for each in select.walk() if each.tag == "option" and "disabled" not in each]
    return next((each for each in options if "selected" in each), options[0] if options else None)


def _fields(root: Element, form: Element, typed: Callable[[str, str], str]) -> Iterator[tuple[str, str]]:
    ticked: set[str] = set()
    for control in root.controls:
        name = control.get("name")
        if not name or "disabled" in control or control.tag == "button":
            continue
        if _form_of(root, control) is not form:
            continue
        if control.tag == "select":
            chosen = _chosen(control)
            if chosen is not None:
                yield name, chosen.attributes.get("value", chosen.text)
        elif control.tag == "textarea":
            yield name, "".join(control.texts).removeprefix("\n") or typed(name, "textarea")
        elif control.get("type") == "checkbox":
            # Of boxes in a list the first is ticked, as somebody would before pressing the button.
            if "checked" in control or ("data-principal" in control and name not in ticked):
                ticked.add(name)
                yield name, control.attributes.get("value", "on")
        elif control.get("type") in _TYPED:
            yield name, control.get("value") or typed(name, "input")
        elif control.get("type") == "hidden" or (control.get("type") == "radio" and "checked" in control):
            yield name, control.get("value")


def faults(root: Element) -> Iterator[str]:
    """Yield a sentence for each control that could do nothing."""
    ids = {element.get("id") for element in root.walk() if "id" in element}
    seen: set[str] = set()
    for element in root.walk():
        if "id" in element:
            if element.get("id") in seen:
                yield f"Two elements have the id {element.get('id')!r}."
            seen.add(element.get("id"))
        for name in ("hx-target", "data-opens", "data-copy-from"):
            wanted = element.get(name)
            if wanted.startswith("#") and wanted[1:] not in ids:
                yield f"{name}={wanted!r} of {element.text!r:.60} is not on the page."
        for name in ("popovertarget", "for", "aria-labelledby", "aria-describedby", "form"):
            for wanted in element.get(name).split():
                if wanted not in ids:
                    yield f"{name}={wanted!r} of {element.tag} {element.text!r:.60} is not on the page."
        if element.tag == "a" and element.get("href").startswith("#") and element.get("href")[1:] not in ids:
            yield f"The link {element.text!r:.60} leads to {element.get('href')!r}, which is not on the page."
        if element.tag == "a" and "href" not in element:
            yield f"The link {element.text!r:.60} leads nowhere."
        if element.tag == "button" and not _does_something(root, element):
            yield f"The button {element.text or element.get('aria-label')!r:.60} has no purpose."


def _does_something(root: Element, button: Element) -> bool:
    if any(name in button for name in _HOOKS):
        return True
    return button.get("type") in ("", "submit") and _form_of(root, button) is not None


_CHANGING = re.compile(
    r"<footer.*?</footer>|<input[^>]*csrfmiddlewaretoken[^>]*>|hx-headers='[^']*'|<time[^>]*>[^<]*</time>",
    re.S,
)


def body_of(html: str) -> str:
    """Return what a page shows, without what differs each time it is loaded."""
    return _CHANGING.sub("", html)
