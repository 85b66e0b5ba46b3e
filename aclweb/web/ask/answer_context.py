"""The context of one answer, for the home page and the explain page."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from aclweb.accounts import access
from aclweb.acl.model import AccessRequest
from aclweb.acl.needs import calls_asking_for
from aclweb.inventory.current import ClusterView
from aclweb.web.ask.answering import PARTS_SHOWN, answer
from aclweb.web.ask.log_evidence import Beside, evidence_beside
from aclweb.web.ask.ticket import ticket_of
from aclweb.web.browse import unknown_names
from aclweb.web.shell import links
from aclweb.web.shell.as_of import AsOf


def answered(
    request: HttpRequest, question: AccessRequest, view: ClusterView, moment: AsOf
) -> dict[str, Any]:
    """Return what the templates of an answer need. The log is held against the ACLs of now, and no others."""
    found = answer(question, view)
    unknown = unknown_names(view, question)
    beside = Beside() if moment.is_past else evidence_beside(view.cluster, found)
    evidence, log = beside.by_host, beside.whole
    sentences = [each.sentence(question.operation) for each in evidence] or [""] * len(found.from_hosts)
    parts = list(zip(found.from_hosts, evidence or sentences, sentences, strict=True))
    is_unknown = any(each.is_certain for each in unknown)
    address = moment.kept_in(links.explain(view.cluster, question))
    return {
        "answer": found,
        "ticket": ticket_of(
            found,
            doubts=(*(each.sentence for each in unknown), *found.explanation.caveats),
            log=log.sentence if log is not None else "",
            offers_edits=not (is_unknown and found.verdict == "refused"),
            address=request.build_absolute_uri(address),
        ),
        "calls": calls_asking_for(
            question.operation,
            question.resource_type,
            found.decision.settings,
            any_one=question.resource_name is None,
        ),
        "parts": parts[:PARTS_SHOWN],
        "parts_left": max(0, len(parts) - PARTS_SHOWN),
        "has_log": bool(evidence),
        "log_evidence": log,
        "unknown": unknown,
        "is_unknown": is_unknown,
        "may_request": not moment.is_past and access.may(request.user, "request", view.cluster),
    }
