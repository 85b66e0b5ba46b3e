"""How far is a worker with an impact that is too much for a page, and what did it compute?"""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

from django.http import Http404
from django.http.response import HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aclweb.accounts.access import cluster_or_404
from aclweb.accounts.models import User
from aclweb.acl.simulate import entries_as_json
from aclweb.api.asking import Asked
from aclweb.api.impacts import (
    PARAMETERS,
    AskedImpact,
    ImpactCellsSerializer,
    ImpactSerializer,
    groups_or_cells,
    streamed,
)
from aclweb.changes import asking
from aclweb.changes.models import ChangeError, Computation
from aclweb.changes.question import Question, question_of
from aclweb.inventory.models import Cluster


class TooManyOpen(APIException):
    """The person has so many computations that wait that no other is begun."""

    status_code = status.HTTP_429_TOO_MANY_REQUESTS
    default_code = "too_many_open"


class ComputationSerializer(serializers.ModelSerializer[Computation]):
    """An impact that a worker computes: where it is, what it is about, and how far it is."""

    url = serializers.SerializerMethodField(
        help_text="Its address: GET shows how far it is, then the impact."
    )
    page = serializers.SerializerMethodField(help_text="The address of its page, for people.")
    cluster = serializers.SlugRelatedField[Cluster](slug_field="slug", read_only=True)
    revision = serializers.IntegerField(source="revision.number")
    asked_by = serializers.CharField(source="owner.username")
    sentences = serializers.SerializerMethodField(
        help_text="The state as pages say it, and why there is no impact."
    )
    steps_at_most = serializers.IntegerField(
        help_text="The steps that were foreseen, once it is begun; often fewer are needed."
    )

    class Meta:
        model = Computation
        fields = [
            "url",
            "page",
            "kind",
            "cluster",
            "revision",
            "asked_by",
            "state",
            "sentences",
            "steps_done",
            "steps_at_most",
            "gains",
            "loses",
            "recovered",
            "depends",
            "unchanged",
            "asked_at",
            "started_at",
            "finished_at",
        ]

    def get_url(self, row: Computation) -> str:
        return reverse("api:computation", args=[row.cluster.slug, row.address])

    def get_page(self, row: Computation) -> str:
        return reverse("computation", args=[row.cluster.slug, row.address])

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_sentences(self, row: Computation) -> list[str]:
        return list(asking.progress_of(row).sentences)


@extend_schema_field(
    groups_or_cells("ImpactOfComputation", ImpactSerializer, ImpactCellsSerializer, allow_null=True)
)
class ImpactField(serializers.JSONField):
    """The impact in the form that was asked for, as the what-if or the comparison has it; null until it is done."""


class ComputationDetailSerializer(ComputationSerializer):
    """A computation with its impact, for the schema."""

    impact = ImpactField()

    class Meta(ComputationSerializer.Meta):
        fields = [*ComputationSerializer.Meta.fields, "impact"]


class ComputationDetail(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(operation_id="computation", parameters=PARAMETERS, responses=ComputationDetailSerializer)
    def get(self, request: Request, slug: str, address: str) -> HttpResponseBase:
        """How far a worker is with an impact, and once it is done the impact."""
        asked = AskedImpact(request)
        row = _row(request, slug, address)
        answer = ComputationSerializer(row).data
        impact = row.impact
        if impact is None:
            return Response({**answer, "impact": None})
        head = _head(row)
        if asked.wants_cells:
            before = f'{json.dumps(answer)[:-1]}, "impact": '
            return streamed(request, chain([before], entries_as_json(impact, head), ["}"]))
        return Response({**answer, "impact": {**head, **asked.page(impact)}})

    @extend_schema(operation_id="cancel_computation", responses={204: None})
    def delete(self, request: Request, slug: str, address: str) -> Response:
        """End a computation that waits or is at work."""
        try:
            asking.cancel(_row(request, slug, address), person=_person(request))
        except ChangeError as error:
            raise ValidationError(str(error)) from error
        return Response(status=status.HTTP_204_NO_CONTENT)


def handed_to_a_worker(request: Request, question: Question, why: str) -> Response:
    """Answer 202 with the computation of what is too much for a page. why: what to say where it is too much anyway."""
    try:
        row = asking.ask(question, person=_person(request))
    except ChangeError as error:
        raise TooManyOpen(f"{why} {error}") from error
    if row.state == Computation.State.TOO_MUCH:
        raise ValidationError(row.sentence)
    answer = ComputationSerializer(row).data
    return Response(answer, status=status.HTTP_202_ACCEPTED, headers={"Location": answer["url"]})


def _head(row: Computation) -> dict[str, Any]:
    """Return what the impact begins with: the revision, or what a comparison says beside it."""
    revision = {"revision": row.revision.number}
    if row.kind == Computation.Kind.WHAT_IF:
        return revision
    left, right = (Asked(side.view, side.moment) for side in question_of(row).sides)
    return {**revision, "left": told(left), "right": told(right), "left_out": row.left_out}


def told(side: Asked) -> dict[str, Any]:
    """Return which cluster a side is, and as of when."""
    return {"cluster": side.view.cluster.slug, **side.head}


def _row(request: Request, slug: str, address: str) -> Computation:
    row = asking.of_address(_person(request), cluster_or_404(request.user, slug), address)
    if row is None:
        raise Http404("There is no computation at this address.")
    return row


def _person(request: Request) -> User:
    assert isinstance(request.user, User)  # IsAuthenticated
    return request.user
