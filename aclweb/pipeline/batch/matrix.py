"""What may every principal do with every one of these names?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aclweb.acl.authorizer import (
    ALL_BITS,
    MAY_ALLOW,
    AclIndex,
    GlobSlot,
    Slot,
    Vote,
    vote_on,
)
from aclweb.acl.matching import SortedNames, empty_prefix_covers, matching_of, wildcard_covers
from aclweb.acl.model import (
    ANY_USER,
    AccessRequest,
    AclError,
    AuthorizerSettings,
    Operation,
    ResourceType,
    computed_once,
)
from aclweb.pipeline.batch.columns import Bits, Masks, Places

_OPERATION_BITS = tuple(
    operation for operation in Operation if operation not in (Operation.UNKNOWN, Operation.ANY)
)

_MASK = np.dtype("<u8")  # so that its four fields stand in this order in memory, too


class AccessMatrix:
    """Every operation of any principal on every one of these names, from one host.

    host: as a session has it; None for an address that no ACL names, which the authorizer `glob`
    cannot tell, so that it wants one. Nothing is kept for each cell: a principal's row is painted when
    it is asked for, and takes two numbers of 16 bits a name.
    """

    def __init__(
        self,
        index: AclIndex,
        settings: AuthorizerSettings,
        resource_type: ResourceType,
        names: Iterable[str],
        host: str | None = None,
    ) -> None:
        if host is None and not matching_of(settings).is_nested:
            raise AclError(
                "Under the authorizer 'glob' hosts may be globs, so no address is one that no ACL names; "
                "give the address that the matrix is for."
            )
        self.resource_type = resource_type
        self.settings = settings
        self.sorted_names = SortedNames(names)
        self.host = host if host is not None else _unnamed(index)
        self._table = index.table_for(resource_type, settings)
        self._has_unknown = any(
            binding.has_unknown for binding in index if binding.resource_type is resource_type
        )
        self._ranges: dict[str, tuple[int, int]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the order of the columns."""
        return self.sorted_names.names

    def row(self, principal: str) -> MatrixRow:
        """Return what one principal may do."""
        size = len(self.names)
        if principal in self.settings.super_users:
            return MatrixRow(np.full(size, ALL_BITS, np.uint16), np.zeros(size, np.uint16))
        if self._table is None:
            every = ALL_BITS if self.settings.allow_everyone else 0
            return MatrixRow(np.full(size, every, np.uint16), np.zeros(size, np.uint16))
        masks = self._for_any_user.copy()
        for own in self._table.principals_for(principal):
            if own != ANY_USER:
                self._paint_all(own, masks)
        return self._settled(masks, principal)

    def rows(self, principals: Iterable[str]) -> Iterator[tuple[str, MatrixRow]]:
        """Yield each principal with what it may do."""
        return ((principal, self.row(principal)) for principal in principals)

    def _settled(self, masks: Masks, principal: str) -> MatrixRow:
        """Return what `authorizer.settle` says of all operations at once."""
        allowed, denied, maybe_allowed, maybe_denied = masks.view("<u2").reshape(-1, 4).T
        if not self.settings.allow_everyone and not self._has_unknown:
            return MatrixRow(allowed & ~denied, np.zeros(len(masks), np.uint16))
        default = np.where(self._covered | (not self.settings.allow_everyone), 0, ALL_BITS).astype(np.uint16)
        if not self._has_unknown:
            return MatrixRow((allowed | default) & ~denied, np.zeros(len(masks), np.uint16))
        may_allow, may_deny, may_end_default = self._unknown_patterns(principal)
        can_be_allowed = allowed | maybe_allowed | may_allow | default
        by_default = ~allowed & default
        can_be_denied = (maybe_denied | may_deny | ~(allowed | default)) & ~by_default
        undecided = ~denied & can_be_allowed & (can_be_denied | (by_default & may_end_default))
        return MatrixRow((allowed | default) & ~denied & ~undecided, undecided)

    def _unknown_patterns(self, principal: str) -> tuple[np.uint16, np.uint16, np.uint16]:
        """Return which operations the ACLs with an unknown pattern may allow, deny, or end the default of."""
        allow = deny = end_default = 0
        for operation in _OPERATION_BITS:
            request = AccessRequest(principal, self.host, operation, self.resource_type, "")
            votes = [
                vote_on(request, binding, self.settings)
                for binding in (self._table.unknown_patterns if self._table else ())
            ]
            allow |= any(vote in MAY_ALLOW for vote in votes) << operation.code
            deny |= any(vote in (Vote.DENY, Vote.EITHER) for vote in votes) << operation.code
            end_default |= any(vote is not Vote.ALLOW for vote in votes) << operation.code
        return np.uint16(allow), np.uint16(deny), np.uint16(end_default)

    @computed_once
    def _for_any_user(self) -> Masks:
        masks = np.zeros(len(self.names), _MASK)
        self._paint_all(ANY_USER, masks)
        return masks

    @computed_once
    def _covered(self) -> NDArray[np.bool_]:
        masks = np.zeros(len(self.names), _MASK)
        if self._table is not None:
            self._paint(self._table.covered, masks)
        covered: NDArray[np.bool_] = masks != 0
        return covered

    def _paint_all(self, acl_principal: str, masks: Masks) -> None:
        """Lay what ACLs with this principal come to, from the matrix's host, over the masks of the names."""
        if self._table is not None:
            for slot in self._table.slots_of(acl_principal, self.host, self.settings):
                self._paint(slot, masks)

    def _paint(self, slot: Slot, masks: Masks) -> None:
        """Lay a slot's masks over those of the names."""
        names = self.sorted_names
        prefixed = None
        for prefix, mask in zip(slot.prefixes, slot.masks, strict=True):
            reach = self._ranges.get(prefix)
            if reach is None:
                reach = self._ranges[prefix] = names.range_of(prefix)
            start, end = reach
            if start < end:
                if prefixed is None:
                    prefixed = np.zeros(len(masks), np.uint64)
                # Shorter prefixes come first, and a longer one's mask holds theirs.
                prefixed[start:end] = mask
        if prefixed is not None:
            masks |= prefixed
        found = [(self._place[name], mask) for name, mask in slot.literals.items() if name in self._place]
        if found:
            literals, exact = zip(*found, strict=True)
            masks[list(literals)] |= np.array(exact, np.uint64)
        if isinstance(slot, GlobSlot):
            for shape, mask in slot.globs:
                places = list(map(self._place.__getitem__, names.matching(shape)))
                masks[places] |= np.uint64(mask)
        if slot.wild:
            masks[self._under_wildcard] |= np.uint64(slot.wild)
        if slot.empty:
            masks[[empty_prefix_covers(name, self.settings) for name in self.names]] |= np.uint64(slot.empty)

    @computed_once
    def _place(self) -> dict[str, int]:
        return dict(zip(self.names, range(len(self.names)), strict=True))

    @computed_once
    def _under_wildcard(self) -> NDArray[np.bool_]:
        return np.array([wildcard_covers(name, self.settings) for name in self.names], np.bool_)


@dataclass(frozen=True, eq=False)
class MatrixRow:
    """One principal's cells: for each name the operations that are allowed, and those that are unknown."""

    allowed: Bits
    undecided: Bits

    def may(self, operation: Operation) -> NDArray[np.bool_]:
        """Return for each name whether the operation is allowed."""
        return (self.allowed >> operation.code & 1).astype(np.bool_)

    def runs(self) -> tuple[Places, Bits, Bits]:
        """Return where neighbours differ, and what holds from there on: small where prefixes prevail."""
        changes = (np.diff(self.allowed) != 0) | (np.diff(self.undecided) != 0)
        starts = np.concatenate(([0], np.flatnonzero(changes) + 1))[: len(self.allowed)]
        return starts, self.allowed[starts], self.undecided[starts]


def _unnamed(index: AclIndex) -> str:
    """Return a host that no ACL admits by name."""
    host = "any other address"
    while host in index.hosts:
        host += "."
    return host
