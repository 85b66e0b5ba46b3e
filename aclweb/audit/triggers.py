"""Make the database itself refuse to change or remove what happened.

`install` puts the triggers on the table of events and `remove` takes them off; both
can be repeated. A migration installs them. Whoever rebuilds the table (SQLite drops a
table's triggers with it) installs them again afterwards.
"""

from __future__ import annotations

from django.db.backends.base.base import BaseDatabaseWrapper

TABLE = "audit_event"

_SQLITE = {
    f"{TABLE}_refuse_update": f"""
        CREATE TRIGGER {TABLE}_refuse_update BEFORE UPDATE ON {TABLE}
        BEGIN SELECT RAISE(ABORT, 'An audit event has happened and cannot be changed.'); END
    """,
    f"{TABLE}_refuse_delete": f"""
        CREATE TRIGGER {TABLE}_refuse_delete BEFORE DELETE ON {TABLE}
        BEGIN SELECT RAISE(ABORT, 'An audit event has happened and cannot be removed.'); END
    """,
}
_POSTGRESQL_FUNCTION = f"""
    CREATE OR REPLACE FUNCTION {TABLE}_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'An audit event has happened and cannot be changed or removed.';
    END $$
"""
_POSTGRESQL = {
    f"{TABLE}_refuse_edit": f"""
        CREATE TRIGGER {TABLE}_refuse_edit BEFORE UPDATE OR DELETE ON {TABLE}
        FOR EACH ROW EXECUTE FUNCTION {TABLE}_refuse()
    """,
    f"{TABLE}_refuse_truncate": f"""
        CREATE TRIGGER {TABLE}_refuse_truncate BEFORE TRUNCATE ON {TABLE}
        FOR EACH STATEMENT EXECUTE FUNCTION {TABLE}_refuse()
    """,
}


def install(connection: BaseDatabaseWrapper) -> None:
    """Refuse UPDATE, DELETE and TRUNCATE on the table of events from now on."""
    remove(connection)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_POSTGRESQL_FUNCTION)
        for statement in _triggers(connection).values():
            cursor.execute(statement)


def remove(connection: BaseDatabaseWrapper) -> None:
    """Allow UPDATE, DELETE and TRUNCATE again: for undoing the migration, and for tests that clean up."""
    on_table = f" ON {TABLE}" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        for name in _triggers(connection):
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{on_table}")


def names(connection: BaseDatabaseWrapper) -> tuple[str, ...]:
    """Return the names of the triggers that belong on the table."""
    return tuple(_triggers(connection))


def missing(connection: BaseDatabaseWrapper) -> tuple[str, ...]:
    """Return the names of the triggers that are not on the table, or switched off."""
    if connection.vendor == "postgresql":
        # O is on for all but replication; D is off.
        query = "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND tgenabled IN ('O', 'A')"
    else:
        query = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s"
    with connection.cursor() as cursor:
        cursor.execute(query, [TABLE])
        found = {row[0] for row in cursor.fetchall()}
    return tuple(name for name in names(connection) if name not in found)


def _triggers(connection: BaseDatabaseWrapper) -> dict[str, str]:
    if connection.vendor == "sqlite":
        return _SQLITE
    if connection.vendor == "postgresql":
        return _POSTGRESQL
    raise NotSupportedDatabase(
        f"The audit trail needs triggers, and aclweb has none for {connection.vendor}; use PostgreSQL or SQLite."
    )


class NotSupportedDatabase(Exception):
    """A database on which events could be changed; the message says which ones would do."""
