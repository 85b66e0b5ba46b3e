"""What `python -m bench.elsewhere` makes of what it measured; the run itself takes minutes."""

from __future__ import annotations

import pytest

from bench.elsewhere import Asked, Told, is_met, parse, report

ASKED = Asked(acls=100_000, edits=3)


def test_an_edit_on_the_page_in_time_meets_what_is_due() -> None:
    told = Told((0.8, 4.9, 1.2), load=2.0)

    assert is_met(told)
    assert report(ASKED, told)[1:] == [
        "A page showed them after 1.2 s (median), 4.9 s (longest).",
        "At most 5 s are due: met.",
    ]


@pytest.mark.parametrize("late", [5.1, None], ids=["late", "never"])
def test_one_edit_that_comes_late_or_never_misses_it(late) -> None:
    told = Told((0.8, late, 1.2), load=2.0)

    assert not is_met(told)
    assert report(ASKED, told)[-1] == "At most 5 s are due: MISSED."
    assert ("1 of them were on no page within 60 s." in report(ASKED, told)) is (late is None)


def test_no_edit_at_all_is_refused(capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(["--edits", "0"])

    assert ended.value.code == 2
    assert "at least 1" in capsys.readouterr().err
