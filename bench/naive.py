"""What everything is measured against: the plain ways to answer, written to be fast at it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aclweb.acl.authorizer import DENY_SHIFT, mask_of
from aclweb.acl.model import ANY_USER, WILDCARD, AccessRequest, AclBinding, PatternType, ResourceType


class Scan:
    """Looks at every ACL for every question, on tuples that are made ready for it."""

    def __init__(self, bindings: Iterable[AclBinding]) -> None:
        self._rows = [
            (
                b.principal,
                b.host,
                b.resource_type,
                b.resource_name,
                b.pattern_type is PatternType.PREFIXED,
                mask_of(b.operation, b.permission_type),
            )
            for b in bindings
        ]

    def allows(self, request: AccessRequest) -> bool:
        """Whether the request is allowed, where nothing is allowed by default."""
        asked, host, name = request.principal, request.host, request.resource_name
        resource_type: ResourceType = request.resource_type
        assert name is not None
        found = 0
        for principal, admitted, kind, text, prefixed, mask in self._rows:
            # The principal first: it tells most rows apart. Comparing twice is faster than `in`.
            if (
                (principal == asked or principal == ANY_USER)  # noqa: SIM109
                and kind is resource_type
                and (name.startswith(text) if prefixed else (text == name or text == WILDCARD))  # noqa: SIM109
                and (admitted == WILDCARD or admitted == host)  # noqa: SIM109
            ):
                found |= mask
        bit = 1 << request.operation.value
        return bool(found & bit and not found >> DENY_SHIFT & bit)


def expressions(globs: Iterable[str]) -> list[re.Pattern[str]]:
    """Return each glob as the usual regular expression."""
    words = {"*": ".*", "?": "."}
    return [
        re.compile("".join(words.get(character) or re.escape(character) for character in glob), re.DOTALL)
        for glob in globs
    ]


def names_by_expression(glob: str, names: Sequence[str]) -> list[str]:
    """Return the names that a glob matches, tried one by one."""
    (expression,) = expressions([glob])
    matches = expression.fullmatch
    return [name for name in names if matches(name)]
