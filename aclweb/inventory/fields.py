"""Columns for what Kafka holds and a database cannot: any text, and secrets.

PostgreSQL's text has no NUL and neither database takes lone surrogates, yet ZooKeeper's
JSON can hold both; one hostile name must not break a whole reading. So those characters
are stored as reversible escapes. Secrets are encrypted with the keys of the environment.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import models

if TYPE_CHECKING:
    _KafkaText = models.TextField[str, str]
    _AnyJson = models.TextField[Any, Any]
    _AsStored = models.ExpressionWrapper[models.F]
else:
    _KafkaText = _AnyJson = models.TextField
    _AsStored = models.ExpressionWrapper

_UNSAFE = re.compile("[\x00\\\\\ud800-\udfff]")
_NO_KEY = (
    "A stored cluster login cannot be decrypted; "
    "ACLWEB_ENCRYPTION_KEYS must hold the key that it was saved with."
)
_ESCAPED = re.compile(r"\\(\\|u[0-9a-f]{4})")


def escape(text: str) -> str:
    r"""Return `text` without NUL and surrogates: `\u0000`, `\ud800`, and `\\` for a backslash."""
    if text.isascii() and "\\" not in text and "\0" not in text:  # nearly all of a million
        return text
    return _UNSAFE.sub(lambda found: "\\\\" if found[0] == "\\" else f"\\u{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """Return what `escape` was given."""
    if "\\" not in text:  # nearly all of the hundreds of thousands that one reading holds
        return text
    return _ESCAPED.sub(lambda found: "\\" if found[1] == "\\" else chr(int(found[1][1:], 16)), text)


def as_stored(column: str) -> _AsStored:
    """Return a column as the database holds it, for `values_list`: `unescape` reads a text, `time_stored` a time of it.

    Django's conversion of each value takes longer than reading it.
    """
    return models.ExpressionWrapper(models.F(column), output_field=models.TextField())


def time_stored(value: str | datetime) -> datetime:
    """Return the time that a database holds; SQLite holds it as text, in UTC."""
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def name_key(name: str) -> str:
    """Return the key under which a name is stored: names can be longer than any index allows."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def storable(sentence: str) -> str:
    """Return a sentence for people with what no database holds shown as escapes; not to be read back."""
    return _UNSAFE.sub(lambda found: found[0] if found[0] == "\\" else f"\\u{ord(found[0]):04x}", sentence)


def storable_json(value: object) -> object:
    """Return the JSON value with every text in it `storable`: no database holds NUL or lone surrogates in JSON.

    Numbers that JSON does not have become texts: `inf`, `-inf` and `nan`.
    """
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {storable(str(key)): storable_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(item) for item in value]
    return value


class KafkaTextField(_KafkaText):
    """Any text that Kafka or ZooKeeper can hold, letter by letter."""

    def from_db_value(self, value: str | None, *_: Any) -> str | None:
        return None if value is None else unescape(value)

    def get_prep_value(self, value: Any) -> Any:
        if type(value) is not str:
            value = super().get_prep_value(value)
        return escape(value) if isinstance(value, str) else value


class EncryptedJSONField(_AnyJson):
    """A JSON value encrypted at rest with ACLWEB_ENCRYPTION_KEYS: the first key writes, all of them read."""

    # What the type checker lets into the attribute and out of it.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, *_: Any) -> Any:
        if value is None:
            return None
        try:
            return json.loads(_cipher().decrypt(value.encode("ascii")))
        except InvalidToken as error:
            raise ImproperlyConfigured(_NO_KEY) from error

    def get_prep_value(self, value: Any) -> Any:
        return None if value is None else _cipher().encrypt(json.dumps(value).encode("utf-8")).decode("ascii")

    def value_to_string(self, _: models.Model) -> str:
        return "(secret)"


def under_first_key(stored: str) -> str | None:
    """Return a column's text encrypted with the first key; None where it is so already.

    Raises ImproperlyConfigured where none of the keys reads it.
    """
    value = stored.encode("ascii")
    try:
        Fernet(settings.ACLWEB_ENCRYPTION_KEYS[0]).decrypt(value)
    except InvalidToken:
        try:
            return _cipher().rotate(value).decode("ascii")
        except InvalidToken as error:
            raise ImproperlyConfigured(_NO_KEY) from error
    return None


def _cipher() -> MultiFernet:
    return _cipher_of(tuple(settings.ACLWEB_ENCRYPTION_KEYS))


@cache
def _cipher_of(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
