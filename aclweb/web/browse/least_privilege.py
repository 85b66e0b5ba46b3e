"""Which fewer rights would do for a principal? A proposal from what was logged, which opens as a draft."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.views.decorators.http import require_GET

from aclweb.accounts import access
from aclweb.acl.logged import Choices, Held, Proposal, Proposed
from aclweb.acl.model import AclError
from aclweb.insights.coverage import freshness
from aclweb.insights.narrowing import Narrowing, narrowing
from aclweb.insights.window import WINDOWS
from aclweb.inventory.current import in_force
from aclweb.inventory.models import Cluster
from aclweb.web.drafts import Line, replayed
from aclweb.web.shell import exporting, links
from aclweb.web.shell.htmx import render_page

ROWS_SHOWN = 200

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
class Knob:
    """One choice, its values as (value, word, note, whether it is chosen)."""

    name: str
    label: str
    values: tuple[tuple[str, str, str, bool], ...]


@dataclass(frozen=True)
class Pair:
    """What becomes of one ACL of today: what is there instead; `today` is None for what only comes."""

    today: Held | None
    instead: tuple[Proposed, ...]

    @property
    def sign(self) -> str:
        if self.today is None:
            return "add"
        return "same" if self.today.stays else "remove"


@login_required
@require_GET
def detail(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show what the ACLs of one principal could be, beside what they are; `?format=` asks for a file instead."""
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
        cluster, principal, choices, keep_young=chosen["young"] == "keep", days=_DAYS[chosen["days"]]
    )
    reason = ""
    if "format" in request.GET:
        file, reason = _file(cluster, found, request.GET["format"])
        if file is not None:
            return file
    pairs = list(_pairs(found.proposal)) if found.proposal else []
    context: dict[str, Any] = {
        "cluster": cluster,
        "principal": principal,
        "principal_page": links.principal(cluster, principal),
        "found": found,
        "freshness": freshness(cluster, found.load),
        "faults": [*faults, reason] if reason else faults,
        "notations": exporting.NOTATIONS.items(),
        "knobs": [_knob(name, label, values, chosen) for name, label, values in _KNOBS],
        "pairs": pairs[:ROWS_SHOWN],
        "more_pairs": max(0, len(pairs) - ROWS_SHOWN),
        "settings": [
            (each, SETTING_WORDS[each.names], each.names == chosen["names"]) for each in found.settings
        ],
        "lines": _lines(found.proposal) if found.proposal else (),
        **replayed.shown(found.replay, cluster, request.GET, of_days=False),
    }
    return render_page(
        request,
        "browse/principals/least_privilege.html",
        "browse/principals/_least_privilege.html",
        context,
        section="principals",
    )


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


def _knob(name: str, label: str, values: tuple[tuple[str, str, str], ...], chosen: dict[str, str]) -> Knob:
    return Knob(
        name, label, tuple((value, word, note, chosen[name] == value) for value, word, note in values)
    )


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


def _lines(proposal: Proposal) -> tuple[str, ...]:
    """Return the lines of the draft: what is added, then what goes."""
    adds = (Line("add", binding).as_text() for binding in proposal.adds)
    removes = (Line("remove", binding).as_text() for binding in proposal.removes)
    return (*adds, *removes)
