"""How are the topics of a cluster read into its access table, in the run that reads its log files?

A topic that cannot be read costs itself: the table says which and why, so that nothing is called unused meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from aclweb.acl.model import AclError
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.files import REFUSED, FileState, SourceError
from aclweb.pipeline.given import text_of
from aclweb.pipeline.log_sources import TopicSource
from aclweb.pipeline.readings import Reading
from aclweb.pipeline.storage import Folder
from aclweb.pipeline.table.changing import commit_and_sweep, next_version
from aclweb.pipeline.table.parts import TableError
from aclweb.pipeline.table.reading import folder_of
from aclweb.pipeline.table.versions import latest
from aclweb.pipeline.topics import SCHEME, Report, Topic, read_client_options, stream


def topic_of(source: TopicSource) -> Topic:
    """Return the topic that a source means, with the settings of its client. Raises SourceError, NotationError."""
    settings = text_of(Path(source.options), "The settings of the Kafka client") if source.options else ""
    return Topic(source.topic, source.kafka, read_client_options(settings), source.broker_by)


def extend_from_topics(
    spark: SparkSession,
    sources: Sequence[TopicSource],
    table: Folder | Path,
    cluster: str,
    *,
    keep_days: int,
    report: Report,
    step: Callable[[TopicSource], None],
) -> tuple[str, ...]:
    """Add what is new in some topics; return a sentence for each that could not be read.

    report: is given a sentence for each change of the table. step: is given each topic before it is read.
    """
    failed: dict[str, FileState] = {}
    for source in sources:
        step(source)
        try:
            stream(
                spark,
                topic_of(source),
                table,
                cluster,
                reading=Reading(source.layout or "", source.zone),
                keep_days=keep_days,
                report=report,
            )
        except (AclError, JobError, SourceError, TableError) as error:
            failed[f"{SCHEME}{source.topic}/"] = FileState(REFUSED, str(error))
    note_unread(table, cluster, failed)
    return tuple(state.reason for state in failed.values())


def note_unread(table: Folder | Path, cluster: str, failed: Mapping[str, FileState]) -> None:
    """Keep in the table which topics cannot be read now, in the place of those that could not before."""
    folder = folder_of(table, cluster)
    base = latest(folder)
    if base is None:
        return
    files = {path: found for path, found in base.problems.items() if not path.startswith(SCHEME)}
    problems = files | {topic: state.as_dict() for topic, state in failed.items()}
    if problems == base.problems:
        return
    version = next_version(
        base,
        cluster,
        {},
        samples=base.samples,
        sources=base.sources,
        problems=problems,
        oldest_day="",
    )
    commit_and_sweep(folder, version)
