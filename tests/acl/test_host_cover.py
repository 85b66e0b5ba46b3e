"""One host admits all that another admits: held against the addresses that each of them admits."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

from aclweb.acl.matching.host_ranges import STEPS, admits_all, compared, reaches_somebody
from aclweb.acl.model.authorizers import AuthorizerSettings
from tests import reference

HOSTS = (
    "*",
    "**",
    "?*",
    "10.*",
    "10.0.*",
    "1*",
    "10.0.0.?",
    "10.0.0.??",
    "10.0.0.1?",
    "?.0.0.*",
    "*.7",
    "0.*",
    "10.0.0.0/8",
    "10.0.0.0/24",
    "10.0.0.8/29",
    "10.0.0.8/31",
    "10.0.0.7/32",
    "10.0.0.7",
    "0.0.0.0",
    "0.0.0.0/0",
    "0.0.0.0/8",
    "128.0.0.0/1",
    "::1",
    "::1/128",
    "0:0:0:0:0:0:0:1",
    "::/112",
    "::100/120",
    "fe80::/10",
    "fe80*",
    "fe80:0:0:0:0:0:0:1%eth0",
    "*%eth0",
    "2001:db8::/32",
    "2001:db8:*",
    "*:*",
)
ADDRESSES = (
    [f"{first}.0.0.{last}" for first in (0, 1, 9, 10, 100, 192) for last in range(256)]
    + ["10.0.1.1", "10.9.9.9", "192.0.2.7", "10.0.10.100", "1.2.3.4", "0.1.0.0", "0.0.1.0", "200.1.1.1"]
    + [f"0:0:0:0:0:0:0:{last:x}" for last in (1, 2, 0x10, 0xFF, 0x100, 0x1AB, 0x1FF, 0x200, 0xFFFF)]
    + [
        f"{first}:0:0:0:0:0:0:1{scope}"
        for first in ("fe80", "febf", "fe8", "0")
        for scope in ("", "%eth0", "%.7")
    ]
    + [
        "1:0:0:0:0:0:0:9",
        "2001:db8:0:0:0:0:0:9",
        "2001:db80:0:0:0:0:0:9",
        "2001:db9:0:0:0:0:0:9",
        "0:0:0:0:0:0:1:1",
    ]
)


@cache
def admitted(host: str) -> frozenset[str]:
    return frozenset(
        address for address in ADDRESSES if reference._matches_host(host, address, AuthorizerSettings("glob"))
    )


@pytest.mark.parametrize("wide", HOSTS)
def test_a_host_admits_all_of_another_exactly_where_no_address_tells_otherwise(wide: str) -> None:
    for narrow in HOSTS:
        if admitted(narrow):
            assert admits_all(wide, narrow) is (admitted(narrow) <= admitted(wide)), narrow


@pytest.mark.parametrize("glob", ["broker-?", "g*", "?.?.?", "1.2.3.4.*", "1234.*", "300.*", "::*"])
def test_a_glob_that_matches_no_address_reaches_nobody_and_is_in_no_range(glob: str) -> None:
    assert not reaches_somebody(glob)
    assert not admits_all("0.0.0.0/0", glob)
    assert admits_all(f"{glob}*", glob)


@pytest.mark.parametrize("glob", ["10.*", "?.?.?.?", "*ff*", "fe80:*%eth?", "*%an interface", "??.*.*.1"])
def test_a_glob_that_matches_some_address_reaches_somebody(glob: str) -> None:
    assert reaches_somebody(glob)


def test_comparing_intricate_hosts_ends_and_what_is_given_up_counts_as_not_within() -> None:
    intricate = ["*" + "?" * 60, "*?" * 400, "*0*1*2*3*4*5*6*7*8*9*", "*1?1?1*2?2*" * 20, "*" + "1?" * 2_000]
    for wide, narrow in product(intricate, intricate):
        is_within, places = compared(wide, narrow)
        assert places <= 2 * STEPS
        assert is_within or wide != narrow
