"""Programs forked in the tests are what the same programs are that start from nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests import forkserver

TELLING = """
import os, sys
print(__name__, sys.argv[1:], sys.path[0], os.environ, os.getcwd(), flush=True)
print("django.conf" in sys.modules and sys.modules["django.conf"].settings.configured, file=sys.stderr)
sys.exit(3)
"""


@pytest.mark.parametrize("form", ["a file", "-c", "-m"])
def test_a_forked_program_starts_as_one_that_starts_from_nothing(form, tmp_path):
    (tmp_path / "telling.py").write_text(TELLING)
    first = {"a file": ["telling.py"], "-c": ["-c", TELLING], "-m": ["-m", "telling"]}[form]
    given = {"PATH": os.environ["PATH"], "LC_CTYPE": "C.UTF-8", "ONE": "1"}
    words = [*first, "some", "words"]

    usual = subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path,
        env=given,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    forked = forkserver.run(words, given, cwd=tmp_path)

    assert usual.returncode == 3
    assert (forked.returncode, forked.stdout, forked.stderr) == (3, usual.stdout, usual.stderr)


def test_a_forked_program_that_is_killed_or_too_slow_is_reported():
    with open(os.devnull, "r+b") as nothing:
        child = forkserver.start(["-c", "import time; time.sleep(600)"], {}, files=[nothing] * 3)
    child.kill()

    assert child.wait(60) == -signal.SIGKILL
    with pytest.raises(TimeoutError):
        forkserver.run(["-c", "import time; time.sleep(600)"], {}, timeout=0.1)
