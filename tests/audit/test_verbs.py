"""Every process can tell every event in words, whatever it has imported before."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests import forkserver

PROJECT = Path(__file__).parents[2]
TOLD = "import django; django.setup(); from aclweb.audit import trail; print(*trail._SENTENCES)"


def test_a_process_that_only_starts_django_knows_every_verb_that_the_code_registers():
    registered = {
        verb
        for source in (PROJECT / "aclweb").rglob("*.py")
        for verb in re.findall(r'trail\.register\(\s*"([^"]+)"', source.read_text(encoding="utf-8"))
    }

    done = forkserver.run(["-c", TOLD], os.environ)

    assert registered
    assert registered <= set(done.stdout.split())
