"""May this session do the operation on at least one resource of a type?

Kafka compares patterns here, and each authorizer in its own way; KRaft's first tries a made-up name,
whose answer is given as `hardcode`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from aclweb.acl.authorizer.answers import BY_UNKNOWN_VALUE, Answer, Result, settle_known
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.matching import Matching, matching_of
from aclweb.acl.model import (
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


def decide_by_type(
    request: AccessRequest, index: AclIndex, hardcode: Answer, settings: AuthorizerSettings
) -> Answer:
    """Return the answer for a whole type from the index, and the answer for `hardcode`."""
    shelf = index.shelf(request.resource_type)
    if shelf is None:
        return settle_known(denied=False, allowed=False, covered=False, settings=settings)
    if settings.by_type_tries_hardcode and hardcode[0] is Result.ALLOWED:
        return hardcode
    table = index.table_for(request.resource_type, settings)
    principals = tuple(table.principals_for(request.principal)) if table is not None else ()
    own = [binding for principal in principals for binding in shelf.by_principal.get(principal, ())]
    others = [binding for principal in principals for binding in shelf.no_plain_allows.get(principal, ())]
    matching = matching_of(settings)
    if not own_by_type(request, others, settings) and any(_is_own_by_type(request, b, matching) for b in own):
        # Nothing can take an ALLOW away, so one is enough and the rest need no look.
        return _allowed_answer(settings)
    return settle_by_type(own_by_type(request, own, settings), hardcode, settings)


def answer_by_type(
    request: AccessRequest, bindings: Sequence[AclBinding], hardcode: Answer, settings: AuthorizerSettings
) -> Answer:
    """Return the answer for a whole type, from the bindings of the type and the answer for `hardcode`.

    Unknown values are read once in the session's favour and once against; where the two
    results differ the question is undecided.
    """
    if not bindings:
        return settle_known(denied=False, allowed=False, covered=False, settings=settings)
    return settle_by_type(own_by_type(request, bindings, settings), hardcode, settings)


def settle_by_type(entries: Sequence[AclBinding], hardcode: Answer, settings: AuthorizerSettings) -> Answer:
    """Return the answer for a type that has ACLs, of which these are for this session and operation."""
    results = {
        _allowed_by_type(_read_as(entries, PermissionType.ALLOW), hardcode, Result.UNDECIDED, settings),
        _allowed_by_type(_read_as(entries, PermissionType.DENY), hardcode, Result.ALLOWED, settings),
    }
    if len(results) > 1 or None in results:
        return BY_UNKNOWN_VALUE
    if True in results:
        if settings.by_type_tries_hardcode and hardcode[0] is Result.ALLOWED:
            return hardcode
        return _allowed_answer(settings)
    return settle_known(
        denied=any(binding.is_deny for binding in entries), allowed=False, covered=True, settings=settings
    )


def _allowed_answer(settings: AuthorizerSettings) -> Answer:
    """Return the answer for a type that the session's ACLs allow, or the default where that settles it first."""
    by_default = settings.default_settles_by_type
    return settle_known(denied=False, allowed=not by_default, covered=not by_default, settings=settings)


def _allowed_by_type(
    entries: Sequence[AclBinding], hardcode: Answer, at_least: Result, settings: AuthorizerSettings
) -> bool | None:
    """Whether the known `entries` (those of this session and operation) allow the type; None if that is too hard.

    at_least: the weakest answer for `hardcode` that counts as allowed in this reading.
    """
    if settings.by_type_tries_hardcode and hardcode[0] in (Result.ALLOWED, at_least):
        return True
    if any(binding.has_wildcard_pattern and binding.is_deny for binding in entries):
        return False
    if settings.default_settles_by_type:
        return True
    return matching_of(settings).leaves_some(entries)


def own_by_type(
    request: AccessRequest, bindings: Iterable[AclBinding], settings: AuthorizerSettings
) -> list[AclBinding]:
    """Return the bindings for this session that name the operation itself or ALL: here nothing is implied."""
    matching = matching_of(settings)
    return [binding for binding in bindings if _is_own_by_type(request, binding, matching)]


def _is_own_by_type(request: AccessRequest, binding: AclBinding, matching: Matching) -> bool:
    return (
        binding.operation in (request.operation, Operation.ALL)
        and matching.is_for(binding.principal, request.principal)
        and matching.comes_from(binding.host, request.host)
    )


def _read_as(entries: Iterable[AclBinding], permission: PermissionType) -> list[AclBinding]:
    """Return the entries with each unknown value read in favour of `permission`.

    An unknown permission becomes that permission. An unknown pattern covers everything
    where it helps `permission`, and nothing otherwise.
    """
    read: list[AclBinding] = []
    for entry in entries:
        is_sure = entry.permission_type is not PermissionType.UNKNOWN
        known = entry if is_sure else replace(entry, permission_type=permission)
        if known.pattern_type is not PatternType.UNKNOWN:
            read.append(known)
        elif known.permission_type is permission:
            read.append(replace(known, pattern_type=PatternType.LITERAL, resource_name=WILDCARD))
    return read
