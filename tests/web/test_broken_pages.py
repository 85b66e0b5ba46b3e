"""A page that could not be made keeps the frame, says why, and what was typed can be sent again."""

from __future__ import annotations

import html
import re
import sqlite3

import pytest
from django.test import Client

from aclweb.changes import preview as previews
from aclweb.inventory.sync.run import sync
from aclweb.runtime import storage
from aclweb.web.drafts import whatif
from aclweb.web.shell import frame
from tests.builders import allow
from tests.inventory.answering_cluster import Answers
from tests.web.test_error_pages import has_frame

PAGE = "/c/test-eu/what-if/"
PASTE = (
    "kafka-acls --add --allow-principal User:eli --operation Read --topic orders.eu --bootstrap-server b:1"
)
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n"
LARGE = "# nothing but remarks, line after line\n" * 80_000
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def browser(cluster, ada):
    sync(cluster, client=Answers([allow("User:bob", "READ", "orders.eu")]))
    browser = Client(raise_request_exception=False)
    browser.force_login(ada, backend="django.contrib.auth.backends.ModelBackend")
    return browser


@pytest.fixture
def broken(monkeypatch):
    """Return a function that has each draft that is sent end in this error."""

    def breaks(error):
        def fails(*words, **more):
            raise error

        monkeypatch.setattr(whatif, "kept_draft", fails)

    return breaks


def told(page) -> str:
    return html.unescape(page.content.decode())


def sent_again(page) -> dict[str, list[str]]:
    """Return the fields of the form that sends again what was typed."""
    form = re.search(r"<form[^>]*data-again.*?</form>", page.content.decode(), re.DOTALL)
    assert form is not None
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r'name="([^"]*)" value="([^"]*)"', form[0]):
        fields.setdefault(html.unescape(name), []).append(html.unescape(value))
    return fields


@pytest.mark.parametrize("content_type", [FORM, None], ids=["form", "multipart"])
def test_a_paste_beyond_the_limit_is_refused_with_its_size_within_the_frame(browser, content_type):
    if content_type:
        page = browser.post(PAGE, f"paste={LARGE}", content_type=content_type)
    else:
        page = browser.post(PAGE, {"paste": LARGE})

    assert page.status_code == 413
    assert has_frame(page)
    assert "What was sent is too large: 3.1 MB, and at most 2 MB are taken." in told(page)
    assert "python -m aclweb.acl" in told(page)


def test_a_form_of_too_many_fields_is_refused_with_their_number(browser):
    page = browser.post(PAGE, {"line": ["{}"] * 6_001})

    assert page.status_code == 413
    assert has_frame(page)
    assert "at most 6,000 fields are taken" in told(page)


def test_a_program_hears_the_same_as_json(browser):
    answer = browser.get("/api/v1/clusters/", headers={"host": "no such host"})

    assert answer.status_code == 400
    assert "cannot be understood" in answer.json()["detail"]


def test_a_what_if_that_breaks_keeps_the_frame_and_the_draft(browser, monkeypatch):
    typed = {"paste": PASTE, "line": [], "title": "for <eli>", "effect": "1"}
    with monkeypatch.context() as patched:
        patched.setattr(whatif, "kept_draft", lambda *words, **more: 1 / 0)
        page = browser.post(PAGE, typed)

    assert page.status_code == 500
    assert has_frame(page)
    assert "Something went wrong" in told(page)
    fields = sent_again(page)
    assert (fields["paste"], fields["title"]) == ([PASTE], ["for <eli>"])
    again = browser.post(PAGE, fields, follow=True)
    assert again.status_code == 200
    assert again.context["draft"].delta.add == (allow("User:eli", "READ", "orders.eu"),)


def test_a_database_that_is_locked_keeps_the_frame_and_the_draft(browser, broken):
    broken(sqlite3.OperationalError("database is locked"))

    page = browser.post(PAGE, {"paste": PASTE})

    assert page.status_code == 503
    assert has_frame(page)
    assert storage.LOCKED in told(page)
    assert sent_again(page)["paste"] == [PASTE]


def test_a_page_that_was_asked_for_by_its_address_is_asked_for_again_by_it(browser, monkeypatch):
    monkeypatch.setattr(previews, "preview", lambda *words, **more: 1 / 0)
    sent = browser.post(PAGE, {"paste": PASTE})

    page = browser.get(sent.url)

    assert page.status_code == 500
    assert f'href="{sent.url}">Try again' in told(page)


def test_neither_keys_nor_passwords_are_put_back(browser, broken, monkeypatch):
    broken(RuntimeError("broken"))
    page = browser.post(PAGE, {"paste": PASTE, "principal": KEY, "add_rule": "1"})
    monkeypatch.setattr("aclweb.web.shell.session.SignIn.form_valid", lambda *words: 1 / 0)
    monkeypatch.setattr("aclweb.web.shell.session.SignIn.form_invalid", lambda *words: 1 / 0)
    signing_in = Client(raise_request_exception=False).post(
        "/sign-in/", {"username": "ada", "password": "hers alone"}
    )

    assert page.status_code == signing_in.status_code == 500
    assert "MIIEv" not in told(page)
    assert "data-again" not in told(page), "half of what was typed would be another draft"
    assert "hers alone" not in told(signing_in)


def test_where_no_frame_can_be_made_the_sentence_is_shown_alone(browser, broken, monkeypatch):
    broken(RuntimeError("broken"))
    monkeypatch.setattr(frame, "around", lambda *words, **more: 1 / 0)

    page = browser.post(PAGE, {"paste": PASTE})

    assert page.status_code == 500
    assert "Something went wrong" in told(page)
    assert not has_frame(page)


@pytest.mark.thorough(
    instead="tests/web/test_broken_pages.py::test_a_paste_beyond_the_limit_is_refused_with_its_size_within_the_frame"
)
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("with_scripts", [True, False])
def test_a_paste_that_is_refused_is_still_there_in_the_browser(window, cluster, ada, settings, with_scripts):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 2**20  # a browser is slow with more
    sync(cluster, client=Answers([allow("User:bob", "READ", "orders.eu")]))
    page = window(ada, PAGE, scripts=with_scripts)
    page.locator("summary", has_text="Paste or upload ACLs").click()
    text = LARGE[:1_500_000]
    page.locator("#id_paste").evaluate("(field, text) => { field.value = text; }", text)
    page.get_by_role("button", name="Show the impact").last.click()

    page.get_by_text("MB, and at most 1 MB are taken.").first.wait_for()
    if with_scripts:
        assert page.locator("#id_paste").input_value() == text
        assert "what you typed is still here" in page.locator("#page-problem").inner_text()
    assert page.locator(".brand").is_visible()
