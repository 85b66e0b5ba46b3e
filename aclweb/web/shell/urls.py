"""The addresses of signing in and out, and of one's own password."""

from django.urls import path

from aclweb.web.shell import session

urlpatterns = [
    path("sign-in/", session.SignIn.as_view(), name="sign-in"),
    path("sign-out/", session.SignOut.as_view(), name="sign-out"),
    path("password/", session.Password.as_view(), name="password"),
]
