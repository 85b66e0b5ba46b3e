"""docs/command-line.md and docs/principal-mapping.md show what their commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from aclweb.acl.cli.main import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
FILES = {
    "command-line.md": ("acls.jsonl", "requests.jsonl", "scenarios.jsonl"),
    "principal-mapping.md": ("subjects.txt", "names.txt"),
}
"""The files that each page gives, in its order."""

TEXTS = {page: (DOCS / page).read_text(encoding="utf-8") for page in FILES}
SHOWN = [
    (page, command, output)
    for page, text in TEXTS.items()
    for command, output in re.findall(
        r"^\$ python -m aclweb\.acl (.*)\n((?:(?!```).*\n)+)", text, re.MULTILINE
    )
]


@pytest.mark.parametrize(("page", "command", "output"), SHOWN)
def test_the_page_shows_what_is_printed(page, command, output, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given = re.findall(r"^```(?:json|text)\n(.*?)^```", TEXTS[page], re.MULTILINE | re.DOTALL)
    for name, text in zip(FILES[page], given, strict=True):
        Path(name).write_text(text, encoding="utf-8")

    status = main(shlex.split(command))

    printed = capsys.readouterr()
    assert printed.out + printed.err == output
    assert status == (1 if "FAIL" in output else 0)


def test_the_pages_show_seven_commands():
    assert [page for page, _command, _output in SHOWN] == ["command-line.md"] * 5 + [
        "principal-mapping.md"
    ] * 2
