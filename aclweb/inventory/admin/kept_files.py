"""Which files of ACLs did people upload, and what is wrong with one?

They lie in the data directory, which all processes of an installation share, so that workers read them as they read any
file that somebody named at the shell.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings

from aclweb.acl.model import AclBinding, NotationError
from aclweb.clusters import KINDS, ClusterError, ClusterKind, Connection, connect


class FileError(Exception):
    """A file of ACLs that cannot be used; `messages` has a sentence for each bad line, which names the line."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__(" ".join(messages))
        self.messages = tuple(messages)


def file_kind() -> ClusterKind:
    """Return the kind of a cluster that is known from one file."""
    return next(kind for kind in KINDS.values() if kind.is_one_file)


def keep(text: str, *, called: str) -> tuple[Path, tuple[AclBinding, ...]]:
    """Store the text as a file of this installation's own, and return it with the ACLs in it.

    called: how messages name the file. Raises FileError, and keeps nothing, where it holds no ACLs that can be read.
    """
    path = _folder() / f"{secrets.token_hex(16)}.acls"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass", newline="") as opened:
        opened.write(text)
    try:
        with connect(Connection(file_kind(), str(path))) as client:
            return path, client.read_acls().bindings
    except ClusterError as error:
        forget(str(path))
        cause = error.__cause__
        messages = cause.messages if isinstance(cause, NotationError) else (str(error),)
        named = [
            message.replace(f"The snapshot {path}", called).replace(str(path), called) for message in messages
        ]
        raise FileError(named) from error


def forget(address: str) -> None:
    """Delete a file that `keep` has stored; does nothing with any other."""
    path = Path(address)
    if path.parent == _folder():
        path.unlink(missing_ok=True)


def _folder() -> Path:
    folder = Path(settings.ACLWEB_DATA_DIR).resolve() / "acl-files"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
