"""Where does a worker keep the files of an analysis while it runs, and who removes them where it was killed?

Each try has a folder of its own in `analyses` of the data directory, under the number of the analysis. It goes when the
try ends. What a killed worker left goes when the analysis is taken up again, or with the next sweep on its machine.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings

from aclweb.insights.models import Analysis


@contextmanager
def workspace(row: Analysis) -> Iterator[Path]:
    """Yield an empty folder for this try of an analysis, which only its owner may read; it goes with the block."""
    of_analysis = _folder() / str(row.pk)
    # Of a try before, whose worker was lost.
    shutil.rmtree(of_analysis, ignore_errors=True)
    mine = of_analysis / str(row.attempts)
    _folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    of_analysis.mkdir(mode=0o700, exist_ok=True)
    mine.mkdir(mode=0o700)
    try:
        yield mine
    finally:
        shutil.rmtree(mine, ignore_errors=True)
        with suppress(OSError):  # another try may be at work in it
            of_analysis.rmdir()


def remove_left() -> None:
    """Remove the folders of analyses that no worker has."""
    # Listed first: an analysis is at work before it has a folder.
    found = [folder for folder in _folder().glob("*") if folder.name.isdecimal()]
    if not found:
        return
    at_work = set(Analysis.objects.filter(state=Analysis.State.RUNNING).values_list("pk", flat=True))
    for folder in found:
        if int(folder.name) not in at_work:
            shutil.rmtree(folder, ignore_errors=True)


def _folder() -> Path:
    return Path(settings.ACLWEB_DATA_DIR) / "analyses"
