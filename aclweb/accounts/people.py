"""Make accounts, switch them off, and say who administers the site; each act is recorded.

An account is never deleted: what it did stays readable under its name. At least one active
administrator of the site is always left, and what concerns one's own account is done only by
somebody who says so. A password that was made here is told once and has to be changed at the first sign-in.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F

from aclweb.accounts.models import User
from aclweb.audit import trail

trail.register("account.added", "{actor} added the account {who}{as_what}.")
trail.register("account.off", "{actor} switched off the account {who}; its sessions ended.")
trail.register("account.on", "{actor} switched on the account {who}.")
trail.register("account.password", "{actor} gave the account {who} a new first password; its sessions ended.")
trail.register("account.signed-out", "{actor} ended all sessions of the account {who}.")
trail.register("account.administrator", "{actor} made {who} an administrator of the site.")
trail.register("account.no-administrator", "{actor} took from {who} the administration of the site.")
trail.register("account.joined", "{actor} put {who} into the group {group}.")
trail.register("account.left", "{actor} took {who} out of the group {group}.")

# Without letters and digits that look alike on a screen.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
LONGEST_GROUP = 150


class PeopleError(Exception):
    """An account that cannot become what was asked; `faults` has a sentence by field, "" for none of them."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        self.faults = dict(faults)
        super().__init__(" ".join(self.faults.values()))


def add(
    *, actor: User | str, username: str, full_name: str = "", email: str = "", administrator: bool = False
) -> tuple[User, str]:
    """Make an account and return it with its first password, which nobody can read again.

    Raises PeopleError where a field is wrong or somebody has that user name, however it is capitalised.
    """
    first, _, last = full_name.strip().partition(" ")
    person = User(
        username=User.normalize_username(username.strip()),
        first_name=first,
        last_name=last.strip(),
        email=email.strip(),
        is_superuser=administrator,
        password_is_first=True,
    )
    faults = _faults_of(person)
    if faults:
        raise PeopleError(faults)
    password = _new_password()
    person.set_password(password)
    with transaction.atomic():
        taken = User.objects.filter(username__iexact=person.username).first()
        if taken is not None:
            raise PeopleError(_taken(taken))
        try:
            with transaction.atomic():
                person.save()
        except IntegrityError as error:  # somebody added it just now
            raise PeopleError(_taken(person)) from error
        _record(
            actor, "account.added", person, as_what=", an administrator of the site" if administrator else ""
        )
    return person, password


def switch_off(*, actor: User | str, person: User, own_too: bool = False) -> bool:
    """Let this person neither sign in nor use tokens; return False if it was so already.

    Roles and tokens stay, and count again once the account is switched on. Sessions end for good.
    Raises PeopleError for the last administrator, and for one's own account without `own_too`.
    """
    _require_said(actor, person, own_too)
    with transaction.atomic():
        _require_another_administrator(person, "switch off")
        if not User.objects.filter(pk=person.pk, is_active=True).update(
            is_active=False, sessions_ended=F("sessions_ended") + 1
        ):
            return False
        _record(actor, "account.off", person)
        return True


def switch_on(*, actor: User | str, person: User) -> bool:
    """Let this person sign in again, with the password and the roles from before; return False if it was so."""
    return _changed(actor, person, "account.on", is_active=True)


def make_administrator(*, actor: User | str, person: User) -> bool:
    """Give this person every right on every cluster and the administration of accounts; return False if it was so.

    Raises PeopleError for an account that is switched off.
    """
    if not person.is_active:
        raise PeopleError({"": f"{person.get_username()} is switched off; switch the account on first."})
    return _changed(actor, person, "account.administrator", is_superuser=True)


def unmake_administrator(*, actor: User | str, person: User, own_too: bool = False) -> bool:
    """Leave this person the roles that were given; return False if it was so already.

    Raises PeopleError for the last administrator, and for one's own account without `own_too`.
    """
    _require_said(actor, person, own_too)
    with transaction.atomic():
        _require_another_administrator(person, "take the administration of the site from")
        return _changed(actor, person, "account.no-administrator", is_superuser=False)


def reset_password(*, actor: User | str, person: User) -> str:
    """Give this person a new first password and return it; sessions with the old one end, API tokens stay.

    Raises PeopleError for one's own account, whose password is changed by whoever knows it.
    """
    if actor == person:
        raise PeopleError({"": "This is your own account; change its password on the page Password."})
    password = _new_password()
    person.set_password(password)
    person.password_is_first = True
    with transaction.atomic():
        person.save(update_fields=["password", "password_is_first"])
        _record(actor, "account.password", person)
    return password


def sign_out(*, actor: User | str, person: User, own_too: bool = False) -> None:
    """End every session of this person, on every device; the password and API tokens stay.

    Raises PeopleError for one's own account without `own_too`.
    """
    _require_said(actor, person, own_too)
    with transaction.atomic():
        User.objects.filter(pk=person.pk).update(sessions_ended=F("sessions_ended") + 1)
        _record(actor, "account.signed-out", person)


def join(*, actor: User | str, person: User, group: str) -> bool:
    """Put this person into a group, which is made if there is none of this name; return False if it was so.

    Raises PeopleError for a name that no group can have.
    """
    with transaction.atomic():
        found = group_named(group)
        if person.groups.filter(pk=found.pk).exists():
            return False
        person.groups.add(found)
        _record(actor, "account.joined", person, group=found.name)
        return True


def group_named(name: str) -> Group:
    """Return the group of this name, which is made if there is none.

    Raises PeopleError for a name that no group can have.
    """
    name = name.strip()
    if not 1 <= len(name) <= LONGEST_GROUP or "\x00" in name:
        raise PeopleError({"group": f"The name of a group has 1 to {LONGEST_GROUP} characters."})
    return Group.objects.get_or_create(name=name)[0]


def leave(*, actor: User | str, person: User, group: Group) -> bool:
    """Take this person out of a group; return False if it was so already."""
    with transaction.atomic():
        if not person.groups.filter(pk=group.pk).exists():
            return False
        person.groups.remove(group)
        _record(actor, "account.left", person, group=group.name)
        return True


def _changed(actor: User | str, person: User, verb: str, **values: bool) -> bool:
    """Set these values and record it; return False if they are so already."""
    with transaction.atomic():
        if not User.objects.filter(pk=person.pk).exclude(**values).update(**values):
            return False
        _record(actor, verb, person)
        return True


def _require_said(actor: User | str, person: User, own_too: bool) -> None:
    if actor == person and not own_too:
        raise PeopleError({"own_too": "This is your own account. Tick that you mean it."})


def _require_another_administrator(person: User, act: str) -> None:
    """Hold the active administrators until the transaction ends; raise PeopleError if this person is the only one."""
    administrators = User.objects.select_for_update().filter(is_active=True, is_superuser=True)
    found = set(administrators.order_by("pk").values_list("pk", flat=True))
    if found == {person.pk}:
        raise PeopleError(
            {
                "": f"{person.get_username()} is the only active administrator of the site. "
                f"Make somebody else one before you {act} this account."
            }
        )


def _faults_of(person: User) -> dict[str, str]:
    """Return what is wrong with a new account, by field of `add`; whether the name is taken is asked later."""
    try:
        person.clean_fields(exclude=["password"])
    except ValidationError as error:
        fields = {"first_name": "full_name", "last_name": "full_name"}
        faults = {fields.get(name, name): " ".join(texts) for name, texts in error.message_dict.items()}
        if "username" in faults:
            faults["username"] = (
                "A user name has 1 to 150 characters: letters, digits and any of @ . + - _, without spaces."
            )
        if "full_name" in faults:
            faults["full_name"] = (
                "A name has at most 150 characters for its first word and 150 for the others."
            )
        return faults
    return {}


def _taken(person: User) -> dict[str, str]:
    return {"username": f"There is an account {person.get_username()!r} already."}


def _new_password() -> str:
    """Return a password that can be typed off a screen: five groups of four, some 99 bits."""
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(4)) for _ in range(5))


def _record(actor: User | str, verb: str, person: User, **facts: str) -> None:
    who = person.get_username()
    trail.record(actor=actor, verb=verb, target=account(person), who=who, **facts)


def account(person: User) -> str:
    """Return the target that events about this account have."""
    return f"account:{person.get_username()}"[:254]
