"""Which reason and which ACL does a KRaft broker name in its log for a decision?"""

from __future__ import annotations

from aclweb.acl.authorizer.answers import Basis, Result
from aclweb.acl.authorizer.decision import Decision
from aclweb.acl.authorizer.scan_order import in_scan_order
from aclweb.acl.matching import code_units
from aclweb.acl.model import (
    WILDCARD,
    AclBinding,
)


def broker_rule(decision: Decision) -> dict[str, object] | None:
    """Return the broker rule that KRaft's authorizer would write to its log; None where it names none."""
    if (
        not decision.settings.logs_its_rule
        or decision.request.resource_name is None
        or decision.result is Result.UNDECIDED
    ):
        return None
    if decision.basis is Basis.SUPER_USER:
        return {"rule": "SuperUser", "acl": None}
    if decision.basis is Basis.DEFAULT_ALLOW:
        return {"rule": "DefaultAllow", "acl": None}
    reported = reported_acl(decision)
    if reported is None:
        return {"rule": "DefaultDeny", "acl": None}
    return {"rule": "MatchingAcl", "acl": reported.as_dict()}


def reported_acl(decision: Decision) -> AclBinding | None:
    """Return the one binding that KRaft's authorizer would name in its log, None if it names none."""
    name = decision.request.resource_name
    if not decision.settings.logs_its_rule or name is None:
        return None
    if decision.basis not in (Basis.ALLOW_ACL, Basis.DENY_ACL):
        return None
    met = _scan(decision, name)
    # The scan stops at the first DENY; without one it remembers the last ALLOW it met.
    return met[0] if decision.basis is Basis.DENY_ACL else met[-1]


def _scan(decision: Decision, name: str) -> list[AclBinding]:
    """Return the determining bindings in the order in which KRaft's authorizer meets them.

    First those whose name is not after the requested one, then all from the literal `*` on.
    """
    ordered = in_scan_order(decision.determining)
    asked, star = code_units(name), code_units(WILDCARD)
    first = [binding for binding in ordered if code_units(binding.resource_name) <= asked]
    second = [binding for binding in ordered if code_units(binding.resource_name) <= star]
    if second and not second[-1].resource_name and _leaps_over_wildcard(decision, asked):
        first = [binding for binding in first if not binding.pattern.is_wildcard]
    return first + second


def _leaps_over_wildcard(decision: Decision, asked: str) -> bool:
    """Whether the first walk goes on at the empty name without meeting the literal `*`.

    It does after any ACL whose name has no letter in common with the one asked for; that
    shows only where an ACL on the empty prefix matches, too.
    """
    shelf = decision.index.shelf(decision.request.resource_type)
    if shelf is None or not asked:
        return False
    names = map(code_units, (*shelf.literals, *shelf.chain.prefixes))
    return any(WILDCARD < name < asked and name[0] != asked[0] for name in names)
