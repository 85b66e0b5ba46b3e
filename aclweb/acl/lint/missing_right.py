"""Who has one right, and nowhere the other that the same clients need?"""

from __future__ import annotations

from collections.abc import Callable

from aclweb.acl.lint.beside import Others
from aclweb.acl.lint.rule import Broken
from aclweb.acl.lint.subject import Subject
from aclweb.acl.model import Operation, ResourceType

Right = tuple[Operation, ResourceType]


def has_without(
    given: Right, missing: Right, sentence: str
) -> Callable[[Others], Callable[[Subject], tuple[Broken, ...]]]:
    """Return a check for ALLOWs that give one right to a principal that nowhere has the other, once for each.

    sentence: what follows the ACL, as of `Subject.sentence`.
    """

    def beside(others: Others) -> Callable[[Subject], tuple[Broken, ...]]:
        found: set[str] = set()

        def check(acl: Subject) -> tuple[Broken, ...]:
            binding = acl.binding
            operation, resource_type = missing
            if (
                (binding.operation, binding.resource_type) != given
                or not acl.is_allow
                or binding.principal in found
                or others.is_nobodys(binding)
                or not others.may_nowhere(binding.principal, resource_type, operation)
            ):
                return ()
            found.add(binding.principal)
            return (Broken(acl.sentence(sentence)),)

        return check

    return beside
