"""A folder with the names of the jars of Spark's connector for Kafka; they hold nothing."""

from __future__ import annotations

from pathlib import Path

from aclweb.pipeline.connector import CONNECTOR


def connector_in(folder: Path, **versions: str) -> list[Path]:
    """Make the jars and return them in their order. versions: others than tested, by what a jar's name begins with."""
    jars = []
    for coordinates in CONNECTOR:
        artifact, number = coordinates.split(":")[1:]
        other = [given for begin, given in versions.items() if artifact.startswith(begin.replace("_", "-"))]
        jars.append(folder / f"{artifact}-{other[0] if other else number}.jar")
    for jar in jars:
        jar.touch()
    return sorted(jars)
