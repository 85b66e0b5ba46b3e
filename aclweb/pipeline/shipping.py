"""What travels to Spark's executors, and how is it checked that it arrived?

The core and this room, every module found by walking the two packages: from the project's folder,
or from the zip that this program itself was started from. The same code always makes the same
zip, so its digest names the code.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

ZIP = "aclweb.zip"
ENTRY = "run_pipeline.py"

_PACKAGE = "aclweb"
_ROOMS = ("acl", "pipeline")
# Every file of the zip gets this time, so that the same code always makes the same zip.
_SOME_DAY = (2000, 1, 1, 0, 0, 0)


def make_zip(directory: Path, name: str = ZIP) -> Path:
    """Write what the executors need into a zip: the core and this room, and nothing of the site."""
    path = directory / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, file in _shipped_files():
            packed.writestr(zipfile.ZipInfo(name, _SOME_DAY), file.read_bytes())
    return path


def write_package(directory: Path) -> tuple[Path, Path]:
    """Write what `spark-submit --py-files ZIP ENTRY` takes into a folder, made if need be; return both paths."""
    directory.mkdir(parents=True, exist_ok=True)
    entry = directory / ENTRY
    entry.write_bytes((files(_PACKAGE) / "pipeline" / ENTRY).read_bytes())
    return make_zip(directory), entry


def code_digest() -> str:
    """Return the SHA-256 of this code, on whichever machine it is asked for."""
    digest = hashlib.sha256()
    for name, file in _shipped_files():
        digest.update(f"{name}\n".encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _shipped_files() -> Iterator[tuple[str, Traversable]]:
    """Yield each file with its name in the zip, sorted."""
    package = files(_PACKAGE)
    yield f"{_PACKAGE}/__init__.py", package / "__init__.py"
    for room in _ROOMS:
        yield from _walk(package / room, f"{_PACKAGE}/{room}")


def _walk(folder: Traversable, name: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        inner = f"{name}/{entry.name}"
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _walk(entry, inner)
        elif entry.name.endswith(".py"):
            yield inner, entry
