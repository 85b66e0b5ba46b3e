"""Give somebody a role on a cluster, or take it away, with a record of who did so; and who has which."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import Q, QuerySet

from aclweb.accounts import access
from aclweb.accounts.models import Grant, Role, User
from aclweb.audit import trail
from aclweb.inventory.models import Cluster

trail.register("grant.given", "{actor} made {who} {role} on {cluster}{names}.")
trail.register("grant.taken", "{actor} took from {who} the role {role} on {cluster}{names}.")

LONGEST_PREFIX = 249

_MEANING = {
    Role.VIEWER: "Looks at everything of the cluster.",
    Role.REQUESTER: "Looks, and requests changes{names}.",
    Role.APPROVER: "Looks, requests changes, and approves those of others{names}.",
    Role.ADMINISTRATOR: "Looks, requests, approves, declares settings, sets the policy, and gives roles.",
}


class GrantError(Exception):
    """A role that cannot be given as asked; `faults` has a sentence by field of `give`."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        self.faults = dict(faults)
        super().__init__(" ".join(self.faults.values()))


def give(
    *, actor: User | str, to: User | Group, role: Role, cluster: Cluster, name_prefix: str = ""
) -> Grant:
    """Give the role and return the grant; giving what somebody has already changes nothing.

    Raises GrantError for a prefix that the role does not have, or that no name starts with.
    """
    if fault := _fault_of(role, name_prefix):
        raise GrantError({"name_prefix": fault})
    with transaction.atomic():
        user, group = (to, None) if isinstance(to, User) else (None, to)
        grant, made = Grant.objects.get_or_create(
            user=user, group=group, cluster=cluster, role=role, name_prefix=name_prefix
        )
        if made:
            _record(actor, "grant.given", grant)
        return grant


def take(*, actor: User | str, grant: Grant) -> bool:
    """Take the role away, so that what it allowed is refused from now on; return False if it was gone already.

    Raises GrantError for the role by which a person takes it: nobody ends their own administering by mistake.
    """
    with transaction.atomic():
        if not Grant.objects.filter(pk=grant.pk).delete()[0]:
            return False
        if isinstance(actor, User) and not access.may(actor, "administer", grant.cluster):
            raise GrantError(
                {
                    "": f"By this role you administer {grant.cluster.name} yourself; "
                    "another administrator of the cluster, or one of the site, can take it."
                }
            )
        _record(actor, "grant.taken", grant)
        return True


def listed(
    *, person: User | None = None, cluster: Cluster | None = None, role: Role | None = None
) -> QuerySet[Grant]:
    """Return the grants of a person, also by their groups, or on a cluster; the highest role first.

    Each with its holder and with its cluster, but for the cluster's login.
    """
    found = Grant.objects.select_related("user", "group", "cluster").defer("cluster__options")
    if person is not None:
        found = found.filter(Q(user=person) | Q(group__in=person.groups.values("pk")))
    if cluster is not None:
        found = found.filter(cluster=cluster)
    if role is not None:
        found = found.filter(role=role)
    return found.order_by("cluster__name", "-role", "user__username", "group__name", "name_prefix", "pk")


def of_each(people: Collection[User]) -> dict[int, list[Grant]]:
    """Return the grants of each of these people, also by their groups, by the key of the person; two queries."""
    keys = [person.pk for person in people]
    through: dict[int, list[int]] = {}
    for person, group in User.groups.through.objects.filter(user__in=keys).values_list("user", "group"):
        through.setdefault(group, []).append(person)
    found: dict[int, list[Grant]] = {key: [] for key in keys}
    for grant in listed().filter(Q(user__in=keys) | Q(group__in=through)):
        for key in [grant.user_id] if grant.user_id is not None else through[grant.group_id or 0]:
            found[key].append(grant)
    return found


def only_administering(user: User, cluster: Cluster) -> Grant | None:
    """Return the grant by which alone this person administers the cluster, and cannot take; else None."""
    if user.is_superuser:
        return None
    found = list(listed(person=user, cluster=cluster, role=Role.ADMINISTRATOR).filter(name_prefix="")[:2])
    return found[0] if len(found) == 1 else None


def meaning(role: Role, name_prefix: str = "") -> str:
    """Return what whoever has this role may do on the cluster, as a sentence."""
    return _MEANING[role].format(names=_for_names(name_prefix))


def named(grant: Grant) -> str:
    """Return who has which role where, as in "ada is requester on prod for names that start with 'pay'"."""
    who = grant.user if grant.user is not None else f"The group {grant.group}"
    return f"{who} is {grant.get_role_display()} on {grant.cluster.name}{_for_names(grant.name_prefix)}"


def _fault_of(role: Role, name_prefix: str) -> str:
    if not name_prefix:
        return ""
    if role == Role.VIEWER:
        return "A viewer looks at the whole cluster, so this role has no prefix; leave it empty."
    if role == Role.ADMINISTRATOR:
        return (
            "An administrator administers the whole cluster, so this role has no prefix; leave it empty, "
            "or give the role approver for these names."
        )
    if len(name_prefix) > LONGEST_PREFIX or "\x00" in name_prefix:
        return f"A prefix has at most {LONGEST_PREFIX} characters, as a topic's name has, and no NUL."
    return ""


def _for_names(name_prefix: str) -> str:
    return f" for names that start with {name_prefix!r}" if name_prefix else ""


def _record(actor: User | str, verb: str, grant: Grant) -> None:
    trail.record(
        actor=actor,
        verb=verb,
        target=f"cluster:{grant.cluster.slug}",
        who=str(grant.user) if grant.user is not None else f"the group {grant.group}",
        role=grant.get_role_display(),
        cluster=grant.cluster.name,
        names=_for_names(grant.name_prefix),
    )
