"""Which sessions does an ACL match, by its principal and its host?

A principal is compared as text, and `User:*` is for everybody, whatever their type. Under the
GLOB proposal the type and the name of an ACL's principal are compared apart, and a part that
holds `?` or `*` is a glob; so is a host that holds one of them.
"""

from __future__ import annotations

from functools import lru_cache

from aclweb.acl.matching.glob import Shape, is_glob, shape_of_glob
from aclweb.acl.matching.hosts import admits
from aclweb.acl.model import ANY_USER, WILDCARD, AuthorizerSettings, split_principal


def is_for(acl_principal: str, principal: str, settings: AuthorizerSettings) -> bool:
    """Whether an ACL with `acl_principal` is for this session; one without a colon is for nobody."""
    if acl_principal == ANY_USER:
        return True
    if acl_principal == principal:
        return split_principal(principal) is not None
    return settings.has_globs and glob_is_for(acl_principal, principal)


def comes_from(acl_host: str, host: str, settings: AuthorizerSettings) -> bool:
    """Whether an ACL with `acl_host` admits a session from this address."""
    if admits(acl_host, host, ranges=settings.cidr_hosts):
        return True
    return settings.has_globs and is_glob(acl_host) and host_shape(acl_host).matches(host)


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
