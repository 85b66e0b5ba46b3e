"""How do requests come out of Arrow's columns, and answers go into them?"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from aclweb.acl.authorizer import RESULTS
from aclweb.acl.model import Operation, ResourceType
from aclweb.pipeline.batch.columns import BASES, Answers, Column, Requests

_WORDS: Mapping[str, Mapping[str, Any]] = {
    "operation": Operation.__members__,
    "resource_type": ResourceType.__members__,
}


def requests_of(batch: pa.RecordBatch) -> Requests:
    """Return the requests of a batch with the columns of `schemas.REQUEST`, all of them texts."""
    names = ("principal", "host", "operation", "resource_type", "resource_name")
    return Requests(*(_column(batch.column(name), name) for name in names))


def answer_texts(answers: Answers) -> tuple[pa.Array, pa.Array]:
    """Return the names of the results and of what settles them."""
    codes = pa.array(answers.bases)
    results, bases = _names()
    return results.take(codes), bases.take(codes)


@cache
def _names() -> tuple[pa.Array, pa.Array]:
    """Return the names of the results and of what settles them, in the order of BASES.

    Made when they are asked for: the first array of a process loads pandas, which is a third of a small start.
    """
    return pa.array([RESULTS[basis].name for basis in BASES]), pa.array([basis.name for basis in BASES])


def _column(texts: pa.Array, name: str) -> Column:
    encoded = texts.dictionary_encode()
    words = encoded.dictionary.to_pylist()
    read = _WORDS.get(name)
    values = words if read is None else [read[word] for word in words]
    return Column(tuple(values), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64))
