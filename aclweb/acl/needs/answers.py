"""Would these ACLs let a client do this, and if not, what does it see and what is missing?

Each call of a client action is decided by the same authorizer as everything else: every
check of the call, for every name that the action uses, on each right that would do. From
these decisions come the first call that fails, the error that the client meets there, and
the smallest set of ACLs that would let the action through, which was checked by deciding
again.
"""

from __future__ import annotations

import difflib
from dataclasses import replace
from itertools import chain

from aclweb.acl.authorizer import AclIndex, Decision, authorize
from aclweb.acl.model import (
    CLUSTER_NAME,
    AccessRequest,
    AclBinding,
    AclError,
    AuthorizerSettings,
    ResourceType,
    shown,
)
from aclweb.acl.needs.actions import ACTIONS, action_of
from aclweb.acl.needs.assessment import MATCHES_SHOWN, Asked, Assessment, DecidedCall, Outcome, sentences_of
from aclweb.acl.needs.calls import Check, Right, checks_of
from aclweb.acl.needs.missing import denying_acls, refused_rights, smallest_set
from aclweb.acl.needs.protocol import APIS, find_api
from aclweb.acl.needs.roles import GIVEN_ROLES, Call, ClientAction, Names, Role, Subject, calls_under


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


def missing_roles(action: ClientAction, names: Names, settings: AuthorizerSettings) -> tuple[Role, ...]:
    """Return the roles without a name that keep the action from being decided, in the order of GIVEN_ROLES."""
    if action.is_api and _counted(action, names, settings):
        # The cases of a call stand for themselves, so those without a name are just not asked.
        return ()
    lacking = {
        roles[0].given_as
        for call in calls_under(action, settings)
        if action.is_api or call.is_needed(names)
        for check in checks_of(call.case, settings)
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
    settings: AuthorizerSettings,
) -> Assessment:
    """Return the outcome of each call of an action on the ACLs of `index`.

    names: by the key of their role (`topic`, `group`, `transactional-id`, …), several of
    each if need be. host: as Java prints it. Raises AclError naming what is not given.
    """
    lacking = missing_roles(action, names, settings)
    if lacking:
        options = ", ".join(f"--{role.key}" for role in lacking)
        nouns = " and ".join(role.noun for role in lacking)
        raise AclError(f"Whether {action.name} would work depends on {nouns}; give {options}.")
    counted = _counted(action, names, settings)
    verdicts = [
        _decide_call(call, call in counted, principal, host, names, index, settings)
        for call in calls_under(action, settings)
    ]
    verdicts = _mark_first_failing(verdicts)
    missing = smallest_set(verdicts, principal, host, names)
    denied_by = denying_acls(refused_rights(verdicts))
    assessment = Assessment(action, principal, host, settings, tuple(verdicts), missing, denied_by, ())
    return replace(assessment, sentences=sentences_of(assessment))


def needed_acls(
    action: ClientAction, *, principal: str, host: str, names: Names, settings: AuthorizerSettings
) -> tuple[AclBinding, ...]:
    """Return the smallest set of ACLs for an action where there is none yet."""
    bare = replace(settings, super_users=frozenset(), allow_everyone=False)
    return assess(
        action, principal=principal, host=host, names=names, index=AclIndex(()), settings=bare
    ).missing


def _counted(action: ClientAction, names: Names, settings: AuthorizerSettings) -> list[Call]:
    """The calls that the action depends on.

    Of one call's cases those that are about the names given, or else those that need no name.
    """
    calls = calls_under(action, settings)
    if not action.is_api:
        return [call for call in calls if call.is_needed(names)]
    askable = [
        call
        for call in calls
        if call.case.usual
        and all(
            _can_ask(check, call, names) or not check.refusal.is_error
            for check in checks_of(call.case, settings)
        )
    ]
    named = [
        call
        for call in askable
        if any(_subjects(check, call, names) for check in checks_of(call.case, settings))
    ]
    return named or askable


def _decide_call(
    call: Call,
    needed: bool,
    principal: str,
    host: str,
    names: Names,
    index: AclIndex,
    settings: AuthorizerSettings,
) -> DecidedCall:
    checks = checks_of(call.case, settings)
    asked = tuple(chain.from_iterable(_ask(c, call, principal, host, names, index, settings) for c in checks))
    return DecidedCall(call, checks, asked, needed)


def _ask(
    check: Check,
    call: Call,
    principal: str,
    host: str,
    names: Names,
    index: AclIndex,
    settings: AuthorizerSettings,
) -> list[Asked]:
    def decided(right: Right, name: str | None) -> Decision:
        request = AccessRequest(principal, host, right.operation, right.resource_type, name)
        return authorize(request, index, settings)

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


def _mark_first_failing(verdicts: list[DecidedCall]) -> list[DecidedCall]:
    first: DecidedCall | None = None
    marked = []
    for verdict in verdicts:
        fails = verdict.needed and verdict.outcome is Outcome.FAILS
        if fails and first is None:
            first = verdict
            marked.append(replace(verdict, first_failing=True, may_fail_first=True))
        elif fails and first is not None and first.call.at_once and verdict.call.at_once:
            marked.append(replace(verdict, may_fail_first=True))
        else:
            marked.append(verdict)
    return marked


def _near(text: str) -> list[str]:
    known = {name: name for name in ACTIONS}
    known |= {name.lower().replace("_", "-"): name for api in APIS.values() for name in (api.name, *api.also)}
    word = text.lower().replace("_", "-")
    found = difflib.get_close_matches(word, known, n=MATCHES_SHOWN, cutoff=0.6)
    found += [name for name in known if word and word in name and name not in found]
    return [known[name] for name in found[:MATCHES_SHOWN]]
