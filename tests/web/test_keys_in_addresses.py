"""A certificate or key typed into a search field is neither shown again, nor left in the address."""

from __future__ import annotations

import html
from urllib.parse import unquote_plus

import pytest

from aclweb.inventory.sync.run import sync
from aclweb.web.shell.typed_principal import holds_pem
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
# A one-line field takes the ends of lines away; some people paste the middle of a file.
KEYS = [
    f"-----BEGIN PRIVATE KEY-----\n{BODY}\n-----END PRIVATE KEY-----\n",
    f"-----BEGIN RSA PRIVATE KEY-----{BODY}-----END RSA PRIVATE KEY-----",
    f"{BODY}\n-----END PRIVATE KEY-----",
    BODY,
    "MHcCAQEEIAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefoAoGCCqGSM49",
]
PAGES = [
    ("/c/test-eu/acls/", "add", {}),
    ("/c/test-eu/acls/", "principal", {"operation": "READ"}),
    ("/c/test-eu/acls/", "text", {}),
    ("/c/test-eu/acls/", "permission", {}),
    ("/c/test-eu/acls/export/", "host", {}),
    ("/c/test-eu/topics/", "q", {}),
    ("/c/test-eu/principals/", "q", {}),
    ("/c/test-eu/search/", "q", {}),
    ("/c/test-eu/explain/", "principal", {"operation": "READ", "resource_name": "orders"}),
    ("/c/test-eu/", "principal", {"operation": "READ"}),
    ("/c/test-eu/compare/", "other", {}),
    ("/c/test-eu/topics/orders/", "as_of", {}),
    ("/events/", "text", {}),
    ("/sign-in/", "next", {}),
]


@pytest.fixture
def browser(cluster, ada, signed_in):
    sync(cluster, client=Answers([allow("User:bob", "READ", "orders")]))
    return signed_in(ada)


@pytest.mark.parametrize("address,field,others", PAGES)
def test_no_page_repeats_a_key_or_keeps_it_in_its_address(browser, address, field, others):
    page = browser.get(address, {field: KEYS[0], **others}, follow=True)

    where = page.redirect_chain[-1][0]
    assert page.status_code in (200, 422)  # 422: a field that must be filled is empty now
    assert BODY not in unquote_plus(where)
    assert all(f"{name}={value}" in where for name, value in others.items())
    assert BODY not in html.unescape(page.content.decode())
    told = html.unescape(browser.get("/c/test-eu/acls/").content.decode() + page.content.decode())
    assert "certificate or a key in PEM, so it was not read and is not shown again." in told


def test_htmx_is_sent_to_a_whole_page_that_says_so(browser):
    answer = browser.get("/c/test-eu/topics/", {"q": KEYS[1]}, headers={"HX-Request": "true"})

    assert answer["HX-Redirect"] == "/c/test-eu/topics/?q="
    assert BODY not in answer.content.decode()
    assert "a certificate or a key in PEM" in html.unescape(
        browser.get(answer["HX-Redirect"]).content.decode()
    )


def test_the_api_refuses_a_key_and_does_not_repeat_it(browser):
    answer = browser.get("/api/v1/clusters/test-eu/acls/", {"match": KEYS[0]})

    assert answer.status_code == 400
    assert BODY not in answer.content.decode()
    assert "certificate or a key in PEM" in answer.json()["match"][0]


@pytest.mark.parametrize("key", KEYS)
def test_key_material_is_known_with_and_without_its_frame(key):
    assert holds_pem(key)
    assert holds_pem(f"principal:User:bob {key}")


@pytest.mark.parametrize(
    "name",
    [
        "User:CN=billing-svc,OU=Payments,O=Example",
        "MII-orders.eu",
        "MIIEvQIB",
        "m" * 249,
        "payments.MHcCAQEE.eu",
        "User:" + "0123456789abcdef" * 4,
    ],
)
def test_names_are_no_keys(name):
    assert not holds_pem(name)
