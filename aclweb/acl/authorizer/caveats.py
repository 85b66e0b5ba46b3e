"""What should a person know beside the answer: what nobody declared, what Kafka does not list, what breaks brokers?"""

from __future__ import annotations

from aclweb.acl.authorizer.answers import Basis, Result
from aclweb.acl.authorizer.decision import Decision
from aclweb.acl.authorizer.hazards import BELOW_ASTERISK, STAR_PRINCIPAL, UNPARSABLE_PRINCIPAL
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AuthorizerSettings,
    name_text,
    split_principal,
)


def beyond_acls(settings: AuthorizerSettings, decision: Decision | None = None) -> tuple[str, ...]:
    """Return what decides beside the ACLs where a managed service runs the brokers, if the answer may differ by it.

    decision: the answer in question; None for several answers at once.
    """
    service = settings.managed_service
    if service is None or not service.hidden:
        return ()
    if decision is None:
        return (service.hidden,)
    if decision.basis is Basis.SUPER_USER or (decision.basis is Basis.DENY_ACL and service.obeys_deny):
        return ()
    if decision.result is Result.DENIED and service.may_allow:
        return (f"{service.hidden} So the request may be allowed all the same.",)
    if decision.result is Result.ALLOWED and service.may_refuse:
        return (f"{service.hidden} So the request may be refused all the same.",)
    return (service.hidden,) if decision.result is Result.UNDECIDED else ()


def edit_caveats(settings: AuthorizerSettings) -> tuple[str, ...]:
    """Return what decides beside the ACLs that an edit changes, and what becomes of them, on a managed service."""
    service = settings.managed_service
    on_changes = (service.on_changes,) if service is not None and service.on_changes else ()
    return (*beyond_acls(settings), *on_changes)


def caveats_of(decision: Decision) -> list[str]:
    """Return one sentence for each condition under which the answer holds, or a broker may not give it."""
    request, settings = decision.request, decision.settings
    who = name_text(request.principal)
    caveats: list[str] = []
    undeclared_dependencies = decision.undeclared_dependencies
    if "super_users" in undeclared_dependencies:
        caveats.append(
            f"This answer is true only if {who} is a super user, which nobody has declared."
            if decision.basis is Basis.SUPER_USER
            else f"Nobody has declared this cluster's super users. If {who} is one, everything is allowed."
        )
    if "allow_everyone" in undeclared_dependencies:
        other = decision.under_other_default
        turned = {
            Result.ALLOWED: "the request would be allowed",
            Result.DENIED: "the request would be refused",
        }
        otherwise = (
            "it would be the opposite"
            if Result.UNDECIDED not in (decision.result, other)
            else turned.get(other, "the answer would be unknown")
        )
        caveats.append(
            "Nobody has declared what this cluster does where no ACL exists "
            "(allow.everyone.if.no.acl.found). This answer assumes that everyone is "
            f"{'allowed' if settings.allow_everyone else 'refused'} there; otherwise {otherwise}."
        )
    caveats += beyond_acls(settings, decision)
    if BELOW_ASTERISK in decision.hazards:
        caveats.append(
            "A KRaft broker may fail to answer for names that begin with this character; "
            "choose a name that begins with a letter or a digit."
        )
    if STAR_PRINCIPAL in decision.hazards:
        caveats.append(
            f"A client whose principal is {ANY_USER} itself makes KRaft brokers fail from Kafka 4.0 on, "
            "unless it is a super user."
        )
    if UNPARSABLE_PRINCIPAL in decision.hazards:
        principals = {binding.principal for binding in (*decision.findings.bindings, *decision.unknowns)}
        broken = sorted(own for own in principals if split_principal(own) is None)
        caveats.append(
            f"The principal {broken[0]!r} of an ACL here has no colon, and a KRaft broker fails on every "
            "request that reaches such an ACL; remove it."
            if broken
            else "An ACL here has a principal without a colon, on which KRaft brokers fail; remove it."
        )
    name = request.resource_name or ""
    if name.startswith(WILDCARD) and len(name) > 1 and not settings.has_globs:
        caveats.append(
            "The name begins with an asterisk: KRaft's authorizer skips the ACLs on the literal * for such "
            "names, the ZooKeeper authorizer does not."
        )
    if split_principal(request.principal) is None:
        caveats.append(
            f"The principal {request.principal!r} has no type; write it as 'User:{request.principal}'."
        )
    return caveats
