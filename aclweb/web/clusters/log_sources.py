"""Where are the authorizer logs of a cluster, and what did somebody say of each?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.notation import LAYOUTS
from aclweb.inventory.admin import log_sources
from aclweb.inventory.models import Cluster, LogSource
from aclweb.web.shell.htmx import render_page

_SELECT = {"class": "form-select"}
_NAME = {"class": "form-control name", "spellcheck": "false", "autocomplete": "off"}


class LogSourceForm(forms.Form):
    """Values of a log source; what is wrong with them, `log_sources` says."""

    path = forms.CharField(
        label="Path",
        required=False,
        widget=forms.TextInput(attrs=_NAME),
        help_text="A file, a folder or a pattern, on the worker's machine: /var/log/kafka/kafka-authorizer.log*",
    )
    recursive = forms.ChoiceField(
        label="Folders in a folder",
        required=False,
        choices=[("", "left out"), (log_sources.RECURSIVE, "read too")],
        widget=forms.Select(attrs=_SELECT),
        help_text="Where the path is a folder, or a pattern that finds folders. Links to folders are left out.",
    )
    topic = forms.CharField(
        label="Or a topic",
        required=False,
        widget=forms.TextInput(attrs=_NAME | {"placeholder": "kafka-authorizer-log"}),
        help_text="Each of its messages is one record. It is read with aclweb's login on the cluster below.",
    )
    topic_on = forms.ChoiceField(
        label="Cluster that has the topic", required=False, widget=forms.Select(attrs=_SELECT)
    )
    broker_by = forms.ChoiceField(
        label="What names the broker of a record",
        required=False,
        choices=LogSource.BrokerBy.choices[1:],
        widget=forms.Select(attrs=_SELECT),
        help_text="Of a topic only. Where nothing does, nobody can tell whether each broker logged.",
    )
    broker = forms.CharField(
        label="Broker",
        required=False,
        widget=forms.TextInput(attrs=_NAME),
        help_text="What pages call the broker. Empty: named after its files.",
    )
    time_zone = forms.CharField(
        label="Time zone of its clock",
        required=False,
        widget=forms.TextInput(attrs=_NAME | {"placeholder": "Europe/Berlin"}),
        help_text="Its times then become UTC. Set it before the log is read first; the zone of a log stays the same.",
    )
    level = forms.ChoiceField(
        label="What it logs",
        required=False,
        choices=LogSource.Level.choices,
        widget=forms.Select(attrs=_SELECT),
    )
    layout = forms.ChoiceField(
        label="Layout",
        required=False,
        choices=[("", "as the beginning of each file says"), *((name, name) for name in LAYOUTS)],
        widget=forms.Select(attrs=_SELECT),
    )
    pattern = forms.CharField(
        label="Or its log4j pattern",
        required=False,
        strip=False,
        widget=forms.TextInput(attrs=_NAME | {"placeholder": "[%d] %p %m (%c)%n"}),
        help_text="The pattern of the PatternLayout in the brokers' configuration.",
    )

    def __init__(
        self, data: Any = None, *, clusters: Sequence[Cluster], initial: dict[str, Any] | None = None
    ) -> None:
        super().__init__(data, initial=initial)
        field = self.fields["topic_on"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(each.slug, each.name) for each in clusters]

    def save(self, actor: User, cluster: Cluster, source: LogSource | None) -> str:
        """Add a log source, or change this one; return a sentence, empty where a field is wrong."""
        given = {name: self.cleaned_data[name] for name in log_sources.FIELDS}
        limits = log_sources.Limits(
            settings.ACLWEB_LOG_FOLDERS, {each.slug for each in _with_topics(actor, cluster)}
        )
        try:
            if source is None:
                log_sources.add(actor=actor, cluster=cluster, within=limits, **given)
                return "Added. The next refresh of the logs reads it."
            if not log_sources.change(actor=actor, source=source, within=limits, **given):
                return "Nothing was changed: it was so already."
            return "Changed. It counts from the next refresh of the logs on."
        except log_sources.LogSourceError as error:
            for name, fault in error.faults.items():
                self.add_error(name, fault)
            return ""


def _with_topics(user: User, cluster: Cluster) -> list[Cluster]:
    """Return the clusters whose topics this person may have read: those that it administers, this one first."""
    found = [each for each in access.visible_clusters(user) if each.source.has_bootstrap_address]
    found = [each for each in found if access.may(user, "administer", each)]
    return sorted(found, key=lambda each: each.pk != cluster.pk)


def _form(
    request: HttpRequest, cluster: Cluster, source: LogSource | None, data: Any = None
) -> LogSourceForm:
    assert isinstance(request.user, User)  # login_required
    clusters = _with_topics(request.user, cluster)
    initial = None
    if source is not None:
        initial = log_sources.texts_of(source)
        if source.topic_cluster is not None and source.topic_cluster not in clusters:
            clusters.append(
                source.topic_cluster
            )  # set on the command line; it stays as long as nobody changes it
    return LogSourceForm(data, clusters=clusters, initial=initial)


@login_required
@require_http_methods(["GET", "POST"])
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List the log sources of a cluster; add one to them."""
    cluster = access.cluster_or_404(request.user, slug)
    if request.method == "GET":
        return _page(request, cluster, _form(request, cluster, None))
    return _saved(request, cluster, None)


@login_required
@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show one log source to whoever may change it, and change it."""
    cluster = access.cluster_or_404(request.user, slug)
    access.require(request.user, "administer", cluster)
    source = get_object_or_404(cluster.log_sources, pk=number)
    if request.method == "GET":
        return _page(request, cluster, _form(request, cluster, source), source)
    return _saved(request, cluster, source)


@login_required
@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Remove one log source; what was read of it stays."""
    cluster = access.cluster_or_404(request.user, slug)
    access.require(request.user, "administer", cluster)
    if request.method == "POST":
        source = get_object_or_404(cluster.log_sources, pk=number)
        assert isinstance(request.user, User)  # login_required
        log_sources.remove(actor=request.user, source=source)
        messages.success(request, f"Removed {source}. What was read of it stays.")
    return redirect("log-sources", slug=slug)


def _saved(request: HttpRequest, cluster: Cluster, source: LogSource | None) -> HttpResponse:
    access.require(request.user, "administer", cluster)
    assert isinstance(request.user, User)  # login_required
    form = _form(request, cluster, source, request.POST)
    sentence = form.save(request.user, cluster, source) if form.is_valid() else ""
    if not sentence:
        return _page(request, cluster, form, source, status=422)
    messages.success(request, sentence)
    return redirect("log-sources", slug=cluster.slug)


def _page(
    request: HttpRequest,
    cluster: Cluster,
    form: LogSourceForm,
    source: LogSource | None = None,
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {
        "cluster": cluster,
        "form": form,
        "source": source,
        "sources": cluster.log_sources.select_related("topic_cluster"),
        "may_administer": access.may(request.user, "administer", cluster),
    }
    return render_page(request, "clusters/log_sources.html", None, context, status=status)
