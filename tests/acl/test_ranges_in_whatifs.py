"""An address is in the row of the narrowest range around it, or outside all: held against deciding twice."""

from __future__ import annotations

import random
from ipaddress import ip_network

import pytest

from aclweb.acl.authorizer import AclIndex, authorize
from aclweb.acl.matching import in_range
from aclweb.acl.matching.addresses import as_java_prints
from aclweb.acl.model import AccessRequest, AclBinding, AuthorizerSettings, Delta, Operation, ResourceType
from aclweb.acl.simulate import Impact, Names, packed, simulate, trimmed, unpacked
from tests.builders import acl
from tests.each import each
from tests.random_cases import SCALE

OLD, NEW = AuthorizerSettings(kafka_version="4.3"), AuthorizerSettings(kafka_version="4.4")
OPEN = AuthorizerSettings(kafka_version="4.4", allow_everyone=True)
RANGES = (
    "0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/9", "10.128.0.0/9", "10.9.9.9/8", "10.0.0.8/30", "10.0.0.9/32",
    "10.0.0.10/31", "255.255.255.248/29", "::/0", "2001:db8::/32", "2001:db8::8/127", "ffff::/16",
)  # fmt: skip
ADDRESSES = ("10.0.0.9", "10.0.0.11", "192.168.0.1", "0.0.0.0", "2001:db8:0:0:0:0:0:9")
PRINCIPALS, OPERATIONS = ("User:a", "User:b"), (Operation.READ, Operation.DESCRIBE)


def edges_of(text: str) -> list[str]:
    """Return the addresses on both sides of both edges of a range."""
    network = ip_network(text, strict=False)
    first, last = int(network.network_address), int(network.broadcast_address)
    numbers = (first - 1, first, first + 1, last - 1, last, last + 1)
    most = 2**network.max_prefixlen
    return [as_java_prints(str(type(network[0])(number))) for number in numbers if 0 <= number < most]


def length_of(text: str) -> int:
    return ip_network(text, strict=False).prefixlen


ASKED = tuple(dict.fromkeys((*ADDRESSES, *(edge for text in RANGES for edge in edges_of(text)))))


def one(rng: random.Random) -> AclBinding:
    host = rng.choice((*RANGES, *RANGES, *ADDRESSES, "*"))
    permission = rng.choice(("ALLOW", "ALLOW", "DENY"))
    principal, operation = rng.choice((*PRINCIPALS, "User:*")), rng.choice(("READ", "ALL", "DESCRIBE"))
    return acl(permission, principal, operation, "orders", host=host)


def told(impact: Impact, principal: str, address: str, operation: Operation) -> list[str]:
    """Return the lists with a row for this address: for itself, the narrowest range around it, or all others."""
    hosts = impact.axes.hosts
    around = [text for text in hosts.texts if in_range(text, address)]
    narrowest = max(around, key=length_of, default=None)
    own = address if address in hosts.places else narrowest
    host = hosts.others if own is None else hosts.one(own)
    caller = impact.axes.principals.one(principal)
    return [
        group.change
        for group in impact.groups
        if group.hosts & host and group.principals & caller and operation in group.operations
    ]


def decided(
    bindings: list[AclBinding], settings: AuthorizerSettings, request: AccessRequest
) -> tuple[bool, frozenset[AclBinding]]:
    decision = authorize(request, AclIndex(bindings), settings)
    return decision.allowed, frozenset(decision.determining)


@pytest.mark.parametrize("worlds", [(NEW, NEW), (OPEN, OPEN), (OLD, NEW), (NEW, OLD)])
@each("seed", range(15 * SCALE))
def test_a_what_if_says_of_every_address_what_deciding_twice_says(
    seed: int, worlds: tuple[AuthorizerSettings, AuthorizerSettings]
) -> None:
    rng = random.Random(f"ranges {seed}")
    stored = list(dict.fromkeys(one(rng) for _ in range(rng.randint(1, 6))))
    add = tuple(acl for acl in dict.fromkeys(one(rng) for _ in range(rng.randint(0, 3))) if acl not in stored)
    delta = Delta(add=add, remove=tuple(rng.sample(stored, rng.randint(0, len(stored)))))
    later = list(delta.applied_to(stored))
    names = Names(topics=("orders",), principals=PRINCIPALS)
    whole, brief = (
        simulate(delta, AclIndex(stored), names, *worlds, merge_equal_hosts=is_brief, met_only=is_brief)
        for is_brief in (False, True)
    )
    kept = unpacked(packed(brief))

    assert not whole.counts["depends"] + brief.counts["depends"]
    assert trimmed(brief).counts == brief.counts == kept.counts
    for principal in PRINCIPALS:
        for address in ASKED:
            for operation in OPERATIONS:
                request = AccessRequest(principal, address, operation, ResourceType.TOPIC, "orders")
                (before, old), (after, new) = (
                    decided(acls, settings, request)
                    for acls, settings in zip((stored, later), worlds, strict=True)
                )
                expected = [] if before is after else ["gains" if after else "loses"]
                if before and after and old.isdisjoint(new) and (old or new):
                    expected = ["recovered"]
                for impact in (whole, brief):
                    assert told(impact, principal, address, operation) == expected, (seed, request)
