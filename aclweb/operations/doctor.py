"""Checks of an installation: one a line, each with the command that repairs it.

A check asks one thing and changes nothing. `True` is yes, `False` is no, and None says that it
does not matter here or is unknown.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections

from aclweb.audit import heads, trail, triggers
from aclweb.celery import app
from aclweb.inventory.models import Cluster, LogSource
from aclweb.inventory.work import pulses
from aclweb.pipeline import connector
from aclweb.runtime import storage
from aclweb.runtime.java import JavaError, find_java

QUEUE_SECONDS = 5.0
# A sync of a large cluster writes some hundred megabytes before old rows can go.
LEAST_FREE_BYTES = 500 * 1024 * 1024


@dataclass(frozen=True)
class Check:
    """What was asked, the answer, a sentence about it, and the command or step that mends a no."""

    name: str
    ok: bool | None
    sentence: str
    mend: str = ""


def examine() -> Iterator[Check]:
    """Yield every check, one after the other; what cannot be asked because another failed says so."""
    yield from (_directory(), _private(), _keys())
    database = _safely("database", _database)
    yield database
    needing: tuple[tuple[str, Callable[[], Check]], ...] = (
        ("logins of clusters", _logins),
        ("audit trail", _trail),
        ("audit triggers", _triggers),
        ("audit head", _head),
        ("workers", _workers),
        ("beat", _beat),
    )
    for name, check in needing:
        yield (
            _safely(name, check) if database.ok else Check(name, None, "Not asked: the database is not well.")
        )
    yield from (_safely("queue", _queue), _space(), _java(), _spark(), _safely("topics", _topics), _proxy())


def _safely(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except Exception as error:  # whatever is wrong, the other checks go on
        sentence = storage.sentence_of(error) or f"It could not be asked: {type(error).__name__}: {error}"
        return Check(name, False, sentence, "look at the site's log")


def _directory() -> Check:
    directory = Path(settings.ACLWEB_DATA_DIR)
    if not directory.is_dir():
        return Check("data directory", False, f"There is no {directory}.", "./run, or set ACLWEB_DATA_DIR")
    if not os.access(directory, os.W_OK | os.X_OK):
        return Check(
            "data directory",
            False,
            f"This user may not write in {directory}.",
            f"run aclweb as its owner, or: chown -R $(id -un) {directory}",
        )
    return Check("data directory", True, f"It is {directory}.")


def _private() -> Check:
    directory = Path(settings.ACLWEB_DATA_DIR)
    open_ones = [
        path
        for path in (directory, *directory.rglob("*"))
        if not path.is_symlink() and path.exists() and stat.S_IMODE(path.lstat().st_mode) & 0o077
    ]
    if open_ones:
        return Check(
            "permissions",
            False,
            f"Others may use {len(open_ones):,} files or directories there, such as {open_ones[0]}.",
            f"chmod -R go= {directory}",
        )
    return Check("permissions", True, "Only its owner can read it.")


def _keys() -> Check:
    where = (
        "the environment"
        if "ACLWEB_ENCRYPTION_KEYS" in settings.SECRETS_GIVEN
        else str(settings.ACLWEB_DATA_DIR)
    )
    count = len(settings.ACLWEB_ENCRYPTION_KEYS)
    return Check(
        "keys", True, f"{count} encryption key{'' if count == 1 else 's'} and a secret key, from {where}."
    )


def _database() -> Check:
    if problem := storage.database_problem():
        mend = (
            "python manage.py migrate" if problem.startswith(storage.OLDER) else "do what the sentence says"
        )
        return Check("database", False, problem, mend)
    kind = connections[DEFAULT_DB_ALIAS].display_name
    return Check(
        "database", True, f"{kind} takes writes, and its tables are those of {settings.ACLWEB_VERSION}."
    )


def _logins() -> Check:
    lost = []
    for pk, slug in list(Cluster.objects.values_list("pk", "slug")):
        try:
            Cluster.objects.values_list("options", flat=True).get(pk=pk)
        except ImproperlyConfigured:
            lost.append(slug)
    if lost:
        return Check(
            "logins of clusters",
            False,
            f"Those of {', '.join(lost)} cannot be read with the keys given.",
            "add the key they were saved with to ACLWEB_ENCRYPTION_KEYS, or register these clusters again",
        )
    return Check("logins of clusters", True, "Each can be read with the keys given.")


def _trail() -> Check:
    verdict = trail.verify()
    if not verdict.ok and verdict.first_bad is not None:
        return Check("audit trail", False, verdict.sentence, "restore a backup, and find out who wrote there")
    return Check("audit trail", True, f"The chain is whole: {verdict.checked:,} events.")


def _triggers() -> Check:
    if missing := triggers.missing(connections[DEFAULT_DB_ALIAS]):
        return Check(
            "audit triggers",
            False,
            f"The database no longer refuses to change events: {', '.join(missing)} is missing.",
            "python manage.py audit protect",
        )
    return Check("audit triggers", True, "The database refuses to change or remove events.")


def _head() -> Check:
    if heads.path() is None:
        return Check("audit head", None, "No head is kept: ACLWEB_AUDIT_HEADS is empty.")
    if problem := heads.problem():
        return Check("audit head", False, problem, "python manage.py audit verify")
    return Check("audit head", True, f"The database holds the event whose hash is kept in {heads.path()}.")


def _workers() -> Check:
    life = pulses.life()
    state = life.worker
    if state == "ok" and life.is_silent(pulses.SEARCHES):
        # A search may take an hour, so this is no reason to call the installation unwell.
        sentence = (
            "The workers for changes and syncs run. "
            f"The worker for searches is {life.words(pulses.SEARCHES)}: it is busy, or hangs."
        )
        return Check("workers", True, sentence)
    if state == "ok":
        return Check("workers", True, "Each queue has finished a heartbeat lately.")
    return Check("workers", False, f"Workers are {state}.", "./run, or python manage.py work")


def _beat() -> Check:
    life = pulses.life()
    if not life.is_silent(pulses.BEAT):
        return Check("beat", True, "It has looked at its schedule lately.")
    return Check("beat", False, f"The beat is {life.words(pulses.BEAT)}.", "./run, or python manage.py work")


def _queue() -> Check:
    kind = str(settings.CELERY_BROKER_URL).partition(":")[0]
    with app.connection_for_write() as connection:
        connection.ensure_connection(max_retries=1, timeout=QUEUE_SECONDS)
    return Check("queue", True, f"Tasks can be handed to {kind}.")


def _space() -> Check:
    directory = Path(settings.ACLWEB_DATA_DIR)
    if not directory.is_dir():
        return Check("disk space", None, "Not asked: there is no data directory.")
    free = shutil.disk_usage(directory).free
    needed = LEAST_FREE_BYTES
    database = connections[DEFAULT_DB_ALIAS]
    if database.vendor == "sqlite" and (file := Path(str(database.settings_dict["NAME"]))).exists():
        needed = max(needed, file.stat().st_size)
    free_space = f"{free / 1024**2:,.0f} MB are free on the disk of {directory}."
    if free < needed:
        return Check(
            "disk space",
            False,
            f"Only {free_space} At least {needed / 1024**2:,.0f} MB should be.",
            "free space",
        )
    return Check("disk space", True, free_space)


def _java() -> Check:
    try:
        return Check("Java", True, f"{find_java(settings.JAVA_HOME)}.")
    except JavaError as error:
        return Check("Java", None, f"{error} Only log jobs and the demo's servers need it.")


def _spark() -> Check:
    if not settings.ACLWEB_SPARK_MASTER:
        return Check("Spark", None, "Log jobs are switched off: ACLWEB_SPARK_MASTER is empty.")
    if not _is_installed("pyspark"):
        return Check(
            "Spark",
            False,
            f"ACLWEB_SPARK_MASTER is {settings.ACLWEB_SPARK_MASTER}, and pyspark is not installed.",
            "pip install --require-hashes -r requirements.txt, or set ACLWEB_SPARK_MASTER to nothing",
        )
    return Check("Spark", True, f"Log jobs run on {settings.ACLWEB_SPARK_MASTER}.")


def _topics() -> Check:
    """Return whether log jobs can read logs that are in Kafka topics."""
    name, spark = "topics", connector.installed_spark()
    if spark is None or not settings.ACLWEB_SPARK_MASTER:
        return Check(name, None, "Not asked: no log job runs here.")
    found = connector.find(settings.ACLWEB_KAFKA_CONNECTOR, spark)
    if found and not found.problem:
        fits = "This pair is tested." if found.is_tested else "By their versions they fit."
        return Check(
            name,
            True,
            f"Spark {spark.version} has its connector for Kafka, version {found.version}, from {found.where}. {fits}",
        )
    problem = found.problem if found else "Spark has no connector for Kafka."
    if not _has_topics():
        return Check(name, None, f"{problem} Only a log in a topic needs it: {_connector_mend()}")
    return Check(name, False, f"{problem} So no log that is in a topic is read.", _connector_mend())


def _has_topics() -> bool:
    try:
        return LogSource.objects.exclude(topic="").exists()
    except DatabaseError:  # which another check reports
        return False


def _connector_mend() -> str:
    if _is_installed("devstack"):
        return (
            "python -m devstack.jars connector, then start aclweb again; where ACLWEB_KAFKA_CONNECTOR is set, or "
            "another user runs aclweb, set it to the folder that this prints"
        )
    jars = ", ".join(connector.CONNECTOR)
    if folder := settings.ACLWEB_KAFKA_CONNECTOR:
        return f"put the jars {jars} into {folder}"
    return f"put the jars {jars} into a folder, and set ACLWEB_KAFKA_CONNECTOR to it"


def _is_installed(module: str) -> bool:
    return find_spec(module) is not None


def _proxy() -> Check:
    if settings.ACLWEB_BEHIND_PROXY and not settings.ACLWEB_TRUSTED_PROXIES:
        return Check(
            "proxy",
            False,
            "The site is behind a proxy and sees only its address, so sign-in limits count all people together.",
            "set ACLWEB_TRUSTED_PROXIES to the number of proxies that append to X-Forwarded-For",
        )
    if settings.ACLWEB_TRUSTED_PROXIES:
        return Check(
            "proxy", True, f"{settings.ACLWEB_TRUSTED_PROXIES} in front are trusted to name who called."
        )
    return Check("proxy", None, "None is trusted: the address of the connection counts.")
