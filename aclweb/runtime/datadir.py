"""Where does one installation keep what must survive a restart, and who may use it now?

Everything is under one directory: ACLWEB_DATA_DIR, else `var/` beside manage.py. It holds
password hashes, sessions, logs and logins of clusters, so it is its owner's alone: every
entry point calls `make_private`. One `up` at a time claims it; the kernel gives the claim
back however that process ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from pathlib import Path
from typing import IO

from aclweb.runtime import stale_process

PROJECT = Path(__file__).resolve().parents[2]
CLAIM_NAME = "up.lock"

# Directories that hold the files of others; making them private would stop the machine.
_SHARED = frozenset(
    Path("/", name)
    for name in (
        "", "bin", "boot", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "opt", "proc", "root", "run",
        "sbin", "srv", "sys", "tmp", "usr", "usr/local", "var", "var/lib", "var/log", "var/tmp",
    )
)  # fmt: skip


class DataDirectoryError(Exception):
    """A data directory that cannot be used now; the message says why and what to do."""


def data_directory(given: str) -> Path:
    """Return the data directory; it need not exist yet. given: what ACLWEB_DATA_DIR says, empty for nothing.

    Raises DataDirectoryError for the home of somebody who has none.
    """
    try:
        return Path(given or PROJECT / "var").expanduser().absolute()
    except RuntimeError as error:
        raise DataDirectoryError(
            f"ACLWEB_DATA_DIR is {given!r}, and nobody here has that home directory; write a whole path, such as "
            "/var/lib/aclweb."
        ) from error


def make_private(directory: Path) -> int:
    """Let nobody but the owner read what is in the directory, or what this process makes from now on.

    Returns how many files and directories were open to others until now. Links are not
    followed. Where this process is not the owner, what only a group of its own shares is
    taken as it is. Raises DataDirectoryError where everybody could read on.
    """
    os.umask(0o077)
    if not directory.exists():
        return 0
    if not directory.is_dir():
        raise DataDirectoryError(f"ACLWEB_DATA_DIR is {directory}, a file; set it to a directory of its own.")
    if directory in _SHARED or Path.home().is_relative_to(directory) or PROJECT.is_relative_to(directory):
        raise DataDirectoryError(
            f"ACLWEB_DATA_DIR is {directory}; set it to a directory of its own, such as {directory / 'aclweb'}."
        )
    changed = int(_made_private(directory))
    for folder, folders, files in os.walk(directory):
        for name in (*folders, *files):
            changed += _made_private(Path(folder, name))
    return changed


def _made_private(path: Path) -> bool:
    try:
        found = path.lstat()
    except FileNotFoundError:  # a task that was taken, a log that was turned over
        return False
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISLNK(found.st_mode) or not mode & 0o077:
        return False
    try:
        os.chmod(path, mode & 0o700)
    except FileNotFoundError:
        return False
    except OSError as error:
        if not mode & 0o007:
            return False
        raise DataDirectoryError(
            f"Other users of this machine can read {path} (mode {mode:o}), and it cannot be made private: "
            f"{error.strerror}. As its owner, run: chmod -R go= {path}"
        ) from error
    return True


class Claim:
    """The right to run on a data directory, held until `release` or until this process ends."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file: IO[str] = open(directory / CLAIM_NAME, "a+", encoding="utf-8")  # noqa: SIM115
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.seek(0)
            holder = self._file.read().strip() or "another process"
            self._file.close()
            raise DataDirectoryError(
                f"aclweb already runs on {directory}: {holder}. Stop that one first, or set ACLWEB_DATA_DIR to "
                "another directory."
            ) from error
        self.say(f"process {os.getpid()}")

    def say(self, who: str) -> None:
        """Tell whoever comes second who is here, such as the address of the site."""
        self._file.truncate(0)
        self._file.write(who + "\n")
        self._file.flush()

    def release(self) -> None:
        self._file.close()


def set_aside(directory: Path) -> Path | None:
    """Move what is in the directory out of the way, so that the next start is a first one.

    What a killed start left running there is ended. Returns where it is now, None where there
    was nothing. An earlier one that was set aside is deleted: one step back is kept.
    """
    if not directory.exists():
        return None
    if not (directory / CLAIM_NAME).exists():
        raise DataDirectoryError(
            f"{directory} was not made by ./run (there is no {CLAIM_NAME} in it), so it is left alone; "
            "set ACLWEB_DATA_DIR to the directory that is meant."
        )
    Claim(directory).release()  # refuses while it is in use
    # What a killed ./run left running would go on with what was moved, and keep its port.
    stale_process.end_all(directory)
    aside = directory.with_name(directory.name + ".old")
    try:
        if aside.exists():
            shutil.rmtree(aside)
        directory.rename(aside)
    except OSError as error:
        raise DataDirectoryError(f"{directory} cannot be moved to {aside}: {error}.") from error
    return aside
