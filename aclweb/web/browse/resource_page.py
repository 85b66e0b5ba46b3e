"""How is one resource laid out: which rows are open, which are folded, and which ACLs are only counted?

On a cluster of a hundred thousand ACLs hundreds match one topic, nearly all of them
through `*`. Those are folded with their parts counted, so that what is particular to the
resource is seen first; and what is not folded comes in pages, so that no page is large.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlencode

from django.core.paginator import Page

from aclweb.acl.model import WORDS, AclBinding, Operation, ResourceType
from aclweb.acl.notation import binding_key
from aclweb.inventory.access import AccessRow, Cell, ResourceAccess, asked_first, topic_access
from aclweb.inventory.current import Moment
from aclweb.inventory.models import Cluster
from aclweb.web.shell.paging import page_of

# The types whose names a list can show, in the order of its tabs.
LISTED = {kind.name: kind for kind in (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)}

# A row of the matrix is some sixty elements and four kilobytes: so many keep a page below 50 KiB and on one screen.
ROWS_SHOWN = 7
ACLS_SHOWN = 12
FOLDED_SHOWN = 8
# ACLs named in one address by their keys: web servers take some four thousand characters.
MOST_REMOVED = 45


@dataclass(frozen=True)
class ResourcePage:
    """One resource with its rows and ACLs parted into shown and folded.

    rows: the page of principals that is asked for, without those that are folded.
    special: any other user, and the super users; they are on every page of everybody.
    elsewhere: of the principals that are asked for, how many have no row, since no ACL on it names them.
    """

    access: ResourceAccess
    rows: Page[AccessRow]
    folded_rows: tuple[AccessRow, ...]
    special: tuple[AccessRow, ...]
    acls: tuple[AclBinding, ...]
    folded_acls: tuple[AclBinding, ...]
    elsewhere: int = 0

    @classmethod
    def of(
        cls,
        cluster: Cluster,
        kind: ResourceType,
        name: str,
        *,
        as_of: Moment | None = None,
        show_all: bool = False,
        only: frozenset[str] | None = None,
        page: int = 1,
    ) -> Self:
        """Return the page of one resource of a cluster that was just read; with `show_all` no principal is folded.

        only: the principals that have rows, none of them folded and nobody else beside; None for everybody.
        """
        access = topic_access(cluster, kind, name, as_of=as_of, just_read=True)
        named = [
            row for row in access.rows if row.kind == "principal" and (only is None or row.principal in only)
        ]
        show_all = show_all or only is not None
        near = [row for row in named if show_all or _is_particular(row)]
        through_all = [row for row in named if not (show_all or _is_particular(row))]
        if len(through_all) <= 2:  # a fold that hides two rows hides nothing worth a click
            near, through_all = named, []
        own = [binding for binding in access.bindings if _is_shown(binding)]
        hidden = [binding for binding in access.bindings if not _is_shown(binding)]
        if len(hidden) <= 2:
            own, hidden = list(access.bindings), []
        return cls(
            access=access,
            rows=page_of(near, page, ROWS_SHOWN),
            folded_rows=tuple(through_all),
            special=tuple(row for row in access.rows if row.kind != "principal" and only is None),
            elsewhere=len(only.difference(row.principal for row in named)) if only is not None else 0,
            acls=tuple(own[:ACLS_SHOWN]),
            folded_acls=(*own[ACLS_SHOWN:], *hidden),
        )

    @property
    def folded_acls_shown(self) -> tuple[AclBinding, ...]:
        """The first of the folded ACLs; the list of ACLs has all of them."""
        return self.folded_acls[:FOLDED_SHOWN]

    @property
    def folds_only_all(self) -> bool:
        """Whether each folded ACL is for every name."""
        return not any(_is_shown(binding) for binding in self.folded_acls)

    @property
    def folded_acls_counted(self) -> list[tuple[str, int]]:
        """How many of the folded ACLs there are for each permission and operation, most first."""
        return counted(self.folded_acls)

    @property
    def always_shown(self) -> tuple[Operation, ...]:
        """The operations that narrow windows show also where no ACL gives them."""
        return asked_first(self.access.resource.resource_type)

    @property
    def always_shown_words(self) -> str:
        """These operations for a sentence: `Read and Write`."""
        return " and ".join(operation.pascal for operation in self.always_shown)

    @property
    def denies(self) -> int:
        return sum(binding.is_deny for binding in self.access.bindings)


def counted(bindings: Iterable[AclBinding]) -> list[tuple[str, int]]:
    """Return ("DENY Delete", 1), ("Read", 8), …, most first."""
    found = Counter((binding.is_deny, WORDS[binding.operation]) for binding in bindings)
    return [
        (f"DENY {operation}" if is_deny else operation, count)
        for (is_deny, operation), count in found.most_common()
    ]


def cell_of(
    access: ResourceAccess, principal: str, kind: str, operation: Operation
) -> tuple[AccessRow | None, Cell | None]:
    """Return one row of the matrix and its cell for the operation; None for what is not there."""
    for row in access.rows:
        if row.kind == kind and (kind != "principal" or row.principal == principal):
            return row, row.cell(operation)
    return None, None


def heading_of(cell: Cell) -> str:
    """Return what a cell says, as the head of its reason: `Write is refused, from every host`."""
    words = {
        "allowed": "is allowed, from every host",
        "refused": "is refused, from every host",
        "none": "is refused: no ACL allows it",
        "some-hosts": "is allowed only from some hosts",
        "default": "is open: no ACL exists",
    }
    return f"{WORDS[cell.operation]} {words.get(cell.state, 'is unknown')}"


def removals(bindings: Sequence[AclBinding]) -> str:
    """Return the query of a what-if that removes these ACLs; empty without any, or with more than an address holds."""
    if len(bindings) > MOST_REMOVED:
        return ""
    return urlencode([("remove_key", binding_key(binding)) for binding in bindings])


def _is_particular(row: AccessRow) -> bool:
    """Whether something in this row is due to more than ACLs for every name."""
    return any(
        verdict.state == "refused" or verdict.through in ("exact", "prefix") for verdict in row.verdicts
    )


def _is_shown(binding: AclBinding) -> bool:
    return binding.is_deny or not binding.pattern.is_wildcard
