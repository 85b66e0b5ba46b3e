"""What no template may do, looked for in all of them."""

from __future__ import annotations

import re

from django.conf import settings

# An address followed at once by a query: without "?" the query becomes a part of the path.
GLUED = re.compile(r"\{%\s*url [^%]*%\}(?:\{%\s*query |\{\{ *[\w.]*query)")


def test_every_query_is_parted_from_its_address_by_a_question_mark():
    folder = settings.BASE_DIR / "templates"
    templates = list(folder.rglob("*.html"))
    assert len(templates) > 50

    glued = [
        f"{path.relative_to(folder)}: {found[0]}"
        for path in templates
        for found in GLUED.finditer(path.read_text(encoding="utf-8"))
    ]

    assert glued == []
