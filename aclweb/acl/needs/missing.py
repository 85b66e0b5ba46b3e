"""Which ACLs does a client action lack, and which are the fewest that make it work?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from aclweb.acl.authorizer import AclIndex, Basis, Result, answer_given, authorize, smallest_fix
from aclweb.acl.matching import covers_name
from aclweb.acl.model import AccessRequest, AclBinding, AuthorizerSettings, PatternType, ResourceType
from aclweb.acl.needs.assessment import WEAK, Asked, DecidedCall
from aclweb.acl.needs.calls import Refusal, Right
from aclweb.acl.needs.roles import Call, Names, Subject


def refused_rights(verdicts: Sequence[DecidedCall]) -> list[tuple[Call, Asked]]:
    return [
        (verdict.call, asked)
        for verdict in verdicts
        if verdict.needed
        for asked in verdict.asked
        if asked.result is Result.DENIED and asked.check.refusal is not Refusal.HIDDEN
    ]


def smallest_set(
    verdicts: Sequence[DecidedCall], principal: str, host: str, names: Names
) -> tuple[AclBinding, ...]:
    """Return ACLs that turn every refusal, none of which can be left out; empty if some refusal stays."""
    refused = refused_rights(verdicts)
    allowed = [
        (verdict.call, asked)
        for verdict in verdicts
        if verdict.needed
        for asked in verdict.asked
        if asked.result is Result.ALLOWED
    ]
    while refused:
        chosen = _set_for(refused, principal, host, names)
        # Where everyone is allowed by default, the first ACL on a resource ends that.
        broken = [(call, asked) for call, asked in allowed if chosen and not _holds_with(asked, chosen)]
        if not broken:
            return chosen
        refused += broken
        allowed = [one for one in allowed if one not in broken]
    return ()


def _set_for(
    refused: Sequence[tuple[Call, Asked]], principal: str, host: str, names: Names
) -> tuple[AclBinding, ...]:
    chosen: dict[AclBinding, None] = {}
    for call, asked in refused:
        candidates = _candidates(call, asked, principal, host, names)
        fix = next((one for one in candidates if _holds_with(asked, [one])), None)
        if fix is None:
            return ()
        chosen[fix] = None
    kept = list(chosen)
    # The weak rights go first, because stronger ones that are needed anyhow bring them.
    for binding in sorted(kept, key=lambda one: one.operation not in WEAK):
        others = [other for other in kept if other != binding]
        if all(_holds_with(asked, others) for _, asked in refused):
            kept = others
    return tuple(kept)


def _candidates(call: Call, asked: Asked, principal: str, host: str, names: Names) -> list[AclBinding]:
    """The ACLs that could help, the narrowest first: on a name, then on one name of a type, then on the cluster."""
    settings = asked.decisions[0].settings
    on_names: list[AclBinding] = []
    on_any_one: list[AclBinding] = []
    on_the_cluster: list[AclBinding] = []
    for right in asked.check.any_of:
        subjects = call.role(right.resource_type).subjects(names)
        if right.resource_type is ResourceType.CLUSTER:
            on_the_cluster += _allows(right, subjects, principal, host, settings)
        elif right.any_one:
            on_any_one += _allows(right, subjects, principal, host, settings)
        elif asked.subject is not None and asked.subject.resource_type is right.resource_type:
            on_names += _allows(right, (asked.subject,), principal, host, settings)
        else:
            on_names += _allows(right, subjects, principal, host, settings)
    return [*on_names, *on_any_one, *on_the_cluster]


def _allows(
    right: Right, subjects: Iterable[Subject], principal: str, host: str, settings: AuthorizerSettings
) -> list[AclBinding]:
    found = []
    bare = replace(settings, super_users=frozenset(), allow_everyone=False)
    for subject in subjects:
        request = AccessRequest(principal, host, right.operation, right.resource_type, subject.name)
        fix = smallest_fix(authorize(request, AclIndex(()), bare))
        if fix is not None and subject.pattern_type is PatternType.PREFIXED:
            fix = replace(fix, pattern_type=PatternType.PREFIXED)
        if fix is not None:
            found.append(fix)
    return found


def _holds_with(asked: Asked, more: Iterable[AclBinding]) -> bool:
    """Whether one of the rights would be allowed if these ACLs were there too."""
    more = tuple(more)
    for decision in asked.decisions:
        request, settings = decision.request, decision.settings
        covering = [
            *decision.findings.settling,
            *(binding for binding in more if _reaches(binding, request, settings)),
        ]
        if answer_given(request, covering, decision.unknowns, settings)[0] is Result.ALLOWED:
            return True
    return False


def _reaches(binding: AclBinding, request: AccessRequest, settings: AuthorizerSettings) -> bool:
    if binding.resource_type is not request.resource_type:
        return False
    return request.resource_name is None or covers_name(binding, request.resource_name, settings)


def denying_acls(refused: Sequence[tuple[Call, Asked]]) -> tuple[AclBinding, ...]:
    """The DENYs in the way of what no ALLOW can turn."""
    found: dict[AclBinding, None] = {}
    for _, asked in refused:
        if all(decision.basis is Basis.DENY_ACL for decision in asked.decisions):
            for decision in asked.decisions:
                found.update(dict.fromkeys(decision.determining))
    return tuple(found)
