"""What an edit adds and removes, and in which order it is safe to write.

The order of `Delta.steps` is the only one of the 24 in which nothing is allowed on the
way that is refused both before and after, whichever the default mode: add DENY, add
ALLOW, remove ALLOW, remove DENY.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from aclweb.acl.model.computed import computed_once
from aclweb.acl.model.vocabulary import AclBinding, AclError, PermissionType


@dataclass(frozen=True, slots=True)
class Step:
    """Bindings that may be written together; the next step waits until they are."""

    phase: int
    op: str
    bindings: tuple[AclBinding, ...]


@dataclass(frozen=True)
class Delta:
    """Bindings to add and to remove. Repetitions count once; nothing may be in both."""

    add: tuple[AclBinding, ...] = ()
    remove: tuple[AclBinding, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "add", tuple(dict.fromkeys(self.add)))
        object.__setattr__(self, "remove", tuple(dict.fromkeys(self.remove)))
        removed = set(self.remove)
        for binding in self.add:
            if binding in removed:
                raise AclError(
                    f"The ACL {binding.permission_type.name} {binding.operation.name} on "
                    f"{binding.resource_name!r} for {binding.principal!r} is both added and removed; "
                    "say which of the two you mean."
                )

    def __bool__(self) -> bool:
        return bool(self.add or self.remove)

    def __hash__(self) -> int:
        return self._hash

    @computed_once
    def _hash(self) -> int:
        # Kept, since an edit of thousands of ACLs is looked up again and again.
        return hash((self.add, self.remove))

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[AclBinding, ...], tuple[AclBinding, ...]]]:
        # Hashes of texts are others in each process, so that none goes along.
        return type(self), (self.add, self.remove)

    @classmethod
    def between(cls, before: Iterable[AclBinding], after: Iterable[AclBinding]) -> Self:
        """Return what turns `before` into `after`."""
        old, new = dict.fromkeys(before), dict.fromkeys(after)
        made = cls.__new__(cls)
        # None is there twice, or on both sides, so that none has to be looked for.
        object.__setattr__(made, "add", tuple(binding for binding in new if binding not in old))
        object.__setattr__(made, "remove", tuple(binding for binding in old if binding not in new))
        return made

    @classmethod
    def between_distinct(cls, before: Sequence[AclBinding], after: Sequence[AclBinding]) -> Self:
        """Return the same of ACLs that differ on each side; of those that both have in the same order at hardly a cost.

        Two revisions of a cluster are such: what comes is behind all that stays.
        """
        return cls.between(*_without_what_both_have(before, after))

    def inverse(self) -> Delta:
        """Return the delta that undoes this one, where each of its edits had an effect."""
        return Delta(add=self.remove, remove=self.add)

    def applied_to(self, bindings: Iterable[AclBinding]) -> tuple[AclBinding, ...]:
        """Return `bindings` after this edit: the kept ones in their order, then the new ones."""
        removed = set(self.remove)
        kept = dict.fromkeys(binding for binding in bindings if binding not in removed)
        return tuple(kept | dict.fromkeys(self.add))

    def steps(self) -> tuple[Step, ...]:
        """Return what to write, in the safe order, without empty phases.

        A binding whose permission is UNKNOWN could be either; it comes last among the
        added DENYs and first among the removed ones, where both readings are safe.
        """
        phases = (
            Step(1, "add", _denying(self.add, unknown_first=False)),
            Step(2, "add", _allowing(self.add)),
            Step(3, "remove", _allowing(self.remove)),
            Step(4, "remove", _denying(self.remove, unknown_first=True)),
        )
        return tuple(step for step in phases if step.bindings)


_COMPARED_AT_ONCE = 512
# Of more there is no such order, and each is looked up in a set sooner.
_MOST_APART = 1_000


def _without_what_both_have(
    before: Sequence[AclBinding], after: Sequence[AclBinding]
) -> tuple[list[AclBinding], list[AclBinding]]:
    """Return both without ACLs that are in both: all of them, where what comes is behind what stays and few go."""
    left: list[AclBinding] = []
    first = second = 0
    while first < len(before) and second < len(after) and len(left) < _MOST_APART:
        many = min(_COMPARED_AT_ONCE, len(before) - first, len(after) - second)
        some, others = before[first : first + many], after[second : second + many]
        if some != others:
            many = next(place for place in range(many) if some[place] != others[place])
            left.append(some[many])
            first += 1
        first += many
        second += many
    return [*left, *before[first:]], [*after[second:]]


def _allowing(bindings: Iterable[AclBinding]) -> tuple[AclBinding, ...]:
    return tuple(binding for binding in bindings if binding.permission_type is PermissionType.ALLOW)


def _denying(bindings: Iterable[AclBinding], *, unknown_first: bool) -> tuple[AclBinding, ...]:
    others = [binding for binding in bindings if binding.permission_type is not PermissionType.ALLOW]
    return tuple(sorted(others, key=lambda binding: binding.is_deny is unknown_first))
