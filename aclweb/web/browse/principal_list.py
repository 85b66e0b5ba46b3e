"""Which principals are there, and which of them are conspicuous? The address has the filters and the order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.model import AclError
from aclweb.insights import principals
from aclweb.insights.coverage import freshness
from aclweb.insights.principal_words import sentences_of
from aclweb.insights.principals import ListedPrincipal, PrincipalFilters, PrincipalList, listed_principals
from aclweb.inventory import lists
from aclweb.inventory.access import TopicReach
from aclweb.web.browse.acl_columns import Column
from aclweb.web.browse.acl_filters import Choice, with_field, with_fields
from aclweb.web.shell.downloads import WORDS as FORMAT_WORDS
from aclweb.web.shell.downloads import rows_file
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import SIZES, keep_size, page_asked, page_of, size_asked

# Each filter and flag by its mark: as a filter, and as the flag of a row; empty where a column says it.
_MARK_WORDS = {
    principals.ORPHANED: ("Orphaned", "orphaned"),
    principals.NEVER_SEEN: ("Never authenticated", "never authenticated"),
    principals.DENIED: ("Denied lately", ""),
    principals.WRITES_ALL: ("Can write everywhere", "can write everywhere"),
    principals.READS_ALL: ("Can read everywhere", "can read everywhere"),
    principals.NO_ACL: ("No ACL", ""),
    principals.NO_LOGIN: ("Cannot log in", "cannot log in"),
    principals.GONE: ("No longer a SCRAM user", "no longer a SCRAM user"),
}
_OF_LOG = (principals.ORPHANED, principals.NEVER_SEEN, principals.DENIED)
_COLUMNS = {
    "principal": "Principal",
    "acls": "ACLs",
    "denies": "DENY",
    "reads": "Reads topics",
    "writes": "Writes topics",
    "administers": "Administers topics",
    "last-seen": "Last seen",
    "denials": "Denials, 7 days",
}
_COLUMNS_OF_LOG = ("last-seen", "denials")
_TEXTS = ("principal",)
# A bar has so many steps; from NEARLY_ALL on it is said in words too.
STEPS, NEARLY_ALL = 20, 18


@dataclass(frozen=True)
class MarkChoice:
    """One filter: its word, how many principals it leaves (None where nobody can tell), and what it means."""

    word: str
    count: int | None
    sentence: str
    current: bool
    url: str


class Share(NamedTuple):
    """How many of all topics a principal reaches, as a cell of the list: texts alone, since a page has many.

    word: of the column. step: how long the bar is, of STEPS. sentence: it in words where it is nearly all of them.
    """

    word: str
    step: str
    sentence: str
    number: str

    @classmethod
    def of(cls, word: str, count: int, topics: int) -> Self:
        """Return it; a bar is empty only for no topic, and full only for every one."""
        step = min(STEPS - 1, max(1, count * STEPS // topics)) if 0 < count < topics else STEPS * bool(count)
        every = f"all {topics:,} topics" if step == STEPS else f"{count:,} of {topics:,} topics"
        return cls(word, str(step), every if step >= NEARLY_ALL else "", f"{count:,}" if count else "")


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponseBase:
    """List everybody whom an ACL, a declaration, the log or the brokers name; `?format=` gives them all."""
    cluster = access.cluster_or_404(request.user, slug)
    filters, fault = _read(request)
    found = listed_principals(cluster, filters)
    if "format" in request.GET:
        return rows_file(
            (row.as_dict() for row in found.rows),
            name=f"principals-{cluster.slug}",
            ending=request.GET["format"],
            columns=principals.FIELDS,
            about=[cluster],
        )
    page = page_of(found.rows, page_asked(request.GET), size_asked(request))
    names = [row.principal for row in page.object_list]
    context: dict[str, Any] = {
        "cluster": cluster,
        "text": filters.text,
        "sort": filters.sort,
        "mark": filters.mark,
        "fault": fault,
        "found": found,
        "page": page,
        "sentences": sentences_of(found),
        "rows": [(row, _flags(row), _shares(row, found.topics)) for row in page.object_list],
        "choices": _choices(request, found, filters),
        "reached": TopicReach._fields,
        "shown": found.of(filters.mark) if filters.mark else None,
        "about_log": filters.mark in _OF_LOG,
        "why_not_seen": found.of(principals.NEVER_SEEN).count is None,
        "columns": _columns(request, filters.sort, has_log=found.load is not None),
        "sizes": [
            Choice(
                str(size),
                str(size),
                None,
                size == size_asked(request),
                with_field(request.GET, "rows", str(size)),
            )
            for size in SIZES
        ],
        "files": [
            (FORMAT_WORDS[ending], with_field(request.GET, "format", ending)) for ending in FORMAT_WORDS
        ],
        "owners": lists.owners_of(cluster, "PRINCIPAL", names),
        "freshness": freshness(cluster, found.load),
    }
    response = render_page(
        request,
        "browse/principals/list.html",
        "browse/principals/_principals.html",
        context,
        section="principals",
    )
    keep_size(request, response)
    return response


def _read(request: HttpRequest) -> tuple[PrincipalFilters, str]:
    """Return the filters of the address, and what in it is unknown; such a word filters nothing."""
    text = request.GET.get("q", "")
    mark, sort = request.GET.get("show", ""), request.GET.get("sort", "")
    try:
        return PrincipalFilters(text, mark, sort), ""
    except AclError as error:
        return PrincipalFilters(text), str(error)


def _flags(row: ListedPrincipal) -> list[str]:
    """Return the words for what is conspicuous; of an orphaned one, its last request says whether it ever had one."""
    marks = [
        mark for mark in row.marks if mark != principals.NEVER_SEEN or principals.ORPHANED not in row.marks
    ]
    return [word for mark in marks if (word := _MARK_WORDS[mark][1])]


def _shares(row: ListedPrincipal, topics: int | None) -> list[Share]:
    """Return how much of the topics the principal reads, writes to and administers; none where nobody can tell."""
    if row.reach is None or topics is None:
        return []
    return [Share.of(word, count, topics) for word, count in zip(row.reach._fields, row.reach, strict=True)]


def _choices(request: HttpRequest, found: PrincipalList, filters: PrincipalFilters) -> list[MarkChoice]:
    every = MarkChoice("All", found.count, "", not filters.mark, with_field(request.GET, "show", ""))
    return [
        every,
        *(
            MarkChoice(
                _MARK_WORDS[each.mark][0],
                each.count,
                each.sentence,
                filters.mark == each.mark,
                with_field(request.GET, "show", each.mark),
            )
            for each in found.marked
        ),
    ]


def _columns(request: HttpRequest, sort: str, *, has_log: bool) -> list[Column]:
    """Return the head of each column; a click sorts by it, turns it round, and ends it.

    has_log: whether a log has been read, which some columns are about.
    """
    now, is_reverse = sort.removeprefix("-"), sort.startswith("-")
    heads = []
    for name, word in _COLUMNS.items():
        if name in _COLUMNS_OF_LOG and not has_log:
            continue
        is_text = name in _TEXTS
        first, second = (name, f"-{name}") if is_text else (f"-{name}", name)
        following = {first: second, second: ""}.get(sort, first)
        direction = "" if name != now else "descending" if is_reverse else "ascending"
        heads.append(Column(word, not is_text, with_fields(request.GET, {"sort": following}), direction))
    return heads
