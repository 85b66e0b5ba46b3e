"""How does a command take the client settings of a cluster: from a file, and from PEM files one by one?"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from aclweb.clusters.connection import (
    OptionsFileError,
    pem,
    read_options,
    read_pem,
    secret_files,
    why_exposed,
)

_PEM_FILES = {"ca": pem.CA, "certificate": pem.CERTIFICATE, "key": pem.KEY}


def add_arguments(part: Any) -> None:
    """Add the options that `read` reads to a parser."""
    part.add_argument(
        "--options",
        metavar="FILE",
        help="all client settings, one name=value a line, PEM as ssl.ca.pem=@FILE; "
        "- is standard input, so that no password is in sight",
    )
    part.add_argument(
        "--ca", metavar="FILE", help="PEM file of the authorities to trust; none means this machine's own"
    )
    part.add_argument("--certificate", metavar="FILE", help="PEM file of this client's certificate")
    part.add_argument("--key", metavar="FILE", help="PEM file of the certificate's private key")
    part.add_argument("--key-password-file", metavar="FILE", help="holds the password of the key")


def are_given(options: Mapping[str, Any]) -> bool:
    return bool(options["options"]) or names_pem(options)


def names_pem(options: Mapping[str, Any]) -> bool:
    """Return whether files are named one by one, which are added to the settings that are stored."""
    return any(options[word] for word in (*_PEM_FILES, "key_password_file"))


def read(options: Mapping[str, Any], stored: Mapping[str, str]) -> dict[str, str]:
    """Return the client settings by name; ends the command with status 2 where a file cannot be read.

    stored: settings that files named one by one are added to.
    """
    file = options["options"]
    try:
        found = dict(stored)
        if file:
            text, folder = _text_of(file)
            found = read_options(text, "standard input" if file == "-" else file, folder)
        for word, setting in _PEM_FILES.items():
            if options[word]:
                found[setting] = read_pem(Path(options[word]), setting)
        if options["key"] and not options["key_password_file"] and not file:
            found.pop(pem.KEY_PASSWORD, None)  # it was the password of the key before
        if options["key_password_file"]:
            found[pem.KEY_PASSWORD] = _text_of(options["key_password_file"])[0].rstrip("\r\n")
    except OptionsFileError as error:
        raise CommandError(str(error), returncode=2) from error
    return found


def exposed(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield a warning for each file with a key or password that others may read; what is stored is encrypted."""
    secret = [
        Path(options[word]) for word in ("key", "key_password_file") if options[word] not in (None, "-")
    ]
    if options["options"] not in (None, "-"):
        text, _ = _text_of(options["options"])
        secret += secret_files(Path(options["options"]), text)
    for path in dict.fromkeys(secret):
        if sentence := why_exposed(path):
            yield sentence


def _text_of(file: str) -> tuple[str, Path]:
    """Return what the file holds, and the folder in which files that it names are looked for."""
    try:
        if file == "-":
            return sys.stdin.read(), Path()
        return Path(file).read_text(encoding="utf-8"), Path(file).parent
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise CommandError(f"The settings in {file} cannot be read: {why}.", returncode=2) from error
