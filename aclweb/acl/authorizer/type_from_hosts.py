"""What does a question about a whole type come to from one address after the other, and which ACLs settle it?

The answers are those of `authorize`. What holds from every address is looked at once, and for an address only what
the ACLs of its own hosts add: on a large cluster hundreds of ACLs are for a principal, and a hundred hosts divide the
addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from aclweb.acl.authorizer.answers import BY_SUPER_USER, Answer, Basis, settle_known
from aclweb.acl.authorizer.by_type import HARDCODE, own_by_type, settle_by_type
from aclweb.acl.authorizer.decision import allows_at_hardcode, decide
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.matching import DeniedTexts, covers_name, matching_of
from aclweb.acl.model import (
    WILDCARD,
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    computed_once,
)

_Placed = tuple[int, AclBinding]
"""An ACL behind its place in scan order."""


class TypeFromHosts:
    """A session's question about a whole type, whose host is given later.

    mine: the ACLs of the type that match the question, or may, if their host is right; in scan order.
    """

    def __init__(
        self,
        request: AccessRequest,
        index: AclIndex,
        settings: AuthorizerSettings,
        mine: Sequence[AclBinding],
    ) -> None:
        self._request, self._index, self._settings, self._mine = request, index, settings, mine
        self._matching = matching_of(settings)
        # One operation brings another with it on the made-up name only, as in `own_by_type`.
        own = [
            placed for placed in enumerate(mine) if placed[1].operation in (request.operation, Operation.ALL)
        ]
        self._everywhere = [placed for placed in own if placed[1].host == WILDCARD]
        self._somewhere = [placed for placed in own if placed[1].host != WILDCARD]

    def answer(self, host: str) -> Answer:
        """Return the answer to a client at this address."""
        settings, request = self._settings, replace(self._request, host=host)
        if request.principal in settings.super_users:
            return BY_SUPER_USER
        if self._index.shelf(request.resource_type) is None:
            return settle_known(denied=False, allowed=False, covered=False, settings=settings)
        hardcode = decide(replace(request, resource_name=HARDCODE), self._index, settings)
        entries = [binding for _, binding in (*self._standing_for_all, *self._at(host))]
        return settle_by_type(entries, hardcode, settings)

    def determining(self, host: str, basis: Basis) -> tuple[AclBinding, ...]:
        """Return the ACLs that settle it at this address, as `Decision.determining` with this basis."""
        request = replace(self._request, host=host)
        if basis is Basis.DENY_ACL:
            shelf = self._index.shelf(request.resource_type)
            unknown = own_by_type(
                request, shelf.unknown_patterns if shelf is not None else (), self._settings
            )
            known = sorted(
                [*filter(_is_known_deny, self._everywhere), *filter(_is_known_deny, self._at(host))]
            )
            return (*_bindings(known), *(binding for binding in unknown if binding.is_deny))
        if basis is Basis.ALLOW_ACL:
            at_hardcode = allows_at_hardcode(request, self._covering_hardcode, self._settings)
            return at_hardcode or self._undominated(host)
        return ()

    def _at(self, host: str) -> list[_Placed]:
        """Return the ACLs that admit this address and not every one."""
        return [placed for placed in self._somewhere if self._matching.comes_from(placed[1].host, host)]

    def _undominated(self, host: str) -> tuple[AclBinding, ...]:
        """Return the ALLOWs that no DENY takes away at this address."""
        here = [placed for placed in self._at(host) if _is_known(placed)]
        if self._denied_everywhere is None:
            everywhere = filter(_is_known, self._everywhere)
            return self._matching.undominated(_bindings(sorted([*everywhere, *here])))
        left = [*self._left_everywhere, *self._left_of(here)]
        denies = [binding for _, binding in here if binding.is_deny]
        if denies and (denied := self._matching.denied_texts(denies)):
            left = [placed for placed in left if not denied.cover(placed[1])]
        return _bindings(sorted(left))

    def _left_of(self, placed: Iterable[_Placed]) -> list[_Placed]:
        """Return the ALLOWs among these that no DENY for every host takes away."""
        denied = self._denied_everywhere
        return [each for each in placed if _is_allow(each) and not (denied and denied.cover(each[1]))]

    @computed_once
    def _denied_everywhere(self) -> DeniedTexts | None:
        return self._matching.denied_texts(_bindings(filter(_is_known_deny, self._everywhere)))

    @computed_once
    def _left_everywhere(self) -> list[_Placed]:
        return self._left_of(filter(_is_known, self._everywhere))

    @computed_once
    def _standing_for_all(self) -> list[_Placed]:
        """Those of the ACLs for every host that are enough for an answer.

        One ALLOW that nothing takes away, from whatever host, is as good as all of them.
        """
        if self._denied_everywhere is None:
            return self._everywhere
        others = [placed for placed in self._everywhere if not (_is_known(placed) and _is_allow(placed))]
        no_allows = [binding for _, binding in (*others, *self._somewhere) if not _is_allow((0, binding))]
        denied = self._matching.denied_texts(no_allows)
        left = self._left_everywhere
        safe = next((placed for placed in left if denied and not denied.cover(placed[1])), None)
        return [*(left if safe is None else [safe]), *others]

    @computed_once
    def _covering_hardcode(self) -> tuple[AclBinding, ...]:
        """The ACLs that cover the made-up name, also with an operation that brings the one asked for with it."""
        return tuple(
            binding
            for binding in self._mine
            if binding.pattern_type is not PatternType.UNKNOWN
            and covers_name(binding, HARDCODE, self._settings)
        )


def _is_known(placed: _Placed) -> bool:
    return placed[1].pattern_type is not PatternType.UNKNOWN


def _is_allow(placed: _Placed) -> bool:
    return placed[1].permission_type is PermissionType.ALLOW


def _is_known_deny(placed: _Placed) -> bool:
    return placed[1].is_deny and _is_known(placed)


def _bindings(placed: Iterable[_Placed]) -> tuple[AclBinding, ...]:
    return tuple(binding for _, binding in placed)
