"""How are millions of requests, and their answers, held as columns?"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aclweb.acl.authorizer import RESULTS, Answer, Basis, Result
from aclweb.acl.model import AccessRequest

BASES: tuple[Basis, ...] = tuple(Basis)
"""What the codes of `Answers.bases` mean."""

CODES: Mapping[Basis, int] = {basis: code for code, basis in enumerate(BASES)}

Bits = NDArray[np.uint16]
Masks = NDArray[np.uint64]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Column:
    """A column of few distinct values: each row's place in `values`."""

    values: tuple[Any, ...]
    codes: Places

    @classmethod
    def of(cls, rows: Iterable[Hashable]) -> Column:
        known: dict[Hashable, int] = {}
        codes = np.fromiter((known.setdefault(value, len(known)) for value in rows), np.int64)
        return cls(tuple(known), codes)

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class Requests:
    """Requests as columns of equal length; a name is None for a question about a whole type."""

    principals: Column
    hosts: Column
    operations: Column
    resource_types: Column
    names: Column

    @classmethod
    def of(cls, requests: Sequence[AccessRequest]) -> Requests:
        return cls(
            Column.of(request.principal for request in requests),
            Column.of(request.host for request in requests),
            Column.of(request.operation for request in requests),
            Column.of(request.resource_type for request in requests),
            Column.of(request.resource_name for request in requests),
        )

    def __len__(self) -> int:
        return len(self.names)

    def row(self, place: int) -> AccessRequest:
        """Return one request."""
        return AccessRequest(
            *(
                column.values[column.codes[place]]
                for column in (self.principals, self.hosts, self.operations, self.resource_types, self.names)
            )
        )


@dataclass(frozen=True, eq=False)
class Answers:
    """The answer to each request; `bases` holds places in BASES."""

    bases: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.bases)

    def __getitem__(self, place: int) -> Answer:
        basis = BASES[self.bases[place]]
        return RESULTS[basis], basis

    def are(self, result: Result) -> NDArray[np.bool_]:
        """Return for each request whether this is its result."""
        codes = [code for code, basis in enumerate(BASES) if RESULTS[basis] is result]
        return np.isin(self.bases, codes)
