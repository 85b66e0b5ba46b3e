"""Run on a worker the analyses that wait: one at a time a process, and a cluster.

The row is the truth, and the queue only rings. A worker takes the oldest under a lease and starts the job as a child,
which says through a pipe how far it is. That is written to the row all the while, and where the row is no longer this
worker's, because somebody cancelled it, the child's process group is ended. A worker that dies loses its lease, and its
child ends by itself; the next worker takes the analysis up again, once. Rows of a result are written and deleted only
while the analysis is locked and this worker's, so one that lost its lease touches nothing of the worker that took over.
"""

from __future__ import annotations

import json
import logging
import os
import select
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from aclweb.insights import spark_child
from aclweb.insights.analyses.beside import others_of
from aclweb.insights.analyses.command import options_of, write_inputs
from aclweb.insights.analyses.jobs import JOBS
from aclweb.insights.analyses.keeping import WITHOUT_RESULT, forget_rows
from aclweb.insights.analyses.storing import facts_of, opened, store_rows
from aclweb.insights.analyses.workspace import workspace
from aclweb.insights.errors import InsightsError
from aclweb.insights.models import ANALYSES, Analysis
from aclweb.insights.telling import LOOK_SECONDS, Ended, Teller, Told
from aclweb.inventory.fields import storable_json

logger = logging.getLogger(__name__)

# Less than a lease is renewed for: what is left is for storing the result.
LONGEST_RUN_SECONDS = 3000.0

STORING = "Storing the result"

State = Analysis.State


def run_next(owner: str) -> bool:
    """Run the analysis that has waited longest; return False where none may be taken."""
    row = ANALYSES.take_next(owner)
    if row is None:
        return False
    mine = ANALYSES.taken_by(owner, row)
    began = time.monotonic()
    try:
        with ANALYSES.held(mine):
            values = _result_of(row, mine)
        ANALYSES.end(mine, {"state": State.DONE, **values})
        words = "done"
    except Ended:
        words = "ended by somebody else"
    except (InsightsError, OSError) as error:
        words = str(error) if isinstance(error, InsightsError) else _of_system(error)
        ANALYSES.end(mine, {"state": State.FAILED, "problem": words})
    except Exception as error:  # shown on its page, where it can be asked again
        logger.exception("Analysis %d failed.", row.pk)
        words = f"This could not be analysed: {type(error).__name__}. The site's log says more."
        ANALYSES.end(mine, {"state": State.FAILED, "problem": words})
    # Where another worker has it, or has finished it, the rows are that one's.
    forget_rows(Analysis.objects.filter(pk=row.pk, state__in=WITHOUT_RESULT))
    logger.info("Analysis %d, %s of %s: %s, %.1f s.", row.pk, row.job, row.cluster.slug, words, _since(began))
    return True


def _since(began: float) -> float:
    return time.monotonic() - began


def _of_system(error: OSError) -> str:
    return f"The logs were not analysed. {error.strerror or error}: {error.filename or settings.ACLWEB_DATA_DIR}."


# --- Working on it --------------------------------------------------------------------


def _result_of(row: Analysis, mine: QuerySet[Analysis]) -> Mapping[str, Any]:
    """Return the columns of the result, whose rows are stored."""
    job = JOBS[row.job]
    forget_rows(mine)
    teller = Teller(mine)
    with workspace(row) as folder:
        others = others_of(row)
        number, inputs = write_inputs(row.cluster, job, folder, delta=row.delta, beside=others)
        out = folder / "result"
        arguments = [job.name, *inputs, *options_of(job, row.options), "--out", str(out)]
        steps, sentences = _run(arguments, folder, teller.tell)
        storing = Told(STORING, steps, steps + 1)
        teller.tell(storing)
        result = opened(job, out)
        counts, kept = store_rows(row, job, result, lambda: teller.write(storing))
    return {
        "revision_number": number,
        "sentences": storable_json(sentences),
        "facts": storable_json(facts_of(result)),
        "counts": counts,
        "rows_kept": kept,
    }


def _run(arguments: list[str], folder: Path, tell: Callable[[Told], None]) -> tuple[int, list[str]]:
    """Run the job; return how many steps it had, and the sentences that it printed.

    Raises InsightsError with the reason where it failed, and what `tell` raises once its end is wanted.
    """
    reader, writer = os.pipe()
    with (
        os.fdopen(reader, "rb", buffering=0) as progress,
        (folder / "words").open("w+", encoding="utf-8") as words,
        (folder / "errors").open("w+", encoding="utf-8") as errors,
    ):
        try:
            child = spark_child.start(
                [*arguments, "--progress", str(writer)],
                stdout=words,
                stderr=errors,
                pass_fds=[writer],
                # What Spark leaves where it is ended goes with the folder.
                more={"TMPDIR": str(folder)},
            )
        finally:
            os.close(writer)
        try:
            last = _listen(child, progress.fileno(), tell)
        finally:
            spark_child.end(child)
        errors.seek(0)
        if child.returncode != 0:
            raise InsightsError(f"The logs were not analysed. {spark_child.why_failed(errors.read())}")
        words.seek(0)
        # The folder that the last one names is gone when somebody reads it.
        return max(0, last.steps - 1), [
            line.strip() for line in words.read().splitlines() if not line.startswith("Written to")
        ]


def _listen(child: subprocess.Popen[str], progress: int, tell: Callable[[Told], None]) -> Told:
    """Pass on what the child says until it ends, and look in between whether that is still wanted."""
    last, rest = Told(), b""
    deadline = time.monotonic() + LONGEST_RUN_SECONDS
    while True:
        tell(last)
        if time.monotonic() > deadline:
            raise InsightsError(f"It took longer than {LONGEST_RUN_SECONDS / 60:.0f} minutes and was ended.")
        if not select.select([progress], [], [], LOOK_SECONDS)[0]:
            continue
        said = os.read(progress, 65_536)
        if not said:
            child.wait()
            return last
        *lines, rest = (rest + said).split(b"\n")
        if lines:
            last = Told.of(json.loads(lines[-1]))
