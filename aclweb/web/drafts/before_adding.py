"""What would the ACL that is being typed change, before it is added to the draft, and what those that are being chosen?

Asked at each key and each tick, so it may cost a small part of what a page may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aclweb.acl.model import AclBinding, Delta
from aclweb.acl.simulate import Budget, Impact
from aclweb.changes.models import ChangeError
from aclweb.changes.preview import TooMuch, worked_out
from aclweb.inventory.current import ClusterView
from aclweb.web.drafts import impact_rows
from aclweb.web.drafts.draft import Draft, Line

WHILE_TYPING = Budget(steps=40_000, differences=10_000, whose="a form that is being typed")
"""Some half a second of one core."""


@dataclass(frozen=True)
class BeforeAdding:
    """What ACLs would change by themselves, and the draft with them.

    told: what they change. counts, with_draft: how many answers, by kind; with_draft is None where the draft has
    nothing else. is_too_much: whether that takes longer than a form may wait, so that nothing else is known.
    """

    told: impact_rows.Told | None = None
    counts: Mapping[str, int] | None = None
    with_draft: Mapping[str, int] | None = None
    is_too_much: bool = False

    @property
    def changes_nothing(self) -> bool:
        return self.counts is not None and not any(self.counts.values())


def told(view: ClusterView, draft: Draft, bindings: Sequence[AclBinding]) -> BeforeAdding | None:
    """Return what these ACLs would change; None where nobody knows, as of a cluster that was never read."""
    new = tuple(binding for binding in bindings if binding not in view.index)
    if not new or view.revision is None:
        return None
    try:
        alone = _impact(view, Delta(add=new), draft.new_topics)
        with_draft = None
        if draft.lines:
            joined = draft.joined([Line("add", binding) for binding in new])
            with_draft = _impact(view, joined.delta, draft.new_topics).counts
    except TooMuch:
        return BeforeAdding(is_too_much=True)
    except ChangeError:
        # The form says by itself what no cluster takes.
        return None
    return BeforeAdding(told=impact_rows.told(alone), counts=alone.counts, with_draft=with_draft)


def if_removed(view: ClusterView, bindings: Sequence[AclBinding]) -> BeforeAdding | None:
    """Return what would change without these ACLs; None for none of them, and where none can be removed."""
    going = tuple(binding for binding in bindings if binding in view.index)
    if not going:
        return None
    try:
        impact = _impact(view, Delta(remove=going), ())
    except TooMuch:
        return BeforeAdding(is_too_much=True)
    except ChangeError:
        return None
    return BeforeAdding(counts=impact.counts)


def _impact(view: ClusterView, delta: Delta, new_topics: tuple[str, ...]) -> Impact:
    return worked_out(view.cluster, delta, new_topics, view, budget=WHILE_TYPING).impact
