"""What is in the rows of a replay, as a file and a program get them?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aclweb.acl.model import Resource
from aclweb.insights.replay import Flip, Replay
from aclweb.insights.replay_totals import Total, by_day, by_principal, by_resource, days_are_whole

VIEWS = ("", "principal", "resource", "day")
"""By what the rows are added up; the first is a row for each principal, operation and resource."""

_WOULD_BE = {"loses": "refused", "gains": "allowed", "depends": "unclear"}


def exported(found: Replay, by: str) -> Iterator[dict[str, Any]]:
    """Yield all rows of the view that `?by=` names, as `shown` pages them.

    A number is None where the log cannot show it, and the days of `days_are_whole` say whether they are all.
    """
    if by == "day":
        is_whole = days_are_whole(found)
        return (
            {"day": total.about, **_numbers(found, total), "is_whole": is_whole} for total in by_day(found)
        )
    if by == "principal":
        return ({"principal": total.about, **_numbers(found, total)} for total in by_principal(found))
    if by == "resource":
        return ({**_resource(total.about), **_numbers(found, total)} for total in by_resource(found))
    return (_request(flip) for flip in found.flips)


def _request(flip: Flip) -> dict[str, Any]:
    return {
        "would_be": _WOULD_BE[flip.change],
        "principal": flip.principal,
        "operation": flip.operation.name,
        **_resource(flip.resource),
        "hosts": list(flip.hosts),
        "lines": flip.lines,
        "first_at": flip.first_at.isoformat(),
        "last_at": flip.last_at.isoformat(),
    }


def _resource(about: str | Resource) -> dict[str, str]:
    assert isinstance(about, Resource)  # by_resource
    return {"resource_type": about.resource_type.name, "resource_name": about.name}


def _numbers(found: Replay, total: Total) -> dict[str, int | None]:
    refused = None if found.is_blind and not total.denied else total.denied
    return {"would_be_refused": refused, "would_be_allowed": total.allowed, "unclear": total.unclear}
