"""Which texts can a request, a ZooKeeper node or an address range not hold?"""

from __future__ import annotations

import re

from aclweb.acl.matching import read_address, read_range
from aclweb.acl.model import shown

LONGEST_TEXT = 32_767
"""The most bytes that a text has in a request."""


def why_no_text(text: str) -> str | None:
    """Return why no request can carry this text, as a sentence; None where one can."""
    if not text.isascii() and _SURROGATE.search(text):
        return f"The text {shown(text)} holds half a character (a lone surrogate), which Kafka cannot take."
    return None


def why_no_node_name(name: str) -> str | None:
    """Return why ZooKeeper refuses `name` as one node, as the end of a sentence; None if it takes it."""
    if not name:
        return "it is empty"
    if name in (".", ".."):
        return "a node cannot be called '.' or '..'"
    refused = _NO_NODE.search(name)
    if refused is None:
        return None
    if refused[0] == "/":
        return "it holds a slash, which separates nodes"
    return f"ZooKeeper refuses the character U+{ord(refused[0]):04X}"


def why_no_range(host: str) -> str | None:
    """Return Kafka's own text on a host with a slash that it cannot read as a range; None for every other host.

    A range whose scope is the name of a network interface is readable on a broker that
    has one of this name; here it counts as unreadable.
    """
    if "/" not in host or read_range(host) is not None:
        return None
    if ":" not in host:
        found = _IPV4_SHAPE.fullmatch(host)
        if found is None:
            return f"Could not parse [{host}]"
        *octets, length = map(int, found.groups())
        for octet in octets:
            if octet > 255:
                return f"Value [{octet}] not in range [0,255]"
        return f"Value [{length}] not in range [0,32]"
    address, _, length_text = host.partition("/")
    prefix = _java_int(length_text)
    if prefix is None:
        return f"Could not parse [{host}] - invalid prefix length"
    if not 0 <= prefix <= 128:
        return f"Could not parse [{host}] - prefix length must be between 0 and 128"
    # An IPv4 address in the clothes of an IPv6 one, which Java turns into IPv4, and with a scope into nothing.
    plain = address[1:-1] if address.startswith("[") and address.endswith("]") else address
    inner = read_address(plain) if "%" not in plain else None
    mapped = inner is not None and inner[0] == 32
    return f"Could not parse [{address}]" + (" - not an IPv6 address" if mapped else "")


def _java_int(text: str) -> int | None:
    """Return what Java's Integer.parseInt reads, None where it refuses."""
    found = _INTEGER.fullmatch(text)
    if found is None:
        return None
    # Python refuses to read thousands of digits, of which all but a few must be leading zeros.
    digits = "".join(str(int(digit)) for digit in found[2]).lstrip("0") or "0"
    value = int(found[1] + digits) if len(digits) <= 10 else 2**31
    return value if -(2**31) <= value < 2**31 else None


# Java reads digits of every script, but looks at half characters of the rarest ones.
_INTEGER = re.compile(r"([+-]?)((?:(?![\U00010000-\U0010ffff])\d)+)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_NODE = re.compile("[/\0-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff\U00010000-\U0010ffff]")
_IPV4_SHAPE = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})/([0-9]{1,2})")
