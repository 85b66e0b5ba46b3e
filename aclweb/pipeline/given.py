"""What does a file say that a person named on the command line?"""

from __future__ import annotations

from pathlib import Path

from aclweb.acl.model import NotationError


def text_of(path: Path, what: str) -> str:
    """Return the text of a file; raise NotationError with a sentence, which calls it `what`, if there is none."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise NotationError(f"{path}: {what} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise NotationError(f"{path}: {what} is not UTF-8 text (byte {error.start + 1}).") from error
