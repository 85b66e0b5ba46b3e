"""What could make a real broker fail to answer a request?"""

from __future__ import annotations

from collections.abc import Iterable

from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    split_principal,
)

BELOW_ASTERISK = "kraft-name-below-asterisk"
STAR_PRINCIPAL = "kraft-star-principal"
UNPARSABLE_PRINCIPAL = "unparsable-principal"


def hazards(
    request: AccessRequest, covering: Iterable[AclBinding], settings: AuthorizerSettings
) -> tuple[str, ...]:
    """Return the sorted ids of what could make a real broker fail to answer this request.

    covering: the bindings that cover the resource, or all of the type for a question by type.
    """
    if request.principal in settings.super_users:
        return ()
    found: set[str] = set()
    name = request.resource_name
    if name and name[0] < WILDCARD and settings.names_below_asterisk_are_a_hazard:
        found.add(BELOW_ASTERISK)
    if request.principal == ANY_USER and settings.star_session_is_a_hazard:
        found.add(STAR_PRINCIPAL)
    if settings.principals_without_colon_are_a_hazard and any(
        split_principal(binding.principal) is None for binding in covering
    ):
        found.add(UNPARSABLE_PRINCIPAL)
    return tuple(sorted(found))


def hazards_of(request: AccessRequest, index: AclIndex, settings: AuthorizerSettings) -> tuple[str, ...]:
    """Return `hazards` for a request without listing the bindings that cover its resource."""
    found = hazards(request, (), settings)
    if not settings.principals_without_colon_are_a_hazard:
        return found
    table = index.table(request.resource_type)
    if table is None:
        return found
    broken = table.without_colon
    if broken is None or request.principal in settings.super_users:
        return found
    if request.resource_name is None or broken.covers(request.resource_name, settings):
        return tuple(sorted({*found, UNPARSABLE_PRINCIPAL}))
    return found
