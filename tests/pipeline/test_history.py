"""Does a history tell which ACLs are young, and which may be of any age?"""

from __future__ import annotations

from datetime import UTC, datetime

from aclweb.pipeline.history import Ages, History, Period, ages
from tests.builders import allow

START = datetime(2026, 10, 21, 12)
BEFORE, AFTER = datetime(2026, 9, 1, tzinfo=UTC), datetime(2026, 11, 10, tzinfo=UTC)
OLD, YOUNG, GONE, FOUND = (allow("User:a", "READ", name) for name in ("old", "young", "gone", "found"))


def test_revision_1_dates_no_acl_and_later_ones_do():
    history = History(
        (
            Period(OLD, 2, BEFORE, None, None),
            Period(YOUNG, 3, AFTER, None, None),
            Period(GONE, 3, AFTER, 4, AFTER),
            Period(FOUND, 1, AFTER, None, None),
        )
    )

    assert ages(history, START) == Ages({YOUNG: AFTER}, {FOUND: AFTER})


def test_without_an_acl_of_revision_1_the_first_that_has_one_still_dates_its_acls():
    """The first sync of an empty cluster is revision 1, and has no ACL."""
    assert ages(History((Period(YOUNG, 2, AFTER, None, None),)), START).young == {YOUNG: AFTER}


def test_without_a_history_or_a_window_no_age_is_known():
    history = History((Period(YOUNG, 2, AFTER, None, None),))

    assert ages(None, START) == ages(history, None) == Ages({}, {})
