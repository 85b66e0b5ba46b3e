"""Is this request allowed, and which ACLs determined that?

`authorize` makes one finding for each binding that covers the resource and derives the
answer from the findings, so that an explanation cannot disagree with the decision.
`decide` gives the same answer from compiled masks, fast; tests hold the two equal.

Kafka's decision has no precedence of any kind beside DENY before ALLOW: neither a longer
prefix, nor an exact name, nor a named principal wins over anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from aclweb.acl.authorizer.answers import (
    BY_ALLOW_ACL,
    BY_SUPER_USER,
    Answer,
    Basis,
    Result,
    Vote,
    answer_from,
    settle,
    settle_known,
    settle_masks,
    vote_on,
)
from aclweb.acl.authorizer.by_type import HARDCODE, answer_by_type, decide_by_type, own_by_type
from aclweb.acl.authorizer.findings import Findings, TypeFindings
from aclweb.acl.authorizer.hazards import hazards
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.authorizer.masks import MAYBE_SHIFT, votes_in
from aclweb.acl.authorizer.shelf import ResourceShelf
from aclweb.acl.matching import covers_name, matching_of
from aclweb.acl.model import (
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    PermissionType,
    computed_once,
)


@dataclass(frozen=True)
class Decision:
    """One answer with everything that led to it.

    findings: one for each binding that covers the resource, in the order of Kafka's scan;
    for a question about a whole resource type, one for each binding of the type.
    unknowns: bindings with an UNKNOWN pattern type, which may or may not cover it.
    index: everything that was there, for what did not cover it.
    """

    request: AccessRequest
    result: Result
    basis: Basis
    findings: Findings
    hazards: tuple[str, ...]
    settings: AuthorizerSettings
    unknowns: tuple[AclBinding, ...]
    index: AclIndex = field(repr=False, compare=False)

    @property
    def allowed(self) -> bool:
        return self.result is Result.ALLOWED

    @computed_once
    def determining(self) -> tuple[AclBinding, ...]:
        """The bindings that settled it: every matching DENY, or else every matching ALLOW.

        For NO_ALLOW_ACL all that cover the resource, because each alone gives that
        result; empty where no binding settled it. For a question about a whole type of a
        cluster that allows by default, only what covers `hardcode` gives it.
        """
        if self.basis is Basis.DENY_ACL:
            return self._counted(PermissionType.DENY)
        if self.basis is Basis.ALLOW_ACL:
            return self._counted(PermissionType.ALLOW)
        if self.basis is Basis.NO_ALLOW_ACL:
            ends_default = self.request.resource_name is None and self.settings.allow_everyone
            return tuple(
                binding
                for binding in self.findings.bindings
                if not ends_default or covers_name(binding, HARDCODE, self.settings)
            )
        return ()

    @property
    def undeclared_dependencies(self) -> tuple[str, ...]:
        """The undeclared settings that would change this result if they were otherwise."""
        settings = self.settings
        found: list[str] = []
        principal = self.request.principal
        if "super_users" in settings.undeclared:
            other = replace(settings, super_users=settings.super_users ^ {principal})
            if self._result_under(other) is not self.result:
                found.append("super_users")
        if "allow_everyone" in settings.undeclared and self.under_other_default is not self.result:
            found.append("allow_everyone")
        return tuple(found)

    @property
    def under_other_default(self) -> Result:
        """The result if the cluster did the opposite where no ACL exists."""
        return self._result_under(replace(self.settings, allow_everyone=not self.settings.allow_everyone))

    def _counted(self, permission: PermissionType) -> tuple[AclBinding, ...]:
        counted = tuple(
            finding.binding
            for finding in self.findings.own
            if finding.counted and finding.binding.permission_type is permission
        )
        if self.request.resource_name is not None:
            return counted
        if permission is PermissionType.DENY:
            # Wherever such a pattern reaches, it is a DENY of the type.
            unknown = own_by_type(self.request, self.unknowns, self.settings)
            return (*counted, *(binding for binding in unknown if binding.is_deny))
        return _allows_by_type(
            self.request, [finding.binding for finding in self.findings.own], self.settings
        )

    def _result_under(self, settings: AuthorizerSettings) -> Result:
        return answer_given(self.request, self.findings.settling, self.unknowns, settings)[0]


def authorize(
    request: AccessRequest, index: AclIndex, settings: AuthorizerSettings | None = None
) -> Decision:
    """Return the decision for `request` with a finding for every binding that covers its resource."""
    settings = settings or AuthorizerSettings()
    index.require_known(settings)
    shelf = index.shelf(request.resource_type)
    unknowns = tuple(shelf.unknown_patterns) if shelf is not None else ()
    findings = _findings(request, shelf, settings)
    result, basis = answer_given(request, findings.settling, unknowns, settings)
    is_by_type = request.resource_name is None
    reached = shelf.without_colon if shelf is not None and is_by_type else findings.bindings
    return Decision(
        request=request,
        result=result,
        basis=basis,
        findings=findings,
        hazards=hazards(request, reached, settings),
        settings=settings,
        unknowns=unknowns,
        index=index,
    )


def findings_for(request: AccessRequest, index: AclIndex, settings: AuthorizerSettings) -> Findings:
    """Return the findings of `authorize`, without its decision."""
    index.require_known(settings)
    return _findings(request, index.shelf(request.resource_type), settings)


def _findings(request: AccessRequest, shelf: ResourceShelf | None, settings: AuthorizerSettings) -> Findings:
    if shelf is None:
        return Findings(request, (), settings)
    if request.resource_name is None:
        return TypeFindings(request, shelf, settings)
    return Findings(request, shelf.covering(request.resource_name, settings), settings)


def decide(request: AccessRequest, index: AclIndex, settings: AuthorizerSettings) -> Answer:
    """Return (result, basis), as `authorize` gives them, from the compiled masks."""
    if request.principal in settings.super_users:
        return BY_SUPER_USER
    name = request.resource_name
    if name is None:
        return _decide_whole_type(request, index, settings)
    table = index.table_for(request.resource_type, settings)
    if table is None:
        return settle_known(denied=False, allowed=False, covered=False, settings=settings)
    mask = table.mask(request.principal, request.host, name, settings)
    bit = 1 << request.operation._value_
    if mask >> MAYBE_SHIFT or table.unknown_patterns:
        return answer_from(
            mask,
            bit,
            covered=table.covered.covers(name, settings),
            unknown_patterns=[vote_on(request, binding, settings) for binding in table.unknown_patterns],
            settings=settings,
        )
    return settle_masks(mask, bit, table.covered, name, settings)


def may_turn(request: AccessRequest, edited: AclIndex, settings: AuthorizerSettings) -> bool:
    """Whether the result of a request for one resource can differ between ACLs with and without some of `edited`.

    Fast: where False comes back, nobody need decide the request again. A question about a whole type always may.
    """
    name = request.resource_name
    table = edited.table_for(request.resource_type, settings)
    if table is None:
        return False
    if name is None or table.unknown_patterns:
        return True
    if settings.allow_everyone and table.covered.covers(name, settings):
        # Whether any ACL matches it, whoever that is for, ends the default.
        return True
    return bool(
        votes_in(table.mask(request.principal, request.host, name, settings)) & 1 << request.operation._value_
    )


def answer_given(
    request: AccessRequest,
    covering: Sequence[AclBinding],
    unknowns: Sequence[AclBinding],
    settings: AuthorizerSettings,
) -> Answer:
    """Return the answer that these bindings give.

    covering: those that cover the resource for certain; all of the type when asked by type.
    unknowns: those with an UNKNOWN pattern, which may or may not.
    """
    if request.principal in settings.super_users:
        return BY_SUPER_USER
    if request.resource_name is None:
        covering_hardcode = [binding for binding in covering if covers_name(binding, HARDCODE, settings)]
        asked = replace(request, resource_name=HARDCODE)
        hardcode = answer_given(asked, covering_hardcode, unknowns, settings)
        return answer_by_type(request, [*covering, *unknowns], hardcode, settings)
    votes = [vote_on(request, binding, settings) for binding in covering]
    return settle(
        denied=Vote.DENY in votes,
        allowed=Vote.ALLOW in votes,
        perhaps_denied=Vote.EITHER in votes,
        perhaps_allowed=Vote.EITHER in votes or Vote.PERHAPS_ALLOW in votes,
        covered=bool(votes),
        unknown_patterns=[vote_on(request, binding, settings) for binding in unknowns],
        settings=settings,
    )


def _decide_whole_type(request: AccessRequest, index: AclIndex, settings: AuthorizerSettings) -> Answer:
    hardcode = decide(replace(request, resource_name=HARDCODE), index, settings)
    return decide_by_type(request, index, hardcode, settings)


def _allows_by_type(
    request: AccessRequest, bindings: Sequence[AclBinding], settings: AuthorizerSettings
) -> tuple[AclBinding, ...]:
    """Return the ALLOWs that settle a question about a type: those on `hardcode`, or the undominated."""
    return allows_at_hardcode(request, bindings, settings) or matching_of(settings).undominated(
        own_by_type(request, bindings, settings)
    )


def allows_at_hardcode(
    request: AccessRequest, bindings: Sequence[AclBinding], settings: AuthorizerSettings
) -> tuple[AclBinding, ...]:
    """Return those of these ALLOWs that settle a question about a type by the made-up name; empty where none does."""
    if not settings.by_type_tries_hardcode:
        return ()
    asked = replace(request, resource_name=HARDCODE)
    at_hardcode = [binding for binding in bindings if covers_name(binding, HARDCODE, settings)]
    if answer_given(asked, at_hardcode, (), settings) != BY_ALLOW_ACL:
        return ()
    return tuple(binding for binding in at_hardcode if vote_on(asked, binding, settings) is Vote.ALLOW)
