"""A cell of the matrix, the answer for any host, and the answer from each address are one fact.

Where a cell says otherwise than `decide_for_any_host`, it is a default that nobody has declared:
the cell is "unknown", the answer decides as assumed and its decision names what it hangs on.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from aclweb.acl.authorizer.answers import Result
from aclweb.acl.authorizer.any_host import HostPart, HostRegion, decide_for_any_host
from aclweb.acl.authorizer.decision import authorize, decide
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AccessRequest, AclBinding, AclError, ResourceType
from aclweb.inventory.access.cells import AccessRow, Cell
from aclweb.inventory.access.resource import resource_access
from aclweb.inventory.access.sentences import cell_sentence
from tests import reference
from tests.builders import allow, deny, topic
from tests.inventory.test_access import STATES, access, cell, view_of
from tests.random_cases import SCALE
from tests.random_hosts import addresses_apart, random_world_of_hosts

WORLDS = 200 * SCALE


def asked_by(row: AccessRow, one: Cell) -> AccessRequest:
    principal = row.principal if row.kind == "principal" else "User:nobody-names-me"
    return AccessRequest(principal, "*", one.operation, ResourceType.TOPIC, "t")


def is_told_as_other(one: Cell, address: str, settings: AuthorizerSettings) -> bool:
    """Whether the cell says that this address gets another answer than every other host."""

    def holds(hosts: tuple[str, ...]) -> bool:
        return any(reference._matches_host(host, address, settings) for host in hosts)

    return any(holds(place.hosts) and not holds(place.except_hosts) for place in one.places)


def check(row: AccessRow, one: Cell, bindings: tuple[AclBinding, ...], settings: AuthorizerSettings) -> str:
    index, request = AclIndex(bindings), asked_by(row, one)
    any_host = decide_for_any_host(request, index, settings)
    results = {
        address: decide(replace(request, host=address), index, settings)[0]
        for address in addresses_apart(bindings)
    }
    met = set(results.values())
    expected = "UNDECIDED" if Result.UNDECIDED in met else met.pop().name if len(met) == 1 else "DEPENDS"
    assert any_host.result.name == expected
    if one.state == "unknown" and one.undeclared_dependencies:
        assert any_host.parts[-1].basis.name in ("DEFAULT_ALLOW", "DEFAULT_DENY")
        assert set(one.undeclared_dependencies) <= {"allow_everyone"} & settings.undeclared
        decision = authorize(any_host.request_at(any_host.parts[-1]), index, settings)
        assert "allow_everyone" in decision.undeclared_dependencies
        return "hangs on a setting"
    assert one.state in STATES[any_host.result]
    if one.state == "some-hosts":
        for address, result in results.items():
            # 0.0.0.0 is looked at only where an ACL that may count names it.
            if address != "0.0.0.0" or address in one.hosts:
                as_elsewhere = (result is Result.ALLOWED) is (one.elsewhere in ("allowed", "default"))
                assert is_told_as_other(one, address, settings) is not as_elsewhere, address
        parts = [part for part in any_host.parts if not part.is_every_other]
        rest = any_host.parts[-1].result
        assert {spelled(part) for part in parts if part.result is not rest} == set(map(spelled, one.places))
    return one.state


def spelled(part: HostPart | HostRegion) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return part.hosts, part.except_hosts


def test_every_cell_is_the_answer_for_any_host_and_that_of_each_address():
    seen: Counter[str] = Counter()
    for seed in range(WORLDS):
        bindings, settings = random_world_of_hosts(random.Random(f"cells of hosts {seed}"))
        for row in resource_access(view_of(bindings, settings, topics=("t",)), topic("t")).rows:
            for one in row.cells if row.kind != "super-users" else ():
                try:
                    seen[check(row, one, bindings, settings)] += 1
                except AssertionError as error:
                    raise AssertionError(
                        f"seed {seed}: {row.principal} {one}, {settings}, {bindings}"
                    ) from error
    least = {"allowed", "refused", "none", "some-hosts", "default", "unknown", "hangs on a setting"}
    assert all(seen[state] > 20 for state in least), seen


def test_a_wider_allow_around_a_denied_range_is_not_said_to_be_denied():
    found = access(
        allow("User:bob", "READ", "orders"),
        allow("User:bob", "READ", "orders", host="10.0.0.0/8"),
        deny("User:bob", "READ", "orders", host="10.1.0.0/16"),
    )

    read = cell(found, "User:bob", "READ")
    assert (read.state, read.hosts, read.elsewhere) == ("some-hosts", ("10.1.0.0/16",), "allowed")
    assert "may Read topic orders, but not from 10.1.0.0/16." in cell_sentence(read)


def test_one_address_with_any_interface_is_more_than_the_address_alone():
    found = access(
        allow("User:bob", "READ", "orders", host="::1/128"),
        deny("User:bob", "READ", "orders", host="0:0:0:0:0:0:0:1"),
    )

    read = cell(found, "User:bob", "READ")
    assert [(place.hosts, place.except_hosts) for place in read.places] == [
        (("::1/128",), ("0:0:0:0:0:0:0:1",))
    ]


def test_each_exception_is_reported_beside_the_range_that_it_is_taken_from():
    found = access(
        allow("User:bob", "READ", "orders", host="10.0.0.0/8"),
        deny("User:bob", "READ", "orders", host="10.1.0.0/16"),
        allow("User:bob", "READ", "orders", host="192.168.1.1"),
    )

    read = cell(found, "User:bob", "READ")
    assert "only from 10.0.0.0/8 (except 10.1.0.0/16) and 192.168.1.1." in cell_sentence(read)
    assert "only from 10.0.0.0/8 (except 10.1.0.0/16) and 192.168.1.1" in found.sentences[0]


def test_what_ranges_of_everything_allow_is_settled_by_all_of_them():
    everywhere = [allow("User:bob", "WRITE", "orders", host=host) for host in ("0.0.0.0/0", "::/0")]

    assert set(cell(access(*everywhere), "User:bob", "WRITE").determining) == set(everywhere)


def test_a_matrix_under_the_glob_proposal_is_refused_and_not_wrong():
    with pytest.raises(AclError, match="glob"):
        access(allow("User:a*", "READ", "orders", host="10.*"), settings=AuthorizerSettings("glob"))
