"""Is every decision counted exactly once while logs are written, rotated, compressed, copied and cut at random?

ACLWEB_TEST_SCALE=full tries 200 worlds. test_access_model.py asks the same of a table.
"""

from __future__ import annotations

import os

import pytest

from tests.pipeline.log_world import DAY, World

SEEDS = 200 if os.environ.get("ACLWEB_TEST_SCALE") == "full" else 15
STEPS = 70


@pytest.mark.half
@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_decision_that_could_be_read_at_a_look_is_counted_once(tmp_path, seed):
    world = World(tmp_path, seed)

    for _ in range(STEPS):
        world.step()
    world.now_ns += 2 * DAY
    world.look(world.logs[0], is_stored=True)

    assert len(world.required) > 5
