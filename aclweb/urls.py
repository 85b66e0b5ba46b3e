"""Which address leads to which room: the API under /api/, everything else to the pages."""

from django.urls import include, path

urlpatterns = [
    path("api/", include("aclweb.api.urls")),
    path("", include("aclweb.web.urls")),
]
