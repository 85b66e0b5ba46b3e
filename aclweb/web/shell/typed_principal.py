"""Which principal does a person mean who typed this into a field?

Kafka compares principals letter by letter, so what was typed is kept as it is. Two things
are known better than they were typed: a bare name has no type and gets `User:`, which is
said; and several principals are several ACLs or questions, never one long name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from aclweb.acl.model import shown, split_principal

# A comma or semicolon behind a backslash belongs to the name of a certificate.
_SEPARATOR = r"\s*(?<!\\)[,;]\s*"
# Where a second principal begins for certain; certificate names hold commas too, but no ",User:".
_NEXT = re.compile(rf"{_SEPARATOR}(?=[a-z][a-z0-9_.-]*:)", re.IGNORECASE)
_LIST = re.compile(_SEPARATOR)
_OUTER = re.compile(rf"^{_SEPARATOR}|{_SEPARATOR}$")
_PEM = re.compile(r"-----\s*(?:BEGIN|END) [A-Z0-9 ]+-----")
# How the base64 of certificates and keys begins (a DER sequence), where the lines around it were not copied.
_DER = re.compile(r"(?<![A-Za-z0-9+/._-])(?:MI[IGH][A-Za-z0-9+/]|MHcC|MC4C)[A-Za-z0-9+/]{40}")


@dataclass(frozen=True)
class TypedPrincipal:
    """A principal as typed into a field.

    principal: what is meant, empty where `fault` says why that is unknown. note: what
    was understood otherwise than it was typed, for beside the field.
    """

    principal: str
    note: str = ""
    fault: str = ""


def read_principal(text: str) -> TypedPrincipal:
    """Return the principal that a person means by `text`."""
    if holds_pem(text):
        return TypedPrincipal("", fault=pem_fault("a principal such as User:billing-svc"))
    if text != text.strip():
        return TypedPrincipal(
            "",
            fault=f"{shown(text)} begins or ends with a space, and Kafka compares letter by letter; remove it.",
        )
    names = _parts(text)
    if len(names) != 1 or split_principal(text) is None:
        names = _names_in(text)
    if len(names) > 1:
        some = ", ".join(map(shown, names[:3]))
        rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return TypedPrincipal(
            "",
            fault=f"This names {len(names)} principals ({some}{rest}), and only one fits here; give one at a time.",
        )
    return _one(text)


def _one(name: str) -> TypedPrincipal:
    if not name or split_principal(name) is not None:
        return TypedPrincipal(name)
    principal = f"User:{name}"
    return TypedPrincipal(principal, note=f"{shown(name)} has no type, so it is read as {shown(principal)}.")


@dataclass(frozen=True)
class TypedPrincipals:
    """One principal or several, as typed into a field: each once, in their order. notes, fault: as of one."""

    principals: tuple[str, ...]
    notes: tuple[str, ...] = ()
    fault: str = ""


def read_principals(text: str, most: int) -> TypedPrincipals:
    """Return the principals that a person means by `text`, separated by a comma, a semicolon or a line end.

    The name of a certificate holds commas too, and stays one principal.
    """
    names = (
        [] if holds_pem(text) else [name for line in text.splitlines() for name in _names_in(line.strip())]
    )
    if not names or names == [text.strip()]:
        one = read_principal(text)
        notes = (one.note, *_said_of_commas(names))
        return TypedPrincipals(
            (one.principal,) if one.principal else (), tuple(filter(None, notes)), one.fault
        )
    if len(names) > most:
        return TypedPrincipals(
            (), fault=f"This names {len(names):,} principals, and at most {most:,} are taken at once."
        )
    typed = [_one(name) for name in names]
    notes = (*_first_of([each.note for each in typed]), *_said_of_commas(names))
    return TypedPrincipals(tuple(dict.fromkeys(each.principal for each in typed)), notes)


def _parts(text: str) -> list[str]:
    """Return the texts between which one principal ends and another begins for certain, none of them empty."""
    parts = (_OUTER.sub("", part) for part in _NEXT.split(text))
    return [part for part in parts if part.strip()]


def _names_in(text: str) -> list[str]:
    """Return the principals that a text names, as they are typed. A comma separates, save in a certificate's name."""
    return [
        name
        for part in _parts(text)
        for name in ([part] if "=" in part else _LIST.split(part))
        if name.strip()
    ]


def _said_of_commas(names: Iterable[str]) -> tuple[str, ...]:
    """Return what to say of names that look like a certificate's, and have a part between commas that does not."""
    unclear = [name for name in names if "=" in name and any("=" not in each for each in _LIST.split(name))]
    return _first_of(
        [
            f"{shown(name)} is read as one principal, since a certificate's name holds commas; "
            "write the type, such as User:, before each if these are several."
            for name in unclear
        ]
    )


def _first_of(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the first of several notes alike, with the number of the others."""
    several = list(dict.fromkeys(filter(None, notes)))
    more = f" The same goes for {len(several) - 1:,} more." if len(several) > 1 else ""
    return tuple(f"{note}{more}" for note in several[:1])


def holds_pem(text: str) -> bool:
    """Whether this is a certificate or a key, which no page repeats or keeps."""
    return _PEM.search(text) is not None or _DER.search(text) is not None


def pem_fault(wanted: str) -> str:
    """Return the sentence for a certificate or key in a field; it repeats nothing of it."""
    return (
        f"This is a certificate or a key in PEM, so it was not read and is not shown again. Write {wanted}."
    )
