"""What a managed service hides is said with every answer that may differ by it, and its documents fill declarations."""

from __future__ import annotations

import csv
import json
import re
from html import unescape
from io import StringIO
from urllib.parse import quote

import pytest
from django.core.management import call_command
from django.urls import reverse

from aclweb.acl.authorizer import AclIndex, authorize, explain
from aclweb.acl.model import SERVICES, AclError, AuthorizerSettings, Delta
from aclweb.audit.models import Event
from aclweb.changes import review
from aclweb.insights.load import load
from aclweb.inventory import lists
from aclweb.inventory.admin.declare import declare
from aclweb.inventory.current.moments import moment_sentences
from aclweb.inventory.current.view import Moment, in_force
from aclweb.inventory.models import Cluster, Declaration
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny, read
from tests.insights.results import request, use, write_result
from tests.inventory.answering_cluster import Answers, topics

pytestmark = pytest.mark.django_db

ACLS = [
    allow("User:bob", "READ", "orders"),
    deny("User:eva", "READ", "orders"),
    allow("User:adm", "READ", "*"),
]
RBAC = SERVICES["confluent-cloud"].hidden
IAM = SERVICES["msk"].hidden
OPERATOR = SERVICES["strimzi"].on_changes


@pytest.fixture
def managed(cluster, dot):
    """Return a function that has the cluster, with ACLs, run by a service."""

    def run_by(service: str) -> Cluster:
        sync(cluster, client=Answers(ACLS, topics("orders")))
        declare(cluster=cluster, actor=dot, service=service)
        cluster.refresh_from_db()
        return cluster

    return run_by


def with_permits(cluster: Cluster, folder) -> None:
    """Have a log read in which bob read, and somebody was refused."""
    rows = [
        request("User:bob", "READ", "orders", allowed=True, decided_now="ALLOWED"),
        request("User:eva", "READ", "orders"),
    ]
    load(write_result(folder / "log", ACLS, usage=[use(ACLS[0])], requests=rows), cluster)


def said(service, principal):
    settings = AuthorizerSettings(service=service)
    return explain(authorize(read(principal, "orders"), AclIndex(ACLS), settings)).caveats


@pytest.mark.parametrize(
    ("service", "allowed", "refused", "denied"),
    [
        ("msk", True, True, True),
        ("confluent-cloud", False, True, False),
        ("redpanda", True, True, False),
        ("aiven", True, True, False),
        ("strimzi", False, False, False),
    ],
)
def test_a_caveat_is_said_exactly_where_the_answer_may_differ(service, allowed, refused, denied):
    told = [any(SERVICES[service].hidden in each for each in said(service, who)) for who in
            ("User:bob", "User:nobody", "User:eva")]  # fmt: skip

    if SERVICES[service].hidden:
        assert told == [allowed, refused, denied]
    assert [bool(said(service, who)) for who in ("User:bob", "User:nobody", "User:eva")] == [
        allowed,
        refused,
        denied,
    ]


def test_an_unknown_service_is_refused_with_those_that_are_known():
    with pytest.raises(AclError, match="'mks' is not a managed service that aclweb knows; use msk, "):
        AuthorizerSettings(service="mks")


def test_a_service_declares_what_nobody_has_and_leaves_what_somebody_has(cluster, dot):
    Cluster.objects.filter(pk=cluster.pk).update(allow_everyone=None)

    declare(cluster=cluster, actor=dot, service="msk")

    cluster.refresh_from_db()
    assert (cluster.service, cluster.allow_everyone, cluster.super_users) == ("msk", True, "User:admin")
    assert "it is run by Amazon MSK" in Event.objects.latest("sequence").facts["told"]
    assert [row.service for row in Declaration.objects.filter(cluster=cluster)] == ["", "msk"]


def test_what_is_taken_back_later_stays_open(cluster, dot):
    declare(cluster=cluster, actor=dot, service="msk")

    declare(cluster=cluster, actor=dot, service="msk", allow_everyone=None)

    cluster.refresh_from_db()
    assert cluster.allow_everyone is None


@pytest.mark.half
@pytest.mark.parametrize(
    ("page", "kwargs", "query"),
    [
        ("explain", {}, {"principal": "User:nobody", "operation": "READ", "type": "TOPIC", "name": "orders"}),
        ("topic", {"name": "orders"}, {}),
        ("principal", {}, {"name": "User:bob"}),
        ("principal-compare", {}, {"name": "User:bob", "with": "User:adm"}),
        (
            "client-action",
            {},
            {"principal": "User:nobody", "action": "consume", "topic": "orders", "group": "g"},
        ),
        ("cluster", {}, {}),
        ("topics", {}, {}),
        ("principals", {}, {}),
        ("access-graph", {}, {"type": "TOPIC", "name": "orders"}),
        ("principal-clone", {}, {"name": "User:bob"}),
        ("least-privilege", {}, {"name": "User:bob"}),
        ("findings", {}, {}),
        ("insights", {}, {}),
        ("use-map", {}, {"show": "configured"}),
        ("use-map", {}, {"show": "all"}),
        ("by-owner", {}, {}),
        ("week", {}, {}),
        ("week", {}, {"format": "md"}),
    ],
)
def test_each_page_with_answers_says_what_the_service_hides(
    client, ada, managed, tmp_path, page, kwargs, query
):
    cluster = managed("confluent-cloud")
    with_permits(cluster, tmp_path)
    client.force_login(ada)

    shown = client.get(
        reverse(page, kwargs={"slug": cluster.slug, **kwargs}, query=query), follow=True
    ).content.decode()

    body = shown[shown.find("<main") :] if "<main" in shown else shown
    # The strip above every page names the service, and has the sentence where a pointer rests on it.
    body = re.sub(r'<section class="context".*?</section>', "", body, flags=re.DOTALL)
    assert RBAC in body


def test_what_leads_to_an_edit_also_says_what_becomes_of_acls(client, ada, managed, tmp_path):
    cluster = managed("strimzi")
    with_permits(cluster, tmp_path)
    client.force_login(ada)

    for page in ("least-privilege", "principal-clone"):
        shown = client.get(reverse(page, args=[cluster.slug], query={"name": "User:bob"})).content.decode()
        assert OPERATOR in shown[shown.index("<main") :]


EDIT = json.dumps(allow("User:new", "READ", "orders").as_dict())


@pytest.mark.half
@pytest.mark.parametrize(
    "address",
    [
        f"what-if/?add={quote(EDIT)}&diff=FORMAT",
        f"what-if/?remove={quote(json.dumps(ACLS[0].as_dict()))}&replay=FORMAT",
        "compare/?other=test-eu&other_at=1&diff=FORMAT",
        "insights/denials/export/?format=FORMAT",
        "principals/?format=FORMAT",
        "principal/compare/?name=User:bob&with=User:adm&format=FORMAT",
        "principal/least-privilege/?name=User:bob&format=rights-FORMAT",
        "graph/?type=TOPIC&name=orders&format=csv",
        "insights/use/?show=configured&format=csv",
        "insights/use/?show=all&format=csv",
    ],
)
def test_each_row_of_a_file_of_answers_says_it(client, ada, managed, tmp_path, address):
    cluster = managed("confluent-cloud")
    sync(cluster, client=Answers([*ACLS, allow("User:late", "WRITE", "orders")], topics("orders")))
    with_permits(cluster, tmp_path)
    client.force_login(ada)

    def given(ending: str) -> str:
        answer = client.get(f"/c/{cluster.slug}/{address.replace('FORMAT', ending)}")
        assert answer.status_code == 200
        return answer.getvalue().decode()

    rows = list(csv.DictReader(StringIO(given("csv"))))
    assert rows
    assert {row["caveats"] for row in rows} == {RBAC}
    if "FORMAT" in address:
        lines = [json.loads(line) for line in given("jsonl").splitlines()]
        assert [line["caveats"] for line in lines] == [RBAC] * len(rows)
    else:
        whole = json.loads(client.get(f"/c/{cluster.slug}/{address[:-3]}json").content)
        assert whole["caveats"] == [RBAC]

    declare(cluster=cluster, actor=ada, service="")
    assert "caveats" not in given("csv")


def test_lists_of_the_api_say_it(client, ada, managed, tmp_path):
    cluster = managed("msk")
    with_permits(cluster, tmp_path)
    change = review.request(
        cluster=cluster, author=ada, title="more", delta=Delta(add=(allow("User:new", "READ", "orders"),))
    )
    client.force_login(ada)
    of_cluster = f"/api/v1/clusters/{cluster.slug}"

    asked = [f"{of_cluster}/", f"/api/v1/changes/{change.key}/"]
    asked += [f"{of_cluster}/{each}/" for each in ("findings", "denials", "use", "principals")]
    told = {address: client.get(address).json()["caveats"] for address in asked}
    edit = {"add": [allow("User:new", "READ", "orders").as_dict()]}
    told["replay"] = client.post(f"{of_cluster}/replay/", edit, content_type="application/json").json()[
        "caveats"
    ]

    assert told == {address: [IAM] for address in told}


def test_a_what_if_says_it_on_the_page_and_in_json(client, ada, managed):
    cluster = managed("strimzi")
    client.force_login(ada)
    add = allow("User:new", "READ", "orders").as_dict()

    page = client.get(reverse("what-if", args=[cluster.slug], query={"add": json.dumps(add)}))
    answer = client.post(
        f"/api/v1/clusters/{cluster.slug}/what-if/", {"add": [add]}, content_type="application/json"
    ).json()

    assert OPERATOR in page.content.decode()
    assert OPERATOR in answer["warnings"]


def test_the_api_says_it_with_a_decision(client, cho, managed):
    cluster = managed("msk")
    client.force_login(cho)
    asked = {"principal": "User:bob", "host": "*", "operation": "READ", "resource_type": "TOPIC",
             "resource_name": "orders"}  # fmt: skip

    answer = client.post(
        f"/api/v1/clusters/{cluster.slug}/decide/", asked, content_type="application/json"
    ).json()

    assert answer["result"] == "ALLOWED"
    assert f"{IAM} So the request may be refused all the same." in answer["sentences"]


def test_the_command_declares_and_says_what_answers_will_say(cluster):
    Cluster.objects.filter(pk=cluster.pk).update(allow_everyone=None, super_users=None)
    out = StringIO()

    call_command("cluster", "declare", cluster.slug, "--service", "msk", stdout=out)
    call_command("cluster", "declare", cluster.slug, "--service", "none", "--json", stdout=out)

    lines = out.getvalue().splitlines()
    assert lines[:3] == [
        "Declared.",
        "Amazon MSK: allow.everyone.if.no.acl.found is true, super.users is empty.",
        IAM,
    ]
    assert (json.loads(lines[3])["service"], json.loads(lines[3])["allow_everyone"]) == ("", True)


def test_the_page_declares_it_and_refuses_another(client, dot, cluster):
    client.force_login(dot)
    address = reverse("declare", args=[cluster.slug])

    refused = client.post(address, {"service": "ibm", "default": "deny"})
    assert refused.status_code == 422
    assert "Choose one of the services in the list, or none." in refused.content.decode()
    cluster.refresh_from_db()
    assert cluster.service == ""

    client.post(address, {"service": "redpanda", "default": ""})
    cluster.refresh_from_db()
    assert (cluster.service, cluster.allow_everyone, cluster.super_users) == ("redpanda", False, None)


def test_the_api_takes_it_with_a_new_cluster_and_changes_it(client, root):
    client.force_login(root)
    body = {"slug": "prod", "kind": "admin", "address": "broker-1.example:9092", "paused": True}

    bad = client.post("/api/v1/clusters/", body | {"service": "mks"}, content_type="application/json")
    assert (bad.status_code, list(bad.json())) == (400, ["service"])
    assert not Cluster.objects.filter(slug="prod").exists()
    made = client.post("/api/v1/clusters/", body | {"service": "msk"}, content_type="application/json")
    assert [made.json()[name] for name in ("service", "allow_everyone", "super_users")] == ["msk", True, ""]

    changed = client.patch("/api/v1/clusters/prod/", {"service": "aiven"}, content_type="application/json")
    assert (changed.json()["service"], changed.json()["allow_everyone"]) == ("aiven", True)


def test_the_page_leads_to_a_gate_for_what_the_operator_undoes(client, dot, cho, managed):
    cluster = managed("strimzi")
    address = reverse("policy", args=[cluster.slug], query={"kind": "managed", "name_prefix": "User:"})
    client.force_login(cho)
    assert address not in unescape(client.get(f"/c/{cluster.slug}/").content.decode())

    client.force_login(dot)
    assert address in unescape(client.get(f"/c/{cluster.slug}/").content.decode())
    form = client.get(address).context["form"]
    client.post(address, form.initial | {"approvals": 2})
    gate = cluster.policy_gates.get()

    assert str(gate) == "Another tool manages what starts with 'User:'"


def test_a_moment_of_the_past_is_answered_by_what_ran_it_then(managed, dot):
    cluster = managed("msk")
    declare(cluster=cluster, actor=dot, service="")

    rows = list(Declaration.objects.filter(cluster=cluster).values_list("service", flat=True))

    assert rows == ["", "", "msk", ""]
    with_msk = Declaration.objects.get(cluster=cluster, service="msk")
    moment = Moment(cluster.revision, with_msk)
    assert in_force(cluster, moment).settings.managed_service is SERVICES["msk"]
    assert "Managed by: Amazon MSK then, nobody today." in moment_sentences(cluster, moment)


def test_a_change_that_waits_says_it_though_it_was_declared_later(
    client, cluster, dot, ada, ben, settings, capsys
):
    settings.ACLWEB_SHELL_CHANGES = True
    sync(cluster, client=Answers(ACLS, topics("orders")))
    change = review.request(
        cluster=cluster, author=ada, title="more", delta=Delta(add=(allow("User:new", "READ", "orders"),))
    )
    declare(cluster=cluster, actor=dot, service="strimzi")
    client.force_login(ben)

    page = client.get(reverse("change", args=[change.pk]))
    call_command("change", "approve", change.key, "--as", "ben")

    assert OPERATOR in page.content.decode()
    assert OPERATOR in capsys.readouterr().out.splitlines()


def test_a_comparison_says_it_once(client, cho, managed):
    cluster = managed("redpanda")
    client.force_login(cho)

    page = client.get(reverse("compare", args=[cluster.slug], query={"other": cluster.slug})).content.decode()

    assert page[page.index("<main") :].count(SERVICES["redpanda"].hidden) == 1


def test_the_list_of_what_is_not_seen_begins_with_the_service(managed):
    cluster = managed("redpanda")

    found = [each.sentence for each in lists.not_seen(cluster, first_at=None, edits_elsewhere=0)]

    assert found[:2] == [SERVICES["redpanda"].hidden, SERVICES["redpanda"].other_acls]
