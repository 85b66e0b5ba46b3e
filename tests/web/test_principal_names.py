"""Principals whose ACLs hold an id have names, which every page shows beside it and which can be loaded and kept."""

from __future__ import annotations

import csv
import json
from html import unescape
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from aclweb.acl.model import NotationError
from aclweb.audit.models import Event
from aclweb.insights.load import load
from aclweb.inventory import lists
from aclweb.inventory.admin import principal_names
from aclweb.inventory.current import in_force
from aclweb.inventory.findings import pages as findings
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from aclweb.web.clusters.csv_files import MOST_BYTES
from tests.builders import allow, deny
from tests.insights.results import request, write_result
from tests.inventory.answering_cluster import Answers, topics

pytestmark = pytest.mark.django_db

ID, NAME = "User:12345", "orders <app>"
PAGE = "/c/test-eu/principal-names/"
API = "/api/v1/clusters/test-eu/principal-names/"


@pytest.fixture
def named(cluster, dot):
    acls = [allow(ID, "READ", "orders"), deny("User:eva", "READ", "orders")]
    sync(cluster, client=Answers(acls, topics("orders")))
    principal_names.load(actor=dot, cluster=cluster, names={ID: NAME})
    return Cluster.objects.get(pk=cluster.pk)


def with_denials(cluster: Cluster, folder) -> None:
    """Have a log read in which the principal was refused, and an ACL that is redundant."""
    acls = [allow(ID, "READ", "orders"), allow(ID, "READ", "ord", pattern="PREFIXED")]
    acls.append(deny("User:eva", "READ", "orders"))
    sync(cluster, client=Answers(acls, topics("orders")))
    cluster.refresh_from_db()
    findings.findings(in_force(cluster))
    load(write_result(folder / "log", acls, requests=[request(ID, "WRITE", "orders")]), cluster)


def text(page) -> str:
    return unescape(page.content.decode())


@pytest.mark.half
@pytest.mark.parametrize(
    ("page", "kwargs", "query"),
    [
        ("principal", {}, {"name": ID}),
        ("principals", {}, {}),
        ("acls", {}, {}),
        ("topic", {"name": "orders"}, {}),
        ("explain", {}, {"principal": ID, "operation": "READ", "type": "TOPIC", "name": "orders"}),
        ("what-if", {}, {"remove": json.dumps(allow(ID, "READ", "orders").as_dict())}),
        ("least-privilege", {}, {"name": ID}),
        ("principal-names", {}, {}),
        ("search", {}, {"q": "12345"}),
        ("access-graph", {}, {"type": "TOPIC", "name": "orders"}),
        ("use-map", {}, {"show": "all"}),
        ("use-days", {}, {"principal": ID}),
        ("principal-compare", {}, {"name": ID, "with": "User:eva"}),
        ("compare", {}, {"other": "test-eu", "other_at": "1", "view": "small"}),
        ("week", {}, {}),
        ("findings", {}, {"show": "can-go"}),
    ],
)
def test_the_name_is_beside_the_principal_on_every_page(client, ada, named, tmp_path, page, kwargs, query):
    with_denials(named, tmp_path)
    client.force_login(ada)

    shown = client.get(reverse(page, kwargs={"slug": named.slug, **kwargs}, query=query))

    assert shown.status_code == 200
    assert f"{ID}</" in unescape(shown.content.decode()) or ID in text(shown)
    assert "orders &lt;app&gt;" in shown.content.decode()


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("insights/denials/export/?format=csv", {NAME}),
        ("principals/?format=csv", {NAME, ""}),
        ("graph/?type=TOPIC&name=orders&format=csv", {NAME, ""}),
        ("insights/use/?show=configured&format=csv", {NAME}),
        ("insights/use/?show=all&format=csv", {NAME}),
        ("compare/?other=test-eu&other_at=1&diff=csv", {f"{ID} is {NAME}"}),
    ],
)
def test_each_row_of_a_file_about_principals_has_the_name(client, ada, named, tmp_path, address, told):
    with_denials(named, tmp_path)
    client.force_login(ada)

    rows = list(csv.DictReader(StringIO(client.get(f"/c/test-eu/{address}").getvalue().decode())))
    principal_names.load(actor=ada, cluster=named, names={})
    without = client.get(f"/c/test-eu/{address}").getvalue().decode()

    assert {row["principal_name"] for row in rows} == told
    assert "principal_name" not in without


def test_names_cost_no_query_until_somebody_changes_them(named, dot, django_assert_num_queries):
    assert lists.called(named, ID) == NAME
    with django_assert_num_queries(0):
        assert lists.called(Cluster(pk=named.pk), ID) == ""  # nobody gave a name that it knows of
        assert lists.called(named, ID) == NAME
    assert principal_names.name_one(actor=dot, cluster=named, principal=ID, name="billing")
    assert lists.called(Cluster.objects.get(pk=named.pk), ID) == "billing"
    assert principal_names.name_one(actor=dot, cluster=named, principal=ID, name="")
    assert not principal_names.name_one(actor=dot, cluster=named, principal=ID, name="")
    assert lists.called(Cluster.objects.get(pk=named.pk), ID) == ""


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("12345,orders", "A principal has a type; write it as User:12345."),
        ("User:1,", "'User:1' has no name; give it one, or leave the row out."),
        ("User:1,a\tb", "This name holds a character that one cannot see"),
        (f"User:1,{'x' * 101}", "This name has 101 characters; up to 100 fit."),
        ("User:9,one\nUser:9,two", "'User:9' has a name on a line above; keep one."),
    ],
)
def test_each_bad_row_has_a_sentence_and_nothing_is_stored(client, dot, named, row, sentence):
    client.force_login(dot)

    refused = client.post(f"{PAGE}load/", {"csv": f"principal,name\n{row}\n", "store": "1"})

    assert refused.status_code == 422
    assert sentence in text(refused)
    assert row.split(",")[0] in text(refused)
    assert dict(named.principal_names.values_list("principal", "name")) == {ID: NAME}
    with pytest.raises(NotationError):
        principal_names.read(f"principal,name\n{row}\n", "f")


def test_a_file_is_shown_before_it_is_loaded_and_recorded(client, dot, named):
    client.force_login(dot)
    file = SimpleUploadedFile("p.csv", b"name,principal\nbilling,User:12345\nnew one,User:7\n")

    shown = client.post(f"{PAGE}load/", {"file": file})
    assert "1 name is added, 1 name is changed, none is removed, 0 names stay" in text(shown)
    assert dict(named.principal_names.values_list("principal", "name")) == {ID: NAME}
    rows = shown.context["loaded"]["text"]
    client.post(f"{PAGE}load/", {"csv": rows, "store": "1"})

    assert dict(named.principal_names.values_list("principal", "name")) == {
        ID: "billing",
        "User:7": "new one",
    }
    event = Event.objects.latest("sequence")
    assert (event.verb, event.actor) == ("principals.named", "dot")
    assert client.get(f"{PAGE}export/").content.decode().splitlines()[0] == "principal,name"


def test_a_large_file_is_stored_as_it_was_shown(client, dot, named):
    client.force_login(dot)
    rows = "principal,name\n" + "".join(f"User:{n},Größe ÄÖÜ {n}\n" for n in range(20_000))
    assert len(rows.encode()) < MOST_BYTES

    shown = client.post(f"{PAGE}load/", {"file": SimpleUploadedFile("p.csv", rows.encode())})
    form = shown.content.decode().partition('name="store"')[0].rpartition("<form")[2]
    held = unescape(shown.content.decode().split('<textarea name="csv" hidden>')[1].split("</textarea>")[0])
    sent = client.post(f"{PAGE}load/", {"csv": held.replace("\n", "\r\n"), "store": "1"})

    # Text with letters beyond ASCII is three to nine times as long in a form of the other kind, and refused.
    assert 'enctype="multipart/form-data"' in form
    assert sent.status_code == 302
    assert named.principal_names.count() == 20_000


def test_a_large_bad_file_is_not_said_to_stay(client, dot, named):
    client.force_login(dot)
    rows = "principal,name\n" + "bad\n" * 50_000

    refused = client.post(f"{PAGE}load/", {"csv": rows})

    assert refused.status_code == 422
    assert "the file stays in the box below" not in text(refused)
    assert "so it is not put back here" in text(refused)
    assert "and 49,980 more" in text(refused)


def test_edit_shows_the_name_so_that_saving_keeps_it(client, dot, named):
    client.force_login(dot)

    form = client.get(PAGE, {"principal": ID}).context["form"]
    client.post(PAGE, form.initial)

    assert form.initial == {"principal": ID, "name": NAME}
    assert dict(named.principal_names.values_list("principal", "name")) == {ID: NAME}


def test_one_name_is_given_and_taken_on_the_page(client, dot, cho, named):
    client.force_login(dot)
    assert client.post(PAGE, {"principal": "User:7", "name": "seven"}).status_code == 302
    refused = client.post(PAGE, {"principal": "7", "name": "seven"})
    assert (refused.status_code, "write it as User:7." in text(refused)) == (422, True)
    client.post(PAGE, {"principal": ID, "name": ""})
    hidden = client.post(PAGE, {"principal": "User:9\0", "name": "nine"})
    assert (hidden.status_code, "Null characters are not allowed" in text(hidden)) == (422, True)
    assert dict(named.principal_names.values_list("principal", "name")) == {"User:7": "seven"}

    client.force_login(cho)
    assert client.post(PAGE, {"principal": "User:8", "name": "eight"}).status_code == 403


def test_the_command_prints_and_loads_them(named, tmp_path):
    file = tmp_path / "p.csv"
    file.write_text("principal,name\nUser:7,seven\n")
    out = StringIO()

    call_command("principal_names", "test-eu", stdout=out)
    call_command("principal_names", "test-eu", str(file), "--dry-run", stdout=out)
    call_command("principal_names", "test-eu", str(file), "--json", stdout=out)

    lines = out.getvalue().splitlines()
    assert lines[:2] == ["principal,name", f"{ID},{NAME}"]
    assert lines[2].endswith("1 name is removed, 0 names stay; nothing was stored.")
    assert json.loads(lines[3]) == {
        "cluster": "test-eu", "added": 1, "changed": 0, "removed": 1, "same": 0, "stored": True
    }  # fmt: skip
    file.write_text("principal\nUser:7\n")
    with pytest.raises(CommandError, match="must hold exactly principal,name"):
        call_command("principal_names", "test-eu", str(file))
    assert dict(named.principal_names.values_list("principal", "name")) == {"User:7": "seven"}


def test_the_api_lists_and_replaces_them_and_names_principals(client, dot, cho, named):
    client.force_login(dot)
    listed = client.get(API).json()["results"]
    assert listed == [{"principal": ID, "name": NAME}]
    rows = client.get("/api/v1/clusters/test-eu/principals/").json()["principals"]
    assert {row["principal"]: row["name"] for row in rows}[ID] == NAME

    bad = client.put(API, {"names": {"7": "seven"}}, content_type="application/json")
    assert (bad.status_code, list(bad.json())) == (400, ["names"])
    twice = client.put(API, {"names": {"User:7": "a", "User:7 ": "b"}}, content_type="application/json")
    assert (twice.status_code, twice.json()) == (
        400,
        {"names": ["names:2: 'User:7' has a name already; keep one."]},
    )
    good = client.put(API, {"names": {"User:7": " seven "}}, content_type="application/json")
    assert good.json() == {"added": 1, "changed": 0, "removed": 1, "same": 0}
    assert dict(named.principal_names.values_list("principal", "name")) == {"User:7": "seven"}

    client.force_login(cho)
    assert client.put(API, {"names": {}}, content_type="application/json").status_code == 403
