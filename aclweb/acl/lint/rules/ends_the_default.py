"""Lint rule ends-the-default: an ACL that allows nobody and shuts out everybody."""

from __future__ import annotations

from aclweb.acl.authorizer import Basis, decide
from aclweb.acl.lint.beside import Others
from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import WARNING, Broken, Example, LintRule, allow, deny
from aclweb.acl.lint.subject import Subject
from aclweb.acl.model import (
    ANY_USER,
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    PermissionType,
    ResourcePattern,
    operations_of,
)


class _Ending:
    """Looks once at each pattern on which an ACL may end the default."""

    def __init__(self, others: Others) -> None:
        self._others = others
        self._shut: dict[ResourcePattern, bool] = {}

    def __call__(self, acl: Subject) -> tuple[Broken, ...]:
        if not acl.settings.allow_everyone or acl.nowhere is not None:
            return ()
        if not (acl.is_deny or self._others.is_nobodys(acl.binding)) or not self._is_shut(acl.binding):
            return ()
        rest = (
            "it also ends allow.everyone.if.no.acl.found for what it matches: "
            "principals without an ALLOW lose access there."
        )
        return (Broken(acl.sentence(rest)),)

    def _is_shut(self, binding: AclBinding) -> bool:
        """Whether a principal without an ACL is denied here, and no ACL allows anybody by name.

        An ALLOW for particular principals says that the default was meant to end.
        """
        if binding.pattern not in self._shut:
            self._shut[binding.pattern] = self._is_found_shut(binding)
        return self._shut[binding.pattern]

    def _is_found_shut(self, binding: AclBinding) -> bool:
        others, kind = self._others, binding.resource_type
        name, shelf = others.name_under(binding), others.index.shelf(kind)
        if name is None or shelf is None:
            return False
        if any(self._lets_in_by_name(other) for other in shelf.covering(name, others.settings)):
            return False
        asked = (
            AccessRequest(others.stranger, others.elsewhere, operation, kind, name)
            for operation in operations_of(kind, others.settings)
        )
        return any(
            decide(request, others.index, others.settings)[1] is Basis.NO_ALLOW_ACL for request in asked
        )

    def _lets_in_by_name(self, binding: AclBinding) -> bool:
        is_allow = binding.permission_type is not PermissionType.DENY
        return is_allow and binding.principal != ANY_USER and not self._others.is_nobodys(binding)


RULE = LintRule(
    id="ends-the-default",
    severity=WARNING,
    title="An ACL that allows nobody and shuts out everybody",
    claims=Claim.SHUTS_SOMEBODY_OUT,
    why=(
        "With allow.everyone.if.no.acl.found everybody may do everything with a resource as long as no "
        "ACL matches it. A DENY of one principal, or an ALLOW that no client can match, is an ACL too: "
        "from then on whoever has no ALLOW is refused."
    ),
    instead="Also allow those who must keep access, such as `User:*` for ALL.",
    bad=(Example(deny("User:bob", "DELETE", "orders"), AuthorizerSettings(allow_everyone=True)),),
    good=(
        Example(deny("User:bob", "DELETE", "orders")),
        Example(allow("User:bob", "DELETE", "orders"), AuthorizerSettings(allow_everyone=True)),
        Example(
            deny("User:bob", "DELETE", "orders"),
            AuthorizerSettings(allow_everyone=True),
            (allow("User:*", "ALL", "*"),),
        ),
    ),
    beside=_Ending,
    rank=1,
)
