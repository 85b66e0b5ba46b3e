"""What would this edit do? One answer for what-if pages, for submitting and for the worker.

A what-if is a change that nobody has saved. Author, reviewers and worker see the answer
of the same function, so nobody agrees to something else than what is written.

    plan_hash    the exact bindings in their order, the requester and the cluster: what is written
    impact_hash  the decisions that would differ: what it means

Answers are kept by revision, edit and settings.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from weakref import WeakValueDictionary

from aclweb.acl.kafka import refused_everywhere, why_not_deletable
from aclweb.acl.model import (
    AclBinding,
    AuthorizerSettings,
    Delta,
    Step,
    computed_once,
)
from aclweb.acl.simulate import Budget, Impact
from aclweb.changes.impact import TooMuch as TooMuch
from aclweb.changes.impact import (
    impact_hash,
    impact_of,
    names_in,
    on_which_impact_depends,
    sha256_of,
)
from aclweb.changes.kept import Kept
from aclweb.changes.models import ChangeError, Computation
from aclweb.changes.notes import commands_and_limits, notes_of, own_principal
from aclweb.changes.question import finished, what_if
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.models import Cluster, Revision

PLAN_FORMAT = 1

# A longer plan is unreadable for a reviewer and too much for one run of a worker.
MOST_ITEMS = 5_000


@dataclass(frozen=True)
class Preview:
    """What an edit would do to a cluster as it was last read.

    impact: what differs, but for what no client can meet. plan: the steps in the safe order. hash_plan: what returns
    `plan_hash`, of the cluster as it was declared when the preview was made.
    commands: the same steps for kafka-acls. notes: sentences that a reader must not miss.
    changes_nothing: whether every ACL is as it asks already. added_already, removed_already: how
    many ACLs to add exist, and how many to remove do not.
    settings: those that the impact was worked out by.
    """

    impact: Impact
    revision: Revision | None
    plan: tuple[Step, ...]
    hash_plan: Callable[[], str] = field(repr=False, compare=False)
    worked: WorkedOut = field(repr=False, compare=False)
    commands: list[str]
    notes: tuple[str, ...]
    changes_nothing: bool
    settings: AuthorizerSettings
    added_already: int = 0
    removed_already: int = 0

    @computed_once
    def plan_hash(self) -> str:
        """What identifies exactly this plan; no page that only shows it asks for it."""
        return self.hash_plan()

    @property
    def impact_hash(self) -> str:
        """What identifies the answers that would differ."""
        return self.worked.impact_hash

    def with_hashes(self) -> Preview:
        """Return the same with both hashes worked out, which of a large edit takes too long while rows are locked."""
        _ = self.plan_hash, self.impact_hash
        return self


def preview(
    cluster: Cluster,
    delta: Delta,
    *,
    new_topics: Sequence[str] = (),
    requester: int | None = None,
    view: ClusterView | None = None,
    computed: Computation | None = None,
) -> Preview:
    """Return what `delta` and the new topics would do to the cluster as it was last read.

    requester: the primary key of whoever asks, part of the plan's hash. view: the cluster as
    it is now, where the caller has it. computed: what a worker has done of exactly this, whose impact
    is the answer; looked up if left out. Raises ChangeError if the edit cannot be asked for (`check`),
    and TooMuch if its impact is beyond the budget.
    """
    check(delta)
    view = view or in_force(cluster)
    worked = worked_out(cluster, delta, tuple(new_topics), view, computed=computed)
    return Preview(
        impact=worked.impact,
        revision=view.revision,
        plan=worked.plan,
        hash_plan=partial(_hash_of_plan, _place_of(cluster), requester, worked.plan),
        worked=worked,
        commands=worked.commands,
        notes=worked.notes,
        changes_nothing=worked.changes_nothing,
        settings=view.settings,
        added_already=worked.added_already,
        removed_already=worked.removed_already,
    )


@dataclass(frozen=True)
class WorkedOut:
    """All of a preview that is the same whoever asks. known_hash: of the impact, where a worker has computed it."""

    impact: Impact
    known_hash: str | None
    plan: tuple[Step, ...]
    commands: list[str]
    notes: tuple[str, ...]
    changes_nothing: bool
    added_already: int
    removed_already: int

    @computed_once
    def impact_hash(self) -> str:
        """What identifies the answers that would differ; a what-if never asks for it."""
        return impact_hash(self.impact) if self.known_hash is None else self.known_hash

    @property
    def weight(self) -> int:
        """About how many bytes this takes."""
        return 10_000 + self.impact.weight + sum(map(len, self.commands))


_worked: Kept[WorkedOut] = Kept(lambda worked: worked.weight, TooMuch)

_impacts: WeakValueDictionary[Hashable, Impact] = WeakValueDictionary()
"""The impacts of what is kept, by edits in whatever order: that of a change is that of writing."""


def worked_out(
    cluster: Cluster,
    delta: Delta,
    new_topics: tuple[str, ...],
    view: ClusterView,
    *,
    budget: Budget | None = None,
    computed: Computation | None = None,
) -> WorkedOut:
    """Return all of a preview that is the same whoever asks, from memory where it is kept.

    What a worker has computed is taken from there. budget: another than that of a page. computed: as in `preview`.
    """
    own = own_principal(cluster)
    asked = what_if(view, delta, new_topics)

    def work_out(computed: Computation | None) -> WorkedOut:
        known = computed and computed.impact
        impact = known or _impact_in_any_order(delta, new_topics, view, budget)
        plan = delta.steps()
        calls, limits = commands_and_limits(plan, view.settings)
        added_already = sum(binding in view.index for binding in delta.add)
        removed_already = sum(binding not in view.index for binding in delta.remove)
        return WorkedOut(
            impact=impact,
            known_hash=computed.impact_hash if computed and known else None,
            plan=plan,
            commands=calls,
            notes=(*notes_of(own, delta, view, added_already, removed_already), *limits),
            changes_nothing=added_already + removed_already == len(delta.add) + len(delta.remove) > 0,
            added_already=added_already,
            removed_already=removed_already,
        )

    question = (*on_which_impact_depends(view), delta, new_topics, own, budget)
    if computed is not None:
        return _worked.remember((*question, computed.pk), lambda: work_out(computed))
    try:
        return _worked.remember(question, lambda: work_out(finished(asked)))
    except TooMuch:
        # The refusal is kept; since then a worker may have computed it.
        done = finished(asked)
        if done is None:
            raise
    return _worked.remember((*question, done.pk), lambda: work_out(done))


def _impact_in_any_order(
    delta: Delta, new_topics: tuple[str, ...], view: ClusterView, budget: Budget | None
) -> Impact:
    """Return the impact of an edit, which is the same in whatever order its ACLs are."""
    edit = (frozenset(delta.add), frozenset(delta.remove), new_topics)
    question = (*on_which_impact_depends(view), edit, budget)
    found = _impacts.get(question)
    if found is None:
        names = names_in(view, new_topics=new_topics)
        found = _impacts[question] = impact_of(delta, view.index, names, view.settings, budget=budget)
    return found


def check(delta: Delta) -> None:
    """Raise ChangeError if this edit cannot be asked for: a sentence that names the binding."""
    if len(delta.add) + len(delta.remove) > MOST_ITEMS:
        raise ChangeError(
            f"A change has at most {MOST_ITEMS:,} ACLs, and this one has {len(delta.add) + len(delta.remove):,}; "
            "split it."
        )
    for binding in delta.remove:
        if reason := why_not_deletable(binding):
            raise ChangeError(f"{_in_words(binding)}: {reason}")
    for binding in delta.add:
        if refusal := refused_everywhere("add", binding):
            raise ChangeError(f"{_in_words(binding)}: {refusal.sentence}")


def steps_of(plan: Iterable[Step]) -> tuple[tuple[int, str, AclBinding], ...]:
    """Return the plan as flat rows: phase, add or remove, binding, in the order of writing."""
    return tuple((step.phase, step.op, binding) for step in plan for binding in step.bindings)


def plan_hash(cluster: Cluster, requester: int | None, steps: Iterable[tuple[int, str, AclBinding]]) -> str:
    """Return the SHA-256 of exactly what is to be written, where, in which order, and for whom."""
    return _hash_of_steps(_place_of(cluster), requester, steps)


def _place_of(cluster: Cluster) -> Mapping[str, str]:
    """Return what of a cluster is part of a plan, as it is declared now."""
    return {"cluster": cluster.slug, "cluster_id": cluster.cluster_id, "authorizer": cluster.authorizer}


def _hash_of_plan(place: Mapping[str, str], requester: int | None, plan: Iterable[Step]) -> str:
    return _hash_of_steps(place, requester, steps_of(plan))


def _hash_of_steps(
    place: Mapping[str, str], requester: int | None, steps: Iterable[tuple[int, str, AclBinding]]
) -> str:
    return sha256_of(
        {
            "format": PLAN_FORMAT,
            **place,
            "requester": requester,
            "steps": [[phase, op, binding.as_dict()] for phase, op, binding in steps],
        }
    )


def _in_words(binding: AclBinding) -> str:
    words = binding.as_dict()
    return (
        f"{words['permission_type']} {words['principal']!r} {words['operation']} on "
        f"{words['resource_type']} {words['resource_name']!r}"
    )
