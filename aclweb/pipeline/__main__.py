"""Run a job over the authorizer logs: `python -m aclweb.pipeline usage`.

Exit status: 0 the job is done; 1 it could not be run to its end; 2 bad input or usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from aclweb.acl.model import AclError
from aclweb.pipeline.environment import SettingError
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.files import SourceError, bytes_in, log_files
from aclweb.pipeline.job import run_usage
from aclweb.pipeline.manifest import summary, warnings
from aclweb.pipeline.preflight import check_executors
from aclweb.pipeline.results import ResultError
from aclweb.pipeline.session import SessionError, runs_here, spark_session
from aclweb.pipeline.shipping import write_package
from aclweb.pipeline.snapshot import read_snapshot

# Logs smaller than this are read before an optimising compiler has paid for itself.
_SMALL_BYTES = 256 * 1024 * 1024


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.job == "package":
        return _package(Path(options.out))
    try:
        conf = _settings(options.conf)
        snapshot = read_snapshot(Path(options.snapshot))
        files = log_files(options.log)
        _progress(f"Starting Spark for {len(files)} log files.")
        with spark_session(options.master, conf=conf, brief=bytes_in(files) < _SMALL_BYTES) as spark:
            if not runs_here(spark):
                check_executors(spark, files)
            _progress("Counting, parsing and deciding.")
            manifest = run_usage(spark, snapshot, files, Path(options.out))
    except (AclError, SettingError, SourceError, ResultError) as error:
        print(error, file=sys.stderr)
        return 2
    except SessionError as error:
        print(error, file=sys.stderr)
        return 1
    except JobError as error:
        print(f"The job failed: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"The job failed: {error.strerror or error}: {error.filename}", file=sys.stderr)
        return 1
    for warning in warnings(manifest):
        print(warning, file=sys.stderr)
    print("\n".join(summary(manifest)))
    print(f"Written to {options.out}.")
    return 0


def _package(directory: Path) -> int:
    try:
        packed, entry = write_package(directory)
    except OSError as error:
        print(f"{directory} cannot be written: {error.strerror or error}.", file=sys.stderr)
        return 2
    print(f"Written {packed} and {entry}. Start a job with:")
    print(f"spark-submit --py-files {packed} {entry} usage --snapshot SNAPSHOT --log PATH… --out DIR")
    return 0


def _settings(given: Sequence[str]) -> dict[str, str]:
    """Return the settings of --conf; a value is in no message, since it may be a secret."""
    found = {}
    for each in given:
        key, equals, value = each.partition("=")
        if not equals or not key.startswith("spark."):
            shown = repr(key) if equals else "an argument without '='"
            raise SourceError(
                f"--conf is given {shown}; write KEY=VALUE with a setting of Spark, such as "
                "spark.executor.memory=4g."
            )
        found[key] = value
    return found


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
        "--master",
        help="where Spark runs (default: what spark-submit, spark-defaults.conf or MASTER say, else this machine)",
    )
    usage.add_argument(
        "--conf",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting of Spark; may be given again for further ones",
    )
    package = jobs.add_parser("package", help="write aclweb.zip and run_pipeline.py for spark-submit")
    package.add_argument("--out", required=True, help="the folder for the two files")
    return parser


def _progress(sentence: str) -> None:
    if sys.stderr.isatty():
        print(sentence, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
