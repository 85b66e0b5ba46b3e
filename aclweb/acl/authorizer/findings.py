"""Which of the ACLs that cover a resource are for a request, and what does not fit of the others?

Findings are made when they are looked at: a question about a whole resource type has one for each ACL of the type,
and of a large cluster hardly any of these is for whoever asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import overload

from aclweb.acl.authorizer.answers import for_operation
from aclweb.acl.authorizer.by_type import HARDCODE
from aclweb.acl.authorizer.shelf import ResourceShelf
from aclweb.acl.matching import covers_name, matching_of
from aclweb.acl.model import (
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    computed_once,
)

BY_PRINCIPAL = ("principal",)
"""`why_not` of what is for somebody else and fits otherwise: none for somebody else comes nearer."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One binding that covers the resource, and whether it is for this request.

    counted: principal, host and operation match (even where a DENY wins in the end).
    why_not: those of "principal", "host" and "operation" that do not.
    """

    binding: AclBinding
    counted: bool
    why_not: tuple[str, ...] = ()


class Findings(Sequence[Finding]):
    """A finding for each of these bindings, which cover the resource that the request is about, in their order."""

    def __init__(
        self, request: AccessRequest, bindings: Sequence[AclBinding], settings: AuthorizerSettings
    ) -> None:
        self._request, self._given, self._settings = request, bindings, settings
        # Thousands of ACLs have few principals and fewer hosts, each of which is compared once.
        self._principals: dict[str, bool] = {}
        self._hosts: dict[str, bool] = {}

    @property
    def bindings(self) -> Sequence[AclBinding]:
        """The bindings alone."""
        return self._given

    @computed_once
    def own(self) -> tuple[Finding, ...]:
        """Those that are for this session's principal, in order; all that count are among them."""
        return tuple(finding for finding in self if "principal" not in finding.why_not)

    @property
    def settling(self) -> Sequence[AclBinding]:
        """Bindings from which the answer follows as it does from all, in order.

        That stays so where ACLs are added to both, and where some that are for this session or cover `hardcode` are
        taken out of both.
        """
        return self.bindings

    def among(self, bindings: Sequence[AclBinding]) -> Findings:
        """Return the findings of these bindings alone."""
        return Findings(self._request, bindings, self._settings)

    def of_others(self, most: int, *, deny: bool) -> list[Finding]:
        """Return DENYs or all else for other principals, in order, at most so many of one permission and `why_not`.

        It ends as soon as so many differ in nothing but the principal: nothing for others comes nearer.
        """
        found: list[Finding] = []
        many: Counter[tuple[PermissionType, tuple[str, ...]]] = Counter()
        nearest = PermissionType.DENY if deny else PermissionType.ALLOW, BY_PRINCIPAL
        for binding in self._denies if deny else self.bindings:
            if (binding.permission_type is PermissionType.DENY) is not deny:
                continue
            why_not = self._why_not(binding)
            kind = binding.permission_type, why_not
            if why_not[:1] == BY_PRINCIPAL and many[kind] < most:
                many[kind] += 1
                found.append(Finding(binding, False, why_not))
                if kind == nearest and many[kind] == most:
                    break
        return found

    @property
    def _denies(self) -> Sequence[AclBinding]:
        """At least those of the bindings that are a DENY, in order."""
        return self.bindings

    def __len__(self) -> int:
        return len(self._given)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._every)

    @overload
    def __getitem__(self, place: int) -> Finding: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Finding, ...]: ...

    def __getitem__(self, place: int | slice) -> Finding | tuple[Finding, ...]:
        if isinstance(place, slice):
            return tuple(map(self._finding, self.bindings[place]))
        return self._finding(self.bindings[place])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Findings) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(len(self))  # equal ones may be of two requests

    def __repr__(self) -> str:
        return f"Findings({len(self)} bindings)"

    @computed_once
    def _every(self) -> tuple[Finding, ...]:
        return tuple(map(self._finding, self.bindings))

    def _finding(self, binding: AclBinding) -> Finding:
        why_not = self._why_not(binding)
        return Finding(binding, not why_not, why_not)

    def _why_not(self, binding: AclBinding) -> tuple[str, ...]:
        request, settings = self._request, self._settings
        is_for, comes_from = self._principals.get(binding.principal), self._hosts.get(binding.host)
        if is_for is None:
            is_for = matching_of(settings).is_for(binding.principal, request.principal)
            self._principals[binding.principal] = is_for
        if comes_from is None:
            comes_from = matching_of(settings).comes_from(binding.host, request.host)
            self._hosts[binding.host] = comes_from
        why_not: list[str] = []
        if not is_for:
            why_not.append("principal")
        if not comes_from:
            why_not.append("host")
        if not fits_operation(binding, request, settings):
            why_not.append("operation")
        return tuple(why_not)


class TypeFindings(Findings):
    """A finding for each ACL of a resource type whose pattern is known, in scan order."""

    def __init__(self, request: AccessRequest, shelf: ResourceShelf, settings: AuthorizerSettings) -> None:
        super().__init__(request, (), settings)
        self._shelf = shelf

    @property
    def bindings(self) -> Sequence[AclBinding]:
        return self._shelf.with_known_pattern

    @property
    def _denies(self) -> Sequence[AclBinding]:
        return self._shelf.denies

    @computed_once
    def own(self) -> tuple[Finding, ...]:
        shelf, matching, principal = self._shelf, matching_of(self._settings), self._request.principal
        mine = dict.fromkeys(matching.principals_for(principal, lambda: shelf.by_principal))
        groups = (shelf.by_principal.get(own, ()) for own in mine if matching.is_for(own, principal))
        known = [each for each in chain.from_iterable(groups) if _has_known_pattern(each)]
        return tuple(map(self._finding, shelf.in_order(known)))

    @computed_once
    def settling(self) -> Sequence[AclBinding]:
        # Of what is for others it matters only whether there is any.
        some = [*(finding.binding for finding in self.own), *self._shelf.covering(HARDCODE, self._settings)]
        chosen = set(some)
        others = (each for each in self._shelf.unsorted if each not in chosen and _has_known_pattern(each))
        return self._shelf.in_order(chain(chosen, islice(others, 1)))

    def __len__(self) -> int:
        return self._shelf.count - len(self._shelf.unknown_patterns)


def _has_known_pattern(binding: AclBinding) -> bool:
    return binding.pattern_type is not PatternType.UNKNOWN


def fits_operation(binding: AclBinding, request: AccessRequest, settings: AuthorizerSettings) -> bool:
    """Whether the binding counts for the operation of this request."""
    if binding.operation in (request.operation, Operation.ALL):
        return True
    if not for_operation(binding, request.operation):
        return False
    # Of a whole type one operation brings another with it on the made-up name only.
    return request.resource_name is not None or (
        settings.by_type_tries_hardcode and covers_name(binding, HARDCODE, settings)
    )
