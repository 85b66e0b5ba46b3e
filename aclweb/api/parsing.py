"""What does a program get whose body cannot be read, or whose cluster is removed meanwhile? A sentence as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from django.core.exceptions import RequestDataTooBig
from rest_framework import status
from rest_framework.exceptions import APIException, NotFound, ParseError
from rest_framework.parsers import JSONParser
from rest_framework.response import Response
from rest_framework.views import exception_handler

from aclweb.inventory.admin.removing import MEANWHILE
from aclweb.inventory.models import Cluster


class TooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = (
        "This body is too large: 2 MB at most. Ask in smaller parts, or use python -m aclweb.acl."
    )
    default_code = "too_large"


class BoundedJSONParser(JSONParser):
    """JSON as ever, except that arrays in arrays without end are refused like any other unreadable body."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError as error:
            raise ParseError("This JSON is nested too deep; an ACL is an object of seven texts.") from error


def answer_failure(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the answer to an exception of a view; None leaves it to Django."""
    if isinstance(error, RequestDataTooBig):
        error = TooLarge()
    elif isinstance(error, Cluster.DoesNotExist):
        error = NotFound(MEANWHILE)
    return exception_handler(error, context)
