"""Which log files hold nothing but what another one holds too, so that they would be counted twice?

Files that begin alike are compared as the access table compares them; of all others only the beginning is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from aclweb.pipeline.contents import WINDOW, DamagedError, FileChangedError, LogContent
from aclweb.pipeline.files import SourceError, look
from aclweb.pipeline.increments import look_for_new
from aclweb.pipeline.known_content import FIRST_PLACE


def copies_among(files: Sequence[str]) -> Mapping[str, str]:
    """Return the files of this machine whose content is in another one of them, each with the path of that."""
    alike = _beginning_alike(files)
    if not alike:
        return {}
    try:
        return dict(look_for_new(alike, ()).skipped)
    except SourceError:
        # One is gone, or they do not cease to change: what is there is read as it is.
        return {}


def _beginning_alike(files: Sequence[str]) -> list[str]:
    """Return the files whose first bytes another one begins with, or the other way round."""
    beginnings = sorted((beginning, file) for file in files if (beginning := _beginning(file)))
    alike = {
        file
        for (shorter, one), (longer, other) in pairwise(beginnings)
        if longer.startswith(shorter)
        for file in (one, other)
    }
    return sorted(alike)


def _beginning(file: str) -> bytes:
    """Return the first bytes of a file, decompressed; none of one that cannot be read or holds no record."""
    if "://" in file or not look(file).is_readable:
        return b""
    try:
        with open(file, "rb") as opened:
            found = b"".join(LogContent(file, opened).pieces(0, WINDOW))
    except (OSError, DamagedError, FileChangedError):
        return b""
    return found if len(found) >= FIRST_PLACE else b""
