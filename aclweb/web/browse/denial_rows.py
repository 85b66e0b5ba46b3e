"""How is a group of denials shown: its bars, what mends its cause, and all that the log holds about it?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.urls import reverse

from aclweb.acl.authorizer import AclIndex, Result, decide, smallest_fix
from aclweb.acl.logged import Evidence, NearNames
from aclweb.acl.model import WILDCARD, WORDS, AclBinding, Operation, PatternType, PermissionType
from aclweb.acl.needs import asked_next
from aclweb.acl.notation import binding_key
from aclweb.audit import trail
from aclweb.insights import denial_marks, denials
from aclweb.insights.denials import Denial, Detail, State
from aclweb.insights.models import Load
from aclweb.insights.unused import evidence_of, unused_acls, was_permitted
from aclweb.inventory.models import Cluster
from aclweb.web.browse.charts import DayChart, Spark, day_chart, most_of, spark
from aclweb.web.shell import links

HOSTS_SHOWN = 8

# In the host of an ACL: every host, a glob, a range of addresses.
_SIGNS_OF_MANY_HOSTS = "*?/"

# Causes where an ACL would hide the fault, or give nobody what they need.
_NO_ACL_HELPS = ("name", "deny", "anonymous", "unknown", "allowed-now")

TONES = {
    State.NEW: "accent",
    State.BEING_FIXED: "warn",
    State.EXPECTED: "",
    State.FIXED: "good",
    State.IGNORED: "",
}


@dataclass(frozen=True)
class Offer:
    """What a person can do about a denial: a button's word, and where it leads."""

    word: str
    address: str


@dataclass(frozen=True)
class Remedy:
    """An ACL that allows some of the denied requests: `allows` of `lines` logged ones."""

    binding: AclBinding
    allows: int
    lines: int
    offer: Offer


@dataclass(frozen=True)
class HostFix:
    """The ACL of another host, with the host that was denied.

    replaces: the log proves that nobody needs the other one. sentence: what the log says of the other one.
    """

    before: AclBinding
    after: AclBinding
    replaces: bool
    sentence: str
    offer: Offer


@dataclass(frozen=True)
class Following:
    """A right that the client asks for next: the sentence that says why, and the ACL for both."""

    sentence: str
    offer: Offer


@dataclass(frozen=True)
class Opened:
    """All about one group, for the row that is open.

    record: the newest one, in parts, each with whether it says what was denied. near: principals of ACLs with nearly
    the name that was denied.
    """

    detail: Detail
    most: int
    chart: DayChart
    remedies: tuple[Remedy, ...]
    host_fix: HostFix | None
    history: tuple[dict[str, object], ...]
    explain: str
    record: tuple[tuple[str, bool], ...] = ()
    near: tuple[str, ...] = ()
    following: tuple[Following, ...] = ()

    @property
    def hosts(self) -> list[tuple[denials.HostShare, float, float]]:
        """The hosts shown, each with the lengths of its bars in hundredths."""
        shown = self.detail.hosts[:HOSTS_SHOWN]
        return [
            (share, _percent(share.denied, self.most), _percent(share.permitted, self.most))
            for share in shown
        ]

    @property
    def more_hosts(self) -> int:
        return max(0, self.detail.host_count - HOSTS_SHOWN)


@dataclass(frozen=True)
class DenialRow:
    """One group as the inbox shows it; `opened` where it is open."""

    denial: Denial
    bars: Spark | None
    offer: Offer | None
    tone: str
    word: str
    opened: Opened | None = None

    @property
    def anchor(self) -> str:
        """Its id on the page."""
        return f"denial-{self.denial.key[:12]}"


def rows_of(cluster: Cluster, load: Load, found: Sequence[Denial], *, opened: str) -> tuple[DenialRow, ...]:
    """Return the rows of a page, whose bars share one scale; `opened` is the key of the open one."""
    most = most_of([each.days for each in found])
    return tuple(
        DenialRow(
            denial=each,
            bars=spark(each.days, most),
            offer=offer_of(cluster, each),
            tone=TONES[State(each.state)],
            word=each.word,
            opened=_opened(cluster, load, each) if each.key == opened else None,
        )
        for each in found
    )


def no_acl_helps(found: Denial) -> bool:
    """Return whether an ACL would hide the fault, or give nobody what they need."""
    return found.cause.kind in _NO_ACL_HELPS


def offer_of(cluster: Cluster, found: Denial) -> Offer | None:
    """Return what mends the likely cause; an ACL only where a missing ACL is the cause."""
    kind = found.cause.kind
    if found.state in (State.EXPECTED, State.IGNORED, State.FIXED) or kind == "allowed-now":
        return None
    if found.state == State.BEING_FIXED and found.mark is not None and found.mark.change is not None:
        number = found.mark.change
        return Offer(f"CR-{number}", reverse("change", args=[number]))
    if kind == "name" and "=" in found.principal:
        query = links.encoded(kind="ssl", names=found.principal.partition(":")[2])
        return Offer("Test the name mapping", f"{reverse('mapping', args=[cluster.slug])}?{query}")
    if kind == "name":
        return Offer("Show the other name", links.principal(cluster, found.cause.written))
    if kind == "host":
        address = (
            f"{reverse('insights', args=[cluster.slug])}?{links.encoded(days='all', open=found.short_key)}"
        )
        return Offer("Fix the host", f"{address}#denials") if found.names == 1 else None
    if kind in _NO_ACL_HELPS:
        return Offer("Explain", _explanation(cluster, found))
    if found.names > 1:
        query = links.encoded(alike=found.short_key)
        return Offer("Propose ACLs", f"{reverse('denials-acls', args=[cluster.slug])}?{query}")
    return Offer("Propose ACL", _draft(cluster, add=[_proposal(found)]))


def _opened(cluster: Cluster, load: Load, found: Denial) -> Opened:
    detail = denials.detail(load, found)
    shown = detail.hosts[:HOSTS_SHOWN]
    days = [day for day, _, _ in detail.days]
    rows = [("denied", "deny", [denied for _, denied, _ in detail.days])]
    if detail.permits_logged:
        rows.insert(0, ("permitted", "", [permitted for _, _, permitted in detail.days]))
    return Opened(
        detail=detail,
        most=max((max(share.denied, share.permitted) for share in shown), default=0),
        chart=day_chart(days, rows),
        remedies=_remedies(cluster, found, detail),
        host_fix=_host_fix(cluster, load, found),
        # Whatever was said of a group left its mark.
        history=tuple(
            {"sentence": trail.sentence(event), "at": event.at}
            for event in (denial_marks.history(cluster, found.key) if found.mark is not None else ())
        ),
        explain=_explanation(cluster, found),
        record=tuple(_parts_of(detail.sample, found)),
        near=_near(found),
        following=tuple(_following(cluster, found, detail)),
    )


def _parts_of(record: str, found: Denial) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a record, each with whether it says who was denied what, on what and from where."""
    marked = (
        rf"(?<=Principal = ){re.escape(found.principal)}(?= is )",
        "(?<= is )Denied(?= )",
        "(?<=[oO]peration = )[A-Za-z_]+",
        rf"(?<= host = ){re.escape(found.latest_host)}(?= )",
        rf"(?<=:){re.escape(found.resource.name)}(?= for request | \(|$)",
    )
    place = 0
    for match in re.finditer("|".join(marked), record):
        if match.start() > place:
            yield record[place : match.start()], False
        yield match[0], True
        place = match.end()
    if place < len(record):
        yield record[place:], False


def _near(found: Denial) -> tuple[str, ...]:
    now = found.now
    if found.decision.result is not Result.DENIED or now.loaded.naming(found.principal):
        return ()
    known = now.loaded.remember("near names", lambda: NearNames(now.index.principals))
    return known.of(found.principal)


def _following(cluster: Cluster, found: Denial, detail: Detail) -> Iterator[Following]:
    """Yield the rights that the client asks for once this one is there; what its ACLs say already comes first."""
    if found.cause.kind in _NO_ACL_HELPS or smallest_fix(found.decision) is None:
        return
    now = found.now
    following = asked_next(found.operation, found.resource.resource_type, detail.api_names, now.settings)
    held = {
        binding.operation
        for binding in now.loaded.naming(found.principal)
        if not binding.is_deny and binding.resource_type is found.resource.resource_type
    }
    # Where its own ACLs say which of several rights it uses, the others are not likely.
    likely = {operation: does for operation, does in following.items() if operation in held} or following
    for operation, does in likely.items():
        word = WORDS[operation]
        why = (
            f"its ACLs of today are for {word}"
            if operation in held
            else f"a client that {does} asks for it next"
        )
        offer = Offer(
            f"Use {word}, which implies {WORDS[found.operation]}",
            _draft(cluster, add=[replace(_proposal(found), operation=operation)]),
        )
        perhaps = "is likely" if len(likely) == 1 else "may be"
        yield Following(f"{word} {perhaps} asked next: {why}.", offer)


def _remedies(cluster: Cluster, found: Denial, detail: Detail) -> tuple[Remedy, ...]:
    """Return the smallest ACL for the newest denied request, and one for any host where there are more hosts."""
    if found.cause.kind in _NO_ACL_HELPS:
        return ()
    smallest = smallest_fix(found.decision)
    if smallest is None:
        return ()
    wanted = [smallest]
    if found.hosts > 1:
        wanted.append(replace(smallest, host=WILDCARD))
    now = found.now
    near = now.index.affecting(found.resource, now.settings)
    remedies = []
    for binding in wanted:
        index = AclIndex([*near, binding])
        allows = 0
        # Further hosts of a denial are not counted as allowed.
        for share in detail.hosts:
            if not share.denied:
                break
            request = replace(found.decision.request, host=share.host)
            result, _ = decide(request, index, now.settings)
            allows += share.denied if result is Result.ALLOWED else 0
        offer = Offer("Propose this ACL", _draft(cluster, add=[binding]))
        remedies.append(Remedy(binding, allows, detail.denied, offer))
    return tuple(remedies)


def _host_fix(cluster: Cluster, load: Load, found: Denial) -> HostFix | None:
    before = found.cause.binding
    if found.cause.kind != "host" or before is None:
        return None
    after = replace(before, host=found.latest_host)
    evidence = evidence_of(load)
    why_kept = _why_kept(cluster, load, evidence, found.principal, before)
    sentence = (
        f"{why_kept}, so it stays."
        if why_kept
        else f"No logged request needed the ACL of {before.host} {evidence.window}."
    )
    address = _draft(cluster, add=[after], remove=[] if why_kept else [before])
    offer = Offer("Allow this host too" if why_kept else "Fix the host", address)
    return HostFix(before, after, not why_kept, sentence, offer)


def _why_kept(cluster: Cluster, load: Load, evidence: Evidence, principal: str, binding: AclBinding) -> str:
    """Return why the ACL of another host may not go; empty where the log proves that nobody needs it."""
    if binding.pattern_type is not PatternType.LITERAL or binding.resource_name == WILDCARD:
        return "The ACL there is for more than this name"
    if binding.operation in (Operation.ALL, Operation.UNKNOWN):
        return "The ACL there is for more than this operation"
    if binding.principal != principal or principal.endswith(":" + WILDCARD):
        return "The ACL there is for more than this principal"
    if any(sign in binding.host for sign in _SIGNS_OF_MANY_HOSTS):
        return "The ACL there names more than one address"
    if reason := evidence.why_not[PermissionType.ALLOW]:
        return f"The log cannot tell whether anybody still uses the ACL of {binding.host}: {reason}"
    if was_permitted(load, binding):
        return f"The log shows permitted requests from {binding.host}"
    if not unused_acls(cluster, load, evidence).filter(key=binding_key(binding)).exists():
        return f"The log does not show that the ACL of {binding.host} is unused"
    return ""


def _explanation(cluster: Cluster, found: Denial) -> str:
    kind, name = found.resource.resource_type, found.resource.name
    return links.explain_cell(cluster, found.principal, found.operation, kind, name, found.latest_host)


def _draft(cluster: Cluster, *, add: Sequence[AclBinding], remove: Sequence[AclBinding] = ()) -> str:
    query = [f"add={links.acl(binding)}" for binding in add]
    query += [links.encoded(remove_key=binding_key(binding)) for binding in remove]
    return f"{reverse('what-if', args=[cluster.slug])}?{'&'.join(query)}"


def _proposal(found: Denial) -> AclBinding:
    """Return the narrowest ACL by name that would have allowed these requests from everywhere."""
    return AclBinding(
        resource_type=found.resource.resource_type,
        resource_name=found.resource.name,
        pattern_type=PatternType.LITERAL,
        principal=found.principal,
        host=found.latest_host if found.hosts == 1 else WILDCARD,
        operation=found.operation,
        permission_type=PermissionType.ALLOW,
    )


def _percent(part: int, whole: int) -> float:
    return round(max(1.0, 100 * part / whole), 1) if part and whole else 0.0
