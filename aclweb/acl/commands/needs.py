"""needs: what access does a client action need, and do these ACLs give it?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from aclweb.acl.actions import GIVEN_ROLES, Call, ClientAction, Names, calls_under
from aclweb.acl.authorizer import Decision, Result
from aclweb.acl.commands.console import DONE, UsageError, as_json, emit
from aclweb.acl.commands.inputs import Inputs
from aclweb.acl.commands.options import (
    add_acl_options,
    add_json_option,
    add_rule_options,
    rules_from,
)
from aclweb.acl.index import AclIndex
from aclweb.acl.model import AclError
from aclweb.acl.needs import (
    Asked,
    Assessment,
    CallVerdict,
    Outcome,
    assess,
    call_text,
    find_action,
    right_text,
    target_text,
)
from aclweb.acl.problems import NotationError
from aclweb.acl.profiles import Rules
from aclweb.acl.protocol import Check, Error, checks_of

_MARKS = {
    Outcome.WORKS: "ok",
    Outcome.SHOWS_LESS: "shows less",
    Outcome.FAILS: "FAILS",
    Outcome.UNDECIDED: "undecided",
    Outcome.NOT_ASKED: "not asked",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "actions",
        metavar="ACTION",
        nargs="+",
        help="a client action (produce, consume, streams, admin-create-topics, ...), or a call of the protocol "
        "by name or key (PRODUCE, 29)",
    )
    add_acl_options(parser, required=False)
    who = parser.add_argument_group("who does it, on what", "With --acls: the verdict of each call.")
    who.add_argument("--principal", metavar="P", help="for example User:bob")
    who.add_argument("--host", metavar="H", help="the address it comes from, as Java prints it")
    for role in GIVEN_ROLES:
        default = f" (default: {', '.join(role.default)})" if role.default else ""
        who.add_argument(
            f"--{role.key}",
            metavar="NAME",
            action="append",
            default=[],
            help=f"{role.noun}{default}; repeatable",
        )
    add_rule_options(parser)
    add_json_option(parser)


def run(given: argparse.Namespace, inputs: Inputs) -> int:
    """Print what each action needs, or with ACLs what becomes of each; in the order given."""
    rules = inputs.rules = rules_from(given)
    actions = _actions(given.actions)
    names = {role.key: tuple(getattr(given, role.key.replace("-", "_"))) for role in GIVEN_ROLES}
    if given.acls is None:
        _refuse_without_acls(given, names)
        if given.json:
            emit(as_json(_needs(action, rules)) for action in actions)
        else:
            emit(line for action in actions for line in _needs_in_words(action, rules))
        return DONE
    if given.principal is None or given.host is None:
        lacking = " and ".join(f"--{key}" for key in ("principal", "host") if getattr(given, key) is None)
        raise UsageError(f"Whether ACLs give access hangs on who asks from where; give {lacking}.")
    index = AclIndex(inputs.bindings(given.acls, given.format))
    inputs.require_good()
    assessments = [_assess(action, given, names, index, rules) for action in actions]
    if given.json:
        emit(as_json(_assessed(assessment)) for assessment in assessments)
    else:
        emit(line for assessment in assessments for line in _assessed_in_words(assessment))
    return DONE


def _actions(words: list[str]) -> list[ClientAction]:
    found, problems = [], []
    for word in words:
        try:
            found.append(find_action(word))
        except AclError as error:
            problems.append(str(error))
    if problems:
        raise NotationError(*problems)
    return found


def _refuse_without_acls(given: argparse.Namespace, names: Names) -> None:
    needless = [f"--{key}" for key in ("principal", "host") if getattr(given, key) is not None]
    needless += [f"--{key}" for key, several in names.items() if several]
    if needless:
        raise UsageError(
            f"{needless[0]} asks whether ACLs give access; give them too: --acls FILE (an empty file is no ACLs)."
        )


def _assess(
    action: ClientAction, given: argparse.Namespace, names: Names, index: AclIndex, rules: Rules
) -> Assessment:
    try:
        return assess(
            action, principal=given.principal, host=given.host, names=names, index=index, rules=rules
        )
    except AclError as error:
        raise UsageError(str(error)) from error


# --- what is needed -------------------------------------------------------------------------


def _needs(action: ClientAction, rules: Rules) -> dict[str, object]:
    return _head(action, rules) | {
        "calls": [_call(call, checks_of(call.case, rules)) for call in calls_under(action, rules)],
        "notes": list(action.notes),
    }


def _head(action: ClientAction, rules: Rules) -> dict[str, object]:
    return {
        "action": action.name,
        "kind": "API" if action.is_api else "CLIENT_ACTION",
        "does": action.does,
        "authorizer": rules.authorizer,
        "kafka_version": rules.kafka_version,
    }


def _call(call: Call, checks: tuple[Check, ...]) -> dict[str, object]:
    return {
        "api_key": call.api.key,
        "api_name": call.api.name,
        "case": call.case.name or None,
        "when": call.when or call.case.when or None,
        "versions": str(call.case.span) or str(call.api.span) or None,
        "optional": bool(call.needed_with) or not call.needed,
        "sent_by": call.api.sent_by,
        "needs": [_check(check, call) for check in checks],
        "note": call.case.note or call.api.note or None,
    }


def _check(check: Check, call: Call) -> dict[str, object]:
    return {
        "any_of": [
            {
                "operation": right.operation.name,
                "resource_type": right.resource_type.name,
                "any_resource": right.any_one,
                "of": None if right.any_one else call.role(right.resource_type).key,
            }
            for right in check.any_of
        ],
        "refusal": check.refusal.value,
        "error": _error(check.error),
        "sentence": check.refusal.sentence,
        "note": check.note or None,
    }


def _error(error: Error | None) -> dict[str, object] | None:
    return None if error is None else {"name": error.name, "code": error.code, "meaning": error.meaning}


def _needs_in_words(action: ClientAction, rules: Rules) -> Iterator[str]:
    yield f"{action.name}: the client {action.does}."
    for place, call in enumerate(calls_under(action, rules), start=1):
        yield f"  {place}. {call_text(call)}"
        checks = checks_of(call.case, rules)
        if not checks:
            yield "       no access"
        for check in checks:
            rights = " or ".join(right_text(right, call) for right in check.any_of)
            yield f"       {rights}, else {_else(check)}"
            if check.note:
                yield f"         {check.note}"
        if call.case.note:
            yield f"       {call.case.note}"
    for note in action.notes:
        yield f"  {note}"


def _else(check: Check) -> str:
    error = f"{check.error.name} ({check.error.code}). " if check.error is not None else "no error. "
    return f"{error}{check.refusal.sentence}"


# --- what becomes of it -----------------------------------------------------------------------


def _assessed(assessment: Assessment) -> dict[str, object]:
    failing = assessment.first_failing
    return _head(assessment.action, assessment.rules) | {
        "principal": assessment.principal,
        "host": assessment.host,
        "outcome": assessment.outcome.value,
        "first_failing": None if failing is None else assessment.calls.index(failing),
        "error": _error(assessment.error),
        "calls": [_verdict(verdict) for verdict in assessment.calls],
        "missing": [binding.as_dict() for binding in assessment.missing],
        "denied_by": [binding.as_dict() for binding in assessment.denied_by],
        "sentences": list(assessment.sentences),
        "notes": list(assessment.action.notes),
    }


def _verdict(verdict: CallVerdict) -> dict[str, object]:
    asked_nothing = verdict.outcome is Outcome.NOT_ASKED
    return _call(verdict.call, verdict.checks) | {
        "needed": verdict.needed,
        "result": None if asked_nothing else verdict.result.value,
        "outcome": verdict.outcome.value,
        "first_failing": verdict.first_failing,
        "asked": [_asked(asked) for asked in verdict.asked],
    }


def _asked(asked: Asked) -> dict[str, object]:
    return {
        "result": asked.result.value,
        "refusal": asked.check.refusal.value,
        "error": _error(asked.check.error),
        "any_of": [_decision(decision) for decision in asked.decisions],
        "sentences": list(asked.sentences),
    }


def _decision(decision: Decision) -> dict[str, object]:
    return {
        "request": decision.request.as_dict(),
        "result": decision.result.value,
        "basis": decision.basis.value,
        "hazards": list(decision.hazards),
    }


def _assessed_in_words(assessment: Assessment) -> Iterator[str]:
    action = assessment.action
    yield f"{action.name}: {assessment.outcome.value}"
    for place, verdict in enumerate(assessment.calls, start=1):
        mark = _MARKS[verdict.outcome] if verdict.needed else f"{_MARKS[verdict.outcome]}, not counted"
        first = "  <- the first that fails" if verdict.first_failing else ""
        yield f"  {place}. {call_text(verdict.call)}: {mark}{first}"
        for asked in verdict.asked:
            alternatives = " or ".join(
                f"{target_text(decision)}{'' if decision.allowed else ' (' + decision.basis.value + ')'}"
                for decision in asked.decisions
            )
            yield f"       {_RESULTS[asked.result]}: {alternatives}"
    for sentence in assessment.sentences:
        yield f"  {sentence}"


_RESULTS = {Result.ALLOWED: "allowed", Result.DENIED: "refused", Result.UNDECIDED: "undecided"}
