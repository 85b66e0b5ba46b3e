"""A certificate or key that was typed into a search field: take it out of the address, and say so.

Search fields are in addresses, which browsers, proxies and servers keep. Whatever page is asked
for, the answer is the same page without the value, under an address without it.
"""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, QueryDict
from django.http.response import HttpResponseBase

from aclweb.web.shell.htmx import wants_part
from aclweb.web.shell.typed_principal import holds_pem, pem_fault

_TOLD = (
    "What you typed is a certificate or a key in PEM, so it was not read and is not shown again. "
    "It was in the address: delete that from your browser's history. If it was a private key, replace it."
)


def left_out(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Answer addresses that hold a certificate or key by the address without it."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        query = request.GET
        if not any(map(holds_pem, (*query, *(value for _, values in query.lists() for value in values)))):
            return get_response(request)
        return _refused(query) if request.path.startswith("/api/") else _without(request, query)

    return answer


def _refused(query: QueryDict) -> HttpResponse:
    """Return the API's answer: a sentence for each parameter that holds one."""
    wrong = [name for name, values in query.lists() if any(map(holds_pem, values)) and not holds_pem(name)]
    faults = [pem_fault("what this parameter takes")]
    return JsonResponse(dict.fromkeys(wrong, faults) or {"detail": faults[0]}, status=400)


def _without(request: HttpRequest, query: QueryDict) -> HttpResponse:
    kept = query.copy()
    for name, values in query.lists():
        if holds_pem(name):
            del kept[name]
        elif any(map(holds_pem, values)):
            kept.setlist(name, [value for value in values if not holds_pem(value)] or [""])
    # A download with one filter less would hold more than was asked for, so its list is shown instead.
    address = f"{request.path.removesuffix('export/')}?{kept.urlencode()}"
    messages.warning(request, _TOLD)
    if not wants_part(request):
        return HttpResponseRedirect(address)
    # A part would not show the message, and htmx would keep the address that it asked for.
    response = HttpResponse()
    response["HX-Redirect"] = address
    return response
