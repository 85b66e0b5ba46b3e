"""How do the rows of a list become a file: all of them, many at a time, as CSV or JSON lines?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from django.http import Http404, StreamingHttpResponse

from aclweb.acl.notation import write_rows
from aclweb.inventory.models import Cluster
from aclweb.web.shell.beside_rows import BesideRows

# Media types that no browser shows as a page: a name may look like markup.
FORMATS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}
WORDS = {"csv": "CSV", "jsonl": "JSON lines"}

_ROWS_AT_ONCE = 1_000


def rows_file(
    rows: Iterator[Mapping[str, Any]],
    *,
    name: str,
    ending: str,
    columns: Sequence[str] = (),
    about: Sequence[Cluster] = (),
) -> StreamingHttpResponse:
    """Return a file of rows; raises Http404 for an ending that is not of FORMATS.

    columns: those of each row, for the header of a CSV. Unless given, they are those of the first row. about: the
    clusters whose principals they are about, for what is said beside them (`BesideRows`).
    """
    if ending not in FORMATS:
        raise Http404(f"format is {ending!r}; use one of {', '.join(FORMATS)}.")
    if about:
        beside = BesideRows.of(*about)
        rows, columns = map(beside.row, rows), beside.columns(columns) if columns else ()
    text = _csv(rows, columns) if ending == "csv" else (json.dumps(dict(row)) + "\n" for row in rows)
    answer = StreamingHttpResponse(text, content_type=FORMATS[ending])
    answer["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    return answer


def _csv(rows: Iterator[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """Yield the text of a CSV, its header first."""
    if not columns:
        first = next(rows, None)
        if first is None:
            return
        columns, rows = tuple(first), chain([first], rows)
    yield write_rows(columns, ())
    while some := [_cells(row.values()) for row in islice(rows, _ROWS_AT_ONCE)]:
        yield write_rows(columns, some).partition("\n")[2]


def _cells(values: Iterable[Any]) -> list[str]:
    return [_cell(value) for value in values]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)
