"""How does access differ between two moments or two clusters? As a what-if from the one to the other, page by page."""

from __future__ import annotations

import re
from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import APIException
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aclweb.api.asking import AS_OF, Asked, asked_about
from aclweb.api.paging import PAGE, SIZE, OpenPages
from aclweb.api.serializers import AsOfSerializer, DifferencesSerializer
from aclweb.api.size import IN_ORDER, MOST_BYTES_OF_A_LIST, FittingPage, fitting, warnings_to_size
from aclweb.changes.comparison import Side, compare

_SLUG = re.compile("[-a-zA-Z0-9_]+")


class TooMuch(APIException):
    """No part of the answer would be the answer, so there is none."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_code = "too_much"


class SideSerializer(serializers.Serializer[Any]):
    cluster = serializers.CharField()
    revision = serializers.IntegerField()
    as_of = AsOfSerializer(allow_null=True)


class SettingSerializer(serializers.Serializer[Any]):
    """One thing that answers depend on besides the ACLs, as each side has it."""

    name = serializers.CharField()
    left = serializers.CharField(allow_blank=True)
    right = serializers.CharField(allow_blank=True)
    differs = serializers.BooleanField()


class ComparisonSerializer(DifferencesSerializer):
    """One page of what differs from left to right, in the words of `python -m aclweb.acl whatif`.

    Each list is cut by the same page; `counts` has their whole lengths, `pages` is for the longest.
    A page that would be too large is cut further, and then `is_complete` is false: a smaller `size` gives the rest.
    """

    left = SideSerializer()
    right = SideSerializer()
    sentences = serializers.ListField(child=serializers.CharField())
    settings = SettingSerializer(many=True)
    left_out = serializers.ListField(
        child=serializers.CharField(),
        help_text="Super users of one side alone, whose answers are too many and not in the lists.",
    )
    acls_left_only = serializers.IntegerField()
    acls_right_only = serializers.IntegerField()
    topics_left_only = serializers.IntegerField()
    topics_right_only = serializers.IntegerField()
    counts = serializers.DictField(child=serializers.IntegerField())
    is_complete = serializers.BooleanField(
        help_text="Whether this page holds all of its rows, and all of each."
    )
    page = serializers.IntegerField()
    pages = serializers.IntegerField()


class Compare(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="compare",
        parameters=[
            AS_OF,
            OpenApiParameter("other", str, description="The other cluster; the same one if left out."),
            OpenApiParameter(
                "other_as_of", str, description="The moment of the other side; now if left out."
            ),
            PAGE,
            SIZE,
        ],
        responses=ComparisonSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Compare this cluster at one moment with itself or another at one moment: as access, not line by line."""
        pages = OpenPages(request)
        left = asked_about(request, slug)
        right = asked_about(request, _other(request) or slug, field="other_as_of")
        found = compare(_side(left), _side(right))
        if found.impact is None:
            raise TooMuch(found.too_much)
        impact = found.impact
        longest = max((impact[name] for name in IN_ORDER), key=len)
        warnings = warnings_to_size(impact["warnings"], MOST_BYTES_OF_A_LIST)
        left_out, _left = fitting(sorted(found.left_out), MOST_BYTES_OF_A_LIST)
        listed = {name: pages.of(impact[name]) for name in IN_ORDER}
        cut = FittingPage(sum(map(len, listed.values())))
        rows = {
            name: cut.rows(each if name == "resources" else [cut.difference(row) for row in each])
            for name, each in listed.items()
        }
        counts = {name: len(impact[name]) for name in (*IN_ORDER, "warnings")} | {
            "left_out": len(found.left_out)
        }
        answer = {
            "left": _told(left),
            "right": _told(right),
            "sentences": found.sentences,
            "settings": found.settings,
            "left_out": left_out,
            "acls_left_only": len(found.delta.remove),
            "acls_right_only": len(found.delta.add),
            "topics_left_only": found.only_left,
            "topics_right_only": found.only_right,
            "counts": counts,
            "is_complete": cut.is_complete
            and len(left_out) == counts["left_out"]
            and warnings == list(impact["warnings"]),
            "page": pages.number,
            "pages": pages.count(longest),
            **rows,
            "unchanged": impact["unchanged"],
            "warnings": warnings,
        }
        return Response(ComparisonSerializer(answer).data)


def _other(request: Request) -> str:
    text = request.query_params.get("other", "")
    if text and not _SLUG.fullmatch(text):
        raise Http404(f"There is no cluster {text[:60]!r} that you may see.")
    return text


def _side(asked: Asked) -> Side:
    return Side(asked.view, asked.moment)


def _told(asked: Asked) -> dict[str, Any]:
    return {"cluster": asked.view.cluster.slug, **asked.head}
