"""How are ACLs added and removed by the brokers, one outcome for each?

One badly formed item makes a broker refuse a whole request without a reason, so items are checked before they
are sent, and sent one by one where it happens all the same. A broker may time out on a deletion and still do
it, so no answer means UNKNOWN. Deletions are slow for a broker with many ACLs, so few go at once.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import kafka.errors as errors
from kafka.protocol.admin import CreateAclsRequest, DeleteAclsRequest

from aclweb.acl.kafka import explained
from aclweb.acl.model import AclBinding
from aclweb.clusters.admin_api.errors import client_name
from aclweb.clusters.admin_api.messages import (
    CLUSTER_AUTHORIZATION_FAILED,
    INVALID_REQUEST,
    NONE,
    NOT_CONTROLLER,
    POLICY_VIOLATION,
    REQUEST_TIMED_OUT,
    SECURITY_DISABLED,
    UNKNOWN_SERVER_ERROR,
    UNSUPPORTED_VERSION,
    creation,
    deletion,
    deletion_code,
    fault_of,
)
from aclweb.clusters.admin_api.session import Session
from aclweb.clusters.client import Outcome, OutcomeKind, Verb

logger = logging.getLogger(__name__)

CREATES_PER_REQUEST = 1000
DELETES_PER_REQUEST = 50
_GONE_AFTER_A_FAILURE = "It is gone, after a request that failed; reading back shows whether it stays so."
_REFUSALS = {
    SECURITY_DISABLED: (
        "This cluster has no authorizer (code 54), so it keeps no ACLs; set authorizer.class.name first."
    ),
    REQUEST_TIMED_OUT: "The broker did not finish in time (code 7); reading back shows whether it was done.",
    UNKNOWN_SERVER_ERROR: (
        "The broker failed and gave no reason (code -1); reading back shows whether it was done."
    ),
    UNSUPPORTED_VERSION: "This cluster is too old for an ACL of this kind (code 35).",
    NOT_CONTROLLER: "The broker did not find its controller (code 41); try again later.",
    POLICY_VIOLATION: "The broker takes no more than 10,000 ACLs in one request (code 44).",
    INVALID_REQUEST: "The broker does not accept this ACL (code 42).",
}


def write(session: Session, verb: Verb, bindings: Sequence[AclBinding]) -> tuple[Outcome, ...]:
    """Add or remove exactly these ACLs; one outcome each, in the order given."""
    outcomes: dict[AclBinding, Outcome] = {}
    waiting: list[AclBinding] = []
    for binding in dict.fromkeys(bindings):
        fault = fault_of(verb, binding)
        if fault:
            outcomes[binding] = Outcome(binding, OutcomeKind.REFUSED, fault)
        else:
            waiting.append(binding)

    at_once = CREATES_PER_REQUEST if verb is Verb.ADD else DELETES_PER_REQUEST
    batches = [waiting[start : start + at_once] for start in range(0, len(waiting), at_once)]
    failed: set[AclBinding] = set()
    while batches:
        batch = batches.pop(0)
        try:
            results = _send(session, verb, batch)
        except Exception as error:
            _set_lost(session, outcomes, batch, [one for later in batches for one in later], error)
            break
        alone: list[AclBinding] = []
        for binding, (code, matched, text) in zip(batch, results, strict=True):
            if code == UNKNOWN_SERVER_ERROR and len(batch) > 1:
                alone.append(binding)
            elif matched == 0 and binding in failed:
                # Perhaps the request that failed has removed it, so nobody else need have done so.
                outcomes[binding] = Outcome(binding, OutcomeKind.UNKNOWN, _GONE_AFTER_A_FAILURE, code)
            else:
                outcomes[binding] = _outcome(session, verb, binding, code, matched, text)
        # A request that fails as a whole says so on every item, the good ones too.
        failed.update(alone)
        batches = [[binding] for binding in alone] + batches
    return tuple(outcomes[binding] for binding in bindings)


def _send(session: Session, verb: Verb, batch: list[AclBinding]) -> list[tuple[int, int | None, str | None]]:
    """Return the code for each item, for a deletion how many ACLs it matched, and the broker's text."""
    if verb is Verb.ADD:
        answer = session.send(
            CreateAclsRequest(creations=[creation(one) for one in batch]), session.write_timeout_seconds
        )
        results: list[tuple[int, int | None, str | None]] = [
            (result.error_code, None, result.error_message) for result in answer.results
        ]
    else:
        answer = session.send(
            DeleteAclsRequest(filters=[deletion(one) for one in batch]), session.write_timeout_seconds
        )
        results = [
            (deletion_code(result), len(result.matching_acls or ()), result.error_message)
            for result in answer.filter_results
        ]
    if len(results) != len(batch):
        raise errors.KafkaProtocolError(f"{len(batch)} items sent and {len(results)} answered")
    for binding, (code, _, text) in zip(batch, results, strict=True):
        if code not in (NONE, CLUSTER_AUTHORIZATION_FAILED):
            logger.info(
                "The broker answered code %d on %s of %r: %.300r", code, verb, binding.as_dict(), text
            )
    return results


def _outcome(
    session: Session, verb: Verb, binding: AclBinding, code: int, matched: int | None, text: str | None
) -> Outcome:
    evidence = {} if matched is None else {"matched": matched}
    if code == NONE:
        if matched == 0:
            return Outcome(
                binding, OutcomeKind.ALREADY, "It was not there any more.", NONE, evidence=evidence
            )
        done = "The broker has added it." if verb is Verb.ADD else "The broker has removed it."
        return Outcome(binding, OutcomeKind.WRITTEN, done, NONE, evidence=evidence)
    kind = OutcomeKind.REFUSED
    if code in (UNKNOWN_SERVER_ERROR, REQUEST_TIMED_OUT):
        kind = OutcomeKind.UNKNOWN
    return Outcome(binding, kind, _why_refused(session, verb, binding, code, text), code, evidence=evidence)


def _why_refused(session: Session, verb: Verb, binding: AclBinding, code: int, text: str | None) -> str:
    """Say in aclweb's own words what a broker's answer means for this binding."""
    if code in (INVALID_REQUEST, UNSUPPORTED_VERSION):
        foretold = explained(verb.value, binding, code, text)
        if foretold is not None:
            return f"{foretold.sentence.removesuffix('.')} (code {code})."
    if code == CLUSTER_AUTHORIZATION_FAILED:
        return f"{client_name(session.options)} may not change ACLs; that needs Alter on the cluster."
    return _REFUSALS.get(code, f"The broker refused this ACL with code {code}.")


def _set_lost(
    session: Session,
    outcomes: dict[AclBinding, Outcome],
    sent: Sequence[AclBinding],
    not_sent: Sequence[AclBinding],
    error: Exception,
) -> None:
    name = type(error).__name__
    if isinstance(error, errors.NodeNotReadyError | errors.SaslAuthenticationFailedError):
        not_sent, sent = [*sent, *not_sent], ()
    for binding in sent:
        sentence = f"No answer from {session.where} ({name}); reading back shows whether it was done."
        outcomes[binding] = Outcome(binding, OutcomeKind.UNKNOWN, sentence, evidence={"sent": True})
    for binding in not_sent:
        sentence = f"Not sent: {session.where} did not answer before ({name})."
        outcomes[binding] = Outcome(binding, OutcomeKind.UNKNOWN, sentence, evidence={"sent": False})
