"""Which smallest edit would turn the answer: one ACL to add, or the fewest to remove?

Every remedy was checked by deciding again before it is shown.

One ALLOW is *smaller* than another when no part of it is wider and some part is narrower:

* pattern: LITERAL of one name, then PREFIXED with a longer and with a shorter prefix of
  that name, then LITERAL `*`;
* principal: the session's, then `User:*`;
* host: the session's address, then a range that holds it (where this Kafka reads ranges), a
  wider range, then `*`;
* operation: the one asked for, then one that brings it along, then ALL.

Only ACLs that a broker would store count, so not those on an empty name, on a cluster of
another name, or, in ZooKeeper mode, on a name with a slash. For one resource the smallest
fix is then the only one: every ALLOW that works is at least as wide in each part. For a
whole type any one name will do; it is a name that ACLs know already where there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from aclweb.acl.authorizer.answers import Basis, Result, Vote, vote_on
from aclweb.acl.authorizer.by_type import HARDCODE, own_by_type
from aclweb.acl.authorizer.decision import Decision, answer_given
from aclweb.acl.matching import covers_name, matching_of, shape_of
from aclweb.acl.model import (
    CLUSTER_NAME,
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    PatternType,
    PermissionType,
    ResourceType,
    split_principal,
)

NAMES_TRIED = 1_000
"""How many names a fix for a whole type is looked for among; nobody needs the best of more."""

PATTERNS_TRIED = 3
"""How many patterns are tried by deciding again; the first one helps, or else no one does."""

ALLOWS_COMPARED = 200
"""How many ALLOWs of a whole type are compared by what stands in their way."""

_PLACEHOLDERS = "some- any- a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9"


@dataclass(frozen=True, slots=True)
class Removals:
    """The fewest bindings that must go for the answer to turn, and the ALLOW needed beside that.

    Without `then_allow` removing exactly these turns the answer. With it they all have to
    go before any ALLOW can help, and nothing that remains allows it. (Where everyone is
    allowed what no ACL covers, removing every ACL of the resource would do too, for everyone.)
    """

    bindings: tuple[AclBinding, ...] = ()
    then_allow: AclBinding | None = None


def smallest_fix(decision: Decision) -> AclBinding | None:
    """Return the smallest single ALLOW that turns a refusal; None if there is none."""
    if decision.result is not Result.DENIED:
        return None
    if decision.basis is Basis.DENY_ACL and decision.request.resource_name is not None:
        return None
    return _smallest_allow(decision)


def smallest_removals(decision: Decision) -> Removals:
    """Return the fewest bindings whose removal turns the answer, if removing can turn it."""
    turned = Result.DENIED if decision.allowed else Result.ALLOWED
    known = decision.findings.settling
    removable = _removable(decision, known)
    for removed in sorted(removable, key=len):
        if removed and _result_with(decision, _without(known, removed)) is turned:
            return Removals(tuple(removed))
    if decision.basis is Basis.DENY_ACL:
        in_the_way = _in_the_way(decision)
        fix = _smallest_allow(decision, without=in_the_way)
        if in_the_way and fix is not None:
            return Removals(in_the_way, fix)
    return Removals()


# What to add.


def _smallest_allow(decision: Decision, *, without: Sequence[AclBinding] = ()) -> AclBinding | None:
    """Return the smallest ALLOW that gives ALLOWED beside the ACLs that cover the resource, but these."""
    request, settings = decision.request, decision.settings
    others = _without(decision.findings.settling, without)
    if split_principal(request.principal) is None:
        # No session has such a principal, and an ACL for it is for nobody.
        return None
    if request.resource_name is None:
        patterns = _patterns_by_type(decision, others, without)
    else:
        patterns = _patterns_covering(request.resource_type, request.resource_name, settings)
    for pattern_type, name in islice(patterns, PATTERNS_TRIED):
        candidate = AclBinding(
            resource_type=request.resource_type,
            resource_name=name,
            pattern_type=pattern_type,
            principal=request.principal,
            host=request.host,
            operation=request.operation,
            permission_type=PermissionType.ALLOW,
        )
        if _result_with(decision, [*others, candidate]) is Result.ALLOWED:
            return candidate
    return None


def _patterns_covering(
    kind: ResourceType, name: str, settings: AuthorizerSettings
) -> Iterator[tuple[PatternType, str]]:
    """Yield the patterns that a broker stores and that cover `name`, narrowest first, as far as needed."""
    if kind is ResourceType.CLUSTER:
        if name == CLUSTER_NAME:
            yield PatternType.LITERAL, name
        return
    if name == WILDCARD:
        # LITERAL `*` is every name, so this one name is best said as a prefix.
        yield PatternType.PREFIXED, name
    elif "/" in name and not settings.stores_slashes:
        if head := name.partition("/")[0]:
            yield PatternType.PREFIXED, head
    elif name:
        yield PatternType.LITERAL, name
    yield PatternType.LITERAL, WILDCARD


def _patterns_by_type(
    decision: Decision, others: Sequence[AclBinding], without: Sequence[AclBinding]
) -> Iterator[tuple[PatternType, str]]:
    """Yield LITERAL patterns on names that no DENY of `others` takes away again, the session's own names first."""
    request, settings = decision.request, decision.settings
    denies = [
        b for b in own_by_type(request, others, settings) if b.permission_type is not PermissionType.ALLOW
    ]
    if any(_is_wildcard_deny(binding, settings) for binding in denies):
        return
    globs = [shape_of(b) for b in denies if b.pattern_type is PatternType.GLOB]
    literals = {b.resource_name for b in denies if b.pattern_type is PatternType.LITERAL}
    prefixes = tuple({b.resource_name for b in denies if b.pattern_type is PatternType.PREFIXED} - {""})
    for name in _names_to_try(decision, others, without):
        starts_below = name[:1] < WILDCARD and settings.names_below_asterisk_are_a_hazard
        storable = name not in ("", WILDCARD) and ("/" not in name or settings.stores_slashes)
        denied = name in literals or name.startswith(prefixes) or any(shape.matches(name) for shape in globs)
        if storable and not starts_below and not denied:
            yield PatternType.LITERAL, name
    if request.resource_type is not ResourceType.CLUSTER:
        # The one pattern that no DENY of a prefix takes away.
        yield PatternType.LITERAL, WILDCARD


def _names_to_try(
    decision: Decision, others: Sequence[AclBinding], without: Sequence[AclBinding]
) -> Iterator[str]:
    request = decision.request
    if request.resource_type is ResourceType.CLUSTER:
        yield CLUSTER_NAME
        return
    own = (binding for binding in others if binding.principal == request.principal and not binding.is_deny)
    yield from islice(_literal_names(own), NAMES_TRIED)
    # Of those for everybody else `others` has hardly any.
    anybodys = (binding for binding in decision.findings.bindings if binding not in without)
    yield from islice(_literal_names(anybodys), NAMES_TRIED)
    if request.resource_type is ResourceType.USER:
        yield "User:somebody"
    word = request.resource_type.name.lower().replace("_", "-")
    yield from (f"{start}{word}" for start in _PLACEHOLDERS.split())


def _literal_names(bindings: Iterable[AclBinding]) -> Iterator[str]:
    return (binding.resource_name for binding in bindings if binding.pattern_type is PatternType.LITERAL)


# What to remove.


def _removable(decision: Decision, known: Sequence[AclBinding]) -> list[tuple[AclBinding, ...]]:
    """Return the sets of bindings among which the smallest one that turns the answer must be."""
    if decision.basis not in (Basis.ALLOW_ACL, Basis.DENY_ACL, Basis.NO_ALLOW_ACL):
        return []
    if decision.request.resource_name is not None:
        if decision.basis is Basis.NO_ALLOW_ACL:
            # Nothing but the default can allow it then, and that only once nothing covers it.
            return [tuple(known)] if decision.settings.allow_everyone else []
        return [decision.determining]
    if decision.allowed:
        return [_holding_up_by_type(decision, known)]
    return _blocking_by_type(decision, known)


def _in_the_way(decision: Decision) -> tuple[AclBinding, ...]:
    """Return the DENYs that no ALLOW can get past."""
    if decision.request.resource_name is not None:
        return decision.determining
    return tuple(b for b in decision.determining if _is_wildcard_deny(b, decision.settings))


def _holding_up_by_type(decision: Decision, known: Sequence[AclBinding]) -> tuple[AclBinding, ...]:
    """Return every ALLOW that alone allows the type, so that each has to go."""
    request, settings = decision.request, decision.settings
    holding = dict.fromkeys(matching_of(settings).undominated(own_by_type(request, known, settings)))
    if settings.by_type_tries_hardcode:
        at_hardcode = [binding for binding in known if covers_name(binding, HARDCODE, settings)]
        votes = {binding: vote_on(request, binding, settings) for binding in at_hardcode}
        if Vote.DENY not in votes.values():
            holding |= dict.fromkeys(b for b, vote in votes.items() if vote is Vote.ALLOW)
    return tuple(binding for binding in known if binding in holding)


def _blocking_by_type(decision: Decision, known: Sequence[AclBinding]) -> list[tuple[AclBinding, ...]]:
    """Return for each way in which the type could be allowed the ACLs that prevent it."""
    request, settings = decision.request, decision.settings
    entries = own_by_type(request, known, settings)
    denies = [binding for binding in entries if binding.is_deny]
    everywhere = tuple(binding for binding in denies if _is_wildcard_deny(binding, settings))
    ways: list[tuple[AclBinding, ...]] = []
    if settings.default_settles_by_type:
        ways.append(everywhere)
    if settings.by_type_tries_hardcode:
        at_hardcode = tuple(binding for binding in known if covers_name(binding, HARDCODE, settings))
        votes = [vote_on(request, binding, settings) for binding in at_hardcode]
        if Vote.ALLOW in votes:
            ways.append(tuple(b for b, vote in zip(at_hardcode, votes, strict=True) if vote is Vote.DENY))
        if settings.allow_everyone:
            ways.append(at_hardcode)
    allows = (binding for binding in entries if binding.permission_type is PermissionType.ALLOW)
    ways.extend(
        (*everywhere, *(deny for deny in denies if _dominates(deny, allow, settings)))
        for allow in islice(allows, ALLOWS_COMPARED)
    )
    return ways


def _dominates(deny: AclBinding, allow: AclBinding, settings: AuthorizerSettings) -> bool:
    """Whether Kafka, asked by type, holds that this DENY takes all that the ALLOW gives."""
    matching = matching_of(settings)
    return matching.may_dominate(deny, allow) and not matching.undominated((allow, deny))


def _is_wildcard_deny(binding: AclBinding, settings: AuthorizerSettings) -> bool:
    """Whether no ALLOW reaches beyond this DENY."""
    return binding.is_deny and matching_of(settings).covers_every_name(binding)


# Deciding again.


def _without(bindings: Iterable[AclBinding], removed: Iterable[AclBinding]) -> list[AclBinding]:
    gone = frozenset(removed)
    return [binding for binding in bindings if binding not in gone]


def _result_with(decision: Decision, bindings: Sequence[AclBinding]) -> Result:
    return answer_given(decision.request, bindings, decision.unknowns, decision.settings)[0]
