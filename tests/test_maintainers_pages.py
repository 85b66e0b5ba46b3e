"""What the maintainers' pages name is there."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "maintainers").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_and_module_that_a_page_names_exists(page):
    named = re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
    paths = {
        name for name in named if re.fullmatch(r"(aclweb|devstack|tests|docs|bench|tools)/[\w./-]+", name)
    }
    modules = {name for name in named if re.fullmatch(r"(aclweb|devstack)(\.\w+)+", name)}

    found = {path for path in paths if (ROOT / path).exists()}
    found |= {
        module
        for module in modules
        if (ROOT / module.replace(".", "/")).is_dir() or (ROOT / f"{module.replace('.', '/')}.py").is_file()
    }

    assert sorted((paths | modules) - found) == []


def test_every_room_stands_in_the_page_on_architecture():
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter", encoding="utf-8")
    page = (ROOT / "docs" / "maintainers" / "architecture.md").read_text(encoding="utf-8")

    rooms = [
        contract["protected_modules"].strip().removesuffix(".*")
        for name, contract in contracts.items()
        if name.startswith("importlinter:contract:face-of-")
    ]

    assert len(rooms) > 15
    assert [room for room in rooms if f"`{room}`" not in page] == []
