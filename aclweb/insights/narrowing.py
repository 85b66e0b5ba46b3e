"""Which fewer rights would allow what a principal was logged to do, and how sure is that?

The proposal is computed while somebody waits, from the requests of the newest load, with the function that the
job uses; nothing is stored. Without permits in the log there is no proposal: what is used would not show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Q

from aclweb.acl.authorizer import Result
from aclweb.acl.logged import (
    NAMES,
    Choices,
    Evidence,
    HeldRights,
    LoggedRights,
    Proposal,
    Rights,
    Used,
    propose_each,
    rights_of,
    why_young_stays,
)
from aclweb.acl.matching import SortedNames
from aclweb.acl.model import (
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    ResourcePattern,
    ResourceType,
    number_of,
)
from aclweb.acl.notation import binding_key
from aclweb.clusters import Known
from aclweb.insights.current import current_load
from aclweb.insights.models import Load
from aclweb.insights.replay import Replay, replay
from aclweb.insights.unused import NO_LOG, dated, evidence_of
from aclweb.insights.window import Window, evidence_in_days
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.models import Cluster

MOST_USED = 3_000
"""So many distinct requests and answers of a principal are worked out while somebody waits; more is for the job."""


@dataclass(frozen=True)
class Setting:
    """What another choice of names would give: `acls` in all, and how many rights of today would go.

    left: rights on names that exist which no logged request used. patterns: those that match names to come. names: ""
    for the ACLs of today.
    """

    names: str
    acls: int
    rights: Rights
    covers: float
    left: int = 0
    patterns: tuple[ResourcePattern, ...] = ()


@dataclass(frozen=True)
class Narrowing:
    """A proposal with what it is worth.

    proposal: None where nothing is proposed, and then `why_not` is a sentence. doubts: what may be missing, a
    sentence each. rights: on names that exist. settings: the same with each choice of names. replay: of the whole
    log, whatever days the proposal is made from. topics_known: whether all existing topics are. groups_known: whether
    the existing groups are. days: the last ones of the log that it is made from; None for all of it. held: the rights
    of today, each with its use. used: the logged requests that it is made from. young: how many of its ACLs are too
    young to judge. today: the ACLs of today as a setting. authorizer: the settings that it was worked out with.
    """

    load: Load | None
    evidence: Evidence
    why_not: str = ""
    proposal: Proposal | None = None
    rights: Rights | None = None
    settings: tuple[Setting, ...] = ()
    doubts: tuple[str, ...] = ()
    replay: Replay | None = None
    topics_known: bool = True
    groups_known: bool = True
    days: int | None = None
    held: HeldRights | None = None
    used: tuple[Used, ...] = ()
    young: int = 0
    today: Setting | None = None
    authorizer: AuthorizerSettings | None = None

    @property
    def tells_unused(self) -> bool:
        """Whether the log may call an ALLOW, and the rights of it, unused."""
        return not self.evidence.why_not[PermissionType.ALLOW]


def existing_names(view: ClusterView) -> dict[ResourceType, SortedNames]:
    """Return the names that exist, of each type whose names are known."""
    return {
        kind: SortedNames.of_sorted(names) for kind, names in view.loaded.names.items() if names is not None
    }


def narrowing(
    cluster: Cluster,
    principal: str,
    choices: Choices | None = None,
    *,
    keep_young: bool = True,
    days: int | None = None,
    just_read: bool = False,
) -> Narrowing:
    """Return the fewest rights that allow what this principal was logged to do; eight queries at most.

    days: the last ones of the log, of WINDOWS; None for all of it. keep_young: whether its ACLs that are
    younger than the days that the log has to cover stay. just_read: as in `in_force`. Where the log may call no ALLOW
    unused, those that no logged request matches stay in any case.
    """
    load = current_load(cluster)
    window = None if load is None else Window.of(load, days)
    evidence = evidence_in_days(evidence_of(load), window)
    view = in_force(cluster, just_read=just_read)
    why_not = _why_not(window, view, principal)
    if why_not or load is None or window is None:
        return Narrowing(load, evidence, why_not, days=window.days if window else None)
    used = _used(window, principal)
    if used is None:
        return Narrowing(
            load,
            evidence,
            f"The log has more than {MOST_USED:,} different requests and answers of this principal, which takes "
            "longer than a page may. Run `python -m aclweb.pipeline least-privilege` for it.",
            days=window.days,
        )
    existing = existing_names(view)
    chosen = replace(choices or Choices(), existing=existing)
    young = _young(cluster, view, principal, evidence)
    keep = young if keep_young else {}
    why_not_unused = evidence.why_not[PermissionType.ALLOW]
    proposals = propose_each(
        principal,
        used,
        view.index,
        view.settings,
        [replace(chosen, names=names) for names in NAMES],
        keep=keep,
        why_not_unused=why_not_unused,
    )
    proposal = proposals[NAMES.index(chosen.names)]
    today = [each.binding for each in proposal.today]
    settings = []
    logged = LoggedRights(used, existing, view.settings)
    for names, found in zip(NAMES, proposals, strict=True):
        bindings = [each.binding for each in found.proposed]
        rights = rights_of(today, bindings, existing, view.settings)
        settings.append(_setting(names, bindings, rights, found.percent, logged.of(bindings)))
    held = logged.of(today)
    as_today = _setting("", today, rights_of(today, today, existing, view.settings), 0.0, held)
    return Narrowing(
        load,
        evidence,
        proposal=proposal,
        rights=next(each.rights for each in settings if each.names == chosen.names),
        settings=tuple(settings),
        doubts=tuple(_doubts(evidence, window, days, used)),
        replay=replay(load, proposal.delta, view.index, view.settings),
        topics_known=view.known(ResourceType.TOPIC) is Known.ALL,
        groups_known=ResourceType.GROUP in existing,
        days=window.days,
        held=held,
        used=tuple(used),
        young=len(young),
        today=as_today,
        authorizer=view.settings,
    )


def _setting(
    names: str, bindings: Sequence[AclBinding], rights: Rights, covers: float, held: HeldRights
) -> Setting:
    open_patterns = dict.fromkeys(
        binding.pattern
        for binding in bindings
        if binding.pattern_type is not PatternType.LITERAL or binding.pattern.is_wildcard
    )
    return Setting(names, len(bindings), rights, covers, held.unused_number, tuple(open_patterns))


def _why_not(window: Window | None, view: ClusterView, principal: str) -> str:
    if window is None:
        return f"Cannot tell what it uses: {NO_LOG}."
    if not window.permits_seen:
        holds = "the log holds" if window.days is None else f"the last {window.days} days of the log hold"
        return (
            f"Cannot tell what it uses: {holds} no permits. Brokers write them when the logger "
            "kafka.authorizer.logger is set to DEBUG."
        )
    if principal in view.settings.super_users:
        return "It is a super user: it may do everything, whatever the ACLs say."
    own = (binding for binding in view.loaded.naming(principal) if not binding.is_deny)
    if next(iter(own), None) is None:
        return "No ACL allows something to this principal by its name, so there is nothing to narrow."
    return ""


def _used(window: Window, principal: str) -> list[Used] | None:
    """Return what the principal was logged to do in these days, each request once; None where it is too much.

    Too much are more rows than MOST_USED.
    """
    # What was denied then and is allowed by now must stay allowed too.
    wanted = Q(request__allowed=True) | Q(decided_now=Result.ALLOWED.name)
    rows = window.requests(principal=principal).filter(wanted).order_by(f"-{window.column}", "request")
    columns = (
        "request__host",
        "request__operation",
        "request__resource_type",
        "request__resource_name",
        window.column,
    )
    lines_of: dict[AccessRequest, int] = {}
    read = list(rows.values_list(*columns)[: MOST_USED + 1])
    # A request has a row for each answer, so fewer requests than rows may come from a cut list.
    if len(read) > MOST_USED:
        return None
    for host, operation, kind, name, lines in read:
        request = AccessRequest(principal, host, Operation[operation], ResourceType[kind], name)
        lines_of[request] = lines_of.get(request, 0) + lines
    return [Used(request, lines) for request, lines in lines_of.items()]


def _young(
    cluster: Cluster, view: ClusterView, principal: str, evidence: Evidence
) -> Mapping[AclBinding, str]:
    """Return its ACLs that are younger than the window, each with the reason to keep it."""
    if evidence.start is None:
        return {}
    own = {binding_key(binding): binding for binding in view.loaded.naming(principal)}
    return {
        own[key]: why_young_stays(read_at, evidence.days)
        for key, _, number, read_at in dated(cluster, own)
        if number > 1 and read_at > evidence.start
    }


def _doubts(evidence: Evidence, window: Window, days: int | None, used: list[Used]) -> list[str]:
    doubts = []
    if window.days != days:
        doubts.append("The records of this log have no time, so all of it is looked at.")
    if reason := evidence.why_not[PermissionType.ALLOW]:
        doubts.append(f"It may use more than the log shows: {reason}.")
    if not used:
        span = "The log has" if window.days is None else f"The last {window.days} days of the log have"
        doubts.append(f"{span} no permitted request of this principal at all.")
    if unparsed := window.load.lines_unparsed:
        lines = number_of(unparsed, "line", "lines")
        doubts.append(
            f"{lines} of the log could not be understood; requests of this principal may be among them."
        )
    return doubts
