"""What is a call of Kafka's protocol, and which rights does it check?"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from aclweb.acl.model import AuthorizerSettings, Operation, ResourceType
from aclweb.acl.needs.errors import Error

Version = tuple[int, int]


class Refusal(enum.Enum):
    """What becomes of a call when a right is missing; the value is its word in JSON."""

    REQUEST = "request"
    EACH = "each"
    ALL_OR_NONE = "all-or-none"
    FILTERED = "filtered"
    HIDDEN = "hidden"
    REPORTED = "reported"

    @property
    def is_error(self) -> bool:
        """Whether the client sees an error, and not only less in its answer."""
        return self in (Refusal.REQUEST, Refusal.EACH, Refusal.ALL_OR_NONE)

    @property
    def sentence(self) -> str:
        return _REFUSALS[self]


_REFUSALS = {
    Refusal.REQUEST: "The whole request is refused.",
    Refusal.EACH: "What is refused fails by itself; the rest of the request goes through.",
    Refusal.ALL_OR_NONE: "What is refused fails, and nothing is done for the rest of the request either.",
    Refusal.FILTERED: "What is refused is left out of the answer without an error.",
    Refusal.HIDDEN: "The call succeeds, and a part of the answer is hidden.",
    Refusal.REPORTED: "The call succeeds, and its answer only says in words what was not done.",
}


@dataclass(frozen=True, slots=True)
class Span:
    """For which versions and which authorizer something holds; the empty span is always."""

    since: Version | None = None
    before: Version | None = None
    authorizer: str = ""

    def holds(self, settings: AuthorizerSettings) -> bool:
        if self.since is not None and settings.version < self.since:
            return False
        if self.before is not None and settings.version >= self.before:
            return False
        if not self.authorizer:
            return True
        return (settings.authorizer == "acl") == (self.authorizer == "acl")

    def __str__(self) -> str:
        """`from Kafka 4.0 on`, `before Kafka 2.8`, `KRaft only`; empty for always."""
        parts = []
        if self.authorizer:
            parts.append("ZooKeeper mode only" if self.authorizer == "acl" else "KRaft only")
        if self.since is not None:
            parts.append(f"from Kafka {self.since[0]}.{self.since[1]} on")
        if self.before is not None:
            parts.append(f"before Kafka {self.before[0]}.{self.before[1]}")
        return ", ".join(parts)


ALWAYS = Span()
KRAFT = Span(authorizer="standard")


@dataclass(frozen=True, slots=True)
class Right:
    """One operation on a resource of a type; `any_one` asks whether at least one such resource would do."""

    operation: Operation
    resource_type: ResourceType
    any_one: bool = False
    span: Span = ALWAYS


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must be allowed: any one of its rights is enough, tried in this order."""

    any_of: tuple[Right, ...]
    refusal: Refusal
    error: Error | None
    note: str = ""
    span: Span = ALWAYS


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which a call is used, with its checks in order; `when` completes "when it is sent …".

    usual: whether clients use it so without being configured to.
    """

    name: str
    when: str
    checks: tuple[Check, ...]
    note: str = ""
    span: Span = ALWAYS
    usual: bool = True


@dataclass(frozen=True, slots=True)
class Documented:
    """A right that Kafka's documentation names and no broker checks (any more)."""

    operation: Operation
    resource_type: ResourceType
    sentence: str


@dataclass(frozen=True, slots=True)
class Api:
    """One call of the protocol. `sent_by` is "clients", "brokers" or "controllers"."""

    key: int
    name: str
    cases: tuple[Case, ...]
    sent_by: str = "clients"
    note: str = ""
    also: tuple[str, ...] = ()
    documented: tuple[Documented, ...] = ()
    span: Span = ALWAYS

    def case(self, name: str) -> Case:
        """Return the case of this name; raise KeyError if there is none."""
        for case in self.cases:
            if case.name == name:
                return case
        raise KeyError(f"{self.name} has no case {name!r}.")


def checks_of(case: Case, settings: AuthorizerSettings) -> tuple[Check, ...]:
    """Return the checks that a broker under these settings makes, each with the rights it knows."""
    found = []
    for check in case.checks:
        rights = tuple(right for right in check.any_of if right.span.holds(settings))
        if check.span.holds(settings) and rights:
            found.append(Check(rights, check.refusal, check.error, check.note, check.span))
    return tuple(found)
