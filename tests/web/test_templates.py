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


# Where a rule is none of the ACLs: what a broker's log, its mapping of names or our own lint calls so.
_RULES_OF_THEIR_OWN = re.compile(r"lint rule|[Mm]apping rules?|based on rule|(names?|log) no rule")
_TAG = re.compile(r"<[^>]*>")
_SHOWN_ATTRIBUTE = re.compile(r"\b(?:aria-label|placeholder|title|data-label)=\"([^\"]*)\"")
_TEMPLATE_CODE = re.compile(r"{%.*?%}|{{.*?}}|{#.*?#}", re.DOTALL)
_GIVEN_TEXT = re.compile(r"\b(?:heading|why|noun|title|next_word|text)=\"([^\"]*)\"")
_COMMENT = re.compile(r"{% comment %}.*?{% endcomment %}", re.DOTALL)


def shown_texts(source: str) -> str:
    """The words of a template that a person can read."""
    source = _COMMENT.sub("", source)
    given = [text for code in _TEMPLATE_CODE.findall(source) for text in _GIVEN_TEXT.findall(code)]
    plain = _TEMPLATE_CODE.sub("", source)
    return " ".join([*given, *_SHOWN_ATTRIBUTE.findall(plain), _TAG.sub(" ", plain)])


def test_every_page_says_acl():
    folder = settings.BASE_DIR / "templates"
    found = []
    for path in sorted(folder.rglob("*.html")):
        # Brokers map certificates and Kerberos names by rules.
        if path.parent.name != "mapping":
            told = _RULES_OF_THEIR_OWN.sub("", shown_texts(path.read_text(encoding="utf-8")))
            found += [(path.name, *re.findall(r".{0,30}\b[Rr]ules?\b.{0,30}", told))]

    assert [each for each in found if len(each) > 1] == []
