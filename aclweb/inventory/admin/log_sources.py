"""Say where the authorizer logs of a cluster are, and what is known of them, with a record of who said so.

Values are checked here, whoever asks. Nothing is read: what is at a path, a worker finds out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from zoneinfo import ZoneInfo

from django.db import transaction

from aclweb.acl.model import NotationError
from aclweb.acl.notation import LAYOUTS, RECORD_LAYOUTS, of_pattern
from aclweb.audit import trail
from aclweb.inventory.models import Cluster, LogSource

trail.register("logs.added", "{actor} added the log source {path} of {cluster}: {told}.")
trail.register("logs.changed", "{actor} changed the log source {path} of {cluster}: {told}.")
trail.register("logs.removed", "{actor} removed the log source {path} of {cluster}.")

FIELDS = ("path", "broker", "time_zone", "layout", "pattern", "level")
# Characters, as the columns have them.
_LONGEST = {"path": 1000, "broker": 200, "time_zone": 64, "layout": 60, "pattern": 500, "level": 5}
_WORDS = {"time_zone": "time zone"}


class LogSourceError(Exception):
    """A log source that cannot be kept as asked. faults: a sentence for each field that is wrong."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(" ".join(faults.values()))
        self.faults = dict(faults)


def add(
    *,
    actor: trail.Named | str,
    cluster: Cluster,
    within: Sequence[Path] | None = None,
    **given: str,
) -> LogSource:
    """Add a log source and return it.

    within: the folders in which its path may be, None for any. given: values of FIELDS, of which path is needed.
    Raises LogSourceError.
    """
    values = {**dict.fromkeys(FIELDS, ""), **_cleaned(given)}
    with transaction.atomic():
        # So that two who add the same path wait for each other.
        Cluster.objects.select_for_update().get(pk=cluster.pk)
        _check(cluster, values, None, within)
        source = LogSource.objects.create(cluster=cluster, **values)
        _record(actor, "logs.added", source, told=_in_words(values))
    return source


def change(
    *, actor: trail.Named | str, source: LogSource, within: Sequence[Path] | None = None, **given: str
) -> bool:
    """Change values of FIELDS; return False if nothing differs. Raises LogSourceError.

    within: the folders in which another path may be, None for any.
    """
    with transaction.atomic():
        Cluster.objects.select_for_update().get(pk=source.cluster_id)
        row = LogSource.objects.get(pk=source.pk)
        before = {name: getattr(row, name) for name in FIELDS}
        values = before | _cleaned(given)
        differing = {name: value for name, value in values.items() if before[name] != value}
        if not differing:
            return False
        _check(row.cluster, values, row, within if "path" in differing else None)
        for name, value in differing.items():
            setattr(row, name, value)
        row.save(update_fields=list(differing))
        _record(actor, "logs.changed", row, told=_in_words(differing))
    source.refresh_from_db()
    return True


def remove(*, actor: trail.Named | str, source: LogSource) -> None:
    """Remove a log source; what was read of it stays."""
    with transaction.atomic():
        _record(actor, "logs.removed", source)
        source.delete()


def set_paths(*, actor: trail.Named | str, cluster: Cluster, paths: Sequence[str]) -> bool:
    """Have exactly these paths as log sources; those that are there already keep what is known of them.

    Return False if nothing differs. Raises LogSourceError.
    """
    with transaction.atomic():
        there = {source.path: source for source in cluster.log_sources.all()}
        wanted = dict.fromkeys(path.strip() for path in paths if path.strip())
        for path, source in there.items():
            if path not in wanted:
                remove(actor=actor, source=source)
        for path in wanted:
            if path not in there:
                add(actor=actor, cluster=cluster, path=path)
    return there.keys() != wanted.keys()


def for_job(cluster: Cluster) -> list[dict[str, str]]:
    """Return the log sources as the pipeline's option `--source` takes them: what is not empty."""
    rows = cluster.log_sources.values(*FIELDS)
    return [{name: value for name, value in row.items() if value} for row in rows]


def _cleaned(given: Mapping[str, str]) -> dict[str, str]:
    return {name: value if name == "pattern" else value.strip() for name, value in given.items()}


def _check(
    cluster: Cluster, values: Mapping[str, str], row: LogSource | None, within: Sequence[Path] | None
) -> None:
    faults = {}
    for name in FIELDS:
        longest = _LONGEST[name]
        if len(values[name]) > longest:
            faults[name] = f"This has {len(values[name]):,} characters; up to {longest:,} fit."
        elif any(sign < " " or sign == "\x7f" for sign in values[name]):
            faults[name] = "This holds a line break or another control character; leave it out."
        elif fault := _fault(name, values[name]):
            faults[name] = fault
    if within is not None and "path" not in faults and not _is_within(values["path"], within):
        faults["path"] = (
            f"{values['path']} is outside the folders in which a page may name logs; name one below "
            f"{' or '.join(map(str, within))}, or ask who runs aclweb to add its folder to ACLWEB_LOG_FOLDERS."
        )
    elif within is not None and "path" not in faults and _is_anothers(cluster, values["path"]):
        faults["path"] = (
            f"{values['path']} means logs of another cluster too; name those of {cluster} alone, or have them "
            "set on the command line."
        )
    if values["layout"] and values["pattern"]:
        faults.setdefault("pattern", "A layout is chosen too; give a layout or a pattern.")
    there = cluster.log_sources.filter(path=values["path"]).first()
    if "path" not in faults and there is not None and there != row:
        faults["path"] = f"{values['path']} is a log source of {cluster} already; change that one."
    if faults:
        raise LogSourceError(faults)


def _fault(name: str, value: str) -> str:
    """Return what is wrong with a value, empty if nothing is."""
    if name == "path":
        return _path_fault(value)
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
    if name == "level" and value not in LogSource.Level.values:
        return f"{value!r} is no level; use DEBUG or INFO, or leave it open."
    return ""


def _path_fault(value: str) -> str:
    if not value:
        return "Name a file, a folder or a pattern, such as /var/log/kafka/kafka-authorizer.log*."
    if "://" in value:
        return f"{value!r} is not on the worker's machine, so it is unknown what is new in it; name a path there."
    return ""


def _is_within(path: str, folders: Sequence[Path]) -> bool:
    """Whether a path, or each path of a pattern, is below one of some folders."""
    asked = Path(path)
    return ".." not in asked.parts and any(
        folder in asked.parents or folder == asked for folder in folders if asked.is_absolute()
    )


def _is_anothers(cluster: Cluster, path: str) -> bool:
    """Whether a path means what a log source of another cluster means, as far as their texts tell."""
    others = LogSource.objects.exclude(cluster=cluster).values_list("path", flat=True)
    return any(_means(path, other) or _means(other, path) for other in others)


def _means(one: str, other: str) -> bool:
    """Whether two files, folders or patterns may have a file in common, or the first is a folder of the second."""
    ours, theirs = Path(one).parts, Path(other).parts
    return all(fnmatchcase(a, b) or fnmatchcase(b, a) for a, b in zip(ours, theirs, strict=False)) and (
        len(ours) <= len(theirs) if not re.search(r"[*?\[]", Path(one).name) else len(ours) == len(theirs)
    )


def _record(actor: trail.Named | str, verb: str, source: LogSource, **facts: str) -> None:
    trail.record(
        actor=actor,
        verb=verb,
        target=f"cluster:{source.cluster.slug}",
        cluster=source.cluster.name,
        path=source.path,
        **facts,
    )


def _in_words(values: Mapping[str, str]) -> str:
    told = [
        f"{_WORDS.get(name, name)} is {value or 'not set'}"
        for name, value in values.items()
        if value or len(values) < len(FIELDS)
    ]
    return ", ".join(told)
