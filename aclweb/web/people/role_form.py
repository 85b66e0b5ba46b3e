"""Which role on which cluster is given to whom? The form of both pages, and the line of a role that both show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib.auth.models import Group
from django.core.paginator import Page
from django.db.models import QuerySet
from django.http import QueryDict

from aclweb.accounts import grants
from aclweb.accounts.models import Grant, Role, User
from aclweb.inventory.lists import LazyRows
from aclweb.inventory.models import Cluster
from aclweb.web.shell.paging import page_asked, page_of

_SELECT = {"class": "form-select"}
_NAME = {"class": "form-control name", "spellcheck": "false", "autocomplete": "off", "autocapitalize": "none"}
PERSON, GROUP = "person", "group"

MEANINGS = [(role.label, grants.meaning(role)) for role in Role]
"""What each role means, the lowest first."""


ROLES_A_PAGE = 20
"""So many rows with a sentence and a button each leave room below 50 KB."""


@dataclass(frozen=True)
class RoleLine:
    """A grant with the sentence that says what it means."""

    grant: Grant
    meaning: str


def page_of_roles(found: QuerySet[Grant], query: QueryDict) -> Page[RoleLine]:
    """Return the page of these grants that the address asks for, each with its meaning."""
    rows = LazyRows(found.count(), lambda start, stop: [_line(grant) for grant in found[start:stop]])
    return page_of(rows, page_asked(query), ROLES_A_PAGE)


def _line(grant: Grant) -> RoleLine:
    return RoleLine(grant, grants.meaning(Role(grant.role), grant.name_prefix))


class RoleForm(forms.Form):
    """A role and a prefix; what is wrong with them, `grants` says."""

    role = forms.TypedChoiceField(
        label="Role",
        choices=Role.choices,
        coerce=lambda value: Role(int(value)),
        initial=Role.REQUESTER,
        widget=forms.Select(attrs=_SELECT),
    )
    name_prefix = forms.CharField(
        label="Only for names that start with",
        required=False,
        strip=False,
        max_length=1_000,
        widget=forms.TextInput(attrs=_NAME),
        help_text="For requesters and approvers. Leave empty for all names.",
    )

    def give(self, actor: User, to: User | Group, cluster: Cluster) -> str:
        """Give the role of a valid form; return a sentence, empty where a field is wrong."""
        try:
            grant = grants.give(
                actor=actor,
                to=to,
                role=self.cleaned_data["role"],
                cluster=cluster,
                name_prefix=self.cleaned_data["name_prefix"],
            )
        except grants.GrantError as error:
            for name, fault in error.faults.items():
                self.add_error(name, fault)
            return ""
        return f"{grants.named(grant)}."


class RoleOfPerson(RoleForm):
    """On which cluster one person gets a role."""

    cluster = forms.ModelChoiceField(
        label="Cluster",
        queryset=Cluster.objects.order_by("name"),
        to_field_name="slug",
        empty_label=None,
        widget=forms.Select(attrs=_SELECT),
        error_messages={"invalid_choice": "There is no such cluster."},
    )
    field_order = ("cluster", "role", "name_prefix")

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data)
        field = self.fields["cluster"]
        assert isinstance(field, forms.ModelChoiceField)
        # Django would ask for the clusters twice, and for all of each.
        field.choices = list(Cluster.objects.order_by("name").values_list("slug", "name"))


class RoleOnCluster(RoleForm):
    """Who gets a role on one cluster."""

    kind = forms.ChoiceField(
        label="Kind",
        choices=[(PERSON, "a person"), (GROUP, "a group of people")],
        widget=forms.Select(attrs=_SELECT),
    )
    who = forms.CharField(
        label="User name, or name of the group", max_length=150, widget=forms.TextInput(attrs=_NAME)
    )
    field_order = ("kind", "who", "role", "name_prefix")

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        who, kind = given.get("who"), given.get("kind")
        if not who or not kind:
            return given
        if kind == PERSON:
            given["to"] = User.objects.filter(username=who).first()
            wrong = f"There is no account {who!r}; an administrator of the site adds accounts."
        else:
            given["to"] = Group.objects.filter(name=who).first()
            wrong = f"There is no group {who!r}; an administrator of the site puts people into groups."
        if given["to"] is None:
            self.add_error("who", wrong)
        return given
