"""How does the result of a job appear, all at once or not at all?

Everything is written into a hidden folder beside the wanted one, which is renamed as the
very last step. So whoever finds the folder finds the whole result.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

MANIFEST = "manifest.json"


class ResultError(Exception):
    """A folder that cannot take the result; the message names it and what would be right."""


@contextmanager
def new_result(out: Path) -> Iterator[Path]:
    """Yield an empty folder to write into; it becomes `out` if the block ends well, and is gone if not.

    An earlier result at `out` is replaced. Anything else there is left alone and raises
    ResultError.
    """
    if out.exists() and not (out / MANIFEST).is_file() and not _is_empty_folder(out):
        raise ResultError(f"{out} is there already and is no result of an earlier job; name another folder.")
    out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = out.parent / f".{out.name}.{os.getpid()}.unfinished"
    replaced = out.parent / f".{out.name}.{os.getpid()}.replaced"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    try:
        yield unfinished
        if out.exists():
            out.rename(replaced)
        unfinished.rename(out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.rmtree(replaced, ignore_errors=True)


def write_table(folder: Path, name: str, table: pa.Table) -> None:
    """Write one table as `name`.parquet."""
    # Spark's own notes in the schema differ between runs and say nothing to a reader; so do its batches.
    plain = table.replace_schema_metadata(None).combine_chunks()
    pq.write_table(plain, folder / f"{name}.parquet", compression="zstd")


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    text = json.dumps(manifest, indent=2, sort_keys=True, default=str)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())
