"""Which blank space of a template goes to the browser? Its line ends; what indents the source stays on the server.

A table of fifty rows would send that indentation fifty times. Lines keep their numbers, so an error in a template still
names the right one.
"""

from __future__ import annotations

import re

from django.template import Origin
from django.template.loaders.filesystem import Loader

# What stands between these is shown, or sent back, letter by letter.
_AS_IT_IS = re.compile(r"(<(?:pre|textarea)\b.*?</(?:pre|textarea)>)", re.DOTALL)
_INDENTED = re.compile(r"\n[ \t]+")


class Unindented(Loader):
    """Loads a template from a directory, with no blank space at the beginning of its lines."""

    def get_contents(self, origin: Origin) -> str:
        """Return the source of a template as it is rendered. Raises TemplateDoesNotExist where there is no file."""
        return unindented(super().get_contents(origin))


def unindented(source: str) -> str:
    """Return a template without the indentation of its lines, but for those inside of `pre` and `textarea`."""
    parts = _AS_IT_IS.split(source)
    return "".join(part if place % 2 else _INDENTED.sub("\n", part) for place, part in enumerate(parts))
