"""What do the authorizer logs show: denials, coverage, use, and what an edit would do to the logged requests?

The rows are those of the pages and their downloads. Where the log cannot tell, `why_not` says why, and a number is null
or absent, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aclweb.accounts.access import cluster_or_404
from aclweb.acl.model import AclError, Delta
from aclweb.api.asking import asked_now, number_asked, word_asked
from aclweb.api.paging import PAGE, SIZE, OpenPages
from aclweb.api.serializers import CaveatsSerializer, WhatIfRequestSerializer, caveats_of
from aclweb.api.size import FittingPage
from aclweb.changes.models import ChangeError
from aclweb.changes.queries import in_force_since
from aclweb.changes.replaying import replay_of
from aclweb.insights import denials, use_map
from aclweb.insights.analyses import JOBS
from aclweb.insights.coverage import coverage
from aclweb.insights.coverage_days import BrokerCoverage, DayCell, coverage_days
from aclweb.insights.denial_groups import WINDOWS as DENIAL_WINDOWS
from aclweb.insights.denials import Denial, Wanted
from aclweb.insights.replay import Replay
from aclweb.insights.replay_rows import VIEWS, exported
from aclweb.insights.window import WINDOWS

_LONGEST_COVERAGE_DAYS = 400
_USUAL_DAYS = 30


class LogRowsSerializer(serializers.Serializer[Any]):
    """One page of what the log shows."""

    log_from = serializers.DateTimeField(
        allow_null=True, help_text="The first record, on the brokers' clocks; null without a log."
    )
    log_to = serializers.DateTimeField(allow_null=True)
    why_not = serializers.CharField(
        allow_blank=True, help_text="Why the log cannot tell, or why more may have happened."
    )
    total = serializers.IntegerField()
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    is_complete = serializers.BooleanField(help_text="Whether this page holds all of its rows.")


class DenialRowSerializer(serializers.Serializer[Any]):
    """What one principal was denied on one resource, from all hosts together; times are the brokers' own."""

    key = serializers.CharField()
    state = serializers.ChoiceField(choices=list(denials.State.values))
    principal = serializers.CharField()
    operation = serializers.CharField()
    resource_type = serializers.CharField()
    resource_name = serializers.CharField()
    cause = serializers.ChoiceField(choices=[kind.value for kind in JOBS["refusals"].tables[0].kinds])
    sentence = serializers.CharField(help_text="The likely cause.")
    denials = serializers.IntegerField(help_text="In the days asked for.")
    on_the_last_day = serializers.IntegerField()
    burst_day = serializers.DateField(allow_null=True)
    burst_denials = serializers.IntegerField(allow_null=True)
    hosts = serializers.IntegerField()
    latest_host = serializers.CharField()
    first = serializers.DateTimeField()
    last = serializers.DateTimeField()
    reason = serializers.CharField(allow_null=True, help_text="What a person said of it last.")
    set_by = serializers.CharField(allow_null=True)
    set_at = serializers.DateTimeField(allow_null=True)


class DenialsSerializer(CaveatsSerializer, LogRowsSerializer):
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="How many groups of these days are in each state."
    )
    denials = DenialRowSerializer(many=True)


class CoverageRowSerializer(serializers.Serializer[Any]):
    """What one broker logged on one day."""

    broker = serializers.CharField()
    day = serializers.DateField()
    shows = serializers.ChoiceField(choices=["permits", "denials", "gap", "none", "gone"])
    hours = serializers.IntegerField(help_text="In how many hours it wrote a record.")
    hours_with_permits = serializers.IntegerField()
    lines = serializers.IntegerField()
    permits = serializers.IntegerField()


class CoverageSerializer(LogRowsSerializer):
    sentences = serializers.ListField(
        child=serializers.CharField(), help_text="What the log can and cannot tell."
    )
    problem = serializers.CharField(
        allow_blank=True, help_text="Since when and why the logs were not read again."
    )
    coverage = CoverageRowSerializer(many=True)


class UseRowSerializer(serializers.Serializer[Any]):
    """How often one principal used topics whose names begin so."""

    principal = serializers.CharField()
    prefix = serializers.CharField(help_text="Of topics, up to the first `.`, `-` or `_`.")
    number = serializers.IntegerField()


class UseSerializer(CaveatsSerializer, LogRowsSerializer):
    show = serializers.ChoiceField(choices=list(use_map.KINDS))
    unknown = serializers.BooleanField(help_text="Whether the log cannot tell; there are no rows then.")
    whole = serializers.BooleanField(help_text="Whether every pair of principal and topic is counted.")
    use = UseRowSerializer(many=True)


class ReplaySerializer(CaveatsSerializer, LogRowsSerializer):
    """What the edit would do to the logged requests. Columns depend on `by`; those of the downloads."""

    revision = serializers.IntegerField()
    sentence = serializers.CharField()
    doubts = serializers.ListField(child=serializers.CharField(), help_text="What is missing.")
    would_be_refused = serializers.IntegerField(allow_null=True, help_text="Null where the log cannot tell.")
    would_be_allowed = serializers.IntegerField()
    unclear = serializers.IntegerField(help_text="Of which ACLs alone do not say the answer.")
    unchanged = serializers.IntegerField()
    left_out = serializers.IntegerField(
        help_text="Distinct requests that were not decided again; the analysis `replay` decides all."
    )
    replay = serializers.ListField(child=serializers.DictField(child=serializers.JSONField(allow_null=True)))


def _page(name: str, pages: OpenPages, rows: Sequence[Any], as_dict: Any) -> dict[str, Any]:
    """Return the rows of the page that is asked for under a name, with how many there are."""
    listed = [as_dict(row) for row in pages.of(rows)]
    cut = FittingPage(len(listed))
    return {
        "total": len(rows),
        "page": pages.number,
        "pages": pages.count(rows),
        name: cut.rows(listed),
        "is_complete": cut.is_complete,
    }


def span_of(load: Any) -> dict[str, Any]:
    """Return from when to when a log reaches."""
    first, last = (load.first_at, load.last_at) if load is not None else (None, None)
    return {"log_from": first and first.isoformat(), "log_to": last and last.isoformat()}


def _days(request: Request, usual: int | None) -> int | None:
    """Return the window that the address names, one of WINDOWS; `all` is the whole log."""
    text = word_asked(request.query_params, "days", ("all", *map(str, WINDOWS)))
    return usual if not text else None if text == "all" else int(text)


class DenialList(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="denials",
        parameters=[
            OpenApiParameter("state", str, enum=list(denials.State.values), description="All unless given."),
            OpenApiParameter("cause", str, description="A cause of docs/pipeline.md, such as host."),
            OpenApiParameter("bursts", str, enum=["true"], description="Groups with a burst alone."),
            OpenApiParameter(
                "days",
                str,
                enum=["all", *map(str, DENIAL_WINDOWS)],
                description=f"Of the log; {denials.USUAL_DAYS} unless given.",
            ),
            OpenApiParameter("sort", str, enum=list(denials.SORTS)),
            PAGE,
            SIZE,
        ],
        responses=DenialsSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """The groups of denials, as the page *Denials* lists them."""
        cluster, pages, asked = cluster_or_404(request.user, slug), OpenPages(request), request.query_params
        causes = [kind.value for kind in JOBS["refusals"].tables[0].kinds]
        days = word_asked(asked, "days", ("all", *map(str, DENIAL_WINDOWS)))
        wanted = Wanted(
            state=word_asked(asked, "state", denials.State.values),
            cause=word_asked(asked, "cause", causes),
            bursts=bool(word_asked(asked, "bursts", ("true",))),
            days=0 if days == "all" else int(days or denials.USUAL_DAYS),
            sort=word_asked(asked, "sort", list(denials.SORTS)) or Wanted.sort,
        )
        found = denials.inbox(cluster, wanted, in_force_since=partial(in_force_since, cluster))
        covered = "" if found.load is not None else coverage(cluster).sentences[0]
        head = {
            **span_of(found.load),
            "why_not": covered,
            "counts": dict(found.counts),
            **caveats_of(cluster),
        }
        return Response(head | _page("denials", pages, found.rows, _denial))


def _denial(found: Denial) -> dict[str, Any]:
    burst, mark = found.burst, found.mark
    return {
        "key": found.key,
        "state": found.state,
        "principal": found.principal,
        "operation": found.operation.name,
        "resource_type": found.resource.resource_type.name,
        "resource_name": found.resource.name,
        "cause": found.cause.kind,
        "sentence": found.cause.sentence,
        "denials": found.lines,
        "on_the_last_day": found.last_day,
        "burst_day": burst.day if burst else None,
        "burst_denials": burst.lines if burst else None,
        "hosts": found.hosts,
        "latest_host": found.latest_host,
        "first": found.first_at.isoformat(),
        "last": found.last_at.isoformat(),
        "reason": mark.reason if mark else None,
        "set_by": mark.set_by if mark else None,
        "set_at": mark.set_at.isoformat() if mark else None,
    }


class CoverageList(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="coverage",
        parameters=[
            OpenApiParameter("broker", str, description="One alone, by its name on the page *Coverage*."),
            OpenApiParameter(
                "days",
                int,
                description=f"Of the log, up to its last day; {_USUAL_DAYS} unless given, at most "
                f"{_LONGEST_COVERAGE_DAYS}.",
            ),
            PAGE,
            SIZE,
        ],
        responses=CoverageSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """What each broker logged on each day, as the page *Coverage* shows it, by broker and day."""
        cluster, pages, asked = cluster_or_404(request.user, slug), OpenPages(request), request.query_params
        days = number_asked(asked, "days", _USUAL_DAYS, most=_LONGEST_COVERAGE_DAYS)
        covered = coverage(cluster)
        found = coverage_days(covered.load, days=days, broker=asked.get("broker") or None)
        rows = [(broker, cell) for broker in found.brokers for cell in broker.days]
        head = {
            **span_of(covered.load),
            "why_not": covered.reason if covered.cannot_tell else "",
            "sentences": list(covered.sentences),
            "problem": covered.problem,
        }
        return Response(head | _page("coverage", pages, rows, _broker_day))


def _broker_day(row: tuple[BrokerCoverage, DayCell]) -> dict[str, Any]:
    broker, cell = row
    return {
        "broker": broker.broker,
        "day": cell.day.isoformat(),
        "shows": cell.kind,
        "hours": cell.hours.bit_count(),
        "hours_with_permits": cell.permit_hours.bit_count(),
        "lines": cell.lines,
        "permits": cell.permits,
    }


class UseList(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="use",
        parameters=[
            OpenApiParameter(
                "show",
                str,
                enum=list(use_map.KINDS),
                description="What is counted: permits, denials, or ALLOW ACLs; used unless given.",
            ),
            OpenApiParameter("days", int, enum=list(use_map.WINDOWS), description="30 unless given."),
            OpenApiParameter("principal", str, description="One alone."),
            PAGE,
            SIZE,
        ],
        responses=UseSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Which principals use which prefixes of topics, as the page *Use* counts it; the largest number first."""
        cluster, pages, asked = cluster_or_404(request.user, slug), OpenPages(request), request.query_params
        show = word_asked(asked, "show", use_map.KINDS) or use_map.USED
        days = word_asked(asked, "days", [str(each) for each in use_map.WINDOWS])
        found = use_map.use_map(cluster, kind=show, days=int(days or _USUAL_DAYS))
        only = asked.get("principal", "")
        rows = [row for row in found.every if not only or row[0] == only]
        head = {
            **span_of(found.load),
            "why_not": found.why_not,
            "show": show,
            "unknown": found.unknown,
            "whole": found.whole,
            **caveats_of(cluster),
        }
        return Response(head | _page("use", pages, rows, _use))


def _use(row: tuple[str, str, int]) -> dict[str, Any]:
    return dict(zip(("principal", "prefix", "number"), row, strict=True))


class ReplayList(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="replay",
        request=WhatIfRequestSerializer,
        parameters=[
            OpenApiParameter(
                "by",
                str,
                enum=list(VIEWS[1:]),
                description="By what the rows are added up; each request unless given.",
            ),
            OpenApiParameter("days", str, description="Of the log: 7, 30, 90 or all; all unless given."),
            PAGE,
            SIZE,
        ],
        responses=ReplaySerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        """What the logged requests would be answered with this edit, as the card of a what-if. Nothing is written.

        The requests that were logged most often are decided; the analysis `replay` decides all of them.
        """
        pages, asked = OpenPages(request), asked_now(request, slug)
        by = word_asked(request.query_params, "by", VIEWS[1:])
        days = _days(request, None)
        given = WhatIfRequestSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        wanted = given.validated_data
        try:
            delta = Delta(add=tuple(wanted["add"]), remove=tuple(wanted["remove"]))
            found = replay_of(asked.view, delta, None, days=days)
        except (AclError, ChangeError) as error:
            raise ValidationError(str(error)) from error
        head = {"revision": asked.head["revision"], **caveats_of(asked.view.cluster)}
        if found is None:
            return Response(
                {
                    **span_of(None),
                    **head,
                    **_NOTHING,
                    "why_not": coverage(asked.view.cluster).sentences[0],
                }
            )
        return Response({**head, **_replay(found), **_page("replay", pages, list(exported(found, by)), dict)})


_NOTHING: dict[str, Any] = {
    "sentence": "Cannot tell: no log has been read.",
    "doubts": [],
    "would_be_refused": None,
    "would_be_allowed": 0,
    "unclear": 0,
    "unchanged": 0,
    "left_out": 0,
    "total": 0,
    "page": 1,
    "pages": 1,
    "replay": [],
    "is_complete": True,
}


def _replay(found: Replay) -> dict[str, Any]:
    return {
        **span_of(found),
        "why_not": found.why_not,
        "sentence": found.sentence,
        "doubts": list(found.doubts),
        "would_be_refused": None if found.is_blind and not found.denied else found.denied_lines,
        "would_be_allowed": found.allowed_lines,
        "unclear": sum(flip.lines for flip in found.unclear),
        "unchanged": found.unchanged,
        "left_out": found.left_out,
    }
