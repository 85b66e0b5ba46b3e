"""Who owns which names of a cluster, and how are they labelled?"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.inventory.admin import owners
from aclweb.inventory.models import Cluster, OwnedNames
from aclweb.web.clusters import csv_files
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

ROWS_A_PAGE = 40
_FILE = csv_files.CsvFile(
    text_field="rows",
    command="owners",
    read=owners.read,
    preview=owners.loading,
    store=lambda actor, cluster, rows: owners.load(actor=actor, cluster=cluster, rows=rows),
)
_NAME = {"class": "form-control name", "spellcheck": "false", "autocomplete": "off"}
_SELECT = {"class": "form-select"}


class OwnerForm(forms.Form):
    """Values of a row; what is wrong with them, `admin.owners` says."""

    kind = forms.ChoiceField(
        label="Kind of name", choices=OwnedNames.Kind.choices, widget=forms.Select(attrs=_SELECT)
    )
    pattern_type = forms.ChoiceField(
        label="Which names", choices=OwnedNames.Pattern.choices, widget=forms.Select(attrs=_SELECT)
    )
    name = forms.CharField(
        label="Name or prefix",
        required=False,
        widget=forms.TextInput(attrs=_NAME),
        help_text="A name itself counts before a prefix, a longer prefix before a shorter one.",
    )
    owner = forms.CharField(
        label="Owner",
        required=False,
        widget=forms.TextInput(attrs=_NAME | {"placeholder": "payments"}),
        help_text="A team or a person, as your company calls them.",
    )
    labels = forms.CharField(
        label="Labels",
        required=False,
        widget=forms.TextInput(attrs=_NAME | {"placeholder": "restricted, pci"}),
        help_text="Words such as restricted or public, separated by commas.",
    )

    def save(self, actor: User, cluster: Cluster, row: OwnedNames | None) -> str:
        """Add a row, or change this one; return a sentence, empty where a field is wrong."""
        given = {name: self.cleaned_data[name] for name in owners.FIELDS}
        try:
            if row is None:
                return f"Added: {owners.named(_of(owners.add(actor=actor, cluster=cluster, **given)))}."
            if not owners.change(actor=actor, row=row, **given):
                return "Nothing was changed: it was so already."
            return f"Changed: {owners.named(_of(row))}."
        except owners.OwnerError as error:
            for name, fault in error.faults.items():
                self.add_error(name, fault)
            return ""


@login_required
@require_http_methods(["GET", "POST"])
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List who owns which names of a cluster; add a row."""
    cluster = access.cluster_or_404(request.user, slug)
    if request.method == "GET":
        return _page(request, cluster, OwnerForm(initial={"pattern_type": "PREFIXED"}))
    return _saved(request, cluster, None)


@login_required
@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show one row to whoever may change it, and change it."""
    cluster = access.cluster_or_404(request.user, slug)
    access.require(request.user, "administer", cluster)
    row = get_object_or_404(cluster.owned_names, pk=number)
    if request.method == "GET":
        return _page(request, cluster, OwnerForm(initial=_of(row)), row)
    return _saved(request, cluster, row)


@login_required
@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Remove one row."""
    cluster = access.cluster_or_404(request.user, slug)
    access.require(request.user, "administer", cluster)
    if request.method == "POST":
        row = get_object_or_404(cluster.owned_names, pk=number)
        names = owners.named(_of(row))
        owners.remove(actor=_person(request), row=row)
        messages.success(request, f"Nothing is said of {names} any more.")
    return redirect("owners", slug=slug)


@login_required
@require_GET
def export(request: HttpRequest, slug: str) -> HttpResponse:
    """Give all rows as a file, as the page takes them back: CSV, or with `?format=yaml` YAML."""
    cluster = access.cluster_or_404(request.user, slug)
    as_yaml = request.GET.get("format") == "yaml"
    kind, ending = ("application/yaml", "yaml") if as_yaml else ("text/csv", "csv")
    text = owners.text_of(cluster.owned_names.all(), as_yaml=as_yaml)
    answer = HttpResponse(text, content_type=f"{kind}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="owners-{cluster.slug}.{ending}"'
    return answer


@login_required
@require_http_methods(["GET", "POST"])
def load(request: HttpRequest, slug: str) -> HttpResponse:
    """Say what a file would change; with `store`, change it."""
    cluster = access.cluster_or_404(request.user, slug)
    access.require(request.user, "administer", cluster)
    if request.method == "GET":
        # After a new sign-in.
        return redirect("owners", slug=slug)
    loaded = csv_files.load(request, cluster, _FILE)
    if loaded.stored:
        messages.success(request, loaded.stored)
        return redirect("owners", slug=slug)
    return _page(request, cluster, OwnerForm(), loaded=loaded.shown, status=loaded.status)


def _saved(request: HttpRequest, cluster: Cluster, row: OwnedNames | None) -> HttpResponse:
    access.require(request.user, "administer", cluster)
    form = OwnerForm(request.POST)
    sentence = form.save(_person(request), cluster, row) if form.is_valid() else ""
    if not sentence:
        return _page(request, cluster, form, row, status=422)
    messages.success(request, sentence)
    return redirect("owners", slug=cluster.slug)


def _page(
    request: HttpRequest,
    cluster: Cluster,
    form: OwnerForm,
    row: OwnedNames | None = None,
    *,
    loaded: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    text = request.GET.get("q", "")
    rows = cluster.owned_names.all()
    if text:
        rows = rows.filter(Q(name__icontains=text) | Q(owner__icontains=text) | Q(labels__icontains=text))
    context: dict[str, Any] = {
        "cluster": cluster,
        "form": form,
        "row": row,
        "text": text,
        "page": page_of(rows, page_asked(request.GET), ROWS_A_PAGE),
        "loaded": loaded or {},
        "header": ",".join(owners.FIELDS),
        "may_administer": access.may(request.user, "administer", cluster),
    }
    return render_page(request, "clusters/owners.html", None, context, status=status)


def _of(row: OwnedNames) -> dict[str, str]:
    return {name: getattr(row, name) for name in owners.FIELDS}


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # login_required
    return request.user
