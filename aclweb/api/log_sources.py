"""Where are the authorizer logs of a cluster, and what did somebody say of each?"""

from __future__ import annotations

from django.db.models import QuerySet
from rest_framework import generics, serializers
from rest_framework.permissions import IsAuthenticated

from aclweb.accounts.access import cluster_or_404
from aclweb.inventory.admin import log_sources
from aclweb.inventory.models import LogSource


class LogSourceSerializer(serializers.ModelSerializer[LogSource]):
    """A log source: a path on the worker's machine, or a topic. A text is empty where nobody has said it."""

    topic_on = serializers.CharField(
        read_only=True, help_text="The short name of the cluster that has the topic; empty for a path."
    )

    class Meta:
        model = LogSource
        fields = log_sources.FIELDS


class LogSourceList(generics.ListAPIView[LogSource]):
    """The log sources of one cluster, in the order in which they were added."""

    serializer_class = LogSourceSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[LogSource]:
        if getattr(self, "swagger_fake_view", False):
            return LogSource.objects.none()
        return cluster_or_404(self.request.user, self.kwargs["slug"]).log_sources.select_related(
            "topic_cluster"
        )
