"""The page on which people say where the logs of a cluster are."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest

from aclweb.accounts.models import Grant, Role
from aclweb.inventory.admin import log_sources
from aclweb.inventory.admin.log_sources import for_job

URL = "/c/test-eu/log-sources/"
GIVEN = {
    "path": "/var/log/kafka/*.log",
    "recursive": "",
    "broker": "broker-1",
    "time_zone": "Europe/Berlin",
    "level": "DEBUG",
    "layout": "",
    "pattern": "[%d] %p %m (%c)%n",
}


@pytest.fixture
def admin(cluster, dot, signed_in):
    return signed_in(dot)


def text(page) -> str:
    return unescape(page.content.decode())


def test_an_administrator_adds_changes_and_removes_a_log_source(cluster, admin):
    page = admin.post(URL, GIVEN, follow=True)
    assert page.redirect_chain == [(URL, 302)]
    assert "Added. The next refresh of the logs reads it." in text(page)
    assert "permits and denials (DEBUG)" in text(page)
    assert for_job(cluster) == [{name: value for name, value in GIVEN.items() if value}]

    number = cluster.log_sources.get().pk
    assert 'value="[%d] %p %m (%c)%n"' in text(admin.get(f"{URL}{number}/"))
    assert "Nothing was changed" in text(admin.post(f"{URL}{number}/", GIVEN, follow=True))
    admin.post(f"{URL}{number}/", GIVEN | {"pattern": "", "layout": "cri+strimzi"})
    assert for_job(cluster)[0]["layout"] == "cri+strimzi"

    assert "Removed /var/log/kafka/*.log." in text(admin.post(f"{URL}{number}/remove/", follow=True))
    assert for_job(cluster) == []


def test_an_administrator_has_the_folders_in_a_folder_read(cluster, admin):
    given = GIVEN | {"path": "/var/log/kafka", "recursive": "yes"}

    page = admin.post(URL, given, follow=True)
    number = cluster.log_sources.get().pk

    assert "with folders in it" in text(page)
    assert for_job(cluster)[0]["recursive"] is True
    assert '<option value="yes" selected>' in text(admin.get(f"{URL}{number}/"))
    admin.post(f"{URL}{number}/", given | {"recursive": ""})
    assert "recursive" not in for_job(cluster)[0]


def test_what_is_wrong_is_said_beside_its_field_and_nothing_typed_is_lost(cluster, admin):
    page = admin.post(URL, GIVEN | {"time_zone": "Mars/North", "pattern": "%q", "path": "s3a://b/x"})

    assert page.status_code == 422
    errors = page.context["form"].errors
    assert {name: len(found) for name, found in errors.items()} == {"path": 1, "time_zone": 1, "pattern": 1}
    assert "'Mars/North' is no time zone; write it as Europe/Berlin or UTC." in text(page)
    assert all(f'value="{GIVEN[name]}"' in text(page) for name in ("broker",))
    assert 'value="s3a://b/x"' in text(page)
    assert for_job(cluster) == []


def test_whoever_sees_the_cluster_sees_its_log_sources_and_no_form(cluster, cho, signed_in):
    cluster.log_sources.create(path="/logs/<b>")

    page = signed_in(cho).get(URL)

    assert "/logs/<b>" in text(page)
    assert b"/logs/<b>" not in page.content
    assert "Add a log source" not in text(page)
    assert signed_in(cho).post(URL, GIVEN).status_code == 403
    assert 'href="/c/test-eu/log-sources/"' in text(signed_in(cho).get("/c/test-eu/"))


def test_a_log_source_of_another_cluster_is_not_there(cluster, other_cluster, admin):
    number = other_cluster.log_sources.create(path="/logs").pk

    assert admin.get(f"{URL}{number}/").status_code == 404
    assert admin.post(f"{URL}{number}/remove/").status_code == 404


def test_a_program_gets_the_log_sources(cluster, cho, signed_in):
    cluster.log_sources.create(path="/logs", layout="strimzi")
    cluster.log_sources.create(path="/more", recursive=True)

    found = signed_in(cho).get("/api/v1/clusters/test-eu/log-sources/").json()

    assert [(row["path"], row["recursive"]) for row in found["results"]] == [
        ("/logs", False),
        ("/more", True),
    ]
    assert found["results"][0]["layout"] == "strimzi"


@pytest.mark.parametrize(
    "path",
    [
        "/etc/shadow",
        "/var/log/kafka/../auth.log",
        "/var/log",
        "/var/log/kafkas",
        "kafka.log",
        "/*/log/kafka/x",
        "/",
    ],
)
def test_a_page_names_no_file_outside_the_folders_for_logs(admin, cluster, path):
    page = admin.post(URL, GIVEN | {"path": path})

    assert page.status_code == 422
    assert "is outside the folders in which a page may name logs" in page.content.decode()
    assert not cluster.log_sources.exists()


def test_what_the_shell_named_elsewhere_can_be_changed_on_the_page_but_not_moved(admin, cluster, settings):
    settings.ACLWEB_LOG_FOLDERS = [Path("/var/log/kafka"), Path("/mnt/logs")]
    source = log_sources.add(actor="the shell", cluster=cluster, path="/data/a.log")
    address = f"{URL}{source.pk}/"

    assert admin.post(address, GIVEN | {"path": "/data/a.log", "broker": "b1"}).status_code == 302
    assert admin.post(address, GIVEN | {"path": "/data/b.log"}).status_code == 422
    assert admin.post(address, GIVEN | {"path": "/mnt/logs/*/b.log"}).status_code == 302
    assert cluster.log_sources.get().path == "/mnt/logs/*/b.log"


def test_a_page_has_no_folders_read_that_hold_a_log_of_another_cluster(admin, cluster, other_cluster):
    other_cluster.log_sources.create(path="/var/log/kafka/prod/deep/a.log")
    pattern = GIVEN | {"path": "/var/log/kafka/*"}

    refused = admin.post(URL, pattern | {"recursive": "yes"})
    taken = admin.post(URL, pattern)
    # Nor by a change of what was named without them.
    number = cluster.log_sources.get().pk
    changed = admin.post(f"{URL}{number}/", pattern | {"recursive": "yes"})

    assert (refused.status_code, taken.status_code, changed.status_code) == (422, 302, 422)
    assert all("means logs of another cluster too" in text(page) for page in (refused, changed))
    assert not cluster.log_sources.get().recursive


def test_a_page_names_nothing_below_a_folder_of_another_cluster(admin, cluster, other_cluster):
    other_cluster.log_sources.create(path="/var/log/kafka/p*", recursive=True)

    page = admin.post(URL, GIVEN | {"path": "/var/log/kafka/prod/deep/a.log"})

    assert "means logs of another cluster too" in text(page)


@pytest.mark.parametrize(
    "path, is_refused",
    [
        ("/var/log/kafka/prod/a.log", True),
        ("/var/log/kafka/prod", True),
        ("/var/log/kafka", True),
        ("/var/log/kafka/*/a.log", True),
        ("/var/log/kafka/p*/*.log", True),
        ("/var/log/kafka/prod/*", True),
        ("/var/log/kafka/prod/*.log", True),
        ("/var/log/kafka/prod/sub/a.log", False),
        ("/var/log/kafka/dev/*.log", False),
        ("/var/log/kafka/*.log", False),
    ],
)
def test_a_page_names_no_log_of_another_cluster(admin, cluster, other_cluster, path, is_refused):
    other_cluster.log_sources.create(path="/var/log/kafka/prod/*.log")

    page = admin.post(URL, GIVEN | {"path": path})

    assert ("means logs of another cluster too" in text(page)) == is_refused
    assert cluster.log_sources.exists() != is_refused


@pytest.fixture
def dot_administers_both(dot, other_cluster):
    Grant.objects.create(user=dot, cluster=other_cluster, role=Role.ADMINISTRATOR)


TOPIC = {"topic": "authorizer-log", "topic_on": "test-eu", "broker_by": "key", "time_zone": "UTC"}


def test_an_administrator_adds_a_topic_and_the_coverage_page_shows_it(cluster, admin):
    page = admin.post(URL, TOPIC, follow=True)

    assert "Added. The next refresh of the logs reads it." in text(page)
    assert "topic on test-eu" in text(page)
    assert "named by each message's key" in text(page)
    assert for_job(cluster) == [TOPIC]
    number = cluster.log_sources.get().pk
    assert 'value="authorizer-log"' in text(admin.get(f"{URL}{number}/"))
    assert "Removed topic authorizer-log on test-eu." in text(
        admin.post(f"{URL}{number}/remove/", follow=True)
    )


def test_a_topic_of_another_cluster_needs_an_administrator_of_that_one_too(cluster, other_cluster, admin):
    assert admin.post(URL, TOPIC | {"topic_on": "test-us"}).status_code == 422
    assert not cluster.log_sources.exists()


def test_an_administrator_of_both_clusters_names_a_topic_of_the_other(cluster, admin, dot_administers_both):
    assert 'value="test-us"' in text(admin.get(URL))
    assert admin.post(URL, TOPIC | {"topic_on": "test-us"}).status_code == 302

    assert for_job(cluster)[0]["topic_on"] == "test-us"


def test_what_the_shell_named_of_another_cluster_is_edited_but_not_moved(cluster, other_cluster, admin):
    source = log_sources.add(actor="the shell", cluster=cluster, topic="logs", topic_on="test-us")
    address = f"{URL}{source.pk}/"

    given = TOPIC | {"topic": "logs", "topic_on": "test-us"}
    assert admin.post(address, given | {"time_zone": "Europe/Berlin"}).status_code == 302
    assert admin.post(address, given | {"topic": "secrets"}).status_code == 422
    assert [(row.topic, row.time_zone) for row in cluster.log_sources.all()] == [("logs", "Europe/Berlin")]


def test_a_page_names_no_topic_that_is_a_log_of_another_cluster(
    cluster, other_cluster, admin, dot_administers_both
):
    log_sources.add(actor="the shell", cluster=other_cluster, topic="authorizer-log")

    page = admin.post(URL, TOPIC | {"topic_on": "test-us"})

    assert "authorizer-log of test-us is a log of another cluster too" in text(page)


def test_a_program_sees_topics_among_the_log_sources(cluster, cho, signed_in):
    log_sources.add(actor="the shell", cluster=cluster, topic="logs")
    cluster.log_sources.create(path="/logs")

    found = signed_in(cho).get("/api/v1/clusters/test-eu/log-sources/").json()["results"]

    assert [(row["path"], row["topic"], row["topic_on"], row["broker_by"]) for row in found] == [
        ("", "logs", "test-eu", "key"),
        ("/logs", "", "", ""),
    ]
