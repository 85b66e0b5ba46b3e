"""With which words and files does a worker start a job?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from aclweb.insights.analyses.jobs import AnalysisJob
from aclweb.insights.current import current_load
from aclweb.insights.models import RetiredBroker
from aclweb.inventory.current import in_force
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import history_lines, snapshot_text


def write_inputs(
    cluster: Cluster, job: AnalysisJob, folder: Path, *, delta: str = "", beside: Sequence[Cluster] = ()
) -> tuple[int | None, list[str]]:
    """Write what a job reads beside the access table; return the revision of the ACLs, and the words that name all.

    delta: the edit that it is about. beside: the other clusters that it is about.
    """
    number, snapshot, brokers = _write_cluster(cluster, folder, "")
    words = ["--cluster", cluster.slug, "--table", str(settings.ACLWEB_ACCESS_TABLE)]
    words += ["--snapshot", str(snapshot), "--brokers", str(brokers)]
    for place, other in enumerate(beside, start=1):
        _, snapshot, brokers = _write_cluster(other, folder, f"-{place}")
        words += ["--beside", str(snapshot), "--beside-brokers", str(brokers)]
    if job.ages:
        history = folder / "history.jsonl"
        with history.open("w", encoding="utf-8") as file:
            file.writelines(history_lines(cluster))
        words += ["--history", str(history)]
    if job.edit:
        edit = folder / "delta.jsonl"
        edit.write_text(delta, encoding="utf-8")
        words += ["--delta", str(edit)]
    return number, words


def _write_cluster(cluster: Cluster, folder: Path, ending: str) -> tuple[int | None, Path, Path]:
    """Write what is in force on a cluster, and its brokers; return the revision, and both files."""
    view = in_force(cluster)
    snapshot = folder / f"acls{ending}.jsonl"
    snapshot.write_text(snapshot_text(view), encoding="utf-8")
    brokers = folder / f"brokers{ending}.json"
    brokers.write_text(json.dumps(_brokers(cluster)), encoding="utf-8")
    return view.revision.number if view.revision else None, snapshot, brokers


def options_of(job: AnalysisJob, given: Mapping[str, str]) -> list[str]:
    """Return the words for the options that were chosen, and for what a log must hold before it claims anything."""
    words: list[str] = []
    for option in job.options:
        words += [option.flag, given.get(option.name, option.default)]
    if job.claims:
        # The command takes no share of 0, which is as good as 1.
        share = max(1, settings.ACLWEB_UNUSED_HOURS_PERCENT)
        words += ["--days", str(settings.ACLWEB_UNUSED_DAYS), "--percent", str(share)]
    return words


def _brokers(cluster: Cluster) -> list[dict[str, Any]]:
    """Return what the option `--brokers` takes: what brokers are called on pages, and which are gone."""
    load = current_load(cluster)
    files = load.manifest.get("files", ()) if load is not None else ()
    levels = load.levels if load is not None else {}
    named = [
        {"broker": file["broker"], "path": file["path"]}
        | ({"level": levels[file["broker"]]} if file["broker"] in levels else {})
        for file in files
        if file.get("broker")
    ]
    retired = RetiredBroker.objects.filter(cluster=cluster).order_by("broker")
    return [*named, *({"broker": row.broker, "gone_since": row.since.isoformat()} for row in retired)]
