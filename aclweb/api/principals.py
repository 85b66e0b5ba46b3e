"""Which principals are there, which of them are conspicuous, and what can one do that another cannot?

The rows and the sentences are those of the pages. What nobody can tell is null, never 0, and a sentence says why.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aclweb.acl.model import PermissionType, shown, split_principal
from aclweb.api.asking import asked_now, word_asked
from aclweb.api.insights import LogRowsSerializer, span_of
from aclweb.api.paging import PAGE, SIZE, OpenPages
from aclweb.api.serializers import AclSerializer, CaveatsSerializer, caveats_of
from aclweb.api.size import FittingPage
from aclweb.insights.coverage import problem_of
from aclweb.insights.principals import (
    MARKS,
    SORTS,
    ListedPrincipal,
    PrincipalFilters,
    PrincipalList,
    knows_principal,
    listed_principals,
)
from aclweb.inventory.access import RELATIONS, ComparedNames, compared
from aclweb.inventory.lists import called

_SORTS = [*SORTS, *(f"-{sort}" for sort in SORTS)]
# Of each row of a comparison: its names, and the ACLs of the two.
_LISTS_OF_A_ROW = 3


class PrincipalSerializer(serializers.Serializer[ListedPrincipal]):
    """One principal. Without the mark never-seen, no time means that nobody can tell when it was seen."""

    principal = serializers.CharField(trim_whitespace=False)
    name = serializers.CharField(
        allow_blank=True, help_text="What people call it, where ACLs hold an id; empty where nobody has said."
    )
    acls = serializers.IntegerField(help_text="ACLs that name it.")
    deny_acls = serializers.IntegerField(help_text="How many of them are DENY.")
    is_super_user = serializers.BooleanField(help_text="As declared.")
    topics_read = serializers.IntegerField(
        allow_null=True,
        help_text="Topics that it can read by effect of all ACLs; null where nobody knows which exist.",
    )
    topics_written = serializers.IntegerField(allow_null=True)
    topics_administered = serializers.IntegerField(
        allow_null=True,
        help_text="Topics with which it can do Alter, AlterConfigs or Delete; rights on the cluster are not counted.",
    )
    first_seen = serializers.DateTimeField(
        allow_null=True, help_text="Its first request in the log, on the brokers' clocks."
    )
    last_seen = serializers.DateTimeField(allow_null=True)
    permitted = serializers.IntegerField(
        allow_null=True, help_text="Logged permits; null where the log has none and may lack some."
    )
    denied = serializers.IntegerField(allow_null=True, help_text="Logged denials; null without a log.")
    denied_7_days = serializers.IntegerField(
        allow_null=True, help_text="The same in the last 7 days of the log."
    )
    marks = serializers.ListField(child=serializers.CharField(), help_text=f"Of {', '.join(MARKS)}.")
    listed_as = serializers.ListField(
        child=serializers.CharField(),
        help_text="Why brokers list it: quota, scram, token; empty where none does.",
    )


class MarkSerializer(serializers.Serializer[Any]):
    """What a mark means, and how many principals whose name has `text` have it."""

    mark = serializers.ChoiceField(choices=MARKS)
    count = serializers.IntegerField(allow_null=True, help_text="Null where nobody can tell.")
    sentence = serializers.CharField(help_text="What it means, or why nobody can tell who has it.")


class PrincipalsSerializer(CaveatsSerializer, LogRowsSerializer):
    """One page of principals; `total` counts all that the filters let through."""

    revision = serializers.IntegerField()
    problem = serializers.CharField(
        allow_blank=True, help_text="Since when and why the logs were not read again."
    )
    topics = serializers.IntegerField(
        allow_null=True, help_text="Topics known here; null where nobody knows which exist."
    )
    marks = MarkSerializer(many=True)
    principals = PrincipalSerializer(many=True)


class PrincipalRows(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="principals",
        parameters=[
            OpenApiParameter("text", str, description="Part of the principal, in capital or small letters."),
            OpenApiParameter(
                "show", str, enum=list(MARKS), description="Those with this mark; all unless given."
            ),
            OpenApiParameter(
                "sort",
                str,
                enum=_SORTS,
                description="By name unless given; with a hyphen before it, the last first.",
            ),
            PAGE,
            SIZE,
        ],
        responses=PrincipalsSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Each principal that an ACL, a declaration, the log or the brokers name, as the page *Principals*."""
        asked, pages, given = asked_now(request, slug), OpenPages(request), request.query_params
        filters = PrincipalFilters(
            given.get("text", ""), word_asked(given, "show", MARKS), word_asked(given, "sort", _SORTS)
        )
        cluster = asked.view.cluster
        found = listed_principals(cluster, filters)
        rows = [row.as_dict() | {"name": called(cluster, row.principal)} for row in pages.of(found.rows)]
        cut = FittingPage(len(rows))
        return Response(
            {
                "revision": asked.head["revision"],
                **span_of(found.load),
                **caveats_of(cluster),
                "why_not": _why_not_seen(found),
                "problem": problem_of(cluster, found.load),
                "topics": found.topics,
                "marks": [vars(marked) for marked in found.marked],
                "total": len(found.rows),
                "page": pages.number,
                "pages": pages.count(found.rows),
                "principals": cut.rows(rows),
                "is_complete": cut.is_complete,
            }
        )


def _why_not_seen(found: PrincipalList) -> str:
    """Return why the log cannot tell that a principal was not seen; empty where it can."""
    why = found.evidence.why_not[PermissionType.ALLOW]
    return f"{why[:1].upper()}{why[1:].rstrip('.')}." if why else ""


class ComparedNamesSerializer(serializers.Serializer[Any]):
    """Names of one type on which the two can do the same things, and the ALLOW ACLs through which each may."""

    relation = serializers.ChoiceField(choices=RELATIONS)
    resource_type = serializers.CharField()
    names = serializers.ListField(child=serializers.CharField(trim_whitespace=False))
    names_total = serializers.IntegerField(
        help_text="How many there are; `names` may have the first of them."
    )
    operations = serializers.ListField(child=serializers.CharField())
    first = AclSerializer(many=True)
    first_total = serializers.IntegerField()
    second = AclSerializer(many=True)
    second_total = serializers.IntegerField()


class PrincipalsComparedSerializer(serializers.Serializer[Any]):
    """Two principals side by side. A right is one operation on one name; `sentences` say which names count."""

    revision = serializers.IntegerField()
    first = serializers.CharField(trim_whitespace=False)
    second = serializers.CharField(trim_whitespace=False)
    sentences = serializers.ListField(child=serializers.CharField())
    unsure = serializers.BooleanField(help_text="Whether some answers are unknown.")
    unknown = serializers.ListField(
        child=serializers.CharField(trim_whitespace=False),
        help_text="Those of the two that no ACL, no declared super user, no log line and no list of the brokers names.",
    )
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="Rights in each relation; `other-hosts` have both."
    )
    total = serializers.IntegerField()
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    is_complete = serializers.BooleanField(
        help_text="Whether this page holds all of its rows, and all of each."
    )
    rows = ComparedNamesSerializer(many=True)


class PrincipalComparison(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="compare_principals",
        parameters=[
            OpenApiParameter("first", str, required=True, description="Such as User:bob."),
            OpenApiParameter("second", str, required=True, description="The other one."),
            OpenApiParameter(
                "show",
                str,
                enum=list(RELATIONS),
                description="The rights of the first alone, of the second alone, of both and not from the same hosts, "
                "or of both; all unless given.",
            ),
            PAGE,
            SIZE,
        ],
        responses=PrincipalsComparedSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """What one principal can do that another cannot, on names that exist, as the page *Compare two principals*."""
        asked, pages, given = asked_now(request, slug), OpenPages(request), request.query_params
        first, second = _principal(request, "first"), _principal(request, "second")
        show = word_asked(given, "show", RELATIONS)
        found = compared(asked.view, first, second)
        listed = [row for relation in RELATIONS if show in ("", relation) for row in found.rows[relation]]
        rows = pages.of(listed)
        cut = FittingPage(len(rows), _LISTS_OF_A_ROW)
        return Response(
            {
                "revision": asked.head["revision"],
                "first": first,
                "second": second,
                "sentences": list(found.sentences),
                "unsure": found.unsure,
                "unknown": [who for who in (first, second) if not knows_principal(asked.view, who)],
                "counts": dict(found.counts),
                "total": len(listed),
                "page": pages.number,
                "pages": pages.count(listed),
                "rows": cut.rows([_as_dict(row, cut) for row in rows]),
                "is_complete": cut.is_complete,
            }
        )


def _principal(request: Request, field: str) -> str:
    """Return the principal that the address holds; refuses one without a type, which no broker has."""
    text = request.query_params.get(field, "")
    if not text:
        raise ValidationError({field: "Name two principals: `first` and `second`, such as User:bob."})
    if split_principal(text) is None:
        raise ValidationError(
            {field: f"Principal {shown(text)} has no type; write it as {shown(f'User:{text}')}."}
        )
    return text


def _as_dict(row: ComparedNames, cut: FittingPage) -> dict[str, Any]:
    return {
        "relation": row.relation,
        "resource_type": row.resource_type.name,
        "names": cut.acls(row.names),
        "names_total": len(row.names),
        "operations": [operation.name for operation in row.operations],
        "first": cut.acls([acl.as_dict() for acl in row.first]),
        "first_total": len(row.first),
        "second": cut.acls([acl.as_dict() for acl in row.second]),
        "second_total": len(row.second),
    }
