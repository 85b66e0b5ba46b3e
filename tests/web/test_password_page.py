"""People change their own password; nothing behind the sign-in is stored; no log holds a query."""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import transaction

from aclweb.accounts import people
from aclweb.accounts.models import User
from aclweb.audit.models import Event
from aclweb.web.shell import session
from tests.servers_data import free_port
from tests.web.test_access import TABLE, ask, browser_of, waiting  # noqa: F401

OLD, NEW = "a password for ada", "quite another long one"
ROOT = Path(__file__).resolve().parents[2]


def fields(**changed: str) -> dict[str, str]:
    return {"old_password": OLD, "new_password1": NEW, "new_password2": NEW} | changed


def test_a_person_changes_their_own_password_and_other_sessions_end(ada, signed_in):
    here, elsewhere = signed_in(ada), signed_in(ada)
    assert "Change your password" in here.get("/password/").content.decode()

    page = here.post("/password/", fields(), follow=True)

    assert "Your password is changed" in page.content.decode()
    assert here.get("/clusters/").status_code == 200
    assert elsewhere.get("/clusters/").status_code == 302
    ada.refresh_from_db()
    assert ada.check_password(NEW)
    event = Event.objects.get(verb="password.changed")
    assert (event.actor, event.target) == ("ada", "account:ada")
    assert NEW not in str(event.facts)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"old_password": "not it"}, "This is not your current password"),
        ({"new_password2": "something else, long"}, "The two new passwords differ"),
        ({"new_password1": "short", "new_password2": "short"}, "at least 12 characters"),
        ({"new_password1": "", "new_password2": ""}, "This field is required"),
        ({"new_password1": OLD, "new_password2": OLD}, "This is your current password"),
    ],
)
def test_what_is_wrong_is_reported_at_its_field_and_nothing_changes(wrong, told, ada, signed_in):
    page = signed_in(ada).post("/password/", fields(**wrong))

    assert page.status_code == 422
    assert told in page.content.decode()
    ada.refresh_from_db()
    assert ada.check_password(OLD)
    assert not Event.objects.filter(verb="password.changed").exists()


@pytest.mark.parametrize("act", [people.switch_off, people.reset_password])
def test_a_password_that_is_changed_meanwhile_brings_no_account_back(act, ada, root, signed_in, monkeypatch):
    browser, of_django = signed_in(ada), User.set_password

    def set_slowly(user, password):
        monkeypatch.undo()
        act(actor=root, person=User.objects.get(pk=ada.pk))
        of_django(user, password)

    monkeypatch.setattr(User, "set_password", set_slowly)
    page = browser.post("/password/", fields())

    assert page.status_code == 422
    assert "Somebody changed this account meanwhile" in page.content.decode()
    kept = User.objects.get(pk=ada.pk)
    assert not kept.check_password(NEW)
    assert (kept.is_active, kept.password_is_first) == (
        act is not people.switch_off,
        act is not people.switch_off,
    )
    assert browser.get("/clusters/").status_code == 302
    assert not Event.objects.filter(verb="password.changed").exists()


def test_a_password_is_stored_without_the_rights_that_were_taken_meanwhile(root, dot, signed_in, monkeypatch):
    browser, of_django = signed_in(dot), User.set_password
    people.make_administrator(actor=root, person=dot)

    def set_slowly(user, password):
        people.unmake_administrator(actor=root, person=dot)
        of_django(user, password)

    monkeypatch.setattr(User, "set_password", set_slowly)
    old = "a password for dot"

    assert browser.post("/password/", fields(old_password=old)).status_code == 302
    dot.refresh_from_db()
    assert dot.check_password(NEW)
    assert not dot.is_superuser


def test_who_took_over_a_session_cannot_guess_the_password_without_end(ada, signed_in):
    browser = signed_in(ada)
    for _ in range(session.MOST_GUESSES):
        browser.post("/password/", fields(old_password="a guess"))

    page = browser.post("/password/", fields())

    assert page.status_code == 422
    assert "Too many wrong passwords" in page.content.decode()


def test_nothing_that_a_signed_in_person_sees_is_stored(waiting, dot):  # noqa: F811
    stored = []
    for name, row in TABLE.items():
        cache.clear()  # the counters of the address before
        with transaction.atomic():
            answer = ask(browser_of(dot), row, waiting)
            transaction.set_rollback(True)
        if "no-store" not in answer.get("Cache-Control", ""):
            stored.append(name)

    assert stored == []


def test_no_log_line_holds_what_was_asked_in_a_query(ada, signed_in, caplog):
    caplog.set_level(logging.DEBUG)
    browser = signed_in(ada)
    for path in (
        "/no/such/page?token=aclw_secret",
        "/?token=aclw_secret",
        "/c/test-eu/resource/?token=aclw_secret",
    ):
        browser.get(path)

    assert "/no/such/page" in caplog.text
    assert "aclw_secret" not in caplog.text


def test_an_address_that_is_too_long_gets_a_page_that_says_what_to_do(tmp_path):
    port = free_port()
    (tmp_path / "app.py").write_text(
        "def application(environ, start):\n    start('200 OK', [])\n    return [environ['QUERY_STRING'].encode()]\n"
    )
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "gunicorn", "--pythonpath", f"{tmp_path},{ROOT}", "app"),
            *("--bind", f"127.0.0.1:{port}", "--worker-class", "aclweb.site_worker.SiteWorker"),
            *("--limit-request-line", "8190", "--log-level", "error", "--no-control-socket"),
        ],
        cwd=tmp_path,
    )
    try:
        assert "x" * 7_000 in asked(port, "q=" + "x" * 7_000)
        told = asked(port, "q=" + "x" * 9_000)
    finally:
        server.terminate()
        server.wait(20)

    assert told.startswith("HTTP/1.1 414 ")
    assert "This address is too long" in told
    assert "type or paste it into the page's form instead" in told


def asked(port: int, query: str) -> str:
    for _ in range(1200):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=120) as caller:
                caller.sendall(f"GET /?{query} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
                with caller.makefile("rb") as answer:
                    return answer.read().decode()
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise AssertionError("gunicorn did not start")
