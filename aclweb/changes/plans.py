"""Which ACLs does a change ask for, and what became of each?

A page of a change asks for its ACLs each time, thousands of a large one, and hardly ever has anything of them changed.
So their rows are read, and made into objects and an edit only where they are others than last time.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from aclweb.acl.model import Delta, computed_once
from aclweb.changes.models import Change, ChangeItem

MOST_ROWS = 10_000
"""Of so many ACLs in all the rows stay in memory, with some 2 KB each; of one change at least."""

_COLUMNS = tuple(field.attname for field in ChangeItem._meta.concrete_fields)

_Rows = tuple[tuple[Any, ...], ...]


class Plan:
    """The ACLs of a change in the order of writing, as they were read. Several requests may share them."""

    def __init__(self, change: Change, rows: _Rows) -> None:
        self.rows = rows
        self.items = tuple(ChangeItem.from_db(change._state.db, _COLUMNS, row) for row in rows)

    @computed_once
    def delta(self) -> Delta:
        """What is to be added and removed."""
        return Delta(
            add=tuple(item.binding for item in self.items if item.op == ChangeItem.Op.ADD),
            remove=tuple(item.binding for item in self.items if item.op == ChangeItem.Op.REMOVE),
        )


def plan_of(change: Change) -> Plan:
    """Return the ACLs of a change as they are now, which `change.items` then has too; one query."""
    rows = tuple(ChangeItem.objects.filter(change=change.pk).order_by("position").values_list(*_COLUMNS))
    with _lock:
        found = _plans.get(change.pk)
    if found is None or found.rows != rows:
        found = Plan(change, rows)
    with _lock:
        _plans[change.pk] = found
        _plans.move_to_end(change.pk)
        while len(_plans) > 1 and sum(len(plan.rows) for plan in _plans.values()) > MOST_ROWS:
            _plans.popitem(last=False)
    _give(change, found)
    return found


def _give(change: Change, plan: Plan) -> None:
    """Let `change.items.all()` be these ACLs, as Django's prefetch does, without another query."""
    every = change.items.all()
    every._result_cache = list(plan.items)
    change.__dict__.setdefault("_prefetched_objects_cache", {})["items"] = every


def forget() -> None:
    """Empty this process's memory, as if it had just started."""
    with _lock:
        _plans.clear()


_plans: OrderedDict[int, Plan] = OrderedDict()
_lock = threading.Lock()
