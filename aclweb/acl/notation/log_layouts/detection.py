"""In which layout is a log written, by its first lines?"""

from __future__ import annotations

from collections.abc import Sequence

from aclweb.acl.notation.log_layouts.frames import FRAMES, PLAIN, Frame
from aclweb.acl.notation.log_layouts.layout import UNKNOWN
from aclweb.acl.notation.log_layouts.named import RECORD_LAYOUTS, layout_of


def detected(lines: Sequence[str], record_layout: str | None = None) -> str:
    """Return the name of the layout in which most of the lines start a record; UNKNOWN if none does in any.

    lines: whole lines from the beginning of a log. record_layout: how records are written, if that is known; then
    only what is around them is looked for.
    """
    frame = _frame_of(lines)
    carried = [line.text for line in frame.lines(lines) if line.text.strip()]
    bodies = [record_layout] if record_layout else list(RECORD_LAYOUTS)
    counts = {name: _records_in(carried, name) for name in bodies}
    best = max(bodies, key=lambda name: counts[name])
    if not counts[best]:
        return UNKNOWN
    return f"{frame.name}+{best}" if frame.name else best


def is_of_layout(lines: Sequence[str], name: str) -> bool:
    """Whether one of the lines at least starts a record of this layout."""
    return layout_of(name).body is None or _records_in(lines, name) > 0


def _frame_of(lines: Sequence[str]) -> Frame:
    """Return the frame that half of the lines have, or more."""
    filled = [line for line in lines if line.strip()]
    for frame in FRAMES.values():
        if filled and sum(frame.opened(line) is not None for line in filled) * 2 >= len(filled):
            return frame
    return PLAIN


def _records_in(carried: Sequence[str], name: str) -> int:
    """Return how many of the records are whole: what is damaged does not end as a record."""
    found = layout_of(name).read(carried)
    return sum(record.time is not None and record.text.endswith((")", "}")) for record in found)
