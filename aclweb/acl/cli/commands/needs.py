"""needs: what access does a client action need, and do these ACLs give it?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from aclweb.acl.authorizer import AclIndex, Result
from aclweb.acl.cli.commands.console import DONE, UsageError, as_json, emit
from aclweb.acl.cli.commands.inputs import Inputs
from aclweb.acl.cli.commands.options import (
    add_acl_options,
    add_json_option,
    add_rule_options,
    settings_from,
)
from aclweb.acl.model import WILDCARD, AclError, AuthorizerSettings, NotationError
from aclweb.acl.needs import (
    GIVEN_ROLES,
    Assessment,
    Check,
    ClientAction,
    HostsAssessed,
    Names,
    Outcome,
    assess,
    assess_for_any_host,
    assessed_as_dict,
    call_text,
    calls_under,
    checks_of,
    find_action,
    hosts_assessed_as_dict,
    needed_as_dict,
    right_text,
    target_text,
    without_missing,
)

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
    who = parser.add_argument_group("who does it, on what", "With --acls: the outcome of each call.")
    who.add_argument("--principal", metavar="P", help="for example User:bob")
    who.add_argument(
        "--host", metavar="H", help="the address it comes from, as Java prints it; '*' for every host at once"
    )
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
    settings = inputs.settings = settings_from(given)
    actions = _actions(given.actions)
    names = {role.key: tuple(getattr(given, role.key.replace("-", "_"))) for role in GIVEN_ROLES}
    if given.acls is None:
        _refuse_without_acls(given, names)
        if given.json:
            emit(as_json(needed_as_dict(action, settings)) for action in actions)
        else:
            emit(line for action in actions for line in _needs_in_words(action, settings))
        return DONE
    if given.principal is None or given.host is None:
        lacking = " and ".join(f"--{key}" for key in ("principal", "host") if getattr(given, key) is None)
        raise UsageError(f"Whether ACLs give access depends on who asks from where; give {lacking}.")
    index = AclIndex(inputs.bindings(given.acls, given.format))
    inputs.require_good()
    if given.host == WILDCARD:
        everywhere = [_assess_hosts(action, given, names, index, settings) for action in actions]
        if given.json:
            emit(as_json(hosts_assessed_as_dict(hosts)) for hosts in everywhere)
        else:
            emit(line for hosts in everywhere for line in _hosts_in_words(hosts))
        return DONE
    assessments = [_assess(action, given, names, index, settings) for action in actions]
    if given.json:
        emit(as_json(assessed_as_dict(assessment)) for assessment in assessments)
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
    action: ClientAction,
    given: argparse.Namespace,
    names: Names,
    index: AclIndex,
    settings: AuthorizerSettings,
) -> Assessment:
    try:
        return assess(
            action, principal=given.principal, host=given.host, names=names, index=index, settings=settings
        )
    except AclError as error:
        raise UsageError(str(error)) from error


def _assess_hosts(
    action: ClientAction,
    given: argparse.Namespace,
    names: Names,
    index: AclIndex,
    settings: AuthorizerSettings,
) -> HostsAssessed:
    try:
        return assess_for_any_host(
            action, principal=given.principal, names=names, index=index, settings=settings
        )
    except AclError as error:
        raise UsageError(str(error)) from error


# --- what is needed -------------------------------------------------------------------------


def _needs_in_words(action: ClientAction, settings: AuthorizerSettings) -> Iterator[str]:
    yield f"{action.name}: the client {action.does}."
    for place, call in enumerate(calls_under(action, settings), start=1):
        yield f"  {place}. {call_text(call)}"
        checks = checks_of(call.case, settings)
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


def _hosts_in_words(hosts: HostsAssessed) -> Iterator[str]:
    if len(hosts.parts) == 1 and hosts.is_complete:
        yield from _assessed_in_words(hosts.elsewhere)
        return
    yield f"{hosts.elsewhere.action.name}: {hosts.sentence} For a host that no ACL names:"
    yield from _assessed_in_words(without_missing(hosts.elsewhere))


def _assessed_in_words(assessment: Assessment) -> Iterator[str]:
    action = assessment.action
    yield f"{action.name}: {assessment.outcome.value}"
    for place, verdict in enumerate(assessment.calls, start=1):
        mark = _MARKS[verdict.outcome] if verdict.needed else f"{_MARKS[verdict.outcome]}, not counted"
        several = len(assessment.errors) > 1
        first = f"  <- {'may be ' if several else ''}the first that fails" if verdict.may_fail_first else ""
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
