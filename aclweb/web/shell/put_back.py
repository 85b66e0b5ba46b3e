"""Which typed values does the form show again? All, unless huge or a key.

A text of two megabytes would make a page of ten. One longer than MOST is not put back, not even
in part: half of a text, sent again, would be another one. The page says so.
A certificate or key in PEM is never repeated.
"""

from __future__ import annotations

from typing import Any

from django.forms.renderers import DjangoTemplates

from aclweb.web.shell.typed_principal import holds_pem

MOST = 100_000  # characters


def put_back(text: str) -> str:
    """Return the text for the form; empty where it is too long, or a certificate or key."""
    return "" if why_not(text) else text


def why_not(text: str) -> str:
    """Return why a text is not put back into the form, as a sentence; empty where it does."""
    if holds_pem(text):
        return "This is a certificate or a key in PEM, so it is not shown again."
    if len(text) <= MOST:
        return ""
    return (
        f"What was sent has {len(text):,} characters, so it is not put back here. "
        "Correct it and send it again."
    )


class BoundedForms(DjangoTemplates):
    """Renders every field of a form; a value that is not put back is left out of it."""

    def render(self, template_name: str, context: dict[str, Any], request: Any = None) -> Any:
        """Return one widget, field or form as HTML."""
        widget = context.get("widget")
        if isinstance(widget, dict) and isinstance(widget.get("value"), str) and why_not(widget["value"]):
            attributes = {**widget["attrs"], "placeholder": why_not(widget["value"])}
            context = {**context, "widget": {**widget, "value": "", "attrs": attributes}}
        return super().render(template_name, context, request)
