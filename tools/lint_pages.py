"""Write one page a lint rule under docs/lint, and their index, from the rules themselves.

python tools/lint_pages.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from aclweb.acl.lint import RULES, Example, LintRule, NoClaim, findings_in  # noqa: E402
from aclweb.acl.model import AclBinding, AuthorizerSettings, name_text  # noqa: E402

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
        f"| lint rule | severity | what it finds |\n| --- | --- | --- |\n{rows}"
    )


def page(rule: LintRule) -> str:
    sections = {
        "Why it matters": rule.why,
        "What it claims": claim(rule),
        "What to do": rule.instead,
        "Examples of findings": "\n\n".join(map(bad, rule.bad))
        or f"None is shown: {rule.why_no_bad_example}.",
        "Examples without this finding": "\n".join(map(example, rule.good)),
    }
    text = "".join(f"## {title}\n\n{section}\n\n" for title, section in sections.items())
    return f"# {rule.title}\n\nLint rule `{rule.id}`, severity {rule.severity}.\n\n{text}[All lint rules](README.md)\n"


def claim(rule: LintRule) -> str:
    if isinstance(rule.claims, NoClaim):
        return f"Nothing about decisions: {rule.claims.reason}."
    return f"{rule.claims.value} The tests hold this against the authorizer."


def bad(shown: Example) -> str:
    said = "".join(f"\n{finding.severity}: {finding.sentence}" for finding in findings_in(shown))
    return f"{example(shown)}\n\n```text{said}\n```"


def example(shown: Example) -> str:
    beside = f", beside {' and '.join(map(acl, shown.others))}" if shown.others else ""
    return f"- {acl(shown.acl)}{beside}{under(shown.settings)}"


def acl(binding: AclBinding) -> str:
    """Return one ACL in Kafka's words; names in which something cannot be seen are quoted and escaped."""
    parts = (
        *(binding.permission_type.name, name_text(binding.principal), binding.operation.name),
        *(binding.resource_type.name, binding.pattern_type.name),
        *(name_text(binding.resource_name), "from", binding.host),
    )
    return f"`{' '.join(parts)}`"


def under(settings: AuthorizerSettings) -> str:
    """Return the settings that differ from the default ones, as the end of a sentence."""
    usual = AuthorizerSettings()
    said: Iterable[str] = (
        f"authorizer {settings.authorizer}" if settings.authorizer != usual.authorizer else "",
        f"Kafka {settings.kafka_version}"
        if (settings.authorizer, settings.kafka_version) != (usual.authorizer, usual.kafka_version)
        else "",
        f"super users {', '.join(sorted(settings.super_users))}" if settings.super_users else "",
        "allow.everyone.if.no.acl.found=true" if settings.allow_everyone else "",
    )
    found = ", ".join(filter(None, said))
    return f" ({found})" if found else ""


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
