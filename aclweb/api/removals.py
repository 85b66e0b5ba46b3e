"""How does a program remove a cluster, and read what is kept of removed ones?"""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aclweb.accounts.access import cluster_or_404, require_auditor
from aclweb.api.changes import ChangeSerializer
from aclweb.api.clusters import refuse_unknown, site_administrator
from aclweb.api.moves import Conflict
from aclweb.changes.models import Change
from aclweb.changes.queries import kept_changes
from aclweb.inventory.admin import removing
from aclweb.inventory.models import Cluster

_WHAT = "Removing clusters is"


class PlanSerializer(serializers.Serializer[Any]):
    """What a removal keeps for auditors and what it deletes, as sentences."""

    kept = serializers.ListField(child=serializers.CharField())
    deleted = serializers.ListField(child=serializers.CharField())


class ConfirmSerializer(serializers.Serializer[Any]):
    confirm = serializers.CharField(help_text="The name of the cluster as people call it.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        refuse_unknown(self)
        return attrs


class RemovedSerializer(serializers.ModelSerializer[Cluster]):
    """A cluster that was removed, and how far workers are with deleting what was stored of it."""

    number = serializers.IntegerField(source="pk")
    slug = serializers.CharField(source="removed_slug", help_text="Its short name when it was there.")

    class Meta:
        model = Cluster
        fields = [
            "number",
            "slug",
            "name",
            "cluster_id",
            "removed_at",
            "removed_by",
            "rows_deleted",
            "deleted_at",
        ]


class ClusterRemoval(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(operation_id="removal", responses=PlanSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """What removing this cluster would keep and delete; administrators of the site may ask."""
        cluster = cluster_or_404(request.user, slug)
        site_administrator(request, _WHAT)
        return Response(PlanSerializer(removing.plan(cluster)).data)

    @extend_schema(
        operation_id="remove_cluster",
        request=ConfirmSerializer,
        responses={200: RemovedSerializer, 409: None},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Remove the cluster; a worker deletes what was stored of it. 409 with a sentence where that cannot be now."""
        cluster = cluster_or_404(request.user, slug)
        person = site_administrator(request, _WHAT)
        given = ConfirmSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        try:
            gone = removing.remove(actor=person, cluster=cluster, confirmed=given.validated_data["confirm"])
        except removing.RemovingError as error:
            raise Conflict(f"Nothing was removed. {error}") from error
        return Response(RemovedSerializer(gone).data)


class RemovedClusters(generics.ListAPIView[Cluster]):
    """The removed clusters, the last one first; administrators and auditors of the site may read them."""

    serializer_class = RemovedSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[Cluster]:
        if not getattr(self, "swagger_fake_view", False):
            require_auditor(self.request.user)
        return removing.all_removed()


class RemovedChanges(generics.ListAPIView[Change]):
    """The change requests that are kept of a removed cluster, newest first; each is read as any other."""

    serializer_class = ChangeSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[Change]:
        if getattr(self, "swagger_fake_view", False):
            return Change.objects.none()
        person = require_auditor(self.request.user)
        gone = generics.get_object_or_404(removing.all_removed(), pk=self.kwargs["number"])
        return kept_changes(person).filter(cluster=gone).select_related("applied_revision")
