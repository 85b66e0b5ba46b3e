"""What is asked of a proposal of fewer rights, and what it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from aclweb.acl.model import AccessRequest, AclBinding, Delta, computed_once, number_of


@dataclass(frozen=True, slots=True)
class Used:
    """A distinct request that brokers logged as allowed, and how often."""

    request: AccessRequest
    lines: int


def needed(lines: int) -> str:
    """Return the beginning of a sentence, such as `3 logged requests need`."""
    return f"{number_of(lines, 'logged request')} {'needs' if lines == 1 else 'need'}"


@dataclass(frozen=True, slots=True)
class Held:
    """One ACL that allows the principal something today, and what becomes of it.

    lines: of the logged requests that it matches. names: how many different names they are about. stays: whether the
    proposal keeps it. replaced_by: the proposed ACLs that allow what it alone was needed for. reason: a sentence.
    """

    binding: AclBinding
    lines: int
    names: int
    stays: bool
    replaced_by: tuple[AclBinding, ...]
    reason: str

    @property
    def is_needed_as_it_is(self) -> bool:
        """Whether it stays because logged requests need it, and its reason says no more than that."""
        return self.stays and self.reason == f"{needed(self.lines)} it."


@dataclass(frozen=True, slots=True)
class Proposed:
    """One ACL of the principal as the proposal would leave it.

    lines: of the logged requests that it matches. is_new: whether it has to be added.
    """

    binding: AclBinding
    lines: int
    is_new: bool
    reason: str


@dataclass(frozen=True)
class Proposal:
    """The ALLOWs of one principal as its logged requests need them.

    today: each ALLOW that names the principal, in the order given. proposed: those that stay, in that order, then the
    new ones. lines: logged requests of the principal in all. covered: those that are allowed with the proposal.
    not_covered: those that are not; today's ACLs do not allow them either.
    """

    principal: str
    today: tuple[Held, ...]
    proposed: tuple[Proposed, ...]
    lines: int
    covered: int
    not_covered: tuple[Used, ...] = field(default=(), repr=False)

    def __iter__(self) -> Iterator[Proposed]:
        return iter(self.proposed)

    @computed_once
    def adds(self) -> tuple[AclBinding, ...]:
        return tuple(each.binding for each in self.proposed if each.is_new)

    @computed_once
    def removes(self) -> tuple[AclBinding, ...]:
        return tuple(each.binding for each in self.today if not each.stays)

    @computed_once
    def keeps(self) -> tuple[AclBinding, ...]:
        return tuple(each.binding for each in self.today if each.stays)

    @property
    def delta(self) -> Delta:
        """What turns today's ACLs into the proposed ones."""
        return Delta(add=self.adds, remove=self.removes)

    @property
    def reasons(self) -> Mapping[AclBinding, str]:
        """Why each ACL is added, removed or kept."""
        new = {each.binding: each.reason for each in self.proposed if each.is_new}
        return {each.binding: each.reason for each in self.today} | new

    @property
    def percent(self) -> float:
        """The share of the logged requests that the proposal allows; 100 where none was logged."""
        return 100.0 * self.covered / self.lines if self.lines else 100.0
