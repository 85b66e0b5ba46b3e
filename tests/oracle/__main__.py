"""Which differences are there between aclweb and Kafka's released authorizers?

    python -m tests.oracle fetch                           the jars of all versions
    python -m tests.oracle compare --decisions 10000000    fresh questions to every version whose jars are here
    python -m tests.oracle compare --seed SEED ...         the same questions once more
    python -m tests.oracle record                          write the answers that the tests replay

`compare` exits 1 if a difference was found or the questions were lopsided.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections.abc import Sequence

from devstack import jars
from tests.oracle.comparing import PATIENCE_SECONDS, PROGRAM, compare, smallest
from tests.oracle.jvm import JavaProgram, OracleError
from tests.oracle.recording import record
from tests.oracle.tally import Tally
from tests.oracle.targets import TARGETS, Target

DIFFERENCES_SHOWN = 20


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("fetch", help="fetch the jars of all versions")
    comparing = commands.add_parser("compare", help="ask fresh questions and compare the answers")
    comparing.add_argument("--decisions", type=int, default=200_000, help="questions about named resources")
    comparing.add_argument("--by-type", type=int, default=0, help="questions about whole types")
    comparing.add_argument("--seed", help="ask what was asked with this seed")
    comparing.add_argument("--target", action="append", help="such as 'standard 4.4.0'; may be repeated")
    commands.add_parser("record", help="write the answers that the tests replay")
    given = parser.parse_args(arguments)
    if given.command == "fetch":
        return jars.main(list(jars.versions()))
    try:
        if given.command == "record":
            print(record(print))
            return 0
        targets = _targets(given.target)
        return _compare(targets, given.seed or secrets.token_hex(4), given.decisions, given.by_type)
    except OracleError as error:
        print(error, file=sys.stderr)
        return 2


def _targets(named: Sequence[str] | None) -> tuple[Target, ...]:
    """Return the targets with these names, without any all whose jars are here."""
    known = {str(target): target for target in TARGETS}
    for name in named or ():
        if name not in known:
            raise OracleError(f"There is no target {name!r}; use one of {', '.join(known)}.")
    if named:
        return tuple(known[name] for name in named)
    here = tuple(target for target in TARGETS if jars.kafka_jars(target.version) is not None)
    for target in TARGETS:
        if target not in here:
            print(f"NOT ASKED: {target}, whose jars are not here; run python -m tests.oracle fetch.")
    if not here:
        raise OracleError("No jars are here; run python -m tests.oracle fetch.")
    return here


def _program(target: Target) -> JavaProgram:
    return JavaProgram(PROGRAM, target.version, seconds=PATIENCE_SECONDS)


class _Progress:
    """Tells now and then how far a long comparison is."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._started = self._told = time.monotonic()
        self._done = 0

    def __call__(self, count: int) -> None:
        self._done += count
        now = time.monotonic()
        if now - self._told > 10:
            self._told = now
            rate = self._done / (now - self._started)
            print(f"{self._target}: {self._done:,} answers, {rate:,.0f}/s", file=sys.stderr, flush=True)


def _compare(targets: Sequence[Target], seed: str, decisions: int, type_decisions: int) -> int:
    print(f"Seed {seed}.")
    tally = Tally()
    found = 0
    began = time.monotonic()
    knowing = sum(target.knows_types for target in targets)
    for target in targets:
        started = time.monotonic()
        before = tally.decisions + tally.type_decisions
        with _program(target) as program, _program(target) as second:
            for difference in compare(
                program,
                target,
                f"{seed} {target}",
                decisions=-(-decisions // len(targets)),
                type_decisions=-(-type_decisions // (knowing or 1)) if target.knows_types else 0,
                tally=tally,
                progress=_Progress(target),
            ):
                found += 1
                if found <= DIFFERENCES_SHOWN:
                    shrunk = smallest(difference, second)
                    print(f"DIFFERENT: {difference}\n  at its smallest: {shrunk}\n  {shrunk.scenario()}")
        answers = tally.decisions + tally.type_decisions - before
        took = time.monotonic() - started
        print(f"{target}: {answers:,} answers in {took:.0f} s ({answers / took:,.0f}/s).", flush=True)
    print(tally.report())
    complaints = tally.lopsided()
    for complaint in complaints:
        print(f"LOPSIDED: {complaint}")
    print(
        f"{tally.decisions:,} decisions and {tally.type_decisions:,} by type "
        f"in {time.monotonic() - began:.0f} s: {found:,} differences."
    )
    return 1 if found or complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
