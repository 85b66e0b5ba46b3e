"""Who owns which names of a cluster, and how are they labelled?"""

from __future__ import annotations

from django.db.models import QuerySet
from rest_framework import generics, serializers
from rest_framework.permissions import IsAuthenticated

from aclweb.accounts.access import cluster_or_404
from aclweb.inventory.admin import owners
from aclweb.inventory.models import OwnedNames


class OwnedNamesSerializer(serializers.ModelSerializer[OwnedNames]):
    """Names with their owner and labels. A text is empty where nobody has said it."""

    class Meta:
        model = OwnedNames
        fields = owners.FIELDS


class OwnerList(generics.ListAPIView[OwnedNames]):
    """Who owns which names of one cluster, by kind and name, a page at a time."""

    serializer_class = OwnedNamesSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[OwnedNames]:
        if getattr(self, "swagger_fake_view", False):
            return OwnedNames.objects.none()
        return cluster_or_404(self.request.user, self.kwargs["slug"]).owned_names.all()
