"""Signing in and out."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django_htmx.http import HttpResponseClientRefresh

from aclweb.accounts import sign_in_limits
from aclweb.web.htmx import wants_part


class SignInForm(AuthenticationForm):
    """User name and password; a wrong pair is told without saying which of the two is wrong."""

    error_messages = {
        "invalid_login": "This user name and password do not belong together. Both are told apart by case.",
        "inactive": "This account is switched off; ask whoever runs the site.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "User name"
        for field in self.fields.values():
            field.widget.attrs["class"] = "form-control"


class SignIn(LoginView):
    """Asks for user name and password, on a page of its own: never in the middle of another one.

    Where a session has ended, htmx follows the way here to fetch a part of a page. It is
    told to load the whole page again instead, which leads here and back.
    """

    template_name = "session/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if wants_part(request):
            return HttpResponseClientRefresh()
        return super().dispatch(request, *args, **kwargs)


class SignOut(LogoutView):
    """Ends the session; by POST only, so that no link or image can do it."""

    http_method_names = ["post", "options"]


def locked_out(request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
    """Say why this attempt was refused unseen, and for how long; django-axes calls it."""
    sentence, seconds = sign_in_limits.reason(request)
    page = render(request, "session/locked_out.html", {"sentence": sentence}, status=429)
    page["Retry-After"] = str(seconds)
    return page
