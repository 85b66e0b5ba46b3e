"""Addresses: the API under /api/, everything else to the pages.

/healthz, /readyz, /version and /metrics are answered before any address is looked up:
see `web.views.health`.
"""

from django.urls import include, path

urlpatterns = [
    path("api/", include("aclweb.api.urls")),
    path("", include("aclweb.web.urls")),
]

handler400 = "aclweb.web.shell.broken.bad_request"
handler403 = "aclweb.web.shell.refused.not_allowed"
handler404 = "aclweb.web.shell.refused.not_found"
handler500 = "aclweb.web.shell.broken.server_error"
