"""The needs of a client action, and its outcome, as JSON: for `needs --json` and the API."""

from __future__ import annotations

from aclweb.acl.authorizer import Decision
from aclweb.acl.model import AuthorizerSettings
from aclweb.acl.needs.any_host import HostsAssessed, without_missing
from aclweb.acl.needs.assessment import Asked, Assessment, DecidedCall, Outcome
from aclweb.acl.needs.calls import Check, checks_of
from aclweb.acl.needs.errors import Error
from aclweb.acl.needs.roles import Call, ClientAction, calls_under


def needed_as_dict(action: ClientAction, settings: AuthorizerSettings) -> dict[str, object]:
    """Return what the action needs, whoever does it."""
    return _head(action, settings) | {
        "calls": [_call(call, checks_of(call.case, settings)) for call in calls_under(action, settings)],
        "notes": list(action.notes),
    }


def _head(action: ClientAction, settings: AuthorizerSettings) -> dict[str, object]:
    return {
        "action": action.name,
        "kind": "API" if action.is_api else "CLIENT_ACTION",
        "does": action.does,
        "authorizer": settings.authorizer,
        "kafka_version": settings.kafka_version,
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


def assessed_as_dict(assessment: Assessment) -> dict[str, object]:
    """Return what would become of the action, call by call."""
    failing = assessment.first_failing
    return _head(assessment.action, assessment.settings) | {
        "principal": assessment.principal,
        "host": assessment.host,
        "outcome": assessment.outcome.value,
        "first_failing": None if failing is None else assessment.calls.index(failing),
        "error": _error(assessment.error),
        "errors": [_error(error) for error in assessment.errors],
        "calls": [_verdict(verdict) for verdict in assessment.calls],
        "missing": [binding.as_dict() for binding in assessment.missing],
        "denied_by": [binding.as_dict() for binding in assessment.denied_by],
        "sentences": list(assessment.sentences),
        "notes": list(assessment.action.notes),
    }


def hosts_assessed_as_dict(hosts: HostsAssessed) -> dict[str, object]:
    """Return what becomes of it for a host that no ACL names, and under `any_host` from every host at once."""
    is_one = len(hosts.parts) == 1 and hosts.is_complete
    shown = hosts.elsewhere if is_one else without_missing(hosts.elsewhere)
    return assessed_as_dict(shown) | {"any_host": hosts.as_dict()}


def _verdict(verdict: DecidedCall) -> dict[str, object]:
    asked_nothing = verdict.outcome is Outcome.NOT_ASKED
    return _call(verdict.call, verdict.checks) | {
        "needed": verdict.needed,
        "result": None if asked_nothing else verdict.result.value,
        "outcome": verdict.outcome.value,
        "first_failing": verdict.first_failing,
        "may_fail_first": verdict.may_fail_first,
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
