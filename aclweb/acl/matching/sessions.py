"""Which sessions do the globs among principals and hosts match, under the GLOB proposal?

The type and the name of an ACL's principal are compared apart, and a part that holds `?` or `*` is
a glob; so is a host that holds one of them. `strategy` says who reads ACLs so.
"""

from __future__ import annotations

from functools import lru_cache

from aclweb.acl.matching.glob import Shape, is_glob, shape_of_glob
from aclweb.acl.matching.hosts import admits
from aclweb.acl.model import ANY_USER, WILDCARD, split_principal


def is_principal_glob(principal: str) -> bool:
    """Whether the proposal reads this principal of an ACL as a glob."""
    return principal != ANY_USER and is_glob(principal)


def is_host_glob(host: str) -> bool:
    """Whether the proposal reads this host of an ACL as a glob; `*` is every address anyway."""
    return host != WILDCARD and is_glob(host)


def glob_is_for(acl_principal: str, principal: str) -> bool:
    """Whether the parts of an ACL's principal, read as globs, match those of a session's."""
    asked = split_principal(principal)
    if asked is None or not is_glob(acl_principal):
        return False
    own = part_shapes(acl_principal)
    return own is not None and own[0].matches(asked[0]) and own[1].matches(asked[1])


def glob_admits(acl_host: str, host: str) -> bool:
    """Whether an ACL's host, read as an address range or a glob too, admits this address."""
    return admits(acl_host, host, ranges=True) or (is_glob(acl_host) and host_shape(acl_host).matches(host))


@lru_cache(maxsize=16_384)
def host_shape(host: str) -> Shape:
    """Return the shape of a host that is a glob."""
    return shape_of_glob(host)


@lru_cache(maxsize=16_384)
def part_shapes(principal: str) -> tuple[Shape, Shape] | None:
    """Return the shapes of the type and the name of an ACL's principal, None without a colon."""
    parts = split_principal(principal)
    return None if parts is None else (_part_shape(parts[0]), _part_shape(parts[1]))


def _part_shape(part: str) -> Shape:
    # Of a part, unlike of a resource name, the empty text is the empty text.
    return shape_of_glob(part) if part else Shape(((),))
