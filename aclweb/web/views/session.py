"""Signing in and out."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


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
    template_name = "session/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True


class SignOut(LogoutView):
    """Ends the session; by POST only, so that no link or image can do it."""

    http_method_names = ["post", "options"]


def locked_out(request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
    """Say that this account waits after too many wrong passwords; django-axes calls it."""
    return render(request, "session/locked_out.html", status=429)
