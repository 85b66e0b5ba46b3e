"""Who was denied what, why, and who works on it? The inbox of denials, and the states that people set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.model import number_of
from aclweb.insights import denials
from aclweb.insights.analyses import JOBS
from aclweb.insights.coverage import problem_of
from aclweb.insights.coverage_days import (
    DENIALS,
    PERMITS,
    BrokerCoverage,
    CoverageDays,
    Missing,
    coverage_days,
)
from aclweb.insights.denial_causes import MOST_GROUPS
from aclweb.insights.denial_groups import WINDOWS
from aclweb.insights.denials import Denial, State, Wanted
from aclweb.insights.models import Load
from aclweb.inventory.models import Cluster
from aclweb.web.browse.acl_filters import Choice, with_field, without
from aclweb.web.browse.charts import Cells, day_rows
from aclweb.web.browse.coverage import height_of
from aclweb.web.browse.denial_form import DenialForm
from aclweb.web.browse.denial_rows import rows_of
from aclweb.web.browse.insight_tabs import head, since_in_force
from aclweb.web.shell.downloads import FORMATS, WORDS, rows_file
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

ROWS_A_PAGE = 12
# Owners with most groups, before a link to all of them.
OWNERS_SHOWN = 20
ALL_DAYS = "all"

_SORT_WORDS = {"weight": "by weight", "times": "by denials", "latest": "latest first"}

# The likely causes and their words, as the analysis of all denials has them.
CAUSES = {kind.value: kind for kind in JOBS["refusals"].tables[0].kinds}
BURST = "yes"
NO_OWNER = "no"
CLOSED = "shown"

STRIP_DAYS = 14
BROKERS_SHOWN = 4

# What is said of so many new groups with a likely cause, of one and of several.
_CAUSE_WORDS = {
    "name": ("{} has a name that looks wrong", "{} have names that look wrong"),
    "host": ("{} asks from another host than its ACL says", "{} ask from other hosts than their ACLs say"),
    "anonymous": ("{} uses a listener without a login", "{} use a listener without a login"),
    "deny": ("{} is denied by a DENY", "{} are denied by a DENY"),
    "allowed-now": ("{} is allowed by now", "{} are allowed by now"),
    "unknown": ("{} has an ACL that aclweb cannot judge", "{} have ACLs that aclweb cannot judge"),
    "group": ("{} may read its topic and not its group", "{} may read their topics and not their groups"),
    "operation": ("{} has another right on the same name", "{} have other rights on the same name"),
    "no-rule": ("{} has no ACL", "{} have no ACL"),
}
_NEEDS_AN_ACL = ("group", "operation", "no-rule")


def _one_of(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"one of {', '.join(words)}"


@dataclass(frozen=True)
class Asked:
    """What the address asks for. faults: a sentence for each value that cannot be understood."""

    wanted: Wanted
    faults: tuple[str, ...]

    @classmethod
    def of(cls, query: QueryDict) -> Asked:
        known = {
            "state": State.values,
            "cause": list(CAUSES),
            "burst": [BURST],
            "owned": [NO_OWNER],
            "closed": [CLOSED],
            "days": [*map(str, WINDOWS), ALL_DAYS],
            "sort": list(denials.SORTS),
        }
        given = {name: query.get(name, "") for name in known}
        wrong = [name for name, value in given.items() if value and value not in known[name]]
        faults = [f"{name} is {given[name]!r}; use {_one_of(known[name])}." for name in wrong]
        given |= dict.fromkeys(wrong, "")
        days = given["days"] or str(denials.USUAL_DAYS)
        wanted = Wanted(
            state=given["state"],
            cause=given["cause"],
            owner="" if given["owned"] else query.get("owner") or None,
            closed=bool(given["closed"]),
            folds=True,
            like=query.get("like", ""),
            bursts=bool(given["burst"]),
            days=0 if days == ALL_DAYS else int(days),
            sort=given["sort"] or Wanted.sort,
        )
        return cls(wanted, tuple(faults))


@login_required
@require_GET
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List the groups of denials that the address asks for; `?open=` shows all about one in its place."""
    cluster = access.cluster_or_404(request.user, slug)
    return _page(request, cluster)


@login_required
@require_http_methods(["GET", "POST"])
def mark(request: HttpRequest, slug: str) -> HttpResponse:
    """Set the state of one group, and come back to the list as it was."""
    cluster = access.cluster_or_404(request.user, slug)
    address = reverse("insights", args=[slug], query=request.GET)
    if request.method == "GET":
        return redirect(address)
    access.require(request.user, "request", cluster)
    assert isinstance(request.user, User)  # login_required
    found = denials.denial(cluster, request.GET.get("open", ""), in_force_since=since_in_force(cluster))
    if found is None:
        raise Http404("The log of this cluster has no such denial any more.")
    access.require(request.user, "request", cluster, found.resource.name)
    form = DenialForm(request.POST, cluster=cluster, person=request.user)
    if not form.is_valid() or not form.mark(found):
        return _page(request, cluster, form=form, status=422)
    messages.success(request, f"Recorded: {State(form.cleaned_data['state']).label}.")
    return redirect(f"{address}#denials")


@login_required
@require_GET
def export(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Give every group that the filters of the list let through, as CSV or JSON lines."""
    cluster = access.cluster_or_404(request.user, slug)
    rows = denials.exported(cluster, Asked.of(request.GET).wanted, in_force_since=since_in_force(cluster))
    name = f"denials-{cluster.slug}"
    ending = request.GET.get("format", "csv")
    return rows_file(rows, name=name, ending=ending, columns=denials.EXPORTED, about=[cluster])


def _page(
    request: HttpRequest, cluster: Cluster, *, form: DenialForm | None = None, status: int = 200
) -> HttpResponse:
    asked = Asked.of(request.GET)
    opened = request.GET.get("open", "")
    wanted = asked.wanted
    found = denials.inbox(cluster, wanted, in_force_since=since_in_force(cluster), just_read=True)
    page = page_of(found.rows, page_asked(request.GET), ROWS_A_PAGE)
    owners = _owners(request.GET, found, wanted)
    assert isinstance(request.user, User)  # login_required
    context: dict[str, Any] = {
        "cluster": cluster,
        "cluster_url": reverse("cluster", args=[cluster.slug]),
        "inbox": found,
        "asked": asked,
        "page": page,
        "states": _states(request.GET, found),
        "windows": _windows(request.GET, wanted),
        "sorts": _sorts(request.GET, wanted),
        "causes": _causes(request.GET, found),
        "owners": owners,
        "every_owner": _every_owner(request.GET, found, owners),
        "by_cause": _by_cause(found),
        "strip": _strip(found.load, wanted),
        "is_whole": _is_whole(found.load),
        "closed": _closed(request.GET, found),
        "acls_url": reverse("denials-acls", args=[cluster.slug]),
        "one_of_fold": wanted.like if found.all_judged else "",
        "every_url": _shut(without(request.GET, "like")),
        "bursts": _bursts(request.GET, found),
        "judged": MOST_GROUPS,
        "exports": [(WORDS[ending], _export_url(cluster, request.GET, ending)) for ending in FORMATS],
        "head": head(cluster, found.load, new=found.counts.get(State.NEW)),
        "tab": "denials",
        "problem": problem_of(cluster, found.load),
    }
    if found.load is not None:
        listed, opened = _listed(found, list(page.object_list), opened)
        rows = rows_of(cluster, found.load, listed, opened=opened)
        context["rows"] = rows
        row = next((each for each in rows if each.opened), None)
        context |= {
            "opened_url": with_field(request.GET, "open", ""),
            "form": form,
            "mark_url": reverse("denials-mark", args=[cluster.slug], query=request.GET),
        }
        if (
            row is not None
            and form is None
            and access.may(request.user, "request", cluster, row.denial.resource.name)
        ):
            initial = DenialForm.as_stored(row.denial)
            context["form"] = DenialForm(initial=initial, cluster=cluster, person=request.user)
    return render_page(
        request,
        "browse/insights/index.html",
        "browse/insights/_denials.html",
        context,
        section="insights",
        status=status,
    )


def _listed(found: denials.Inbox, rows: list[Denial], asked: str) -> tuple[list[Denial], str]:
    """Return the rows of a page, and the key of the open one; asked: that key or its beginning.

    A link from another page names a group that is on a later page, or not in these days: it is the first one.
    """
    opened = [each for each in rows if asked in (each.key, each.short_key)]
    if asked and not opened:
        opened = list(found.group(asked))
        rows = [*opened, *rows]
    return rows, opened[0].key if opened else ""


def _states(query: QueryDict, found: denials.Inbox) -> list[Choice]:
    """Return a link for each state, with how many groups are in it."""
    chosen = query.get("state", "")
    every = Choice("", "All", sum(found.shown.values()), not chosen, _shut(without(query, "state")))
    return [
        every,
        *(
            Choice(
                state,
                State(state).label.capitalize(),
                number,
                chosen == state,
                _shut(with_field(query, "state", state)),
            )
            for state, number in found.shown.items()
        ),
    ]


def _causes(query: QueryDict, found: denials.Inbox) -> list[Choice]:
    """Return a link for each likely cause that some group has, and for the one that is chosen."""
    chosen = query.get("cause", "")
    listed = dict(found.causes) | ({chosen: 0} if chosen in CAUSES and chosen not in found.causes else {})
    every = Choice("", "any", None, chosen not in CAUSES, _shut(without(query, "cause")))
    return [
        every,
        *(
            Choice(
                kind,
                CAUSES[kind].word,
                number,
                chosen == kind,
                _shut(with_field(query, "cause", kind)),
            )
            for kind, number in listed.items()
        ),
    ]


def _every_owner(query: QueryDict, found: denials.Inbox, shown: Sequence[Choice]) -> Choice | None:
    """Return the link to the owners that are not listed, as `?owners=all` lists them; None where all are."""
    if not shown or found.owners.keys() <= {choice.value for choice in shown[1:]}:
        return None
    number = sum(1 for owner in found.owners if owner)
    url = with_field(_query(without(query, "open")), "owners", "all")
    return Choice("all", f"all {number_of(number, 'owner')}", None, False, url)


def _owners(query: QueryDict, found: denials.Inbox, wanted: Wanted) -> list[Choice]:
    """Return a link for each owner of principals, and for those without one; nothing where nobody owns any.

    Where there are many they are those of most groups, unless the address asks for all.
    """
    most = None if query.get("owners") == "all" else OWNERS_SHOWN
    listed = dict(sorted(found.owners.items(), key=lambda each: (bool(each[0]), -each[1]))[:most])
    if wanted.owner is not None:
        listed.setdefault(wanted.owner, found.owners.get(wanted.owner, 0))
    if not any(listed):
        return []
    shut = _query(_shut(without(query, "owned")))
    unowned = _query(_shut(without(query, "owner")))
    every = Choice("", "any", None, wanted.owner is None, without(unowned, "owned"))
    links_of = [
        Choice(
            owner,
            owner or "no owner",
            number,
            wanted.owner == owner,
            with_field(shut, "owner", owner) if owner else with_field(unowned, "owned", NO_OWNER),
        )
        for owner, number in sorted(listed.items(), key=lambda each: (not each[0], each[0].casefold()))
    ]
    return [every, *links_of]


def _by_cause(found: denials.Inbox) -> tuple[str, str]:
    """Return why the new groups were probably denied, and how many of them need an ACL; empty where it is unknown."""
    causes = found.new_causes
    if not found.all_judged or not causes:
        return "", ""
    told = [_CAUSE_WORDS[kind][number > 1].format(f"{number:,}") for kind, number in causes.items()]
    first = "; ".join(told)
    whole, need = sum(causes.values()), sum(causes.get(kind, 0) for kind in _NEEDS_AN_ACL)
    if not need:
        needs = "None of them needs a new ACL."
    elif need == whole:
        needs = "It needs a new ACL." if whole == 1 else "Each of them needs a new ACL."
    else:
        needs = f"Only {need:,} need{'s' if need == 1 else ''} a new ACL."
    return f"By likely cause: {first}.", needs


@dataclass(frozen=True)
class StripRow:
    """What one broker logged on the last days. says: on how many days its denials are whole, or what is missing."""

    broker: str
    cells: tuple[Cells, ...]
    says: str
    is_whole: bool


@dataclass(frozen=True)
class Strip:
    """The coverage beside the denials. found: as `_day_row.html` needs it; more: brokers that are not shown."""

    found: CoverageDays
    rows: tuple[StripRow, ...]
    more: int


def _strip(load: Load | None, wanted: Wanted) -> Strip | None:
    """Return what the brokers logged on the days that are listed, at least a week, those with a gap first."""
    found = coverage_days(load, days=max(7, wanted.days) if wanted.days else STRIP_DAYS)
    if not found.brokers:
        return None
    latest = {each.broker: each for each in reversed(found.missing) if each.kind != DENIALS}
    rows = sorted(
        (_strip_row(each, latest.get(each.broker)) for each in found.brokers), key=lambda row: row.is_whole
    )
    return Strip(found, tuple(rows[:BROKERS_SHOWN]), max(0, len(rows) - BROKERS_SHOWN))


def _strip_row(each: BrokerCoverage, missing: Missing | None) -> StripRow:
    cells = day_rows([(cell.kind, height_of(cell)) for cell in each.days])
    whole = sum(cell.kind in (PERMITS, DENIALS) for cell in each.days)
    if missing is None:
        return StripRow(each.broker, cells, f"{whole:,} of {number_of(each.counted, 'day')}", True)
    day = f"{missing.last.day} {missing.last:%b}"
    says = (
        f"{missing.words}: {day}, {missing.hours}"
        if missing.hours
        else f"{missing.words}: {number_of(missing.days, 'day')} to {day}"
    )
    return StripRow(each.broker, cells, says, False)


def _is_whole(load: Load | None) -> bool:
    """Return whether every broker wrote its denials on the day before the last one of the log."""
    return coverage_days(load, days=2).together[:1] in ((PERMITS,), (DENIALS,))


def _closed(query: QueryDict, found: denials.Inbox) -> tuple[int, str, str] | None:
    """Return how many closed groups are left out, which they are in words, and where they are listed."""
    if not found.closed:
        return None
    told = ", ".join(f"{number:,} {State(state).label}" for state, number in found.closed.items())
    return sum(found.closed.values()), told, _shut(with_field(query, "closed", CLOSED))


def _bursts(query: QueryDict, found: denials.Inbox) -> Choice | None:
    """Return the link to the groups with a burst alone, or back to all; None where there is neither."""
    chosen = query.get("burst", "") == BURST
    if not found.bursts and not chosen:
        return None
    address = without(query, "burst") if chosen else with_field(query, "burst", BURST)
    return Choice(BURST, "bursts", found.bursts, chosen, _shut(address))


def _windows(query: QueryDict, wanted: Wanted) -> list[Choice]:
    words = {1: "last day", 0: "whole log"} | {days: f"{days} days" for days in WINDOWS if days > 1}
    return [
        Choice(
            str(days),
            words[days],
            None,
            wanted.days == days,
            _shut(with_field(query, "days", str(days) if days else ALL_DAYS)),
        )
        for days in (*WINDOWS, 0)
    ]


def _sorts(query: QueryDict, wanted: Wanted) -> list[Choice]:
    return [
        Choice(sort, word, None, wanted.sort == sort, with_field(query, "sort", sort))
        for sort, word in _SORT_WORDS.items()
    ]


def _shut(address: str) -> str:
    """Return the address of a list without its open row, which may not be in the list any more, and its open menu."""
    return without(_query(without(_query(address), "open")), "owners")


def _query(address: str) -> QueryDict:
    return QueryDict(address.removeprefix("?"))


def _export_url(cluster: Cluster, query: QueryDict, ending: str) -> str:
    kept = query.copy()
    for name in ("page", "open"):
        kept.pop(name, None)
    kept["format"] = ending
    return reverse("denials-export", args=[cluster.slug], query=kept)
