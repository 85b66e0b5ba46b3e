"""What came of each declared source of logs: lines, those that could not be read, layouts, and its first and last line?

A file of the log belongs to the first source whose path is its own, its folder, or a pattern for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from aclweb.insights.coverage import LogFile
from aclweb.inventory.models import LogSource

_LEAST_SHOWN = 0.01


@dataclass(frozen=True)
class SourceRead:
    """A source and what the load holds of it; source: None for files of none that is declared now.

    first_at, last_at: of its records, as the broker wrote them; None where none has a time.
    """

    source: LogSource | None
    files: int
    lines: int
    unparsed: int
    layouts: tuple[str, ...]
    first_at: str | None
    last_at: str | None

    @property
    def percent(self) -> str:
        """The share of its lines that could not be read."""
        return percent_text(self.unparsed, self.lines)


def percent_text(part: int, whole: int) -> str:
    """Return a share as `0.04 %`; what is neither nothing nor all is not shown as if it were."""
    if not part or not whole:
        return "0 %"
    share = 100 * part / whole
    if share < _LEAST_SHOWN:
        return "less than 0.01 %"
    return f"{min(share, 100 - _LEAST_SHOWN) if part < whole else share:.2f}".rstrip("0").rstrip(".") + " %"


def sources_read(sources: Sequence[LogSource], files: Iterable[LogFile]) -> tuple[SourceRead, ...]:
    """Return what came of each source, in their order; files of none of them come last."""
    of_source: dict[int | None, list[LogFile]] = {source.pk: [] for source in sources}
    for file in files:
        found = next((source for source in sources if _holds(source, file.path)), None)
        of_source.setdefault(found.pk if found else None, []).append(file)
    rows = [_read(source, of_source[source.pk]) for source in sources]
    if lost := of_source.get(None):
        rows.append(_read(None, lost))
    return tuple(rows)


def _holds(log: LogSource, path: str) -> bool:
    if log.topic:
        return path.startswith(f"kafka:{log.topic}/")
    source = log.path
    return path == source or path.startswith(f"{source.rstrip('/')}/") or fnmatchcase(path, source)


def _read(source: LogSource | None, files: Sequence[LogFile]) -> SourceRead:
    return SourceRead(
        source=source,
        files=len(files),
        lines=sum(file.lines for file in files),
        unparsed=sum(file.unparsed for file in files),
        layouts=tuple(dict.fromkeys(file.layout for file in files if file.layout)),
        first_at=min((file.first_at for file in files if file.first_at), default=None),
        last_at=max((file.last_at for file in files if file.last_at), default=None),
    )
