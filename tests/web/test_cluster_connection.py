"""The pages on which a cluster is made known, edited, tested, paused and switched on for changes."""

from __future__ import annotations

import json
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from aclweb.accounts.models import User
from aclweb.audit.models import Event
from aclweb.changes.rollout import hold
from aclweb.clusters import ClusterError, ClusterFacts, ClusterState
from aclweb.inventory import leases
from aclweb.inventory.checks import running
from aclweb.inventory.current import connection_of
from aclweb.inventory.models import Cluster, ConnectionCheck
from aclweb.inventory.sync import tasks as sync_tasks
from aclweb.inventory.sync.run import sync
from aclweb.inventory.work import scheduling
from tests.builders import allow
from tests.clusters.certificates import Authority
from tests.inventory.answering_cluster import Answers, topics

NEW = "/clusters/new/"
EDIT = "/c/test-eu/connection/"
SECRET = "n0body-may-see-this"
GIVEN = {
    "slug": "prod-eu",
    "address": "broker-1.example:9092",
    "protocol": "SASL_SSL",
    "mechanism": "SCRAM-SHA-512",
    "username": "aclweb",
    "password": SECRET,
    "authorizer_class": "standard",
    "approvals_needed": "2",
    "default": "deny",
    "super_users_known": "on",
    "super_users": "User:admin",
}


@pytest.fixture
def root(db, signed_in):
    return signed_in(User.objects.create_superuser("root", password="a password for root"))


@pytest.fixture
def admin(cluster, dot, signed_in):
    return signed_in(dot)


def text(page) -> str:
    return unescape(page.content.decode())


def file(name: str, content: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content.encode())


def as_stored(cluster: Cluster, **given: str) -> dict[str, str]:
    """What the form of a cluster sends where nothing but `given` is edited."""
    return {
        "name": cluster.name,
        "address": cluster.address,
        "authorizer_class": cluster.authorizer,
        "kafka_version": cluster.kafka_version,
        "approvals_needed": str(cluster.approvals_needed),
    } | given


# --- adding ---------------------------------------------------------------------------


def test_a_cluster_is_stored_paused_and_its_test_waits_for_a_worker(root):
    page = root.post(NEW, GIVEN, follow=True)

    cluster = Cluster.objects.get(slug="prod-eu")
    assert page.redirect_chain[-1][0] == "/c/prod-eu/connection/"
    assert (cluster.name, cluster.is_paused, cluster.approvals_needed) == ("prod-eu", True, 2)
    assert (cluster.allow_everyone, cluster.super_users) == (False, "User:admin")
    assert (cluster.changes_enabled, cluster.held_to_hosts) == (False, True)
    assert "Waiting for a worker" in text(page)
    assert 'hx-get="/c/prod-eu/connection/test/"' in text(page)
    assert cluster not in scheduling.due()
    verbs = list(Event.objects.values_list("verb", flat=True))
    assert verbs == ["cluster.added", "cluster.declared"]


def test_a_cluster_that_is_not_tested_first_is_due(root):
    root.post(NEW, GIVEN | {"sync": "1"})

    assert [cluster.slug for cluster in scheduling.due()] == ["prod-eu"]


def test_no_secret_comes_back_and_none_is_recorded(root):
    authority = Authority().pem
    refused = root.post(NEW, GIVEN | {"slug": "Prod EU", "ca": file("ca.pem", authority)})
    kept = root.post(NEW, GIVEN | {"ca": file("ca.pem", authority)}, follow=True)

    assert refused.status_code == 422
    for page in (refused, kept, root.get("/c/prod-eu/connection/"), root.get("/events/")):
        assert SECRET not in text(page)
        assert "BEGIN CERTIFICATE" not in text(page)
    assert SECRET not in json.dumps(list(Event.objects.values_list("facts", flat=True)))
    assert connection_of(Cluster.objects.get(slug="prod-eu")).options["sasl.password"] == SECRET


def test_all_that_is_wrong_is_said_at_once_beside_its_field(root):
    _, key = Authority().issue("CN=aclweb")
    given = GIVEN | {
        "slug": "Prod EU",
        "address": "broker-1.example",
        "password": "",
        "certificate": file("key.pem", key),
        "ca": file("ca.der", "\x00\x01"),
        "kafka_version": "4.x",
        "approvals_needed": "none",
        "super_users_known": "",
    }

    page = root.post(NEW, given)

    assert page.status_code == 422
    form = page.context["form"]
    assert set(form.errors) == {
        "slug", "address", "password", "certificate", "key", "ca", "kafka_version", "approvals_needed",
    }  # fmt: skip
    assert "holds a private key where a certificate belongs" in str(form.errors["certificate"])
    assert "is not PEM text" in str(form.errors["ca"])
    assert set(page.context["declared"].errors) == {"super_users_known"}
    assert 'value="Prod EU"' in text(page)
    assert "Nothing was stored." in text(page)
    assert not Cluster.objects.exists()
    assert not Event.objects.exists()


def test_a_name_that_is_taken_is_said_at_its_field(root, cluster):
    page = root.post(NEW, GIVEN | {"slug": "test-eu"})

    assert "There is a cluster 'test-eu' already" in text(page)


@pytest.mark.parametrize(
    ("address", "refused"),
    [
        ("localhost:9092", "'localhost'"),
        ("broker.example:9092,127.0.0.1:9092", "'127.0.0.1'"),
        ("169.254.169.254:80", "'169.254.169.254'"),
        ("[::ffff:127.0.0.1]:9092", "'[::ffff:127.0.0.1]'"),
        ("2130706433:9092", "'2130706433'"),
    ],
)
def test_an_address_of_the_sites_own_machine_is_refused(root, address, refused):
    page = root.post(NEW, GIVEN | {"address": address})

    assert f"This site may not connect to {refused}" in str(
        unescape(str(page.context["form"].errors["address"]))
    )
    assert not Cluster.objects.exists()


def test_the_deployment_says_which_hosts_a_page_may_name(root, settings):
    settings.ACLWEB_CLUSTER_HOSTS = ["*.kafka.example", "10.1.0.0/16"]

    def refused(address: str) -> bool:
        page = root.post(NEW, GIVEN | {"slug": "", "address": address})
        return "address" in page.context["form"].errors

    assert not refused("b1.kafka.example:9092")
    assert not refused("10.1.2.3:9092")
    assert refused("10.2.2.3:9092")


def test_a_name_that_resolves_to_this_machine_is_refused_when_it_is_connected_to(root):
    root.post(NEW, GIVEN)
    cluster = Cluster.objects.get(slug="prod-eu")
    within = connection_of(cluster).within

    assert within is not None
    with pytest.raises(ClusterError, match=r"may not connect to 'localhost' \((127\.0\.0\.1|::1)\)"):
        within.require("localhost", 9092)
    Cluster.objects.update(held_to_hosts=False)  # as one that was added at the shell
    assert connection_of(Cluster.objects.get()).within is None


def test_only_an_administrator_of_the_site_adds_clusters(admin):
    assert admin.get(NEW).status_code == 403
    assert admin.post(NEW, GIVEN).status_code == 403
    assert "/clusters/new/" not in text(admin.get("/clusters/"))


def test_zookeeper_has_its_own_mechanism_and_declaration(root):
    given = GIVEN | {"address": "zk-1.example:2181/kafka", "mechanism": "DIGEST-MD5", "protocol": ""}
    given |= {"authorizer_class": "acl"}

    made = root.post(f"{NEW}?kind=zookeeper", given)
    assert made.status_code == 302, made.context["form"].errors

    cluster = Cluster.objects.get()
    assert (cluster.kind, cluster.authorizer, cluster.authorizer_declared) == ("zookeeper", "acl", "")
    assert "Whether brokers use the ACLs" in text(root.get(f"{NEW}?kind=zookeeper"))


# --- testing --------------------------------------------------------------------------


def run_check(answers: Answers) -> ConnectionCheck:
    assert running.run_next(leases.owner("test"), lambda _connection: answers)
    return ConnectionCheck.objects.latest("pk")


def test_a_worker_says_line_by_line_what_the_login_may_do(cluster, admin):
    admin.post(f"{EDIT}test/")
    admin.post(f"{EDIT}test/")
    assert ConnectionCheck.objects.count() == 1
    answers = Answers(
        [allow("User:bob", "READ", "t")], topics("t"), ["g"], facts=ClusterFacts(cluster_id="abc")
    )

    check = run_check(answers)

    assert (check.state, check.is_ok) == ("DONE", True)
    page = text(admin.get(EDIT))
    assert "test-eu answers. ACLs: 1, topics: 1, groups: 1." in page
    assert "The cluster calls itself abc." in page
    part = admin.get(f"{EDIT}test/", headers={"HX-Request": "true"})
    assert "hx-trigger" not in text(part)
    assert "<html" not in text(part)
    assert not Cluster.objects.get().read_at


def test_a_missing_right_is_told_with_the_command_that_grants_it(cluster, admin):
    admin.post(f"{EDIT}test/")
    refused = ClusterError("aclweb may not list ACLs.", state=ClusterState.NOT_PERMITTED)

    check = run_check(Answers(fails={"read_acls": refused}))

    assert not check.is_ok
    page = text(admin.get(EDIT))
    assert "--operation Describe --cluster" in page
    assert "aclweb may not list ACLs." in page


def test_lines_are_told_while_the_worker_is_at_it(cluster, admin):
    admin.post(f"{EDIT}test/")
    answers = Answers()
    seen = []
    answers.read_acls = lambda: seen.append(text(admin.get(EDIT))) or Answers().read_acls()

    run_check(answers)

    assert "A worker is testing the connection." in seen[0]
    assert "The login is accepted." in seen[0]


def test_a_server_whose_certificate_is_not_trusted_was_reached(cluster, admin):
    admin.post(f"{EDIT}test/")

    def connect(_connection):
        raise ClusterError(
            "The certificate is not to be trusted.", state=ClusterState.UNREACHABLE, at_tls=True
        )

    running.run_next(leases.owner("test"), connect)

    rights = {one["right"]: one["answer"] for one in ConnectionCheck.objects.get().rights}
    assert rights == {"reach": "yes", "TLS": "no", "log in": "unknown"}


def test_the_same_kafka_cluster_under_two_names_is_told(cluster, other_cluster, admin):
    Cluster.objects.filter(pk=other_cluster.pk).update(cluster_id="abc")
    admin.post(f"{EDIT}test/")

    check = run_check(Answers(facts=ClusterFacts(cluster_id="abc")))

    assert "It is the same Kafka cluster as test-us: both have the id abc." in check.sentence


def test_only_who_administers_a_cluster_sees_its_connection(cluster, ben, signed_in):
    browser = signed_in(ben)

    assert browser.get(EDIT).status_code == 403
    assert browser.post(f"{EDIT}test/").status_code == 403
    assert EDIT not in text(browser.get("/c/test-eu/"))


# --- editing --------------------------------------------------------------------------


def stored(cluster: Cluster, **options: str) -> None:
    cluster.options = options
    cluster.held_to_hosts = True
    cluster.address = "b1.example:9092"
    cluster.save()


def test_a_password_that_is_left_empty_stays(cluster, admin):
    login = {"sasl.mechanism": "PLAIN", "sasl.username": "aclweb", "sasl.password": SECRET}
    stored(cluster, **login)

    page = admin.post(
        EDIT, as_stored(cluster, name="Production", mechanism="PLAIN", username="reader"), follow=True
    )

    cluster = Cluster.objects.get()
    assert (cluster.name, cluster.options["sasl.username"]) == ("Production", "reader")
    assert cluster.options["sasl.password"] == SECRET
    assert SECRET not in text(page)
    assert "A worker tests the connection now." in text(page)


def test_a_stored_password_is_not_sent_to_a_host_that_it_was_not_given_for(cluster, admin):
    stored(cluster, **{"sasl.mechanism": "PLAIN", "sasl.username": "aclweb", "sasl.password": SECRET})
    elsewhere = as_stored(cluster, address="b2.example:9092", mechanism="PLAIN", username="aclweb")

    page = admin.post(EDIT, elsewhere)

    assert page.status_code == 422
    assert "give the password again" in str(page.context["form"].errors["password"])
    assert Cluster.objects.get().address == "b1.example:9092"
    assert not Event.objects.exists()
    assert admin.post(EDIT, elsewhere | {"password": "another"}).status_code == 302
    assert Cluster.objects.get().options["sasl.password"] == "another"


def test_a_client_certificate_is_named_and_can_be_forgotten(cluster, admin):
    certificate, key = Authority().issue("CN=aclweb")
    stored(cluster)
    given = as_stored(cluster, protocol="SSL")
    admin.post(EDIT, given | {"certificate": file("c.pem", certificate), "key": file("k.pem", key)})

    page = admin.get(EDIT)
    assert "Shows itself as" in text(page)
    assert "PRIVATE KEY" not in text(page)
    assert set(Cluster.objects.get().options) == {"security.protocol", "ssl.certificate.pem", "ssl.key.pem"}

    admin.post(EDIT, given | {"without_certificate": "on"})
    assert set(Cluster.objects.get().options) == {"security.protocol"}


def test_another_kind_leads_to_where_both_are_compared_first(cluster, admin):
    Cluster.objects.update(kind="zookeeper", address="zk.example:2181")

    answer = admin.post(f"{EDIT}?kind=admin", as_stored(cluster, address="b1.example:9092"))

    assert (answer.status_code, answer["Location"]) == (302, "/c/test-eu/move/?kind=admin")
    assert Cluster.objects.get().kind == "zookeeper"
    assert "/c/test-eu/move/?kind=admin" in text(admin.get(EDIT))


def test_no_page_names_a_file_of_the_sites_machine(cluster, admin):
    Cluster.objects.update(kind="snapshot", address="/data/acls.txt", changes_enabled=False)

    admin.post(f"{EDIT}?kind=snapshot", as_stored(cluster, address="/etc/passwd", name="A file"))
    admin.post(f"{EDIT}?kind=admin", as_stored(cluster, address="b:9092", name="A file"))

    kept = Cluster.objects.get()
    assert (kept.kind, kept.address, kept.name) == ("snapshot", "/data/acls.txt", "A file")


# --- pausing and changes --------------------------------------------------------------


def test_a_paused_cluster_is_not_synced_and_every_page_says_so(cluster, admin, monkeypatch):
    sync(cluster, client=Answers([allow("User:bob", "READ", "t")]))
    monkeypatch.setattr(sync_tasks, "_enqueue_the_next", lambda: None)
    monkeypatch.setattr(sync_tasks.syncing, "sync", lambda _cluster: pytest.fail("It was synced."))
    Cluster.objects.update(next_sync_at=None)

    admin.post("/c/test-eu/pause/")

    for address in ("/c/test-eu/", "/c/test-eu/acls/", "/c/test-eu/topics/", "/"):
        assert "Paused by dot since" in text(admin.get(address)), address
    assert not scheduling.due().exists()
    assert not scheduling.ask(cluster.pk)
    sync_tasks.sync_cluster(cluster.pk)
    assert "Paused by dot" in text(admin.post("/c/test-eu/read/", follow=True))

    admin.post("/c/test-eu/resume/")

    assert scheduling.due().exists()
    assert "Paused by" not in text(admin.get("/c/test-eu/"))
    verbs = list(Event.objects.order_by("sequence").values_list("verb", flat=True))
    assert verbs[-2:] == ["cluster.paused", "cluster.resumed"]


def test_an_approved_change_waits_while_its_cluster_is_paused(cluster, admin, ada):
    from aclweb.changes.models import Change

    change = Change.objects.create(cluster=cluster, author=ada, title="t", state=Change.State.QUEUED)
    assert hold.waiting() == [change.pk]

    admin.post("/c/test-eu/pause/")

    assert hold.waiting() == []
    assert hold.claim(change.pk, "worker") is None


def test_changes_are_switched_off_and_on_with_a_record(cluster, admin, ben, signed_in):
    assert signed_in(ben).post("/c/test-eu/switch-changes/", {"changes": "off"}).status_code == 403

    admin.post("/c/test-eu/switch-changes/", {"changes": "off"})
    assert not Cluster.objects.get().changes_enabled
    page = admin.post("/c/test-eu/switch-changes/", {"changes": "on"}, follow=True)

    assert Cluster.objects.get().changes_enabled
    assert "Changes of test-eu are switched on." in text(page)
    told = [event.facts["told"] for event in Event.objects.order_by("sequence")]
    assert told == ["changes enabled off", "changes enabled on"]


def test_the_page_of_a_connection_is_cheap(cluster, admin, django_assert_max_num_queries):
    admin.post(f"{EDIT}test/")
    run_check(Answers([allow("User:bob", "READ", "t")], topics("t"), ["g"]))

    with django_assert_max_num_queries(12):
        page = admin.get(EDIT)

    assert len(page.content) < 50 * 1024


# --- tokens ---------------------------------------------------------------------------

ENDPOINT, OTHER = "https://idp.example/token", "https://other.example/token"
BY_TOKEN = GIVEN | {
    "mechanism": "OAUTHBEARER",
    "username": "",
    "password": "",
    "token_endpoint": ENDPOINT,
    "token_client": "aclweb",
    "token_secret": SECRET,
}


def test_a_login_with_tokens_is_stored_and_its_secret_kept_and_never_shown(root, settings):
    settings.ACLWEB_TOKEN_ENDPOINTS = [ENDPOINT, OTHER]
    made = root.post(NEW, BY_TOKEN | {"token_ca": file("ca.pem", Authority().pem)}, follow=True)
    cluster = Cluster.objects.get(slug="prod-eu")
    same = as_stored(cluster, protocol="SASL_SSL", mechanism="OAUTHBEARER", token_client="other",
                     token_endpoint=ENDPOINT)  # fmt: skip
    changed = root.post("/c/prod-eu/connection/", same, follow=True)

    options = connection_of(Cluster.objects.get(slug="prod-eu")).options
    assert options["sasl.oauthbearer.client.credentials.client.secret"] == SECRET
    assert options["sasl.oauthbearer.client.credentials.client.id"] == "other"
    assert "BEGIN CERTIFICATE" in options["sasl.oauthbearer.ssl.ca.pem"]
    assert "Trusts at the token endpoint" in text(made)
    for page in (made, changed):
        assert SECRET not in text(page)
        assert "BEGIN CERTIFICATE" not in text(page)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"token_endpoint": "https://evil.example/token"}, "This token endpoint is not allowed; choose one"),
        ({"token_secret": ""}, "client.secret is missing."),
        ({"password": "pw"}, "Setting sasl.password has no effect with sasl.mechanism OAUTHBEARER"),
    ],
)
def test_a_wrong_login_with_tokens_stores_nothing(root, settings, given, sentence):
    settings.ACLWEB_TOKEN_ENDPOINTS = [ENDPOINT]

    refused = root.post(NEW, BY_TOKEN | given)

    assert refused.status_code == 422
    assert sentence in text(refused)
    assert SECRET not in text(refused)
    assert not Cluster.objects.filter(slug="prod-eu").exists()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"token_endpoint": OTHER}, "This is another token endpoint"),
        ({"address": "broker-2.example:9092"}, "to which tokens would be sent"),
    ],
)
def test_a_stored_client_secret_goes_nowhere_else(root, settings, given, sentence):
    settings.ACLWEB_TOKEN_ENDPOINTS = [ENDPOINT, OTHER]
    root.post(NEW, BY_TOKEN)
    cluster = Cluster.objects.get(slug="prod-eu")
    same = as_stored(cluster, protocol="SASL_SSL", mechanism="OAUTHBEARER", token_client="aclweb",
                     token_endpoint=ENDPOINT)  # fmt: skip

    refused = root.post("/c/prod-eu/connection/", same | given)
    allowed = root.post("/c/prod-eu/connection/", same | given | {"token_secret": "another"})

    assert (refused.status_code, allowed.status_code) == (422, 302)
    assert sentence in text(refused)


def test_how_id_and_secret_are_sent_is_a_field_and_stays(root, settings):
    settings.ACLWEB_TOKEN_ENDPOINTS = [ENDPOINT]
    url_encoded = "sasl.oauthbearer.header.urlencode"

    refused = root.post(NEW, BY_TOKEN | {"token_client": "realm:aclweb"})
    root.post(NEW, BY_TOKEN | {"token_client": "realm:aclweb", "token_urlencode": "on"})
    page = root.get("/c/prod-eu/connection/")
    cluster = Cluster.objects.get(slug="prod-eu")
    same = as_stored(cluster, protocol="SASL_SSL", mechanism="OAUTHBEARER", token_client="realm:aclweb",
                     token_endpoint=ENDPOINT, name="renamed")  # fmt: skip
    kept = root.post("/c/prod-eu/connection/", same | {"token_urlencode": "on"})
    options = connection_of(Cluster.objects.get(slug="prod-eu")).options
    gone = root.post("/c/prod-eu/connection/", same | {"token_client": "aclweb"})

    assert f"holds a colon, which needs {url_encoded}=true" in text(refused)
    assert '<details class="fold" open>' in text(refused)
    assert page.context["form"]["token_urlencode"].value() is True
    assert (kept.status_code, options[url_encoded]) == (302, "true")
    assert gone.status_code == 302
    assert url_encoded not in connection_of(Cluster.objects.get(slug="prod-eu")).options


def test_a_cluster_logs_in_with_a_keytab_that_the_deployment_lists(root, settings):
    settings.ACLWEB_KEYTABS = ["/etc/aclweb/kafka.keytab"]
    given = BY_TOKEN | {"mechanism": "GSSAPI", "token_endpoint": "", "token_client": "", "token_secret": "",
                        "kerberos_principal": "aclweb@EXAMPLE.COM"}  # fmt: skip
    given = {name: value for name, value in given.items() if not name.startswith("token_")}

    other = root.post(NEW, given | {"keytab": "/etc/krb5.keytab"})
    nothing = root.post(NEW, given)
    assert "This keytab is not allowed; choose one of the list." in text(other)
    assert "With sasl.mechanism GSSAPI, sasl.kerberos.keytab is missing." in text(nothing)
    assert '<details class="fold" open>' in text(nothing)
    assert not Cluster.objects.filter(slug="prod-eu").exists()

    root.post(NEW, given | {"keytab": "/etc/aclweb/kafka.keytab"})
    options = connection_of(Cluster.objects.get(slug="prod-eu")).options
    assert (options["sasl.kerberos.keytab"], options["sasl.kerberos.principal"]) == (
        "/etc/aclweb/kafka.keytab",
        "aclweb@EXAMPLE.COM",
    )


def test_another_mechanism_forgets_the_client_secret(root, settings):
    settings.ACLWEB_TOKEN_ENDPOINTS = [ENDPOINT]
    root.post(NEW, BY_TOKEN)
    cluster = Cluster.objects.get(slug="prod-eu")

    root.post(
        "/c/prod-eu/connection/",
        as_stored(cluster, protocol="SASL_SSL", mechanism="PLAIN", username="a", password="b"),
    )

    assert connection_of(Cluster.objects.get(slug="prod-eu")).options == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "a",
        "sasl.password": "b",
    }
