"""Say where the authorizer logs of a cluster are, and what is known of them, with a record of who said so.

Values are checked here, whoever asks. Nothing is read: what is at a path or in a topic, a worker finds out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction

from aclweb.acl.model import NotationError
from aclweb.acl.notation import LAYOUTS, RECORD_LAYOUTS, of_pattern
from aclweb.audit import trail
from aclweb.inventory.models import Cluster, LogSource

trail.register("logs.added", "{actor} added the log source {path} of {cluster}: {told}.")
trail.register("logs.changed", "{actor} changed the log source {path} of {cluster}: {told}.")
trail.register("logs.removed", "{actor} removed the log source {path} of {cluster}.")

OF_TOPIC = ("topic", "topic_on", "broker_by")
FIELDS = ("path", "recursive", *OF_TOPIC, "broker", "time_zone", "layout", "pattern", "level")
"""A source has a path, or a topic: `topic_on` is the short name of the cluster that has it."""

RECURSIVE = "yes"
"""The value of `recursive` where a folder means the files of the folders in it too; empty where it does not."""

# Characters, as the columns have them.
_LONGEST = {
    "path": 1000,
    "recursive": 3,
    "topic": 249,
    "topic_on": 60,
    "broker_by": 5,
    "broker": 200,
    "time_zone": 64,
    "layout": 60,
    "pattern": 500,
    "level": 5,
}
_WORDS = {"time_zone": "time zone", "topic_on": "the topic's cluster", "broker_by": "the broker's name"}
_WORDS |= {"recursive": "reading folders in a folder"}
_TOPIC_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
# What only a path has: a topic says it itself.
_NOT_OF_TOPIC = {
    "path": "A topic is named too; a source is a path or a topic, so leave one of them empty.",
    "recursive": "A topic has no folders; leave this empty.",
    "broker": "The messages of a topic name their brokers, or nothing does; leave this empty.",
    "level": "What a topic holds is read from it; leave this open.",
}


class LogSourceError(Exception):
    """A log source that cannot be kept as asked. faults: a sentence for each field that is wrong."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(" ".join(faults.values()))
        self.faults = dict(faults)


@dataclass(frozen=True)
class Limits:
    """What a person on a page may name, whose words a worker and aclweb's logins follow.

    folders: in which a path may be. clusters: the short names of those whose topics may be read.
    """

    folders: Sequence[Path]
    clusters: Collection[str]


def add(
    *,
    actor: trail.Named | str,
    cluster: Cluster,
    within: Limits | None = None,
    **given: str,
) -> LogSource:
    """Add a log source and return it.

    within: what may be named, None for anything. given: values of FIELDS, of which path or topic is needed; a topic is
    of this cluster unless `topic_on` says another. Raises LogSourceError.
    """
    values = _whole(cluster, {**dict.fromkeys(FIELDS, ""), **_cleaned(given)})
    with transaction.atomic():
        # So that two who add the same path wait for each other.
        Cluster.objects.select_for_update().get(pk=cluster.pk)
        _check(cluster, values, None, within)
        source = LogSource.objects.create(cluster=cluster, **_columns(values))
        _record(actor, "logs.added", source, told=_in_words(values))
    return source


def change(
    *, actor: trail.Named | str, source: LogSource, within: Limits | None = None, **given: str
) -> bool:
    """Change values of FIELDS; return False if nothing differs. Raises LogSourceError.

    within: what may be named in the place of the path or topic before, None for anything.
    """
    with transaction.atomic():
        Cluster.objects.select_for_update().get(pk=source.cluster_id)
        row = LogSource.objects.select_related("cluster", "topic_cluster").get(pk=source.pk)
        before = texts_of(row)
        values = _whole(row.cluster, before | _cleaned(given))
        differing = {name: value for name, value in values.items() if before[name] != value}
        if not differing:
            return False
        # What is below a folder was not named before either.
        is_elsewhere = any(name in differing for name in ("path", "topic", "topic_on")) or differing.get(
            "recursive"
        )
        _check(row.cluster, values, row, within if is_elsewhere else None)
        columns = _columns(differing)
        for name, value in columns.items():
            setattr(row, name, value)
        row.save(update_fields=list(columns))
        _record(actor, "logs.changed", row, told=_in_words(differing))
    source.refresh_from_db()
    return True


def texts_of(source: LogSource) -> dict[str, str]:
    """Return the values of FIELDS that a log source has, as texts."""
    found = {name: str(getattr(source, name)) for name in FIELDS}
    return found | {"recursive": RECURSIVE if source.recursive else ""}


def _whole(cluster: Cluster, values: Mapping[str, str]) -> dict[str, str]:
    """Return values in which a topic has a cluster and a way to name brokers, and a path has neither."""
    if not values["topic"]:
        return {**values, "topic_on": "", "broker_by": ""}
    return {
        **values,
        "topic_on": values["topic_on"] or cluster.slug,
        "broker_by": values["broker_by"] or LogSource.BrokerBy.KEY.value,
    }


def _columns(values: Mapping[str, str]) -> dict[str, Any]:
    """Return values of FIELDS as the model has them."""
    columns: dict[str, Any] = {name: value for name, value in values.items() if name != "topic_on"}
    if "topic_on" in values:
        columns["topic_cluster"] = Cluster.objects.filter(slug=values["topic_on"]).first()
    if "recursive" in values:
        columns["recursive"] = bool(values["recursive"])
    return columns


def remove(*, actor: trail.Named | str, source: LogSource) -> None:
    """Remove a log source; what was read of it stays."""
    with transaction.atomic():
        _record(actor, "logs.removed", source)
        source.delete()


def set_paths(
    *, actor: trail.Named | str, cluster: Cluster, paths: Sequence[str], recursive: bool | None = None
) -> bool:
    """Have exactly these paths as log sources; those that are there already keep what is known of them.

    recursive: whether the folders among them mean the files of folders in them too; None keeps what is said of each.
    Return False if nothing differs. Raises LogSourceError.
    """
    given: dict[str, Any] = {} if recursive is None else {"recursive": RECURSIVE if recursive else ""}
    with transaction.atomic():
        there = {source.path: source for source in cluster.log_sources.filter(topic="")}
        wanted = dict.fromkeys(path.strip() for path in paths if path.strip())
        for path, source in there.items():
            if path not in wanted:
                remove(actor=actor, source=source)
        changed = there.keys() != wanted.keys()
        for path in wanted:
            if path not in there:
                add(actor=actor, cluster=cluster, path=path, **given)
            elif given:
                changed = change(actor=actor, source=there[path], **given) or changed
    return changed


def set_topics(*, actor: trail.Named | str, cluster: Cluster, topics: Sequence[str], broker_by: str) -> bool:
    """Have exactly these topics as log sources, each as TOPIC or TOPIC@CLUSTER; what is known of others stays.

    Return False if nothing differs. Raises LogSourceError.
    """
    with transaction.atomic():
        rows = cluster.log_sources.exclude(topic="").select_related("topic_cluster")
        there = {(source.topic, source.topic_on): source for source in rows}
        wanted: dict[tuple[str, str], None] = {}
        for text in filter(None, (text.strip() for text in topics)):
            topic, _, on = text.partition("@")
            wanted[topic, on or cluster.slug] = None
        changed = there.keys() != wanted.keys()
        for key, source in there.items():
            if key not in wanted:
                remove(actor=actor, source=source)
        for topic, on in wanted:
            if (topic, on) not in there:
                add(actor=actor, cluster=cluster, topic=topic, topic_on=on, broker_by=broker_by)
            elif broker_by:
                changed = change(actor=actor, source=there[topic, on], broker_by=broker_by) or changed
    return changed


def for_job(cluster: Cluster) -> list[dict[str, Any]]:
    """Return what is known of each log source, without what is empty.

    The pipeline's option `--source` takes it so, where the cluster of a topic is replaced by how it is reached.
    """
    rows = cluster.log_sources.select_related("topic_cluster")
    return [
        {name: value if name != "recursive" else True for name, value in texts_of(row).items() if value}
        for row in rows
    ]


def _cleaned(given: Mapping[str, str]) -> dict[str, str]:
    return {name: value if name == "pattern" else value.strip() for name, value in given.items()}


def _check(cluster: Cluster, values: Mapping[str, str], row: LogSource | None, within: Limits | None) -> None:
    faults = {}
    for name in FIELDS:
        longest = _LONGEST[name]
        if len(values[name]) > longest:
            faults[name] = f"This has {len(values[name]):,} characters; up to {longest:,} fit."
        elif any(sign < " " or sign == "\x7f" for sign in values[name]):
            faults[name] = "This holds a line break or another control character; leave it out."
        elif fault := _fault(name, values[name]):
            faults[name] = fault
    faults |= (
        _topic_faults(cluster, values, within)
        if values["topic"]
        else _path_faults(cluster, values, within, faults)
    )
    if values["layout"] and values["pattern"]:
        faults.setdefault("pattern", "A layout is chosen too; give a layout or a pattern.")
    if not faults and (field := _there_already(cluster, values, row)):
        faults[field] = f"{values[field]} is a log source of {cluster} already; change that one."
    if faults:
        raise LogSourceError(faults)


def _path_faults(
    cluster: Cluster, values: Mapping[str, str], within: Limits | None, known: Mapping[str, str]
) -> dict[str, str]:
    """Return what is wrong with a path that is written as one; known: what is wrong already."""
    path = values["path"]
    if "path" in known:
        return {}
    if fault := _path_fault(path):
        return {"path": fault}
    if within is not None and not _is_within(path, within.folders):
        return {
            "path": f"{path} is outside the folders in which a page may name logs; name one below "
            f"{' or '.join(map(str, within.folders))}, or ask who runs aclweb to add its folder to ACLWEB_LOG_FOLDERS."
        }
    if within is not None and _is_anothers(cluster, path, is_recursive=bool(values["recursive"])):
        return {
            "path": f"{path} means logs of another cluster too; name those of {cluster} alone, or have them set on the "
            "command line."
        }
    return {}


def _topic_faults(cluster: Cluster, values: Mapping[str, str], within: Limits | None) -> dict[str, str]:
    faults = {name: fault for name, fault in _NOT_OF_TOPIC.items() if values[name]}
    topic, on = values["topic"], values["topic_on"]
    if not _TOPIC_NAME.fullmatch(topic) or topic in (".", ".."):
        faults["topic"] = f"{topic!r} is no name of a topic; one has letters, digits, '.', '_' and '-'."
    there = Cluster.objects.filter(slug=on).first()
    if there is None or (within is not None and on not in within.clusters):
        # One sentence for both, so that nobody learns which other clusters there are.
        faults["topic_on"] = (
            f"There is no cluster {on!r} that you administer; name one, whose login is then used."
        )
    elif not there.source.has_bootstrap_address:
        faults["topic_on"] = (
            f"{there} is read from {there.source.source}, so no broker of it is known; choose a cluster that is read "
            "from its brokers."
        )
    elif within is not None and there.topics_with_logs.filter(topic=topic).exclude(cluster=cluster).exists():
        faults.setdefault(
            "topic",
            f"{topic} of {there} is a log of another cluster too; name one of {cluster} alone, or have it set on the "
            "command line.",
        )
    return faults


def _there_already(cluster: Cluster, values: Mapping[str, str], row: LogSource | None) -> str:
    """Return the field that another source of the cluster has so already, empty if none has."""
    same = cluster.log_sources.exclude(pk=row.pk) if row else cluster.log_sources.all()
    if values["topic"]:
        is_there = same.filter(topic=values["topic"], topic_cluster__slug=values["topic_on"]).exists()
        return "topic" if is_there else ""
    return "path" if same.filter(path=values["path"], topic="").exists() else ""


def _fault(name: str, value: str) -> str:
    """Return what is wrong with a value, empty if nothing is."""
    if name == "time_zone" and value:
        try:
            ZoneInfo(value)
        except (OSError, ValueError, KeyError):
            return f"{value!r} is no time zone; write it as Europe/Berlin or UTC."
    if name == "layout" and value and value not in LAYOUTS:
        return f"{value!r} is no layout; use {', '.join(RECORD_LAYOUTS)}."
    if name == "pattern" and value:
        try:
            of_pattern(value)
        except NotationError as error:
            return str(error)
    if name == "broker_by" and value not in LogSource.BrokerBy.values:
        return f"{value!r} names no broker; use key or topic."
    if name == "recursive" and value not in ("", RECURSIVE):
        return f"{value!r} is no answer; write {RECURSIVE}, or leave it empty."
    if name == "level" and value not in LogSource.Level.values:
        return f"{value!r} is no level; use DEBUG or INFO, or leave it open."
    return ""


def _path_fault(value: str) -> str:
    if not value:
        return "Name a file, a folder or a pattern, such as /var/log/kafka/kafka-authorizer.log*, or a topic."
    if "://" in value:
        return f"{value!r} is not on the worker's machine, so it is unknown what is new in it; name a path there."
    return ""


def _is_within(path: str, folders: Sequence[Path]) -> bool:
    """Whether a path, or each path of a pattern, is below one of some folders."""
    asked = Path(path)
    return ".." not in asked.parts and any(
        folder in asked.parents or folder == asked for folder in folders if asked.is_absolute()
    )


def _is_anothers(cluster: Cluster, path: str, *, is_recursive: bool) -> bool:
    """Whether a path means what a log source of another cluster means, as far as their texts tell."""
    others = LogSource.objects.exclude(cluster=cluster).filter(topic="")
    return any(
        _means(path, other, is_recursive=is_recursive) or _means(other, path, is_recursive=is_theirs)
        for other, is_theirs in others.values_list("path", "recursive")
    )


def _means(one: str, other: str, *, is_recursive: bool) -> bool:
    """Whether two files, folders or patterns may have a file in common, or the first is a folder of the second.

    is_recursive: a pattern means the folders that it finds with all that is below them.
    """
    ours, theirs = Path(one).parts, Path(other).parts
    is_below = is_recursive or not re.search(r"[*?\[]", Path(one).name)
    return all(fnmatchcase(a, b) or fnmatchcase(b, a) for a, b in zip(ours, theirs, strict=False)) and (
        len(ours) <= len(theirs) if is_below else len(ours) == len(theirs)
    )


def _record(actor: trail.Named | str, verb: str, source: LogSource, **facts: str) -> None:
    trail.record(
        actor=actor,
        verb=verb,
        target=f"cluster:{source.cluster.slug}",
        cluster=source.cluster.name,
        path=str(source),
        **facts,
    )


def _in_words(values: Mapping[str, str]) -> str:
    told = [
        f"{_WORDS.get(name, name)} is {value or 'not set'}"
        for name, value in values.items()
        if value or len(values) < len(FIELDS)
    ]
    return ", ".join(told)
