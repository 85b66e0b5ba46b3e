"""decide: what does a broker answer to each of these requests, and why?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from aclweb.acl.authorizer import (
    AclIndex,
    Decision,
    Explanation,
    authorize,
    decide_for_any_host,
    explain,
    fits,
    hazards_of,
)
from aclweb.acl.authorizer import decide as decide_fast
from aclweb.acl.cli.commands.console import DONE, as_json, emit, request_text, with_progress
from aclweb.acl.cli.commands.inputs import Inputs
from aclweb.acl.cli.commands.options import (
    add_acl_options,
    add_json_option,
    add_rule_options,
    settings_from,
)
from aclweb.acl.model import WILDCARD, AccessRequest, AuthorizerSettings, acl_text, number_of

AFFECTING_SHOWN = 20
"""How many of the ACLs that match a resource are printed for people; a resource may have 100,000."""


def add_options(parser: argparse.ArgumentParser) -> None:
    add_acl_options(parser)
    parser.add_argument("--requests", metavar="FILE", required=True, help="requests, one JSON object a line")
    parser.add_argument(
        "--explain", action="store_true", help="give the reasons, and what would change the answer"
    )
    add_rule_options(parser)
    add_json_option(parser)


def run(given: argparse.Namespace, inputs: Inputs) -> int:
    """Print one answer for each request, in their order."""
    settings = inputs.settings = settings_from(given)
    index = AclIndex(inputs.bindings(given.acls, given.format))
    requests = inputs.requests(given.requests)
    inputs.require_good()
    if given.explain:
        explained = (
            authorize(request, index, settings) for request in with_progress(requests, what="Explained")
        )
        if given.json:
            emit(as_json(_explained(explain(decision))) for decision in explained)
        else:
            emit(line for decision in explained for line in _in_words(explain(decision)))
    elif given.json:
        emit(_answers(requests, index, settings))
    else:
        emit(_lines(requests, index, settings))
    return DONE


def _answers(
    requests: Sequence[AccessRequest], index: AclIndex, settings: AuthorizerSettings
) -> Iterator[str]:
    # There are few different answers, so each is put into JSON once.
    texts: dict[object, str] = {}
    for request in with_progress(requests, what="Decided"):
        result, basis = decide_fast(request, index, settings)
        hazards = hazards_of(request, index, settings)
        text = texts.get((result, basis, hazards))
        if text is None:
            text = as_json({"result": result.value, "basis": basis.value, "hazards": list(hazards)})
            texts[result, basis, hazards] = text
        yield text


def _lines(requests: Sequence[AccessRequest], index: AclIndex, settings: AuthorizerSettings) -> Iterator[str]:
    for request in with_progress(requests, what="Decided"):
        result, basis = decide_fast(request, index, settings)
        hazards = "".join(f"  ! {hazard}" for hazard in hazards_of(request, index, settings))
        yield f"{result.value:9}  {basis.value:13}  {request_text(request)}{hazards}"


def _explained(explanation: Explanation) -> dict[str, object]:
    return {**explanation.as_dict(), "any_host": _for_any_host(explanation.decision)}


def _for_any_host(decision: Decision) -> dict[str, object] | None:
    """Return the answer for every host at once to a request with host `*`; None for any other request."""
    if decision.request.host != WILDCARD:
        return None
    return decide_for_any_host(decision.request, decision.index, decision.settings).as_dict()


def _in_words(explanation: Explanation) -> Iterator[str]:
    decision = explanation.decision
    yield f"{decision.result.value:9}  {decision.basis.value:13}  {request_text(decision.request)}"
    if decision.request.host == WILDCARD:
        yield f"    {decide_for_any_host(decision.request, decision.index, decision.settings).sentence}"
    for sentence in explanation.sentences:
        yield f"    {sentence}"
    if not decision.findings:
        return
    asked = decision.request
    what = "are on this type" if asked.resource_name is None else "match it"
    yield f"    ACLs that {what}:"
    for finding in decision.findings[:AFFECTING_SHOWN]:
        crossed = [part for part, matches in fits(finding, decision).items() if not matches]
        yield f"      {'- not ' + ', '.join(crossed) if crossed else '+ all'}: {acl_text(finding.binding)}."
    rest = len(decision.findings) - AFFECTING_SHOWN
    if rest > 0:
        yield f"      and {number_of(rest, 'more ACL', 'more ACLs')}; --json lists them all."
