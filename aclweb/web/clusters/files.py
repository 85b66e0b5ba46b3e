"""How does somebody get a first answer from a file of ACLs, without any account of Kafka?

`kafka-acls --list` writes such a file. It is read here at once, which takes no cluster; workers read it again later.
"""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.model import (
    ANY_USER,
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    ResourceType,
)
from aclweb.clusters import live_kinds
from aclweb.inventory.admin import kept_files
from aclweb.inventory.admin import register as registering
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import sync
from aclweb.web.clusters.connecting import site_administrator
from aclweb.web.shell import links
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.uploads import uploaded_text

MOST_BYTES = 2 * 1024 * 1024
"""Of a file that a page reads while somebody waits; the shell reads larger ones."""
MOST_FAULTS = 20
"""So many bad lines are told at once."""
_NAME = {"class": "form-control name", "spellcheck": "false", "autocomplete": "off"}
_EXAMPLE = """Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)`:
    (principal=User:bob, host=*, operation=READ, permissionType=ALLOW)"""


class FileForm(forms.Form):
    """A file of ACLs, and how the cluster that it describes is called."""

    slug = forms.CharField(
        label="Short name",
        required=False,
        widget=forms.TextInput(attrs=_NAME | {"placeholder": "from the file's name"}),
        help_text="Part of the address of each page of the cluster.",
    )
    file = forms.FileField(
        label="File",
        required=False,
        widget=forms.FileInput(attrs={"class": "form-control"}),
        help_text="Choose it, or drop it on the field: the output of kafka-acls --list, CSV, JSON lines or YAML.",
    )
    text = forms.CharField(
        label="Or its text",
        required=False,
        strip=False,
        widget=forms.Textarea(
            attrs={"class": "form-control name", "rows": 8, "spellcheck": "false", "placeholder": _EXAMPLE}
        ),
    )


@login_required
@require_http_methods(["GET", "POST"])
def add(request: HttpRequest) -> HttpResponse:
    """Make a cluster of a file of ACLs and lead to its first answer."""
    actor = site_administrator(request)
    if request.method == "GET":
        return _page(request, FileForm())
    form = FileForm(request.POST, request.FILES)
    kept = _kept(request, form)
    slug = form.data.get("slug", "").strip() or _slug_of(request)
    if kept is None:
        return _page(request, form, status=422)
    address, bindings = kept
    try:
        cluster = registering.add(actor=actor, slug=slug, kind=kept_files.file_kind().name, address=address)
    except registering.RegisteringError as error:
        kept_files.forget(address)
        for name, fault in error.faults.items():
            form.add_error(name if name in form.fields else None, fault)
        return _page(request, form, status=422)
    found = sync(cluster)
    if not found.read:
        messages.warning(request, found.sentence)
        return redirect("cluster", slug=slug)
    messages.success(
        request, f"{found.sentence} This is the answer to a first question; change it as you like."
    )
    question = _first_question(bindings)
    return redirect(links.explain(cluster, question) if question else f"/?cluster={slug}")


@login_required
@require_http_methods(["GET", "POST"])
def replace(request: HttpRequest, slug: str) -> HttpResponse:
    """Let a cluster that is known from a file be known from a newer one, which becomes its next revision."""
    cluster = access.cluster_or_404(request.user, slug)
    access.require(request.user, "administer", cluster)
    if not cluster.source.is_one_file:
        return redirect("connection", slug=slug)
    if request.method == "GET":
        return _page(request, FileForm(), cluster)
    assert isinstance(request.user, User)  # login_required
    form = FileForm(request.POST, request.FILES)
    kept = _kept(request, form)
    if kept is None:
        return _page(request, form, cluster, status=422)
    address, before = kept[0], cluster.address
    registering.change(actor=request.user, cluster=cluster, address=address)
    found = sync(cluster)
    if found.held:
        messages.warning(request, f"The new file waits for you to accept it: {found.sentence}")
    elif not found.read:
        messages.error(request, found.sentence)
    else:
        messages.success(request, found.sentence)
    kept_files.forget(before)
    return redirect("cluster", slug=slug)


def _kept(request: HttpRequest, form: FileForm) -> tuple[str, tuple[AclBinding, ...]] | None:
    """Store what was uploaded or pasted and return where it is; None with what is wrong beside the field."""
    form.is_valid()
    instead = (
        f"larger ones with manage.py cluster add NAME --kind {kept_files.file_kind().name} --address FILE"
    )
    text, fault = uploaded_text(request, "file", most_bytes=MOST_BYTES, instead=instead)
    field, called = "file", "This file"
    if text is None and not fault:
        field, called = "text", "This text"
        text = form.data.get("text", "").replace("\r\n", "\n")
        if not text.strip():
            form.add_error("file", "Choose a file, or paste its text below.")
            return None
    if fault or text is None:
        form.add_error(field, fault)
        return None
    try:
        path, bindings = kept_files.keep(text, called=called)
    except kept_files.FileError as error:
        for message in error.messages[:MOST_FAULTS]:
            form.add_error(field, _LINE.sub(r"Line \2: ", message))
        if len(error.messages) > MOST_FAULTS:
            form.add_error(field, f"And {len(error.messages) - MOST_FAULTS:,} more such lines.")
        return None
    return str(path), bindings


_LINE = re.compile(r"^(This file|This text):(\d+): ")


def _slug_of(request: HttpRequest) -> str:
    """Return a short name that is free, made from the name of the file."""
    file = request.FILES.get("file")
    stem = (file.name or "").rpartition(".")[0] or (file.name or "") if file is not None else ""
    wanted = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:50] or "file"
    taken = set(Cluster.objects.filter(slug__startswith=wanted).values_list("slug", flat=True))
    number = 1
    while (found := wanted if number == 1 else f"{wanted}-{number}") in taken:
        number += 1
    return found


def _first_question(bindings: tuple[AclBinding, ...]) -> AccessRequest | None:
    """Return what the first plain ACL of a topic is about; None where there is none such."""
    for binding in bindings:
        if (
            binding.resource_type is ResourceType.TOPIC
            and binding.pattern_type is PatternType.LITERAL
            and not binding.pattern.is_wildcard
            and binding.principal != ANY_USER
            and not binding.has_unknown
        ):
            operation = Operation.READ if binding.operation is Operation.ALL else binding.operation
            return AccessRequest(
                binding.principal, binding.host, operation, ResourceType.TOPIC, binding.resource_name
            )
    return None


def _page(
    request: HttpRequest, form: FileForm, cluster: Cluster | None = None, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "kinds": live_kinds(), "replaced": cluster}
    return render_page(request, "clusters/add_file.html", None, context, cluster=cluster, status=status)
