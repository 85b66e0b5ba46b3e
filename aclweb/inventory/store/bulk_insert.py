"""Write very many rows of one table fast.

A first reading of a large cluster has 100,000 rows. Making a model instance and a piece
of SQL for each takes half a minute, during which SQLite lets nobody else write; handing
the database plain values takes about a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
    quote = connection.ops.quote_name
    found = [model._meta.get_field(name) for name in fields]
    columns = ", ".join(quote(str(field.column)) for field in found if isinstance(field, models.Field))
    prepared = _prepared([field for field in found if isinstance(field, models.Field)], rows)
    table = quote(model._meta.db_table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
                for row in prepared:
                    copy.write_row(row)
        else:
            places = ", ".join(["%s"] * len(found))
            statement = f"INSERT INTO {table} ({columns}) VALUES ({places})"  # noqa: S608
            while some := list(islice(prepared, _ROWS_AT_ONCE)):
                cursor.executemany(statement, some)


def _prepared(
    fields: Sequence[models.Field[Any, Any]], rows: Iterable[Sequence[Any]]
) -> Iterator[Sequence[Any]]:
    """Yield the rows as the database takes them; only our own texts, times, days and JSON need work."""
    prepare = [
        (place, partial(field.get_db_prep_save, connection=connection))
        for place, field in enumerate(fields)
        if isinstance(field, _PREPARED)
    ]
    if not prepare:
        yield from rows
        return
    for row in rows:
        values = list(row)
        for place, prep_value in prepare:
            values[place] = prep_value(values[place])
        yield values
