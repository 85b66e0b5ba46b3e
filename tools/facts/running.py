"""How is a command run so that its exit status, standard output and standard error are seen?

In this process, through the same door as from a shell (`python -m MODULE`, `python manage.py`): thousands of commands
then cost one start of Python.
"""

from __future__ import annotations

import gc
import io
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def module(name: str, arguments: Sequence[str], stdin: bytes = b"") -> str:
    """Run `python -m NAME ARGUMENTS...` and return what there was to see."""
    with _terminal(["-m", *arguments], stdin) as seen:
        collects = gc.isenabled()
        try:
            runpy.run_module(name, run_name="__main__", alter_sys=True)
            status: object = 0
        except SystemExit as end:
            status = end.code
        finally:
            if collects:
                gc.enable()  # commands switch it off, since their processes do not live long
    return _told(status, seen)


def manage(arguments: Sequence[str], stdin: bytes = b"") -> str:
    """Run `python manage.py ARGUMENTS...` and return what there was to see."""
    with _terminal(["manage.py", *arguments], stdin) as seen:
        try:
            runpy.run_path(str(ROOT / "manage.py"), run_name="__main__")
            status: object = 0
        except SystemExit as end:
            status = end.code
    return _told(status, seen)


def manage_apart(arguments: Sequence[str]) -> str:
    """Run `python manage.py ARGUMENTS...` as a process of its own, which chooses the settings itself."""
    chosen = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=chosen, capture_output=True, check=False
    )
    seen = _Seen()
    seen.out.write(done.stdout)
    seen.err.write(done.stderr)
    return _told(done.returncode, seen)


class _Seen:
    def __init__(self) -> None:
        self.out = io.BytesIO()
        self.err = io.BytesIO()


@contextmanager
def _terminal(argv: Sequence[str], stdin: bytes) -> Iterator[_Seen]:
    """Stand in for the streams of a process of its own, started in an empty place."""
    seen = _Seen()
    before = sys.argv, sys.stdin, sys.stdout, sys.stderr, os.getcwd()
    sys.argv = list(argv)
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    sys.stdout = out = io.TextIOWrapper(seen.out, encoding="utf-8", write_through=True)
    sys.stderr = err = io.TextIOWrapper(seen.err, encoding="utf-8", write_through=True)
    try:
        yield seen
    finally:
        for stream in (out, err):
            if not stream.closed:
                stream.flush()
                stream.detach()
        sys.argv, sys.stdin, sys.stdout, sys.stderr, _ = before
        os.chdir(before[4])


def _told(status: object, seen: _Seen) -> str:
    error = seen.err.getvalue().decode("utf-8", "surrogateescape")
    if isinstance(status, str):
        # As the interpreter does with sys.exit("a sentence").
        error, status = error + status + "\n", 1
    parts = [f"exit status {0 if status is None else status}"]
    for title, text in (
        ("stdout", seen.out.getvalue().decode("utf-8", "surrogateescape")),
        ("stderr", error),
    ):
        if text:
            parts.append(f"--- {title}\n{text}".removesuffix("\n"))
    return "\n".join(parts)
