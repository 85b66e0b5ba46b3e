"""What is the address of the page about this resource, principal or request?

Topics that Kafka would allow have an address of their own; any other text (an ACL may name
`..` or hold a line end) goes into the query, where every character survives.
"""

from __future__ import annotations

import json
import re
from urllib.parse import quote_plus, urlencode

from django.urls import reverse

from aclweb.acl.model import AccessRequest, AclBinding, Operation, ResourceType
from aclweb.inventory.models import Cluster

# Before a type: a question about at least one resource of it, which has no name.
ANY = "ANY_"
_TOPIC_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")


def resource(cluster: Cluster, resource_type: ResourceType | str, name: str) -> str:
    """Return the address of the page about one resource."""
    kind = resource_type if isinstance(resource_type, str) else resource_type.name
    if kind == ResourceType.TOPIC.name and _TOPIC_NAME.fullmatch(name) and name not in (".", ".."):
        return reverse("topic", args=[cluster.slug, name])
    return f"{reverse('resource', args=[cluster.slug])}?{encoded(type=kind, name=name)}"


def with_field(address: str, name: str, text: str) -> str:
    """Return the address with one field more in its query; with an empty text as it is."""
    return f"{address}{'&' if '?' in address else '?'}{encoded(**{name: text})}" if text else address


def principal(cluster: Cluster, name: str) -> str:
    """Return the address of the page about one principal."""
    return f"{reverse('principal', args=[cluster.slug])}?{encoded(name=name)}"


def explain(cluster: Cluster, request: AccessRequest) -> str:
    """Return the address that asks this request again, with every ACL that matches it."""
    return f"{reverse('explain', args=[cluster.slug])}?{question(request)}"


def question(request: AccessRequest) -> str:
    """Return the query that stands for a question; the ask form reads the same names."""
    return encoded(**asked(request))


def asked(request: AccessRequest) -> dict[str, str]:
    """Return the fields of the ask form that stand for a question."""
    kind = request.resource_type.name
    return {
        "principal": request.principal,
        "operation": request.operation.name,
        "type": kind if request.resource_name is not None else f"{ANY}{kind}",
        "name": request.resource_name or "",
        "host": request.host,
    }


def client_action(cluster: Cluster, **fields: str) -> str:
    """Return the address of the form for client actions with these fields filled in, which asks nothing yet."""
    return f"{reverse('client-action', args=[cluster.slug])}?{encoded(choose='1', **fields)}"


def explain_cell(
    cluster: Cluster, who: str, operation: Operation, kind: ResourceType, name: str, host: str
) -> str:
    """Return the address that explains one cell of a matrix."""
    asked = {"principal": who, "operation": operation.name, "type": kind.name, "name": name, "host": host}
    return f"{reverse('explain', args=[cluster.slug])}?{encoded(**asked)}"


def acl(binding: AclBinding) -> str:
    """Return an ACL as the value of a field that takes it as JSON, in as few letters as an address may have."""
    text = json.dumps(binding.as_dict(), separators=(",", ":"))
    return quote_plus(text, safe=",:")


def encoded(**fields: str) -> str:
    """Return a query; a lone surrogate, which no address can hold, becomes a question mark."""
    return urlencode({name: text.encode("utf-8", "replace") for name, text in fields.items()})
