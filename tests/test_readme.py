"""What the README tells people to type is what the commands understand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from aclweb.acl.cli import main as cli

PROJECT = Path(__file__).resolve().parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def typed(beginning: str) -> list[list[str]]:
    """Return the words after `beginning` of each command in the README, comments left out."""
    text = README.replace("\\\n", " ")
    found = re.findall(rf"^(?:\.venv/bin/)?python {re.escape(beginning)} (.*)$", text, re.MULTILINE)
    found += re.findall(rf"`{re.escape(beginning)} ([^`]*)`", text)
    return [shlex.split(line, comments=True) for line in found]


@pytest.mark.parametrize("words", typed("manage.py"), ids=" ".join)
def test_a_management_command_of_the_readme_is_understood(words):
    name, *arguments = words
    command = load_command_class(get_commands()[name], name)

    assert command.create_parser("manage.py", name).parse_args(arguments)


@pytest.mark.parametrize("words", typed("-m aclweb.acl"), ids=" ".join)
def test_a_command_of_the_core_in_the_readme_exists(words, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main([words[0], "--help"])

    assert ended.value.code == 0


@pytest.mark.parametrize("target", re.findall(r"\]\(((?!http)[^)#]+)\)", README))
def test_what_the_readme_links_to_is_there(target):
    assert (PROJECT / target).exists()


def test_the_readme_shows_the_two_commands_that_newcomers_need():
    assert "\n./run\n" in README
    assert "\n./test\n" in README
    for command in ("run", "test"):
        assert (PROJECT / command).stat().st_mode & 0o111
