"""Record what the product tells the world, or compare two such recordings. See `docs/maintainers/facts.md`."""

from __future__ import annotations

import argparse
import fcntl
import itertools
import logging
import os
import secrets
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.facts.compare import report
from tools.facts.words import Words, WordsError

ROOT = Path(__file__).resolve().parents[2]
# The same for each recording: names of files stand in answers and in what is hashed.
PLACE = Path(tempfile.gettempdir()) / f"aclweb-facts-{os.getuid()}"
# What the process itself must be started with.
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
    "COLUMNS": "100",
    "LINES": "40",
    "NO_COLOR": "1",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "USER": "operator",
    "LOGNAME": "operator",
    "DJANGO_SETTINGS_MODULE": "tools.facts.settings",
    "ACLWEB_DATA_DIR": str(PLACE / "data"),
    "ACLWEB_SECRET_KEY": "for recordings only, and long enough to pass the deployment checks 0123456789",
    "ACLWEB_ENCRYPTION_KEYS": "vrdZFKaeWfd-OSfve2HwTtdei-D9x3w2wi4SawtV6Js=",
    "ACLWEB_LOG_LEVEL": "error",
    "ACLWEB_SHELL_CHANGES": "true",
    "ACLWEB_SPARK_MASTER": "",
    "CELERY_BROKER_URL": "memory://",
    "DATABASE_URL": f"sqlite:///{PLACE / 'data' / 'aclweb.sqlite3'}",
}
GROUPS = ("shell", "names", "site", "api", "pages", "operators")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.facts", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="write every fact into DIR")
    recording.add_argument("directory", type=Path, metavar="DIR")
    recording.add_argument(
        "--only", choices=GROUPS, action="append", help="only these groups of facts; may be repeated"
    )
    comparing = commands.add_parser("compare", help="tell what differs; exit status 1 if anything does")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument(
        "--words", type=Path, metavar="FILE", help="what was changed on purpose: OLD => NEW lines"
    )
    comparing.add_argument(
        "--shown", type=int, default=30, help="differences of different kinds that are shown"
    )
    comparing.add_argument("--lines", type=int, default=12, help="lines shown of each")
    asked = parser.parse_args()
    if asked.command == "compare":
        return _compare(asked)
    if any(os.environ.get(name) != value for name, value in ENVIRONMENT.items()):
        os.environ |= ENVIRONMENT
        os.execv(sys.executable, [sys.executable, "-m", "tools.facts", *sys.argv[1:]])  # noqa: S606
    asked.directory.mkdir(parents=True, exist_ok=True)
    with _place():
        record(asked.directory.resolve(), asked.only or GROUPS)
    return 0


def _compare(asked: argparse.Namespace) -> int:
    try:
        words = Words.read(asked.words) if asked.words else Words()
    except (OSError, WordsError) as error:
        print(error, file=sys.stderr)
        return 2
    told, equal = report(asked.before, asked.after, words, shown=asked.shown, lines=asked.lines)
    print("\n".join(told))
    return 0 if equal else 1


@contextmanager
def _place() -> Iterator[None]:
    """Have PLACE empty and to ourselves, and leave nothing there."""
    lock = PLACE.with_suffix(".lock")
    with open(lock, "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        shutil.rmtree(PLACE, ignore_errors=True)
        (PLACE / "data" / "static").mkdir(parents=True, mode=0o700)
        (PLACE / "files").mkdir()
        try:
            yield
        finally:
            shutil.rmtree(PLACE, ignore_errors=True)


def record(directory: Path, wanted: tuple[str, ...] | list[str]) -> None:
    """Record the groups that are wanted; what the others need is made all the same."""
    # What is told by log lines has times and numbers of requests; the tests hold what must be told there.
    logging.disable()
    # Of API tokens: a part of each stays in the audit trail, and so in the hash of everything after it.
    numbers = itertools.count(1)
    secrets.token_urlsafe = lambda size=32: f"secret-{next(numbers):0{size}}"  # type: ignore[assignment]
    # Workers sign events with these.
    os.getpid = lambda: 1
    socket.gethostname = lambda: "machine"
    # These import Django, which must see the environment first.
    from tools.facts import api, doors, names, operators, pages, shell, site
    from tools.facts.book import Group
    from tools.facts.clock import Clock
    from tools.facts.masks import Masks

    masks = Masks({str(ROOT): "<root>", str(PLACE / "files"): "<files>", str(PLACE): "<place>"})
    files = PLACE / "files"
    groups = {name: Group(name, masks) for name in GROUPS}
    began = time.process_time()

    def done(name: str) -> None:
        if name in wanted:
            groups[name].save(directory)
            print(
                f"{name}: {len(groups[name].facts):,} facts, {time.process_time() - began:.0f} s of CPU so far"
            )

    company = {slug: doors.company().snapshot_text(slug) for slug in site.DEMO}
    if "shell" in wanted:
        shell.record(groups["shell"], files, ROOT, company)
        done("shell")
    if not {*wanted} - {"shell"}:
        return
    built = site.build(groups["site"], files, Clock(), company)
    names.record(groups["names"])
    done("names")
    if "api" in wanted:
        api.record(groups["api"], built)
        done("api")
    if "pages" in wanted:
        pages.record(groups["pages"], built)
        done("pages")
    if "operators" in wanted:
        operators.record(groups["operators"], files)
        done("operators")
    names.record_events(groups["site"])
    done("site")


if __name__ == "__main__":
    sys.exit(main())
