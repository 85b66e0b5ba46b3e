"""Has Spark its connector for Kafka here, of which version, and does it fit?

Spark comes without it. Its jars are in a folder that somebody names, among Spark's own jars, or named in
spark-defaults.conf. The first two are looked into; of the last, only the names are known. No Spark is started.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from aclweb.pipeline import environment

CONNECTOR = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.13.1",
)
"""Spark's connector for Kafka and all that it needs beside Spark, as it is tested."""

_ITSELF = "spark-sql-kafka-0-10"
_NEEDED = (_ITSELF, "spark-token-provider-kafka-0-10", "kafka-clients", "commons-pool2")
_JAR = re.compile(rf"({'|'.join(map(re.escape, _NEEDED))})(?:_([0-9.]+))?[-:]([0-9][\w.-]*?)(?:\.jar)?")
_DEFAULTS = "spark-defaults.conf"


@dataclass(frozen=True)
class Spark:
    """The Spark that is installed: its version, that of its Scala, and the folders of its jars and settings."""

    version: str
    scala: str
    jars: Path
    conf: Path


@dataclass(frozen=True)
class Found:
    """A connector. where: a folder or a file. version: empty where there is none. problem: why it cannot be used."""

    where: str
    version: str
    problem: str = ""
    is_tested: bool = False


def installed_spark() -> Spark | None:
    """Return the Spark of this Python, None where there is none."""
    spec = find_spec("pyspark")
    try:
        found = version("pyspark")
    except PackageNotFoundError:
        return None
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent
    scala = next(iter(sorted((home / "jars").glob("scala-library-*.jar"))), None)
    number = scala.stem.removeprefix("scala-library-") if scala else ""
    conf = environment.of_this_process().conf_dir
    return Spark(found, ".".join(number.split(".")[:2]), home / "jars", Path(conf) if conf else home / "conf")


def find(folder: str, spark: Spark) -> Found | None:
    """Return the connector that log jobs get; None where nobody named one. folder: that somebody named, or empty."""
    defaults = spark.conf / _DEFAULTS
    named = dict(_versions(map(_file_name, _named_in(defaults, r"spark\.jars(\.packages)?"))))
    if _ITSELF in named:
        # What it needs beside itself, Spark may fetch.
        return _judged(str(defaults), named, spark, needed=(_ITSELF,))
    if folder:
        return _in_folder(Path(folder), spark)
    own = dict(_versions(file.name for file in _jars_in(spark.jars)))
    return _judged(str(spark.jars), own, spark) if _ITSELF in own else None


def jars_with(folder: str, spark: Spark) -> list[str]:
    """Return the jars that Spark needs to have the connector of a folder beside those that it gets anyway."""
    return [*_named_in(spark.conf / _DEFAULTS, r"spark\.jars"), *map(str, _jars_in(Path(folder)))]


def _in_folder(folder: Path, spark: Spark) -> Found:
    jars = _jars_in(folder)
    if not jars:
        return Found(str(folder), "", f"There is no jar in {folder}, which ACLWEB_KAFKA_CONNECTOR names.")
    return _judged(str(folder), dict(_versions(file.name for file in jars)), spark)


def _judged(
    where: str,
    named: Mapping[str, tuple[str, str]],
    spark: Spark,
    needed: Iterable[str] = _NEEDED,
) -> Found:
    """Return a connector with what is wrong with it. named: the Scala and the version of each of its jars."""
    if lacking := [name for name in needed if name not in named]:
        return Found(where, "", f"In {where} there is no jar of {' and '.join(lacking)}.")
    scala, number = named[_ITSELF]
    called = f"Spark's connector for Kafka {number} in {where}"
    if spark.scala and scala != spark.scala:
        return Found(
            where,
            number,
            f"{called} is for Scala {scala}, and Spark {spark.version} has Scala {spark.scala}.",
        )
    if number.split(".")[0] != spark.version.split(".")[0]:
        return Found(where, number, f"{called} is not for Spark {spark.version}, which is installed.")
    tested = dict(_versions(text.partition(":")[2] for text in CONNECTOR))
    return Found(where, number, is_tested=dict(named) == tested)


def _jars_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jar"))


def _named_in(defaults: Path, key: str) -> list[str]:
    """Return what spark-defaults.conf has for keys like this one: paths of jars, or their coordinates."""
    try:
        lines = defaults.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    found = [line[match.end() :] for line in lines if (match := re.match(rf"\s*{key}\s*[\s=:]\s*", line))]
    return [text for value in found for text in re.split(r"[\s,]+", value) if text]


def _file_name(named: str) -> str:
    """Return the name of the file that a path means, or ARTIFACT:VERSION of coordinates."""
    return named.rpartition("/")[2] if named.endswith(".jar") else named.partition(":")[2]


def _versions(names: Iterable[str]) -> list[tuple[str, tuple[str, str]]]:
    """Return the Scala and the version of each jar that belongs to it. names: of jars, or ARTIFACT:VERSION."""
    matched = (_JAR.fullmatch(name) for name in names)
    return [(found[1], (found[2] or "", found[3])) for found in matched if found]
