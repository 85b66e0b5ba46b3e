"""May this person do that, on this cluster, to that name?

Four acts, each including the ones before it: view, request, approve, administer. A
grant gives a role to a person or to a group of people on one cluster. A name prefix
narrows requesting and approving to names that start with it; looking is for the whole
cluster, and administering a cluster needs a grant without a prefix. What a person may
not see answers as if it were not there.

A token may be limited to one cluster; its owner then is somebody who sees no other (`User.only_cluster`).

Nothing is remembered between two questions, so a right that is taken away is gone at
once. A page that asks several things about one cluster reads `rights` once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import F, Q, QuerySet
from django.http import Http404

from aclweb.accounts.models import Grant, Role, User
from aclweb.inventory.models import Cluster

Act = Literal["view", "request", "approve", "administer"]

_NEEDED: dict[Act, Role] = {
    "view": Role.VIEWER,
    "request": Role.REQUESTER,
    "approve": Role.APPROVER,
    "administer": Role.ADMINISTRATOR,
}
_TOLD: dict[Act, str] = {
    "view": "look at it",
    "request": "request changes to it",
    "approve": "approve changes to it",
    "administer": "administer it",
}


@dataclass(frozen=True)
class Rights:
    """What one person may do on one cluster: their grants as (role, name prefix), or everything."""

    everything: bool
    grants: tuple[tuple[int, str], ...]

    def may(self, act: Act, name: str | None = None) -> bool:
        """Return whether the act is allowed, for `name` or, without one, for at least some names."""
        if self.everything:
            return True
        return any(role >= _NEEDED[act] and _counts_for(act, prefix, name) for role, prefix in self.grants)

    @property
    def role(self) -> Role | None:
        """The highest role held, whatever its prefix; None without any."""
        if self.everything:
            return Role.ADMINISTRATOR
        return Role(max(role for role, _ in self.grants)) if self.grants else None


def visible_clusters(user: User | AnonymousUser) -> QuerySet[Cluster]:
    """Return the clusters that this person may look at, with their revision: the one way to any cluster."""
    clusters = Cluster.objects.select_related("revision")
    if not user.is_active:
        return clusters.none()
    if (only := _only_cluster(user)) is not None:
        clusters = clusters.filter(pk=only)
    if user.is_superuser:
        return clusters
    return clusters.filter(pk__in=_grants_of(user).values("cluster"))


def clusters_to_request_on(user: User | AnonymousUser) -> QuerySet[Cluster]:
    """Return the clusters on which this person may request changes, for some names at least; with their revision."""
    clusters = visible_clusters(user)
    if user.is_superuser or not user.is_active:
        return clusters
    return clusters.filter(pk__in=_grants_of(user).filter(role__gte=_NEEDED["request"]).values("cluster"))


def cluster_or_404(
    user: User | AnonymousUser, slug: str, *, with_options: bool = False, **columns: Any
) -> Cluster:
    """Return the cluster, or raise Http404 where it does not exist for this person.

    with_options: whether the caller asks how aclweb signs in there. columns: what its row is to have beside its
    fields, as `annotate` takes it.
    """
    found = visible_clusters(user).annotate(**columns)
    if with_options:
        found = found.defer(None).defer("read_marks")
    cluster = found.filter(slug=slug).first()
    if cluster is None:
        raise Http404(_no_cluster(slug))
    return cluster


def cluster_among_visible(user: User | AnonymousUser, slug: str) -> tuple[Cluster, list[Cluster]]:
    """Return the cluster as `cluster_or_404` does, and all clusters that this person may look at, in one query."""
    visible = list(visible_clusters(user))
    for cluster in visible:
        if cluster.slug == slug:
            return cluster, visible
    raise Http404(_no_cluster(slug))


def _no_cluster(slug: str) -> str:
    return f"There is no cluster {slug!r} that you may look at."


def rights(user: User | AnonymousUser, cluster: Cluster) -> Rights:
    """Return what this person may do on this cluster now, in one query."""
    if not user.is_active or _only_cluster(user) not in (None, cluster.pk):
        return Rights(everything=False, grants=())
    if user.is_superuser:
        return Rights(everything=True, grants=())
    grants = _grants_of(user).filter(cluster=cluster).values_list("role", "name_prefix")
    return Rights(everything=False, grants=tuple(grants))


def may(user: User | AnonymousUser, act: Act, cluster: Cluster, name: str | None = None) -> bool:
    """Return whether this person may do `act` on this cluster, for `name` or at all."""
    return rights(user, cluster).may(act, name)


def require(user: User | AnonymousUser, act: Act, cluster: Cluster, name: str | None = None) -> None:
    """Raise PermissionDenied with a sentence unless this person may do `act`."""
    held = rights(user, cluster)
    if held.may(act, name):
        return
    if name is not None and held.may(act) and act != "administer":
        raise PermissionDenied(
            f"You may {_TOLD[act]} on {cluster.name} only for names that start with "
            f"{_listed(prefix for role, prefix in held.grants if role >= _NEEDED[act])}, and {name!r} does not. "
            "Ask an administrator of the cluster for more names."
        )
    have = f"your role there is {held.role.label}" if held.role else "you have no role there"
    raise PermissionDenied(
        f"To {_TOLD[act]}, you need the role {_NEEDED[act].label} on {cluster.name}, and {have}. "
        "Ask an administrator of the cluster."
    )


def needed(act: Act) -> Role:
    """Return the lowest role that allows the act."""
    return _NEEDED[act]


def is_site_administrator(user: object) -> TypeGuard[User]:
    """Return whether this person administers the whole site, and does so with no token limited to one cluster."""
    return isinstance(user, User) and user.is_active and user.is_superuser and user.only_cluster is None


def may_audit(user: object) -> TypeGuard[User]:
    """Return whether this person reads the whole audit trail and what is kept of removed clusters.

    Administrators of the site do, and who is in the group that ACLWEB_AUDITORS names; no token limited to a cluster.
    """
    if is_site_administrator(user):
        return True
    auditors = settings.ACLWEB_AUDITORS
    if not auditors or not isinstance(user, User) or not user.is_active or user.only_cluster is not None:
        return False
    return user.groups.filter(name=auditors).exists()


def require_auditor(user: User | AnonymousUser) -> User:
    """Return the person; raises PermissionDenied with a sentence for who may not audit."""
    if not may_audit(user):
        raise PermissionDenied(
            "What is kept of removed clusters is for administrators of the site and its auditors, and your account is "
            "neither. Ask an administrator of the site."
        )
    return user


def require_site_administrator(user: User | AnonymousUser, what: str = "Accounts are") -> User:
    """Return the person; raises PermissionDenied with a sentence for who is no administrator of the whole site.

    what: the beginning of that sentence.
    """
    if not is_site_administrator(user):
        raise PermissionDenied(
            f"{what} for administrators of the site, and your account is none. Ask one of them, "
            "or an administrator of a cluster for a role on it."
        )
    return user


def holders(cluster: Cluster) -> dict[User, Rights]:
    """Return what each active person with a grant may do on this cluster, by user name.

    All-powerful accounts have their rights without a grant, so those who have none are
    left out. One query, and one more where groups have grants, however many people there are.
    """
    of_users: dict[User, list[tuple[int, str]]] = {}
    of_groups: dict[int, list[tuple[int, str]]] = {}
    for grant in Grant.objects.filter(cluster=cluster).select_related("user"):
        if grant.user is not None:
            of_users.setdefault(grant.user, []).append((grant.role, grant.name_prefix))
        elif grant.group_id is not None:
            of_groups.setdefault(grant.group_id, []).append((grant.role, grant.name_prefix))
    if of_groups:
        members = User.objects.filter(groups__in=of_groups).annotate(of_group=F("groups"))
        for member in members:
            of_users.setdefault(member, []).extend(of_groups[member.of_group])
    return {
        person: Rights(everything=person.is_superuser, grants=tuple(of_users[person]))
        for person in sorted(of_users, key=lambda each: each.username)
        if person.is_active
    }


def approving(user: User) -> QuerySet[Grant]:
    """Return the grants by which this person may approve changes, each on its cluster and for its names."""
    return _grants_of(user).filter(role__gte=_NEEDED["approve"])


def _grants_of(user: User | AnonymousUser) -> QuerySet[Grant]:
    grants = Grant.objects.filter(Q(user_id=user.pk) | Q(group__user=user.pk))
    only = _only_cluster(user)
    return grants if only is None else grants.filter(cluster=only)


def _only_cluster(user: User | AnonymousUser) -> int | None:
    """Return the key of the cluster to which the token of this request is limited, if it is."""
    return user.only_cluster if isinstance(user, User) else None


def _counts_for(act: Act, prefix: str, name: str | None) -> bool:
    if act == "view" or not prefix:
        return True
    if act == "administer":
        return False
    return name is None or name.startswith(prefix)


def _listed(prefixes: Iterable[str]) -> str:
    return " or ".join(sorted({repr(prefix) for prefix in prefixes}))
