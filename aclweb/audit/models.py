"""One table: what happened, who did it, to what. Rows are added and never changed.

Actor and target are text, so an event outlives the account and the cluster that it
names, and this room imports no other. Each row holds the hash of the one before it
(`hash = SHA-256(previous_hash || canonical event)`), so an edit, a removal or a swap
breaks the chain; `trail.verify` finds where. Triggers refuse UPDATE and DELETE.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db import models

if TYPE_CHECKING:
    _AnyJson = models.TextField[Any, Any]
else:
    _AnyJson = models.TextField


class AuditError(Exception):
    """An attempt to change or remove what happened, or to record it in a wrong shape."""


class FactsField(_AnyJson):
    """A JSON object kept as the very text that was hashed: sorted keys, ASCII only.

    A text column holds what PostgreSQL's JSON types refuse (NUL and lone surrogates, as
    escapes), and never rewrites a number or reorders a key behind the chain's back.
    """

    # What the type checker lets into the attribute and out of it.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, *_: Any) -> Any:
        return None if value is None else json.loads(value)

    def get_prep_value(self, value: Any) -> Any:
        return None if value is None else facts_text(value)

    def value_to_string(self, obj: models.Model) -> str:
        return facts_text(self.value_from_object(obj))


def facts_text(facts: Any) -> str:
    """Return the one JSON text of these facts; raises AuditError for what JSON cannot hold."""
    try:
        return json.dumps(facts, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise AuditError(
            f"The facts of an event must be text, numbers, lists and the like, and these are not: {error}."
        ) from error


class Event(models.Model):
    sequence = models.PositiveBigIntegerField(unique=True)
    at = models.DateTimeField()
    actor = models.CharField(max_length=254)
    verb = models.CharField(max_length=60, db_index=True)
    target = models.CharField(max_length=254, db_index=True)
    facts = FactsField(default=dict)
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64, unique=True)

    class Meta:
        ordering = ["sequence"]

    def __str__(self) -> str:
        return f"{self.sequence} {self.at:%Y-%m-%d %H:%M:%S} {self.actor} {self.verb} {self.target}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AuditError(f"Event {self.sequence} has happened and cannot be changed; record a new event.")
        super().save(*args, **kwargs)

    def delete(self, *_: Any, **__: Any) -> tuple[int, dict[str, int]]:
        raise AuditError(f"Event {self.sequence} has happened and cannot be removed.")
