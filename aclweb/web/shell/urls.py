"""The addresses of signing in and out, of one's own password, and of what words mean."""

from django.urls import path

from aclweb.web.shell import glossary, session

urlpatterns = [
    path("sign-in/", session.SignIn.as_view(), name="sign-in"),
    path("sign-out/", session.SignOut.as_view(), name="sign-out"),
    path("words/", glossary.index, name="words"),
    path("password/", session.Password.as_view(), name="password"),
]
