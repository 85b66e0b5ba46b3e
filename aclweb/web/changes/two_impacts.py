"""What of the impact that a change was submitted with is another one now? A table of both, group by group."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from aclweb.acl.model import WILDCARD, AclBinding
from aclweb.acl.simulate import Group, Impact
from aclweb.changes.drift import Difference
from aclweb.changes.queries import ChangePage
from aclweb.web.drafts import folds, impact_rows

SAME_SHOWN = 4
"""Groups that are the same in both are shown up to this number; the others are counted."""


@dataclass(frozen=True)
class Differing:
    """What only one of the impacts says, or what each says otherwise, of a principal and some names.

    then, now: the list of the impact of then and of now that it is in; empty for none. added, removed: ACLs of others
    since then that may be why.
    """

    principal: str
    host: str
    operations: str
    names: str
    then: str
    now: str
    added: tuple[AclBinding, ...]
    removed: tuple[AclBinding, ...]

    @property
    def is_everybody_else(self) -> bool:
        return self.principal == WILDCARD

    @property
    def has_host(self) -> bool:
        return self.host != WILDCARD


@dataclass(frozen=True)
class TwoImpacts:
    """Both impacts of a change. more: how many differences are not in `differing`.

    same: the first groups of whose principals no answer differs; more_same: how many more there are, None where nobody
    can tell which ones do.
    """

    differing: Sequence[Differing]
    more: int
    same: Sequence[folds.Head]
    more_same: int | None


def two_impacts(page: ChangePage) -> TwoImpacts | None:
    """Return both impacts of a change whose impact is another one now; None for any other change."""
    if page.impact is None or page.impact_now is None or page.as_of_now is None:
        return None
    found = page.as_of_now.differences
    same: list[folds.Head] = []
    more_same = None
    # Where somebody has written some of it already, the impact of now lacks that, whoever it is about.
    if found.first and not page.would_now:
        alike = _alike(page.impact, found.principals)
        same = [folds.Head.of(page.impact, groups) for groups in alike[:SAME_SHOWN]]
        more_same = len(alike) - len(same)
    return TwoImpacts(_merged(found.first), found.more, same, more_same)


def _merged(differences: Sequence[Difference]) -> list[Differing]:
    """Return the differences, those of the same answers as one."""
    found: dict[tuple[object, ...], Differing] = {}
    for each in differences:
        key = (each.principal, each.host, each.resource_type, each.classes, each.operations)
        known = found.get(key)
        found[key] = Differing(
            principal=each.principal,
            host=each.host,
            operations=each.operations,
            names=each.names,
            then=(known.then if known else "") or ("" if each.is_new else each.change),
            now=(known.now if known else "") or (each.change if each.is_new else ""),
            added=each.added,
            removed=each.removed,
        )
    return list(found.values())


def _alike(impact: Impact, principals: Collection[str]) -> list[Sequence[Group]]:
    """Return the groups of an impact that change somebody's access and are about none of these, fold by fold."""
    axis = impact.axes.principals
    differing = reduce(
        or_, (axis.one(each) if each in axis.places else axis.others for each in principals), 0
    )
    every = impact_rows.rows(impact, *impact_rows.TOLD)
    return [
        every.groups[places.start : places.stop]
        for places in folds.Folds.of(every)[:]
        if not every.groups[places.start].principals & differing
    ]
