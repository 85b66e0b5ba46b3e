"""Which fewer rights would do for a principal? A proposal from what was logged, which opens as a draft."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.logged import Choices, Held, HeldRight, Proposal, Proposed
from aclweb.acl.model import WILDCARD, AclError, ResourcePattern, ResourceType, number_of
from aclweb.insights.coverage import freshness
from aclweb.insights.coverage_days import coverage_days
from aclweb.insights.narrowing import Narrowing, narrowing
from aclweb.insights.window import WINDOWS
from aclweb.inventory.current import in_force
from aclweb.inventory.lists import LazyRows, owner_of
from aclweb.inventory.models import Cluster, OwnedNames
from aclweb.web.browse.acl_filters import with_field, without
from aclweb.web.drafts import Line, address_of, replayed
from aclweb.web.shell import exporting, links
from aclweb.web.shell.downloads import FORMATS, WORDS, rows_file
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

PAIRS_A_PAGE = 9
INSTEAD_SHOWN = 3  # of what replaces one ACL, which may be thousands
LINES_A_PAGE = 60
COMMANDS_SHOWN = 6
RIGHTS_A_PAGE = 12
NAMED = 3
_RIGHTS = "rights-"  # begins the format of a file of the rights of today
RIGHT_COLUMNS = ("resource_type", "resource_name", "operation", "requests")

_LONGEST = 400  # days of the log whose coverage is looked at, where all of it counts

_DAYS: dict[str, int | None] = {"all": None, **{str(days): days for days in WINDOWS}}

_NAMES = (
    ("exact", "Exact names", "only topics that were used"),
    ("most-used", "Prefix where most are used", "at least 75 % of its topics"),
    ("first-delimiter", "Prefix at each first delimiter", "one ACL for each prefix"),
)

_KNOBS: tuple[tuple[str, str, tuple[tuple[str, str, str], ...]], ...] = (
    (
        "days",
        "Days of the log",
        tuple((each, each.capitalize(), "") for each in _DAYS),
    ),
    ("names", "Topics", _NAMES),
    ("delimiter", "Delimiter", ((".", ".", ""), ("-", "-", ""), ("_", "_", ""))),
    ("groups", "Groups and transactional ids", (("prefix", "By prefix", ""), ("exact", "Exact", ""))),
    ("hosts", "Hosts", (("as-today", "As today", ""), ("any", "Any", ""), ("seen", "Seen", ""))),
    ("young", "Young ACLs", (("keep", "Stay", ""), ("judge", "Are judged too", ""))),
)
SETTING_WORDS = {value: word for value, word, _ in _NAMES}


@dataclass(frozen=True)
class Seen:
    """Names behind a word, such as the groups that were seen. more: how many are not shown; told: instead of names."""

    word: str
    names: tuple[str, ...] = ()
    more: int = 0
    told: str = ""


@dataclass(frozen=True)
class Knob:
    """One choice, its values as (value, word, note, whether it is chosen).

    seen: what the log shows of it, names behind a word each.
    """

    name: str
    label: str
    values: tuple[tuple[str, str, str, bool], ...]
    seen: tuple[Seen, ...] = ()


@dataclass(frozen=True)
class Pair:
    """What becomes of one ACL of today: what is there instead; `today` is None for what only comes."""

    today: Held | None
    instead: tuple[Proposed, ...]

    @property
    def shown(self) -> tuple[Proposed, ...]:
        """The first of what is there instead; all where hiding the rest would save one line only."""
        return self.instead if self.more == 0 else self.instead[:INSTEAD_SHOWN]

    @property
    def more(self) -> int:
        """How many a page does not show."""
        beyond = len(self.instead) - INSTEAD_SHOWN
        return beyond if beyond > 1 else 0

    @property
    def sign(self) -> str:
        if self.today is None:
            return "add"
        return "same" if self.today.stays else "remove"


@dataclass(frozen=True)
class RightRow:
    """A right of today. length: of its bar in hundredths, on a logarithmic scale; 0 where it is unused."""

    right: HeldRight
    length: float


@dataclass(frozen=True)
class Check:
    """Something to know before the draft is opened; known: whether the log shows it."""

    known: bool
    sentence: str


@login_required
@require_http_methods(["GET", "POST"])
def detail(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show what the ACLs of one principal could be, beside what they are.

    `?format=` asks for a file instead; posted, it leads to the draft of the proposal, which is worked out again.
    """
    cluster = access.cluster_or_404(request.user, slug)
    principal = request.GET.get("name", "")
    if not principal:
        raise Http404("A principal is named by ?name=, such as ?name=User:bob.")
    chosen = _chosen(request.GET)
    faults = [
        f"{name} is {request.GET[name]!r}; use one of {', '.join(value for value, _, _ in values)}."
        for name, _, values in _KNOBS
        if request.GET.get(name) and request.GET[name] != chosen[name]
    ]
    try:
        choices = Choices(
            names=chosen["names"],
            delimiter=chosen["delimiter"],
            by_prefix=chosen["groups"] == "prefix",
            hosts=chosen["hosts"],
        )
    except AclError as error:  # pragma: no cover - each value is one of the page's own
        raise Http404(str(error)) from error
    found = narrowing(
        cluster,
        principal,
        choices,
        keep_young=chosen["young"] == "keep",
        days=_DAYS[chosen["days"]],
        just_read=True,
    )
    # A draft or a file of other choices than those that somebody named would be taken for theirs.
    is_wrong = bool(faults) and (request.method == "POST" or "format" in request.GET)
    if request.method == "POST" and not is_wrong:
        return _draft(request, cluster, found)
    reason = ""
    if "format" in request.GET and not is_wrong:
        asked = request.GET["format"]
        if asked.startswith(_RIGHTS):
            name = f"rights-{cluster.slug}"
            ending = asked.removeprefix(_RIGHTS)
            return rows_file(
                _exported(found), name=name, ending=ending, columns=RIGHT_COLUMNS, about=[cluster]
            )
        file, reason = _file(cluster, found, asked)
        if file is not None:
            return file
    pairs = list(_pairs(found.proposal)) if found.proposal else []
    lines = _lines(found.proposal) if found.proposal else ()
    commands = _commands(found)
    context: dict[str, Any] = {
        "cluster": cluster,
        "principal": principal,
        "principal_page": links.principal(cluster, principal),
        "found": found,
        "freshness": freshness(cluster, found.load),
        "faults": [*faults, reason] if reason else faults,
        "notations": exporting.NOTATIONS.items(),
        "knobs": [_knob(name, label, values, chosen, _beside(name, found)) for name, label, values in _KNOBS],
        "pairs": page_of(pairs, page_asked(request.GET), PAIRS_A_PAGE),
        "settings": [
            (each, SETTING_WORDS[each.names], each.names == chosen["names"]) for each in found.settings
        ],
        "lines": lines,
        "line_page": page_of(lines, page_asked(request.GET), LINES_A_PAGE),
        "owner": owner_of(cluster, OwnedNames.Kind.PRINCIPAL.value, principal),
        "as_lines": request.GET.get("view") == "lines",
        "views": [
            ("Side by side", without(request.GET, "view"), request.GET.get("view") != "lines"),
            ("As lines", with_field(request.GET, "view", "lines"), request.GET.get("view") == "lines"),
        ],
        "commands": commands[:COMMANDS_SHOWN],
        "more_commands": max(0, len(commands) - COMMANDS_SHOWN),
        "rights": page_of(_rights(found), page_asked(request.GET, "rights"), RIGHTS_A_PAGE),
        "used_rights": len(found.held.used) if found.held else 0,
        "unknown_patterns": _unknown_patterns(found),
        "right_files": [(WORDS[ending], f"{_RIGHTS}{ending}") for ending in FORMATS],
        "checks": list(_checks(found)),
        **replayed.shown(found.replay, cluster, request.GET, of_days=False),
    }
    return render_page(
        request,
        "browse/principals/least_privilege.html",
        "browse/principals/_least_privilege.html",
        context,
        section="principals",
        status=422 if is_wrong else 200,
    )


def _draft(request: HttpRequest, cluster: Cluster, found: Narrowing) -> HttpResponse:
    """Lead to the draft of the proposal, or back to the page with a sentence why there is none."""
    assert isinstance(request.user, User)  # login_required
    lines = tuple(_of_draft(found.proposal)) if found.proposal else ()
    address = address_of(lines, cluster=cluster, person=request.user) if lines else ""
    if not address:
        why = "These ACLs are too long for one draft." if lines else found.why_not or "Nothing would change."
        messages.error(request, f"No draft was made: {why}")
        return redirect(request.get_full_path())
    return redirect(address)


def _file(cluster: Cluster, found: Narrowing, format: str) -> tuple[StreamingHttpResponse | None, str]:
    """Return a file of the proposal, or a sentence why there is none.

    The commands make the edit; every other file holds the ACLs that would be there. Raises Http404 for a format that
    is none of NOTATIONS, and where nothing is proposed.
    """
    if format not in exporting.NOTATIONS:
        raise Http404(f"format is {format!r}; use one of {', '.join(exporting.NOTATIONS)}.")
    if found.proposal is None:
        raise Http404(f"There is no file, since nothing is proposed. {found.why_not}")
    name, settings = f"least-privilege-{cluster.slug}", in_force(cluster).settings
    if format == exporting.COMMANDS:
        return exporting.commands_file(found.proposal.delta, settings, name), ""
    bindings = [each.binding for each in found.proposal.proposed]
    notation, reason = exporting.NOTATIONS[format], exporting.why_not(bindings, format, settings)
    if reason is not None:
        return None, f"No {notation.word} was made: {reason}"
    return exporting.acls_file(bindings, format, settings, name), ""


def _chosen(query: QueryDict) -> dict[str, str]:
    """Return the value of each knob; the first one where the address has none that is known."""
    found = {}
    for name, _, values in _KNOBS:
        asked = query.get(name, "")
        found[name] = asked if asked in {value for value, _, _ in values} else values[0][0]
    return found


def _knob(
    name: str,
    label: str,
    values: tuple[tuple[str, str, str], ...],
    chosen: dict[str, str],
    seen: tuple[Seen, ...],
) -> Knob:
    options = tuple((value, word, note, chosen[name] == value) for value, word, note in values)
    return Knob(name, label, options, seen)


def _beside(name: str, found: Narrowing) -> tuple[Seen, ...]:
    """Return what the log and the ACLs of today show of a choice."""
    if found.proposal is None:
        return ()
    if name == "groups":
        kinds = (ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
        names = sorted(
            {each.request.resource_name or "" for each in found.used if each.request.resource_type in kinds}
        )
        return (_seen("seen:", names) if names else Seen("", told="none was seen"),)
    if name == "hosts":
        today = sorted({each.binding.host for each in found.proposal.today})
        hosts = sorted({each.request.host for each in found.used})
        return (
            Seen("today:", told="any host") if today == [WILDCARD] else _seen("today:", today),
            _seen("seen:", hosts) if hosts else Seen("", told="none was seen"),
        )
    if name == "young":
        if not found.young:
            return (Seen("", told=f"no ACL of this principal is younger than {found.evidence.days} days"),)
        are = f"{number_of(found.young, 'ACL is', 'ACLs are')} younger than {found.evidence.days} days"
        return (Seen("", told=are),)
    return ()


def _seen(word: str, names: Sequence[str]) -> Seen:
    return Seen(word, tuple(names[:NAMED]), max(0, len(names) - NAMED))


def _rights(found: Narrowing) -> Sequence[RightRow]:
    """Return the rights of today, those of most requests first and then the unused ones, with bars on one scale."""
    held = found.held
    if held is None:
        return []
    used = sorted(held.used, key=lambda each: -each.lines)
    most = used[0].lines if used else 0

    def rows(start: int, stop: int) -> list[RightRow]:
        unused = islice(held.unused, max(0, start - len(used)), max(0, stop - len(used)))
        return [
            RightRow(each, round(100 * math.log1p(each.lines) / math.log1p(most), 1) if each.lines else 0.0)
            for each in (*used[start:stop], *unused)
        ]

    return LazyRows(len(held), rows)


def _unknown_patterns(found: Narrowing) -> list[ResourcePattern]:
    """Return patterns of today for names of which nobody knows which exist, or not of all."""
    if found.today is None:
        return []
    known = {ResourceType.CLUSTER}
    if found.topics_known:
        known.add(ResourceType.TOPIC)
    if found.groups_known:
        known.add(ResourceType.GROUP)
    return [pattern for pattern in found.today.patterns if pattern.resource_type not in known]


def _exported(found: Narrowing) -> Iterator[dict[str, str | int]]:
    for each in found.held or ():
        values = (each.resource_type.name, each.name, each.operation.name, each.lines)
        yield dict(zip(RIGHT_COLUMNS, values, strict=True))


def _commands(found: Narrowing) -> list[str]:
    """Return the lines of the edit as commands."""
    if found.proposal is None or found.authorizer is None or not found.proposal.delta:
        return []
    return "".join(exporting.written_plan(found.proposal.delta.steps(), found.authorizer)).splitlines()


def _checks(found: Narrowing) -> Iterator[Check]:
    """Yield what holds of every proposal, and what the coverage of the log says of this one."""
    if found.proposal is None or found.load is None:
        return
    yield Check(True, "No DENY is changed.")
    yield Check(True, "ACLs are added before others are removed.")
    yield Check(True, "Read and Write imply Describe, so no ACL is proposed for it.")
    log = coverage_days(found.load, days=found.days or _LONGEST)
    if not log.days:
        return
    yield Check(bool(log.month_ends), log.month_ends_told)
    missing = len(log.days) - log.whole
    if missing:
        days = number_of(len(log.days), "day", "days")
        yield Check(False, f"On {missing:,} of {days} permits are not complete, so it may use more.")
    else:
        yield Check(True, f"On each of {number_of(len(log.days), 'day', 'days')} all brokers logged permits.")


def _pairs(proposal: Proposal) -> Iterator[Pair]:
    """Yield each ACL of today with what replaces it, those that go first; then what only comes."""
    by_binding = {each.binding: each for each in proposal.proposed}
    shown = set()
    for held in sorted(proposal.today, key=lambda each: each.stays):
        replaced = [by_binding[binding] for binding in held.replaced_by if binding in by_binding]
        instead = [by_binding[held.binding]] if held.stays and held.binding in by_binding else replaced
        shown |= {each.binding for each in instead}
        yield Pair(held, tuple(instead))
    for each in proposal.proposed:
        if each.is_new and each.binding not in shown:
            yield Pair(None, (each,))


def _of_draft(proposal: Proposal) -> Iterator[Line]:
    """Yield the lines of the draft: what is added, then what goes."""
    yield from (Line("add", binding) for binding in proposal.adds)
    yield from (Line("remove", binding) for binding in proposal.removes)


def _lines(proposal: Proposal) -> tuple[str, ...]:
    return tuple(line.as_text() for line in _of_draft(proposal))
