"""Does all that is kept of an answer go as soon as it is forgotten, without a look for garbage?

Processes that serve pages leave what they keep out of these looks, so that what goes in circles would stay.
"""

from __future__ import annotations

import gc
import weakref

import pytest

from aclweb.acl.simulate import LISTS, Impact
from aclweb.changes import kept
from tests.web.test_diff_files import KINDS, impact_of, place_of
from tests.web.test_replay_card import logged, over_days, synced  # noqa: F401 fixtures

SHOWN = ("", "view=matrix", "open=0", "page=2")


@pytest.fixture
def _no_looks():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def impacts():
    """Every impact that is there."""
    return [each for each in gc.get_objects() if type(each) is Impact]


@pytest.mark.usefixtures("_no_looks")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_of_an_impact_goes_with_it(over_days, ada, signed_in, kind):  # noqa: F811
    browser, place = signed_in(ada), place_of(kind, over_days, ada)
    for shown in SHOWN:
        page = browser.get(f"{place}{'&' if '?' in place else '?'}{shown}")
        assert page.status_code == 200
    impact = impact_of(page.context)
    assert impact.memo
    assert [len(getattr(impact, each)) for each in LISTS] == list(impact.counts.values())
    del page, browser, impact
    gc.collect()  # requests, which are in circles
    there = list(map(weakref.ref, impacts()))
    assert there

    kept.forget()

    assert [each() for each in there] == [None] * len(there)
