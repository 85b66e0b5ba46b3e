"""Add what is new in a cluster's logs to its access table, and load what the table says.

Spark runs in a process group of its own, as a child: a worker that is stopped or runs out
of time ends the whole group and leaves no JVM behind. A lease in the database keeps two
processes, on one host or two, from reading or loading the same logs at once.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db.models import QuerySet

from aclweb.insights import job_sources, spark_child
from aclweb.insights.errors import InsightsError
from aclweb.insights.load import load
from aclweb.insights.models import Load, Refresh
from aclweb.insights.rounds import one_spark
from aclweb.insights.staging import OvertakenError
from aclweb.insights.telling import Ended, Tell, Teller, Told
from aclweb.inventory import leases
from aclweb.inventory.admin import log_sources
from aclweb.inventory.current import in_force
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import snapshot_text

logger = logging.getLogger(__name__)

LONGEST_RUN_SECONDS = 3600.0


LOADING = "Loading what the logs say"

# Runs the pipeline with these words and says how far it is; returns its exit status and what it wrote as errors.
Job = Callable[[Sequence[str], Tell], tuple[int, str]]


def refresh(cluster: Cluster, job: Job | None = None) -> Load | None:
    """Read what is new in the cluster's logs and return the load; None if another process does so, or did meanwhile.

    job: what runs the pipeline; a process of its own unless given.
    It is the load of before where neither the logs nor the ACLs changed. Raises InsightsError where there is
    no log to read, no Java, or the job failed; the sentence is kept for the pages, which show the earlier load.
    """
    try:
        found = _refreshed(cluster, job or _job)
    except OSError as error:
        sentence = f"The logs were not read. {error.strerror or error}: {error.filename or settings.ACLWEB_DATA_DIR}."
        _keep(cluster, sentence)
        raise InsightsError(sentence) from error
    except OvertakenError as error:  # what pages show is newer than this would have been
        logger.warning("%s", error)
        return None
    except InsightsError as error:
        _keep(cluster, str(error))
        raise
    if found is not None:
        _keep(cluster, "")
    return found


def _keep(cluster: Cluster, problem: str) -> None:
    """Store how the try ended; nothing of a cluster that was removed meanwhile, which a worker deletes."""
    if not Cluster.objects.filter(pk=cluster.pk).exists():
        return
    now = datetime.now(UTC)
    facts = {"tried_at": now, "problem": problem} | ({} if problem else {"read_at": now})
    Refresh.objects.update_or_create(cluster=cluster, defaults=facts)


def _refreshed(cluster: Cluster, job: Job) -> Load | None:
    if not settings.ACLWEB_SPARK_MASTER:
        raise InsightsError("Reading logs is switched off here: ACLWEB_SPARK_MASTER is empty.")
    sources = log_sources.for_job(cluster)
    if not sources:
        raise InsightsError(
            f"Nobody has said where the authorizer logs of {cluster} are; set them at the cluster."
        )
    if cluster.revision is None:
        raise InsightsError(f"{cluster} has not been synced yet; there are no ACLs to compare its logs with.")
    with _turn(cluster) as turn:
        if turn is None:
            return None
        with tempfile.TemporaryDirectory(prefix="aclweb-insights-") as directory:
            snapshot = Path(directory) / "snapshot.jsonl"
            snapshot.write_text(snapshot_text(in_force(cluster)), encoding="utf-8")
            given = job_sources.write_sources(sources, Path(directory))
            result = Path(directory) / "usage"
            before = Load.objects.filter(cluster=cluster, current=True).order_by("-loaded_at").first()
            found = _run(
                job,
                turn,
                [
                    "access",
                    *("--cluster", cluster.slug, "--source", str(given), *job_sources.connector()),
                    *("--out", str(settings.ACLWEB_ACCESS_TABLE)),
                    *("--keep-days", str(settings.ACLWEB_ACCESS_DAYS)),
                    *("--known", _known(before)),
                    *("--snapshot", str(snapshot), "--usage", str(result)),
                ],
            )
            if not (found and turn.is_still_mine()):
                logger.warning(
                    "What the logs of cluster %s tell was not loaded: another worker reads them.",
                    cluster.slug,
                )
                return None
            if before is not None and not result.exists():
                logger.info("Nothing is new in the logs of cluster %s.", cluster.slug)
                return before
            return load(result, cluster)


def load_made_elsewhere(directory: Path, cluster: Cluster) -> Load | None:
    """Load a result of the usage job; None while another process reads the cluster's logs.

    Raises InsightsError as `load` does.
    """
    with _turn(cluster) as turn:
        return None if turn is None else load(directory, cluster)


def _known(before: Load | None) -> str:
    """Return what the job may take for known; empty where it is to answer even if nothing is new."""
    if before is None:
        return ""
    # A load of an earlier version does not tell the last 30 days; the table does.
    lacks_days = before.last_at is not None and before.uses.filter(requests_30=None).exists()
    return "" if lacks_days else str(before.manifest.get("state", ""))


@dataclass(frozen=True)
class _Turn:
    """The right of this process to read a cluster's logs now. row: the one on which refreshes take turns."""

    row: QuerySet[Refresh]
    owner: str

    def is_still_mine(self) -> bool:
        return leases.take(self.row, owner=self.owner, seconds=settings.ACLWEB_LEASE_SECONDS)

    def teller(self) -> Teller:
        """Return what writes down how far it is, as long as nobody cancels it."""
        return Teller(self.row.filter(lease_owner=self.owner, cancelled_by=""))

    def cancelled_by(self) -> str:
        return self.row.values_list("cancelled_by", flat=True).first() or ""


@contextmanager
def _turn(cluster: Cluster) -> Iterator[_Turn | None]:
    """Hold the cluster's lease for a block, which gets its turn; None if another process has it."""
    turn = _Turn(_row(cluster), leases.owner("insights"))
    with leases.held(turn.row, owner=turn.owner, seconds=settings.ACLWEB_LEASE_SECONDS) as mine:
        if mine:
            turn.row.filter(lease_owner=turn.owner).update(
                asked_at=None, asked_by="", cancelled_by="", **vars(Told())
            )
            yield turn
        else:
            logger.info("The logs of cluster %s are being read already.", cluster.slug)
            yield None


def _row(cluster: Cluster) -> QuerySet[Refresh]:
    """Return the one row of the cluster on which its refreshes take turns; makes it where it is missing."""
    row, _ = Refresh.objects.get_or_create(cluster=cluster)
    return Refresh.objects.filter(pk=row.pk)


def _run(job: Job, turn: _Turn, arguments: Sequence[str]) -> bool:
    """Run the job; return False where another process has the turn by now. Raises InsightsError where it failed."""
    teller = turn.teller()
    try:
        status, errors = job(arguments, teller.tell)
        if status != 0:
            raise InsightsError(f"The logs were not read. {spark_child.why_failed(errors)}")
        teller.tell(Told(LOADING))
    except Ended:
        if person := turn.cancelled_by():
            raise InsightsError(f"{person} cancelled it.") from None
        return False
    return True


def _job(arguments: Sequence[str], tell: Tell) -> tuple[int, str]:
    """Run the pipeline in a process of its own; return its exit status and what it wrote as errors."""
    with one_spark(LONGEST_RUN_SECONDS) as one:
        return one.run(arguments, tell)
