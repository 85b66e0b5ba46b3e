"""The addresses of change requests, of the policy that they meet, and of the audit trail."""

from django.urls import path

from aclweb.web.changes import audit_trail, policy, sheet, views

urlpatterns = [
    path("changes/", views.index, name="changes"),
    path("changes/CR-<int:number>/", views.detail, name="change"),
    path("changes/CR-<int:number>/commands/", views.commands, name="change-commands"),
    path("changes/CR-<int:number>/diff/", views.diff_file, name="change-diff"),
    path("changes/CR-<int:number>/replay/", views.replay_file, name="change-replay"),
    path("changes/CR-<int:number>/print/", sheet.sheet, name="change-print"),
    path("changes/CR-<int:number>/act/", views.act, name="change-act"),
    path("c/<slug:slug>/policy/", policy.index, name="policy"),
    path("c/<slug:slug>/policy/<int:number>/remove/", policy.remove, name="policy-remove"),
    path("events/", audit_trail.index, name="events"),
]
