"""Which ACLs settle each of many requests whose answers are known?

As `Decision.determining` and `one_of` have it, without a finding for every ACL that covers the name: only those of
the session's principal and those for everyone are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable

from aclweb.acl.authorizer import AclIndex, Basis, ResourceShelf, Vote, authorize, vote_on
from aclweb.acl.logged.needed import one_of
from aclweb.acl.model import ANY_USER, AccessRequest, AclBinding, AuthorizerSettings, ResourceType

Acls = tuple[AclBinding, ...]

_SETTLED_BY_ACLS = (Basis.ALLOW_ACL, Basis.DENY_ACL)


class Settling:
    """Looks up what settles requests about single resources, under one set of ACLs and settings."""

    def __init__(self, index: AclIndex, settings: AuthorizerSettings) -> None:
        self._index, self._settings = index, settings
        # Unknown values may count or not, and globs name several principals: these the findings tell.
        self._unusual = {binding.resource_type for binding in index.with_unknown}
        self._own: dict[tuple[ResourceType, str], ResourceShelf] = {}

    def of(self, request: AccessRequest, basis: Basis) -> tuple[Acls, Acls]:
        """Return the ACLs that settle a request, and those of which one must stay for the answer to stay.

        basis: what `decide` says of it. The first are empty unless that is ALLOW_ACL or DENY_ACL. Both in no order.
        """
        settings = self._settings
        if request.resource_type in self._unusual or settings.has_globs:
            decision = authorize(request, self._index, settings)
            return decision.determining if basis in _SETTLED_BY_ACLS else (), one_of(decision)
        if basis is Basis.NO_ALLOW_ACL:
            return (), self._covering(request) if settings.allow_everyone else ()
        if basis not in _SETTLED_BY_ACLS:
            return (), ()
        found = self._matching(request)
        allows = tuple(binding for binding, vote in found if vote is Vote.ALLOW)
        if basis is Basis.ALLOW_ACL:
            return allows, allows if self._is_denied_without(request, allows) else ()
        denies = tuple(binding for binding, vote in found if vote is Vote.DENY)
        return denies, denies if allows or not self._is_denied_without(request, denies) else ()

    def _is_denied_without(self, request: AccessRequest, gone: Acls) -> bool:
        """Whether a request that no ACL is left to allow is denied: the default counts where none covers the name."""
        return not self._settings.allow_everyone or len(self._covering(request)) > len(gone)

    def _covering(self, request: AccessRequest) -> Acls:
        shelf = self._index.shelf(request.resource_type)
        return () if shelf is None else tuple(shelf.covering(_name_of(request), self._settings))

    def _matching(self, request: AccessRequest) -> list[tuple[AclBinding, Vote]]:
        """Return the ACLs that are for this request, each with what it does to it."""
        name = _name_of(request)
        found: list[tuple[AclBinding, Vote]] = []
        for principal in {request.principal, ANY_USER}:
            shelf = self._shelf(request.resource_type, principal)
            covering: Iterable[AclBinding] = () if shelf is None else shelf.covering(name, self._settings)
            found += (
                (binding, vote)
                for binding in covering
                if (vote := vote_on(request, binding, self._settings)) is not Vote.NONE
            )
        return found

    def _shelf(self, resource_type: ResourceType, principal: str) -> ResourceShelf | None:
        """Return the ACLs of one principal, filed by name, made the first time that they are asked for."""
        shelf = self._index.shelf(resource_type)
        bindings = shelf.by_principal.get(principal) if shelf is not None else None
        if not bindings:
            return None
        key = (resource_type, principal)
        if key not in self._own:
            self._own[key] = ResourceShelf(bindings)
        return self._own[key]


def _name_of(request: AccessRequest) -> str:
    if request.resource_name is None:
        raise ValueError("What settles a question about a whole type, `authorize` tells.")
    return request.resource_name
