"""Which ACLs has one side of a comparison only, and which have both?"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from django.core.paginator import Page

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.model import AclBinding
from aclweb.changes.comparison import Comparison
from aclweb.changes.question import Side
from aclweb.inventory.lists import LazyRows
from aclweb.inventory.models import Cluster
from aclweb.web.drafts.draft import MOST_LINES
from aclweb.web.shell.paging import page_asked, page_of

ACLS_A_PAGE = 8

LEFT, BOTH, RIGHT = "left", "both", "right"


@dataclass(frozen=True)
class AclList:
    """One of the three lists: how a page names it, and how many ACLs it has."""

    name: str
    words: str
    count: int


@dataclass(frozen=True)
class Compared:
    """The three lists and a page of the one that is shown.

    draft: the cluster for which a draft of it can be made. why_not: why none can, where somebody would look for it.
    """

    lists: tuple[AclList, ...]
    shown: str
    pages: Page[AclBinding]
    draft: str
    why_not: str

    @property
    def shown_words(self) -> str:
        """`only in prod-eu`, within a sentence."""
        return next(
            f"{each.words[0].lower()}{each.words[1:]}" for each in self.lists if each.name == self.shown
        )


def compared(found: Comparison, asked: Mapping[str, str], person: User) -> Compared:
    """Return the lists of `?acls=` left, both or right, of which one that has any is shown first."""
    lists = (
        AclList(LEFT, f"Only in {found.called.left}", len(found.delta.remove)),
        AclList(BOTH, "On both", len(found.left.index) - len(found.delta.remove)),
        AclList(RIGHT, f"Only in {found.called.right}", len(found.delta.add)),
    )
    shown = asked.get("acls", "")
    if shown not in (LEFT, BOTH, RIGHT):
        shown = next((each.name for each in (lists[0], lists[2]) if each.count), BOTH)
    # What is sorted once is kept with the revision: other pages of the list are asked for next.
    listed = found.left.view.loaded.remember(
        ("ACLs compared", shown, found.left.key, found.right.key), lambda: in_order(_acls(found, shown))
    )
    pages = page_of(listed, page_asked(asked, "lines"), ACLS_A_PAGE)
    target = draft_for(found, shown, person)
    why_not = ""
    if shown != BOTH and len(acls_of(found, shown)) > MOST_LINES:
        why_not = f"A draft has at most {MOST_LINES:,} ACLs."
    return Compared(lists, shown, pages, target.name if target is not None else "", why_not)


def draft_for(found: Comparison, name: str, person: User) -> Cluster | None:
    """Return the cluster to which somebody can ask to add a list: the other side, as it is now; None for none."""
    side = {LEFT: found.right, RIGHT: found.left}.get(name)
    if side is None or not _is_now(side) or not 0 < len(acls_of(found, name)) <= MOST_LINES:
        return None
    return side.view.cluster if access.may(person, "request", side.view.cluster) else None


def acls_of(found: Comparison, name: str) -> Sequence[AclBinding]:
    """Return the ACLs that only the one side has, or only the other."""
    return found.delta.remove if name == LEFT else found.delta.add


def _is_now(side: Side) -> bool:
    return side.moment is None and side.delta is None and side.view.revision is not None


def _acls(found: Comparison, name: str) -> Iterable[AclBinding]:
    if name != BOTH:
        return acls_of(found, name)
    removed = set(found.delta.remove)
    return (binding for binding in found.left.index if binding not in removed)


def in_order(bindings: Iterable[AclBinding]) -> Sequence[AclBinding]:
    """Return ACLs by principal and resource; only those that are looked at are sorted."""
    by_principal: dict[str, list[AclBinding]] = {}
    for binding in bindings:
        by_principal.setdefault(binding.principal, []).append(binding)
    groups = [by_principal[principal] for principal in sorted(by_principal)]
    starts = [0, *accumulate(map(len, groups))]

    def made(start: int, stop: int) -> list[AclBinding]:
        first = bisect_right(starts, start) - 1
        behind = bisect_left(starts, stop)
        listed = [binding for own in groups[first:behind] for binding in sorted(own, key=_order)]
        return listed[start - starts[first] : stop - starts[first]]

    return LazyRows(starts[-1], made)


def _order(binding: AclBinding) -> tuple[str, str]:
    return (binding.resource_type.name, binding.resource_name)
