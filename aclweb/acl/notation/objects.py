"""How is one ACL, filter or request written as an object of keys and values?

The keys and words are those of the file formats and the API. Reading checks form only:
that exactly the right keys are there, that enums are words Kafka knows (upper snake or
PascalCase in any case), and that other values are texts.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Collection, Mapping
from json.encoder import encode_basestring_ascii as _quoted
from typing import TypeVar

from aclweb.acl.matching import AclFilter
from aclweb.acl.model import (
    AccessRequest,
    AclBinding,
    KeyProblem,
    NotationError,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    shown,
)

ACL_KEYS = (
    "resource_type",
    "resource_name",
    "pattern_type",
    "principal",
    "host",
    "operation",
    "permission_type",
)
REQUEST_KEYS = ("principal", "host", "operation", "resource_type")

Word = TypeVar("Word", ResourceType, PatternType, Operation, PermissionType)


def canonical(binding: AclBinding) -> str:
    """Return the one JSON text of this ACL: sorted keys, ASCII, no spaces."""
    # As `json` writes `as_dict`, and faster: a list of 100,000 ACLs asks for each. `_name_` because `name` is a
    # Python-level descriptor.
    return (
        f'{{"host":{_quoted(binding.host)},"operation":"{binding.operation._name_}",'
        f'"pattern_type":"{binding.pattern_type._name_}","permission_type":"{binding.permission_type._name_}",'
        f'"principal":{_quoted(binding.principal)},"resource_name":{_quoted(binding.resource_name)},'
        f'"resource_type":"{binding.resource_type._name_}"}}'
    )


def binding_key(binding: AclBinding) -> str:
    """Return the SHA-256 of the canonical JSON in hex: the ACL's name in files, tables and URLs."""
    return hashlib.sha256(canonical(binding).encode("ascii")).hexdigest()


def is_binding_key(text: str) -> bool:
    """Whether a text may be the key of some ACL; of others no database need be asked."""
    return len(text) == 64 and set(text) <= _HEXADECIMAL


_HEXADECIMAL = frozenset("0123456789abcdef")


def binding_from_dict(given: Mapping[str, object]) -> AclBinding:
    """Return the ACL of an object with exactly the seven keys; raise NotationError otherwise."""
    _check_keys(given, _ACL_KEY_SET, "an ACL")
    return AclBinding(
        _word(_ACL_RESOURCE_TYPES, given, "resource_type"),
        text_of(given, "resource_name"),
        _word(_ACL_PATTERN_TYPES, given, "pattern_type"),
        sys.intern(text_of(given, "principal")),
        sys.intern(text_of(given, "host")),
        _word(_ACL_OPERATIONS, given, "operation"),
        _word(_ACL_PERMISSION_TYPES, given, "permission_type"),
    )


def filter_from_dict(given: Mapping[str, object]) -> AclFilter:
    """Return the filter of an object: an ACL's keys, null for any text, ANY and MATCH as words."""
    _check_keys(given, _ACL_KEY_SET, "a filter")
    return AclFilter(
        _word(_RESOURCE_TYPES, given, "resource_type"),
        text_or_null(given, "resource_name"),
        _word(_PATTERN_TYPES, given, "pattern_type"),
        text_or_null(given, "principal"),
        text_or_null(given, "host"),
        _word(_OPERATIONS, given, "operation"),
        _word(_PERMISSION_TYPES, given, "permission_type"),
    )


def request_from_dict(given: Mapping[str, object]) -> AccessRequest:
    """Return the request of an object; without `resource_name` it asks about the whole type."""
    if given.keys() != _NAMED_REQUEST_KEY_SET:
        _check_keys(given, _REQUEST_KEY_SET, "a request", optional=("resource_name",))
    if given.get("resource_name", "") is None:
        raise KeyProblem(
            "resource_name",
            "resource_name is null; name a resource, or leave the key out to ask about the whole type.",
        )
    return AccessRequest(
        sys.intern(text_of(given, "principal")),
        sys.intern(text_of(given, "host")),
        _word(_ASKED_OPERATIONS, given, "operation"),
        _word(_ASKED_RESOURCE_TYPES, given, "resource_type"),
        text_of(given, "resource_name") if "resource_name" in given else None,
    )


def parse_object(text: str) -> dict[str, object]:
    """Return the JSON object that `text` is; raise NotationError for anything else."""
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotationError(
            f"{shown(text)} is not JSON ({error.msg} at character {error.pos + 1}); write one JSON object."
        ) from error
    except NotationError:
        raise
    except (ValueError, RecursionError) as error:
        raise NotationError(
            f"{shown(text)} is not JSON that can be read; write one flat JSON object."
        ) from error
    if not isinstance(value, dict):
        raise NotationError(f"{shown(text)} is JSON but no object; write one object in braces.")
    return value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _value in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise NotationError(f"The key {shown(twice)} is given twice in one object; keep one.")
    return value


def _no_constant(word: str) -> object:
    raise NotationError(f"{word} is no value in JSON; write a text, a number, true, false or null.")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise NotationError(f"{shown(text)} is too large a number; write a smaller one, or a text.")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite)


def _words_of(enum: type[Word], *, without: Collection[str] = ()) -> dict[object, Word]:
    """Return the accepted words of an enum, upper snake and PascalCase in upper case."""
    members = [member for member in enum if member.name not in without]
    return {word: member for member in members for word in (member.name, member.name.replace("_", ""))}


_FOR_FILTERS_ONLY = ("ANY", "MATCH")
_NOT_ASKED = ("ANY", "UNKNOWN")
_RESOURCE_TYPES = _words_of(ResourceType)
_PATTERN_TYPES = _words_of(PatternType)
_OPERATIONS = _words_of(Operation)
_PERMISSION_TYPES = _words_of(PermissionType)
_ACL_RESOURCE_TYPES = _words_of(ResourceType, without=_FOR_FILTERS_ONLY)
_ACL_PATTERN_TYPES = _words_of(PatternType, without=_FOR_FILTERS_ONLY)
_ACL_OPERATIONS = _words_of(Operation, without=_FOR_FILTERS_ONLY)
_ACL_PERMISSION_TYPES = _words_of(PermissionType, without=_FOR_FILTERS_ONLY)
_ASKED_RESOURCE_TYPES = _words_of(ResourceType, without=_NOT_ASKED)
_ASKED_OPERATIONS = _words_of(Operation, without=_NOT_ASKED)

_ACL_KEY_SET = frozenset(ACL_KEYS)
_REQUEST_KEY_SET = frozenset(REQUEST_KEYS)
_NAMED_REQUEST_KEY_SET = _REQUEST_KEY_SET | {"resource_name"}


def _word(words: dict[object, Word], given: Mapping[str, object], key: str) -> Word:
    value = given[key]
    # Most files hold the words as they are written here; isascii keeps 'ı' from counting as 'I'.
    if isinstance(value, str):
        member = words.get(value) or (words.get(value.upper()) if value.isascii() else None)
        if member is not None:
            return member
    names = ", ".join(dict.fromkeys(member.name for member in words.values()))
    raise KeyProblem(key, f"{key} is {shown(value)}, which is not allowed here; use one of {names}.")


def text_of(given: Mapping[str, object], key: str) -> str:
    value = given[key]
    if type(value) is str:
        return value
    if isinstance(value, str):
        return str.__str__(value)  # a plain copy of a template's safe string, which cannot be interned
    raise KeyProblem(key, f"{key} is {shown(value)}, which is no text; write it in quotes.")


def text_or_null(given: Mapping[str, object], key: str) -> str | None:
    return None if given[key] is None else text_of(given, key)


def _check_keys(
    given: Mapping[str, object], keys: frozenset[str], what: str, *, optional: Collection[str] = ()
) -> None:
    if given.keys() == keys:
        return
    missing = sorted(keys - given.keys())
    unknown = sorted(given.keys() - keys - set(optional))
    if missing:
        raise NotationError(
            f"{', '.join(map(shown, missing))} {'is' if len(missing) == 1 else 'are'} missing; "
            f"{what} has the keys {', '.join(sorted(keys))}{_besides(optional)}."
        )
    if unknown:
        raise KeyProblem(
            unknown[0],
            f"{', '.join(map(shown, unknown))} {'is no key' if len(unknown) == 1 else 'are no keys'} of {what}; "
            f"it has the keys {', '.join(sorted(keys))}{_besides(optional)}.",
        )


def _besides(optional: Collection[str]) -> str:
    return f" and perhaps {', '.join(optional)}" if optional else ""
