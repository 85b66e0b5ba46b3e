"""The addresses of change requests and of the audit trail."""

from django.urls import path

from aclweb.web.changes import audit_trail, views

urlpatterns = [
    path("changes/", views.index, name="changes"),
    path("changes/CR-<int:number>/", views.detail, name="change"),
    path("changes/CR-<int:number>/commands/", views.commands, name="change-commands"),
    path("changes/CR-<int:number>/diff/", views.diff_file, name="change-diff"),
    path("changes/CR-<int:number>/replay/", views.replay_file, name="change-replay"),
    path("changes/CR-<int:number>/act/", views.act, name="change-act"),
    path("events/", audit_trail.index, name="events"),
]
