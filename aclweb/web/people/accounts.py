"""Which accounts are there, with which roles? For administrators of the site, who add accounts here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access, directory, grants, people
from aclweb.accounts.access import Act
from aclweb.accounts.models import Grant, User
from aclweb.inventory.lists import LazyRows
from aclweb.inventory.models import Cluster
from aclweb.web.people.account import shown_with_password
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

ROLES_SHOWN = 3
"""So many roles of a person stand in a row; the page of the account has all."""

_ACTS: dict[Act | Literal[""], str] = {
    "": "with any role or none",
    "view": "may look at",
    "request": "may request on",
    "approve": "may approve on",
    "administer": "may administer",
}
_CONTROL = {"class": "form-control"}
_NAME = {
    "class": "form-control name",
    "spellcheck": "false",
    "autocomplete": "off",
    "autocapitalize": "none",
}


@dataclass(frozen=True)
class PersonRow:
    """One account and its roles; more: how many roles are not shown."""

    person: User
    roles: Sequence[Grant]
    more: int


@dataclass(frozen=True)
class Column:
    """The head of a column that sorts. direction: "ascending", "descending" or empty, as `aria-sort` has it."""

    word: str
    url: str
    direction: str


class AccountForm(forms.Form):
    """Values of a new account; what is wrong with them, `people` says."""

    username = forms.CharField(
        label="User name",
        required=False,
        widget=forms.TextInput(attrs=_NAME),
        help_text="With it the person signs in, and under it the audit trail names them. It stays the same.",
    )
    full_name = forms.CharField(
        label="Name", required=False, widget=forms.TextInput(attrs=_CONTROL | {"autocomplete": "off"})
    )
    email = forms.CharField(
        label="E-mail",
        required=False,
        widget=forms.TextInput(attrs=_CONTROL | {"autocomplete": "off", "inputmode": "email"}),
        help_text="aclweb sends no mail; it is shown to other administrators.",
    )
    administrator = forms.BooleanField(label="An administrator of the site", required=False)

    def save(self, actor: User) -> tuple[User, str] | None:
        """Make the account; return it with its first password, or None where a field is wrong."""
        try:
            return people.add(actor=actor, **self.cleaned_data)
        except people.PeopleError as error:
            for name, fault in error.faults.items():
                self.add_error(name, fault)
            return None


@login_required
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    """List the accounts that match the filters of the address."""
    access.require_site_administrator(request.user)
    filters = _filters(request.GET)
    found = directory.people(filters)
    rows = LazyRows(found.count(), lambda start, stop: _rows(found[start:stop]))
    context = {
        "page": page_of(rows, page_asked(request.GET), settings.ACLWEB_PAGE_SIZE),
        "filters": filters,
        "is_filtered": filters != directory.Filters(sort=filters.sort),
        "shown": directory.SHOWN,
        "acts": _ACTS,
        "clusters": Cluster.objects.order_by("name").values_list("slug", "name"),
        "columns": {
            name.replace("-", "_"): _column(name, word, request.GET, filters.sort)
            for name, word in (("name", "User name"), ("signed-in", "Last sign-in"), ("added", "Added"))
        },
    }
    return render_page(request, "people/list.html", "people/_list.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def add(request: HttpRequest) -> HttpResponse:
    """Make an account, and show its first password, this once."""
    access.require_site_administrator(request.user)
    form = AccountForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        assert isinstance(request.user, User)  # login_required
        made = form.save(request.user)
        if made is not None:
            return shown_with_password(request, *made, is_new=True)
    status = 422 if form.is_bound else 200
    return render_page(request, "people/add.html", None, {"form": form}, status=status)


def _filters(query: QueryDict) -> directory.Filters:
    show, act, sort = query.get("show", ""), query.get("may", ""), query.get("sort", "")
    known: dict[str, Act] = {each: each for each in get_args(Act)}
    return directory.Filters(
        text=query.get("q", "").strip(),
        show=show if show in directory.SHOWN else directory.ALL,
        cluster=query.get("cluster", ""),
        act=known.get(act, ""),
        sort=sort if sort in directory.SORTS else "name",
    )


def _rows(found: Sequence[User] | Any) -> list[PersonRow]:
    persons = list(found)
    held = grants.of_each(persons)
    return [
        PersonRow(person, held[person.pk][:ROLES_SHOWN], max(0, len(held[person.pk]) - ROLES_SHOWN))
        for person in persons
    ]


def _column(name: str, word: str, query: QueryDict, sort: str) -> Column:
    """Return a head that sorts by this column, or turns it round: names begin with a, times with the newest."""
    first, second = (name, f"-{name}") if name == "name" else (f"-{name}", name)
    following = query.copy()
    following["sort"] = second if sort == first else first
    following.pop("page", None)
    direction = {name: "ascending", f"-{name}": "descending"}.get(sort, "")
    return Column(word, f"?{following.urlencode()}", direction)
