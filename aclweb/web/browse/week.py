"""What happened on a cluster in a week: refusals, ACLs, what the log shows to be unused? A page, and Markdown.

Each part is a sentence and some rows, so the page, the file and `manage.py digest` say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.authorizer import beyond_acls
from aclweb.acl.model import WORDS, number_of, resource_text, visible
from aclweb.changes.models import Change
from aclweb.changes.queries import item_state_words
from aclweb.changes.week import AclWeek, acl_week
from aclweb.insights.arrivals import QUIET_DAYS, Arrivals, Arrived, arrivals
from aclweb.insights.coverage import freshness
from aclweb.insights.current import current_load
from aclweb.insights.week import DAYS, LogWeek, Refused, Some, log_week
from aclweb.inventory import lists
from aclweb.inventory.current import settings_of
from aclweb.inventory.models import Cluster, Revision
from aclweb.web.browse.insight_tabs import Head, head
from aclweb.web.shell import links
from aclweb.web.shell.htmx import render_page

KNOWN, CANNOT_TELL, TO_DO = "allowed", "unknown", "gate"
_STATES = {KNOWN: "", CANNOT_TELL: "cannot tell", TO_DO: "look at this"}


@dataclass(frozen=True)
class Row:
    """Something that a part is about. name: as the cluster has it; says: the rest of the line.

    called: what people call the principal that the name begins with; empty for no name.
    """

    name: str
    says: str
    url: str
    called: str = ""


@dataclass(frozen=True)
class Part:
    """One thing that is said of the week. mark: KNOWN, CANNOT_TELL or TO_DO; more: rows that are not listed."""

    title: str
    mark: str
    sentence: str
    rows: tuple[Row, ...] = ()
    more: int = 0
    url: str = ""
    word: str = ""

    @property
    def state(self) -> str:
        """What the mark means, in words."""
        return _STATES[self.mark]


@dataclass(frozen=True)
class Week:
    """All that is said of a cluster. first: the sentence that everybody reads; days: of what its log has been asked."""

    first: str
    days: str
    parts: tuple[Part, ...]
    head: Head
    problem: str
    has_log: bool


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the week; with `?format=md` as Markdown, whose links are whole addresses."""
    cluster = access.cluster_or_404(request.user, slug)
    week = week_of(cluster)
    if request.GET.get("format") == "md":
        text = "".join(markdown(cluster, week, request.build_absolute_uri))
        return HttpResponse(text, content_type="text/markdown; charset=utf-8")
    context = {
        "cluster": cluster,
        "cluster_url": reverse("cluster", args=[slug]),
        "week": week,
        "head": week.head,
        "tab": "week",
        "markdown_url": reverse("week", args=[slug], query={"format": "md"}),
    }
    return render_page(request, "browse/insights/week.html", None, context, section="insights")


def week_of(cluster: Cluster) -> Week:
    """Return what happened on a cluster, from what is stored; no cluster is asked and no log read."""
    load = current_load(cluster)
    found = None if load is None else log_week(cluster, load)
    acls = acl_week(cluster, timezone.now())
    top = head(cluster, load)
    parts = [
        *_of_log(cluster, found),
        *_of_arrivals(cluster, None if load is None else arrivals(load)),
        *_of_acls(cluster, acls),
        *_of_use(cluster, top),
    ]
    if load is not None:
        parts.append(_of_disagreements(cluster, load.disagreements))
    return Week(
        first=_first(found, acls),
        days="" if found is None else _days(found.begin, found.end),
        parts=tuple(parts),
        head=top,
        problem=freshness(cluster, load).problem,
        has_log=load is not None,
    )


def markdown(cluster: Cluster, week: Week, whole: Callable[[str], str]) -> Iterator[str]:
    """Yield the week as Markdown. whole: makes an address of the site a whole one."""
    yield f"# {visible(cluster.name)}: the week{f' of {week.days}' if week.days else ''}\n\n"
    yield f"{visible(week.first)}\n"
    if week.problem:
        yield f"\n**{visible(week.problem)}**\n"
    for sentence in beyond_acls(settings_of(cluster)):
        yield f"\n**{visible(sentence)}**\n"
    for part in week.parts:
        doubt = "Cannot tell: " if part.mark == CANNOT_TELL else ""
        link = f" [{part.word}]({whole(part.url)})" if part.url else ""
        yield f"\n## {part.title}\n\n{doubt}{visible(part.sentence)}{link}\n"
        if part.rows:
            yield "\n"
        for row in part.rows:
            called = f" {code(row.called)}" if row.called else ""
            yield f"- {code(row.name)}{called}: {visible(row.says)} [open]({whole(row.url)})\n"
        if part.more:
            yield f"- and {part.more:,} more\n"


def code(text: str) -> str:
    """Return a text as code in Markdown, whatever it holds."""
    text = visible(text)
    fence = "`"
    while fence in text:
        fence += "`"
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}"


# --- what each part says ---


def _first(log: LogWeek | None, acls: AclWeek) -> str:
    ways = []
    if log is not None and log.first is not None and log.first.count:
        ways.append(f"{number_of(log.first.count, 'group', 'groups')} of denials for the first time")
    if acls.done_count:
        ways.append(f"{number_of(acls.done_count, 'change', 'changes')} made with aclweb")
    if acls.elsewhere_count:
        ways.append(f"{number_of(acls.elsewhere_count, 'edit', 'edits')} made elsewhere")
    if not ways:
        known = (
            "This cluster was first read in the last seven days"
            if acls.first_read
            else "No ACL changed in seven days"
        )
        return f"{known}." if log is not None else f"{known}; no log was read."
    *some, last = ways
    told = f"{', '.join(some)} and {last}" if some else last
    return f"{told[0].upper()}{told[1:]}."


def _of_log(cluster: Cluster, log: LogWeek | None) -> Iterator[Part]:
    if log is None:
        yield Part(
            "Denials",
            CANNOT_TELL,
            "no authorizer log with times has been read.",
            url=reverse("coverage", args=[cluster.slug]),
            word="What the log can show",
        )
        return
    denials = reverse("insights", args=[cluster.slug], query={"days": str(DAYS)})
    compared = f", and {log.before:,} in the seven days before" if log.before is not None else ""
    told = f"{number_of(log.lines, 'denial', 'denials')} in {number_of(log.groups, 'group', 'groups')}{compared}."
    if log.whole < DAYS:
        told += (
            f" There may have been more: every broker wrote its denials on {log.whole} of {DAYS} days only."
        )
    if log.left_out:
        told += (
            f" {number_of(log.left_out, 'group', 'groups')} that people expect or ignore "
            f"{'is' if log.left_out == 1 else 'are'} not in the lists below."
        )
    yield Part("Denials", TO_DO if log.has_grown else KNOWN, told, url=denials, word="All of them")
    yield _groups(
        cluster,
        "Refused for the first time",
        log.first,
        "No group is refused for the first time in this log.",
        "the log does not hold an earlier day.",
        TO_DO,
    )
    yield _groups(
        cluster,
        "Refused more than before",
        log.grown,
        "No group has over twice its denials of the seven days before.",
        f"not every broker wrote its denials on each of the last {2 * DAYS} days.",
        TO_DO,
    )
    if log.bursts.count:
        yield _groups(cluster, "Bursts", log.bursts, "", "", TO_DO)
    yield _groups(
        cluster,
        "Refused no more",
        log.ended,
        "Each group that was refused in the seven days before still is."
        if log.before
        else "Nothing was refused in the seven days before.",
        "not every broker wrote its denials on each of these days, or the log does not hold the seven before.",
        KNOWN,
    )


def _groups(cluster: Cluster, title: str, found: Some | None, none: str, why_not: str, mark: str) -> Part:
    if found is None:
        return Part(title, CANNOT_TELL, why_not)
    if not found.count:
        return Part(title, KNOWN, none)
    rows = tuple(_refused(cluster, each) for each in found.rows)
    told = f"{number_of(found.count, 'group', 'groups')} of principal, operation and resource."
    return Part(title, mark, told, rows, found.count - len(rows))


def _refused(cluster: Cluster, each: Refused) -> Row:
    before = f", {each.before:,} in the seven days before" if each.before is not None else ""
    on = resource_text(each.resource.resource_type, each.resource.name)
    return Row(
        name=f"{each.principal} {WORDS[each.operation]} {on}",
        says=f"{number_of(each.lines, 'denial', 'denials')}{before}; last on {each.last_at:%Y-%m-%d %H:%M}.",
        url=reverse("insights", args=[cluster.slug], query={"days": "14", "open": each.key}),
        called=lists.called(cluster, each.principal),
    )


def _of_arrivals(cluster: Cluster, found: Arrivals | None) -> Iterator[Part]:
    if found is None:
        return
    yield _arrived(
        cluster,
        "New principals",
        found.principals,
        found.why_not,
        found.doubt,
        ("principal", "principals", "was logged for the first time", "were logged for the first time"),
    )
    yield _arrived(
        cluster,
        "New hosts of known principals",
        found.hosts,
        found.why_not,
        found.doubt,
        (
            "pair of principal and host",
            "pairs of principal and host",
            "was logged for the first time",
            "were logged for the first time",
        ),
    )
    yield _arrived(
        cluster,
        "Back after a silence",
        found.back,
        found.why_not_back or found.why_not,
        found.doubt,
        (
            "principal",
            "principals",
            f"was logged on none of the {QUIET_DAYS} days before, and earlier than that",
            f"were logged on none of the {QUIET_DAYS} days before, and earlier than that",
        ),
    )


def _arrived(
    cluster: Cluster,
    title: str,
    found: Arrived | None,
    why_not: str,
    doubt: str,
    words: tuple[str, str, str, str],
) -> Part:
    if found is None:
        return Part(title, CANNOT_TELL, f"{why_not}.")
    noun, nouns, one, many = words
    more = f" Some may have been permitted earlier: {doubt}." if doubt and found.count else ""
    if not found.count:
        return Part(title, KNOWN, f"No {noun} {one}.")
    rows = tuple(
        Row(
            name=f"{each.principal} from {each.host}" if each.host else each.principal,
            says=f"{number_of(each.lines, 'request', 'requests')}, {each.denied:,} of them denied; "
            f"last on {each.last_at:%Y-%m-%d %H:%M}.",
            url=links.principal(cluster, each.principal),
            called=lists.called(cluster, each.principal),
        )
        for each in found.rows
    )
    least = "At least " if found.is_cut else ""
    told = f"{least}{number_of(found.count, noun, nouns)} {one if found.count == 1 else many}.{more}"
    return Part(title, TO_DO, told, rows, found.count - len(rows))


def _of_acls(cluster: Cluster, acls: AclWeek) -> Iterator[Part]:
    listed = tuple(map(_change, acls.done))
    told = (
        f"{number_of(acls.done_count, 'change', 'changes')} ended in the last seven days."
        if acls.done_count
        else "No change ended in the last seven days."
    )
    if acls.waiting:
        told += f" {number_of(acls.waiting, 'change waits', 'changes wait')} for a review."
    yield Part(
        "Changes",
        TO_DO if acls.waiting else KNOWN,
        told,
        listed,
        acls.done_count - len(listed),
        reverse("changes"),
        "All changes",
    )
    edits = tuple(_edit(cluster, each) for each in acls.elsewhere)
    if acls.elsewhere_count:
        told = (
            f"{number_of(acls.added, 'ACL', 'ACLs')} came and {acls.removed:,} went in "
            f"{number_of(acls.elsewhere_count, 'edit', 'edits')} that nobody made with aclweb."
        )
    elif acls.first_read:
        told = "this cluster was first read within these seven days."
    else:
        told = "No ACL was added or removed outside aclweb."
    mark = TO_DO if acls.elsewhere_count else CANNOT_TELL if acls.first_read else KNOWN
    yield Part("ACLs changed elsewhere", mark, told, edits, acls.elsewhere_count - len(edits))


def _change(change: Change) -> Row:
    state, _ = item_state_words(change)
    by = change.author.get_full_name() or change.author.get_username()
    return Row(f"{change.key} {change.title}", f"{state}, by {by}.", reverse("change", args=[change.pk]))


def _edit(cluster: Cluster, revision: Revision) -> Row:
    query = {"at": str(revision.number - 1), "other": cluster.slug, "other_at": str(revision.number)}
    return Row(
        f"revision {revision.number:,}",
        f"{revision.acls_added:,} came, {revision.acls_removed:,} went; "
        f"found on {revision.read_at:%Y-%m-%d %H:%M} UTC.",
        reverse("compare", args=[cluster.slug], query=query),
    )


def _of_use(cluster: Cluster, top: Head) -> Iterator[Part]:
    unused = f"{reverse('acls', args=[cluster.slug])}?use=unused"
    if top.unused is None:
        coverage = reverse("coverage", args=[cluster.slug])
        yield Part("Unused ACLs", CANNOT_TELL, f"{top.why_not}.", url=coverage, word="What is missing")
    else:
        were = f"{number_of(top.unused, 'ACL in force was', 'ACLs in force were')}"
        told = f"{were} not used {top.evidence.window}."
        yield Part("Unused ACLs", KNOWN, told, url=unused, word="List them")


def _of_disagreements(cluster: Cluster, lines: int) -> Part:
    told = (
        f"{number_of(lines, 'line', 'lines')} of the whole log would be answered otherwise "
        "by the ACLs that it was read with."
        if lines
        else "Each decision of the log is the one that the ACLs it was read with would give."
    )
    url = reverse("coverage", args=[cluster.slug])
    return Part(
        "Log and ACLs", TO_DO if lines else KNOWN, told, url=url, word="See them" if lines else "Coverage"
    )


def _days(begin: date, end: date) -> str:
    """Return two days as `17 to 23 November 2026`."""
    if (begin.year, begin.month) == (end.year, end.month):
        return f"{begin.day} to {end.day} {end:%B %Y}"
    first = f"{begin.day} {begin:%B}" if begin.year == end.year else f"{begin.day} {begin:%B %Y}"
    return f"{first} to {end.day} {end:%B %Y}"
