"""The home page says what waits for a person and how each cluster stands, with the numbers of the lists it leads to."""

from __future__ import annotations

import re
from html import unescape

import pytest

from aclweb.acl.model import Delta
from aclweb.changes import review
from aclweb.clusters import ClusterState
from aclweb.inventory.findings import lint_run
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster

ACLS = [
    allow("User:*", "READ", "orders"),
    allow("User:*", "READ", "*"),
    allow("User:cat", "WRITE", "*"),
    deny("User:*", "WRITE", "orders"),
    allow("User:cat", "READ", "gone"),
    allow("User:cat", "READ", "orders"),
]


@pytest.fixture
def read(cluster) -> Cluster:
    with FakeCluster(bindings=ACLS, topics=["orders"], groups=[]) as fake:
        sync(cluster, client=fake)
    cluster.refresh_from_db()
    return cluster


def posture_links(text: str, slug: str) -> dict[str, int]:
    """Return the numbers of the table of clusters by where they lead."""
    found = re.findall(rf'<a href="(/c/{slug}/(?:acls|findings)/[^"]*)">([\d,]+)</a>', text)
    return {unescape(address): int(number.replace(",", "")) for address, number in found}


def test_each_number_of_a_cluster_is_that_of_the_list_it_leads_to(read, ada, signed_in):
    assert lint_run.run(read, owner="test")
    browser = signed_in(ada)

    numbers = posture_links(browser.get("/").text, read.slug)

    by_what = {address.partition("?")[2]: number for address, number in numbers.items()}
    assert by_what["principal=User:*&permission=ALLOW"] == 2
    assert by_what["reach=all&permission=ALLOW"] == 2
    assert by_what["rule=orphan"] == 1
    for address, number in numbers.items():
        page = browser.get(address)
        if "/acls/" in address or "rule=orphan" in address:
            assert page.context["page"].paginator.count == number, address
        else:
            assert page.context["counts"].can_go == number > 0, address


def test_a_cluster_whose_acls_were_not_linted_yet_says_cannot_tell(read, ada, signed_in):
    page = signed_in(ada).get("/")

    (row,) = page.context["postures"]
    assert (row.posture, row.denials) == (None, None)
    assert page.text.count("cannot tell") >= 5


def test_what_waits_is_what_this_person_may_decide(read, ada, ben, cho, signed_in):
    change = review.request(
        cluster=read, author=ada, title="Let eli read", delta=Delta(remove=(ACLS[5], ACLS[1], ACLS[0]))
    )

    bens = signed_in(ben).get("/")
    chos = signed_in(cho).get("/")

    assert [each.change.pk for each in bens.context["waiting"]] == [change.pk]
    assert f"{change.loses} lose" in bens.text
    assert chos.context["waiting"] == []
    assert "No change, no new denial and no cluster waits for you." in chos.text


def test_a_cluster_in_trouble_waits_for_everybody_who_sees_it(read, cho, eve, signed_in):
    Cluster.objects.filter(pk=read.pk).update(
        state=ClusterState.UNREACHABLE.value, state_sentence="No broker answers."
    )

    assert [line.cluster.pk for line in signed_in(cho).get("/").context["troubled"]] == [read.pk]
    assert "troubled" not in signed_in(eve).get("/").context


def test_the_home_page_needs_few_queries_however_many_clusters_there_are(
    read, dot, signed_in, django_assert_max_num_queries
):
    dot.is_superuser = True
    dot.save()
    for number in range(8):
        Cluster.objects.create(slug=f"c{number}", name=f"c{number}", kind="admin", address="127.0.0.1:1")
    browser = signed_in(dot)
    browser.get("/")

    with django_assert_max_num_queries(14):
        browser.get("/")
