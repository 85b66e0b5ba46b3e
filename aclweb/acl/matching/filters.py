"""Which ACLs does a DescribeAcls or DeleteAcls filter name?

A filter compares words, it does not decide access: `User:a` does not find ACLs of
`User:*`, READ does not find ALL, and a host does not find `*`. Only the pattern type
MATCH looks further, at every pattern that covers a name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from aclweb.acl.matching.patterns import glob_shape
from aclweb.acl.model import (
    WILDCARD,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourcePattern,
    ResourceType,
)


@dataclass(frozen=True, slots=True)
class AclFilter:
    """One filter, in Kafka's words; None stands for any text and ANY for any word."""

    resource_type: ResourceType
    resource_name: str | None
    pattern_type: PatternType
    principal: str | None
    host: str | None
    operation: Operation
    permission_type: PermissionType

    @classmethod
    def exactly(cls, binding: AclBinding) -> Self:
        """Return the filter that finds `binding` and nothing else."""
        return cls(
            binding.resource_type,
            binding.resource_name,
            binding.pattern_type,
            binding.principal,
            binding.host,
            binding.operation,
            binding.permission_type,
        )

    def matches(self, binding: AclBinding) -> bool:
        """Whether a broker would return `binding` for this filter."""
        return (
            self._matches_pattern(binding.pattern)
            and (self.principal is None or self.principal == binding.principal)
            and (self.host is None or self.host == binding.host)
            and self.operation in (Operation.ANY, binding.operation)
            and self.permission_type in (PermissionType.ANY, binding.permission_type)
        )

    def _matches_pattern(self, pattern: ResourcePattern) -> bool:
        if self.resource_type not in (ResourceType.ANY, pattern.resource_type):
            return False
        # Kafka looks at the pattern type first: a name of None does not bypass it.
        if self.pattern_type not in (PatternType.ANY, PatternType.MATCH, pattern.pattern_type):
            return False
        if self.resource_name is None:
            return True
        if self.pattern_type is not PatternType.MATCH:
            return self.resource_name == pattern.name
        if pattern.pattern_type is PatternType.LITERAL:
            return pattern.name in (self.resource_name, WILDCARD)
        if pattern.pattern_type is PatternType.GLOB:
            return glob_shape(pattern.name).matches(self.resource_name)
        # Kafka's own classes fail here on a pattern type that they do not know; ours do not find it.
        return pattern.pattern_type is PatternType.PREFIXED and self.resource_name.startswith(pattern.name)

    @property
    def is_unknown(self) -> bool:
        """Whether a word is UNKNOWN; brokers refuse such a filter."""
        return (
            self.resource_type is ResourceType.UNKNOWN
            or self.pattern_type is PatternType.UNKNOWN
            or self.operation is Operation.UNKNOWN
            or self.permission_type is PermissionType.UNKNOWN
        )

    @property
    def matches_at_most_one(self) -> bool:
        """Whether Kafka holds that this filter can name one ACL only."""
        return self.find_indefinite_field() is None

    def find_indefinite_field(self) -> str | None:
        """Return Kafka's own text for the first field that leaves a choice, or None.

        The pattern type ANY does not count, and only the texts about the resource end in
        a full stop: both as in Kafka.
        """
        checks = (
            (self.resource_type is ResourceType.ANY, "Resource type is ANY."),
            (self.resource_type is ResourceType.UNKNOWN, "Resource type is UNKNOWN."),
            (self.resource_name is None, "Resource name is NULL."),
            (self.pattern_type is PatternType.MATCH, "Resource pattern type is MATCH."),
            (self.pattern_type is PatternType.UNKNOWN, "Resource pattern type is UNKNOWN."),
            (self.principal is None, "Principal is NULL"),
            (self.host is None, "Host is NULL"),
            (self.operation is Operation.ANY, "Operation is ANY"),
            (self.operation is Operation.UNKNOWN, "Operation is UNKNOWN"),
            (self.permission_type is PermissionType.ANY, "Permission type is ANY"),
            (self.permission_type is PermissionType.UNKNOWN, "Permission type is UNKNOWN"),
        )
        return next((text for holds, text in checks if holds), None)
