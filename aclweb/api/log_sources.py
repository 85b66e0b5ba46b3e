"""Where are the authorizer logs of a cluster, and what did somebody say of each?"""

from __future__ import annotations

from django.db.models import QuerySet
from rest_framework import generics, serializers
from rest_framework.permissions import IsAuthenticated

from aclweb.accounts.access import cluster_or_404
from aclweb.inventory.admin import log_sources
from aclweb.inventory.models import LogSource


class LogSourceSerializer(serializers.ModelSerializer[LogSource]):
    """A log source. A text is empty where nobody has said it."""

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
        return cluster_or_404(self.request.user, self.kwargs["slug"]).log_sources.all()
