"""Where the logs of a cluster are: what is kept of it, who said so, and what is refused."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from aclweb.audit import trail
from aclweb.audit.models import Event
from aclweb.inventory.admin import log_sources
from aclweb.inventory.admin.log_sources import (
    _LONGEST,
    FIELDS,
    LogSourceError,
    add,
    change,
    for_job,
    remove,
    set_paths,
)
from aclweb.inventory.models import LogSource

pytestmark = pytest.mark.django_db

PATH = "/var/log/kafka/authorizer.log*"


def test_a_log_source_is_kept_with_what_is_known_of_it_and_a_job_gets_it(cluster, ada):
    add(
        actor=ada,
        cluster=cluster,
        path=f" {PATH} ",
        broker="broker-1",
        time_zone="Europe/Berlin",
        layout="cri+kafka",
    )
    add(actor=ada, cluster=cluster, path="/logs", pattern="[%d] %p %m (%c) %n", level="DEBUG")

    assert for_job(cluster) == [
        {"path": PATH, "broker": "broker-1", "time_zone": "Europe/Berlin", "layout": "cri+kafka"},
        {"path": "/logs", "pattern": "[%d] %p %m (%c) %n", "level": "DEBUG"},
    ]


def test_who_added_changed_and_removed_a_log_source_is_recorded(cluster, ada):
    source = add(actor=ada, cluster=cluster, path=PATH, level="INFO")
    assert change(actor=ada, source=source, level="DEBUG", broker="one")
    assert not change(actor=ada, source=source, level="DEBUG")
    remove(actor=ada, source=source)

    told = [trail.sentence(event) for event in Event.objects.order_by("pk")][-3:]
    assert told == [
        f"ada added the log source {PATH} of {cluster}: path is {PATH}, level is INFO.",
        f"ada changed the log source {PATH} of {cluster}: broker is one, level is DEBUG.",
        f"ada removed the log source {PATH} of {cluster}.",
    ]


@pytest.mark.parametrize(
    ("given", "field", "told"),
    [
        ({"path": " "}, "path", "Name a file, a folder or a pattern"),
        ({"path": "s3a://b/logs"}, "path", "is not on the worker's machine"),
        ({"path": "/a\nb"}, "path", "This holds a line break"),
        ({"path": "/" + "a" * 1000}, "path", "This has 1,001 characters; up to 1,000 fit."),
        (
            {"time_zone": "Mars/North"},
            "time_zone",
            "'Mars/North' is no time zone; write it as Europe/Berlin or UTC.",
        ),
        ({"time_zone": "../etc"}, "time_zone", "'../etc' is no time zone"),
        ({"layout": "log5j"}, "layout", "'log5j' is no layout; use kafka, strimzi"),
        ({"pattern": "%q"}, "pattern", "The pattern '%q' has %q, which cannot be read back."),
        ({"pattern": "[%d] %m%n", "layout": "kafka"}, "pattern", "give a layout or a pattern."),
        ({"level": "TRACE"}, "level", "'TRACE' is no level; use DEBUG or INFO"),
    ],
)
def test_what_cannot_be_a_log_source_is_refused_beside_its_field(cluster, ada, given, field, told):
    with pytest.raises(LogSourceError) as error:
        add(actor=ada, cluster=cluster, **({"path": PATH} | given))

    assert list(error.value.faults) == [field]
    assert told in error.value.faults[field]
    assert not LogSource.objects.exists()


def test_a_path_is_a_source_of_a_cluster_once(cluster, other_cluster, ada):
    add(actor=ada, cluster=cluster, path=PATH)
    add(actor=ada, cluster=other_cluster, path=PATH)

    with pytest.raises(LogSourceError, match=r"is a log source of .* already; change that one"):
        add(actor=ada, cluster=cluster, path=PATH)


def test_paths_given_on_the_command_line_keep_what_is_known_of_those_that_stay(cluster, ada):
    add(actor=ada, cluster=cluster, path="/a", broker="one")
    add(actor=ada, cluster=cluster, path="/b")

    call_command("cluster", "set", cluster.slug, "--logs", "/a", "--logs", "/c")

    assert for_job(cluster) == [{"path": "/a", "broker": "one"}, {"path": "/c"}]
    assert not set_paths(actor=ada, cluster=cluster, paths=["/c", "/a", ""])
    with pytest.raises(CommandError, match="is not on the worker's machine"):
        call_command("cluster", "set", cluster.slug, "--logs", "s3a://x/y")
    assert log_sources.for_job(cluster) == [{"path": "/a", "broker": "one"}, {"path": "/c"}]


def test_a_value_is_as_long_as_its_column():
    assert {name: LogSource._meta.get_field(name).max_length for name in FIELDS} == _LONGEST
