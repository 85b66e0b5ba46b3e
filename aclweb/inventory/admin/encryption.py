"""How do stored secrets come under a new key, so that the old one can be thrown away?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db.models import TextField, Value
from django.db.models.functions import Cast

from aclweb.acl.model import number_of
from aclweb.audit import trail
from aclweb.audit.trail import Named
from aclweb.inventory.fields import EncryptedJSONField, under_first_key

trail.register("keys.rotated", "{actor} encrypted {secrets} anew, with the first of the encryption keys.")


@dataclass(frozen=True)
class Rotated:
    """What became of the secrets, in numbers. lost: those that no key reads, in words."""

    rewritten: int
    current: int
    lost: tuple[str, ...]


@dataclass(frozen=True)
class _Secret:
    """One stored secret as it is encrypted, and the column and the row that hold it."""

    column: EncryptedJSONField
    pk: int
    stored: str

    @property
    def name(self) -> str:
        model = self.column.model
        row = model._base_manager.defer(self.column.name).get(pk=self.pk)
        return f"{model._meta.verbose_name} {row}"

    def replace(self, anew: str) -> bool:
        """Store it otherwise encrypted, unless it was saved meanwhile; return whether it was stored."""
        same = _encrypted(self.column).filter(pk=self.pk, encrypted=self.stored)
        return bool(same.update(**{self.column.name: Value(anew, output_field=TextField())}))


def rotate(*, actor: Named | str, dry_run: bool = False) -> Rotated:
    """Encrypt every stored secret with the first of ACLWEB_ENCRYPTION_KEYS, one row after another.

    One that is saved meanwhile is left as it was saved, which the first key did. dry_run: only count.
    """
    rewritten = current = 0
    lost = []
    for secret in _secrets():
        try:
            anew = under_first_key(secret.stored)
        except ImproperlyConfigured:
            lost.append(secret.name)
            continue
        if anew is not None and (dry_run or secret.replace(anew)):
            rewritten += 1
        else:
            current += 1
    if rewritten and not dry_run:
        told = number_of(rewritten, "stored secret")
        trail.record(actor=actor, verb="keys.rotated", target="encryption keys", secrets=told)
    return Rotated(rewritten, current, tuple(lost))


def _secrets() -> Iterator[_Secret]:
    for model in apps.get_models():
        for column in model._meta.get_fields():
            if isinstance(column, EncryptedJSONField):
                rows = _encrypted(column).exclude(encrypted=None).order_by("pk")
                for pk, stored in rows.values_list("pk", "encrypted"):
                    yield _Secret(column, pk, stored)


def _encrypted(column: EncryptedJSONField):  # type: ignore[no-untyped-def]  # of any model
    """Return the rows with `encrypted`, the text of a column as it is stored."""
    return column.model._base_manager.annotate(encrypted=Cast(column.name, TextField()))
