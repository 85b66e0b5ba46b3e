"""The Insights page: every denial offers what would mend its cause, and each offer leads somewhere."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from aclweb.insights.load import load
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.insights.results import request, write_result

PAGE = "/c/test-eu/insights/"
FRAUD = "User:CN=fraud,OU=risk"
BINDINGS = [
    allow(FRAUD, "READ", "orders"),
    allow("User:jlund", "READ", "orders"),
    allow("User:bob", "WRITE", "orders", host="10.0.0.9"),
    allow("User:cat", "READ", "orders"),
    deny("User:eve", "ALL", "payments.", pattern="PREFIXED"),
]
REFUSED = {
    "a name with other spaces": request("User:CN=fraud, OU=risk", "READ", "orders"),
    "a name in other case": request("User:JLund", "READ", "orders"),
    "a client without a login": request("User:ANONYMOUS", "READ", "orders"),
    "another host": request("User:bob", "WRITE", "orders", host="10.0.0.7"),
    "no ACL": request("User:dan", "READ", "payments.eu"),
    "no group right": request("User:cat", "READ", "billing", resource_type="GROUP"),
    "a DENY": request("User:eve", "READ", "payments.eu"),
    "a name that no address holds": request("User:\u202egpj\n&?#%", "READ", "payments.eu"),
}


@pytest.fixture
def read_cluster(cluster, tmp_path):
    sync(cluster, client=FakeCluster(BINDINGS, topics=["orders", "payments.eu"], groups=["billing"]))
    cluster.refresh_from_db()
    load(write_result(tmp_path / "usage", BINDINGS, requests=REFUSED.values()), cluster)
    return cluster


@pytest.fixture
def page(read_cluster, ada, signed_in):
    client = signed_in(ada)
    return client, client.get(PAGE).content.decode()


def offers(page: str) -> dict[str, tuple[str, str]]:
    """Return what each row of the inbox offers, as its principal -> (word, address)."""
    found = {}
    for row in page.split("<tbody>")[1].split("</tbody>")[0].split("<tr>")[1:]:
        address, word = re.findall(r'<a class="btn btn-sm" href="([^"]*)"[^>]*>([^<]*)</a>', row)[-1]
        principal = re.search(r'href="[^"]*principal/\?name=([^"]*)"', row)
        assert principal is not None
        found[parse_qs(f"n={unescape(principal[1])}")["n"][0]] = (word, unescape(address))
    return found


def test_every_denial_offers_something_that_leads_to_a_page(page):
    client, text = page
    found = offers(text)

    assert set(found) == {row["principal"] for row in REFUSED.values()}
    answers = {principal: client.get(address).status_code for principal, (_, address) in found.items()}
    assert set(answers.values()) == {200}, answers


def test_a_proposal_opens_a_draft_of_the_acl_that_was_missing(page):
    client, text = page

    word, address = offers(text)["User:dan"]
    draft = client.get(address).context["draft"]

    assert word == "Propose ACL"
    assert [(line.op, line.binding) for line in draft.lines] == [
        ("add", allow("User:dan", "READ", "payments.eu", host="10.0.0.7"))
    ]
    assert not draft.faults


def test_a_name_that_looks_wrong_leads_to_its_mapping_and_not_to_another_acl(page):
    client, text = page

    word, address = offers(text)["User:CN=fraud, OU=risk"]
    mapped = client.get(address)

    assert word == "Test the name mapping"
    assert urlsplit(address).path == "/c/test-eu/mapping/"
    assert [made.name for made in mapped.context["clients"]] == ["CN=fraud, OU=risk"]


def test_a_login_name_in_other_case_leads_to_the_acls_that_it_misses(page):
    client, text = page

    word, address = offers(text)["User:JLund"]

    assert word == "Show the other name"
    assert "User:jlund" in client.get(address).content.decode()


def test_a_client_of_a_plaintext_listener_is_offered_no_acl(page):
    _, text = page

    word, address = offers(text)["User:ANONYMOUS"]

    assert word == "Explain"
    assert urlsplit(address).path == "/c/test-eu/explain/"
    assert "An ACL for User:ANONYMOUS would open the resource to everybody who can reach that listener." in (
        unescape(text)
    )


@pytest.mark.django_db(transaction=True)
def test_a_denial_is_walked_to_the_impact_of_its_draft(window, read_cluster, ada):
    page = window(ada, PAGE)

    row = page.locator("table.refusals tr").filter(has_text="User:dan")
    row.get_by_role("link", name="Propose ACL").click()
    page.get_by_role("heading", name="Access diff").wait_for()

    assert page.locator(".draft-lines li").count() == 1
    assert page.locator(".tile", has_text="Gains").locator(".tile-number").inner_text() != "0"
    assert page.watch.complaints == []
