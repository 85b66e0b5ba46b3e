"""Programs dismiss a finding as people do: with a reason, perhaps a last day, a record, and the same rights."""

from __future__ import annotations

from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from aclweb.accounts import tokens
from aclweb.accounts.models import Grant, Role
from aclweb.audit import trail
from aclweb.audit.models import Event
from aclweb.inventory.findings import dismissing
from aclweb.inventory.models import DismissedFinding, StoredFinding
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

URL = "/api/v1/clusters/test-eu/"
ACLS = [
    allow("User:bob", "READ", "orders.", pattern="PREFIXED"),
    allow("User:bob", "READ", "orders.eu"),
    allow("User:fay", "READ", "stock", host="fays-laptop"),
]


@pytest.fixture
def synced(cluster):
    sync(cluster, client=Answers(ACLS))
    cluster.refresh_from_db()
    return cluster


def program(person, cluster=None) -> Client:
    _, secret = tokens.issue(person, "report", 7, cluster=cluster)
    return Client(headers={"Authorization": f"Bearer {secret}"})


def implied(asked) -> dict[str, object]:
    """Return the finding as the API lists it."""
    listed = asked.get(f"{URL}findings/?rule=implied").json()["findings"]
    assert len(listed) == 1
    return listed[0]


def dismiss(asked, number: object, **given: object):
    body = {"reason": "Kept for the audit."} | given
    return asked.post(f"{URL}findings/{number}/dismiss/", body, content_type="application/json")


def dismissed(asked) -> list[dict[str, object]]:
    return asked.get(f"{URL}findings/?show=dismissed").json()["findings"]


def test_a_finding_is_dismissed_listed_with_reason_who_and_until_and_counted_again(synced, ada):
    asked = program(ada)
    found, until = implied(asked), dismissing.today() + timedelta(days=9)
    assert found["dismissal"] is None

    answer = dismiss(asked, found["number"], until=f"{until}")

    assert answer.status_code == 201
    told = answer.json()
    assert (told["reason"], told["by"], told["until"]) == ("Kept for the audit.", "ada", f"{until}")
    assert [(row["rule"], row["acl"], row["dismissal"]) for row in dismissed(asked)] == [
        ("implied", found["acl"], told)
    ]
    assert asked.get(f"{URL}findings/?rule=implied").json()["findings"] == []

    assert asked.delete(f"{URL}dismissals/{told['number']}/").status_code == 204
    assert dismissed(asked) == []
    assert implied(asked) == found


@pytest.mark.parametrize("until", [{}, {"until": None}, {"until": ""}])
def test_without_a_last_day_it_is_dismissed_for_good(synced, ada, until):
    asked = program(ada)

    answer = dismiss(asked, implied(asked)["number"], **until)

    assert (answer.status_code, answer.json()["until"]) == (201, None)
    assert DismissedFinding.objects.get().until is None


@pytest.mark.parametrize(
    ("given", "field", "sentence"),
    [
        ({"reason": "  "}, "reason", "Say why the finding may stay; whoever comes later reads it."),
        ({"reason": ""}, "reason", "Say why the finding may stay; whoever comes later reads it."),
        ({"reason": "x" * 501}, "reason", "The reason has 501 characters, and at most 500 are kept."),
        ({"reason": "a\ud800"}, "reason", "Surrogate characters are not allowed: U+D800."),
        ({"until": "soon"}, "until", "'soon' is no day; write it as 2027-01-31."),
        ({"until": "2020-01-01"}, "until", "2020-01-01 is past; choose today or a later day."),
    ],
)
def test_what_is_wrong_is_said_under_its_field_and_nothing_is_stored(synced, ada, given, field, sentence):
    asked = program(ada)

    answer = dismiss(asked, implied(asked)["number"], **given)

    assert answer.status_code == 400
    assert answer.json()[field] in (sentence, [sentence])
    assert not DismissedFinding.objects.exists()
    assert not Event.objects.filter(verb="finding.dismissed").exists()


def test_what_is_dismissed_by_a_program_is_on_the_page_and_in_the_trail(synced, ada, signed_in):
    asked = program(ada)
    number = dismiss(asked, implied(asked)["number"]).json()["number"]
    page = unescape(signed_in(ada).get("/c/test-eu/findings/?show=dismissed").content.decode())
    asked.delete(f"{URL}dismissals/{number}/")

    assert "Kept for the audit." in page
    done, undone = Event.objects.filter(verb__startswith="finding.").order_by("sequence")
    assert trail.sentence(done).startswith("ada dismissed the finding implied of the ACL ")
    assert trail.sentence(done).endswith("on test-eu for good: Kept for the audit.")
    assert trail.sentence(undone).startswith("ada took back the dismissal of the finding implied")


def test_a_finding_that_is_dismissed_or_gone_is_not_there(synced, ada):
    asked = program(ada)
    number = implied(asked)["number"]
    dismiss(asked, number)
    sync(synced, client=Answers([*ACLS, allow("User:new", "READ", "stock")]))
    other = StoredFinding.objects.filter(dismissed_until=None, is_proposal=False).first()
    asked.get(f"{URL}findings/")

    for gone in (number, other.pk):
        answer = dismiss(asked, gone)
        assert answer.status_code == 404
        assert "Read the list of findings again." in answer.json()["detail"]
    assert [row["dismissal"]["reason"] for row in dismissed(asked)] == ["Kept for the audit."]


def test_a_proposal_is_not_dismissed(cluster, ada):
    hosts = [allow("User:bob", "READ", "orders", host=f"10.0.0.{number}") for number in range(8)]
    sync(cluster, client=Answers(hosts))
    asked = program(ada)
    proposals = asked.get(f"{URL}findings/?show=proposals").json()["findings"]

    assert proposals
    assert {dismiss(asked, row["number"]).status_code for row in proposals} == {404}
    assert not DismissedFinding.objects.exists()


def test_who_only_looks_can_neither_dismiss_nor_undo(synced, ada, cho):
    asked, viewer = program(ada), program(cho)
    number = dismiss(asked, implied(asked)["number"]).json()["number"]
    other = StoredFinding.objects.filter(dismissed_until=None).first()

    answers = [dismiss(viewer, other.pk), viewer.delete(f"{URL}dismissals/{number}/")]

    for answer in answers:
        assert answer.status_code == 403
        assert "you need the role requester on test-eu" in answer.json()["detail"]
    assert DismissedFinding.objects.count() == 1
    assert dismissed(viewer)[0]["dismissal"]["by"] == "ada"


def test_a_token_of_another_cluster_neither_dismisses_nor_undoes(synced, other_cluster, ada):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.ADMINISTRATOR)
    asked, limited = program(ada), program(ada, other_cluster)
    finding, number = implied(asked), dismiss(asked, implied(asked)["number"]).json()["number"]
    other = StoredFinding.objects.filter(dismissed_until=None).first()

    assert dismiss(limited, other.pk).status_code == 404
    assert limited.delete(f"{URL}dismissals/{number}/").status_code == 404
    # Nor under the name of the cluster that it may ask of.
    elsewhere = "/api/v1/clusters/test-us/"
    assert limited.delete(f"{elsewhere}dismissals/{number}/").status_code == 404
    body = {"reason": "No."}
    address = f"{elsewhere}findings/{other.pk}/dismiss/"
    assert limited.post(address, body, content_type="application/json").status_code == 404
    assert [row["acl"] for row in dismissed(asked)] == [finding["acl"]]


def test_more_dismissed_findings_take_no_more_queries(synced, ada):
    asked = program(ada)
    dismiss(asked, implied(asked)["number"])
    with CaptureQueriesContext(connection) as of_one:
        assert len(dismissed(asked)) == 1
    dismiss(asked, asked.get(f"{URL}findings/").json()["findings"][0]["number"])

    with CaptureQueriesContext(connection) as of_two:
        assert len({row["dismissal"]["number"] for row in dismissed(asked)}) == 2

    assert len(of_two) == len(of_one) <= 12
