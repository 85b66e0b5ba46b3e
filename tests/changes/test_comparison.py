"""Between a cluster and itself with a change, what of the change is not so already is all that differs."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model.delta import Delta
from aclweb.changes.comparison import between
from aclweb.changes.question import Side
from tests.acl.test_delta import random_edit
from tests.random_cases import SCALE, random_binding


@pytest.mark.parametrize("seed", range(100 * SCALE))
def test_an_edit_differs_by_what_filing_all_acls_after_it_shows(seed):
    rng = random.Random(f"comparison {seed}")
    world, before, edit = random_edit(rng)
    there_already = tuple(each for each in before if each not in edit.remove and rng.random() < 0.3)
    unknown = tuple(random_binding(rng, world.settings, []) for _ in range(rng.randint(0, 2)))
    gone_already = tuple(each for each in unknown if each not in before and each not in edit.add)
    delta = Delta((*edit.add, *there_already), (*edit.remove, *gone_already))
    view = SimpleNamespace(index=AclIndex(before))
    left, right = Side(view), Side(view, draft=("the draft", delta))

    found = between(left, right)

    filed = Delta.between(before, AclIndex(delta.applied_to(before)).bindings)
    assert (set(found.add), set(found.remove)) == (set(filed.add), set(filed.remove))
    assert between(left, Side(view)) == Delta()
