"""The page about what Kafka refuses says what the program goes by."""

from __future__ import annotations

import runpy
from pathlib import Path

from aclweb.acl.kafka.creation import CREATION_RULES
from aclweb.acl.kafka.deletion import DELETION_RULES, LISTING_RULES

ROOT = Path(__file__).resolve().parent.parent


def test_the_page_is_the_one_that_the_checks_make():
    tool = runpy.run_path(str(ROOT / "tools" / "validation_page.py"))

    assert (ROOT / "docs" / "validation.md").read_text(encoding="utf-8") == tool["page"]()


def test_the_page_names_every_check_with_its_error():
    text = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")

    for rule in (*CREATION_RULES, *DELETION_RULES, *LISTING_RULES):
        assert f"| {rule.what} | {rule.layer.value} | {rule.error.name}" in text
