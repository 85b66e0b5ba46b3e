"""docs/command-line.md shows what its commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from aclweb.acl.cli import main

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```json\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
SHOWN = re.findall(r"^\$ python -m aclweb\.acl (.*)\n((?:(?!```).*\n)+)", DOCUMENT, re.MULTILINE)


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_the_page_shows_what_is_printed(command, output, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in zip(("acls.jsonl", "requests.jsonl", "scenarios.jsonl"), FILES, strict=True):
        Path(name).write_text(text, encoding="utf-8")

    status = main(shlex.split(command))

    printed = capsys.readouterr()
    assert printed.out + printed.err == output
    assert status == (1 if "FAIL" in output else 0)


def test_the_page_shows_four_commands():
    assert len(SHOWN) == 4
