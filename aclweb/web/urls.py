"""The addresses of all pages: each feature has its own table."""

from django.urls import URLResolver, include, path

# Two features never share an address, so their order decides nothing.
urlpatterns: list[URLResolver] = [
    path("", include("aclweb.web.shell.urls")),
    path("", include("aclweb.web.ask.urls")),
    path("", include("aclweb.web.browse.urls")),
    path("", include("aclweb.web.clusters.urls")),
    path("", include("aclweb.web.drafts.urls")),
    path("", include("aclweb.web.changes.urls")),
    path("", include("aclweb.web.people.urls")),
]
