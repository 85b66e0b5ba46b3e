"""Which gates does the policy of a cluster have, and who must approve an edit that does not meet one?"""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.changes import gate_settings, policy
from aclweb.changes.models import PolicyGate
from aclweb.inventory.models import Cluster
from aclweb.web.shell.htmx import render_page


class GateForm(forms.Form):
    """Values of a gate; what is wrong with them, `gate_settings` says."""

    kind = forms.ChoiceField(
        label="Gate", choices=PolicyGate.Kind.choices, widget=forms.Select(attrs={"class": "form-select"})
    )
    name_prefix = forms.CharField(
        label="Prefix or label",
        required=False,
        strip=False,
        max_length=1_000,
        help_text=(
            "Only for gates about a prefix, of names or principals such as User:app-, and about a label that the page "
            "Owners and labels gives names, such as restricted; leave it empty for others."
        ),
        widget=forms.TextInput(
            attrs={"class": "form-control name", "spellcheck": "false", "autocomplete": "off"}
        ),
    )
    approvals = forms.IntegerField(
        label="Approvals where it is not met",
        initial=2,
        widget=forms.NumberInput(
            attrs={"class": "form-control", "min": 1, "max": gate_settings.MOST_APPROVALS}
        ),
    )
    by_administrator = forms.BooleanField(
        label="One of them by an administrator of the cluster", required=False
    )

    def save(self, actor: User, cluster: Cluster) -> str:
        """Set the gate; return a sentence, empty where a field is wrong."""
        try:
            is_set = gate_settings.set_gate(actor=actor, cluster=cluster, **self.cleaned_data)
        except gate_settings.GateError as error:
            for name, fault in error.faults.items():
                self.add_error(name, fault)
            return ""
        return (
            "The gate is set; changes that wait are held to it, too." if is_set else "It was set so already."
        )


@login_required
@require_http_methods(["GET", "POST"])
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """List the gates of a cluster; set one."""
    cluster = access.cluster_or_404(request.user, slug)
    if request.method == "GET":
        return _page(request, cluster, GateForm(initial=_asked_for(request)))
    access.require(request.user, "administer", cluster)
    form = GateForm(request.POST)
    sentence = form.save(_person(request), cluster) if form.is_valid() else ""
    if not sentence:
        return _page(request, cluster, form, status=422)
    messages.success(request, sentence)
    return redirect("policy", slug=slug)


@login_required
@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Remove one gate."""
    cluster = access.cluster_or_404(request.user, slug)
    access.require(request.user, "administer", cluster)
    if request.method == "POST":
        gate = get_object_or_404(cluster.policy_gates, pk=number)
        words = str(gate)
        gate_settings.remove_gate(actor=_person(request), gate=gate)
        messages.success(request, f"Removed: {words}.")
    return redirect("policy", slug=slug)


def _asked_for(request: HttpRequest) -> dict[str, str]:
    """Return the gate that a link of the list leads to, to be changed."""
    return {name: request.GET[name] for name in GateForm.base_fields if name in request.GET}


def _page(request: HttpRequest, cluster: Cluster, form: GateForm, status: int = 200) -> HttpResponse:
    gates = [
        (gate, str(gate), _needed(gate)) for gate in cluster.policy_gates.order_by("kind", "name_prefix")
    ]
    context = {
        "cluster": cluster,
        "gates": gates,
        "form": form,
        "usual": policy.Required(policy.approvals_needed(cluster)).words,
        "may_administer": access.may(request.user, "administer", cluster),
    }
    return render_page(request, "changes/policy.html", None, context, section="changes", status=status)


def _needed(gate: PolicyGate) -> str:
    if gate.kind == PolicyGate.Kind.MANAGED_REFUSED:
        return "refused, whoever approves"
    return policy.Required(gate.approvals, by_administrator=gate.by_administrator).words


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # login_required
    return request.user
