"""What does a file of client settings say?

One `name=value` a line, as Java's property files have it: `#` and `!` begin comments, and
a backslash at the end of a line continues it on the next one. PEM text may extend over several lines as
it is. `ssl.ca.pem=@ca.crt` means the text of that file, whose path is relative to
the file of settings; it is read here, once, by whoever runs the command.

No message repeats any of the text: what cannot be read may be a key.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from aclweb.clusters.connection.pem import KEY, PEM_SETTINGS, tidied

LARGEST_FILE = 1_000_000
_BEGIN, _END = "-----BEGIN ", "-----END "


class OptionsFileError(Exception):
    """A file of settings that cannot be read; the message names it and the line, and repeats nothing of it."""


def read_options(text: str, name: str, folder: Path) -> dict[str, str]:
    """Return the settings of the text. name: what messages call it; folder: where `@FILE` is looked for."""
    found: dict[str, str] = {}
    for number, line in _logical_lines(text, name):
        setting, sign, value = line.partition("=")
        setting, value = setting.strip(), value.strip()
        if not sign or not setting:
            raise OptionsFileError(
                f"{name}:{number}: this line has no setting with a value; write name=value. "
                "A value of several lines needs a backslash at the end of each line but the last."
            )
        if setting in found:
            raise OptionsFileError(
                f"{name}:{number}: {setting} is given a second time; leave one of them out."
            )
        if setting in PEM_SETTINGS:
            value = (
                read_pem(folder / value[1:], setting, called=f"{name}:{number}: the file for {setting}")
                if value.startswith("@")
                else tidied(value, setting)
            )
        elif _BEGIN in value or _BEGIN in setting:
            raise OptionsFileError(
                f"{name}:{number}: PEM text belongs to {', '.join(PEM_SETTINGS[:-1])} or {PEM_SETTINGS[-1]} only."
            )
        found[setting] = value
    return found


def read_pem(path: Path, setting: str, *, called: str = "") -> str:
    """Return the PEM text of a file for this setting; raises OptionsFileError where it cannot be read.

    called: how messages name the file, where its path may be no path but a pasted key.
    """
    file = called or f"The file {path} for {setting}"
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise OptionsFileError(f"{file} is too large to be PEM text.")
        data = path.read_bytes()
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise OptionsFileError(f"{file} cannot be read: {why}.") from error
    return pem_text(data, setting, file)


def pem_text(data: bytes, setting: str, file: str) -> str:
    """Return the PEM text in the bytes of a file for this setting; raises OptionsFileError where there is none.

    file: how messages name the file, as the beginning of a sentence.
    """
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        text = ""
    if _BEGIN not in text:
        raise OptionsFileError(
            f"{file} is not PEM text, which begins with '-----BEGIN'. OpenSSL converts others: "
            f"openssl x509 -inform der -in FILE for DER, openssl pkcs12 -nodes -in FILE for PKCS #12."
        )
    return tidied(text, setting)


def secret_files(file: Path, text: str) -> Iterator[Path]:
    """Yield the file of these settings where it holds a password or key, and those that it names for a key."""
    for _, line in _logical_lines(text, str(file)):
        setting, value = (part.strip() for part in line.split("=", 1))
        if setting == KEY and value.startswith("@"):
            yield file.parent / value[1:]
        elif setting == KEY or "password" in setting:
            yield file


def why_exposed(path: Path) -> str:
    """Return that others than its owner may read a file that holds a secret; empty where they may not."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:  # reported where it is read
        return ""
    if not mode & (stat.S_IRGRP | stat.S_IROTH):
        return ""
    who = "everybody on this machine" if mode & stat.S_IROTH else "its group"
    mend = f"chmod 600 {quote(str(path))}"
    return f"The file {path} holds a secret, and {who} may read it (mode {mode:04o}). Run: {mend}"


def _logical_lines(text: str, name: str) -> Iterator[tuple[int, str]]:
    """Yield each setting as one text, with the number of its first line."""
    lines = text.removeprefix("\ufeff").split("\n")
    at = 0
    while at < len(lines):
        number, line = at + 1, lines[at].rstrip("\r").lstrip()
        at += 1
        if not line.strip() or line[0] in "#!":
            continue
        while _continues(line) and at < len(lines):
            line = (
                f"{line[:-1]}\n{lines[at].rstrip(chr(13)).lstrip()}"
                if _BEGIN in line
                else line[:-1] + lines[at].strip()
            )
            at += 1
        if _BEGIN in line:
            while at < len(lines) and (_is_open(line) or lines[at].startswith(_BEGIN)):
                line = f"{line}\n{lines[at].strip()}"
                at += 1
            if _is_open(line):
                raise OptionsFileError(
                    f"{name}:{number}: the PEM text that begins in this line does not end; its last line is "
                    "'-----END …-----'."
                )
        yield number, line


def _continues(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _is_open(line: str) -> bool:
    return line.count(_BEGIN) > line.count(_END)
