"""How does a program see it: ACLs, decisions and what-ifs, read from what is stored.

No view calls a cluster. A cluster that the caller may not see answers 404, as one that
does not exist. Every answer names the revision it was computed on.
"""

from __future__ import annotations

from dataclasses import replace

from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aclweb.accounts.access import cluster_or_404
from aclweb.acl.authorizer import (
    Basis,
    Decision,
    HostAnswer,
    HostResult,
    authorize,
    decide_elsewhere,
    explain,
)
from aclweb.acl.model import WILDCARD, AccessRequest, AclError, Delta, Resource, ResourceType
from aclweb.acl.simulate import entries_as_json
from aclweb.api.asking import (
    AS_OF,
    Asked,
    address_asked,
    asked_about,
    asked_now,
    moment_asked,
)
from aclweb.api.computations import ComputationSerializer, handed_to_a_worker
from aclweb.api.impacts import (
    PARAMETERS,
    AskedImpact,
    ImpactCellsSerializer,
    ImpactSerializer,
    groups_or_cells,
    streamed,
)
from aclweb.api.paging import PAGE, SIZE, Pages
from aclweb.api.serializers import (
    AclPageSerializer,
    AffectingSerializer,
    DecisionSerializer,
    RequestSerializer,
    WhatIfRequestSerializer,
)
from aclweb.api.size import MOST_BYTES, MOST_BYTES_OF_DETERMINING, FittingLists, fitting
from aclweb.changes.models import ChangeError
from aclweb.changes.preview import TooMuch, preview
from aclweb.changes.question import what_if
from aclweb.inventory import lists
from aclweb.inventory.current import view as current

_FILTERS = [
    OpenApiParameter("text", str, description="Part of a principal or a resource name."),
    OpenApiParameter("principal", str, description="The principal; User:svc-* is each that begins so."),
    OpenApiParameter("host", str, description="The host text; 10.0.* is each that begins so."),
    OpenApiParameter("exactly", bool, description="Read an asterisk at the end of these two as it is."),
    OpenApiParameter("operation", str, description="Such as READ."),
    OpenApiParameter("permission", str, description="ALLOW or DENY."),
    OpenApiParameter("resource_type", str, description="Such as TOPIC."),
    OpenApiParameter("name", str, description="A resource name, read as `match` says."),
    OpenApiParameter(
        "match",
        str,
        enum=["exact", "affects", "starts"],
        description="exact: the pattern's own name; affects: patterns that match it; starts: patterns that start so.",
    ),
    AS_OF,
    PAGE,
    SIZE,
]


class AclList(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(operation_id="acls", parameters=_FILTERS, responses=AclPageSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The ACLs of a cluster that the filters let through, a page at a time."""
        cluster = cluster_or_404(request.user, slug)
        asked = request.query_params
        try:
            filters = lists.AclListFilters.read(asked)
        except AclError as error:
            raise ValidationError(str(error)) from error
        pages, moment = Pages(request), moment_asked(request, cluster)
        rows = pages.of(lists.list_acls(cluster, filters, as_of=moment))
        answer = {
            **Asked(current.in_force(cluster, moment), moment).head,
            "total": pages.page.paginator.count,
            "page": pages.page.number,
            "pages": pages.page.paginator.num_pages,
            "acls": [row.binding for row in rows],
        }
        return Response(AclPageSerializer(answer).data)


class Affecting(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="affecting",
        parameters=[
            OpenApiParameter(
                "resource", str, required=True, description="TYPE:NAME, split at the first colon."
            ),
            AS_OF,
        ],
        responses=AffectingSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """The ACLs whose pattern matches one resource, for whichever principal; the first ones, where very many."""
        asked = asked_about(request, slug)
        resource = _resource(request.query_params.get("resource", ""))
        acls = asked.view.index.affecting(resource, asked.view.settings)
        kept, left = fitting((acl.as_dict() for acl in acls), MOST_BYTES)
        answer = {
            **asked.head,
            "resource": str(resource),
            "total": len(acls),
            "is_complete": left >= 0,
            "acls": acls[: len(kept)],
        }
        return Response(AffectingSerializer(answer).data)


# Where it depends on the host, an edit for every host would open, or close, what others keep narrow.
_NO_EDITS: dict[str, object] = {"smallest_fix": None, "smallest_removals": [], "fix_after_removals": None}


class Decide(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="decide", parameters=[AS_OF], request=RequestSerializer, responses=DecisionSerializer
    )
    def post(self, request: Request, slug: str) -> Response:
        """Answer one question as this cluster's authorizer would, with the reasons; host `*` asks for every host."""
        asked = asked_about(request, slug)
        given = RequestSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        question = given.validated_data
        index, settings = asked.view.index, asked.view.settings
        hosts = None
        if question.host == WILDCARD:
            decision, hosts = decide_elsewhere(question, index, settings)
        else:
            question = replace(question, host=address_asked(question.host))
            decision = authorize(question, index, settings)
        return Response({**asked.head, **_as_json(question, decision, hosts)})


def _as_json(question: AccessRequest, decision: Decision, hosts: HostAnswer | None) -> dict[str, object]:
    """Return a decision with its reasons, each list as long as it may be."""
    # Without an ALLOW, every ACL that matches the resource counts as determining.
    is_settled = decision.basis in (Basis.ALLOW_ACL, Basis.DENY_ACL)
    lists = FittingLists({"determining": MOST_BYTES_OF_DETERMINING} if is_settled else {})
    explanation = explain(decision)
    answer = explanation.as_dict(lists)
    if lists.counts["smallest_removals"] and not answer["smallest_removals"]:
        answer["fix_after_removals"] = None
    if hosts is not None and hosts.result is HostResult.DEPENDS:
        answer |= _NO_EDITS
        lists.counts["smallest_removals"] = 0
    return {
        **answer,
        "request": question.as_dict(),
        "hangs_on": list(decision.undeclared_dependencies),
        "sentences": [
            sentence.replace(f"from {decision.request.host}", f"from {question.host}")
            for sentence in explanation.sentences
        ],
        "any_host": hosts.as_dict(lists) if hosts is not None else None,
        "counts": lists.counts,
        "is_complete": lists.is_complete,
    }


class WhatIf(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="what_if",
        parameters=PARAMETERS,
        request=WhatIfRequestSerializer,
        responses={
            200: groups_or_cells("ImpactOfEdit", ImpactSerializer, ImpactCellsSerializer),
            202: ComputationSerializer,
        },
    )
    def post(self, request: Request, slug: str) -> HttpResponseBase:
        """Say who would gain and lose what, and which resources it matches. Nothing is written.

        What is too much while a program waits is handed to a worker: 202, with the address of the computation.
        """
        wants, asked = AskedImpact(request), asked_now(request, slug)
        given = WhatIfRequestSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        wanted = given.validated_data
        try:
            delta = Delta(add=tuple(wanted["add"]), remove=tuple(wanted["remove"]))
            found = preview(
                asked.view.cluster, delta, new_topics=tuple(wanted["new_topics"]), view=asked.view
            )
        except TooMuch as error:
            question = what_if(asked.view, delta, tuple(wanted["new_topics"]))
            return handed_to_a_worker(request, question, str(error))
        except (AclError, ChangeError) as error:
            raise ValidationError(str(error)) from error
        revision = {"revision": asked.head["revision"]}
        if wants.wants_cells:
            return streamed(request, entries_as_json(found.impact, revision))
        return Response({**wants.page(found.impact), **revision})


def _resource(text: str) -> Resource:
    kind, colon, name = text.partition(":")
    if not colon:
        raise ValidationError(
            {
                "resource": f"Resource {text!r} has no type; write it as TYPE:NAME, such as TOPIC:{text or 'orders'}."
            }
        )
    try:
        resource_type = ResourceType.parse(kind)
    except AclError as error:
        raise ValidationError({"resource": str(error)}) from error
    return Resource(resource_type, name)
