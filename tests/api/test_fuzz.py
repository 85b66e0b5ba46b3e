"""Whatever a program sends, the API answers in the shapes that its schema promises, and never fails.

Schemathesis makes the requests from the schema. It signs in as an administrator of the site, so
that a request gets as far as the question itself. A run asks a third of the operations, and three days ask all.
"""

from __future__ import annotations

import os

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.db.models.functions import Now
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from rest_framework.throttling import SimpleRateThrottle
from schemathesis.checks import not_a_server_error
from schemathesis.core import NOT_SET
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
)

from aclweb.accounts import tokens
from aclweb.acl.model import Delta
from aclweb.changes import asking, computing, review
from aclweb.changes.models import Computation
from aclweb.changes.question import what_if
from aclweb.insights.models import Analysis, AnalysisRow
from aclweb.inventory.current import in_force
from aclweb.inventory.findings import dismiss
from aclweb.inventory.findings import pages as finding
from aclweb.inventory.models import DismissedFinding, StoredFinding
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster

CASES = 80 if os.environ.get("ACLWEB_TEST_SCALE") == "full" else 4
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance]
OPERATIONS = [
    ("/api/v1/clusters/", "GET"),
    ("/api/v1/clusters/", "POST"),
    ("/api/v1/clusters/{slug}/", "GET"),
    ("/api/v1/clusters/{slug}/", "PATCH"),
    ("/api/v1/clusters/{slug}/check/", "GET"),
    ("/api/v1/clusters/{slug}/check/", "POST"),
    ("/api/v1/clusters/{slug}/move/", "GET"),
    ("/api/v1/clusters/{slug}/move/", "POST"),
    ("/api/v1/clusters/{slug}/move/", "DELETE"),
    ("/api/v1/clusters/{slug}/move/switch/", "POST"),
    ("/api/v1/clusters/{slug}/removal/", "GET"),
    ("/api/v1/clusters/{slug}/removal/", "POST"),
    ("/api/v1/removed-clusters/", "GET"),
    ("/api/v1/removed-clusters/{number}/changes/", "GET"),
    ("/api/v1/clusters/{slug}/broker-settings/", "GET"),
    ("/api/v1/clusters/{slug}/details/", "GET"),
    ("/api/v1/clusters/{slug}/details/{kind}/", "GET"),
    ("/api/v1/clusters/{slug}/groups/", "GET"),
    ("/api/v1/clusters/{slug}/acls/", "GET"),
    ("/api/v1/clusters/{slug}/affecting/", "GET"),
    ("/api/v1/clusters/{slug}/decide/", "POST"),
    ("/api/v1/clusters/{slug}/what-if/", "POST"),
    ("/api/v1/clusters/{slug}/needs/", "POST"),
    ("/api/v1/clusters/{slug}/findings/", "GET"),
    ("/api/v1/clusters/{slug}/findings/{number}/dismiss/", "POST"),
    ("/api/v1/clusters/{slug}/dismissals/{number}/", "DELETE"),
    ("/api/v1/clusters/{slug}/log-sources/", "GET"),
    ("/api/v1/clusters/{slug}/owners/", "GET"),
    ("/api/v1/clusters/{slug}/principal-names/", "GET"),
    ("/api/v1/clusters/{slug}/principal-names/", "PUT"),
    ("/api/v1/clusters/{slug}/principals/", "GET"),
    ("/api/v1/clusters/{slug}/principals/compare/", "GET"),
    ("/api/v1/clusters/{slug}/analyses/", "GET"),
    ("/api/v1/clusters/{slug}/analyses/", "POST"),
    ("/api/v1/clusters/{slug}/analyses/{address}/", "GET"),
    ("/api/v1/clusters/{slug}/analyses/{address}/", "DELETE"),
    ("/api/v1/clusters/{slug}/analyses/{address}/rows/", "GET"),
    ("/api/v1/clusters/{slug}/denials/", "GET"),
    ("/api/v1/clusters/{slug}/coverage/", "GET"),
    ("/api/v1/clusters/{slug}/use/", "GET"),
    ("/api/v1/clusters/{slug}/replay/", "POST"),
    ("/api/v1/clusters/{slug}/compare/", "GET"),
    ("/api/v1/clusters/{slug}/compare/", "POST"),
    ("/api/v1/clusters/{slug}/computations/{address}/", "GET"),
    ("/api/v1/clusters/{slug}/computations/{address}/", "DELETE"),
    ("/api/v1/changes/", "GET"),
    ("/api/v1/changes/CR-{number}/", "GET"),
]


@pytest.fixture(scope="module")
def api():
    schema = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(request=None, public=True))
    schema.app = get_wsgi_application()
    # A test's database is one open transaction: the end of a request must not close it, as in Django's client.
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield schema
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def secret(cluster, root, monkeypatch) -> str:
    monkeypatch.setattr(SimpleRateThrottle, "allow_request", lambda *_: True)
    acls = [allow("User:bob", "READ", "orders.", pattern="PREFIXED"), deny("User:bob", "READ", "orders.x")]
    acls.append(allow("User:bob", "READ", "orders.eu"))
    with FakeCluster(bindings=acls, topics=["orders.eu"]) as fake:
        sync(cluster, client=fake)
    asking.ask(what_if(in_force(cluster), Delta(add=(allow("User:cat", "READ", "*"),))), person=root)
    computing.run_next("worker")
    return tokens.issue(root, "fuzzing", days=1)[1]


def dismissed_already(cluster, person) -> DismissedFinding:
    """The dismissal of one of two findings or more."""
    finding.findings(in_force(cluster))
    found = StoredFinding.objects.filter(is_proposal=False).order_by("pk")
    assert found.count() > 1
    return dismiss(found[0], actor=person, reason="Kept.", cluster=cluster)


def analysed_already(cluster) -> Analysis:
    """An analysis that is done, with one row."""
    facts = {"coverage": {"first_at": None, "last_at": None, "permits_seen": False}, "rows": {"anomalies": 1}}
    row = Analysis.objects.create(
        cluster=cluster,
        job="anomalies",
        options={"lately": "7"},
        asked_by="cho",
        asked_at=Now(),
        state=Analysis.State.DONE,
        revision_number=1,
        facts=facts,
        counts={"anomalies": {"": 1, "back": 1}},
    )
    AnalysisRow.objects.create(
        analysis=row, table="anomalies", number=0, kind="back", values='{"kind": "back", "usual": null}'
    )
    return row


def test_every_operation_of_the_schema_is_tried(api):
    assert {(found.ok().path, found.ok().method.upper()) for found in api.get_all_operations()} == set(
        OPERATIONS
    )


@pytest.mark.parametrize(
    ("path", "method"),
    [
        pytest.param(
            *operation,
            marks=pytest.mark.turns(
                3,
                number % 3,
                instead="tests/api/test_fuzz.py::test_an_impact_is_answered_in_the_two_shapes_of_the_schema",
            ),
        )
        for number, operation in enumerate(OPERATIONS)
    ],
)
def test_no_request_makes_the_api_fail_or_break_its_schema(api, secret, cluster, root, path, method):
    operation = api[path][method]
    modes = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]

    done = analysed_already(cluster)
    dismissal = dismissed_already(cluster, root)

    @settings(
        max_examples=CASES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        case=st.one_of([operation.as_strategy(generation_mode=mode) for mode in modes]), known=st.booleans()
    )
    def ask(case, known):
        if known and "slug" in (case.path_parameters or {}):
            case.path_parameters["slug"] = cluster.slug
            if "address" in case.path_parameters:
                case.path_parameters["address"] = (
                    done if "analyses" in path else Computation.objects.order_by("pk")[0]
                ).address
            if "number" in case.path_parameters:
                own = StoredFinding.objects.filter(is_proposal=False)
                own.update(dismissed_until=None)
                case.path_parameters["number"] = dismissal.pk if "dismissals" in path else own[0].pk
        case.call_and_validate(
            headers={"Authorization": f"Bearer {secret}"},
            checks=CHECKS,
        )

    ask()


@pytest.mark.parametrize("cells", ["false", "true"])
@pytest.mark.parametrize(
    "path", ["clusters/{slug}/what-if/", "clusters/{slug}/compare/", "changes/CR-{number}/"]
)
def test_an_impact_is_answered_in_the_two_shapes_of_the_schema(api, secret, cluster, ada, path, cells):
    acls = [allow("User:cat", "READ", "*"), deny("User:bob", "READ", "orders.", pattern="PREFIXED")]
    add = [allow("User:bob", "READ", "*", host="10.0.0.0/8"), deny("User:cat", "READ", "orders.eu")]
    with FakeCluster(bindings=acls, topics=["orders.eu", "orders.us"]) as fake:
        sync(cluster, client=fake)
    draft = review.draft(cluster=cluster, author=ada, title="t", reason="", delta=Delta(add=tuple(add)))
    number = review.submit(change=draft, actor=ada).pk
    method = "POST" if "what-if" in path else "GET"
    case = api[f"/api/v1/{path}"][method].Case(
        path_parameters={"number": number} if "number" in path else {"slug": cluster.slug},
        query={"cells": cells} | ({"as_of": "1"} if "compare" in path else {}),
        body={"add": [acl.as_dict() for acl in add]} if method == "POST" else NOT_SET,
        media_type="application/json" if method == "POST" else None,
    )

    answer = case.call_and_validate(headers={"Authorization": f"Bearer {secret}"}, checks=CHECKS)

    told = answer.json()["impact"] if "number" in path else answer.json()
    assert answer.status_code == 200
    assert (told.get("groups") if cells == "false" else told.get("gains")) != []
