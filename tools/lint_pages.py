"""Write one page a lint rule under docs/lint, and their index, from the rules themselves.

python tools/lint_pages.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from aclweb.acl.lint import RULES, LintRule  # noqa: E402

FOLDER = ROOT / "docs" / "lint"


def pages() -> Iterator[tuple[str, str]]:
    """Yield the file name and text of each page."""
    yield "README.md", index()
    for rule in RULES.values():
        yield f"{rule.id}.md", page(rule)


def index() -> str:
    rows = "".join(
        f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {rule.title} |\n" for rule in RULES.values()
    )
    return (
        "# What lint looks for\n\n"
        "`python -m aclweb.acl lint --acls FILE` and the forms of the site use these lint rules. Their ids "
        "do not change.\n\n"
        f"| rule | severity | what it finds |\n| --- | --- | --- |\n{rows}"
    )


def page(rule: LintRule) -> str:
    return (
        f"# {rule.title}\n\nRule `{rule.id}`, severity {rule.severity}.\n\n"
        f"## Why it matters\n\n{rule.why}\n\n## What to do\n\n{rule.instead}\n\n[All lint rules](README.md)\n"
    )


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
