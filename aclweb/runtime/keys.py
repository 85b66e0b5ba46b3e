"""Where are the two secrets of an installation, and who makes them?

The secret key signs sessions; the encryption key protects the logins of clusters in the
database. Each comes from the environment, else from a file of its own in the data
directory that only its owner can read. `manage.py up` makes missing files; nothing else
does, so that a production site never starts with a key that nobody knows of.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from cryptography.fernet import Fernet

SECRET_KEY_FILE = "secret_key"  # noqa: S105
ENCRYPTION_KEYS_FILE = "encryption_keys"


class KeysError(Exception):
    """A secret that is missing or cannot be used; the message says how to get one."""


def make_missing(directory: Path) -> list[str]:
    """Make the key files that are not there, readable by their owner only; return their names."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = []
    for name, secret in (
        (SECRET_KEY_FILE, secrets.token_urlsafe(64)),
        (ENCRYPTION_KEYS_FILE, Fernet.generate_key().decode("ascii")),
    ):
        if not (directory / name).exists():
            _write_privately(directory / name, secret)
            made.append(name)
    return made


def passing(directory: Path) -> dict[str, str]:
    """Return variables with keys that protect nothing, for one process, where there are no key files yet."""
    return {
        variable: secret
        for variable, name, secret in (
            ("ACLWEB_SECRET_KEY", SECRET_KEY_FILE, secrets.token_urlsafe(64)),
            ("ACLWEB_ENCRYPTION_KEYS", ENCRYPTION_KEYS_FILE, Fernet.generate_key().decode("ascii")),
        )
        if not (directory / name).exists()
    }


def secret_key(given: str, directory: Path) -> str:
    """Return the key that signs sessions: the given one, else the file's.

    Raises KeysError where nobody has made one.
    """
    return given or _in_file("ACLWEB_SECRET_KEY", directory / SECRET_KEY_FILE)


def encryption_keys(given: str, directory: Path) -> list[str]:
    """Return the keys that protect the logins of clusters: the first one writes, all of them read.

    The given ones, else the file's. Raises KeysError where there are none, or one is no key.
    """
    text = given or _in_file("ACLWEB_ENCRYPTION_KEYS", directory / ENCRYPTION_KEYS_FILE)
    keys = text.replace(",", " ").split()
    for position, key in enumerate(keys, start=1):
        try:
            Fernet(key)
        except ValueError as error:
            # The key itself is a secret, so the message names its position and never its text.
            raise KeysError(
                f"Key {position} of ACLWEB_ENCRYPTION_KEYS is not a Fernet key (32 bytes in URL-safe base64); "
                'make one with: python -c "from cryptography.fernet import Fernet; '
                'print(Fernet.generate_key().decode())"'
            ) from error
    return keys


def _in_file(variable: str, file: Path) -> str:
    try:
        value = file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        value = ""
    except (OSError, UnicodeDecodeError) as error:
        raise KeysError(
            f"The file {file} cannot be read ({error}); it should hold the value of {variable}."
        ) from error
    if not value:
        raise KeysError(
            f"There is no {variable}: set that environment variable, or type ./run once, which makes {file}."
        )
    return value


def _write_privately(file: Path, text: str) -> None:
    # Made private before it holds anything, and moved into place whole.
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as handle:
        handle.write(text + "\n")
    partial.rename(file)
