"""Probes get an answer whatever name they call the site by, and notices reach the pages."""

import json

import pytest
from django.test import Client, override_settings

from aclweb.web.shell import liveness, notices


@pytest.fixture
def probe():
    return Client(headers={"host": "10.42.0.17:8000"})


@override_settings(ALLOWED_HOSTS=["aclweb.example.com"], SECURE_SSL_REDIRECT=True)
def test_a_living_process_says_so_by_plain_http_under_any_name(probe):
    answer = probe.get("/healthz")

    assert (answer.status_code, answer.content) == (200, b"ok\n")
    assert "no-store" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("broken", ["_database", "_queue"])
@pytest.mark.django_db
def test_a_site_without_database_or_queue_is_not_ready_and_logs_the_reason_only(
    probe, monkeypatch, broken, caplog
):
    liveness.forget()

    def fail():
        raise OSError("secret-host refused the password")

    monkeypatch.setattr(liveness, broken, fail)

    answer = probe.get("/readyz")

    assert answer.status_code == 503
    assert json.loads(answer.content)[broken.removeprefix("_")] == "failed"
    assert b"secret-host" not in answer.content
    assert "secret-host" in caplog.text


def test_the_version_is_reported(probe, settings):
    assert json.loads(probe.get("/version").content) == {"version": settings.ACLWEB_VERSION}


@pytest.mark.django_db
def test_metrics_are_served_only_where_a_setting_allows_it(probe, cluster, settings):
    assert probe.get("/metrics").status_code == 404

    settings.ACLWEB_METRICS = True
    text = probe.get("/metrics").content.decode()

    assert 'aclweb_changes{state="IN_REVIEW"} 0.0' in text
    assert "aclweb_reading_age_seconds" in text


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/readyz/site", "/version", "/metrics"])
def test_probes_take_no_other_method(probe, path):
    assert probe.post(path).status_code == 405


# --- Notices ---


@pytest.fixture
def data(tmp_path, settings):
    settings.ACLWEB_DATA_DIR = tmp_path


def test_a_notice_stands_until_it_is_reported_anew_or_cleared(data):
    assert notices.current() == ()

    notices.tell("broker", "12 of 44 jars are here.")
    notices.tell("broker", "13 of 44 jars are here.")
    notices.tell("logs", "Logs are being written.")
    assert notices.current() == ("13 of 44 jars are here.", "Logs are being written.")

    notices.clear("broker")
    notices.clear("never told")
    assert notices.current() == ("Logs are being written.",)


def test_whoever_is_signed_in_reads_the_notices_and_nobody_else(data, cho, signed_in, client):
    notices.tell("broker", "The broker <b>edge-eu</b> is being fetched.")

    assert (
        "The broker &lt;b&gt;edge-eu&lt;/b&gt; is being fetched." in signed_in(cho).get("/").content.decode()
    )
    assert b"being fetched" not in client.get("/sign-in/").content
