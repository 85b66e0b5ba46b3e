"""What does a delta change, and over which names is that asked?

An impact has a budget (`BUDGET`), so that no edit, whoever asks, keeps the site from others;
beyond it the answer is a sentence (`TooMuch`), and a worker can compute it (`computing`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import AclBinding, AuthorizerSettings, Delta, ResourceType
from aclweb.acl.simulate import (
    ON_A_SITE,
    Budget,
    Impact,
    Names,
    TooCostly,
    Watch,
    digest_of,
    simulate,
    trimmed,
)
from aclweb.changes.models import ChangeError
from aclweb.inventory.current import ClusterView

BUDGET = ON_A_SITE

# The lists of an impact that hold answers which would differ.
DIFFERENCES = ("gains", "loses", "depends")


class TooMuch(ChangeError):
    """An impact beyond the budget; the message names the ACL that costs most."""


@dataclass(frozen=True)
class Content:
    """What a cluster holds at one moment, as far as an impact depends on it."""

    bindings: tuple[AclBinding, ...]
    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


def content_of(view: ClusterView) -> Content:
    """Return what the cluster holds as of that view."""
    return Content(
        bindings=view.index.bindings,
        topics=view.loaded.names[ResourceType.TOPIC],
        groups=tuple(view.groups or ()),
    )


def names_of(content: Content, *, new_topics: Sequence[str] = ()) -> Names:
    """Return the names that an impact is computed for: those that exist, and topics to come.

    Those that an edit names itself are looked at anyway, and are not counted as there.
    """
    fresh = set(new_topics)
    return Names(
        topics=tuple(name for name in content.topics if name not in fresh),
        groups=content.groups,
        new_topics=tuple(new_topics),
    )


def names_in(view: ClusterView, *, new_topics: Sequence[str] = ()) -> Names:
    """Return the same of what the cluster holds as of that view."""
    if new_topics:
        return names_of(content_of(view), new_topics=new_topics)
    return Names(topics=view.loaded.names[ResourceType.TOPIC], groups=tuple(view.groups or ()))


def impact_of(
    delta: Delta,
    index: AclIndex,
    names: Names,
    settings: AuthorizerSettings,
    *,
    budget: Budget | None = None,
    watch: Watch | None = None,
) -> Impact:
    """Return what differs; raises TooMuch beyond the budget, which is that of a page unless another is given."""
    try:
        found = simulate(
            delta,
            index,
            names,
            settings,
            merge_equal_hosts=True,
            met_only=True,
            budget=budget or BUDGET,
            watch=watch,
        )
    except TooCostly as error:
        raise TooMuch(str(error)) from error
    return trimmed(found)


def impact_hash(impact: Impact) -> str:
    """Return the SHA-256 of the answers that would differ, in whatever order; worked out once."""
    known: str | None = impact.memo.get(impact_hash)
    if known is None:
        known = impact.memo[impact_hash] = digest_of(impact, DIFFERENCES)
    return known


def on_which_impact_depends(view: ClusterView) -> tuple[object, ...]:
    """Return what an impact depends on at the cluster: what was read, and the settings."""
    revision = view.revision
    read = (revision.pk, revision.read_at, revision.digest) if revision is not None else ()
    return (view.cluster.pk, read, view.groups_known, view.settings)


def sha256_of(value: object) -> str:
    """Return the SHA-256 of the value as canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return each name once, in the order given."""
    return tuple(dict.fromkeys(names))
