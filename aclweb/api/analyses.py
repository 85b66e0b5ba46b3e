"""Start an analysis of the logs of a cluster, see how far it is, and read what it found, page by page."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404, QueryDict
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aclweb.accounts.access import cluster_or_404, may, visible_clusters
from aclweb.api.asking import word_asked
from aclweb.api.computations import TooManyOpen
from aclweb.api.paging import PAGE, SIZE, OpenPages
from aclweb.api.size import FittingPage
from aclweb.insights import analyses
from aclweb.insights.errors import InsightsError
from aclweb.insights.models import Analysis

_NAMES = sorted(analyses.JOBS)


class AskedAnalysisSerializer(serializers.Serializer[Any]):
    """Which job to run; each option has a default."""

    job = serializers.ChoiceField(choices=_NAMES)
    options = serializers.DictField(
        child=serializers.CharField(trim_whitespace=False),
        default=dict,
        help_text="anomalies: lately (days); least-privilege: names, hosts. The page Analyses lists the values. "
        "replay: delta, an edit as JSON lines, each an ACL with an op, add or remove. compare: beside, other clusters "
        "parted by commas.",
    )


class ClaimSerializer(serializers.Serializer[Any]):
    """What the log can show, or cannot."""

    known = serializers.BooleanField()
    sentence = serializers.CharField()


class AnalysisSerializer(serializers.ModelSerializer[Analysis]):
    """One analysis: where it is, what it is about, and how far it is."""

    url = serializers.SerializerMethodField(help_text="Its address.")
    page = serializers.SerializerMethodField(help_text="The address of its page, for people.")
    cluster = serializers.CharField(source="cluster.slug")
    revision = serializers.IntegerField(
        source="revision_number", allow_null=True, help_text="Of the ACLs that it worked with."
    )
    progress = serializers.SerializerMethodField(help_text="How far it is, as pages say it.")
    options = serializers.DictField(child=serializers.CharField())
    counts = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()),
        help_text='Of each table: rows of each kind that are kept, and in "" all.',
    )

    class Meta:
        model = Analysis
        fields = [
            "url",
            "page",
            "cluster",
            "job",
            "options",
            "asked_by",
            "state",
            "progress",
            "problem",
            "steps_done",
            "steps",
            "revision",
            "counts",
            "asked_at",
            "started_at",
            "finished_at",
        ]

    def get_url(self, row: Analysis) -> str:
        return reverse("api:analysis", args=[row.cluster.slug, row.address])

    def get_page(self, row: Analysis) -> str:
        return reverse("analysis", args=[row.cluster.slug, row.address])

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_progress(self, row: Analysis) -> list[str]:
        return list(analyses.progress_of(row).sentences)


class AnalysisDetailSerializer(AnalysisSerializer):
    """An analysis with what its log can show, and what it found in sentences; both are empty until it is done."""

    claims = serializers.SerializerMethodField()
    sentences = serializers.ListField(child=serializers.CharField())

    class Meta(AnalysisSerializer.Meta):
        fields = [*AnalysisSerializer.Meta.fields, "claims", "sentences"]

    @extend_schema_field(ClaimSerializer(many=True))
    def get_claims(self, row: Analysis) -> list[dict[str, Any]]:
        if row.state != Analysis.State.DONE:
            return []
        return [vars(claim) for claim in analyses.claims_of(row, analyses.JOBS[row.job])]


class AnalysisRowsSerializer(serializers.Serializer[Any]):
    """One page of a table, in the order of the job. The columns are those of docs/pipeline.md."""

    table = serializers.CharField()
    total = serializers.IntegerField()
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    is_complete = serializers.BooleanField(help_text="Whether this page holds all of its rows.")
    rows = serializers.ListField(child=serializers.DictField(child=serializers.JSONField(allow_null=True)))


class AnalysisList(generics.ListAPIView[Analysis]):
    """The analyses of one cluster, the newest first."""

    serializer_class = AnalysisSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[Analysis]:
        if getattr(self, "swagger_fake_view", False):
            return Analysis.objects.none()
        cluster = cluster_or_404(self.request.user, self.kwargs["slug"])
        found = analyses.seen_of(cluster, visible_clusters(self.request.user))
        return found.select_related("cluster").defer("facts", "delta")

    @extend_schema(
        operation_id="start_analysis", request=AskedAnalysisSerializer, responses={202: AnalysisSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Have a worker run a job over the logs; one that waits or is at work already is the answer."""
        cluster = cluster_or_404(request.user, slug)
        asked = AskedAnalysisSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            row = analyses.ask(
                cluster=cluster,
                person=request.user.get_username(),
                visible=visible_clusters(request.user),
                **asked.validated_data,
            )
        except analyses.TooManyOpen as error:
            raise TooManyOpen(str(error)) from error
        except InsightsError as error:
            raise ValidationError(str(error)) from error
        answer = AnalysisSerializer(row).data
        return Response(answer, status=status.HTTP_202_ACCEPTED, headers={"Location": answer["url"]})


class AnalysisDetail(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(operation_id="analysis", responses=AnalysisDetailSerializer)
    def get(self, request: Request, slug: str, address: str) -> Response:
        """How far a worker is with an analysis, and once it is done what it found in short."""
        return Response(AnalysisDetailSerializer(_row(request, slug, address)).data)

    @extend_schema(operation_id="cancel_analysis", responses={204: None})
    def delete(self, request: Request, slug: str, address: str) -> Response:
        """End an analysis that waits or is at work."""
        row = _row(request, slug, address)
        administers = may(request.user, "administer", row.cluster)
        try:
            analyses.cancel(row, person=request.user.get_username(), is_administrator=administers)
        except InsightsError as error:
            raise ValidationError(str(error)) from error
        return Response(status=status.HTTP_204_NO_CONTENT)


class AnalysisRows(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="analysis_rows",
        parameters=[
            OpenApiParameter(
                "table", str, description="One of the tables in `counts`; the first unless given."
            ),
            OpenApiParameter("kind", str, description="One of the kinds of this table, such as needed."),
            OpenApiParameter("text", str, description="Part of a principal, a resource name, or an address."),
            OpenApiParameter("used_on", str, description="Of compare: a cluster that uses it."),
            OpenApiParameter(
                "not_on", str, description="Of compare: a cluster that does not use it, or denied it."
            ),
            OpenApiParameter(
                "allowed_on",
                str,
                description="Of compare: a cluster that does not use it and whose ACLs allow it.",
            ),
            PAGE,
            SIZE,
        ],
        responses=AnalysisRowsSerializer,
    )
    def get(self, request: Request, slug: str, address: str) -> Response:
        """The rows of a table of a result; there are none until it is done."""
        row, pages, asked = _row(request, slug, address), OpenPages(request), request.query_params
        job = analyses.JOBS[row.job]
        name = word_asked(asked, "table", [table.name for table in job.tables]) or job.tables[0].name
        table = job.table(name)
        assert table is not None  # one of its tables
        kind = word_asked(asked, "kind", [each.value for each in table.kinds])
        on = _on(row, asked) if job.beside else {}
        found = analyses.found_in(row, table, kind=kind, text=asked.get("text", ""), on=on)
        if row.state != Analysis.State.DONE:
            found = found.none()
        listed = [analyses.values_of(each) for each in pages.of(found)]
        cut = FittingPage(len(listed))
        return Response(
            {
                "table": table.name,
                "total": found.count(),
                "page": pages.number,
                "pages": pages.count(found),
                "rows": cut.rows(listed),
                "is_complete": cut.is_complete,
            }
        )


def _on(row: Analysis, asked: QueryDict) -> dict[str, str]:
    """Return the clusters by which rows of a job about several are filtered."""
    clusters = [row.cluster.slug, *row.beside]
    chosen = {name: word_asked(asked, name, clusters) for name in analyses.ON}
    return {name: cluster for name, cluster in chosen.items() if cluster}


def _row(request: Request, slug: str, address: str) -> Analysis:
    cluster = cluster_or_404(request.user, slug)
    row = analyses.of_address(cluster, address, visible_clusters(request.user))
    if row is None or row.job not in analyses.JOBS:
        raise Http404("There is no analysis at this address.")
    return row
