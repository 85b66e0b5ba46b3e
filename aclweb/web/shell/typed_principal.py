"""Which principal does a person mean who typed this into a field?

Kafka compares principals letter by letter, so what was typed is kept as it is. Two things
are known better than they were typed: a bare name has no type and gets `User:`, which is
said; and several principals are several ACLs or questions, never one long name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from aclweb.acl.model import shown, split_principal

# Where a second principal begins; certificate names hold commas too, but no ",User:".
_NEXT = re.compile(r"\s*[,;]\s*(?=User:)", re.IGNORECASE)
_LIST = re.compile(r"\s*[,;]\s*")
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
    names = _names_in(text)
    if len(names) > 1:
        some = ", ".join(map(shown, names[:3]))
        rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return TypedPrincipal(
            "",
            fault=f"This names {len(names)} principals ({some}{rest}), and only one fits here; give one at a time.",
        )
    if not text or split_principal(text) is not None:
        return TypedPrincipal(text)
    principal = f"User:{text}"
    return TypedPrincipal(principal, note=f"{shown(text)} has no type, so it is read as {shown(principal)}.")


@dataclass(frozen=True)
class TypedPrincipals:
    """One principal or several, as typed into a field: each once, in their order. notes, fault: as of one."""

    principals: tuple[str, ...]
    notes: tuple[str, ...] = ()
    fault: str = ""


def read_principals(text: str, most: int) -> TypedPrincipals:
    """Return the principals that a person means by `text`, separated by a comma, a semicolon or a line end."""
    names = [name for line in text.splitlines() for name in _names_in(line)]
    if len(names) < 2 or holds_pem(text):
        one = read_principal(text)
        return TypedPrincipals(
            (one.principal,) if one.principal else (), (one.note,) if one.note else (), one.fault
        )
    if len(names) > most:
        return TypedPrincipals(
            (), fault=f"This names {len(names):,} principals, and at most {most:,} are taken at once."
        )
    typed = [read_principal(name.strip()) for name in names]
    notes = tuple(dict.fromkeys(each.note for each in typed if each.note))
    return TypedPrincipals(tuple(dict.fromkeys(each.principal for each in typed)), notes)


def _names_in(text: str) -> list[str]:
    """Return the principals that a text names, as they are typed; a bare name that is one of several has its type."""
    names = [name for name in _NEXT.split(text) if name.strip()]
    if len(names) == 1 and "=" not in text and split_principal(text) is None:
        return [f"User:{name}" for name in _LIST.split(text) if name.strip()]
    return names


def holds_pem(text: str) -> bool:
    """Whether this is a certificate or a key, which no page repeats or keeps."""
    return _PEM.search(text) is not None or _DER.search(text) is not None


def pem_fault(wanted: str) -> str:
    """Return the sentence for a certificate or key in a field; it repeats nothing of it."""
    return (
        f"This is a certificate or a key in PEM, so it was not read and is not shown again. Write {wanted}."
    )
