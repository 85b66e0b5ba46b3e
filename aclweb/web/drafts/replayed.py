"""What does a page show of a replay, and what is in the file of it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import Http404, QueryDict, StreamingHttpResponse

from aclweb.insights.replay import Replay
from aclweb.insights.replay_rows import exported
from aclweb.insights.replay_totals import (
    MOST_REQUESTS,
    by_day,
    by_principal,
    by_resource,
    days_are_whole,
)
from aclweb.insights.window import WINDOWS
from aclweb.inventory.models import Cluster
from aclweb.web.shell.downloads import WORDS, rows_file
from aclweb.web.shell.paging import page_asked, page_of

FLIPS_A_PAGE = 7

# What `?by=` names: the word of the button, and its rows.
_VIEWS: Mapping[str, tuple[str, Callable[[Replay], Sequence[Any]]]] = {
    "": ("Requests", lambda found: found.flips),
    "principal": ("By principal", by_principal),
    "resource": ("By resource", by_resource),
    "day": ("By day", by_day),
}

ALL = "all"
"""What `?replay=` names where somebody wants every request replayed, by a worker."""

# What `?days=` names: the days of the log, and the word of the button.
_DAYS: Mapping[str, tuple[int | None, str]] = {
    **{str(days): (days, f"{days} days") for days in WINDOWS},
    "": (None, "Whole log"),
}


def days_asked(asked: Mapping[str, str]) -> int | None:
    """Return the last days of the log that `?days=` asks for; None for all of it."""
    return _DAYS.get(asked.get("days", ""), _DAYS[""])[0]


def shown(
    found: Replay | None, cluster: Cluster, asked: Mapping[str, str], *, of_days: bool = True
) -> dict[str, Any]:
    """Return the replay of this cluster's log, and the page of its rows that `?by=` and `?flips=` ask for.

    of_days: whether the page lets one choose the days, as `days_asked` reads them.
    """
    by = asked.get("by", "")
    if by not in _VIEWS:
        by = ""
    rows = _VIEWS[by][1](found) if found is not None else ()
    return {
        "replay": found,
        "replay_cluster": cluster,
        "replay_by": by,
        "replay_days": days_asked(asked) if of_days else None,
        "replay_windows": [(name, *words) for name, words in _DAYS.items()] if of_days else (),
        "replay_views": [(name, word) for name, (word, _) in _VIEWS.items()],
        "replay_days_of": 0 if found is None or days_are_whole(found) else MOST_REQUESTS,
        "flips": page_of(rows, page_asked(asked, "flips"), FLIPS_A_PAGE),
    }


# What of an address says which part of a page is shown, and is not needed for a file of all rows.
_SHOWN = (
    *("cards", "tab", "flips", "page", "open", "view", "show", "lines", "after", "acls"),
    *("title", "reason", "ticket"),
)


def files(address: str, asked: Mapping[str, str], *, field: str = "replay") -> list[tuple[str, str]]:
    """Return the word and the address of each file of the rows that a page shows; none where it has no address.

    address: of the page, or of the file. field: what in it names the format.
    """
    path, _, query = address.partition("?")
    fields = QueryDict(query, mutable=True)
    for name in _SHOWN:
        fields.pop(name, None)
    for name in ("by", "days"):
        if asked.get(name):
            fields[name] = asked[name]
    found = []
    for ending, word in WORDS.items() if path else ():
        fields[field] = ending
        found.append((word, f"{path}?{fields.urlencode()}"))
    return found


def all_url(address: str, *, field: str = "replay") -> str:
    """Return the address that asks for a replay of all requests; empty where a page has none of its own."""
    path, _, query = address.partition("?")
    fields = QueryDict(query, mutable=True)
    for name in (*_SHOWN, "by", "days"):
        fields.pop(name, None)
    fields[field] = ALL
    return f"{path}?{fields.urlencode()}" if path else ""


def file_asked(
    context: Mapping[str, Any], asked: Mapping[str, str], *, name: str, about: Sequence[Cluster]
) -> StreamingHttpResponse | None:
    """Return the file of the replay in what a page shows, if `?replay=csv` asks for one; None if it does not.

    name: of the file, without its ending. about: whose principals. Raises Http404 where the page has no replay, or
    there is no such format.
    """
    if "replay" not in asked:
        return None
    found = context.get("replay")
    if found is None:
        raise Http404(
            "This page has no replay: it shows no impact, or no authorizer log of the cluster was read."
        )
    return file_of(found, asked, name=name, ending=asked["replay"], about=about)


def file_of(
    found: Replay, asked: Mapping[str, str], *, name: str, ending: str, about: Sequence[Cluster]
) -> StreamingHttpResponse:
    """Return a file of the rows that `?by=` asks for, in a name that says which; raises Http404 for an odd ending."""
    by, days = asked.get("by", ""), days_asked(asked)
    parts = (f"{name}-replay", by if by in _VIEWS else "", f"{days}-days" if days else "")
    name = "-".join(part for part in parts if part)
    return rows_file(exported(found, by), name=name, ending=ending, about=about)
