"""What holds of the tests themselves, so that a failing run can be read and a run stays short."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).parent
LONGEST_NAME = 80


def test_the_name_of_a_test_can_be_read_at_a_glance():
    names = {
        node.name
        for file in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }

    assert len(names) > 1_500
    assert sorted(name for name in names if len(name) > LONGEST_NAME) == []
