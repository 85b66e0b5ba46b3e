"""What does a client action need, call by call, and what became of it? The values of an answer, and their sentences."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from aclweb.acl.authorizer import Decision, Result, beyond_acls, explain
from aclweb.acl.model import (
    NOUNS,
    WORDS,
    AclBinding,
    AuthorizerSettings,
    Operation,
    acl_text,
    name_text,
    resource_text,
)
from aclweb.acl.needs.calls import Check, Refusal, Right
from aclweb.acl.needs.errors import Error
from aclweb.acl.needs.roles import Call, ClientAction, Subject

MATCHES_SHOWN = 3
"""How many close matches an unknown name is answered with."""

WEAK = (Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS)


class Outcome(enum.Enum):
    """How a call, or a whole action, ends; the value is its word in JSON."""

    WORKS = "WORKS"
    SHOWS_LESS = "SHOWS_LESS"
    FAILS = "FAILS"
    UNDECIDED = "UNDECIDED"
    NOT_ASKED = "NOT_ASKED"


@dataclass(frozen=True)
class Asked:
    """One check for one name: the decision on each right that would do, in the broker's order.

    subject: the name that it is about; None for the cluster and for "at least one".
    """

    check: Check
    subject: Subject | None
    decisions: tuple[Decision, ...]

    @property
    def result(self) -> Result:
        results = {decision.result for decision in self.decisions}
        for result in (Result.ALLOWED, Result.UNDECIDED):
            if result in results:
                return result
        return Result.DENIED

    @property
    def sentences(self) -> tuple[str, ...]:
        """Why it is refused or allowed, one sentence for each right."""
        return tuple(explain(decision).sentence for decision in self.decisions)


@dataclass(frozen=True)
class DecidedCall:
    """One call of the action, decided.

    needed: whether the action hangs on it. first_failing: whether it is the call that
    the client's error will be about; may_fail_first: it, and the failing calls that are made at
    once with it. Without names to ask about, `asked` is empty and the outcome NOT_ASKED.
    """

    call: Call
    checks: tuple[Check, ...]
    asked: tuple[Asked, ...]
    needed: bool
    first_failing: bool = False
    may_fail_first: bool = False

    @property
    def outcome(self) -> Outcome:
        if self.checks and not self.asked:
            return Outcome.NOT_ASKED
        found = {_outcome(asked) for asked in self.asked}
        for outcome in (Outcome.FAILS, Outcome.UNDECIDED, Outcome.SHOWS_LESS):
            if outcome in found:
                return outcome
        return Outcome.WORKS

    @property
    def result(self) -> Result:
        """Whether all that the call asks for is allowed, whatever a refusal would do."""
        results = {asked.result for asked in self.asked}
        for result in (Result.DENIED, Result.UNDECIDED):
            if result in results:
                return result
        return Result.ALLOWED

    @property
    def failing(self) -> Asked | None:
        """The first thing that is refused with an error."""
        for asked in self.asked:
            if _outcome(asked) is Outcome.FAILS:
                return asked
        return None


@dataclass(frozen=True)
class Assessment:
    """Whether a client can do an action, and what it would take.

    missing: the smallest set of ACLs that lets every call through and shows everything;
    empty if none can. denied_by: the DENY ACLs that no new ACL gets past.
    """

    action: ClientAction
    principal: str
    host: str
    settings: AuthorizerSettings
    calls: tuple[DecidedCall, ...]
    missing: tuple[AclBinding, ...]
    denied_by: tuple[AclBinding, ...]
    sentences: tuple[str, ...]

    @property
    def outcome(self) -> Outcome:
        return _worst(verdict.outcome for verdict in self.calls if verdict.needed)

    @property
    def first_failing(self) -> DecidedCall | None:
        return next((verdict for verdict in self.calls if verdict.first_failing), None)

    @property
    def error(self) -> Error | None:
        """What the client sees; the first of `errors`."""
        return next(iter(self.errors), None)

    @property
    def errors(self) -> tuple[Error, ...]:
        """Each error that a client may report first, once."""
        found = (verdict.failing for verdict in self.calls if verdict.may_fail_first)
        errors = (asked.check.error for asked in found if asked is not None)
        return tuple(dict.fromkeys(error for error in errors if error is not None))


def right_text(right: Right, call: Call) -> str:
    """Return a right as a person says it: `Write on the topic`, `Alter on the cluster`."""
    noun = call.role(right.resource_type).noun
    return (
        f"{WORDS[right.operation]} on {f'any one {NOUNS[right.resource_type][0]}' if right.any_one else noun}"
    )


def _outcome(asked: Asked) -> Outcome:
    if asked.result is Result.ALLOWED:
        return Outcome.WORKS
    if asked.check.refusal.is_error:
        return Outcome.FAILS if asked.result is Result.DENIED else Outcome.UNDECIDED
    if asked.check.refusal is Refusal.HIDDEN:
        return Outcome.WORKS
    return Outcome.SHOWS_LESS


def _worst(outcomes: Iterable[Outcome]) -> Outcome:
    found = set(outcomes)
    for outcome in (Outcome.FAILS, Outcome.UNDECIDED, Outcome.SHOWS_LESS, Outcome.WORKS):
        if outcome in found:
            return outcome
    return Outcome.NOT_ASKED if found else Outcome.WORKS


def call_text(call: Call) -> str:
    """Return a call with what it is used for: `FETCH (1) by a consumer`."""
    text = f"{call.api.name} ({call.api.key})"
    # A call of its own says when it is made in its case; in an action the action says so.
    if call.when and call.when != call.case.when:
        return f"{text}, {call.when}"
    return f"{text} {call.case.when}" if call.case.when else text


def sentences_of(assessment: Assessment) -> tuple[str, ...]:
    who = name_text(assessment.principal)
    name = assessment.action.name
    found: list[str] = []
    failing = assessment.first_failing
    if failing is not None and failing.failing is not None:
        asked = failing.failing
        place = assessment.calls.index(failing) + 1
        found.append(
            f"{name} fails for {who}: call {place} of {len(assessment.calls)}, {call_text(failing.call)}, is refused."
        )
        found += [f"{sentence}" for sentence in asked.sentences]
        errors = assessment.errors
        if len(errors) > 1:
            names = " or ".join(f"{error.name} ({error.code})" for error in errors)
            found.append(f"The client sees {names}, whichever it reports first.")
        elif errors:
            found.append(f"The client sees {errors[0].name} ({errors[0].code}). {errors[0].meaning}")
        found.append(asked.check.refusal.sentence)
    elif assessment.outcome is Outcome.UNDECIDED:
        found.append(f"Whether {name} works for {who} depends on an ACL that aclweb does not understand.")
    elif assessment.outcome is Outcome.SHOWS_LESS:
        found.append(f"{name} works for {who} without an error, but not everything is seen or got.")
        for verdict in assessment.calls:
            if verdict.needed and verdict.outcome is Outcome.SHOWS_LESS:
                found += [
                    f"{call_text(verdict.call)}: {asked.check.refusal.sentence}"
                    for asked in verdict.asked
                    if _outcome(asked) is Outcome.SHOWS_LESS
                ][:1]
    else:
        found.append(f"{name} works for {who}: every call that it needs is allowed.")
    found += beyond_acls(assessment.settings)
    if assessment.missing:
        one = len(assessment.missing) == 1
        found.append(
            "It would take this ACL:" if one else f"It would take these {len(assessment.missing)} ACLs:"
        )
        found += [f"{acl_text(binding)}." for binding in assessment.missing]
    if assessment.denied_by:
        found.append("No new ACL can allow it while these deny it:")
        found += [f"{acl_text(binding)}." for binding in assessment.denied_by]
    return tuple(dict.fromkeys(found))


def target_text(decision: Decision) -> str:
    """Return what a decision was about: `Write on topic orders`."""
    request = decision.request
    word = WORDS[request.operation]
    if request.resource_name is None:
        return f"{word} on any one {NOUNS[request.resource_type][0]}"
    return f"{word} on {resource_text(request.resource_type, request.resource_name)}"
