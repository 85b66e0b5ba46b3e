"""Every process can tell every event in words, whatever it has imported before."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]
TOLD = "import django; django.setup(); from aclweb.audit import trail; print(*trail._SENTENCES)"


def test_a_process_that_only_starts_django_knows_every_verb_that_the_code_registers():
    registered = {
        verb
        for source in (PROJECT / "aclweb").rglob("*.py")
        for verb in re.findall(r'trail\.register\(\s*"([^"]+)"', source.read_text(encoding="utf-8"))
    }

    done = subprocess.run(
        [sys.executable, "-c", TOLD], capture_output=True, text=True, check=True, cwd=PROJECT
    )

    assert registered
    assert registered <= set(done.stdout.split())
