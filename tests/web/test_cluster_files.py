"""The first run: from a file of ACLs to the first answer, without any account of Kafka."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from aclweb.accounts.models import User
from aclweb.inventory.models import Cluster

NEW = "/clusters/new/file/"
LISTING = """Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)`:
 \t(principal=User:bob, host=10.0.0.7, operation=READ, permissionType=ALLOW)

Current ACLs for resource `ResourcePattern(resourceType=GROUP, name=bobs, patternType=LITERAL)`:
 \t(principal=User:bob, host=*, operation=READ, permissionType=ALLOW)
"""


@pytest.fixture
def root(db, signed_in, settings, tmp_path):
    settings.ACLWEB_DATA_DIR = tmp_path
    return signed_in(User.objects.create_superuser("root", password="a password for root"))


def text(page) -> str:
    return unescape(page.content.decode())


def uploaded(content: str, name: str = "Prod EU.txt") -> dict[str, SimpleUploadedFile]:
    return {"file": SimpleUploadedFile(name, content.encode())}


def kept(folder: Path) -> list[str]:
    return sorted(path.read_text() for path in (folder / "acl-files").glob("*"))


def test_the_home_page_of_a_new_site_leads_to_a_file_and_to_its_first_answer(root, tmp_path):
    assert NEW in text(root.get("/"))
    assert "kafka-acls" in text(root.get(NEW))

    page = root.post(NEW, uploaded(LISTING), follow=True)

    cluster = Cluster.objects.get()
    assert (cluster.slug, cluster.revision.acls, cluster.changes_enabled) == ("prod-eu", 2, False)
    assert page.redirect_chain[-1][0].startswith("/c/prod-eu/explain/?principal=User%3Abob")
    assert "Read 2 ACLs" in text(page)
    assert "ALLOWED" in text(page).upper()
    assert kept(tmp_path) == [LISTING]


def test_a_pasted_text_does_as_well(root):
    root.post(NEW, {"text": LISTING.replace("\n", "\r\n"), "slug": "pasted"})

    assert Cluster.objects.get(slug="pasted").revision.acls == 2


def test_a_name_that_is_taken_is_never_chosen_by_itself(root):
    for _ in range(2):
        root.post(NEW, uploaded(LISTING))
    refused = root.post(NEW, uploaded(LISTING) | {"slug": "prod-eu"})

    assert set(Cluster.objects.values_list("slug", flat=True)) == {"prod-eu", "prod-eu-2"}
    assert "There is a cluster 'prod-eu' already" in text(refused)


@pytest.mark.parametrize(
    ("given", "field", "sentence"),
    [
        ({"text": LISTING.replace("operation=READ", "operation=REED", 1)}, "text", "Line 2: "),
        ({"text": '{"principal": 3}\n'}, "text", "Line 1: "),
        ({"text": "hello\n"}, "text", "Line 1: "),
        ({"text": "  \n"}, "file", "Choose a file, or paste its text below."),
        (uploaded("\n"), "file", "This file is empty."),
    ],
)
def test_a_wrong_file_says_which_line_and_keeps_nothing(root, tmp_path, given, field, sentence):
    page = root.post(NEW, given)

    assert page.status_code == 422
    (told,) = page.context["form"].errors.as_data()[field]
    assert sentence in told.message
    assert str(tmp_path) not in text(page)
    assert not Cluster.objects.exists()
    assert not (tmp_path / "acl-files").exists() or kept(tmp_path) == []
    if given.get("text", "").strip():
        assert given["text"].strip() in text(page)


def test_a_newer_file_becomes_the_next_revision_and_the_older_one_goes(root, tmp_path):
    root.post(NEW, uploaded(LISTING))
    newer = LISTING.replace("User:bob, host=*", "User:eve, host=*")

    assert "Replace the file of prod-eu" in text(root.get("/c/prod-eu/file/"))
    page = root.post("/c/prod-eu/file/", uploaded(newer), follow=True)

    cluster = Cluster.objects.get()
    assert cluster.revision.number == 2
    assert "Read 2 ACLs" in text(page)
    assert kept(tmp_path) == [newer]
    wrong = root.post("/c/prod-eu/file/", uploaded("hello"))
    assert "Line 1: " in text(wrong)
    assert kept(tmp_path) == [newer]


def test_a_file_that_somebody_named_at_the_shell_is_never_deleted(root, tmp_path):
    own = tmp_path / "own.txt"
    own.write_text(LISTING)
    Cluster.objects.create(slug="own", name="own", kind="snapshot", address=str(own))

    root.post("/c/own/file/", uploaded(LISTING))

    assert own.exists()
    assert Cluster.objects.get().address != str(own)


def test_only_an_administrator_of_the_site_adds_a_file(dot, signed_in):
    assert signed_in(dot).post(NEW, uploaded(LISTING)).status_code == 403
    assert Cluster.objects.count() == 1
