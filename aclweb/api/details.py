"""What do brokers tell of a cluster beside its ACLs: who can log in, who is limited, and who is in which group?

What brokers do not tell is `unknown` with a sentence, and never an empty list that looks complete.
"""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aclweb.accounts.access import cluster_or_404
from aclweb.clusters import DetailKind, GroupType, Known
from aclweb.inventory.details import told_details, told_groups, told_lists
from aclweb.inventory.models import StoredDetail, StoredGroup

KINDS = [kind.value for kind in DetailKind]
_TYPES = [kind.value for kind in GroupType if kind]


class ToldListSerializer(serializers.Serializer[Any]):
    """How complete the list of one kind is, and when brokers gave it."""

    kind = serializers.ChoiceField(choices=KINDS)
    known = serializers.ChoiceField(
        choices=[known.value for known in Known], help_text="`visible`: there may be others."
    )
    count = serializers.IntegerField(allow_null=True, help_text="Null where nothing is known.")
    sentence = serializers.CharField(
        allow_blank=True, help_text="Why not all are known, or why there is none."
    )
    command = serializers.CharField(
        allow_null=True, help_text="What would grant the right that is missing; null where nothing would."
    )
    read_at = serializers.DateTimeField(allow_null=True, help_text="When brokers last answered.")
    problem = serializers.CharField(allow_blank=True, help_text="What went wrong since.")


class DetailLists(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(operation_id="detail_lists", responses=ToldListSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """How complete each list is that brokers gave beside ACLs and names."""
        found = told_lists(cluster_or_404(request.user, slug))
        return Response(ToldListSerializer([each.as_dict() for each in found.values()], many=True).data)


class DetailSerializer(serializers.ModelSerializer[StoredDetail]):
    """A SCRAM user, a quota, a transactional id or a delegation token. No secret of any is kept."""

    user = serializers.CharField(
        help_text="The user that a SCRAM credential or quota is for; empty for others."
    )
    principal = serializers.CharField(help_text="The owner of a token; empty for others.")
    facts = serializers.JSONField(
        help_text="scram-users: `mechanisms`, with iterations. quotas: `entity`, where null is every other one, and "
        "`limits`. tokens: `requester`, `renewers`, and `issued`, `expires`, `ends` in milliseconds."
    )
    first_seen = serializers.DateTimeField(
        source="first_at", help_text="Since when aclweb has seen it as it is."
    )

    class Meta:
        model = StoredDetail
        fields = ["name", "user", "principal", "facts", "first_seen"]


@extend_schema_view(
    get=extend_schema(
        operation_id="details",
        parameters=[
            OpenApiParameter("kind", str, OpenApiParameter.PATH, enum=KINDS),
            OpenApiParameter("text", str, description="Part of the name or the owner."),
        ],
    )
)
class DetailRows(generics.ListAPIView[StoredDetail]):
    """The entries of one list by name, a page at a time; none where the list is `unknown`."""

    serializer_class = DetailSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[StoredDetail]:
        if getattr(self, "swagger_fake_view", False):
            return StoredDetail.objects.none()
        cluster = cluster_or_404(self.request.user, self.kwargs["slug"])
        if self.kwargs["kind"] not in KINDS:
            raise Http404(f"{self.kwargs['kind']!r} is no such list; use one of {', '.join(KINDS)}.")
        return told_details(
            cluster, DetailKind(self.kwargs["kind"]), self.request.query_params.get("text", "")
        )


class ListedGroupSerializer(serializers.ModelSerializer[StoredGroup]):
    """A group that brokers list, with its type, and who was in it when it was last described."""

    type = serializers.CharField(
        allow_blank=True, help_text=f"One of {', '.join(_TYPES)}; empty where brokers do not tell."
    )
    read_at = serializers.DateTimeField(
        source="described_at", allow_null=True, help_text="When its members were read; null before they were."
    )
    members = serializers.JSONField(
        allow_null=True,
        help_text="`client_id`, `host` and `instance_id` of each, the first 500; null where nobody knows them. Brokers "
        "do not tell the principal of a member.",
    )
    sentence = serializers.CharField(allow_blank=True, help_text="Why the members are not known.")

    class Meta:
        model = StoredGroup
        fields = ["name", "type", "state", "read_at", "members", "members_total", "sentence"]


@extend_schema_view(
    get=extend_schema(
        operation_id="groups",
        parameters=[
            OpenApiParameter("text", str, description="Part of the name."),
            OpenApiParameter("type", str, enum=_TYPES, description="Groups of this type; all unless given."),
        ],
    )
)
class GroupRows(generics.ListAPIView[StoredGroup]):
    """The groups that brokers list, by name, a page at a time, with who was in each."""

    serializer_class = ListedGroupSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[StoredGroup]:
        if getattr(self, "swagger_fake_view", False):
            return StoredGroup.objects.none()
        cluster = cluster_or_404(self.request.user, self.kwargs["slug"])
        asked = self.request.query_params
        kind = asked.get("type", "")
        if kind and kind not in _TYPES:
            raise serializers.ValidationError(
                {"type": f"{kind!r} is no type of a group; use one of {', '.join(_TYPES)}."}
            )
        return told_groups(cluster, kind=kind, text=asked.get("text", ""))
