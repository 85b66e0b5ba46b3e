"""From which address does this request come, as far as limits on signing in count addresses?"""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.http import HttpRequest


def of(request: HttpRequest) -> str | None:
    """Return the address of the client; an IPv6 network of 64 bits counts as one. None where it is unknown.

    X-Forwarded-For is read only behind ACLWEB_TRUSTED_PROXIES proxies: each appends the address that
    called it, so the entry that the outermost of ours wrote is that many from the end. What
    comes before it was sent by the client, who may write what he likes.
    """
    given = str(request.META.get("REMOTE_ADDR", ""))
    if proxies := settings.ACLWEB_TRUSTED_PROXIES:
        entries = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")
        if len(entries) >= proxies and entries[-proxies].strip():
            given = entries[-proxies]
    return counted(given)


def counted(text: str) -> str | None:
    """Return an address as it is counted; None if it is none."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        if not address.is_loopback:
            return str(ipaddress.ip_network((address, 64), strict=False).network_address)
    return str(address)
