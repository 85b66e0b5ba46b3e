"""Which of the names that exist does an ACL match?"""

from __future__ import annotations

from aclweb.acl.matching import (
    SortedNames,
)
from aclweb.acl.model import (
    AclBinding,
    AuthorizerSettings,
    ResourcePattern,
    ResourceType,
)
from aclweb.acl.simulate import Names

NO_NAMES = SortedNames(())


class Existing:
    """The names that exist, to see what a pattern covers among them."""

    def __init__(self, names: Names, settings: AuthorizerSettings) -> None:
        self._settings = settings
        given = {
            ResourceType.TOPIC: (*names.topics, *names.new_topics),
            ResourceType.GROUP: (*names.groups, *names.new_groups),
            ResourceType.TRANSACTIONAL_ID: (*names.transactional_ids, *names.new_transactional_ids),
        }
        self._sorted = {kind: SortedNames(found) for kind, found in given.items() if found}
        self._none_under: dict[ResourcePattern, bool] = {}

    def under(self, binding: AclBinding) -> tuple[str, ...]:
        """Return the given names of the type that the pattern covers."""
        return tuple(self._sorted.get(binding.resource_type, NO_NAMES).under(binding, self._settings))

    def count_under(self, prefixed: AclBinding) -> int:
        """Return how many given names begin with a prefix, without listing them."""
        start, end = self._sorted.get(prefixed.resource_type, NO_NAMES).range_of(prefixed.resource_name)
        return end - start

    def has_none_under(self, binding: AclBinding) -> bool:
        """Whether names of this type were given and the pattern covers none of them."""
        if binding.resource_type not in self._sorted:
            return False
        pattern = binding.pattern
        if pattern not in self._none_under:
            self._none_under[pattern] = not self.under(binding)
        return self._none_under[pattern]
