"""What is wrong, redundant or dangerous in the ACLs in force? As `lint` and `redundant` print it, page by page."""

from __future__ import annotations

import re
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aclweb.api.asking import asked_now, word_asked
from aclweb.api.dismissals import DismissalSerializer
from aclweb.api.paging import PAGE, SIZE, OpenPages
from aclweb.api.serializers import AclSerializer, CaveatsSerializer, caveats_of
from aclweb.api.size import FittingPage
from aclweb.insights.declarations import setting_findings
from aclweb.inventory.findings import SEVERITIES, FindingPage, Findings
from aclweb.inventory.findings import pages as finding
from aclweb.inventory.models import DismissedFinding

_RULE = re.compile("[a-z][a-z-]{0,39}")

FINDINGS, CAN_GO, PROPOSALS, DISMISSED = "findings", "can-go", "proposals", "dismissed"


class FindingSerializer(serializers.Serializer[Any]):
    """One finding; `extra` and `counterexample` are of proposals."""

    number = serializers.IntegerField(
        help_text="By which a finding is dismissed, and no proposal; each new snapshot numbers them anew."
    )
    rule = serializers.CharField()
    severity = serializers.ChoiceField(choices=[str(severity) for severity in SEVERITIES])
    sentence = serializers.CharField()
    acl = AclSerializer()
    by = AclSerializer(many=True)
    by_total = serializers.IntegerField(help_text="How many ACLs there are; `by` may have the first of them.")
    can_go = serializers.BooleanField(
        help_text=(
            "Whether it can be removed, together with all others of which this is true, without changing a "
            "decision."
        )
    )
    extra = serializers.IntegerField(help_text="How many answers a proposal would change.")
    counterexample = serializers.CharField(help_text="One of them, as a sentence.", allow_blank=True)
    dismissal = DismissalSerializer(
        allow_null=True, help_text="Who dismissed it, when, why and until when; null where nobody has."
    )


class SettingFindingSerializer(serializers.Serializer[Any]):
    """Something wrong with the settings that every answer depends on."""

    rule = serializers.ChoiceField(
        choices=["brokers-differ", "declared-otherwise", "log-contradicts"],
        help_text="brokers-differ: the brokers differ, or use what is not Kafka's own; declared-otherwise: they show "
        "that a declaration is not so; log-contradicts: so does the authorizer log.",
    )
    sentence = serializers.CharField()


class FindingsSerializer(CaveatsSerializer):
    """One page. While `is_done` is false they are being worked out, or could not be: see `problem`."""

    revision = serializers.IntegerField()
    is_done = serializers.BooleanField()
    problem = serializers.CharField(allow_blank=True)
    counts = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Of each severity, and of `can-go`, `proposals` and `dismissed`; no other counts the last.",
    )
    total = serializers.IntegerField()
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    is_complete = serializers.BooleanField(
        help_text="Whether this page holds all of its findings, and all of each."
    )
    findings = FindingSerializer(many=True)
    of_settings = SettingFindingSerializer(
        many=True,
        help_text="Of the brokers' settings and what is declared of them; on every page, in no count.",
    )


class FindingList(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="findings",
        parameters=[
            OpenApiParameter(
                "show",
                str,
                enum=[FINDINGS, CAN_GO, PROPOSALS, DISMISSED],
                description=(
                    "findings: what lint and redundant find; can-go: those of ACLs that can all be removed "
                    "at once; proposals: one ACL that could replace several; dismissed: findings that somebody "
                    "has dismissed, which are nowhere else."
                ),
            ),
            OpenApiParameter("severity", str, description="error, warning or info; of findings."),
            OpenApiParameter("rule", str, description="The id of one lint rule; of findings."),
            OpenApiParameter("text", str, description="Part of a principal or a resource name; of findings."),
            PAGE,
            SIZE,
        ],
        responses=FindingsSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """What was found in the ACLs in force: those that lint warns of, those that could go, and proposals."""
        asked, pages = asked_now(request, slug), OpenPages(request)
        found = finding.findings(asked.view)
        assert found is not None  # the cluster was read
        answer: dict[str, Any] = {
            "revision": asked.head["revision"],
            **caveats_of(asked.view.cluster),
            "is_done": found.is_done,
            "problem": found.problem,
            "counts": {},
            "total": 0,
            "page": pages.number,
            "pages": 1,
            "is_complete": True,
            "findings": [],
            "of_settings": [each.as_dict() for each in setting_findings(asked.view.cluster)],
        }
        listed = _listed(request, found)
        if found.is_done:
            counts = found.count()
            rows = pages.of(listed)
            cut = FittingPage(len(rows))
            by_whom = (
                finding.dismissals_of(asked.view.cluster, rows)
                if request.query_params.get("show") == DISMISSED
                else {}
            )
            answer |= {
                "findings": cut.rows([_as_dict(row, by_whom.get((row.rule, row.key)), cut) for row in rows]),
                "is_complete": cut.is_complete,
                "counts": {
                    **counts.by_severity,
                    CAN_GO: counts.can_go,
                    PROPOSALS: counts.proposals,
                    DISMISSED: len(found.left_out),
                },
                "total": len(listed),
                "pages": pages.count(listed),
            }
        return Response(answer)


def _as_dict(row: finding.FindingRow, dismissal: DismissedFinding | None, cut: FittingPage) -> dict[str, Any]:
    return {
        "number": row.number,
        "rule": row.rule,
        "severity": row.severity,
        "sentence": row.sentence,
        "acl": row.acl.as_dict(),
        "by": cut.acls([acl.as_dict() for acl in row.by]),
        "by_total": len(row.by),
        "can_go": row.can_go,
        "extra": row.extra,
        "counterexample": row.counterexample,
        "dismissal": DismissalSerializer(dismissal).data if dismissal is not None else None,
    }


def _listed(request: Request, found: Findings) -> FindingPage:
    asked = request.query_params
    show = word_asked(asked, "show", (FINDINGS, CAN_GO, PROPOSALS, DISMISSED))
    severity = word_asked(asked, "severity", SEVERITIES)
    if show == CAN_GO:
        return found.can_go
    if show == PROPOSALS:
        return found.proposals
    if show == DISMISSED:
        return found.left_out
    return found.matching(severity=severity, rule=_rule(asked.get("rule", "")), text=asked.get("text", ""))


def _rule(text: str) -> str:
    if text and not _RULE.fullmatch(text):
        raise serializers.ValidationError(
            {"rule": f"{text[:60]!r} is no lint rule; write its id, such as shadowed."}
        )
    return text
