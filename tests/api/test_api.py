"""Programs get the same answers as people, in the promised words, and nothing of clusters they may not see."""

from __future__ import annotations

import json
import re

import pytest
from django.conf import settings
from django.test import Client
from rest_framework.test import APIClient

from aclweb.accounts import tokens
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.delta import Delta
from aclweb.changes import review
from aclweb.inventory.sync.run import sync
from aclweb.web.shell.forms import AskForm
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster

ACLS = [
    allow("User:bob", "READ", "orders.", pattern="PREFIXED"),
    deny("User:bob", "READ", "orders.secret"),
    allow("User:ann", "WRITE", "orders.eu"),
]


@pytest.fixture
def read_cluster(cluster):
    with FakeCluster(bindings=ACLS, topics=["orders.eu", "orders.secret"]) as fake:
        sync(cluster, client=fake)
    cluster.refresh_from_db()
    return cluster


@pytest.fixture
def program(cho, read_cluster) -> APIClient:
    client = APIClient()
    client.force_authenticate(cho)
    return client


def test_nobody_gets_an_answer_without_signing_in(read_cluster):
    answer = Client().get("/api/v1/clusters/")

    assert answer.status_code in (401, 403)


def test_a_token_lets_a_program_in_with_the_rights_of_its_owner(cho, read_cluster, other_cluster):
    _, secret = tokens.issue(cho, "nightly report", days=7)

    answer = Client().get("/api/v1/clusters/", headers={"Authorization": f"Bearer {secret}"})

    assert [found["slug"] for found in answer.json()["results"]] == [read_cluster.slug]


def test_a_wrong_token_is_refused_with_a_sentence(db):
    answer = Client().get("/api/v1/clusters/", headers={"Authorization": "Bearer aclw_wrong"})

    assert answer.status_code == 401
    assert "API token" in answer.json()["detail"]


def test_clusters_tell_what_is_declared_and_what_was_read(program, read_cluster):
    found = program.get(f"/api/v1/clusters/{read_cluster.slug}/").json()

    assert found["super_users"] == "User:admin"
    assert found["allow_everyone"] is False
    assert found["acls"] == len(ACLS)
    assert found["revision"] == 1


def test_a_cluster_that_one_may_not_see_does_not_exist(program, other_cluster):
    for path in ("", "acls/", "affecting/?resource=TOPIC:t"):
        assert program.get(f"/api/v1/clusters/{other_cluster.slug}/{path}").status_code == 404
    for path in ("decide/", "what-if/"):
        assert (
            program.post(f"/api/v1/clusters/{other_cluster.slug}/{path}", {}, format="json").status_code
            == 404
        )


def test_acls_come_with_the_promised_keys_and_filters(program, read_cluster):
    url = f"/api/v1/clusters/{read_cluster.slug}/acls/"

    everything = program.get(url).json()
    bobs = program.get(url, {"principal": "User:bob", "permission": "DENY"}).json()
    affecting = program.get(url, {"resource_type": "TOPIC", "name": "orders.eu", "match": "affects"}).json()

    assert everything["total"] == 3
    assert set(everything["acls"][0]) == set(ACLS[0].as_dict())
    assert bobs["acls"] == [ACLS[1].as_dict()]
    assert {acl["principal"] for acl in affecting["acls"]} == {"User:bob", "User:ann"}


@pytest.mark.parametrize(
    "wrong", [{"operation": "FLY"}, {"page": "0"}, {"size": "100000"}, {"match": "near"}, {"page": "²"}]
)
def test_a_filter_that_cannot_be_read_is_named(program, read_cluster, wrong):
    answer = program.get(f"/api/v1/clusters/{read_cluster.slug}/acls/", wrong)

    assert answer.status_code == 400
    assert next(iter(wrong.values())) in json.dumps(answer.json(), ensure_ascii=False)


def test_affecting_lists_every_acl_that_covers_the_resource(program, read_cluster):
    answer = program.get(
        f"/api/v1/clusters/{read_cluster.slug}/affecting/", {"resource": "TOPIC:orders.secret"}
    )

    assert answer.json()["acls"] == [ACLS[1].as_dict(), ACLS[0].as_dict()]


@pytest.mark.parametrize("wrong", ["", "orders", "FLY:orders"])
def test_a_resource_without_a_type_is_refused_with_what_would_be_right(program, read_cluster, wrong):
    answer = program.get(f"/api/v1/clusters/{read_cluster.slug}/affecting/", {"resource": wrong})

    assert answer.status_code == 400
    assert "TOPIC" in str(answer.json()["resource"])


def test_a_decision_names_the_acl_that_refuses(program, read_cluster):
    answer = _decide(program, read_cluster, principal="User:bob", resource_name="orders.secret").json()

    assert answer["result"] == "DENIED"
    assert answer["basis"] == "DENY_ACL"
    assert answer["determining"] == [ACLS[1].as_dict()]
    assert "orders.secret" in " ".join(answer["sentences"])


def test_a_short_ipv6_host_is_answered_in_the_form_that_brokers_compare(program, read_cluster):
    answer = _decide(
        program, read_cluster, principal="User:bob", host="::1", resource_name="orders.eu"
    ).json()

    assert answer["request"]["host"] == "0:0:0:0:0:0:0:1"
    assert answer["result"] == "ALLOWED"


@pytest.mark.parametrize("name", ["or ders", "orders*", "", ".", "t" * 300])
def test_a_name_that_no_topic_has_is_refused_as_the_page_refuses_it(program, read_cluster, name):
    answer = _decide(program, read_cluster, principal="User:bob", resource_name=name)
    form = AskForm(
        {"principal": "User:bob", "operation": "READ", "type": "TOPIC", "name": name or " "},
        settings=AuthorizerSettings(),
    )

    assert answer.status_code == 400
    (sentence,) = answer.json()["resource_name"]
    assert sentence.startswith("No broker would make a topic of this name: ")
    assert not name or form.errors["name"] == [sentence]


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("what-if/", {"new_topics": ["orders.new", "or ders"]}, "new_topics"),
        (
            "needs/",
            {
                "actions": ["produce"],
                "principal": "User:b",
                "host": "10.0.0.7",
                "names": {"topic": ["or ders"]},
            },
            "names",
        ),
    ],
)
def test_no_name_that_no_topic_has_is_taken_elsewhere(program, read_cluster, path, body, field):
    answer = program.post(f"/api/v1/clusters/{read_cluster.slug}/{path}", body, format="json")

    assert answer.status_code == 400
    assert "No broker would make a topic of this name" in str(answer.json()[field])


def test_a_group_may_have_such_a_name(program, read_cluster):
    answer = _decide(
        program, read_cluster, principal="User:bob", resource_type="GROUP", resource_name="my group"
    )

    assert answer.status_code == 200


def test_a_host_name_is_refused_because_brokers_see_addresses(program, read_cluster):
    answer = _decide(
        program, read_cluster, principal="User:bob", host="bobs-laptop", resource_name="orders.eu"
    )

    assert answer.status_code == 400
    assert "bobs-laptop" in str(answer.json())


@pytest.mark.parametrize(
    "wrong", [{"operation": "FLY"}, {"principal": None}, {"host": 7}, {"extra": "1"}, {"resource_name": []}]
)
def test_a_question_that_cannot_be_read_is_refused_with_a_reason(program, read_cluster, wrong):
    answer = _decide(program, read_cluster, **wrong)

    assert answer.status_code == 400
    assert answer.json()["non_field_errors"]


@pytest.mark.parametrize("door", ["decide/", "what-if/"])
@pytest.mark.parametrize("depth", [5_000, 100_000])
def test_json_without_end_is_refused_like_any_other_that_cannot_be_read(program, read_cluster, door, depth):
    answer = program.post(
        f"/api/v1/clusters/{read_cluster.slug}/{door}", "[" * depth, content_type="application/json"
    )

    assert answer.status_code == 400
    assert "JSON" in answer.json()["detail"]


def test_a_body_that_is_too_large_is_refused_as_json(program, read_cluster):
    answer = program.post(
        f"/api/v1/clusters/{read_cluster.slug}/what-if/", " " * 3_000_000, content_type="application/json"
    )

    assert answer.status_code == 413
    assert "2 MB" in answer.json()["detail"]


def test_half_a_surrogate_pair_comes_back_as_it_was_sent(program, read_cluster):
    answer = _decide(
        program, read_cluster, principal="User:\ud800", resource_type="GROUP", resource_name="größe\udfff"
    )

    assert answer.status_code == 200
    assert answer.json()["request"]["principal"] == "User:\ud800"
    assert answer.json()["request"]["resource_name"] == "größe\udfff"


def test_no_version_of_the_schema_can_break_its_headers(program):
    assert program.get("/api/schema/", {"version": "1\r\nX-Evil: 1"}).status_code == 200


def test_a_question_without_a_name_asks_for_any_resource_of_the_type(program, read_cluster):
    answer = _decide(program, read_cluster, principal="User:ann", operation="WRITE").json()

    assert answer["result"] == "ALLOWED"
    assert "resource_name" not in answer["request"]


def test_a_what_if_tells_who_would_gain_and_writes_nothing(program, read_cluster):
    new = allow("User:cat", "READ", "orders.eu")

    answer = program.post(
        f"/api/v1/clusters/{read_cluster.slug}/what-if/", {"add": [new.as_dict()]}, format="json"
    ).json()

    (group,) = answer["groups"]
    assert (group["category"], group["principals"]) == ("gains", {"in": ["User:cat"]})
    assert set(group["operations"]) == {"READ", "DESCRIBE"}
    assert group["names"] == {"existing": ["orders.eu"], "patterns": []}
    assert (answer["counts"]["gains"], answer["counts"]["loses"], answer["next"]) == (2, 0, None)
    assert answer["revision"] == 1
    assert read_cluster.acls.filter(removed_in__isnull=True).count() == len(ACLS)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"add": [{}]},
        {"add": "x"},
        {"add": [{**ACLS[0].as_dict(), "operation": "FLY"}]},
        {"add": [{**ACLS[0].as_dict(), "extra": "1"}]},
        {"add": [{**ACLS[0].as_dict(), "pattern_type": "GLOB"}]},
        {"add": [{**ACLS[0].as_dict(), "operation": "UNKNOWN"}]},
        {"add": [{**ACLS[0].as_dict(), "principal": "bob"}]},
        {"add": [{**ACLS[0].as_dict(), "resource_name": ""}]},
    ],
)
def test_a_what_if_that_cannot_be_read_is_refused_with_a_reason(program, read_cluster, wrong):
    answer = program.post(f"/api/v1/clusters/{read_cluster.slug}/what-if/", wrong, format="json")

    assert answer.status_code == 400
    assert answer.json()


def test_somebody_elses_draft_is_nobody_elses_business(program, read_cluster, ada):
    draft = review.draft(
        cluster=read_cluster,
        author=ada,
        title="Not yet",
        reason="",
        delta=Delta(add=(ACLS[2],), remove=(ACLS[0],)),
    )

    assert program.get("/api/v1/changes/").json()["results"] == []
    assert program.get(f"/api/v1/changes/{draft.key}/").status_code == 404


def test_a_change_in_review_is_reported_with_its_items_and_its_effect(
    program, read_cluster, ada, django_assert_num_queries
):
    change = review.draft(
        cluster=read_cluster,
        author=ada,
        title="Cat",
        reason="",
        delta=Delta(add=(allow("User:cat", "READ", "x"),), remove=()),
    )
    change = review.submit(change=change, actor=ada)

    door = f"/api/v1/changes/{change.key}/"
    told = program.get(door).json()
    streamed = program.get(f"{door}?cells=true")

    assert (told["state"], told["author"], len(told["items"])) == ("IN_REVIEW", "ada", 1)
    assert [group["principals"] for group in told["impact"]["groups"]] == [{"in": ["User:cat"]}]
    assert told["impact"]["revision"] == 1
    assert streamed.streaming
    with django_assert_num_queries(0):
        whole = json.loads(streamed.getvalue())
    assert whole == {**told, "impact": {**change.impact.as_dict(), "revision": 1}}


@pytest.mark.parametrize("cells", ["", "true"])
def test_a_draft_has_no_impact_yet_in_either_form(cells, read_cluster, ada):
    draft = review.draft(
        cluster=read_cluster, author=ada, title="Not yet", reason="", delta=Delta(add=(ACLS[2],))
    )
    client = APIClient()
    client.force_authenticate(ada)

    assert client.get(f"/api/v1/changes/{draft.key}/", {"cells": cells}).json()["impact"] is None


def test_a_cluster_that_was_never_read_gives_no_decision(cho, cluster):
    client = APIClient()
    client.force_authenticate(cho)
    door = f"/api/v1/clusters/{cluster.slug}"

    answers = [
        _decide(client, cluster, resource_name="orders.eu"),
        client.post(f"{door}/what-if/", {"add": [ACLS[0].as_dict()]}, format="json"),
        client.get(f"{door}/affecting/", {"resource": "TOPIC:orders.eu"}),
    ]

    for answer in answers:
        assert answer.status_code == 409
        assert "has not been synced yet" in answer.json()["detail"]


def test_the_schema_describes_every_address(program):
    answer = program.get("/api/schema/", headers={"Accept": "application/json"})

    paths = set(answer.json()["paths"])
    assert {
        "/api/v1/clusters/{slug}/decide/",
        "/api/v1/clusters/{slug}/what-if/",
        "/api/v1/changes/",
    } <= paths


def _decide(program, cluster, **question):
    body = {
        "principal": "User:bob",
        "host": "10.0.0.7",
        "operation": "READ",
        "resource_type": "TOPIC",
        **question,
    }
    return program.post(f"/api/v1/clusters/{cluster.slug}/decide/", body, format="json")


def test_the_document_names_every_address(program):
    paths = program.get("/api/schema/", headers={"Accept": "application/json"}).json()["paths"]
    text = (settings.BASE_DIR / "docs" / "api.md").read_text(encoding="utf-8")

    told = set(re.findall(r"^\| `([a-zA-Z/-]+)`", text, re.MULTILINE))
    shown = {path.removeprefix("/api/v1/") for path in paths if path.startswith("/api/v1/")}
    assert told == {re.sub(r"\{(\w+)\}", lambda found: found[1].upper(), path) for path in shown}
