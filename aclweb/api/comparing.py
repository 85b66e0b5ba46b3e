"""How does access differ between two moments or two clusters? As a what-if from the one to the other, page by page."""

from __future__ import annotations

import re
from typing import Any

from django.http import Http404
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import APIException
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aclweb.acl.simulate import entries_as_json
from aclweb.api.asking import AS_OF, Asked, asked_about
from aclweb.api.computations import ComputationSerializer, handed_to_a_worker, told
from aclweb.api.impacts import (
    PARAMETERS,
    AskedImpact,
    DifferencesSerializer,
    GroupsSerializer,
    groups_or_cells,
    streamed,
)
from aclweb.api.serializers import AsOfSerializer
from aclweb.api.size import MOST_BYTES_OF_A_LIST, fitting
from aclweb.changes.comparison import Comparison, Side, compare
from aclweb.changes.question import comparison

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


class ComparedSerializer(serializers.Serializer[Any]):
    """What is compared, and what is known of it beside the answers that differ."""

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


class ComparisonSerializer(GroupsSerializer, ComparedSerializer):
    """One page of what differs from left to right; `counts` has the whole length of `left_out` too."""


class ComparisonCellsSerializer(DifferencesSerializer, ComparedSerializer):
    """Every single answer that differs from left to right; for `cells=true`."""


_PARAMETERS = [
    AS_OF,
    OpenApiParameter("other", str, description="The other cluster; the same one if left out."),
    OpenApiParameter("other_as_of", str, description="The moment of the other side; now if left out."),
]


class Compare(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="compare",
        parameters=[*_PARAMETERS, *PARAMETERS],
        responses=groups_or_cells("Compared", ComparisonSerializer, ComparisonCellsSerializer),
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """Compare this cluster at one moment with itself or another at one moment: as access, not line by line."""
        wants = AskedImpact(request)
        left = asked_about(request, slug)
        right = asked_about(request, _other(request) or slug, field="other_as_of")
        found = compare(_side(left), _side(right))
        if found.impact is None:
            raise TooMuch(f"{found.too_much} POST to the same address, and a worker compares them.")
        left_out = sorted(found.left_out)
        if wants.wants_cells:
            head = _compared(found, left, right, left_out)
            return streamed(request, entries_as_json(found.impact, head))
        page = wants.page(found.impact)
        kept, rest = fitting(left_out, MOST_BYTES_OF_A_LIST)
        page["counts"]["left_out"] = len(left_out)
        page["is_complete"] &= rest >= 0
        return Response({**_compared(found, left, right, kept), **page})

    @extend_schema(
        operation_id="compare_by_a_worker",
        parameters=_PARAMETERS,
        request=None,
        responses={202: ComputationSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Have a worker make a comparison that is too much while a program waits; answers with its address."""
        left = asked_about(request, slug)
        right = asked_about(request, _other(request) or slug, field="other_as_of")
        return handed_to_a_worker(request, comparison(_side(left), _side(right)), "This was not begun.")


def _compared(found: Comparison, left: Asked, right: Asked, left_out: list[str]) -> dict[str, Any]:
    head = ComparedSerializer(
        {
            "left": told(left),
            "right": told(right),
            "sentences": found.sentences,
            "settings": found.settings,
            "left_out": left_out,
            "acls_left_only": len(found.delta.remove),
            "acls_right_only": len(found.delta.add),
            "topics_left_only": found.only_left,
            "topics_right_only": found.only_right,
        }
    )
    return dict(head.data)


def _other(request: Request) -> str:
    text = request.query_params.get("other", "")
    if text and not _SLUG.fullmatch(text):
        raise Http404(f"There is no cluster {text[:60]!r} that you may see.")
    return text


def _side(asked: Asked) -> Side:
    return Side(asked.view, asked.moment)
