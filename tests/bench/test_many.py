"""What `python -m bench.many` makes of what it measured; the run itself takes minutes."""

from __future__ import annotations

import os

import pytest

from bench import site
from bench.many import Opened, figures_of, parse


def verdicts(opened: list[Opened], grown: int = 0) -> list[str]:
    return [figure.verdict for figure in figures_of(1_000, grown, 100.0, opened)]


def test_the_defaults_are_twenty_clusters_of_a_hundred_thousand_acls() -> None:
    asked = parse([])

    assert (asked.clusters, asked.acls, asked.keep) == (20, 100_000, False)


@pytest.mark.parametrize("wrong", [("--clusters", "0"), ("--acls", "0")])
def test_what_cannot_be_measured_is_refused_with_a_sentence(wrong, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(wrong)

    assert ended.value.code == 2
    assert "at least 1" in capsys.readouterr().err


def test_memory_is_the_most_at_any_time_and_the_page_the_slowest() -> None:
    fine = Opened("a", 1.9, 5.0, 699.0)

    assert verdicts([fine, fine], grown=150_000) == ["met", "met", "met"]
    assert verdicts([Opened("b", 1.0, 1.0, 701.0), fine]) == ["MISSED", "met", "met"]
    assert verdicts([fine, Opened("b", 2.1, 2.1, 300.0)]) == ["met", "MISSED", "met"]
    assert verdicts([fine], grown=150_001) == ["met", "met", "MISSED"]


def test_files_of_the_site_that_were_edited_since_are_named(tmp_path) -> None:
    for name in ("aclweb/old.py", "aclweb/__pycache__/old.pyc", "templates/new.html", "tests/test_new.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (100, 300 if "old.py" not in name or "pyc" in name else 100))

    assert site.edited_since(200, tmp_path) == ["templates/new.html"]
    assert site.edited_since(300, tmp_path) == []
