"""What must everybody know about this installation now?

First of all when its workers are silent. Beside that a notice is one sentence in a small
file of the data directory, so that a process which has no page of its own (such as the one
that fetches the demo's broker) can tell it on every page. It stands until its name is told
something else or cleared.
"""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest

from aclweb.web.shell import liveness


def tell(name: str, sentence: str) -> None:
    """Show this sentence under this name, in place of what the name said before."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".{name}.{os.getpid()}"
    partial.write_text(sentence, encoding="utf-8")
    partial.replace(folder / f"{name}.txt")


def clear(name: str) -> None:
    """Take the notice of this name away."""
    (_folder() / f"{name}.txt").unlink(missing_ok=True)


def current() -> tuple[str, ...]:
    """Return the sentences that are shown now, by name."""
    return tuple(file.read_text(encoding="utf-8") for file in sorted(_folder().glob("[!.]*.txt")))


def on_pages(_request: HttpRequest) -> dict[str, object]:
    """Give templates `installation_notices`; nothing is read unless a template asks."""
    return {"installation_notices": _of_now}


def _of_now() -> tuple[str, ...]:
    silent = liveness.known_sentence()
    return (*((silent,) if silent else ()), *current())


def _folder() -> Path:
    return Path(settings.ACLWEB_DATA_DIR) / "notices"
