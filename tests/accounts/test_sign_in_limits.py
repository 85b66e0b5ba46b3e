"""Signing in is limited so that guessing is slow, and so that nobody can shut anybody else out by it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from django.test import Client

from aclweb.accounts import addresses, sign_in_limits, tokens
from aclweb.accounts.models import User
from aclweb.api import bad_tokens
from aclweb.runtime.counters import CountersInFiles
from tests import forkserver

ROOT = Path(__file__).resolve().parents[2]
GOOD = "the right one for pam"


@pytest.fixture
def pam(db) -> User:
    return User.objects.create_user("pam", password=GOOD)


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test turns on."""

    class Clock:
        now = time.time()

        def time(self) -> float:
            return self.now

        def sleep(self, seconds: float) -> None:
            self.now += seconds

    found = Clock()
    monkeypatch.setattr(sign_in_limits, "time", found)
    return found


def tries(name: str, password: str, *, address: str = "192.0.2.1", forwarded: str | None = None):
    headers = {"X-Forwarded-For": forwarded} if forwarded is not None else {}
    return Client(REMOTE_ADDR=address, headers=headers).post(
        "/sign-in/", {"username": name, "password": password}
    )


def test_five_wrong_passwords_shut_this_account_for_this_address_only(pam):
    told = [tries("pam", "wrong").status_code for _ in range(6)]

    assert told == [200, 200, 200, 200, 429, 429]
    assert tries("pam", GOOD).status_code == 429


def test_behind_a_proxy_a_stranger_cannot_keep_anybody_out(pam, settings, clock):
    settings.ACLWEB_TRUSTED_PROXIES = 1
    assert tries("pam", GOOD, address="10.0.0.1", forwarded="198.51.100.7").status_code == 302

    for _ in range(30):
        tries("pam", "wrong", address="10.0.0.1", forwarded="203.0.113.66")

    assert tries("pam", "wrong", address="10.0.0.1", forwarded="203.0.113.66").status_code == 429
    known = tries("pam", GOOD, address="10.0.0.1", forwarded="198.51.100.7")
    assert known.status_code == 302, "where she has signed in before she does not even wait"
    new = tries("pam", GOOD, address="10.0.0.1", forwarded="198.51.100.99")
    assert new.status_code == 429
    assert "Wrong passwords were given for this account. Wait 2 s" in new.content.decode()
    assert new["Retry-After"] == "2"
    clock.sleep(2)
    assert tries("pam", GOOD, address="10.0.0.1", forwarded="198.51.100.99").status_code == 302


def test_the_wait_of_an_account_is_seconds_however_many_addresses_attack_it(pam, clock):
    for number in range(25):
        for _ in range(2):
            tries("pam", "wrong", address=f"203.0.113.{number}")
            clock.sleep(60)

    first = tries("pam", GOOD, address="198.51.100.1")
    waited = int(first["Retry-After"])
    tries("pam", "wrong", address="203.0.113.200")  # the attack goes on
    clock.sleep(waited)

    assert waited <= sign_in_limits.LONGEST_WAIT_SECONDS
    assert tries("pam", GOOD, address="198.51.100.1").status_code == 302


def test_one_address_that_tries_many_accounts_is_stopped(pam):
    told = [tries(f"somebody{number}", "wrong").status_code for number in range(15)]

    assert told[:12] == [200] * 12
    assert told[12:] == [429] * 3
    assert "for several accounts" in tries("pam", GOOD).content.decode()
    assert tries("pam", GOOD, address="192.0.2.2").status_code == 302


def test_who_signed_in_from_an_address_before_is_not_stopped_by_others_there(pam):
    assert tries("pam", GOOD).status_code == 302
    for number in range(15):
        tries(f"somebody{number}", "wrong")

    assert tries("pam", GOOD).status_code == 302


def test_attempts_that_were_refused_unseen_do_not_lengthen_the_wait(pam, clock):
    for number in range(3):
        for _ in range(2):
            tries("pam", "wrong", address=f"203.0.113.{number}")
            clock.sleep(20)
    told = [tries("pam", GOOD, address="198.51.100.1").status_code for _ in range(8)]
    clock.sleep(16)

    assert told == [429] * 8
    assert tries("pam", GOOD, address="198.51.100.1").status_code == 302


def test_without_a_proxy_nobody_can_pretend_an_address(pam):
    told = [tries("pam", "wrong", forwarded=f"198.51.100.{number}").status_code for number in range(6)]

    assert told[-1] == 429


def test_what_the_client_itself_wrote_into_the_header_does_not_count(pam, settings):
    settings.ACLWEB_TRUSTED_PROXIES = 2
    for number in range(6):
        page = tries("pam", "wrong", address="10.0.0.1", forwarded=f"1.2.3.{number}, 203.0.113.66, 10.0.0.2")

    assert page.status_code == 429


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        (" 192.0.2.1:5123", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("[2001:db8:1:2::9]:443", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("::1", "::1"),
        ("unknown", None),
        ("", None),
        ("\x00", None),
    ],
)
def test_an_address_is_counted_by_its_network(text, counted):
    assert addresses.counted(text) == counted


def test_addresses_of_one_ipv6_network_count_as_one(pam):
    told = [tries("pam", "wrong", address=f"2001:db8::{number:x}").status_code for number in range(1, 7)]

    assert told[-1] == 429
    assert tries("pam", GOOD, address="2001:db8:0:1::1").status_code == 429  # waits, and only that
    assert "Wait 2 s" in tries("pam", GOOD, address="2001:db8:0:1::1").content.decode()


def test_seventy_five_bad_tokens_are_too_many_and_a_good_one_still_works(pam):
    _, secret = tokens.issue(pam, "a robot", 1)

    def asks(token: str, address: str = "192.0.2.1") -> int:
        browser = Client(REMOTE_ADDR=address, headers={"Authorization": f"Bearer {token}"})
        return browser.get("/api/v1/clusters/").status_code

    told = [asks(f"aclw_{number:043d}") for number in range(75)]

    assert told == [401] * bad_tokens.MOST + [429] * (75 - bad_tokens.MOST)
    assert asks(f"aclw_{0:043d}", "192.0.2.2") == 401
    assert asks(secret) == 200, "others behind the same address are not shut out"


@pytest.mark.every_run
@pytest.mark.long
def test_processes_share_their_counters(tmp_path):
    script = (
        "import django; django.setup(); from django.core.cache import cache\n"
        "cache.add('n', 0, 60); print(cache.incr('n'))"
    )
    environment = dict(os.environ) | {
        "ACLWEB_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "aclweb.settings",
    }
    told = [forkserver.run(["-c", script], environment).stdout.strip() for _ in range(2)]

    assert told == ["1", "2"]


def test_a_disk_that_takes_nothing_stops_no_reader(tmp_path, caplog, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    counters = CountersInFiles(str(tmp_path), {})
    monkeypatch.setattr(counters, "_createdir", lambda: full(counters))

    counters.set("n", 1)

    assert counters.get("n") is None
    assert "could not be stored" in caplog.text
