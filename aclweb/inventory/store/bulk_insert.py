"""Write very many rows of one table fast.

A first reading of a large cluster has 100,000 rows. Making a model instance and a piece
of SQL for each takes half a minute, during which SQLite lets nobody else write; handing
the database plain values takes about a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from django.db import connection, models

_ROWS_AT_ONCE = 10_000
_PREPARED = (models.TextField, models.DateField, models.JSONField)  # a time is a DateField, too


def insert(model: type[models.Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert one row for each sequence of values, in the order of `fields`.

    A value is what the field takes; for a relation, the other row's key.
    """
    insert_prepared(model, fields, prepared(model, fields, rows))


def insert_prepared(model: type[models.Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows that are `prepared` already, which needs no transaction, so that one is open for less long."""
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in _fields(model, fields))
    table = quote(model._meta.db_table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            places = ", ".join(["%s"] * len(fields))
            statement = f"INSERT INTO {table} ({columns}) VALUES ({places})"  # noqa: S608
            waiting = iter(rows)
            while some := list(islice(waiting, _ROWS_AT_ONCE)):
                cursor.executemany(statement, some)


def prepared(
    model: type[models.Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]
) -> Iterator[Sequence[Any]]:
    """Yield the rows as the database takes them; only our own texts, times, days and JSON need work."""
    prepare = [
        (place, _preparing(field))
        for place, field in enumerate(_fields(model, fields))
        if isinstance(field, _PREPARED)
    ]
    if not prepare:
        yield from rows
        return
    waiting = iter(rows)
    while some := list(islice(waiting, _ROWS_AT_ONCE)):
        columns: list[Iterable[Any]] = list(zip(*some, strict=True))
        for place, prep_value in prepare:
            columns[place] = map(prep_value, columns[place])
        yield from zip(*columns, strict=True)


def _fields(model: type[models.Model], names: Sequence[str]) -> list[models.Field[Any, Any]]:
    found = [model._meta.get_field(name) for name in names]
    return [field for field in found if isinstance(field, models.Field)]


def _preparing(field: models.Field[Any, Any]) -> Callable[[Any], Any]:
    if isinstance(field, models.TextField):
        return field.get_prep_value  # what the other does too, after three more calls
    return partial(field.get_db_prep_save, connection=connection)
