"""Lint rule deny-leaves-describe: a denial that leaves Describe open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from aclweb.acl.authorizer import AclIndex, Basis, Vote, decide, decide_for_any_host, vote_of
from aclweb.acl.lint.beside import Others
from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import INFO, Broken, Example, LintRule, deny
from aclweb.acl.lint.subject import Subject
from aclweb.acl.matching import matching_of
from aclweb.acl.model import (
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    computed_once,
)

_DENIED: Mapping[ResourceType, tuple[Operation, ...]] = {
    ResourceType.TOPIC: (Operation.READ, Operation.WRITE),
    ResourceType.GROUP: (Operation.READ,),
    ResourceType.TRANSACTIONAL_ID: (Operation.WRITE,),
}


class _LeavingDescribe:
    """Asks for Describe where a DENY of Read or Write matches, with the ACLs that deny Describe."""

    def __init__(self, others: Others) -> None:
        self._others = others

    def __call__(self, acl: Subject) -> tuple[Broken, ...]:
        binding = acl.binding
        if (
            not acl.is_deny
            or binding.operation not in _DENIED.get(binding.resource_type, ())
            or acl.nowhere is not None
            or self._others.is_nobodys(binding)
            or not self._is_left_open(binding)
        ):
            return ()
        return (Broken(acl.sentence("Describe stays open to whoever has it by another ACL.")),)

    def _is_left_open(self, binding: AclBinding) -> bool:
        """Whether a session that this DENY is for could Describe what it covers, if an ACL allowed it."""
        others = self._others
        principal, name = others.session_of(binding.principal), others.name_under(binding)
        if name is None or principal in others.settings.super_users:
            return False
        settings = replace(others.settings, allow_everyone=False)
        request = AccessRequest(
            principal, others.address_in(binding.host), Operation.DESCRIBE, binding.resource_type, name
        )
        matching = matching_of(settings)
        is_plain = self._denials_are_known and not matching.is_host_glob(binding.host)
        if is_plain and decide(request, self._denying_describe, settings)[1] is not Basis.DENY_ACL:
            return True
        if matching.is_nested:
            nowhere = replace(request, host="no address")
            if decide(nowhere, self._denying_describe, settings)[1] is Basis.DENY_ACL:
                # Only an ACL for every host is for this text, and it denies Describe everywhere.
                return False
        grant = replace(
            binding,
            resource_name=name,
            pattern_type=PatternType.LITERAL,
            principal=principal,
            operation=Operation.DESCRIBE,
            permission_type=PermissionType.ALLOW,
        )
        shelf = self._denying_describe.shelf(binding.resource_type)
        denies = [*shelf.covering(name, settings), *shelf.unknown_patterns] if shelf is not None else []
        return bool(decide_for_any_host(request, AclIndex([grant, *denies]), settings).allowed_from)

    @computed_once
    def _denying_describe(self) -> AclIndex:
        return AclIndex(
            binding
            for binding in self._others.index
            if vote_of(binding, Operation.DESCRIBE) in (Vote.DENY, Vote.EITHER)
        )

    @computed_once
    def _denials_are_known(self) -> bool:
        return not any(binding.has_unknown for binding in self._denying_describe)


RULE = LintRule(
    id="deny-leaves-describe",
    severity=INFO,
    title="A denial that leaves Describe open",
    claims=Claim.LEAVES_DESCRIBE_OPEN,
    why=(
        "A DENY matches exactly its operation. Whoever is denied Read or Write can still see that the "
        "resource exists, if an ALLOW of another operation implies Describe."
    ),
    instead="Deny Describe as well, or ALL, if the resource should not be seen.",
    bad=(Example(deny("User:bob", "READ", "orders")),),
    good=(
        Example(deny("User:bob", "READ", "orders"), others=(deny("User:bob", "DESCRIBE", "orders"),)),
        Example(deny("User:bob", "ALL", "orders")),
        Example(deny("User:bob", "READ", "orders", host="example.com")),
    ),
    beside=_LeavingDescribe,
    rank=2,
)
