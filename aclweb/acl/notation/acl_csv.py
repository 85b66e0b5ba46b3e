"""How do rows of text become CSV and back, safely for people who open them in a spreadsheet?

RFC 4180, with LF ends on writing and LF or CRLF on reading. A cell that a spreadsheet
would take for a formula gets one leading apostrophe, which reading removes.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

from aclweb.acl.model import Problems, lines_of, shown

GUARD = "'"
GUARDED_STARTS = ("=", "+", "-", "@", "\t", "\r", GUARD)

# The csv module's own limit is smaller than what Kafka takes for a name; one line of text is never refused.
csv.field_size_limit(1 << 30)


def write_rows(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the CSV text of `rows` under `header`."""
    lines = [",".join(header)]
    lines.extend(",".join(map(_cell, row)) for row in rows)
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    if text.startswith(GUARDED_STARTS):
        text = GUARD + text
    if any(character in text for character in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def read_rows(text: str, header: Sequence[str], problems: Problems) -> Iterator[tuple[int, dict[str, str]]]:
    """Return each row as (line it starts on, value by key); note bad rows in `problems`.

    The first row must hold exactly the words of `header`, in any order.
    """
    rows = _raw_rows(text, problems)
    first = next(rows, None)
    if first is None:
        if not problems:
            problems.add(1, f"The CSV is empty, but needs its header; begin with {','.join(header)}.")
        return
    line, keys = first
    if sorted(keys) != sorted(header):
        problems.add(
            line, f"The CSV header is {shown(','.join(keys))}; it must hold exactly {','.join(header)}."
        )
        return
    for line, cells in rows:
        if len(cells) != len(keys):
            problems.add(
                line,
                f"The row has {len(cells)} cells where the header has {len(keys)}: "
                f"{shown(','.join(cells))}; quote a cell that holds a comma.",
            )
            continue
        yield line, {key: cell.removeprefix(GUARD) for key, cell in zip(keys, cells, strict=True)}


def _raw_rows(text: str, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader((f"{line}\n" for line in lines_of(text)), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.add(line, _why(str(error)))
            continue
        if len(row) > 1 or "".join(row).strip(" \t\r"):
            yield line, row


def _why(error: str) -> str:
    if "end of data" in error:
        return "A quoted cell that begins here is never closed; end it with a double quote."
    if "new-line character" in error:
        return "A cell holds a carriage return; put the cell in double quotes."
    return f"This row is not CSV ({error}); write a double quote inside a quoted cell twice."
