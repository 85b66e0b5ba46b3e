"""Keep the newest head of the chain outside the database, to detect a cut or rewritten chain.

After each commit with an event, `SEQUENCE:HASH` and the time are appended to a file that only
its owner can read (ACLWEB_AUDIT_HEADS), and logged, for whoever collects logs elsewhere. Whoever
can write the database but not that file or those logs cannot cut the trail unseen.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from aclweb.audit.models import Event

logger = logging.getLogger(__name__)

# The file is cut to its newest lines beyond this size; the newest head is what proves.
MOST_BYTES = 4_000_000
KEPT_LINES = 10_000


def path() -> Path | None:
    """Return where heads are kept; None where that is switched off."""
    return Path(settings.ACLWEB_AUDIT_HEADS) if settings.ACLWEB_AUDIT_HEADS else None


def keep(head: str) -> None:
    """Append one head. A file that cannot be written is logged, and costs nobody their work."""
    logger.info("The head of the audit trail is %s.", head)
    if (file := path()) is not None:
        try:
            _append(file, {"at": timezone.now().isoformat(timespec="seconds"), "head": head})
        except OSError as error:
            logger.error("The head of the audit trail %s could not be kept in %s: %s.", head, file, error)


def begin_anew(head: str) -> None:
    """Say that the database was restored to this head: what was kept before is of another chain."""
    if (file := path()) is not None:
        at = timezone.now().isoformat(timespec="seconds")
        _append(file, {"at": at, "restored": True, "head": head})


def kept() -> str | None:
    """Return the furthest head kept since the last restore; None where none is. Raises OSError if unreadable."""
    file = path()
    if file is None or not file.exists():
        return None
    found: tuple[int, str] | None = None
    for line in file.read_text(encoding="ascii", errors="replace").splitlines():
        try:
            entry = json.loads(line)
            head = str(entry["head"])
            sequence = int(head.partition(":")[0])
        except (ValueError, KeyError, TypeError):  # a line cut off by a full disk
            continue
        # Processes may append a little out of order.
        if found is None or entry.get("restored") or sequence > found[0]:
            found = sequence, head
    return found[1] if found else None


def problem() -> str:
    """Return whether the database still holds the event of the kept head, as a sentence; one query."""
    try:
        head = kept()
    except OSError as error:
        return f"The kept heads of the audit trail in {path()} cannot be read: {error.strerror}."
    if head is None:
        return ""
    sequence, _, digest = head.partition(":")
    if int(sequence) == 0 or Event.objects.filter(sequence=int(sequence), hash=digest).exists():
        return ""
    return (
        f"The audit trail in the database is not the one whose head is kept in {path()}: event {sequence} is missing "
        "or another one. Run: python manage.py audit verify"
    )


def _append(file: Path, entry: dict[str, object]) -> None:
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "r+", encoding="ascii", errors="replace") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        handle.write(json.dumps(entry) + "\n")
        handle.flush()
        if os.fstat(descriptor).st_size > MOST_BYTES:
            handle.seek(0)
            newest = handle.readlines()[-KEPT_LINES:]
            handle.seek(0)
            handle.truncate()
            handle.writelines(newest)
