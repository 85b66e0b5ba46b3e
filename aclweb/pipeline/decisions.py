"""What do the ACLs of the snapshot answer to each distinct request?

The core answers, in Python workers on the executors, a batch at a time. The ACLs travel as plain texts, which is
small, and each worker makes its own index of them the first time it is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.broadcast import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclweb.acl.authorizer import AclIndex, Basis
from aclweb.acl.logged import Settling
from aclweb.acl.model import (
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
from aclweb.pipeline import schemas
from aclweb.pipeline.batch import Answers, Requests, answer_texts, decide_all, requests_of
from aclweb.pipeline.snapshot import Snapshot

_SETTLED_BY_NO_ACL = (Basis.SUPER_USER, Basis.DEFAULT_ALLOW, Basis.DEFAULT_DENY, Basis.UNKNOWN_VALUE)


@dataclass(frozen=True)
class Shipped:
    """A snapshot as it travels to the executors: texts only."""

    digest: str
    settings: AuthorizerSettings
    bindings: tuple[tuple[str, tuple[str, ...]], ...]  # key, and the values of AclBinding.as_dict()


def shipped(snapshot: Snapshot) -> Shipped:
    rows = tuple((key, tuple(acl.as_dict().values())) for key, acl in snapshot.bindings.items())
    return Shipped(snapshot.digest, snapshot.settings, rows)


def decide_requests(requests: DataFrame, snapshot: Broadcast[Shipped]) -> DataFrame:
    """Return what the snapshot's ACLs say to each request (schemas.DECIDED).

    requests: one row for each distinct request, with the columns of schemas.REQUEST.
    """
    schema = StructType.fromDDL(schemas.DECIDED)
    function = partial(_decided_batches, to_arrow_schema(schema), snapshot)
    return requests.select(*schemas.REQUEST).mapInArrow(function, schema)


def _decided_batches(
    schema: pa.Schema, snapshot: Broadcast[Shipped], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    matcher = matcher_of(snapshot.value)
    for batch in batches:
        yield matcher.decided(batch, schema)


class Matcher:
    """The core on one snapshot: an index, the settings, and the key of each binding."""

    def __init__(self, snapshot: Shipped) -> None:
        bindings = bindings_of(snapshot)
        self._keys: Mapping[AclBinding, str] = bindings
        self._index = AclIndex(bindings)
        self._settings = snapshot.settings
        self._settling = Settling(self._index, self._settings)

    @property
    def keys(self) -> Mapping[AclBinding, str]:
        return self._keys

    def decided(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        """Return the rows of schemas.DECIDED for those of schemas.REQUEST; schema: the first one, as Arrow's."""
        asked = requests_of(batch)
        answers = decide_all(asked, self._index, self._settings)
        settled = [self._keys_of(asked, answers, place) for place in range(len(answers))]
        keys = [pa.array(column, pa.list_(pa.string())) for column in zip(*settled, strict=True)]
        if not settled:
            keys = [pa.array([], pa.list_(pa.string()))] * 2
        return pa.RecordBatch.from_arrays([*batch.columns, *answer_texts(answers), *keys], schema=schema)

    def _keys_of(self, asked: Requests, answers: Answers, place: int) -> tuple[list[str], list[str]]:
        """Return the keys of the ACLs that settle one request, and of those of which one must stay, sorted."""
        basis = answers[place][1]
        if basis in _SETTLED_BY_NO_ACL:
            return [], []
        determining, needed = self._settling.of(asked.row(place), basis)
        return sorted(map(self._keys.__getitem__, determining)), sorted(map(self._keys.__getitem__, needed))


_matchers: dict[str, tuple[AuthorizerSettings, Matcher]] = {}


def matcher_of(snapshot: Shipped) -> Matcher:
    """Return this worker's matcher for the snapshot, made the first time it is asked for."""
    known = _matchers.get(snapshot.digest)
    if known is None or known[0] != snapshot.settings:
        _matchers.clear()
        known = _matchers[snapshot.digest] = (snapshot.settings, Matcher(snapshot))
    return known[1]


def bindings_of(snapshot: Shipped) -> dict[AclBinding, str]:
    """Return the ACLs that travelled, each with its key."""
    return {_binding(values): key for key, values in snapshot.bindings}


def _binding(values: tuple[str, ...]) -> AclBinding:
    resource_type, name, pattern_type, principal, host, operation, permission = values
    return AclBinding(
        ResourceType[resource_type],
        name,
        PatternType[pattern_type],
        principal,
        host,
        Operation[operation],
        PermissionType[permission],
    )
