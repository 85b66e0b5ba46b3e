"""A client's address as a broker compares it: the text that Java's getHostAddress gives.

IPv4 is dotted decimal. IPv6 is eight groups in lower case without leading zeros and is
never shortened (`::1` is `0:0:0:0:0:0:0:1`); an IPv4-mapped IPv6 address arrives as IPv4.
"""

from __future__ import annotations

import ipaddress
import struct

from aclweb.acl.model import AclError


def as_java_prints(text: str) -> str:
    """Return the address in the form that ACL hosts are compared with.

    Raises AclError for anything that is not one address: brokers see addresses only, never names.
    """
    plain = text.strip()
    try:
        address = ipaddress.ip_address(plain)
    except ValueError as error:
        raise AclError(
            f"{text!r} is not an address; brokers see the client's IP address, such as 10.0.6.30 or 2001:db8::7."
        ) from error
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    groups = ":".join(f"{group:x}" for group in struct.unpack(">8H", address.packed))
    return f"{groups}%{address.scope_id}" if address.scope_id else groups
