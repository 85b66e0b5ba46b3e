"""Which jobs decide what was logged, and with which options?

Each is one entry of ANALYSES, which the command reads. It takes a snapshot with logs or an access table, says its steps
while it works, and writes a result.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import SparkSession

from aclweb.acl.logged import HOSTS, NAMES, Choices, Wanted
from aclweb.pipeline import (
    anomalies,
    compare,
    disagreement,
    least_privilege,
    load_bearing,
    matrix,
    refusals,
    replay,
)
from aclweb.pipeline.files import SourceError
from aclweb.pipeline.history import History, read_history
from aclweb.pipeline.job import read_table
from aclweb.pipeline.known_brokers import KnownBrokers, read_brokers
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.manifest import Logged
from aclweb.pipeline.progress import Step
from aclweb.pipeline.snapshot import Snapshot, read_snapshot
from aclweb.pipeline.storage import folder_at
from aclweb.pipeline.table import Table, Window

Manifest = Mapping[str, Any]


class Job(Protocol):
    """Writes a result to `out` and returns its manifest; `step` hears of each of its steps."""

    def __call__(
        self, spark: SparkSession, snapshot: Snapshot, logged: Logged, out: Path, keep: Keep, *, step: Step
    ) -> Manifest: ...


@dataclass(frozen=True)
class Analysis:
    """One job of the command: what it tells, its own options, the job that these make, and what it found in words.

    job raises AclError or SourceError for options that cannot be. steps: what it says while it works, in order.
    """

    help: str
    job: Callable[[Namespace], Job]
    summary: Callable[[Manifest], list[str]]
    steps: tuple[str, ...]
    add_arguments: Callable[[ArgumentParser], None] | None = None


def percent(given: str) -> int:
    if not (given.isascii() and given.isdigit() and 1 <= int(given) <= 100):
        raise ArgumentTypeError(f"{given!r} is no share; give a whole number from 1 to 100")
    return int(given)


def days(given: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", given) or int(given) < 1:
        raise ArgumentTypeError(f"{given!r} is no number of days; write a whole number from 1 to 99999")
    return int(given)


def _add_evidence(parser: ArgumentParser) -> None:
    """Add the options of a job that says what no request needed."""
    parser.add_argument(
        "--days",
        type=days,
        default=Wanted.days,
        metavar="N",
        help=f"days without a request before an ACL is called unused (default: {Wanted.days})",
    )
    parser.add_argument(
        "--percent",
        type=percent,
        default=Wanted.percent,
        metavar="P",
        help=f"share of their hours that every broker must have logged (default: {Wanted.percent})",
    )


def _add_choices(parser: ArgumentParser) -> None:
    """Add how wide proposed ACLs are."""
    parser.add_argument(
        "--principal",
        action="append",
        default=[],
        metavar="PRINCIPAL",
        help="whose rights; may be given again (default: all that ACLs name)",
    )
    parser.add_argument(
        "--names", choices=NAMES, default=Choices.names, help=f"of topics (default: {Choices.names})"
    )
    parser.add_argument(
        "--delimiter", default=Choices.delimiter, metavar="CHARACTER", help="where a prefix ends (default: .)"
    )
    parser.add_argument(
        "--hosts", choices=HOSTS, default=Choices.hosts, help=f"of the new ACLs (default: {Choices.hosts})"
    )
    parser.add_argument(
        "--exact-groups", action="store_true", help="no prefix for groups and transactional ids"
    )
    parser.add_argument(
        "--used-percent",
        type=percent,
        default=Choices.percent,
        metavar="P",
        help=f"with --names most-used: share of a prefix's topics that were used (default: {Choices.percent})",
    )
    _add_evidence(parser)
    add_history(parser)


def _add_lately(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--lately",
        type=days,
        default=anomalies.LATELY_DAYS,
        metavar="N",
        help=f"how many of the last days of the log are asked about (default: {anomalies.LATELY_DAYS})",
    )


def _wanted(options: Namespace) -> Wanted:
    return Wanted(days=options.days, percent=options.percent)


def _add_load_bearing(parser: ArgumentParser) -> None:
    _add_evidence(parser)
    add_history(parser)


def _load_bearing(options: Namespace) -> Job:
    return partial(load_bearing.write_load_bearing, wanted=_wanted(options), history=_history(options))


def _least_privilege(options: Namespace) -> Job:
    choices = Choices(
        names=options.names,
        delimiter=options.delimiter,
        hosts=options.hosts,
        by_prefix=not options.exact_groups,
        percent=options.used_percent,
    )
    return partial(
        least_privilege.write_least_privilege,
        choices=choices,
        wanted=_wanted(options),
        principals=options.principal,
        history=_history(options),
    )


def _matrix(options: Namespace) -> Job:
    return partial(matrix.write_matrix, wanted=_wanted(options))


def add_history(parser: ArgumentParser) -> None:
    """Add the file that says which ACLs were in force when."""
    parser.add_argument(
        "--history",
        metavar="FILE",
        help="which ACLs were in force when: what `manage.py export CLUSTER --format history` prints",
    )


def _history(options: Namespace) -> History | None:
    return read_history(Path(options.history)) if options.history else None


def _disagreement(options: Namespace) -> Job:
    return partial(disagreement.write_disagreement, history=_history(options))


def _add_delta(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--delta",
        required=True,
        metavar="FILE",
        help='the edit: ACLs as JSON lines, each with "op": "add" or "remove"',
    )


def _replay(options: Namespace) -> Job:
    return partial(replay.write_replay, delta=replay.read_edit_file(Path(options.delta)))


def _anomalies(options: Namespace) -> Job:
    return partial(anomalies.write_anomalies, lately=options.lately)


def _add_compare(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--beside",
        action="append",
        required=True,
        metavar="SNAPSHOT",
        help="the snapshot of another cluster in the same table; may be given again",
    )
    parser.add_argument(
        "--beside-brokers",
        action="append",
        default=[],
        metavar="FILE",
        help="as --brokers, of that other cluster; one for each --beside, in their order, or none",
    )
    _add_evidence(parser)


def _compare(options: Namespace) -> Job:
    if not options.table:
        raise SourceError(
            "compare reads an access table that has all of the clusters; give it with --table, in the place of logs."
        )
    others = [read_snapshot(Path(given)) for given in options.beside]
    if options.beside_brokers and len(options.beside_brokers) != len(others):
        raise SourceError(
            f"--beside-brokers is given {len(options.beside_brokers)} times and --beside {len(others)} times; give "
            "one for each other cluster, in the same order, or none."
        )
    known = [read_brokers(Path(given)) for given in options.beside_brokers]
    brokers = {each.cluster: of for each, of in zip(others, known, strict=False)}

    def read(spark: SparkSession, cluster: str, keep: Keep) -> Logged:
        table = Table.open(folder_at(options.table, spark), cluster)
        window = Window(options.first_day, options.last_day)
        return read_table(spark, table, window, keep, brokers.get(cluster, KnownBrokers()))

    return partial(compare.write_comparison, wanted=_wanted(options), others=others, read=read)


ANALYSES: Mapping[str, Analysis] = {
    "replay": Analysis(
        "what the logged requests would be answered with an edit of the ACLs",
        _replay,
        replay.summary,
        replay.STEPS,
        _add_delta,
    ),
    "load-bearing": Analysis(
        "which ACLs the logged requests need, and which may go",
        _load_bearing,
        load_bearing.summary,
        load_bearing.STEPS,
        _add_load_bearing,
    ),
    "refusals": Analysis(
        "who was denied what, why, and what would have allowed it",
        lambda _: refusals.write_refusals,
        refusals.summary,
        refusals.STEPS,
    ),
    "least-privilege": Analysis(
        "the fewest rights that would have allowed what each principal did",
        _least_privilege,
        least_privilege.summary,
        least_privilege.STEPS,
        _add_choices,
    ),
    "matrix": Analysis(
        "which principals used which topics, beside what they may use",
        _matrix,
        matrix.summary,
        matrix.STEPS,
        _add_evidence,
    ),
    "disagreement": Analysis(
        "where the log answers otherwise than the ACLs, and why",
        _disagreement,
        disagreement.summary,
        disagreement.STEPS,
        add_history,
    ),
    "compare": Analysis(
        "what one cluster uses beside others, and what is permitted on one and denied on another",
        _compare,
        compare.summary,
        compare.STEPS,
        _add_compare,
    ),
    "anomalies": Analysis(
        "what was new, far more often than usual, or back",
        _anomalies,
        anomalies.summary,
        anomalies.STEPS,
        _add_lately,
    ),
}
