"""The addresses of questions: the home page, explanations, client actions, mapping rules."""

from django.urls import path

from aclweb.web.ask import client_action_page, explain, home, mapping_page

urlpatterns = [
    path("", home.ask, name="home"),
    path("c/<slug:slug>/asked/forget/", home.forget, name="asked-forget"),
    path("c/<slug:slug>/explain/", explain.detail, name="explain"),
    path("c/<slug:slug>/explain/line/", explain.paste, name="explain-line"),
    path("c/<slug:slug>/explain/client/", client_action_page.detail, name="client-action"),
    path("c/<slug:slug>/mapping/", mapping_page.detail, name="mapping"),
]
