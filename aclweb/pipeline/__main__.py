"""Run a job over the authorizer logs: `python -m aclweb.pipeline usage`.

Exit status: 0 the job is done; 1 it could not be run to its end; 2 bad input or usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from aclweb.acl.model import AclError
from aclweb.pipeline.job import run_usage, summary
from aclweb.pipeline.results import ResultError
from aclweb.pipeline.session import SessionError, spark_session
from aclweb.pipeline.snapshot import read_snapshot
from aclweb.pipeline.sources import SourceError, bytes_in, log_files

# Logs smaller than this are read before an optimising compiler has paid for itself.
_SMALL_BYTES = 256 * 1024 * 1024


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        snapshot = read_snapshot(Path(options.snapshot))
        files = log_files(options.log)
        _progress(f"Starting Spark on {options.master} for {len(files)} log files.")
        with spark_session(options.master, brief=bytes_in(files) < _SMALL_BYTES) as spark:
            _progress("Counting, parsing and deciding.")
            manifest = run_usage(spark, snapshot, files, Path(options.out))
    except (AclError, SourceError, ResultError) as error:
        print(error, file=sys.stderr)
        return 2
    except SessionError as error:
        print(error, file=sys.stderr)
        return 1
    except Exception as error:
        # Spark's errors hold a page of Java; the first line says what happened.
        lines = str(error).strip().splitlines()
        print(f"The job failed: {lines[0] if lines else type(error).__name__}", file=sys.stderr)
        return 1
    print("\n".join(summary(manifest)))
    print(f"Written to {options.out}.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m aclweb.pipeline", description="Learn from Kafka's authorizer logs with Spark."
    )
    jobs = parser.add_subparsers(dest="job", required=True, metavar="JOB")
    usage = jobs.add_parser("usage", help="which ACLs were used, who was refused, what the logs confirm")
    usage.add_argument(
        "--snapshot", required=True, help="the cluster: a header line, then an ACL a line (JSON)"
    )
    usage.add_argument(
        "--log",
        required=True,
        action="extend",
        nargs="+",
        metavar="PATH",
        help="authorizer logs: files (.gz too), folders, or patterns in quotes",
    )
    usage.add_argument(
        "--out", required=True, help="the folder for the result; an earlier result is replaced"
    )
    usage.add_argument(
        "--master", default="local[*]", help="where Spark runs (default: all cores of this machine)"
    )
    return parser


def _progress(sentence: str) -> None:
    if sys.stderr.isatty():
        print(sentence, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
