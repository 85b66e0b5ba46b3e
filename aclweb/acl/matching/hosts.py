"""Which session addresses an ACL's host admits.

A host is compared as text, and `*` admits every address. From Kafka 4.4 a host with a
slash is also read as an address range (KIP-1276). Nothing here raises: a range that
Kafka could not read admits nobody.
"""

from __future__ import annotations

import re
from functools import lru_cache

from aclweb.acl.model import WILDCARD

_IPV4_RANGE = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})/([0-9]{1,2})\Z")
# Java's Integer.parseInt: a sign and decimal digits of any script, of which many may be leading
# zeros; it reads code units, so that no digit beyond U+FFFF is one.
_JAVA_INTEGER = re.compile(r"([+-]?)((?:(?![\U00010000-\U0010ffff])\d)+)\Z")
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")

Address = tuple[int, int]
"""The number of bits (32 or 128) and the address as a number."""

UNRANGED: Address = (32, 0)
"""Kafka finds 0.0.0.0 in no range, not even in 0.0.0.0/0."""


def admits(acl_host: str, host: str, *, ranges: bool) -> bool:
    """Whether an ACL with `acl_host` is for a session from `host`.

    ranges: whether this broker reads `10.0.0.0/8` as a range; otherwise it is only text.
    """
    if acl_host in (WILDCARD, host):
        return True
    return ranges and "/" in acl_host and in_range(acl_host, host)


def in_range(acl_host: str, host: str) -> bool:
    """Whether the address `host` lies in the range `acl_host`; False where either is malformed."""
    network = read_range(acl_host)
    if network is None:
        return False
    address = read_address(host)
    if address is None or address[0] != network[0] or address == UNRANGED:
        return False
    bits, start, length = network
    shift = bits - length
    return address[1] >> shift == start >> shift


def range_within(narrow: str, wide: str) -> bool:
    """Whether every address of the range `narrow` lies in the range `wide`; False where either is malformed."""
    inner, outer = read_range(narrow), read_range(wide)
    if inner is None or outer is None or outer[0] != inner[0] or outer[2] > inner[2]:
        return False
    shift = outer[0] - outer[2]
    return outer[1] >> shift == inner[1] >> shift


@lru_cache(maxsize=65_536)
def read_range(text: str) -> tuple[int, int, int] | None:
    """Return (bits of the family, address, prefix length) of a range; None if Kafka cannot read it."""
    if "/" not in text:
        return None
    if ":" not in text:
        return _ipv4_range(text)
    address_text, _, length_text = text.partition("/")
    length = _java_integer(length_text)
    if length is None:
        return None
    if address_text.startswith("[") and address_text.endswith("]"):
        address_text = address_text[1:-1]
    address_text, percent, scope = address_text.partition("%")
    if percent and not (scope.isascii() and scope.isdigit() and len(scope.lstrip("0")) <= 10):
        # An interface name counts only on a broker that has that interface.
        return None
    if percent and int(scope[-10:]) >= 1 << 31:
        # A number that Java cannot hold is looked up as a name.
        return None
    address = _ipv6(address_text)
    if address is None or not 0 <= length <= 128 or _is_mapped(address):
        return None
    return 128, address, length


@lru_cache(maxsize=65_536)
def read_address(text: str) -> Address | None:
    """Return a session's address as a number with its family; None for anything else."""
    if ":" not in text:
        value = _ipv4(text)
        return None if value is None else (32, value)
    value = _ipv6(text.partition("%")[0])
    if value is None:
        return None
    return (32, value & 0xFFFFFFFF) if _is_mapped(value) else (128, value)


def names_an_interface(acl_host: str) -> bool:
    """Whether this is a range but for the name of a network interface, as in `fe80::1%eth0/64`.

    A broker that has the interface reads it; aclweb cannot know which one has, so here it
    admits nobody.
    """
    address, percent, scope_and_length = acl_host.partition("%")
    scope, slash, length = scope_and_length.partition("/")
    scope, bracket = (scope[:-1], "]") if scope.endswith("]") else (scope, "")
    if not (percent and slash and scope) or (scope.isascii() and scope.isdigit()):
        return False
    return read_range(f"{address}{bracket}/{length}") is not None


def _java_integer(text: str) -> int | None:
    """Return a prefix length; None for what Java cannot read as one, however many digits it has."""
    found = _JAVA_INTEGER.match(text)
    if found is None:
        return None
    digits = "".join(str(int(digit)) for digit in found[2]).lstrip("0") or "0"
    # Nothing longer is a length, and Python refuses to read thousands of digits.
    return int(found[1] + digits) if len(digits) <= 3 else None


def _ipv4_range(text: str) -> tuple[int, int, int] | None:
    found = _IPV4_RANGE.match(text)
    if found is None:
        return None
    *octets, length = map(int, found.groups())
    if length > 32 or max(octets) > 255:
        return None
    return 32, int.from_bytes(octets), length


def _ipv4(text: str) -> int | None:
    parts = text.split(".")
    if len(parts) != 4 or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    octets = [int(part[-4:]) if not part[:-4].strip("0") else 256 for part in parts]
    return int.from_bytes(octets) if max(octets) <= 255 else None


def _ipv6(text: str) -> int | None:
    """Read an IPv6 literal as Java does: compressed or not, with a dotted tail or without."""
    head, gap, tail = text.partition("::")
    if not gap:
        groups = _groups(head)
        return _joined(groups) if groups is not None and len(groups) == 8 else None
    if "::" in tail or tail.startswith(":"):
        return None
    before = _groups(head, dotted_tail=False) if head else []
    after = _groups(tail) if tail else []
    if before is None or after is None or len(before) + len(after) > 7:
        return None
    return _joined(before + [0] * (8 - len(before) - len(after)) + after)


def _groups(text: str, *, dotted_tail: bool = True) -> list[int] | None:
    words = text.split(":")
    groups: list[int] = []
    if dotted_tail and "." in words[-1]:
        tail = _ipv4(words.pop())
        if tail is None:
            return None
        groups = [tail >> 16, tail & 0xFFFF]
    values: list[int] = []
    for word in words:
        digits = word.lstrip("0")
        if not word or len(digits) > 4 or not _HEX_DIGITS.issuperset(word):
            return None
        values.append(int(digits or "0", 16))
    return values + groups


def _joined(groups: list[int]) -> int:
    value = 0
    for group in groups:
        value = value << 16 | group
    return value


def _is_mapped(address: int) -> bool:
    return address >> 32 == 0xFFFF
