"""How is an impact answered: a page of its groups, or every single difference as a stream?

Pages have keys and no numbers. A key names the place of the next group and the impact it is a place of,
so that after a sync no page is of another impact than the one before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from aclweb.acl.authorizer import Basis, Result
from aclweb.acl.simulate import LISTS, Impact, digest_of_groups
from aclweb.api.asking import number_asked, word_asked
from aclweb.api.groups import page_of_groups
from aclweb.api.paging import MOST_ROWS_A_PAGE
from aclweb.api.serializers import AclSerializer
from aclweb.api.size import MOST_BYTES, fitting, warnings_to_size

_KEY = re.compile(r"([1-9][0-9]{0,8})-([0-9a-f]{16})")
_CHUNK_BYTES = 64 * 1024

PARAMETERS = [
    OpenApiParameter("after", str, description="`next` of the page before; the first page if left out."),
    OpenApiParameter(
        "size",
        OpenApiTypes.INT,
        description=f"Groups a page, at most {MOST_ROWS_A_PAGE}; fewer where they are large.",
    ),
    OpenApiParameter(
        "cells",
        bool,
        description="true: every single difference, as `whatif --json` prints them, in one answer of any length.",
    ),
]


class AskedImpact:
    """What of an impact a request asks for."""

    def __init__(self, request: Request) -> None:
        """Read `after`, `size` and `cells` at once, so that wrong ones are refused before anything is worked out."""
        asked = request.query_params
        self.wants_cells = word_asked(asked, "cells", ("true", "false")) == "true"
        self._size = number_asked(asked, "size", 50, most=MOST_ROWS_A_PAGE)
        self._after = asked.get("after", "")
        self._start, self._digest = _place_asked(self._after)
        if "page" in asked:
            raise ValidationError(
                {
                    "page": "Pages of an impact have no numbers; leave page out and give `next` of a page as after."
                }
            )
        for name in ("after", "size"):
            if self.wants_cells and asked.get(name):
                raise ValidationError(
                    {
                        name: f"cells=true answers everything at once, so {name} means nothing; leave one of them out."
                    }
                )

    def page(self, impact: Impact, most: int | None = None) -> dict[str, Any]:
        """Return the page that was asked for, of about `most` bytes; all but its groups is of the whole impact."""
        most = MOST_BYTES if most is None else most
        warnings = warnings_to_size(impact.warnings, most // 4)
        left = most - len(json.dumps(warnings))
        found = page_of_groups(impact, self._place_in(impact), self._size, left * 3 // 4)
        # They are on every page, so they take no more than a quarter of it.
        share = min(left - found.bytes, most // 4)
        resources, rest = fitting((each.as_dict() for each in impact.resources), share)
        return {
            "groups": found.groups,
            "counts": {
                **impact.counts,
                "groups": len(impact.groups),
                "resources": len(impact.resources),
                "warnings": len(impact.warnings),
            },
            "unchanged": impact.unchanged,
            "resources": resources,
            "warnings": warnings,
            "is_complete": found.is_complete and rest >= 0 and warnings == list(impact.warnings),
            "next": None if found.end == len(impact.groups) else f"{found.end}-{_short_digest(impact)}",
        }

    def _place_in(self, impact: Impact) -> int:
        if not self._start:
            return 0
        if self._digest != _short_digest(impact):
            raise ValidationError(
                {
                    "after": f"after {self._after!r} is of another impact: the cluster was synced since, or something "
                    "else was asked. Leave it out to begin again with the first page."
                }
            )
        if self._start >= len(impact.groups):
            raise ValidationError({"after": _no_key(self._after)})
        return self._start


def _place_asked(text: str) -> tuple[int, str]:
    """Return the place of a group and the digest that a key holds; 0 for the first page."""
    if not text:
        return 0, ""
    found = _KEY.fullmatch(text)
    if found is None:
        raise ValidationError({"after": _no_key(text)})
    return int(found[1]), found[2]


def _no_key(text: str) -> str:
    return f"after {text[:60]!r} is no key of a page; give `next` of the page before, or leave it out for the first."


def _short_digest(impact: Impact) -> str:
    known: str | None = impact.memo.get(digest_of_groups)
    if known is None:
        known = impact.memo[digest_of_groups] = digest_of_groups(impact)[:16]
    return known


def streamed(request: Request, pieces: Iterable[str]) -> StreamingHttpResponse:
    """Answer with one JSON object that is made while it is sent. pieces: ASCII, made without the database."""
    return StreamingHttpResponse(
        _in_chunks(() if request.method == "HEAD" else pieces), content_type="application/json"
    )


def _in_chunks(pieces: Iterable[str]) -> Iterator[bytes]:
    held: list[str] = []
    length = 0
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        if length >= _CHUNK_BYTES:
            yield "".join(held).encode("ascii")
            held, length = [], 0
    yield "".join(held).encode("ascii")


# What programs get, for the schema.


def _texts(**options: Any) -> serializers.ListField:
    child = serializers.CharField(trim_whitespace=False, allow_blank=True)
    return serializers.ListField(child=child, **options)


def _whole_length(name: str) -> serializers.IntegerField:
    return serializers.IntegerField(required=False, help_text=f"How many there are, where `{name}` is cut.")


class MembersSerializer(serializers.Serializer[Any]):
    """Principals or hosts: those of one list, or all but those of the other."""

    in_total = _whole_length("in")
    not_in = _texts(required=False)
    not_in_total = _whole_length("not_in")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `in` is no name that Python takes.
        return {"in": _texts(required=False), **super().get_fields()}


class NameClassSerializer(serializers.Serializer[Any]):
    """Names that nobody gave: all that begin with `text`, all that match it, or all others."""

    kind = serializers.CharField()
    text = serializers.CharField(trim_whitespace=False, allow_blank=True)


class GroupNamesSerializer(serializers.Serializer[Any]):
    """Names one by one, and classes of names to come."""

    existing = _texts()
    existing_total = _whole_length("existing")
    patterns = NameClassSerializer(many=True)
    patterns_total = _whole_length("patterns")


class GroupSideSerializer(serializers.Serializer[Any]):
    """The answer on one side, and the ACLs that settle it."""

    result = serializers.ChoiceField(choices=[result.value for result in Result])
    basis = serializers.ChoiceField(choices=[basis.value for basis in Basis])
    determining = AclSerializer(many=True)
    determining_total = _whole_length("determining")


class GroupSerializer(serializers.Serializer[Any]):
    """Cells that change alike: each of these principals, hosts, operations and names with each other."""

    category = serializers.ChoiceField(choices=LISTS)
    principals = MembersSerializer()
    hosts = MembersSerializer()
    operations = serializers.ListField(child=serializers.CharField())
    resource_type = serializers.CharField()
    names = GroupNamesSerializer()
    before = GroupSideSerializer(allow_null=True, help_text="null for new names.")
    after = GroupSideSerializer()
    reason = serializers.CharField(required=False, help_text="Why nobody can tell, in `depends`.")
    cells = serializers.IntegerField(help_text="How many cells it has.")


class GroupsSerializer(serializers.Serializer[Any]):
    """One page of the groups of an impact, as `whatif --json --groups` has them; all but `groups` is of the whole.

    A group that is too large for a page is cut, and `is_complete` is then false, as where `resources`
    or `warnings` are cut: `cells=true` gives all.
    """

    groups = GroupSerializer(many=True)
    counts = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="How many groups there are, single differences of each category, resources, and warnings.",
    )
    unchanged = serializers.IntegerField()
    resources = serializers.ListField(child=serializers.DictField())
    warnings = serializers.ListField(child=serializers.CharField())
    is_complete = serializers.BooleanField(help_text="Whether no list of this page is cut.")
    next = serializers.CharField(
        allow_null=True, help_text="What `after` takes for the next page; null on the last."
    )


class DifferencesSerializer(serializers.Serializer[Any]):
    """Every single difference, in the words of `python -m aclweb.acl whatif --json`."""

    gains = serializers.ListField(child=serializers.DictField())
    loses = serializers.ListField(child=serializers.DictField())
    recovered = serializers.ListField(child=serializers.DictField())
    depends = serializers.ListField(child=serializers.DictField())
    unchanged = serializers.IntegerField()
    resources = serializers.ListField(child=serializers.DictField())
    warnings = serializers.ListField(child=serializers.CharField())


class ImpactSerializer(GroupsSerializer):
    """What would change, but for what no client can meet."""

    revision = serializers.IntegerField(allow_null=True)


class ImpactCellsSerializer(DifferencesSerializer):
    """What would change, but for what no client can meet; for `cells=true`."""

    revision = serializers.IntegerField(allow_null=True)


def groups_or_cells(
    name: str,
    groups: type[serializers.Serializer[Any]],
    cells: type[serializers.Serializer[Any]],
    **options: Any,
) -> PolymorphicProxySerializer:
    """Return the schema of an answer that has one of two forms, as the request says."""
    return PolymorphicProxySerializer(name, [groups, cells], None, **options)
