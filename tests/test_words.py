"""Do pages and docstrings use Kafka's words and our own, one for each thing?

The glossary is docs/maintainers/words.md. Looked at: the texts of templates, the sentences that
Python makes (messages, help texts, log lines), the first line of each docstring, the names of tests,
and the documents. Each retired word has its replacement here; ALLOWED has the contexts in which it is
Kafka's own or another word.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# What is retired everywhere, and what to write.
RETIRED = {
    r"\brules?\b": "ACL; or with its first word: lint rule, mapping rule",
    r"\b(?:a|the|this|that|one|each|last|next|first|held|stored) reading\b(?! of)|\breadings\b": "snapshot, sync",
    r"\breading (?:is|was) held\b": "snapshot is quarantined",
    r"\bh(?:ang|angs|ung|anging) on\b": "depends on",
    r"\btouch(?:es|ed|ing)?\b": "matches",
    r"\b(?:cannot|could not) be told\b": "cannot tell, is unknown",
    r"\bstands? (?:here|below|above|in the way)\b": "is shown here",
    r"\b(?:comes?|brings?|brought|came)(?: \w+)? to life\b": "takes effect",
    r"\bsigns? of life\b": "heartbeat",
    r"\blast words\b": "last output",
    r"\bto be had\b": "available",
    r"\bworthless\b": "revoked",
    r"\bwithout a word\b": "silently, without an answer",
    r"\bfares?\b": "has the outcome",
    r"\bwasted\b": "redundant, shadowed, unmatchable",
    r"\bwitness\b": "log evidence",
    r"\bverdicts?\b": "decision, outcome",
    r"\brung\b|\brings? (?:again|a|the)\b": "enqueue",
}
# What is retired on pages; in code they may be what calls a function, and an exception.
RETIRED_ON_PAGES = RETIRED | {
    r"\bcallers?\b": "principal, client",
    r"\brefusals?\b": "denial",
    r"\bACLs? covers?\b": "matches",
}
# What is retired in the first lines of docstrings.
RETIRED_IN_FIRST_LINES = RETIRED | {
    r"\b(?:is|are|was|were|be) told\b": "is shown, is reported, is said",
    r"\bstands\b(?! for)": "is, comes, is shown",
}
ALLOWED = re.compile(
    r"\b(?:lint|mapping|Kerberos|broker) rules?\b|\bthese rules take too long"
    r"|\b(?:based on|log|logs|names) (?:no )?rule\b|\bby a rule of the log\b"  # so brokers write in their logs
    r"|\bauth_to_local rule\b|RULE:|\brules? \[|\.rules\b|`rules?`|\{rules\}"  # names of settings, parameters, facts
    r"|\breading (?:back|the logs)\b",
    re.IGNORECASE,
)
# About mapping names, where a message says "mapping" once and may then say "rule" as Kafka's own do.
MAPPING = re.compile(
    r"aclweb/acl/(?:principals/|cli/commands/principal|cli/main)|aclweb/web/ask/mapping|templates/ask/mapping/"
    r"|tests/acl/test_principal|tests/web/test_mapping_page"
)
LINT = re.compile(r"aclweb/acl/lint/|aclweb/clusters/checking|tests/acl/test_lint")
# Facts of the audit trail, JSON, patterns and texts of Kafka: not sentences of ours.
NO_SENTENCE = re.compile(
    r"^\s*(?:\{|CREATE |SELECT |DROP |COPY |INSERT )|\\w|\\d|\(\?|raw string, timed|kafka\.authorizer\.logger\)$"
)

COMMENT = re.compile(r"\{% comment %\}.*?\{% endcomment %\}|\{#.*?#\}", re.DOTALL)
SPOKEN_ATTRIBUTES = re.compile(
    r"\b(?:aria-label|placeholder|title|alt|data-working|heading|why|text|caption|empty|word|next_word)=\"([^\"]*)\""
)


def retired(text: str, words: dict[str, str], place: str = "") -> list[str]:
    """Return each retired word of `text`, with what to write instead."""
    if not any_of(tuple(words)).search(text):
        return []
    kept = ALLOWED.sub(" ", text)
    if MAPPING.search(place) or LINT.search(place):
        kept = re.sub(r"\brules?\b", " ", kept, flags=re.IGNORECASE)
    return [
        f"{place}: {match[0]!r} in {text.strip()[:120]!r}; say {better}"
        for word, better in words.items()
        for match in re.finditer(word, kept, re.IGNORECASE)
    ]


@cache
def any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE)


def texts_of_templates() -> Iterator[tuple[str, str]]:
    """Yield what people read of each template: text between tags, and attributes that are shown or spoken."""
    for path in sorted((ROOT / "templates").rglob("*.html")):
        place = str(path.relative_to(ROOT))
        source = COMMENT.sub("", path.read_text(encoding="utf-8"))
        for spoken in SPOKEN_ATTRIBUTES.findall(source):
            yield place, re.sub(r"\{[{%].*?[%}]\}", " ", spoken)
        without_tags = re.sub(r"\{[{%].*?[%}]\}|<[^>]*>", "\n", source, flags=re.DOTALL)
        for line in without_tags.split("\n"):
            if line.strip():
                yield place, line


@cache
def python_files() -> list[tuple[str, list[ast.AST]]]:
    """Return the nodes of each file."""
    return [
        (str(path.relative_to(ROOT)), list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
        for part in ("aclweb", "devstack")
        for path in sorted((ROOT / part).rglob("*.py"))
        if "migrations" not in path.parts
    ]


def sentences_of(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield each text of three words or more; fields of an f-string count as one word."""
    no_sentences = {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    no_sentences |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in no_sentences:
            text = node.value
        else:
            continue
        if len(text.split()) >= 3 and not NO_SENTENCE.search(text):
            yield text


def first_lines_of(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield docstring.split("\n")[0]


def names_of_tests() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in re.findall(r"^(?:async )?def test_(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            yield str(path.relative_to(ROOT)), name.replace("_", " ")


def paragraphs_of_documents() -> Iterator[tuple[str, str]]:
    """Yield each paragraph, list item and row; code and the glossary of retired words left out."""
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if path == ROOT / "docs" / "maintainers" / "words.md":
            continue
        text = re.sub(r"```.*?```|`[^`]*`", " … ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for paragraph in re.split(r"\n\s*\n|\n(?=[|*-] ?|\d\. )", text):
            if paragraph.strip():
                yield str(path.relative_to(ROOT)), " ".join(paragraph.split())


def test_templates_say_no_retired_word() -> None:
    texts = list(texts_of_templates())
    assert len(texts) > 500, "the templates are not where this test looks"

    assert not [fault for place, text in texts for fault in retired(text, RETIRED_ON_PAGES, place)]


def test_sentences_that_the_product_makes_say_no_retired_word() -> None:
    sentences = [(place, text) for place, nodes in python_files() for text in sentences_of(nodes)]
    assert len(sentences) > 1_500, "the sentences are not where this test looks"

    assert not [fault for place, text in sentences for fault in retired(text, RETIRED, place)]


def test_first_lines_of_docstrings_say_no_retired_word() -> None:
    lines = [(place, line) for place, nodes in python_files() for line in first_lines_of(nodes)]
    assert len(lines) > 1_500, "the docstrings are not where this test looks"

    assert not [fault for place, line in lines for fault in retired(line, RETIRED_IN_FIRST_LINES, place)]


def test_names_of_tests_say_no_retired_word() -> None:
    names = list(names_of_tests())
    assert len(names) > 2_000, "the tests are not where this test looks"

    assert not [fault for place, name in names for fault in retired(name, RETIRED, place)]


def test_documents_say_no_retired_word() -> None:
    paragraphs = list(paragraphs_of_documents())
    assert len(paragraphs) > 1_000, "the documents are not where this test looks"

    assert not [fault for place, text in paragraphs for fault in retired(text, RETIRED, place)]


@pytest.mark.parametrize(
    "text",
    [
        "No rule covers topic orders.",
        "What stands here is from the last reading.",
        "Decisions that hang on it cannot be told.",
        "The ACL comes to life with an upgrade.",
        "An upgrade brings it to life.",
        "The worker gave no sign of life.",
        "The port closes without a word.",
        "Resources touched by this edit",
        "A caller without Alter",
        "No refusal of bob in the log",
        "1 ACL covers topic orders",
    ],
)
def test_a_retired_word_is_found(text: str) -> None:
    assert retired(text, RETIRED_ON_PAGES)


@pytest.mark.parametrize(
    "text",
    [
        "lint rule shadowed",
        "the first mapping rule that yields a name wins",
        "based on rule DefaultDeny",
        "Reading back shows that it is in place.",
        "No matching request in the log (8–21 November).",
    ],
)
def test_a_word_of_the_glossary_is_let_through(text: str) -> None:
    assert not retired(text, RETIRED_ON_PAGES)
