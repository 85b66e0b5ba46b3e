"""Which fewest ACLs would have allowed several denied requests together?

Each is the smallest ACL that would have allowed one of them, or one that is as wide as the choices say. Those are left
out whose requests others allow too, such as Describe beside Read. Every request is decided again with the set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from aclweb.acl.authorizer import AclIndex, Result, authorize, decide, smallest_fix
from aclweb.acl.logged.generalising import ANY, Choices, patterns_for
from aclweb.acl.logged.needed import removable
from aclweb.acl.logged.proposal import Used
from aclweb.acl.model import (
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    ResourcePattern,
    ResourceType,
)


@dataclass(frozen=True)
class SmallestSet:
    """ACLs to add. allowed: lines of the requests that are allowed with them, of `lines` in all.

    already: lines of those that today's ACLs allow. not_allowed: the requests that no ACL to add would allow.
    """

    bindings: tuple[AclBinding, ...]
    lines: int
    allowed: int
    already: int
    not_allowed: tuple[Used, ...]


def smallest_set(
    denied: Iterable[Used],
    index: AclIndex,
    settings: AuthorizerSettings,
    choices: Choices | None = None,
) -> SmallestSet:
    """Return the fewest ACLs that would have allowed these requests.

    denied: each request once, with its denials. choices: `hosts` is ANY for ACLs of any host, else they are of the
    logged ones.
    """
    choices = choices or Choices()
    asked = tuple(denied)
    fixes: dict[Used, AclBinding] = {}
    already = 0
    for each in asked:
        decision = authorize(each.request, index, settings)
        if decision.result is Result.ALLOWED:
            already += each.lines
        elif fix := smallest_fix(decision):
            fixes[each] = replace(fix, host=WILDCARD) if choices.hosts == ANY else fix
    candidates = _sorted(_generalised(fixes, choices, settings))
    chosen = _fewest(tuple(fixes), candidates, settings)
    not_allowed = tuple(each for each in asked if not _is_allowed(each, index, chosen, settings))
    lines = sum(each.lines for each in asked)
    return SmallestSet(chosen, lines, lines - sum(each.lines for each in not_allowed), already, not_allowed)


def _is_allowed(
    each: Used, index: AclIndex, chosen: Sequence[AclBinding], settings: AuthorizerSettings
) -> bool:
    near = index.affecting(each.request.resource, settings)
    own = [binding for binding in chosen if binding.principal == each.request.principal]
    return decide(each.request, AclIndex([*near, *own]), settings)[0] is Result.ALLOWED


def _generalised(
    fixes: dict[Used, AclBinding], choices: Choices, settings: AuthorizerSettings
) -> set[AclBinding]:
    """Return the ACLs of which the set is made, as wide as the choices say."""
    alike: dict[tuple[ResourceType, str, Operation], set[str]] = {}
    for fix in fixes.values():
        if _is_of_one_name(fix):
            alike.setdefault((fix.resource_type, fix.principal, fix.operation), set()).add(fix.resource_name)
    patterns = {
        place: patterns_for(
            names, ResourcePattern(place[0], WILDCARD, PatternType.LITERAL), choices, settings
        )
        for place, names in alike.items()
    }
    found = set()
    for fix in fixes.values():
        if not _is_of_one_name(fix):
            found.add(fix)
            continue
        pattern = patterns[fix.resource_type, fix.principal, fix.operation][fix.resource_name]
        found.add(replace(fix, resource_name=pattern.name, pattern_type=pattern.pattern_type))
    return found


def _is_of_one_name(binding: AclBinding) -> bool:
    return binding.pattern_type is PatternType.LITERAL and not binding.pattern.is_wildcard


def _fewest(
    denied: Sequence[Used], candidates: Sequence[AclBinding], settings: AuthorizerSettings
) -> tuple[AclBinding, ...]:
    keys = {binding: f"{place:06}" for place, binding in enumerate(candidates)}
    index = AclIndex(candidates)
    allowing = (
        [
            keys[finding.binding]
            for finding in authorize(each.request, index, settings).findings
            if finding.counted
        ]
        for each in denied
    )
    spare = removable(allowing, list(keys.values()))
    return tuple(binding for binding, key in keys.items() if key not in spare)


def _sorted(bindings: Iterable[AclBinding]) -> list[AclBinding]:
    return sorted(
        bindings,
        key=lambda binding: (
            binding.principal,
            binding.resource_type.code,
            binding.resource_name,
            binding.pattern_type.code,
            binding.operation.code,
            binding.host,
        ),
    )
