"""Is the table of a real `access` command the old or the new one, whenever it is killed?"""

from __future__ import annotations

import os

import pytest

from tests.pipeline.killed_access import try_out
from tests.servers import need_java

KILLS = 30 if os.environ.get("ACLWEB_TEST_SCALE") == "full" else 4


@pytest.mark.thorough(
    instead="tests/pipeline/test_table.py::test_a_process_killed_at_any_moment_leaves_the_old_or_the_new_table"
)
@pytest.mark.spark
@pytest.mark.own_server
@pytest.mark.long
def test_an_access_command_killed_at_any_moment_leaves_the_old_or_the_new_table(tmp_path):
    need_java()

    killed = try_out(tmp_path, KILLS, 14)

    assert killed.kills == KILLS
    assert killed.counted == killed.written
