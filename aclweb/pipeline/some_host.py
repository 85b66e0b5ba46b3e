"""Would the ACLs of a cluster allow a right from some address, whichever that is?

Clients of one cluster have other addresses than those of another, so a right that was used on one is asked of the
other without its hosts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import pyarrow as pa
from pyspark.broadcast import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclweb.acl.authorizer import AclIndex, HostResult, Result, decide_for_any_host
from aclweb.acl.matching import matching_of
from aclweb.acl.model import ANY_USER, WILDCARD, AclBinding, AuthorizerSettings
from aclweb.pipeline.batch import Requests, decide_all, requests_of
from aclweb.pipeline.decisions import Shipped, bindings_of
from aclweb.pipeline.schemas import REQUEST

_ALLOWED_AT = "principal string, operation string, resource_type string, resource_name string, place int"


def allowed_at(missing: DataFrame, snapshots: Broadcast[tuple[Shipped, ...]]) -> DataFrame:
    """Return the rights that the ACLs of a cluster allow from some address, a row for each and its cluster's place.

    missing: rights (principal, operation, resource_type and resource_name), and `places` (array of int) in `snapshots`
    that are asked about.

    Returns principal, operation, resource_type, resource_name and place.
    """
    schema = StructType.fromDDL(_ALLOWED_AT)
    asked = missing.withColumn("host", F.lit(WILDCARD)).select(*REQUEST, "places")
    return asked.mapInArrow(partial(_allowed_batches, to_arrow_schema(schema), snapshots), schema)


class SomeHost:
    """What one cluster's ACLs allow from some address."""

    def __init__(self, bindings: Iterable[AclBinding], settings: AuthorizerSettings) -> None:
        bindings = tuple(bindings)
        self._index, self._settings = AclIndex(bindings), settings
        # Of whom an ACL names the host; of everybody where that may be an ACL for many.
        self._by_host = {binding.principal for binding in bindings if binding.host != WILDCARD}
        matching = matching_of(settings)
        self._all_by_host = ANY_USER in self._by_host or bool(matching.principal_globs(self._by_host))

    def allows(self, requests: Requests) -> list[bool]:
        """Return for each request whether it would be allowed from some address; the hosts are those of any ACL."""
        # Exact where no ACL that can count names a host.
        allowed: list[bool] = decide_all(requests, self._index, self._settings).are(Result.ALLOWED).tolist()
        principals = requests.principals
        slow = [self._all_by_host or principal in self._by_host for principal in principals.values]
        for place, code in enumerate(principals.codes):
            if slow[code]:
                found = decide_for_any_host(requests.row(place), self._index, self._settings).result
                allowed[place] = found in (HostResult.ALLOWED, HostResult.DEPENDS)
        return allowed


# --- On the executors -----------------------------------------------------------------


_known: list[tuple[list[str], list[SomeHost]]] = []


def _of(snapshots: Sequence[Shipped]) -> list[SomeHost]:
    """Return this worker's indexes of the clusters, made the first time they are asked for."""
    key = [f"{each.digest} {each.settings!r}" for each in snapshots]
    if not _known or _known[0][0] != key:
        _known[:] = [(key, [SomeHost(bindings_of(each), each.settings) for each in snapshots])]
    return _known[0][1]


def _allowed_batches(
    schema: pa.Schema, snapshots: Broadcast[tuple[Shipped, ...]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    sides = _of(snapshots.value)
    for batch in batches:
        places = batch.column("places").to_pylist()
        for place, side in enumerate(sides):
            asked = batch.filter(pa.array([place in some for some in places], pa.bool_()))
            if not asked.num_rows:
                continue
            found = asked.filter(pa.array(side.allows(requests_of(asked)), pa.bool_()))
            columns = [found.column(name) for name in schema.names[:-1]]
            yield pa.RecordBatch.from_arrays(
                [*columns, pa.array([place] * found.num_rows, pa.int32())], schema=schema
            )
