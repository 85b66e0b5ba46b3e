"""Would these ACLs let a client do this, and if not, what does it see and what is missing?

Each call of a client action is decided by the same authorizer as everything else: every
check of the call, for every name that the action uses, on each right that would do. From
these decisions come the first call that fails, the error that the client meets there, and
the smallest set of ACLs that would let the action through, which was checked by deciding
again.
"""

from __future__ import annotations

import difflib
import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from aclweb.acl.authorizer import (
    AclIndex,
    Basis,
    Decision,
    Result,
    answer_given,
    authorize,
    explain,
    smallest_fix,
)
from aclweb.acl.matching import covers_name
from aclweb.acl.model import (
    CLUSTER_NAME,
    NOUNS,
    WORDS,
    AccessRequest,
    AclBinding,
    AclError,
    Operation,
    PatternType,
    ResourceType,
    Rules,
    name_text,
    resource_text,
    says,
    shown,
)
from aclweb.acl.needs.actions import (
    ACTIONS,
    GIVEN_ROLES,
    Call,
    ClientAction,
    Names,
    Role,
    Subject,
    action_of,
    calls_under,
)
from aclweb.acl.needs.protocol import APIS, Check, Error, Refusal, Right, checks_of, find_api

MATCHES_SHOWN = 3
"""How many close matches an unknown name is answered with."""

_WEAK = (Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS)


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
class CallVerdict:
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
    rules: Rules
    calls: tuple[CallVerdict, ...]
    missing: tuple[AclBinding, ...]
    denied_by: tuple[AclBinding, ...]
    sentences: tuple[str, ...]

    @property
    def outcome(self) -> Outcome:
        return _worst(verdict.outcome for verdict in self.calls if verdict.needed)

    @property
    def first_failing(self) -> CallVerdict | None:
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


def find_action(text: str) -> ClientAction:
    """Return the client action or the call of this name; raise AclError with close matches if there is none.

    Where an action and a call have one name, in capital letters it is the call: produce, PRODUCE.
    """
    action, api = ACTIONS.get(text.lower().replace("_", "-")), find_api(text)
    if action is not None and (api is None or text != api.name):
        return action
    if api is not None:
        return action_of(api)
    near = _near(text)
    hint = (
        f"did you mean {' or '.join(near)}?" if near else "use a client action such as produce or consume, "
    )
    if not near:
        hint += "a call such as PRODUCE, or its key."
    raise AclError(f"{shown(text)} is no client action and no call of Kafka's protocol; {hint}")


def missing_roles(action: ClientAction, names: Names, rules: Rules) -> tuple[Role, ...]:
    """Return the roles without a name that keep the action from being decided, in the order of GIVEN_ROLES."""
    if action.is_api and _counted(action, names, rules):
        # The cases of a call stand for themselves, so those without a name are just not asked.
        return ()
    lacking = {
        roles[0].given_as
        for call in calls_under(action, rules)
        if action.is_api or call.is_needed(names)
        for check in checks_of(call.case, rules)
        if check.refusal.is_error and (roles := _roles(check, call)) and not _can_ask(check, call, names)
    }
    return tuple(role for role in GIVEN_ROLES if role.key in lacking)


def assess(
    action: ClientAction,
    *,
    principal: str,
    host: str,
    names: Names,
    index: AclIndex,
    rules: Rules,
) -> Assessment:
    """Return the verdict of each call of an action on the ACLs of `index`.

    names: by the key of their role (`topic`, `group`, `transactional-id`, …), several of
    each if need be. host: as Java prints it. Raises AclError naming what is not given.
    """
    lacking = missing_roles(action, names, rules)
    if lacking:
        options = ", ".join(f"--{role.key}" for role in lacking)
        nouns = " and ".join(role.noun for role in lacking)
        raise AclError(f"Whether {action.name} would work hangs on {nouns}; give {options}.")
    counted = _counted(action, names, rules)
    verdicts = [
        _decide_call(call, call in counted, principal, host, names, index, rules)
        for call in calls_under(action, rules)
    ]
    verdicts = _mark_first_failing(verdicts)
    missing = _smallest_set(verdicts, principal, host, names)
    denied_by = _denying(_refused(verdicts))
    assessment = Assessment(action, principal, host, rules, tuple(verdicts), missing, denied_by, ())
    return replace(assessment, sentences=_sentences(assessment))


def needed_acls(
    action: ClientAction, *, principal: str, host: str, names: Names, rules: Rules
) -> tuple[AclBinding, ...]:
    """Return the smallest set of ACLs for an action where there is none yet."""
    bare = replace(rules, super_users=frozenset(), allow_everyone=False)
    return assess(action, principal=principal, host=host, names=names, index=AclIndex(()), rules=bare).missing


def right_text(right: Right, call: Call) -> str:
    """Return a right as a person says it: `Write on the topic`, `Alter on the cluster`."""
    noun = call.role(right.resource_type).noun
    return (
        f"{WORDS[right.operation]} on {f'any one {NOUNS[right.resource_type][0]}' if right.any_one else noun}"
    )


# --- deciding -----------------------------------------------------------------------------


def _counted(action: ClientAction, names: Names, rules: Rules) -> list[Call]:
    """The calls that the action hangs on.

    Of one call's cases those that are about the names given, or else those that need no name.
    """
    calls = calls_under(action, rules)
    if not action.is_api:
        return [call for call in calls if call.is_needed(names)]
    askable = [
        call
        for call in calls
        if call.case.usual
        and all(
            _can_ask(check, call, names) or not check.refusal.is_error
            for check in checks_of(call.case, rules)
        )
    ]
    named = [
        call
        for call in askable
        if any(_subjects(check, call, names) for check in checks_of(call.case, rules))
    ]
    return named or askable


def _decide_call(
    call: Call, needed: bool, principal: str, host: str, names: Names, index: AclIndex, rules: Rules
) -> CallVerdict:
    checks = checks_of(call.case, rules)
    asked = tuple(chain.from_iterable(_ask(c, call, principal, host, names, index, rules) for c in checks))
    return CallVerdict(call, checks, asked, needed)


def _ask(
    check: Check, call: Call, principal: str, host: str, names: Names, index: AclIndex, rules: Rules
) -> list[Asked]:
    def decided(right: Right, name: str | None) -> Decision:
        request = AccessRequest(principal, host, right.operation, right.resource_type, name)
        return authorize(request, index, rules)

    subjects = _subjects(check, call, names)
    found = []
    for subject in subjects or (None,):
        decisions = []
        for right in check.any_of:
            if right.any_one:
                decisions.append(decided(right, None))
            elif right.resource_type is ResourceType.CLUSTER:
                decisions.append(decided(right, CLUSTER_NAME))
            elif subject is not None and right.resource_type is subject.resource_type:
                decisions.append(decided(right, subject.asked_name))
            else:
                others = call.role(right.resource_type).subjects(names) if subject is not None else ()
                decisions.extend(decided(right, other.asked_name) for other in others)
        if decisions:
            found.append(Asked(check, subject, tuple(decisions)))
    return found


def _subjects(check: Check, call: Call, names: Names) -> tuple[Subject, ...]:
    """The names that a check is about: those of the first of its rights for which names are given."""
    for role in _roles(check, call):
        subjects = role.subjects(names)
        if subjects:
            return subjects
    return ()


def _roles(check: Check, call: Call) -> list[Role]:
    return [
        call.role(right.resource_type)
        for right in check.any_of
        if not right.any_one and right.resource_type is not ResourceType.CLUSTER
    ]


def _can_ask(check: Check, call: Call, names: Names) -> bool:
    roles = _roles(check, call)
    return not roles or any(role.subjects(names) for role in roles)


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


def _mark_first_failing(verdicts: list[CallVerdict]) -> list[CallVerdict]:
    first: CallVerdict | None = None
    marked = []
    for verdict in verdicts:
        fails = verdict.needed and verdict.outcome is Outcome.FAILS
        if fails and first is None:
            first = verdict
            verdict = replace(verdict, first_failing=True, may_fail_first=True)
        elif fails and first is not None and first.call.at_once and verdict.call.at_once:
            verdict = replace(verdict, may_fail_first=True)
        marked.append(verdict)
    return marked


# --- what is missing ------------------------------------------------------------------------


def _refused(verdicts: Sequence[CallVerdict]) -> list[tuple[Call, Asked]]:
    return [
        (verdict.call, asked)
        for verdict in verdicts
        if verdict.needed
        for asked in verdict.asked
        if asked.result is Result.DENIED and asked.check.refusal is not Refusal.HIDDEN
    ]


def _smallest_set(
    verdicts: Sequence[CallVerdict], principal: str, host: str, names: Names
) -> tuple[AclBinding, ...]:
    """Return ACLs that turn every refusal, none of which can be left out; empty if some refusal stays."""
    refused = _refused(verdicts)
    allowed = [
        (verdict.call, asked)
        for verdict in verdicts
        if verdict.needed
        for asked in verdict.asked
        if asked.result is Result.ALLOWED
    ]
    while refused:
        chosen = _set_for(refused, principal, host, names)
        # Where everyone is allowed by default, the first ACL on a resource ends that.
        broken = [(call, asked) for call, asked in allowed if chosen and not _holds_with(asked, chosen)]
        if not broken:
            return chosen
        refused += broken
        allowed = [one for one in allowed if one not in broken]
    return ()


def _set_for(
    refused: Sequence[tuple[Call, Asked]], principal: str, host: str, names: Names
) -> tuple[AclBinding, ...]:
    chosen: dict[AclBinding, None] = {}
    for call, asked in refused:
        candidates = _candidates(call, asked, principal, host, names)
        fix = next((one for one in candidates if _holds_with(asked, [one])), None)
        if fix is None:
            return ()
        chosen[fix] = None
    kept = list(chosen)
    # The weak rights go first, because stronger ones that are needed anyhow bring them.
    for binding in sorted(kept, key=lambda one: one.operation not in _WEAK):
        others = [other for other in kept if other != binding]
        if all(_holds_with(asked, others) for _, asked in refused):
            kept = others
    return tuple(kept)


def _candidates(call: Call, asked: Asked, principal: str, host: str, names: Names) -> list[AclBinding]:
    """The ACLs that could help, the narrowest first: on a name, then on one name of a type, then on the cluster."""
    rules = asked.decisions[0].rules
    on_names: list[AclBinding] = []
    on_any_one: list[AclBinding] = []
    on_the_cluster: list[AclBinding] = []
    for right in asked.check.any_of:
        subjects = call.role(right.resource_type).subjects(names)
        if right.resource_type is ResourceType.CLUSTER:
            on_the_cluster += _allows(right, subjects, principal, host, rules)
        elif right.any_one:
            on_any_one += _allows(right, subjects, principal, host, rules)
        elif asked.subject is not None and asked.subject.resource_type is right.resource_type:
            on_names += _allows(right, (asked.subject,), principal, host, rules)
        else:
            on_names += _allows(right, subjects, principal, host, rules)
    return [*on_names, *on_any_one, *on_the_cluster]


def _allows(
    right: Right, subjects: Iterable[Subject], principal: str, host: str, rules: Rules
) -> list[AclBinding]:
    found = []
    bare = replace(rules, super_users=frozenset(), allow_everyone=False)
    for subject in subjects:
        request = AccessRequest(principal, host, right.operation, right.resource_type, subject.name)
        fix = smallest_fix(authorize(request, AclIndex(()), bare))
        if fix is not None and subject.pattern_type is PatternType.PREFIXED:
            fix = replace(fix, pattern_type=PatternType.PREFIXED)
        if fix is not None:
            found.append(fix)
    return found


def _holds_with(asked: Asked, more: Iterable[AclBinding]) -> bool:
    """Whether one of the rights would be allowed if these ACLs were there too."""
    more = tuple(more)
    for decision in asked.decisions:
        request, rules = decision.request, decision.rules
        covering = [finding.binding for finding in decision.findings]
        covering += [binding for binding in more if _reaches(binding, request, rules)]
        if answer_given(request, covering, decision.unknowns, rules)[0] is Result.ALLOWED:
            return True
    return False


def _reaches(binding: AclBinding, request: AccessRequest, rules: Rules) -> bool:
    if binding.resource_type is not request.resource_type:
        return False
    return request.resource_name is None or covers_name(binding, request.resource_name, rules)


def _denying(refused: Sequence[tuple[Call, Asked]]) -> tuple[AclBinding, ...]:
    """The DENYs in the way of what no ALLOW can turn."""
    found: dict[AclBinding, None] = {}
    for _, asked in refused:
        if all(decision.basis is Basis.DENY_ACL for decision in asked.decisions):
            for decision in asked.decisions:
                found.update(dict.fromkeys(decision.determining))
    return tuple(found)


# --- words ----------------------------------------------------------------------------------


def call_text(call: Call) -> str:
    """Return a call with what it is used for: `FETCH (1) by a consumer`."""
    text = f"{call.api.name} ({call.api.key})"
    # A call of its own says when it is made in its case; in an action the action says so.
    if call.when and call.when != call.case.when:
        return f"{text}, {call.when}"
    return f"{text} {call.case.when}" if call.case.when else text


def _sentences(assessment: Assessment) -> tuple[str, ...]:
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
            told = " or ".join(f"{error.name} ({error.code})" for error in errors)
            found.append(f"The client sees {told}, whichever it reports first.")
        elif errors:
            found.append(f"The client sees {errors[0].name} ({errors[0].code}). {errors[0].meaning}")
        found.append(asked.check.refusal.sentence)
    elif assessment.outcome is Outcome.UNDECIDED:
        found.append(f"Whether {name} works for {who} hangs on an ACL that aclweb does not understand.")
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
    if assessment.missing:
        one = len(assessment.missing) == 1
        found.append(
            "It would take this ACL:" if one else f"It would take these {len(assessment.missing)} ACLs:"
        )
        found += [f"{says(binding)}." for binding in assessment.missing]
    if assessment.denied_by:
        found.append("No new ACL can allow it while these deny it:")
        found += [f"{says(binding)}." for binding in assessment.denied_by]
    return tuple(dict.fromkeys(found))


def _near(text: str) -> list[str]:
    known = {name: name for name in ACTIONS}
    known |= {name.lower().replace("_", "-"): name for api in APIS.values() for name in (api.name, *api.also)}
    word = text.lower().replace("_", "-")
    found = difflib.get_close_matches(word, known, n=MATCHES_SHOWN, cutoff=0.6)
    found += [name for name in known if word and word in name and name not in found]
    return [known[name] for name in found[:MATCHES_SHOWN]]


def target_text(decision: Decision) -> str:
    """Return what a decision was about: `Write on topic orders`."""
    request = decision.request
    word = WORDS[request.operation]
    if request.resource_name is None:
        return f"{word} on any one {NOUNS[request.resource_type][0]}"
    return f"{word} on {resource_text(request.resource_type, request.resource_name)}"
