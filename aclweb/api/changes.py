"""Which changes are there, what does each do, and what became of it?"""

from __future__ import annotations

import json
from itertools import chain

from django.db.models import QuerySet
from django.http import Http404
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import generics, serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aclweb.accounts.models import User
from aclweb.acl.authorizer import edit_caveats
from aclweb.acl.simulate import entries_as_json
from aclweb.api.impacts import (
    PARAMETERS,
    AskedImpact,
    ImpactCellsSerializer,
    ImpactSerializer,
    groups_or_cells,
    streamed,
)
from aclweb.api.size import MOST_BYTES, MOST_BYTES_OF_AN_ANSWER
from aclweb.changes.models import Change, ChangeItem
from aclweb.changes.queries import changes_of, item_state_words, kept_changes
from aclweb.inventory.current import settings_of
from aclweb.inventory.models import Cluster

# About what the fields of one ACL of a change take, and what of a change is neither ACL nor effect.
_BYTES_OF_AN_ITEM, _BYTES_OF_THE_REST = 300, 10_000


class ChangeItemSerializer(serializers.ModelSerializer[ChangeItem]):
    class Meta:
        model = ChangeItem
        fields = [
            "position",
            "phase",
            "op",
            "resource_type",
            "resource_name",
            "pattern_type",
            "principal",
            "host",
            "operation",
            "permission_type",
            "state",
            "sentence",
        ]


class ChangeSerializer(serializers.ModelSerializer[Change]):
    key = serializers.CharField()
    cluster = serializers.SerializerMethodField(
        help_text="Its short name; of a removed cluster the one that it had."
    )
    author = serializers.CharField(source="author.username")
    state_words = serializers.SerializerMethodField(help_text="The state as pages say it.")
    applied_revision = serializers.IntegerField(
        source="applied_revision.number",
        allow_null=True,
        read_only=True,
        help_text="The revision in which a worker read back what it had written.",
    )

    class Meta:
        model = Change
        fields = [
            "key",
            "cluster",
            "title",
            "reason",
            "ticket",
            "author",
            "state",
            "state_words",
            "sentence",
            "approvals_needed",
            "gains",
            "loses",
            "recovered",
            "depends",
            "unchanged",
            "created_at",
            "submitted_at",
            "decided_at",
            "finished_at",
            "applied_revision",
        ]

    def get_cluster(self, change: Change) -> str:
        cluster: Cluster = change.cluster
        return cluster.removed_slug or cluster.slug

    def get_state_words(self, change: Change) -> str:
        return item_state_words(change)[0]


class ChangeAndItemsSerializer(ChangeSerializer):
    """A change with all but its impact."""

    items = ChangeItemSerializer(many=True)
    approvals = serializers.SerializerMethodField()
    gates = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField()),
        read_only=True,
        help_text="What each policy gate said when the change was submitted or last decided on: gate, state "
        "(pass, not met, cannot tell), sentence, and which approvals it asks for.",
    )

    caveats = serializers.SerializerMethodField(
        help_text="What decides beside the ACLs where a managed service runs the cluster, and what becomes of ACLs "
        "that are written there; as declared today, and empty where nothing does."
    )

    class Meta(ChangeSerializer.Meta):
        fields = [*ChangeSerializer.Meta.fields, "items", "approvals", "gates", "caveats"]

    def get_caveats(self, change: Change) -> list[str]:
        return list(edit_caveats(settings_of(change.cluster)))

    def get_approvals(self, change: Change) -> list[dict[str, str]]:
        return [
            {
                "reviewer": approval.reviewer.username,
                "at": approval.at.isoformat(),
                "comment": approval.comment,
            }
            for approval in change.approvals.all()
        ]


@extend_schema_field(
    groups_or_cells("ImpactOfChange", ImpactSerializer, ImpactCellsSerializer, allow_null=True)
)
class ImpactField(serializers.JSONField):
    """The impact in the form that was asked for; null for a draft."""


class ChangeDetailSerializer(ChangeAndItemsSerializer):
    """A change with its impact, for the schema."""

    impact = ImpactField()

    class Meta(ChangeAndItemsSerializer.Meta):
        fields = [*ChangeAndItemsSerializer.Meta.fields, "impact"]


class ChangeList(generics.ListAPIView[Change]):
    """The changes of the clusters that you may see, newest first."""

    serializer_class = ChangeSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[Change]:
        if getattr(self, "swagger_fake_view", False):
            return Change.objects.none()
        seen = changes_of(_person(self.request))
        return seen.select_related("cluster", "author", "applied_revision").order_by("-pk")


class ChangeDetail(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(operation_id="change", parameters=PARAMETERS, responses=ChangeDetailSerializer)
    def get(self, request: Request, number: int) -> HttpResponseBase:
        """One change: its ACLs, its effect as the author saw it, who agreed, and what became of each ACL."""
        asked = AskedImpact(request)
        person = _person(request)
        change = _whole(changes_of(person), number) or _whole(kept_changes(person), number)
        if change is None:
            raise Http404(f"There is no change CR-{number} that you may see.")
        answer = ChangeAndItemsSerializer(change).data
        impact = change.impact
        if impact is None:
            return Response({**answer, "impact": None})
        revision = {"revision": None if change.revision is None else change.revision.number}
        if asked.wants_cells:
            before = f'{json.dumps(answer)[:-1]}, "impact": '
            return streamed(request, chain([before], entries_as_json(impact, revision), ["}"]))
        page = asked.page(impact, min(MOST_BYTES, _bytes_beside(change)))
        return Response({**answer, "impact": {**page, **revision}})


def _whole(changes: QuerySet[Change], number: int) -> Change | None:
    return (
        changes.filter(pk=number)
        .select_related("cluster", "author", "revision", "applied_revision")
        .prefetch_related("items", "approvals__reviewer")
        .first()
    )


def _bytes_beside(change: Change) -> int:
    """Return about how many bytes an answer has left beside the ACLs of a change."""
    texts = ((item.resource_name, item.principal, item.host, item.sentence) for item in change.items.all())
    items = sum(_BYTES_OF_AN_ITEM + len(json.dumps(text)) for text in texts)
    return max(0, MOST_BYTES_OF_AN_ANSWER - _BYTES_OF_THE_REST - items)


def _person(request: Request) -> User:
    assert isinstance(request.user, User)  # IsAuthenticated
    return request.user
