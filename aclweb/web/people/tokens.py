"""Which programs ask the API for a person, and until when? Each person's own tokens, and everybody's.

A secret is shown in the answer that made it, and in no other.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts import access, directory, tokens
from aclweb.accounts.models import ApiToken, User
from aclweb.inventory.models import Cluster
from aclweb.web.shell.htmx import render_page
from aclweb.web.shell.paging import page_asked, page_of

USUAL_DAYS = 30


class TokenForm(forms.Form):
    """What uses a token and how long it lasts; what is wrong with it, `tokens` says."""

    name = forms.CharField(
        label="What uses it",
        required=False,
        max_length=1_000,
        widget=forms.TextInput(
            attrs={"class": "form-control", "autocomplete": "off", "placeholder": "nightly-report"}
        ),
    )
    days = forms.IntegerField(
        label="Days until it expires",
        initial=USUAL_DAYS,
        widget=forms.NumberInput(attrs={"class": "form-control", "min": 1, "max": tokens.LONGEST_DAYS}),
        help_text=f"1 to {tokens.LONGEST_DAYS}.",
    )

    cluster = forms.ModelChoiceField(
        label="Of which cluster it may ask",
        queryset=Cluster.objects.none(),
        to_field_name="slug",
        required=False,
        empty_label="every cluster that I see",
        widget=forms.Select(attrs={"class": "form-select"}),
        error_messages={"invalid_choice": "There is no such cluster that you may look at."},
    )

    def __init__(self, data: Any = None, *, owner: User) -> None:
        super().__init__(data)
        field = self.fields["cluster"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = access.visible_clusters(owner).order_by("name")

    def issue(self, owner: User) -> tuple[ApiToken, str] | None:
        """Make the token; return it with its secret, or None where a field is wrong."""
        try:
            given = self.cleaned_data
            return tokens.issue(owner, given["name"], given["days"], cluster=given["cluster"])
        except tokens.TokenError as error:
            self.add_error(error.field, str(error))
            return None


@login_required
@require_http_methods(["GET", "POST"])
def own(request: HttpRequest) -> HttpResponse:
    """List one's own tokens; make one, whose secret this answer shows and no other."""
    owner = _actor(request)
    form = TokenForm(request.POST if request.method == "POST" else None, owner=owner)
    made, secret = None, ""
    if form.is_bound and form.is_valid() and (issued := form.issue(owner)):
        (made, secret), form = issued, TokenForm(owner=owner)
    found = directory.tokens(owner=owner)
    context = {
        "form": form,
        "made": made,
        "secret": secret,
        "now": timezone.now(),
        "page": page_of(found, page_asked(request.GET), settings.ACLWEB_PAGE_SIZE),
    }
    return render_page(request, "people/tokens.html", None, context, status=422 if form.is_bound else 200)


@login_required
@require_GET
def everybodys(request: HttpRequest) -> HttpResponse:
    """List the tokens of everybody, for administrators of the site."""
    access.require_site_administrator(request.user)
    text = tokens.beginning(request.GET.get("q", "").strip())
    context = {
        "text": text,
        "now": timezone.now(),
        "page": page_of(directory.tokens(text), page_asked(request.GET), settings.ACLWEB_PAGE_SIZE),
    }
    return render_page(request, "people/all_tokens.html", None, context)


@login_required
@require_http_methods(["GET", "POST"])
def revoke(request: HttpRequest, number: int) -> HttpResponse:
    """Revoke one's own token or, as an administrator of the site, anybody's."""
    actor = _actor(request)
    if request.method == "POST":
        token = directory.tokens(owner=None if actor.is_superuser else actor).filter(pk=number).first()
        if token is None:
            raise Http404("You have no such token; it may have been revoked already.")
        tokens.revoke(token, actor=actor)
        messages.success(request, f"{token.name} of {token.owner} is revoked: it is refused from now on.")
    return redirect("all-tokens" if actor.is_superuser and "all" in request.POST else "tokens")


def _actor(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # login_required
    return request.user
