"""Which clusters are there, and how does a program pause one, switch its changes, or have its connection tested?

Nothing here calls a cluster: a worker tests the connection.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle, UserRateThrottle
from rest_framework.views import APIView

from aclweb.accounts.access import cluster_or_404, require, visible_clusters
from aclweb.accounts.models import User
from aclweb.api.serializers import ClusterSerializer
from aclweb.clusters.rights import Answer
from aclweb.inventory import checks
from aclweb.inventory.admin import pausing
from aclweb.inventory.admin import register as registering
from aclweb.inventory.models import Cluster, ConnectionCheck
from aclweb.inventory.sync import tasks as sync_tasks


class ClusterList(generics.ListAPIView[Cluster]):
    """The clusters that you may see, by name."""

    serializer_class = ClusterSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[Cluster]:
        if getattr(self, "swagger_fake_view", False):
            return Cluster.objects.none()
        return visible_clusters(self.request.user).select_related("revision").order_by("name")


class AskedClusterSerializer(serializers.Serializer[Any]):
    """What is to be otherwise of a cluster; what is left out stays."""

    paused = serializers.BooleanField(
        required=False, help_text="Whether nothing connects to it: no sync, and approved changes wait."
    )
    changes_enabled = serializers.BooleanField(
        required=False, help_text="Whether approved changes are written to it."
    )

    def validate(self, attrs: dict[str, bool]) -> dict[str, bool]:
        known = ", ".join(self.fields)
        if unknown := sorted(set(self.initial_data) - set(self.fields)):
            raise serializers.ValidationError(
                {name: f"{name[:60]!r} cannot be changed here; use {known}." for name in unknown}
            )
        if not attrs:
            raise serializers.ValidationError(f"Nothing to change: give one of {known}.")
        return attrs


class ClusterDetail(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(operation_id="cluster", responses=ClusterSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """One cluster: what was declared about it, and what the last sync found."""
        return Response(ClusterSerializer(cluster_or_404(request.user, slug)).data)

    @extend_schema(operation_id="change_cluster", request=AskedClusterSerializer, responses=ClusterSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        """Pause or resume a cluster, and switch its changes on or off; who administers it may do so.

        All of it is done, or nothing. A cluster that is resumed is synced soon.
        """
        cluster, person = _administered(request, slug)
        given = AskedClusterSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        asked, resumed = given.validated_data, False
        try:
            with transaction.atomic():
                if asked.get("paused") is True:
                    pausing.pause(actor=person, cluster=cluster)
                elif asked.get("paused") is False:
                    resumed = pausing.resume(actor=person, cluster=cluster)
                if "changes_enabled" in asked:
                    registering.change(
                        actor=person, cluster=cluster, changes_enabled=asked["changes_enabled"]
                    )
        except registering.RegisteringError as error:
            raise ValidationError(error.faults) from error
        if resumed:
            sync_tasks.ask_for_sync(cluster)
        return Response(ClusterSerializer(cluster_or_404(request.user, slug)).data)


class RightSerializer(serializers.Serializer[Any]):
    """One line of a test: a step, or a right of the login."""

    right = serializers.CharField()
    answer = serializers.ChoiceField(choices=[answer.value for answer in Answer])
    sentence = serializers.CharField()
    command = serializers.CharField(
        allow_null=True, help_text="What would grant it; null where nothing would."
    )
    needed = serializers.BooleanField(help_text="Whether `is_ok` asks for it.")


class CheckSerializer(serializers.ModelSerializer[ConnectionCheck]):
    """One test of a cluster's connection, with a line for each step as soon as it is known."""

    number = serializers.IntegerField(source="pk")
    state_words = serializers.CharField(source="get_state_display", help_text="The state as pages say it.")
    sentence = serializers.CharField(
        allow_blank=True, help_text="What was found, or why nothing was; empty until it has ended."
    )
    is_ok = serializers.SerializerMethodField(
        help_text="Whether the cluster can be read whole and nothing needed is missing; null until that is known."
    )
    seconds = serializers.FloatField(allow_null=True, help_text="How long it took.")
    rights = RightSerializer(many=True)

    class Meta:
        model = ConnectionCheck
        fields = [
            "number",
            "state",
            "state_words",
            "asked_by",
            "asked_at",
            "sentence",
            "is_ok",
            "seconds",
            "rights",
        ]

    def get_is_ok(self, check: ConnectionCheck) -> bool | None:
        return check.is_ok if check.state == ConnectionCheck.State.DONE else None


class TestRate(UserRateThrottle):
    """How many tests one person may ask for: each is work of a worker, and connects to the cluster."""

    scope = "tests"
    rate = "10/min"


class ClusterCheck(APIView):
    permission_classes = [IsAuthenticated]

    def get_throttles(self) -> list[BaseThrottle]:
        usual = super().get_throttles()
        return [*usual, TestRate()] if self.request.method == "POST" else usual

    @extend_schema(operation_id="check", responses=CheckSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The newest test of a cluster's connection, line by line; who administers the cluster may read it."""
        cluster, _person = _administered(request, slug)
        check = checks.latest(cluster)
        if check is None:
            raise Http404(
                f"Nobody has asked for a test of {cluster.name} yet; POST to this address asks for one."
            )
        return Response(CheckSerializer(check).data)

    @extend_schema(operation_id="start_check", request=None, responses={202: CheckSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Have a worker test the connection, also of a paused cluster; one that waits already is the answer.

        It stores nothing of the cluster and writes nothing to it.
        """
        cluster, person = _administered(request, slug)
        answer = CheckSerializer(checks.ask(cluster=cluster, actor=person)).data
        address = reverse("api:check", args=[cluster.slug])
        return Response(answer, status=status.HTTP_202_ACCEPTED, headers={"Location": address})


def _administered(request: Request, slug: str) -> tuple[Cluster, User]:
    """Return the cluster and the person who asks, if that person administers it."""
    cluster = cluster_or_404(request.user, slug)
    require(request.user, "administer", cluster)
    assert isinstance(request.user, User)  # IsAuthenticated
    return cluster, request.user
