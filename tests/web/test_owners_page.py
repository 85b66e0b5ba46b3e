"""The page on which people say who owns which names, and the pages that show it."""

from __future__ import annotations

from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.inventory.test_owners import HEADER

URL = "/c/test-eu/owners/"
GIVEN = {
    "kind": "TOPIC",
    "pattern_type": "PREFIXED",
    "name": "orders.",
    "owner": "payments",
    "labels": "Restricted pci",
}


@pytest.fixture
def admin(cluster, dot, signed_in):
    with FakeCluster([allow("User:bob", "READ", "orders.eu")], topics=["orders.eu"], groups=["g"]) as fake:
        sync(cluster, client=fake)
    return signed_in(dot)


def text(page) -> str:
    return unescape(page.content.decode())


def test_a_row_is_added_changed_and_removed_and_shown_with_the_name(cluster, admin):
    assert "Added: topics that begin with orders.." not in text(admin.get(URL))
    assert "Added: topics that begin with orders." in text(admin.post(URL, GIVEN, follow=True))

    topic = text(admin.get("/c/test-eu/topics/orders.eu"))
    assert "owner payments" in topic
    assert 'data-tone="warn">restricted</span>' in topic
    assert "said of all names that begin with orders." in topic
    assert "payments" in text(admin.get("/c/test-eu/topics/"))
    assert "payments" not in text(admin.get("/c/test-eu/topics/?type=GROUP"))

    number = cluster.owned_names.get().pk
    assert 'value="pci, restricted"' in text(admin.get(f"{URL}{number}/"))
    assert "Nothing was changed" in text(admin.post(f"{URL}{number}/", GIVEN, follow=True))
    admin.post(f"{URL}{number}/", GIVEN | {"kind": "PRINCIPAL", "name": "User:bob", "labels": ""})
    assert "owner payments" in text(admin.get("/c/test-eu/principal/?name=User:bob"))
    assert "payments" in text(admin.get("/c/test-eu/principals/"))
    removed = text(admin.post(f"{URL}{number}/remove/", follow=True))
    assert "Nothing is said of principals that begin with User:bob any more." in removed
    assert "Nobody has said who owns what" in removed


def test_what_is_wrong_is_said_beside_its_field_and_nothing_typed_is_lost(cluster, admin):
    page = admin.post(URL, GIVEN | {"name": "", "labels": "a/b"})

    assert page.status_code == 422
    assert set(page.context["form"].errors) == {"name", "labels"}
    assert 'value="payments"' in text(page)
    assert cluster.owned_names.count() == 0
    admin.post(URL, GIVEN)
    assert "are listed already; change that row." in text(admin.post(URL, GIVEN))


def test_a_file_shows_what_it_would_change_before_it_is_loaded(cluster, admin):
    admin.post(URL, GIVEN)
    rows = HEADER + "TOPIC,LITERAL,stock,<b>stock</b>,\nTOPIC,PREFIXED,orders.,shop,\n"

    shown = admin.post(f"{URL}load/", {"file": SimpleUploadedFile("a.csv", rows.encode())})

    assert "1 row is added, 1 row is changed, none is removed, 0 rows stay" in text(shown)
    assert "<b>stock" not in shown.content.decode()
    assert cluster.owned_names.get().owner == "payments"
    loaded = admin.post(f"{URL}load/", {"rows": rows.replace("\n", "\r\n"), "store": "1"}, follow=True)
    assert "Loaded: 1 row is added" in text(loaded)
    assert admin.get(f"{URL}export/").content.decode().count("\n") == 3
    as_yaml = admin.get(f"{URL}export/?format=yaml")
    assert as_yaml["Content-Disposition"] == 'attachment; filename="owners-test-eu.yaml"'
    again = admin.post(f"{URL}load/", {"file": SimpleUploadedFile("a.yaml", as_yaml.content)})
    assert "Nothing: each row is there already." in text(again)
    assert "stock" in text(admin.get(f"{URL}?q=STOCK"))
    assert "No row contains this text" in text(admin.get(f"{URL}?q=zzz"))


def test_a_bad_file_is_told_by_line_and_kept_in_the_box(cluster, admin):
    page = admin.post(f"{URL}load/", {"rows": HEADER + "TOPIC,EXACT,a,b,\n"})

    assert page.status_code == 422
    assert "Line 2: 'EXACT' is none; use LITERAL, PREFIXED." in text(page)
    assert "TOPIC,EXACT,a,b," in text(page)
    latin = SimpleUploadedFile("a.csv", HEADER.encode() + b"TOPIC,LITERAL,a,M\xfcller,\n")
    assert "The file is no UTF-8 text" in text(admin.post(f"{URL}load/", {"file": latin}))
    assert cluster.owned_names.count() == 0


def test_a_long_file_is_whole_when_it_is_loaded_and_one_too_long_is_refused(cluster, admin):
    rows = HEADER + "".join(f"TOPIC,PREFIXED,orders-of-a-department.{n}.,team-{n},\n" for n in range(5_000))

    shown = admin.post(f"{URL}load/", {"file": SimpleUploadedFile("a.csv", rows.encode())})
    held = unescape(shown.content.decode().split('<textarea name="rows" hidden>')[1].split("</textarea>")[0])
    admin.post(f"{URL}load/", {"rows": held, "store": "1"})

    assert cluster.owned_names.count() == 5_000
    huge = SimpleUploadedFile("a.csv", b"x" * (1024 * 1024 + 1))
    assert "The file has 1,048,577 bytes" in text(admin.post(f"{URL}load/", {"file": huge}))


def test_who_looks_sees_the_rows_and_no_forms(cluster, admin, cho, signed_in):
    admin.post(URL, GIVEN)
    page = text(signed_in(cho).get(URL))

    assert "payments" in page
    assert "Load a file" not in page
    answer = signed_in(cho).get("/api/v1/clusters/test-eu/owners/").json()
    assert answer["results"] == [GIVEN | {"labels": "pci, restricted"}]


def test_the_lists_take_no_query_more_for_many_names(cluster, admin, django_assert_max_num_queries):
    admin.post(URL, GIVEN)
    admin.get("/c/test-eu/topics/")
    with django_assert_max_num_queries(12):
        admin.get("/c/test-eu/topics/")
    with django_assert_max_num_queries(12):
        admin.get("/c/test-eu/principals/")
