"""Would a change still do to the cluster what it did when it was submitted?

Cluster content that changes between review and writing matters only if it changes the
impact. `drift` decides that by computing the impact twice over the same names, once
with the ACLs of then and once with those of now.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection
from dataclasses import dataclass, replace

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    Delta,
    Operation,
    PatternType,
    ResourceType,
    name_text,
    number_of,
)
from aclweb.acl.simulate import Decision, Differences, Name, Names
from aclweb.changes.impact import (
    DIFFERENCES,
    Content,
    TooMuch,
    content_of,
    distinct,
    impact_of,
    names_of,
    on_which_impact_depends,
)
from aclweb.changes.kept import Kept
from aclweb.changes.models import Change
from aclweb.changes.preview import worked_out
from aclweb.inventory.current import ClusterView, Moment, in_force
from aclweb.inventory.fields import storable

# Types whose existing names an impact is computed for.
_NAMED = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)

# Ends the name that stands for all names under a prefix; nobody's pattern continues so.
_ANY_MORE = "\u2063and-anything-more"


@dataclass(frozen=True)
class Drift:
    """How far a cluster moved since a change was submitted.

    same_effect: whether the change still means what was approved. sentences: what
    differs, or what moved without changing the effect; empty if nothing moved.
    """

    same_effect: bool
    sentences: tuple[str, ...] = ()


_drifts: Kept[Drift] = Kept(lambda _: 2_000, TooMuch, most_answers=256)


def drift(change: Change, now: Content, settings: AuthorizerSettings) -> Drift:
    """Return whether `change` would still do to `now` what was submitted, and what moved.

    The bindings of the change itself count as they were at submission: what this
    change, or somebody else, has already written of it is no drift.
    """
    if change.revision is None:
        why = "The snapshot that the impact was computed on is gone; submit the change again."
        return Drift(False, (why,))
    try:
        return _drift(change, in_force(change.cluster, as_of=Moment(change.revision)), now, settings)
    except TooMuch as error:
        return Drift(False, ("Whether the impact is still the same cannot be computed.", str(error)))


def _drift(change: Change, view: ClusterView, now: Content, settings: AuthorizerSettings) -> Drift:
    delta, then = change.delta, content_of(view)
    declared = _drift_of_declarations(change, delta, view, settings)
    if not declared.same_effect:
        return declared

    now = replace(now, bindings=_with_items_of(then, now, delta))
    moved = _moved(then, now)
    if not moved:
        return Drift(True)
    names = _names_of_both(then, now, delta)
    effect_then = impact_of(delta, view.index, names, settings)
    effect_now = impact_of(delta, AclIndex(now.bindings), names, settings)
    differences = _differences(effect_then, effect_now, regions=_regions_that_moved(then, now))
    changed = f"The cluster has changed since this was submitted: {moved}."
    if differences:
        return Drift(False, (changed, *differences))
    return Drift(True, (f"{changed} The impact is the same.",))


def drift_since_sync(change: Change, view: ClusterView | None = None) -> Drift:
    """Return the drift of the cluster as it was last read (`view`): what pages and approvals go by."""
    view = view or in_force(change.cluster)
    submitted = (change.pk, change.revision_id, change.plan_hash, change.impact_hash)

    def work_out() -> Drift:
        if view.revision is None or view.revision != change.revision:
            return drift(change, content_of(view), view.settings)
        try:
            return _drift_of_declarations(change, change.delta, view, view.settings)
        except TooMuch as error:
            return Drift(False, (str(error),))

    return _drifts.remember((*on_which_impact_depends(view), submitted), work_out)


def _drift_of_declarations(
    change: Change, delta: Delta, then: ClusterView, settings: AuthorizerSettings
) -> Drift:
    """Return whether the same ACLs under the settings of now give the effect that was submitted."""
    again = worked_out(then.cluster, delta, (), replace(then, settings=settings))
    if again.impact_hash == change.impact_hash:
        return Drift(True)
    changed = f"What is declared of {change.cluster.name} has changed, and with it the impact."
    submitted = change.impact
    return Drift(False, (changed, *(_differences(submitted, again.impact) if submitted is not None else ())))


def _with_items_of(then: Content, now: Content, delta: Delta) -> tuple[AclBinding, ...]:
    """Return the bindings of now, with those of the delta present exactly if they were present then."""
    ours = frozenset((*delta.add, *delta.remove))
    return (
        *(binding for binding in now.bindings if binding not in ours),
        *(binding for binding in then.bindings if binding in ours),
    )


def _moved(then: Content, now: Content) -> str:
    """Return what came and went, as the middle of a sentence; empty if nothing did.

    Groups are left out: they come and go by the minute, and no answer depends on them.
    """
    parts = []
    for word, before, after in (
        ("ACL", set(then.bindings), set(now.bindings)),
        ("topic", set(then.topics), set(now.topics)),
    ):
        came, went = len(after - before), len(before - after)
        for number, verb in ((came, "added"), (went, "removed")):
            if number:
                parts.append(f"{number_of(number, word)} {'was' if number == 1 else 'were'} {verb}")
    return ", ".join(parts)


def _names_of_both(then: Content, now: Content, delta: Delta) -> Names:
    """Return the names over which both effects have the same cells, so that they can be compared.

    Rules that came or went split what "every other name" means differently on the two
    sides. So each of their names, and for a prefix one name that represents all under
    it, is given to both.
    """
    bindings = (*then.bindings, *now.bindings)
    extra: dict[ResourceType, list[str]] = {}
    for binding in sorted(set(then.bindings) ^ set(now.bindings), key=str):
        if not binding.pattern.is_wildcard:
            extra.setdefault(binding.resource_type, []).append(binding.resource_name)
            if binding.pattern_type is PatternType.PREFIXED:
                extra[binding.resource_type].append(binding.resource_name + _ANY_MORE)
    both = Content(
        bindings,
        distinct((*then.topics, *now.topics, *extra.get(ResourceType.TOPIC, ()))),
        distinct((*then.groups, *now.groups, *extra.get(ResourceType.GROUP, ()))),
    )
    names = names_of(both, delta)
    return replace(
        names,
        transactional_ids=distinct((*names.transactional_ids, *extra.get(ResourceType.TRANSACTIONAL_ID, ()))),
        principals=distinct(b.principal for b in bindings if b.principal != ANY_USER),
        hosts=distinct(b.host for b in bindings if b.host != WILDCARD),
    )


def _regions_that_moved(then: Content, now: Content) -> frozenset[tuple[str, str]]:
    """Return the prefixes that only one side has, as resource type and text; `_ANY_MORE` represents them."""
    return frozenset(
        (binding.resource_type.name, binding.resource_name)
        for binding in set(then.bindings) ^ set(now.bindings)
        if binding.pattern_type is PatternType.PREFIXED and binding.resource_type in _NAMED
    )


def _differences(
    then: Differences,
    now: Differences,
    *,
    regions: frozenset[tuple[str, str]] = frozenset(),
    most: int = 5,
) -> tuple[str, ...]:
    """Return sentences for the answers that only one of the two effects has; `regions` are not compared."""
    before, after = (impact.decisions(DIFFERENCES) for impact in (then, now))
    count, first = 0, []
    for ours, others, also in ((after, before, True), (before, after, False)):
        only = [
            (decision, name)
            for decision, names in ours.items()
            for name in names - others.get(decision, frozenset())
            if not (name[0] == "PREFIX" and (decision.resource_type, name[1]) in regions)
        ]
        count += len(only)
        first += [_sentence(*found, also=also) for found in _smallest(only, most)]
    if count > most:
        return (*first[:most], f"And {number_of(count - most, 'more difference')}.")
    return tuple(first)


def _smallest(found: Collection[tuple[Decision, Name]], most: int) -> list[tuple[Decision, Name]]:
    return heapq.nsmallest(most, found, key=lambda each: (*map(str, each[0]), each[1]))


_WOULD = {
    # list of the impact: with the change of now, and with that of then alone
    "gains": ("would now also gain", "would no longer gain"),
    "loses": ("would now also lose", "would no longer lose"),
    "depends": ("would now perhaps have", "would no longer perhaps have"),
}


def _sentence(decision: Decision, name: Name, *, also: bool) -> str:
    """Say what one answer does in the effect of now (`also`), or did only in the one that was submitted."""
    verb = _WOULD[decision.change][0 if also else 1]
    who = "everybody else" if decision.principal == WILDCARD else name_text(decision.principal)
    where = "" if decision.host == WILDCARD else f" from {name_text(decision.host)}"
    kind, text = name
    if kind == "EXACT" and text.endswith(_ANY_MORE):
        kind, text = "PREFIX", text.removesuffix(_ANY_MORE)
    resource = decision.resource_type.lower().replace("_", " ")
    prefix = "" if resource == "topic" else f"{resource} "
    which = {
        "EXACT": "the cluster" if resource == "cluster" else f"{prefix}{name_text(text)}",
        "PREFIX": f"every other {resource} that starts with {name_text(text)}",
        "PATTERN": f"every other {resource} like {name_text(text)}",
    }.get(kind, f"every other {resource}")
    operation = Operation[decision.operation].pascal
    return storable(f"Because of that, {who} {verb} {operation} on {which}{where}.")
