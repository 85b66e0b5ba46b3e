"""Which names are promised? Addresses, settings, tasks, tables, fields, migrations, audit verbs."""

from __future__ import annotations

import re
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.urls import URLPattern, URLResolver, get_resolver

from tools.facts import doors
from tools.facts.book import Group

APPS = ("accounts", "audit", "changes", "inventory", "insights", "web")
# Where a class or function stands in our code is nobody's business.
_INNER = re.compile(r"\b(?:aclweb|devstack|tests)\.[A-Za-z_.:]+|<(?:function|class|bound method)[^>]*>")


def record(group: Group) -> None:
    group.note("addresses", "\n".join(sorted(_addresses(get_resolver().url_patterns))))
    for name in sorted(dir(settings)):
        if name.isupper() and name not in ("INSTALLED_APPS", "MIDDLEWARE", "STORAGES", "CACHES", "LOGGING"):
            group.note(f"setting {name}", _INNER.sub("<ours>", repr(getattr(settings, name))))
    group.note("app labels", "\n".join(sorted(app.label for app in apps.get_app_configs())))
    _note_tasks(group)
    loader = MigrationLoader(None)
    found = sorted(f"{app} {name}" for app, name in loader.disk_migrations if app in APPS)
    group.note("migrations", "\n".join(found))
    for model in sorted(apps.get_models(), key=lambda model: model._meta.label):
        if model._meta.app_label in APPS:
            group.note(f"model {model._meta.label}", "\n".join(_fields(model)))
    with connection.cursor() as cursor:
        cursor.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name")
        for kind, name, sql in cursor.fetchall():
            group.note(f"database: {kind} {name}", sql)


def record_events(group: Group) -> None:
    """Note every event of the audit trail, with the sentence by which its verb is told."""
    for event in apps.get_model("audit", "Event").objects.order_by("sequence"):
        # One event that differs would make all later hashes differ; `audit head` shows the last one.
        fields = [field.attname for field in event._meta.concrete_fields if "hash" not in field.attname]
        facts = {name: getattr(event, name) for name in fields}
        group.note_json(f"event {event.sequence}", facts)


def _addresses(patterns: list[Any], space: str = "", start: str = "") -> list[str]:
    found = []
    for pattern in patterns:
        where = start + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            inner = f"{pattern.namespace}:" if pattern.namespace else space
            found += _addresses(pattern.url_patterns, inner, where)
        elif isinstance(pattern, URLPattern):
            found.append(f"{space}{pattern.name}  /{where}")
    return found


def _note_tasks(group: Group) -> None:
    app = doors.celery()
    app.loader.import_default_modules()
    names = sorted(name for name in app.tasks if not name.startswith("celery."))
    group.note("tasks", "\n".join(names))
    for name in names:
        task = app.tasks[name]
        options = (
            "acks_late",
            "ignore_result",
            "soft_time_limit",
            "time_limit",
            "max_retries",
            "autoretry_for",
        )
        shown = {option: getattr(task, option, None) for option in options}
        route = app.amqp.router.route({}, name)["queue"].name
        group.note(f"task {name}", f"{_INNER.sub('<ours>', repr(shown))}\nqueue {route}")


def _fields(model: Any) -> list[str]:
    found = [f"table {model._meta.db_table}"]
    for field in model._meta.get_fields():
        if field.concrete:
            default = (
                "" if not field.has_default() else f" default {_INNER.sub('<ours>', repr(field.default))}"
            )
            found.append(
                f"{field.name} {field.get_internal_type()} column {getattr(field, 'column', None)} null {field.null} "
                f"unique {getattr(field, 'unique', None)} max {getattr(field, 'max_length', None)} "
                f"choices {field.choices and list(field.choices)!r}{default}"
            )
        else:
            found.append(
                f"{field.name} ({field.get_accessor_name()}, from {field.related_model._meta.label})"
            )
    found.append(f"ordering {model._meta.ordering!r}")
    return found + [f"constraint {one!r}" for one in model._meta.constraints]
