"""What are the principals of a cluster called, where ACLs hold an id?"""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from aclweb.accounts.access import cluster_or_404, require
from aclweb.accounts.models import User
from aclweb.acl.model import NotationError
from aclweb.inventory.admin import principal_names
from aclweb.inventory.models import PrincipalName


class PrincipalNameSerializer(serializers.ModelSerializer[PrincipalName]):
    """A principal, and what people call it."""

    class Meta:
        model = PrincipalName
        fields = principal_names.FIELDS


class NewNamesSerializer(serializers.Serializer[Any]):
    """Names by principal; they are all that there are then."""

    names = serializers.DictField(
        child=serializers.CharField(), help_text='Such as {"User:12345": "orders app"}; {} for none.'
    )


class NamingSerializer(serializers.Serializer[Any]):
    """How many names are new, differ, are gone and stay."""

    added = serializers.IntegerField()
    changed = serializers.IntegerField()
    removed = serializers.IntegerField()
    same = serializers.IntegerField()


class PrincipalNameList(generics.ListAPIView[PrincipalName]):
    """What the principals of one cluster are called, a page at a time."""

    serializer_class = PrincipalNameSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[PrincipalName]:
        if getattr(self, "swagger_fake_view", False):
            return PrincipalName.objects.none()
        return cluster_or_404(self.request.user, self.kwargs["slug"]).principal_names.all()

    @extend_schema(
        operation_id="name_principals", request=NewNamesSerializer, responses={200: NamingSerializer}
    )
    def put(self, request: Request, slug: str) -> Response:
        """Have exactly these names, all or none of them; who administers the cluster may do so."""
        cluster = cluster_or_404(request.user, slug)
        require(request.user, "administer", cluster)
        assert isinstance(request.user, User)  # IsAuthenticated
        given = NewNamesSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        try:
            names = principal_names.checked(given.validated_data["names"])
        except NotationError as error:
            raise ValidationError({"names": error.messages}) from error
        found = principal_names.load(actor=request.user, cluster=cluster, names=names)
        counts = {part: len(getattr(found, part)) for part in ("added", "changed", "removed")}
        return Response(counts | {"same": found.same})
