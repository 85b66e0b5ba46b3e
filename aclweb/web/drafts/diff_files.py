"""How is an access diff taken along: every group of it, of each kind, as CSV or JSON lines?

A row names all that it is about, unless that is too much for one file: then `cut` holds its columns that name the
first and count the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import Http404, StreamingHttpResponse

from aclweb.acl.model import AclBinding, acl_text
from aclweb.inventory.models import Cluster
from aclweb.web.drafts import diff_log, replayed
from aclweb.web.drafts.diff_log import InLog
from aclweb.web.drafts.impact_rows import ImpactRows, SpelledOut
from aclweb.web.shell.beside_rows import BesideRows
from aclweb.web.shell.downloads import rows_file

FIELD = "diff"
COLUMNS = (
    "change",
    "principals",
    "hosts",
    "operations",
    "resource_type",
    "names",
    "before",
    "after",
    "decided_before_by",
    "decided_after_by",
    "reason",
    "answers",
    "cut",
    "last_permitted",
    "log_says",
    "denials",
    "denials_are_whole",
)
_COLUMN_OF = {
    "who": "principals",
    "where": "hosts",
    "which": "names",
    "before": "decided_before_by",
    "after": "decided_after_by",
}


def files(address: str, asked: Mapping[str, str], *, field: str = FIELD) -> list[tuple[str, str]]:
    """Return the word and the address of each file; none where the page has no address."""
    return replayed.files(address, asked, field=field)


def file_asked(
    rows: ImpactRows | None,
    asked: Mapping[str, str],
    *,
    name: str,
    log_of: Cluster,
    about: Sequence[Cluster] = (),
) -> StreamingHttpResponse | None:
    """Return the file of these rows if `?diff=csv` asks for one; None if it does not.

    rows: of every kind, narrowed as the page is; None where the page has no impact. log_of, about: as `file_of` has
    them. Raises Http404 there, and for an odd format.
    """
    if FIELD not in asked:
        return None
    if rows is None:
        raise Http404("This page shows no impact, so there is no access diff to download.")
    return file_of(rows, name=name, ending=asked[FIELD], log_of=log_of, about=about)


def file_of(
    rows: ImpactRows, *, name: str, ending: str, log_of: Cluster, about: Sequence[Cluster] = ()
) -> StreamingHttpResponse:
    """Return a file of all these rows, with what the log of one cluster holds of each.

    about: the clusters of both sides; only that whose log it is, unless given. Raises Http404 for an odd format.
    """
    beside = BesideRows.of(*(about or [log_of]))
    in_log = diff_log.of_every_row(log_of, rows)
    told = (
        beside.row(_row(row, logged), row.principals)
        for row, logged in zip(rows.spelled_out(), in_log, strict=True)
    )
    return rows_file(told, name=f"{name}-access-diff", ending=ending, columns=beside.columns(COLUMNS))


def _row(row: SpelledOut, in_log: InLog) -> dict[str, Any]:
    values = (
        row.kind,
        row.who,
        row.where,
        row.operations,
        row.resource_type,
        row.which,
        row.before.words if row.before else None,
        row.after.words,
        _acls(row.before.bindings, row.before.more) if row.before else None,
        _acls(row.after.bindings, row.after.more),
        row.reason,
        row.cells,
        ", ".join(_COLUMN_OF[field] for field in row.cut),
        in_log.last_permitted.isoformat() if in_log.last_permitted else None,
        in_log.says,
        in_log.denied,
        None if in_log.denied is None else in_log.is_whole,
    )
    return dict(zip(COLUMNS, values, strict=True))


def _acls(bindings: tuple[AclBinding, ...], more: int) -> str:
    """Return ACLs as sentences, one after the other."""
    texts = [acl_text(binding) for binding in bindings]
    return "; ".join([*texts, f"and {more:,} more"] if more else texts)
