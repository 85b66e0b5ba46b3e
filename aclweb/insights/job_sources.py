"""What does a job get of the log sources of a cluster: where they are, and for topics how to log in?

What a login needs is in a file of its own that only this user may read, in a folder that is gone when the job has
ended. So it is on no command line, in no environment and in no message.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from aclweb.clusters import ClusterError
from aclweb.clusters.connection import java_settings
from aclweb.insights.errors import InsightsError
from aclweb.inventory.current import connection_of
from aclweb.inventory.models import Cluster, LogSource
from aclweb.pipeline.connector import find, installed_spark, jars_with


def write_sources(sources: Sequence[dict[str, Any]], folder: Path) -> Path:
    """Write log sources as the option `--source` takes them; return the file. folder: one of this user alone.

    sources: as `log_sources.for_job` returns them. Raises InsightsError where a login cannot be used.
    """
    file = folder / "sources.json"
    given = [_with_login(source, folder / f"client-{number}") for number, source in enumerate(sources)]
    _write_private(file, json.dumps(given))
    return file


def _with_login(source: dict[str, Any], file: Path) -> dict[str, Any]:
    if "topic" not in source:
        return source
    cluster = Cluster.objects.get(slug=source["topic_on"])
    try:
        connection = connection_of(cluster)
        lines = [f"{name}={value}" for name, value in java_settings(connection).items()]
        address = connection.kind.normalised(connection.address)
    except ClusterError as error:
        raise InsightsError(
            f"The topic {source['topic']} was not read, because {cluster} cannot be reached. {error}"
        ) from error
    _write_private(file, "\n".join((*lines, "")))
    told = {name: value for name, value in source.items() if name != "topic_on"}
    return told | {"kafka": address, "options": str(file)}


def _write_private(file: Path, text: str) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)


def connector() -> list[str]:
    """Return the words with which Spark gets its connector for Kafka; none where no cluster has a topic.

    They are the same for all clusters, which so share one Spark. Raises InsightsError where its jars do not do.
    """
    folder = settings.ACLWEB_KAFKA_CONNECTOR
    if not folder or not LogSource.objects.exclude(topic="").exists():
        return []
    spark = installed_spark()
    found = find(folder, spark) if spark else None
    if spark is None or found is None:
        return []
    if found.problem:
        raise InsightsError(f"{found.problem} `manage.py doctor` says how to get jars that do.")
    # What spark-defaults.conf names, Spark gets anyway.
    is_given = Path(found.where) == Path(folder)
    return ["--conf", f"spark.jars={','.join(jars_with(folder, spark))}"] if is_given else []
