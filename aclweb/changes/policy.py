"""Who may take which step of a change, and how many approvals does it need?

One table says in which states a step can be taken, one function whether this person may
take it now; services refuse by it and pages show or hide by it, so they cannot disagree.

    Nobody approves or rejects a change of their own, whatever their role.
    An approval counts for exactly the plan and the effect that it was given to, and only
    while the approver holds the right for every name of the change. That is asked when
    the approval is given and again by the worker before it writes. An approval expires:
    after ACLWEB_APPROVAL_DAYS it has to be given again, unless writing has begun.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Length, Replace, Substr
from django.utils import timezone

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.model import AclBinding, ResourceType, number_of
from aclweb.changes.models import Approval, Change, ChangeItem
from aclweb.inventory.models import Cluster

# What everybody with a grant may do on the change's cluster: `access.holders`, read once by a page.
Held = Mapping[User, access.Rights]
# Whether somebody may, and if not a sentence that says why.
Answer = tuple[bool, str]
Step = Literal["edit", "submit", "approve", "reject", "withdraw", "queue", "undo"]

_S = Change.State
STATES: dict[Step, tuple[Change.State, ...]] = {
    "edit": (_S.DRAFT, _S.IN_REVIEW, _S.APPROVED, _S.BLOCKED_STALE),
    "submit": (_S.DRAFT, _S.IN_REVIEW, _S.BLOCKED_STALE),
    "approve": (_S.IN_REVIEW,),
    "reject": (_S.IN_REVIEW,),
    "withdraw": (_S.DRAFT, _S.IN_REVIEW, _S.APPROVED, _S.QUEUED, _S.BLOCKED_STALE),
    "queue": (_S.APPROVED, _S.PARTIAL, _S.FAILED, _S.QUARANTINED),
    "undo": (_S.APPLIED, _S.PARTIAL, _S.QUARANTINED),
}

_DONE: dict[Step, str] = {
    "edit": "edited",
    "submit": "submitted",
    "approve": "approved",
    "reject": "rejected",
    "withdraw": "withdrawn",
    "queue": "run",
    "undo": "undone",
}


@dataclass(frozen=True)
class CountedApprovals:
    """Which approvals of a change count now, and a sentence for each that does not."""

    counted: tuple[Approval, ...]
    lost: tuple[Approval, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Required:
    """Who must approve: so many different people, and whether one of them must be an administrator of the cluster."""

    approvals: int
    by_administrator: bool = False

    def __or__(self, other: Required) -> Required:
        """Return what meets both."""
        return Required(max(self.approvals, other.approvals), self.by_administrator or other.by_administrator)

    @property
    def words(self) -> str:
        """Such as `2 approvals, one of them by an administrator`."""
        words = number_of(self.approvals, "approval")
        if not self.by_administrator:
            return words
        return (
            f"{words} by an administrator"
            if self.approvals == 1
            else f"{words}, one of them by an administrator"
        )


def lacking(
    cluster: Cluster, approvals: Iterable[Approval], required: Required, held: Held | None = None
) -> str:
    """Return what is lacking beside these approvals, as `1 more approval`; empty where they are enough."""
    given = list(approvals)
    missing = required.approvals - len(given)
    lacks_administrator = required.by_administrator and not any(
        _rights(approval.reviewer, cluster, held).may("administer") for approval in given
    )
    if missing <= 0 and not lacks_administrator:
        return ""
    words = number_of(max(missing, 1), "more approval")
    if not lacks_administrator:
        return words
    return f"{words} by an administrator" if missing <= 1 else f"{words}, one of them by an administrator"


def approvals_needed(cluster: Cluster) -> int:
    """Return how many different people must agree to a change on this cluster: at least one."""
    return max(1, cluster.approvals_needed)


def writable(cluster: Cluster) -> Answer:
    """Return whether aclweb writes to this cluster at all, and a sentence why not."""
    source = cluster.source
    if not source.can_write:
        sentence = (
            f"{cluster.name} is read from {source.source}, so an approved change ends as commands to copy."
        )
        return False, sentence
    if not cluster.changes_enabled:
        return False, (
            f"Writing to {cluster.name} is switched off, so an approved change ends as commands to copy. "
            "An administrator can switch it on."
        )
    return True, ""


def may(step: Step, change: Change, user: User) -> Answer:
    """Return whether this person may take this step now, and if not a sentence that says why."""
    return _may(step, change, user, lambda: access.rights(user, change.cluster))


def acts(change: Change, user: User, held: Held | None = None) -> dict[Step, Answer]:
    """Return the answer of `may` for every step, asking for this person's rights once, or not where `held` is."""
    rights = _rights(user, change.cluster, held)
    return {step: _may(step, change, user, lambda: rights) for step in STATES}


def _may(step: Step, change: Change, user: User, rights: Callable[[], access.Rights]) -> Answer:
    """Return the answer; the rights are asked for only where they count."""
    if change.state not in STATES[step]:
        return False, f"{change.key} is {change.get_state_display()}, so it cannot be {_DONE[step]}."
    if change.cluster.is_removed:
        return False, f"{change.cluster.name} was removed, so {change.key} cannot be {_DONE[step]}."
    if not user.is_active:
        return False, "This account is switched off."
    return _MAY[step](step, change, user, rights())


def _may_write(step: Step, change: Change, user: User, rights: access.Rights) -> Answer:
    if change.author_id != user.pk:
        author = change.author.get_username()
        return False, f"Only {author}, who wrote this change, can have it {_DONE[step]}."
    return _has_right(rights, "request", change.cluster, _names(change))


def _may_decide(step: Step, change: Change, user: User, rights: access.Rights) -> Answer:
    if change.author_id == user.pk:
        return False, f"You wrote this change, so somebody else must have it {_DONE[step]}."
    allowed, why_not = _has_right(rights, "approve", change.cluster, _names(change))
    if not allowed:
        return False, why_not
    if step == "approve" and _has_approved(user, change):
        return False, "You have approved this change already."
    return True, ""


def _has_approved(user: User, change: Change) -> bool:
    return any(
        approval.reviewer_id == user.pk and not has_expired(approval, change)
        for approval in change.approvals.all()
    )


def _may_withdraw(_: Step, change: Change, user: User, rights: access.Rights) -> Answer:
    if change.author_id != user.pk and not rights.may("administer"):
        author = change.author.get_username()
        return (
            False,
            f"Only {author}, who wrote this change, or an administrator of the cluster can withdraw it.",
        )
    if change.has_effects:
        return False, f"Part of {change.key} is written already; undo it instead."
    return (True, "") if rights.may("view") else (False, _no_role(change.cluster))


def _may_queue(_: Step, change: Change, user: User, rights: access.Rights) -> Answer:
    allowed, why_not = writable(change.cluster)
    if not allowed:
        return False, why_not
    act: Literal["request", "approve"] = "request" if change.author_id == user.pk else "approve"
    return _has_right(rights, act, change.cluster, _names(change))


def _may_undo(_: Step, change: Change, __: User, rights: access.Rights) -> Answer:
    allowed, why_not = _has_right(rights, "request", change.cluster, _names(change))
    if not allowed:
        return False, why_not
    if not any(item.state == ChangeItem.State.APPLIED for item in change.items.all()):
        return False, f"{change.key} wrote nothing, so there is nothing to undo."
    undo = change.undone_by.exclude(state__in=(_S.REJECTED, _S.CANCELLED, _S.FAILED)).first()
    if undo is not None:
        return False, f"{undo.key} undoes this change already; it is {undo.get_state_display()}."
    return True, ""


# Whether a person may take the step, where the state of the change admits it.
_MAY: dict[Step, Callable[[Step, Change, User, access.Rights], Answer]] = {
    "edit": _may_write,
    "submit": _may_write,
    "approve": _may_decide,
    "reject": _may_decide,
    "withdraw": _may_withdraw,
    "queue": _may_queue,
    "undo": _may_undo,
}


def may_approve(change: Change, user: User) -> Answer:
    """Return whether this person may approve this change now, and if not a sentence that says why."""
    return may("approve", change, user)


def may_run(change: Change, user: User) -> Answer:
    """Return whether this person may hand this change to a worker: its author, or whoever could approve it."""
    return _may_queue("queue", change, user, access.rights(user, change.cluster))


def may_request(cluster: Cluster, user: User, names: Iterable[str]) -> Answer:
    """Return whether this person may ask for a change to resources of these names."""
    return _has_right(access.rights(user, cluster), "request", cluster, names)


def reviewers(change: Change, held: Held | None = None) -> tuple[User, ...]:
    """Return the people whose approval would count, by user name: never the author."""
    names = _names(change)
    held = access.holders(change.cluster) if held is None else held
    return tuple(
        person
        for person, rights in held.items()
        if person.pk != change.author_id and _has_right(rights, "approve", change.cluster, names)[0]
    )


def counted_approvals(change: Change, held: Held | None = None) -> CountedApprovals:
    """Return which approvals of this change count now: right plan, right effect, right still held."""
    counted, lost, sentences = [], [], []
    names = _names(change)
    for approval in change.approvals.all():
        reviewer = approval.reviewer
        who = reviewer.get_username()
        if approval.plan_hash != change.plan_hash or approval.impact_hash != change.impact_hash:
            sentences.append(f"{who} approved another version of this change.")
        elif has_expired(approval, change):
            days = settings.ACLWEB_APPROVAL_DAYS
            sentences.append(
                f"{who} approved this change more than {days} days ago, so it must be approved again."
            )
        elif reviewer.pk == change.author_id:
            sentences.append(f"{who} wrote this change, so this approval does not count.")
        elif not _has_right(_rights(reviewer, change.cluster, held), "approve", change.cluster, names)[0]:
            sentences.append(f"{who} may no longer approve this change.")
        else:
            counted.append(approval)
            continue
        lost.append(approval)
    return CountedApprovals(tuple(counted), tuple(lost), tuple(sentences))


def has_expired(approval: Approval, change: Change) -> bool:
    """Return whether this approval of the change is too old to count.

    What has been begun is finished under the approvals that it began with.
    """
    return _is_too_old(approval, change) and not change.has_effects


def may_have_expired(change: Change) -> bool:
    """Return whether `has_expired` looks at what was written of the change, to tell it of one of its approvals."""
    return any(_is_too_old(approval, change) for approval in change.approvals.all())


def _is_too_old(approval: Approval, change: Change) -> bool:
    oldest = _oldest_that_counts()
    return oldest is not None and approval.at < oldest and change.state in _EXPIRES


def given_by(user: User) -> QuerySet[Approval]:
    """Return the approvals of this person that are not too old to count."""
    given, oldest = Approval.objects.filter(reviewer=user), _oldest_that_counts()
    return given if oldest is None else given.filter(at__gte=oldest)


# States in which somebody may still ask for an approval anew.
_EXPIRES = (_S.IN_REVIEW, _S.APPROVED, _S.QUEUED, _S.PREFLIGHT, _S.BLOCKED_STALE)


def _oldest_that_counts() -> datetime | None:
    days = settings.ACLWEB_APPROVAL_DAYS
    return timezone.now() - timedelta(days=days) if days > 0 else None


def _rights(user: User, cluster: Cluster, held: Held | None) -> access.Rights:
    """Return this person's rights, from what was read of everybody's where it was."""
    if held is None or user.is_superuser or not user.is_active:
        return access.rights(user, cluster)
    return held.get(user, access.Rights(everything=False, grants=()))


def within_rights(user: User) -> Q:
    """Return what the database asks of a change so that this person has the right to approve it.

    It says of rights what `may_approve` says, and nothing of the state, the author or earlier approvals.
    """
    if not user.is_active:
        return Q(pk__in=())
    if user.is_superuser:
        return Q()
    grants = access.approving(user)
    # Names are stored with a backslash doubled, and nothing else that a prefix can hold is escaped.
    prefix = Replace("name_prefix", Value("\\"), Value("\\\\"))
    reaching = grants.filter(cluster=OuterRef("change__cluster")).annotate(
        prefix=prefix, start=Substr(OuterRef("resource_name"), 1, Length(prefix))
    )
    beyond = ChangeItem.objects.filter(change=OuterRef("pk")).exclude(
        ~Q(resource_type=ResourceType.CLUSTER.name) & Exists(reaching.filter(start=F("prefix")))
    )
    here = grants.filter(cluster=OuterRef("cluster"))
    return Q(Exists(here.filter(name_prefix=""))) | (Q(Exists(here)) & ~Q(Exists(beyond)))


def names_reached(bindings: Iterable[AclBinding]) -> set[str]:
    """Return the names that a right must reach to ask for these bindings.

    The cluster counts as the empty name, which only a grant for every name reaches: what
    is allowed there is allowed everywhere, though `kafka-cluster` may begin like a team's topics.
    """
    return {
        "" if binding.resource_type is ResourceType.CLUSTER else binding.resource_name for binding in bindings
    }


def _names(change: Change) -> set[str]:
    return names_reached(item.binding for item in change.items.all())


def _has_right(
    rights: access.Rights, act: Literal["request", "approve"], cluster: Cluster, names: Iterable[str]
) -> Answer:
    if not rights.may("view"):
        return False, _no_role(cluster)
    if not rights.may(act):
        return False, f"You may not {act} changes on {cluster.name}; ask an administrator of the cluster."
    beyond = sorted(name for name in names if not rights.may(act, name))
    if beyond:
        example = repr(beyond[0]) if beyond[0] else "what reaches the whole cluster"
        return (
            False,
            f"You may {act} changes on {cluster.name} for some names only, and {example} is not among them.",
        )
    return True, ""


def _no_role(cluster: Cluster) -> str:
    return f"You have no role on {cluster.name}; ask an administrator of the cluster."
