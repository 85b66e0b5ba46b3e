"""No form sends a huge text back, maps names without end, or lets one person fill the queue."""

from __future__ import annotations

import html
import json
import os

import pytest

from aclweb.inventory.sync.run import sync
from aclweb.web.ask import mapping
from aclweb.web.shell import asking_often
from tests.builders import allow
from tests.fake_cluster import FakeCluster

HUGE = 1_900_000
MOST_ANSWER = 600_000  # bytes of a page
TEXTS = {
    "no ACL": "this is no ACL\n" * (HUGE // 15),
    "one line": "x" * HUGE,
    "quotes": "<\"'&>" * (HUGE // 5),
    "half an ACL": '{"resource_type": "TOPIC", "x": 1}\n' * (HUGE // 35),
    "commands": "kafka-acls --add --nonsense\n" * (HUGE // 28),
}
FIELDS = [
    ("{here}/what-if/", "paste"),
    ("{here}/what-if/", "new_topic"),
    ("{here}/what-if/", "line"),
    ("{here}/what-if/change/", "reason"),
    ("{here}/what-if/change/", "title"),
    ("{here}/explain/line/", "line"),
    ("{here}/compare/drafts/", "first"),
    ("{here}/mapping/", "names"),
    ("{here}/mapping/", "rules"),
    ("{here}/declare/", "super_users"),
    ("/sign-in/", "username"),
    ("/password/", "old_password"),
]


def tried_in(place: int) -> list[str]:
    """Return the texts that a field is given: what grows most on a page, each of the others in one field, or all."""
    if os.environ.get("ACLWEB_TEST_SCALE") == "full":
        return [*TEXTS]
    others = [name for name in TEXTS if name != "quotes"]
    return ["quotes", *others[place : place + 1]]


@pytest.fixture
def here(cluster):
    with FakeCluster(bindings=[allow("User:bob", "READ", "orders")], topics=["orders"]) as fake:
        sync(cluster, client=fake)
    return f"/c/{cluster.slug}"


@pytest.mark.half
@pytest.mark.parametrize(("path", "field"), FIELDS)
def test_a_huge_text_does_not_come_back_whole(path, field, here, dot, signed_in, client):
    browser = client if path == "/sign-in/" else signed_in(dot)
    others = {"kind": "ssl", "names": "CN=a", "title": "t", "reason": "r", "super_users_known": "on"}
    if path.endswith("/change/"):
        others["line"] = json.dumps({"op": "add", **allow("User:x", "READ", "orders").as_dict()})

    for text in tried_in(FIELDS.index((path, field))):
        page = browser.post(path.format(here=here), others | {field: TEXTS[text]})

        assert page.status_code < 500, text
        assert len(page.content) < MOST_ANSWER, f"{text}: {page.status_code} {len(page.content):,} bytes"


def test_a_text_that_does_not_come_back_says_so_and_a_long_one_still_does(here, ada, signed_in):
    browser = signed_in(ada)

    huge = browser.post(f"{here}/what-if/", {"paste": TEXTS["no ACL"]}).content.decode()
    long = browser.post(f"{here}/what-if/", {"paste": "this is no ACL\n" * 3_000}).content.decode()

    assert "so it is not put back here. Correct it and send it again." in huge
    assert long.count("this is no ACL") >= 3_000


def test_one_person_asks_workers_only_so_often(here, cluster, cho, ada, signed_in, monkeypatch):
    asked = []
    # On a busy machine a minute ends in the middle of these requests.
    monkeypatch.setattr(asking_often, "WINDOW_SECONDS", 3_600)
    monkeypatch.setattr("aclweb.inventory.sync.tasks.ask_for_sync", asked.append)
    monkeypatch.setattr("aclweb.inventory.findings.pages.again", asked.append)
    browser = signed_in(cho)

    told = [browser.post(f"{here}/read/", follow=True).content.decode() for _ in range(15)]
    again = [browser.post(f"{here}/findings/again/", follow=True).content.decode() for _ in range(15)]
    assert len(asked) == 2 * asking_often.MOST
    assert "You asked for a sync 10 times within a minute" in html.unescape(told[-1])
    assert "You asked for findings 10 times within a minute" in html.unescape(again[-1])

    signed_in(ada).post(f"{here}/read/")
    assert len(asked) == 2 * asking_often.MOST + 1, "others are not concerned"


def test_mapping_stops_by_its_own_work_and_says_how_many_names_are_left(here, ada, signed_in, monkeypatch):
    spent = iter(number * 0.3 for number in range(1_000))
    monkeypatch.setattr(mapping.time, "thread_time", lambda: next(spent))
    names = "\n".join(f"CN=name{number},O=b" for number in range(50))

    page = signed_in(ada).post(f"{here}/mapping/", {"kind": "ssl", "names": names}).content.decode()

    assert "46 more names were not tried, because these mapping rules take too long" in page


def test_a_key_pasted_as_a_log_line_is_not_shown_again(here, ada, signed_in):
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n"

    told = signed_in(ada).post(f"{here}/explain/line/", {"line": key}).content.decode()

    assert "MIIEv" not in told
    assert "This is a certificate or a key in PEM, so it is not shown again." in told
