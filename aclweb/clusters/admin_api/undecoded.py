"""How is the list of all ACLs taken as bytes, so that an unchanged one need not be decoded?

A hundred thousand ACLs cost a second to decode and to compare, and a few milliseconds to hash. A broker answers the
same bytes as long as its ACLs stay the same; another broker may put them into another order.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

from kafka.protocol.admin import DescribeAclsRequest, DescribeAclsResponse

_THROTTLE_TIME_BYTES = 4


class AllAclsRequest(DescribeAclsRequest, init=False):  # type: ignore[misc, call-arg]
    """A DescribeAcls request whose answer is an UndecodedAcls."""

    _header: Any

    def with_header(self, *args: Any, **values: Any) -> None:
        super().with_header(*args, **values)
        self._header = _Header(self._header)


class UndecodedAcls:
    """An answer to DescribeAcls, without its header, in the version of the request."""

    def __init__(self, data: bytes, version: int) -> None:
        self._data, self._version = data, version

    @property
    def digest(self) -> str:
        """The SHA-256 of all but the throttle time, in hex."""
        return hashlib.sha256(memoryview(self._data)[_THROTTLE_TIME_BYTES:]).hexdigest()

    @cached_property
    def decoded(self) -> Any:
        """The answer as the library decodes it; raises what the library raises."""
        return DescribeAclsResponse[self._version].decode(self._data)


class _Header:
    """The header of a request, which says how its answer is decoded."""

    def __init__(self, header: Any) -> None:
        self._header = header

    def __getattr__(self, name: str) -> Any:
        return getattr(self._header, name)

    def get_response_class(self) -> _Undecoded:
        return _Undecoded(self._header.request_api_version)


class _Undecoded:
    """Used in place of the class of the answer: decodes its header, and keeps the rest as it is."""

    def __init__(self, version: int) -> None:
        self._version = version

    def parse_header(self, data: Any) -> Any:
        return DescribeAclsResponse[self._version].parse_header(data)

    def decode(self, data: Any) -> UndecodedAcls:
        return UndecodedAcls(data.read(), self._version)
