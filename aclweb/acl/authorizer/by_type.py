"""May this caller do the operation on at least one resource of a type?

Kafka compares patterns here, and each authorizer in its own way; KRaft's first tries a made-up name,
whose answer is given as `hardcode`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from aclweb.acl.authorizer.answers import (
    BY_ALLOW_ACL,
    BY_DEFAULT_ALLOW,
    BY_DEFAULT_DENY,
    BY_DENY_ACL,
    BY_NO_ALLOW_ACL,
    BY_UNKNOWN_VALUE,
    Answer,
    Result,
)
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.matching import (
    STEPS_TRIED,
    GlobSet,
    Shape,
    Verdict,
    comes_from,
    covers,
    is_for,
    sample_of,
    shape_of,
    stranger_to,
)
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
)

HARDCODE = "hardcode"
"""The made-up name that KRaft's authorizer tries first when asked about a whole resource type."""

STEPS_FOR_ALL = 2_000_000
"""How many steps all comparisons of globs for one question about a whole type may take together."""

_LEAST_STEPS = 2_000


def decide_by_type(
    request: AccessRequest, index: AclIndex, hardcode: Answer, settings: AuthorizerSettings
) -> Answer:
    """Return the answer for a whole type from the index, and the answer for `hardcode`."""
    shelf = index.shelf(request.resource_type)
    if shelf is None:
        return BY_DEFAULT_ALLOW if settings.allow_everyone else BY_DEFAULT_DENY
    if settings.by_type_tries_hardcode and hardcode[0] is Result.ALLOWED:
        return hardcode
    callers = _principals_for(request, index, settings)
    own = [binding for caller in callers for binding in shelf.by_principal.get(caller, ())]
    others = [binding for caller in callers for binding in shelf.no_plain_allows.get(caller, ())]
    if not own_by_type(request, others, settings) and any(_is_own_by_type(request, b, settings) for b in own):
        # Nothing can take an ALLOW away, so one is enough and the rest need no look.
        return BY_DEFAULT_ALLOW if settings.default_settles_by_type else BY_ALLOW_ACL
    return _settle_by_type(own_by_type(request, own, settings), hardcode, settings)


def _principals_for(request: AccessRequest, index: AclIndex, settings: AuthorizerSettings) -> list[str]:
    """Return the principals under which a binding for this caller can stand."""
    if not settings.has_globs:
        return list(dict.fromkeys((request.principal, ANY_USER)))
    table = index.glob_table(request.resource_type)
    return list(table.principals_for(request.principal)) if table is not None else []


def answer_by_type(
    request: AccessRequest, bindings: Sequence[AclBinding], hardcode: Answer, settings: AuthorizerSettings
) -> Answer:
    """Return the answer for a whole type, from the bindings of the type and the answer for `hardcode`.

    Unknown values are read once in the caller's favour and once against; where the two
    results differ the question is undecided.
    """
    if not bindings:
        return BY_DEFAULT_ALLOW if settings.allow_everyone else BY_DEFAULT_DENY
    return _settle_by_type(own_by_type(request, bindings, settings), hardcode, settings)


def _settle_by_type(entries: Sequence[AclBinding], hardcode: Answer, settings: AuthorizerSettings) -> Answer:
    results = {
        _allowed_by_type(_read_as(entries, PermissionType.ALLOW), hardcode, Result.UNDECIDED, settings),
        _allowed_by_type(_read_as(entries, PermissionType.DENY), hardcode, Result.ALLOWED, settings),
    }
    if len(results) > 1 or None in results:
        return BY_UNKNOWN_VALUE
    if True in results:
        if settings.by_type_tries_hardcode and hardcode[0] is Result.ALLOWED:
            return hardcode
        return BY_DEFAULT_ALLOW if settings.default_settles_by_type else BY_ALLOW_ACL
    if any(binding.permission_type is PermissionType.DENY for binding in entries):
        return BY_DENY_ACL
    return BY_NO_ALLOW_ACL


def _allowed_by_type(
    entries: Sequence[AclBinding], hardcode: Answer, at_least: Result, settings: AuthorizerSettings
) -> bool | None:
    """Whether the known `entries` (those of this caller and operation) allow the type; None if that is too hard.

    at_least: the weakest answer for `hardcode` that counts as allowed in this reading.
    """
    if settings.by_type_tries_hardcode and hardcode[0] in (Result.ALLOWED, at_least):
        return True
    denied_literals = _names(entries, PermissionType.DENY, PatternType.LITERAL)
    if WILDCARD in denied_literals:
        return False
    if settings.default_settles_by_type:
        return True
    if settings.has_globs:
        return _reaches_beyond(entries)
    return bool(undominated(entries, settings))


def own_by_type(
    request: AccessRequest, bindings: Iterable[AclBinding], settings: AuthorizerSettings
) -> list[AclBinding]:
    """Return the bindings for this caller that name the operation itself or ALL: here nothing is implied."""
    return [binding for binding in bindings if _is_own_by_type(request, binding, settings)]


def _is_own_by_type(request: AccessRequest, binding: AclBinding, settings: AuthorizerSettings) -> bool:
    return (
        binding.operation in (request.operation, Operation.ALL)
        and is_for(binding.principal, request.principal, settings)
        and comes_from(binding.host, request.host, settings)
    )


def undominated(entries: Sequence[AclBinding], settings: AuthorizerSettings) -> tuple[AclBinding, ...]:
    """Return the ALLOWs that no DENY wholly covers, as Kafka compares them.

    A literal falls to an equal DENY literal; any name falls to a DENY prefix that it starts
    with. An empty DENY prefix covers nothing here, because Kafka compares from the first
    letter on. `*` is the wildcard, which no prefix covers. Under the GLOB proposal patterns
    are compared by the names that they match.
    """
    if settings.has_globs:
        coverage = _Coverage(entries)
        return tuple(allow for allow in coverage.allows if coverage.of(allow) is Verdict.NO)
    denied_literals = _names(entries, PermissionType.DENY, PatternType.LITERAL)
    denied_prefixes = _names(entries, PermissionType.DENY, PatternType.PREFIXED)
    lengths = sorted({len(prefix) for prefix in denied_prefixes if prefix})
    found: list[AclBinding] = []
    for binding in entries:
        if binding.permission_type is not PermissionType.ALLOW:
            continue
        name = binding.resource_name
        if binding.pattern.is_wildcard:
            found.append(binding)
        elif binding.pattern_type is PatternType.LITERAL and name in denied_literals:
            continue
        elif not any(name[:length] in denied_prefixes for length in lengths if length <= len(name)):
            found.append(binding)
    return tuple(found)


def _reaches_beyond(entries: Sequence[AclBinding]) -> bool | None:
    """Whether some ALLOW is not wholly covered by one DENY, where globs are compared; None if that is too hard."""
    coverage = _Coverage(entries)
    verdicts = {Verdict.YES}
    for allow in coverage.allows:
        verdicts.add(coverage.of(allow))
        if Verdict.NO in verdicts:
            return True
    return None if Verdict.UNKNOWN in verdicts else False


class _Coverage:
    """Which ALLOWs is one DENY at least as wide as, under the GLOB proposal?"""

    def __init__(self, entries: Iterable[AclBinding]) -> None:
        bindings = list(entries)
        self.allows = [b for b in bindings if b.permission_type is PermissionType.ALLOW]
        shapes = {shape_of(b) for b in bindings if b.permission_type is PermissionType.DENY}
        self._denies = GlobSet(sorted(shapes, key=repr))
        named = {character for shape in shapes for character in shape.characters}
        self._stranger = stranger_to(named.union(*(shape_of(allow).characters for allow in self.allows)))
        pairs = max(1, len(shapes) * len(set(map(shape_of, self.allows))))
        self._verdicts: dict[Shape, Verdict] = {}
        self._steps = min(STEPS_TRIED, max(STEPS_FOR_ALL // pairs, _LEAST_STEPS))

    def of(self, allow: AclBinding) -> Verdict:
        """Return whether one DENY covers all names that this ALLOW covers."""
        shape = shape_of(allow)
        if shape not in self._verdicts:
            self._verdicts[shape] = self._compare(shape)
        return self._verdicts[shape]

    def _compare(self, shape: Shape) -> Verdict:
        found = Verdict.NO
        # Only a DENY that matches a name with something unheard of in place of each wildcard can cover all.
        for place in self._denies.matching(sample_of(shape, self._stranger)):
            verdict = covers(self._denies.shapes[place], shape, steps=self._steps).verdict
            if verdict is Verdict.YES:
                return verdict
            if verdict is Verdict.UNKNOWN:
                found = verdict
        return found


def _names(entries: Iterable[AclBinding], permission: PermissionType, pattern_type: PatternType) -> set[str]:
    return {
        binding.resource_name
        for binding in entries
        if binding.permission_type is permission and binding.pattern_type is pattern_type
    }


def _read_as(entries: Iterable[AclBinding], permission: PermissionType) -> list[AclBinding]:
    """Return the entries with each unknown value read in favour of `permission`.

    An unknown permission becomes that permission. An unknown pattern covers everything
    where it helps `permission`, and nothing otherwise.
    """
    read: list[AclBinding] = []
    for binding in entries:
        if binding.permission_type is PermissionType.UNKNOWN:
            binding = replace(binding, permission_type=permission)
        if binding.pattern_type is PatternType.UNKNOWN:
            if binding.permission_type is not permission:
                continue
            binding = replace(binding, pattern_type=PatternType.LITERAL, resource_name=WILDCARD)
        read.append(binding)
    return read
