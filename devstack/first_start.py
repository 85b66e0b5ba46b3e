"""Who can sign in after the first start, and with which password?

Four people of the demo, one for each role. Their passwords are random, and nothing keeps
them but whoever reads them off the terminal; asking for new ones is always possible.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from aclweb.accounts import grants
from aclweb.accounts.models import Role, User
from aclweb.inventory.models import Cluster

# Without letters and digits that look alike in a terminal.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


@dataclass(frozen=True, slots=True)
class Person:
    username: str
    role: Role
    may: str


@dataclass(frozen=True, slots=True)
class Login:
    username: str
    password: str
    may: str


CAST = (
    Person("ada", Role.REQUESTER, "asks for changes"),
    Person("ben", Role.APPROVER, "approves the changes of others"),
    Person("cho", Role.VIEWER, "looks at everything"),
    Person("dot", Role.ADMINISTRATOR, "administers"),
)


def make_accounts(*, renew: bool = False) -> tuple[Login, ...]:
    """Make the accounts that are missing and return their logins; with `renew`, all with new passwords."""
    logins = []
    for person in CAST:
        user, made = User.objects.get_or_create(
            username=person.username,
            defaults={
                "first_name": person.username.title(),
                "is_superuser": person.role is Role.ADMINISTRATOR,
                "password": "!",
            },
        )
        if made or renew:
            password = new_password()
            user.set_password(password)
            user.save(update_fields=["password"])
            logins.append(Login(person.username, password, person.may))
    return tuple(logins)


def give_roles(cluster: Cluster) -> None:
    """Give each of the demo's people their role on this cluster."""
    for person in CAST:
        user = User.objects.filter(username=person.username).first()
        if user is not None:
            grants.give(actor="first start", to=user, role=person.role, cluster=cluster)


def new_password() -> str:
    """Return a password that can be typed off a screen: four groups of four, some 79 bits."""
    return "-".join("".join(secrets.choice(ALPHABET) for _ in range(4)) for _ in range(4))
