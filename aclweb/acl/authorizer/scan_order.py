"""In which order does Kafka's own authorizer hold ACLs?"""

from __future__ import annotations

from collections.abc import Iterable

from aclweb.acl.matching import code_units, glob_shape
from aclweb.acl.model import AclBinding, PatternType

_BEFORE_GLOBS = -(1 << 30)


def in_scan_order(bindings: Iterable[AclBinding]) -> list[AclBinding]:
    """Return bindings in the order in which KRaft's authorizer holds them (StandardAcl.compareTo).

    GLOB patterns come behind all others of their type, those with most characters of their own first.
    """
    ordered = sorted(bindings, key=entry_order)
    ordered.sort(key=_name_order, reverse=True)
    ordered.sort(key=_type_order)
    return ordered


def entry_order(binding: AclBinding) -> tuple[int, int, str, str, int]:
    return (
        binding.pattern_type._value_,
        binding.operation._value_,
        code_units(binding.principal),
        code_units(binding.host),
        binding.permission_type._value_,
    )


def _name_order(binding: AclBinding) -> str:
    return code_units(binding.resource_name)


def _type_order(binding: AclBinding) -> tuple[int, int]:
    if binding.pattern_type is not PatternType.GLOB:
        return binding.resource_type._value_, _BEFORE_GLOBS
    return binding.resource_type._value_, -glob_shape(binding.resource_name).literal_count
