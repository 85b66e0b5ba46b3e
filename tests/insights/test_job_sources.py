"""Does a job get the login of a topic, in a file that nobody else may read and nowhere else?"""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from aclweb.insights import job_sources, refresh
from aclweb.insights.errors import InsightsError
from aclweb.inventory.admin import log_sources
from aclweb.inventory.models import Cluster
from aclweb.pipeline.log_sources import read_sources
from aclweb.pipeline.topic_sources import topic_of
from tests.pipeline.connector_folder import connector_in

PASSWORD = "pass=word\x85'\"\\"


@pytest.fixture
def topics(read_cluster, other_cluster) -> Cluster:
    """A cluster with a log of its own, and one in a topic of another cluster, which has a login."""
    other_cluster.options = {
        "sasl.mechanism": "PLAIN", "sasl.username": "ann", "sasl.password": PASSWORD
    }  # fmt: skip
    other_cluster.address = " h1:9092, h2:9092 "
    other_cluster.save(update_fields=["options", "address"])
    log_sources.add(actor="ada", cluster=read_cluster, path="/logs", broker="one")
    log_sources.add(
        actor="ada", cluster=read_cluster, topic="logs", topic_on=other_cluster.slug, time_zone="UTC"
    )
    return read_cluster


def test_a_job_reads_the_topic_with_the_login_of_the_cluster_that_has_it(topics, tmp_path):
    file = job_sources.write_sources(log_sources.for_job(topics), tmp_path)

    found = read_sources(file)
    assert [(source.path, source.broker) for source in found.paths] == [("/logs", "one")]
    (source,) = found.topics
    assert (source.kafka, source.broker_by, source.zone) == ("h1:9092,h2:9092", "key", "UTC")
    escaped = PASSWORD.replace("\\", "\\\\").replace('"', '\\"')
    assert f'password="{escaped}";' in topic_of(source).options["sasl.jaas.config"]
    assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == {0o600}


def test_no_word_of_the_job_holds_the_login_and_its_files_are_gone_afterwards(topics, monkeypatch):
    given: list[str] = []

    def job(arguments, *_tell):
        given.extend(arguments)
        file = Path(arguments[arguments.index("--source") + 1])
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert "pass=word" in Path(json.loads(file.read_text())[1]["options"]).read_text()
        return 1, "It ran."

    with pytest.raises(InsightsError, match="It ran"):
        refresh.refresh(topics, job)

    assert not any("pass=word" in word for word in given)
    assert not Path(given[given.index("--source") + 1]).parent.exists()


def test_a_login_that_cannot_be_used_is_told_and_not_repeated(topics, other_cluster, tmp_path):
    other_cluster.options = {"sasl.mechanism": "PLAIN", "sasl.password": PASSWORD}
    other_cluster.save(update_fields=["options"])

    with pytest.raises(
        InsightsError, match=r"The topic logs was not read, because test-us .* missing"
    ) as told:
        job_sources.write_sources(log_sources.for_job(topics), tmp_path)

    assert "pass=word" not in str(told.value)


def test_spark_gets_its_connector_where_a_cluster_has_a_topic(topics, settings, tmp_path):
    settings.ACLWEB_KAFKA_CONNECTOR = f"{tmp_path}/"
    with pytest.raises(InsightsError, match=r"There is no jar in .*, which ACLWEB_KAFKA_CONNECTOR names"):
        job_sources.connector()
    jars = connector_in(tmp_path)

    assert job_sources.connector() == ["--conf", f"spark.jars={','.join(map(str, jars))}"]
    topics.log_sources.exclude(topic="").delete()
    assert job_sources.connector() == []


def test_a_connector_that_does_not_fit_starts_no_job(topics, settings, tmp_path):
    settings.ACLWEB_KAFKA_CONNECTOR = str(tmp_path)
    connector_in(tmp_path)[-1].unlink()

    with pytest.raises(
        InsightsError, match=r"there is no jar of spark-token-provider-kafka-0-10\. `manage.py doctor`"
    ):
        job_sources.connector()
