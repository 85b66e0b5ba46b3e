"""How is a finding dismissed, with a reason and perhaps a last day, and counted again?"""

from __future__ import annotations

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aclweb.accounts.access import cluster_or_404, require
from aclweb.accounts.models import User
from aclweb.inventory.findings import LONGEST_REASON, DismissalError, dismiss, dismissals, undo
from aclweb.inventory.findings import pages as finding
from aclweb.inventory.models import Cluster, DismissedFinding


class AskedDismissalSerializer(serializers.Serializer[DismissedFinding]):
    """Why a finding may stay, and until when."""

    # What is wrong is said in the sentences of the page.
    reason = serializers.CharField(
        allow_blank=True,
        trim_whitespace=False,
        help_text=f"At most {LONGEST_REASON} characters; whoever comes later reads it.",
    )
    until = serializers.CharField(
        default="",
        allow_blank=True,
        allow_null=True,
        help_text="The last day on which it is left out, such as 2027-01-31; for good unless given.",
    )

    def validate_until(self, given: str | None) -> str:
        return given or ""


class DismissalSerializer(serializers.ModelSerializer[DismissedFinding]):
    """Who dismissed a finding, when, why and until when."""

    number = serializers.IntegerField(source="pk", help_text="The dismissal's own, by which it is undone.")
    until = serializers.DateField(
        allow_null=True, help_text="The last day on which the finding is left out; null for good."
    )

    class Meta:
        model = DismissedFinding
        fields = ["number", "reason", "until", "by", "at"]


class DismissFinding(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="dismiss_finding", request=AskedDismissalSerializer, responses={201: DismissalSerializer}
    )
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Leave a finding out of every count, for good or through a day; who may request changes may do so.

        It stays so in later snapshots, as long as the same ACL breaks the same lint rule.
        """
        cluster, person = _asked_by_who_may(request, slug)
        found = finding.own(cluster, number)
        if found is None:
            raise Http404(
                f"There is no finding {number} that is not dismissed: each new snapshot numbers them anew. "
                "Read the list of findings again."
            )
        given = AskedDismissalSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        try:
            dismissal = dismiss(found.stored, actor=person, cluster=cluster, **given.validated_data)
        except DismissalError as error:
            raise ValidationError({error.field: str(error)}) from error
        return Response(DismissalSerializer(dismissal).data, status=status.HTTP_201_CREATED)


class DismissalDetail(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(operation_id="undo_dismissal", responses={204: None})
    def delete(self, request: Request, slug: str, number: int) -> Response:
        """Count a dismissed finding again; who may request changes may do so."""
        cluster, person = _asked_by_who_may(request, slug)
        dismissal = dismissals(cluster).filter(pk=number).first()
        if dismissal is None:
            raise Http404(f"There is no dismissal {number} in force on {cluster.name}.")
        undo(dismissal, actor=person)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _asked_by_who_may(request: Request, slug: str) -> tuple[Cluster, User]:
    """Return the cluster and the person who asks, if that person may request changes there."""
    cluster = cluster_or_404(request.user, slug)
    require(request.user, "request", cluster)
    assert isinstance(request.user, User)  # IsAuthenticated
    return cluster, request.user
