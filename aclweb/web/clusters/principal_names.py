"""What are the principals of a cluster called, where ACLs hold an id?"""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.inventory import lists
from aclweb.inventory.admin import principal_names
from aclweb.inventory.models import Cluster
from aclweb.web.clusters import csv_files
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

_FILE = csv_files.CsvFile(
    text_field="csv",
    command="principal_names",
    read=principal_names.read,
    preview=principal_names.naming,
    store=lambda actor, cluster, names: principal_names.load(actor=actor, cluster=cluster, names=names),
)
_NAME = {"class": "form-control name", "spellcheck": "false", "autocomplete": "off"}


class NameForm(forms.Form):
    """A principal and what it is called; what is wrong with it, `admin.principal_names` says."""

    principal = forms.CharField(
        label="Principal",
        required=False,
        widget=forms.TextInput(attrs=_NAME | {"placeholder": "User:12345"}),
        help_text="As ACLs name it.",
    )
    name = forms.CharField(
        label="Name",
        required=False,
        widget=forms.TextInput(attrs=_NAME | {"placeholder": "orders app"}),
        help_text="As people call it. Leave it empty to take the name of this principal away.",
    )


@login_required
@require_http_methods(["GET", "POST"])
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List the names; give one principal a name, or take it away."""
    cluster = access.cluster_or_404(request.user, slug)
    if request.method == "GET":
        principal = request.GET.get("principal", "")
        asked = {"principal": principal, "name": lists.called(cluster, principal)}
        return _page(request, cluster, NameForm(initial=asked))
    access.require(request.user, "administer", cluster)
    form = NameForm(request.POST)
    if not form.is_valid():
        return _page(request, cluster, form, status=422)
    given = form.cleaned_data
    try:
        changed = principal_names.name_one(
            actor=_person(request), cluster=cluster, principal=given["principal"], name=given["name"]
        )
    except principal_names.NamingError as error:
        for field, fault in error.faults.items():
            form.add_error(field, fault)
        return _page(request, cluster, form, status=422)
    if not changed:
        messages.info(request, "Nothing was changed: it was so already.")
    else:
        messages.success(request, "The name is stored." if given["name"].strip() else "The name is gone.")
    return redirect("principal-names", slug=slug)


@login_required
@require_GET
def export(request: HttpRequest, slug: str) -> HttpResponse:
    """Give all names as a CSV file, as the page takes them back."""
    cluster = access.cluster_or_404(request.user, slug)
    names = dict(cluster.principal_names.values_list("principal", "name"))
    answer = HttpResponse(principal_names.text_of(names), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="principals-{cluster.slug}.csv"'
    return answer


@login_required
@require_http_methods(["GET", "POST"])
def load(request: HttpRequest, slug: str) -> HttpResponse:
    """Say what a file would change; with `store`, change it."""
    cluster = access.cluster_or_404(request.user, slug)
    access.require(request.user, "administer", cluster)
    if request.method == "GET":  # after a new sign-in
        return redirect("principal-names", slug=slug)
    loaded = csv_files.load(request, cluster, _FILE)
    if loaded.stored:
        messages.success(request, loaded.stored)
        return redirect("principal-names", slug=slug)
    return _page(request, cluster, NameForm(), loaded=loaded.shown, status=loaded.status)


def _page(
    request: HttpRequest,
    cluster: Cluster,
    form: NameForm,
    *,
    loaded: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    text = request.GET.get("q", "")
    rows = cluster.principal_names.all()
    if text:
        rows = rows.filter(Q(name__icontains=text) | Q(principal__icontains=text))
    context = {
        "cluster": cluster,
        "form": form,
        "text": text,
        "page": page_of(rows, page_asked(request.GET), settings.ACLWEB_PAGE_SIZE),
        "loaded": loaded or {},
        "header": ",".join(principal_names.FIELDS),
        "may_administer": access.may(request.user, "administer", cluster),
    }
    return render_page(request, "clusters/principal_names.html", None, context, status=status)


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # login_required
    return request.user
