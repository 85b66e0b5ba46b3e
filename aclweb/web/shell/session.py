"""Signing in and out, and changing one's own password."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django_htmx.http import HttpResponseClientRefresh

from aclweb.accounts import passwords, sign_in_limits
from aclweb.web.shell import frame
from aclweb.web.shell.htmx import wants_part

# Wrong passwords on the page that changes it, before it waits for so many seconds.
MOST_GUESSES = 5
GUESSES_SECONDS = 900
MADE_BY_ANOTHER = "Your password was made by somebody else, so it has to be changed first."
_BEFORE_OWN_PASSWORD = ("/password/", "/sign-out/", "/sign-in/")


class SignInForm(AuthenticationForm):
    """User name and password; a wrong pair is refused without saying which of the two is wrong."""

    error_messages = {
        "invalid_login": "This user name and password do not belong together. Capital and small letters differ.",
        "inactive": "This account is switched off; ask the people who run the site.",
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

    template_name = "shell/session/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if wants_part(request):
            return HttpResponseClientRefresh()
        return super().dispatch(request, *args, **kwargs)


class SignOut(LogoutView):
    """Ends the session; by POST only, so that no link or image can do it."""

    http_method_names = ["post", "options"]


class PasswordForm(PasswordChangeForm):
    """The old password once and the new one twice; what is wrong is said at its field."""

    error_messages = PasswordChangeForm.error_messages | {
        "password_incorrect": "This is not your current password; capital and small letters differ.",
        "password_mismatch": "The two new passwords differ; type the same one twice.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labels = {
            "old_password": "Current password",
            "new_password1": "New password",
            "new_password2": "New password again",
        }
        for name, label in labels.items():
            self.fields[name].label = label
            self.fields[name].help_text = ""
            self.fields[name].widget.attrs["class"] = "form-control"
        self.fields[
            "new_password1"
        ].help_text = "At least 12 characters, none of the common ones, not your name."

    def clean_old_password(self) -> str:
        """Return the password as it is now; whoever took over a session may not guess without end."""
        key = f"password-guesses-{self.user.pk}"
        cache.add(key, 0, GUESSES_SECONDS)
        if cache.get(key, 0) >= MOST_GUESSES:
            raise ValidationError("Too many wrong passwords were given here; try again in 15 minutes.")
        try:
            return super().clean_old_password()
        except ValidationError:
            with contextlib.suppress(ValueError):  # it expired just now
                cache.incr(key)
            raise

    def clean_new_password1(self) -> str:
        """Return the new password: whoever made the first one for somebody must not know it afterwards."""
        password: str = self.cleaned_data["new_password1"]
        if password and password == self.cleaned_data.get("old_password"):
            raise ValidationError("This is your current password; choose another one.")
        return password

    def save(self, *_: Any, **__: Any) -> Any:
        """Store the password alone; raises PasswordError where the account is another one by now."""
        passwords.change(self.user, self.cleaned_data["new_password1"])
        return self.user


class Password(LoginRequiredMixin, PasswordChangeView):
    """Changes one's own password; the session of this browser goes on, all others end."""

    template_name = "shell/session/password.html"
    form_class = PasswordForm
    success_url = reverse_lazy("home")

    def form_valid(self, form: Any) -> HttpResponse:
        try:
            response = super().form_valid(form)
        except passwords.PasswordError as error:
            form.add_error(None, str(error))
            return self.form_invalid(form)
        messages.success(self.request, "Your password is changed. Your sessions on other devices have ended.")
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        around = frame.around(self.request, cluster=None, section="")
        told = MADE_BY_ANOTHER if getattr(self.request.user, "password_is_first", False) else ""
        return {**super().get_context_data(**kwargs), "frame": around, "told": told}


def own_password_first(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Show whoever signed in with a password that somebody else made nothing but the page that changes it."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if not getattr(request.user, "password_is_first", False) or request.path in _BEFORE_OWN_PASSWORD:
            return get_response(request)
        if request.path.startswith("/api/"):
            return JsonResponse({"detail": f"{MADE_BY_ANOTHER} Change it on the page Password."}, status=403)
        if wants_part(request):
            return HttpResponseClientRefresh()
        return redirect("password")

    return answer


def locked_out(request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
    """Say why this attempt was refused unseen, and for how long; django-axes calls it."""
    sentence, seconds = sign_in_limits.reason(request)
    page = render(request, "shell/session/locked_out.html", {"sentence": sentence}, status=429)
    page["Retry-After"] = str(seconds)
    return page
