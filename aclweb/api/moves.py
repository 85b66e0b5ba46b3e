"""How does a program have a cluster read in another way: both sides compared as access by a worker, then switched?"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aclweb.api.clusters import LIVE_KINDS, ConnectingView, administered, faults, refuse_unknown
from aclweb.api.serializers import ClusterSerializer
from aclweb.changes import moving
from aclweb.changes.models import Move
from aclweb.clusters import AllowedHosts
from aclweb.inventory.admin import register as registering
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import tasks as sync_tasks


class Conflict(APIException):
    """What was asked for cannot be done to the cluster as it is now."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class WantedSerializer(serializers.Serializer[Any]):
    """Where the cluster is to be read from, and how to log in there."""

    kind = serializers.ChoiceField(choices=LIVE_KINDS)
    address = serializers.CharField(help_text="Such as broker-1:9092,broker-2:9092.")
    options = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False),
        required=False,
        write_only=True,
        help_text="All client settings, as for a new cluster: none is taken over from the way it is read now.",
    )
    authorizer = serializers.ChoiceField(
        choices=Cluster.Authorizer.choices,
        required=False,
        help_text="That of such clusters unless given; what brokers show counts first.",
    )
    kafka_version = serializers.CharField(required=False, max_length=20)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        refuse_unknown(self)
        return attrs


class FoundSerializer(serializers.Serializer[Any]):
    """What the other way showed, beside what is stored."""

    cluster_id = serializers.CharField(allow_blank=True)
    is_same = serializers.BooleanField(
        allow_null=True,
        help_text="Whether it is the same Kafka cluster; null where one side does not show its id.",
    )
    acls = serializers.IntegerField()
    topics = serializers.IntegerField(allow_null=True)
    groups = serializers.IntegerField(allow_null=True)
    here_only = serializers.IntegerField(help_text="How many ACLs are only stored.")
    there_only = serializers.IntegerField(help_text="How many ACLs were only read.")
    lines = serializers.ListField(
        child=serializers.DictField(), help_text="The first of these ACLs, as a delta from what is stored."
    )
    is_compared = serializers.BooleanField(help_text="False where access was too much to compare.")
    differences = serializers.IntegerField(help_text="How many answers differ.")
    left_out = serializers.ListField(child=serializers.CharField())
    settings = serializers.ListField(child=serializers.DictField())
    sentences = serializers.ListField(child=serializers.CharField())
    unreadable = serializers.IntegerField()
    problems = serializers.ListField(child=serializers.CharField())
    stored_at = serializers.CharField(allow_null=True)


class MoveSerializer(serializers.ModelSerializer[Move]):
    """A wish to read the cluster in another way, and how far it is."""

    number = serializers.IntegerField(source="pk")
    state_words = serializers.CharField(source="get_state_display", help_text="The state as pages say it.")
    found = FoundSerializer(allow_null=True)
    impact = serializers.SerializerMethodField(
        help_text="How many answers each list of the difference in access holds; null without one."
    )
    refused = serializers.SerializerMethodField(
        help_text="Why it cannot be switched to now, as a sentence; empty where it can."
    )
    must_be_accepted = serializers.SerializerMethodField(
        help_text="What accept_differences accepts, as a sentence; empty where both sides are the same."
    )

    class Meta:
        model = Move
        fields = [
            "number",
            "state",
            "state_words",
            "asked_by",
            "asked_at",
            "kind",
            "address",
            "authorizer",
            "sentence",
            "seconds",
            "found",
            "impact",
            "refused",
            "must_be_accepted",
        ]

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField(), allow_null=True))
    def get_impact(self, move: Move) -> dict[str, int | None] | None:
        if move.gains is None:
            return None
        return {name: getattr(move, name) for name in ("gains", "loses", "recovered", "depends")}

    def get_refused(self, move: Move) -> str:
        if move.state != Move.State.DONE or move.found is None:
            return moving.NOTHING_COMPARED
        return moving.why_not(move.cluster, moving.Found(**move.found), move.revision)

    def get_must_be_accepted(self, move: Move) -> str:
        return moving.must_be_accepted(moving.Found(**move.found)) if move.found else ""


class SwitchSerializer(serializers.Serializer[Any]):
    """Which comparison is switched to."""

    number = serializers.IntegerField(min_value=1, max_value=2**63 - 1)
    accept_differences = serializers.BooleanField(default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        refuse_unknown(self)
        return attrs


class ClusterMove(ConnectingView):
    @extend_schema(operation_id="move", responses=MoveSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The newest comparison before a move; who administers the cluster may read it."""
        cluster, _person = administered(request, slug)
        found = moving.latest(cluster)
        if found is None:
            raise Http404(
                f"Nobody has asked to move {cluster.name} yet; POST to this address compares first."
            )
        return Response(MoveSerializer(found).data)

    @extend_schema(operation_id="start_move", request=WantedSerializer, responses={202: MoveSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Have a worker read the cluster in another way and compare both as access; nothing is switched by that."""
        cluster, person = administered(request, slug)
        given = WantedSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        wanted = {"options": {}, **given.validated_data}
        try:
            within = AllowedHosts.read(settings.ACLWEB_CLUSTER_HOSTS)
            found = moving.ask(cluster=cluster, actor=person, within=within, **wanted)
        except registering.RegisteringError as error:
            raise ValidationError(faults(error)) from error
        address = reverse("api:move", args=[cluster.slug])
        return Response(
            MoveSerializer(found).data, status=status.HTTP_202_ACCEPTED, headers={"Location": address}
        )

    @extend_schema(operation_id="give_up_move", responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Give up what waits or was compared, and forget its login."""
        cluster, person = administered(request, slug)
        moving.give_up(cluster=cluster, reason=f"{person.get_username()} gave it up.")
        return Response(status=status.HTTP_204_NO_CONTENT)


class SwitchMove(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="switch_move", request=SwitchSerializer, responses={200: ClusterSerializer, 409: None}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Read the cluster in the way that was compared, from now on; 409 with a sentence where that cannot be."""
        cluster, person = administered(request, slug)
        given = SwitchSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        asked = given.validated_data
        row = Move.objects.filter(cluster=cluster, pk=asked["number"]).first()
        if row is None:
            raise Http404(f"{cluster.name} has no comparison {asked['number']} any more; compare again.")
        try:
            moved = moving.switch(move=row, actor=person, accepted=asked["accept_differences"])
        except moving.MovingError as error:
            raise Conflict(f"Nothing was moved. {error}") from error
        except registering.RegisteringError as error:
            raise ValidationError(faults(error)) from error
        sync_tasks.ask_for_sync(moved)
        return Response(ClusterSerializer(moved).data)
