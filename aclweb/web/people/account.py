"""What may one account do, and since when? For administrators of the site, who change it here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import Group
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access, directory, grants, people
from aclweb.accounts.models import User
from aclweb.audit import trail
from aclweb.web.people.role_form import MEANINGS, RoleOfPerson, page_of_roles
from aclweb.web.shell.htmx import render_page

EVENTS_SHOWN = 8
MOST_GROUPS = 100
"""So many groups are offered for choice; any other name can be typed."""


def _switch_off(actor: User, person: User, own_too: bool) -> str:
    done = people.switch_off(actor=actor, person=person, own_too=own_too)
    return f"{person} is switched off; all sessions ended." if done else f"{person} was switched off already."


def _switch_on(actor: User, person: User, _own_too: bool) -> str:
    done = people.switch_on(actor=actor, person=person)
    return f"{person} is switched on." if done else f"{person} was switched on already."


def _administrator(actor: User, person: User, _own_too: bool) -> str:
    done = people.make_administrator(actor=actor, person=person)
    return f"{person} is an administrator of the site{'' if done else ' already'}."


def _no_administrator(actor: User, person: User, own_too: bool) -> str:
    people.unmake_administrator(actor=actor, person=person, own_too=own_too)
    return f"{person} is no administrator of the site any more."


def _sign_out(actor: User, person: User, own_too: bool) -> str:
    people.sign_out(actor=actor, person=person, own_too=own_too)
    return f"All sessions of {person} ended."


_STEPS: dict[str, Callable[[User, User, bool], str]] = {
    "switch-off": _switch_off,
    "switch-on": _switch_on,
    "administrator": _administrator,
    "no-administrator": _no_administrator,
    "sign-out": _sign_out,
}


class GroupForm(forms.Form):
    """The name of a group; what is wrong with it, `people` says."""

    group = forms.CharField(
        label="Group",
        required=False,
        widget=forms.TextInput(
            attrs={"class": "form-control", "autocomplete": "off", "list": "groups-known"}
        ),
        help_text="Everybody in a group has its roles. A new name makes a new group.",
    )


@login_required
@require_GET
def detail(request: HttpRequest, number: int) -> HttpResponse:
    """Show one account: its state, roles, groups, tokens, and what was recorded of it."""
    return _page(request, _person_or_404(request, number))


@login_required
@require_http_methods(["GET", "POST"])
def act(request: HttpRequest, number: int) -> HttpResponse:
    """Switch the account on or off, make or unmake an administrator, end sessions, or make a new password."""
    person = _person_or_404(request, number)
    if request.method == "GET":
        return redirect("account", number=number)
    actor, own_too, step = _actor(request), "own_too" in request.POST, request.POST.get("step", "")
    try:
        if step == "password":
            return shown_with_password(
                request, person, people.reset_password(actor=actor, person=person), is_new=False
            )
        if step not in _STEPS:
            return _page(request, person, error="Choose what to do with this account.", status=422)
        messages.success(request, _STEPS[step](actor, person, own_too))
    except people.PeopleError as error:
        return _page(request, person, error=str(error), status=422)
    # Somebody's own account may be one that they see no longer.
    return redirect("home") if actor == person else redirect("account", number=number)


@login_required
@require_http_methods(["GET", "POST"])
def give_role(request: HttpRequest, number: int) -> HttpResponse:
    """Give this person a role on a cluster."""
    person = _person_or_404(request, number)
    if request.method == "GET":
        return redirect("account", number=number)
    form = RoleOfPerson(request.POST)
    sentence = form.give(_actor(request), person, form.cleaned_data["cluster"]) if form.is_valid() else ""
    if not sentence:
        return _page(request, person, role_form=form, status=422)
    messages.success(request, sentence)
    return redirect("account", number=number)


@login_required
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, number: int) -> HttpResponse:
    """Put this person into a group."""
    person = _person_or_404(request, number)
    if request.method == "GET":
        return redirect("account", number=number)
    form = GroupForm(request.POST)
    if form.is_valid():
        group = form.cleaned_data["group"]
        try:
            people.join(actor=_actor(request), person=person, group=group)
        except people.PeopleError as error:
            form.add_error("group", error.faults["group"])
        else:
            messages.success(request, f"{person} is in the group {group}.")
            return redirect("account", number=number)
    return _page(request, person, group_form=form, status=422)


@login_required
@require_http_methods(["GET", "POST"])
def leave(request: HttpRequest, number: int, group: int) -> HttpResponse:
    """Take this person out of a group."""
    person = _person_or_404(request, number)
    if request.method == "POST":
        found = get_object_or_404(Group, pk=group)
        people.leave(actor=_actor(request), person=person, group=found)
        messages.success(request, f"{person} is no longer in the group {found.name}.")
    return redirect("account", number=number)


def shown_with_password(request: HttpRequest, person: User, password: str, *, is_new: bool) -> HttpResponse:
    """Show the account with its first password; nothing keeps it, so no other answer can."""
    return _page(request, person, password=password, is_new=is_new)


def _page(
    request: HttpRequest,
    person: User,
    *,
    role_form: RoleOfPerson | None = None,
    group_form: GroupForm | None = None,
    password: str = "",
    is_new: bool = False,
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    target = people.account(person)
    context: dict[str, Any] = {
        "person": person,
        "is_own": person == request.user,
        "password": password,
        "is_new": is_new,
        "error": error,
        "page": page_of_roles(grants.listed(person=person), request.GET),
        "role_form": role_form or RoleOfPerson(),
        "meanings": MEANINGS,
        "groups": person.groups.order_by("name"),
        "group_form": group_form or GroupForm(),
        "groups_known": Group.objects.order_by("name").values_list("name", flat=True)[:MOST_GROUPS],
        "tokens": directory.tokens(owner=person).count(),
        "target": target,
        "events": [
            {"sentence": trail.sentence(event), "at": event.at}
            for event in trail.trail(target).order_by("-sequence")[:EVENTS_SHOWN]
        ],
    }
    return render_page(request, "people/account.html", None, context, status=status)


def _person_or_404(request: HttpRequest, number: int) -> User:
    access.require_site_administrator(request.user)
    return get_object_or_404(User, pk=number)


def _actor(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # login_required
    return request.user
