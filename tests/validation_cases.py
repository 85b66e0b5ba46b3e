"""ACLs and filters, good and bad, with what real brokers of 4.4.0 and 3.9.2 answer to each of them alone.

No good name starts with a character that sorts before the asterisk.
"""

from __future__ import annotations

import random
from dataclasses import replace

from aclweb.acl.kafka.refusals import Item

GOOD = Item(2, "orders", 3, "User:bob", "*", 3, 3)
EVERYTHING = Item(1, None, 1, None, None, 1, 1)
CLOSED = "closed"
MINUS_ONE = (-1, None)
FAILED = (42, "Failed to create ACL")
EMPTY_NAME = (42, "Invalid empty resource name")
CLUSTER = (42, "The only valid name for the CLUSTER resource is kafka-cluster")
NO_HOST = (42, "Host pattern cannot be null or empty")

Expected = tuple[int, str | None] | str | None
Case = tuple[dict[str, object], Expected, Expected]


def _colon(principal: str) -> tuple[int, str]:
    return (
        42,
        f"Could not parse principal from `{principal}` "
        "(no colon is present separating the principal type from the principal name)",
    )


def _range(host: str, why: str = "") -> Case:
    return {"host": host}, (42, f"Invalid CIDR notation '{host}': {why or f'Could not parse [{host}]'}"), None


def _prefix(host: str, why: str) -> Case:
    return _range(host, f"Could not parse [{host}] - {why}")


def _address(host: str, why: str = "") -> Case:
    return _range(host, f"Could not parse [{host.partition('/')[0]}]{why}")


_NO_LENGTH, _BAD_LENGTH = "invalid prefix length", "prefix length must be between 0 and 128"
_MAPPED = " - not an IPv6 address"

CREATIONS: tuple[Case, ...] = (
    ({}, None, None),
    ({"resource_type": 3}, None, None),
    ({"resource_type": 4, "resource_name": "kafka-cluster"}, None, None),
    ({"resource_type": 4, "resource_name": "kafka-cluster", "pattern_type": 4}, None, None),
    ({"resource_type": 5}, None, None),
    ({"resource_type": 6}, None, None),
    ({"resource_type": 7, "resource_name": "User:bob", "operation": 13}, None, None),
    ({"resource_type": 7, "resource_name": "bob", "operation": 14}, None, None),
    ({"resource_type": 0}, CLOSED, CLOSED),
    ({"resource_type": 1}, MINUS_ONE, MINUS_ONE),
    ({"resource_type": 8}, (42, "Invalid resourceType UNKNOWN"), FAILED),
    ({"resource_type": -3}, (42, "Invalid resourceType UNKNOWN"), FAILED),
    ({"pattern_type": 4}, None, None),
    ({"pattern_type": 0}, CLOSED, CLOSED),
    ({"pattern_type": 1}, MINUS_ONE, MINUS_ONE),
    ({"pattern_type": 2}, MINUS_ONE, MINUS_ONE),
    ({"pattern_type": 5}, (42, "Invalid patternType UNKNOWN"), FAILED),
    ({"operation": 2}, None, None),
    ({"operation": 12}, None, None),
    ({"operation": 15}, None, FAILED),
    ({"operation": 0}, CLOSED, CLOSED),
    ({"operation": 1}, MINUS_ONE, MINUS_ONE),
    ({"operation": 16}, (42, "Invalid operation UNKNOWN"), FAILED),
    ({"permission_type": 2}, None, None),
    ({"permission_type": 0}, CLOSED, CLOSED),
    ({"permission_type": 1}, MINUS_ONE, MINUS_ONE),
    ({"permission_type": 4}, (42, "Invalid permissionType UNKNOWN"), FAILED),
    ({"resource_name": None}, CLOSED, CLOSED),
    ({"principal": None}, CLOSED, CLOSED),
    ({"host": None}, CLOSED, CLOSED),
    ({"resource_name": "x" * 32_767}, None, None),
    ({"resource_name": "x" * 32_768}, CLOSED, CLOSED),
    ({"principal": "User:" + "é" * 16_382}, CLOSED, CLOSED),
    ({"host": "h" * 40_000}, CLOSED, CLOSED),
    ({"resource_type": 4}, CLUSTER, CLUSTER),
    ({"resource_type": 4, "resource_name": "*"}, CLUSTER, CLUSTER),
    ({"resource_type": 4, "resource_name": "kafka", "pattern_type": 4}, CLUSTER, CLUSTER),
    ({"resource_type": 4, "resource_name": ""}, CLUSTER, CLUSTER),
    ({"resource_type": 4, "operation": 99}, CLUSTER, CLUSTER),
    ({"resource_type": 4, "operation": 1}, MINUS_ONE, MINUS_ONE),
    ({"resource_name": ""}, EMPTY_NAME, EMPTY_NAME),
    ({"resource_name": "", "pattern_type": 4}, EMPTY_NAME, EMPTY_NAME),
    ({"resource_name": "", "resource_type": 99}, EMPTY_NAME, EMPTY_NAME),
    ({"resource_name": "*"}, None, None),
    ({"resource_name": "*", "pattern_type": 4}, None, None),
    ({"resource_name": "two words "}, None, None),
    ({"resource_name": "a" * 300}, None, None),
    ({"resource_name": "a/b"}, None, FAILED),
    ({"resource_name": "/"}, None, FAILED),
    ({"resource_name": "."}, None, MINUS_ONE),
    ({"resource_name": ".."}, None, MINUS_ONE),
    ({"resource_name": "..."}, None, None),
    ({"resource_name": "a\0b"}, None, MINUS_ONE),
    ({"resource_name": "a\nb"}, None, MINUS_ONE),
    ({"resource_name": "a\x1f"}, None, MINUS_ONE),
    ({"resource_name": "a\x7f"}, None, MINUS_ONE),
    ({"resource_name": "a\x9f"}, None, MINUS_ONE),
    ({"resource_name": "a\xa0"}, None, None),
    ({"resource_name": "ü☃"}, None, None),
    ({"resource_name": "a\ud7ff"}, None, None),
    ({"resource_name": "a\ue000"}, None, MINUS_ONE),
    ({"resource_name": "a\uf8ff"}, None, MINUS_ONE),
    ({"resource_name": "a\uf900"}, None, None),
    ({"resource_name": "a\uffef"}, None, None),
    ({"resource_name": "a\ufff0"}, None, MINUS_ONE),
    ({"resource_name": "a\uffff"}, None, MINUS_ONE),
    ({"resource_name": "a😀"}, None, MINUS_ONE),
    ({"principal": "bob"}, _colon("bob"), MINUS_ONE),
    ({"principal": ""}, _colon(""), MINUS_ONE),
    ({"principal": ":"}, None, None),
    ({"principal": "User:"}, None, None),
    ({"principal": "Robot:a:b"}, None, None),
    ({"principal": "User:*"}, None, None),
    ({"principal": "bob", "operation": 99}, (42, "Invalid operation UNKNOWN"), FAILED),
    ({"principal": "bob", "host": ""}, _colon("bob"), MINUS_ONE),
    ({"principal": "bob", "resource_name": "a/b"}, _colon("bob"), FAILED),
    ({"host": ""}, NO_HOST, None),
    ({"host": "not a host!"}, None, None),
    ({"host": "example.com"}, None, None),
    ({"host": "10.0.0.0-10.0.0.5"}, None, None),
    ({"host": "10.0.0.7"}, None, None),
    ({"host": "10.0.0.7/24"}, None, None),
    ({"host": "0.0.0.0/0"}, None, None),
    ({"host": "010.0.0.0/08"}, None, None),
    ({"host": "2001:db8::/32"}, None, None),
    ({"host": "[2001:db8::]/32"}, None, None),
    ({"host": "::10.0.0.0/+120"}, None, None),
    ({"host": "fe80::1%1/64"}, None, None),
    _range("/"),
    _range("*/8"),
    _range("name/24"),
    _range("10.0.0.0/"),
    _range("10.0.0.0/024"),
    _range("10.0.0.0/+24"),
    _range("10.0.0/24"),
    _range("10.0.0.0/24 "),
    _range("10.0.0.0/24/8"),
    _range("10.0.0.0/255.0.0.0"),
    _range("10.0.0.0/33", "Value [33] not in range [0,32]"),
    _range("256.0.0.0/33", "Value [256] not in range [0,255]"),
    _range("1.999.0.0/8", "Value [999] not in range [0,255]"),
    _address("2001:db8/32"),
    _address("1:2:3:4:5:6:7:8:9/32"),
    _address("fe80::1%/64"),
    _address("[::1/64"),
    _address("::ffff:10.0.0.0%1/120"),
    _address("::ffff:10.0.0.0/120", _MAPPED),
    _address("[::ffff:a00:0]/120", _MAPPED),
    _prefix("::1/", _NO_LENGTH),
    _prefix("::1/x", _NO_LENGTH),
    _prefix("::1/64/8", _NO_LENGTH),
    _prefix("::1/2147483648", _NO_LENGTH),
    _prefix("/:", _NO_LENGTH),
    _prefix("::1/129", _BAD_LENGTH),
    _prefix("::1/-1", _BAD_LENGTH),
    _prefix("::1/2147483647", _BAD_LENGTH),
    _prefix("nonsense:/129", _BAD_LENGTH),
    ({"host": "10.0.0.0/33", "principal": "bob"}, _colon("bob"), MINUS_ONE),
)

FILTERS: tuple[Case, ...] = (
    ({}, None, None),
    ({"resource_type": 0}, CLOSED, CLOSED),
    ({"resource_type": 99}, (42, "Unknown patternFilter."), None),
    ({"resource_type": 7}, None, None),
    ({"pattern_type": 0}, CLOSED, CLOSED),
    ({"pattern_type": 2}, None, None),
    ({"pattern_type": 5}, (42, "Unknown patternFilter."), None),
    ({"pattern_type": 99, "operation": 99}, (42, "Unknown patternFilter."), None),
    ({"operation": 0}, CLOSED, CLOSED),
    ({"operation": 15}, None, None),
    ({"operation": 99}, (42, "Unknown entryFilter."), None),
    ({"permission_type": 0}, CLOSED, CLOSED),
    ({"permission_type": 99}, (42, "Unknown entryFilter."), None),
    ({"resource_name": ""}, None, None),
    ({"resource_name": "..", "resource_type": 2, "pattern_type": 3}, None, None),
    ({"resource_name": "a/b", "resource_type": 2, "pattern_type": 4}, None, None),
    ({"resource_name": "x" * 32_768}, CLOSED, CLOSED),
    ({"resource_type": 4, "resource_name": "other"}, None, None),
    ({"principal": "bob"}, None, None),
    ({"host": "", "principal": ""}, None, None),
    ({"host": "10.0.0.0/99"}, None, None),
)


def creation(case: Case) -> Item:
    return replace(GOOD, **case[0])  # type: ignore[arg-type]


def deletion(case: Case) -> Item:
    return replace(EVERYTHING, **case[0])  # type: ignore[arg-type]


def random_creation(rng: random.Random) -> Item:
    """A good ACL with the faults of up to three cases in it, mostly none."""
    item = replace(GOOD, resource_name=rng.choice(("orders", "pay", "pay.eu", "ü")))
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        fields, on44, _on39 = rng.choice(CREATIONS)
        # What spoils a whole request is rare, or nothing else would be seen.
        if on44 not in (CLOSED, MINUS_ONE) or rng.random() < 0.05:
            item = replace(item, **fields)  # type: ignore[arg-type]
    return item
