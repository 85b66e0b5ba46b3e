"""The addresses of clusters: the list, one cluster, and what is asked of a worker or declared there."""

from django.urls import path

from aclweb.web.clusters import (
    acls_over_time,
    connecting,
    files,
    log_sources,
    moving,
    owners,
    principal_names,
    removing,
    views,
)

urlpatterns = [
    path("clusters/", views.index, name="clusters"),
    path("clusters/new/", connecting.add, name="add-cluster"),
    path("clusters/new/file/", files.add, name="add-file-cluster"),
    path("clusters/removed/", removing.index, name="removed-clusters"),
    path("clusters/removed/<int:number>/", removing.removed, name="removed-cluster"),
    path("c/<slug:slug>/remove/", removing.remove, name="remove-cluster"),
    path("c/<slug:slug>/file/", files.replace, name="replace-file"),
    path("c/<slug:slug>/connection/", connecting.edit, name="connection"),
    path("c/<slug:slug>/connection/test/", connecting.test, name="connection-test"),
    path("c/<slug:slug>/move/", moving.move, name="move"),
    path("c/<slug:slug>/move/switch/", moving.switch, name="move-switch"),
    path("c/<slug:slug>/pause/", connecting.pause, name="pause"),
    path("c/<slug:slug>/resume/", connecting.resume, name="resume"),
    path("c/<slug:slug>/switch-changes/", connecting.switch_changes, name="switch-changes"),
    path("c/<slug:slug>/", views.detail, name="cluster"),
    path("c/<slug:slug>/read/", views.sync_now, name="read-now"),
    path("c/<slug:slug>/accept/", views.accept_snapshot, name="accept-reading"),
    path("c/<slug:slug>/declare/", views.declare, name="declare"),
    path("c/<slug:slug>/acls-over-time/", acls_over_time.exported, name="acls-over-time"),
    path("c/<slug:slug>/log-sources/", log_sources.index, name="log-sources"),
    path("c/<slug:slug>/log-sources/<int:number>/", log_sources.edit, name="log-source"),
    path("c/<slug:slug>/log-sources/<int:number>/remove/", log_sources.remove, name="log-source-remove"),
    path("c/<slug:slug>/principal-names/", principal_names.index, name="principal-names"),
    path("c/<slug:slug>/principal-names/export/", principal_names.export, name="principal-names-export"),
    path("c/<slug:slug>/principal-names/load/", principal_names.load, name="principal-names-load"),
    path("c/<slug:slug>/owners/", owners.index, name="owners"),
    path("c/<slug:slug>/owners/export/", owners.export, name="owners-export"),
    path("c/<slug:slug>/owners/load/", owners.load, name="owners-load"),
    path("c/<slug:slug>/owners/<int:number>/", owners.edit, name="owner"),
    path("c/<slug:slug>/owners/<int:number>/remove/", owners.remove, name="owner-remove"),
]
