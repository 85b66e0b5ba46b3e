"""What would this edit do? One answer for what-if pages, for submitting and for the worker.

A what-if is a change that nobody has saved. Author, reviewers and worker see the answer
of the same function, so nobody agrees to something else than what is written.

    plan_hash    the exact bindings in their order, the requester and the cluster: what is written
    impact_hash  the decisions that would differ: what it means

Cluster content that moves between review and writing matters only if it changes the
effect. `drift` decides that by computing the effect twice over the same names, once
with the ACLs of then and once with those of now.

An effect has a budget (`BUDGET`), so that no edit, whoever asks, keeps the site from others;
beyond it the answer is a sentence. Answers are kept by revision, edit and settings.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.kafka import Target, refusal, refused_everywhere, why_escaped, why_not_deletable
from aclweb.acl.kafka import commands as kafka_acls
from aclweb.acl.matching import why_dead, why_no_resource, why_no_topic
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    AclError,
    AuthorizerSettings,
    Delta,
    Operation,
    PatternType,
    ResourceType,
    Step,
    name_text,
    number_of,
    says,
)
from aclweb.acl.simulate import ON_A_SITE, Decision, Differences, Name, Names, TooCostly, simulate
from aclweb.changes.kept import Kept
from aclweb.changes.models import Change, ChangeError
from aclweb.inventory.current import InForce, Moment, in_force
from aclweb.inventory.fields import escape
from aclweb.inventory.models import Cluster, Revision

PLAN_FORMAT = 1

# A longer plan is unreadable for a reviewer and too much for one run of a worker.
MOST_ITEMS = 5_000

MOST_REFUSALS_TOLD = 5

BUDGET = ON_A_SITE

# The lists of an impact that hold answers which would differ.
DIFFERENCES = ("gains", "loses", "depends")

# Types whose existing names an effect is computed for.
_NAMED = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)

# Ends the name that stands for all names under a prefix; nobody's pattern continues so.
_ANY_MORE = "\u2063and-anything-more"


class TooMuch(ChangeError):
    """An effect beyond the budget; the message names the ACL that costs most."""


@dataclass(frozen=True)
class Preview:
    """What an edit would do to a cluster as it was last read.

    impact: what differs, which reads like the JSON of `python -m aclweb.acl whatif`, but for what no
    client can meet. plan: the steps in the safe order. commands: the same steps for kafka-acls.
    notes: sentences that a reader must not miss. is_idle: whether all of it is so already.
    there, gone: how many ACLs to add exist already, and how many to remove do not.
    settings: those that the effect was worked out by.
    """

    impact: Differences
    revision: Revision | None
    plan: tuple[Step, ...]
    plan_hash: str
    impact_hash: str
    commands: list[str]
    notes: tuple[str, ...]
    is_idle: bool
    settings: AuthorizerSettings
    there: int = 0
    gone: int = 0


@dataclass(frozen=True)
class Drift:
    """How far a cluster moved since a change was submitted.

    same_effect: whether the change still means what was approved. sentences: what
    differs, or what moved without changing the effect; empty if nothing moved.
    """

    same_effect: bool
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Content:
    """What a cluster holds at one moment, as far as an effect depends on it."""

    bindings: tuple[AclBinding, ...]
    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


def preview(
    cluster: Cluster,
    delta: Delta,
    *,
    new_topics: Sequence[str] = (),
    requester: int | None = None,
    force: InForce | None = None,
) -> Preview:
    """Return what `delta` and the new topics would do to the cluster as it was last read.

    requester: the primary key of whoever asks, part of the plan's hash. force: what is in
    force, where the caller has it. Raises ChangeError if the edit cannot be asked for (`check`),
    and TooMuch if its effect is beyond the budget.
    """
    check(delta)
    force = force or in_force(cluster)
    worked = _worked_out(cluster, delta, tuple(new_topics), force)
    return Preview(
        impact=worked.impact,
        revision=force.revision,
        plan=worked.plan,
        plan_hash=plan_hash(cluster, requester, steps_of(worked.plan)),
        impact_hash=worked.impact_hash,
        commands=worked.commands,
        notes=worked.notes,
        is_idle=worked.is_idle,
        settings=force.settings,
        there=worked.there,
        gone=worked.gone,
    )


@dataclass(frozen=True)
class _Worked:
    """All of a preview that is the same whoever asks."""

    impact: Differences
    impact_hash: str
    plan: tuple[Step, ...]
    commands: list[str]
    notes: tuple[str, ...]
    is_idle: bool
    there: int
    gone: int

    @property
    def weight(self) -> int:
        """About how many bytes this takes."""
        rows = [row for found in self.impact.rows.values() for row in found]
        names = {id(row.names): len(row.names) for row in rows}
        lines = sum(map(len, self.commands))
        return 10_000 + 300 * len(rows) + 120 * (sum(names.values()) + len(self.impact.resources)) + lines


_worked: Kept[_Worked] = Kept(lambda worked: worked.weight, TooMuch)
_drifts: Kept[Drift] = Kept(lambda _: 2_000, TooMuch, most_answers=256)


def forget() -> None:
    """Empty this process's memory of effects."""
    _worked.forget()
    _drifts.forget()


def _worked_out(cluster: Cluster, delta: Delta, new_topics: tuple[str, ...], force: InForce) -> _Worked:
    own = own_principal(cluster)

    def work_out() -> _Worked:
        impact = _impact(
            delta, force.index, names_of(_content_of(force), delta, new_topics=new_topics), force.settings
        )
        plan = delta.steps()
        calls, unsaid = _commands(plan, force.settings)
        there = sum(binding in force.index for binding in delta.add)
        gone = sum(binding not in force.index for binding in delta.remove)
        return _Worked(
            impact=impact,
            impact_hash=impact_hash(impact),
            plan=plan,
            commands=calls,
            notes=(*_notes(own, delta, force, there, gone), *unsaid),
            is_idle=there + gone == len(delta.add) + len(delta.remove) > 0,
            there=there,
            gone=gone,
        )

    return _worked.remember((*_standing(force), delta.add, delta.remove, new_topics, own), work_out)


def _standing(force: InForce) -> tuple[object, ...]:
    """Return what an effect depends on at the cluster: what was read, and the settings."""
    revision = force.revision
    read = (revision.pk, revision.read_at, revision.digest) if revision is not None else ()
    return (force.cluster.pk, read, force.groups_known, force.settings)


def check(delta: Delta) -> None:
    """Raise ChangeError if this edit cannot be asked for: a sentence that names the binding."""
    if len(delta.add) + len(delta.remove) > MOST_ITEMS:
        raise ChangeError(
            f"A change has at most {MOST_ITEMS:,} ACLs, and this one has {len(delta.add) + len(delta.remove):,}; "
            "split it."
        )
    for binding in delta.remove:
        if reason := why_not_deletable(binding):
            raise ChangeError(f"{_told(binding)}: {reason}")
    for binding in delta.add:
        if refusal := refused_everywhere("add", binding):
            raise ChangeError(f"{_told(binding)}: {refusal.sentence}")


def steps_of(plan: Iterable[Step]) -> tuple[tuple[int, str, AclBinding], ...]:
    """Return the plan as flat rows: phase, add or remove, binding, in the order of writing."""
    return tuple((step.phase, step.op, binding) for step in plan for binding in step.bindings)


def plan_hash(cluster: Cluster, requester: int | None, steps: Iterable[tuple[int, str, AclBinding]]) -> str:
    """Return the SHA-256 of exactly what is to be written, where, in which order, and for whom."""
    return _digest(
        {
            "format": PLAN_FORMAT,
            "cluster": cluster.slug,
            "cluster_id": cluster.cluster_id,
            "authorizer": cluster.authorizer,
            "requester": requester,
            "steps": [[phase, op, binding.as_dict()] for phase, op, binding in steps],
        }
    )


def impact_hash(impact: Differences) -> str:
    """Return the SHA-256 of the answers that would differ, whatever order they stand in."""
    return impact.digest(DIFFERENCES)


def names_of(content: Content, delta: Delta, *, new_topics: Sequence[str] = ()) -> Names:
    """Return the names that an effect is computed for: those that exist and those the edit names itself."""
    own: dict[ResourceType, list[str]] = {}
    for binding in (*delta.add, *delta.remove):
        if binding.pattern_type is PatternType.LITERAL and binding.resource_name != WILDCARD:
            own.setdefault(binding.resource_type, []).append(binding.resource_name)
    fresh = set(new_topics)
    named = (name for name in own.get(ResourceType.TOPIC, ()) if why_no_topic(name) is None)
    topics = (*content.topics, *named)
    return Names(
        topics=_distinct(name for name in topics if name not in fresh),
        groups=_distinct((*content.groups, *own.get(ResourceType.GROUP, ()))),
        transactional_ids=_distinct(own.get(ResourceType.TRANSACTIONAL_ID, ())),
        new_topics=tuple(new_topics),
    )


def drift(change: Change, now: Content, settings: AuthorizerSettings) -> Drift:
    """Return whether `change` would still do to `now` what was submitted, and what moved.

    The bindings of the change itself count as they were at submission: what this
    change, or somebody else, has already written of it is no drift.
    """
    if change.revision is None:
        told = "The snapshot that the impact was computed on is gone; submit the change again."
        return Drift(False, (told,))
    try:
        return _drift(change, in_force(change.cluster, as_of=Moment(change.revision)), now, settings)
    except TooMuch as error:
        return Drift(False, ("Whether the impact is still the same cannot be computed.", str(error)))


def _drift(change: Change, force: InForce, now: Content, settings: AuthorizerSettings) -> Drift:
    delta, then = change.delta, _content_of(force)
    declared = _drift_of_declarations(change, delta, force, settings)
    if not declared.same_effect:
        return declared

    now = replace(now, bindings=_with_items_of(then, now, delta))
    moved = _moved(then, now)
    if not moved:
        return Drift(True)
    names = _names_of_both(then, now, delta)
    effect_then = _impact(delta, force.index, names, settings)
    effect_now = _impact(delta, AclIndex(now.bindings), names, settings)
    differences = _differences(effect_then, effect_now, regions=_regions_that_moved(then, now))
    told = f"The cluster has changed since this was submitted: {moved}."
    if differences:
        return Drift(False, (told, *differences))
    return Drift(True, (f"{told} The impact is the same.",))


def drift_of_reading(change: Change, force: InForce | None = None) -> Drift:
    """Return the drift of the cluster as it was last read (`force`): what pages and approvals go by."""
    force = force or in_force(change.cluster)
    submitted = (change.pk, change.revision_id, change.plan_hash, change.impact_hash)

    def work_out() -> Drift:
        if force.revision is None or force.revision != change.revision:
            return drift(change, _content_of(force), force.settings)
        try:
            return _drift_of_declarations(change, change.delta, force, force.settings)
        except TooMuch as error:
            return Drift(False, (str(error),))

    return _drifts.remember((*_standing(force), submitted), work_out)


def _drift_of_declarations(
    change: Change, delta: Delta, then: InForce, settings: AuthorizerSettings
) -> Drift:
    """Return whether the same ACLs under the settings of now give the effect that was submitted."""
    again = _worked_out(then.cluster, delta, (), replace(then, settings=settings))
    if again.impact_hash == change.impact_hash:
        return Drift(True)
    told = f"What is declared of {change.cluster.name} has changed, and with it the impact."
    submitted = change.impact
    return Drift(False, (told, *(_differences(submitted, again.impact) if submitted is not None else ())))


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
    sides. So each of their names, and for a prefix one name that stands for all under
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
        _distinct((*then.topics, *now.topics, *extra.get(ResourceType.TOPIC, ()))),
        _distinct((*then.groups, *now.groups, *extra.get(ResourceType.GROUP, ()))),
    )
    names = names_of(both, delta)
    return replace(
        names,
        transactional_ids=_distinct(
            (*names.transactional_ids, *extra.get(ResourceType.TRANSACTIONAL_ID, ()))
        ),
        principals=_distinct(b.principal for b in bindings if b.principal != ANY_USER),
        hosts=_distinct(b.host for b in bindings if b.host != WILDCARD),
    )


def _regions_that_moved(then: Content, now: Content) -> frozenset[tuple[str, str]]:
    """Return the prefixes that only one side has, as resource type and text; `_ANY_MORE` stands for them."""
    return frozenset(
        (binding.resource_type.name, binding.resource_name)
        for binding in set(then.bindings) ^ set(now.bindings)
        if binding.pattern_type is PatternType.PREFIXED and binding.resource_type in _NAMED
    )


def _content_of(force: InForce) -> Content:
    return Content(
        bindings=force.index.bindings,
        topics=tuple(topic.name for topic in force.topics),
        groups=tuple(force.groups or ()),
    )


def _impact(delta: Delta, index: AclIndex, names: Names, settings: AuthorizerSettings) -> Differences:
    try:
        found = simulate(delta, index, names, settings, briefly=True, met_only=True, budget=BUDGET)
    except TooCostly as error:
        raise TooMuch(str(error)) from error
    return Differences.of(found)


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
        first += [_difference_told(*found, also=also) for found in _smallest(only, most)]
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


def _difference_told(decision: Decision, name: Name, *, also: bool) -> str:
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
    told = f"Because of that, {who} {verb} {operation} on {which}{where}."
    return told if _is_storable(told) else escape(told)


def done_already(there: int, gone: int) -> list[str]:
    """Return how many ACLs of an edit are as it asks already, as sentences."""
    kinds = ((there, "already exists", "already exist"), (gone, "is already gone", "are already gone"))
    return [f"{n:,} of these ACLs {one if n == 1 else many}." for n, one, many in kinds if n]


def _notes(own: str | None, delta: Delta, force: InForce, there: int, gone: int) -> tuple[str, ...]:
    """Return what a reader must not miss beside the effect itself; own: the principal of aclweb."""
    notes = done_already(there, gone)
    unmet = [
        reason
        for binding in (*delta.add, *delta.remove)
        if (reason := why_dead(binding, force.settings) or why_no_resource(binding))
    ]
    if unmet:
        who = "1 of these ACLs matches" if len(unmet) == 1 else f"{len(unmet):,} of these ACLs match"
        such = "" if len(unmet) == 1 else "For example, "
        notes.append(
            f"{who} no request, so it changes nothing for anybody: {such}{unmet[0]}."
            if len(unmet) == 1
            else f"{who} no request, so they change nothing for anybody. {such}{unmet[0]}."
        )
    notes += _refusals(delta, force.settings)
    touching = [
        binding
        for binding in (*delta.add, *delta.remove)
        if binding.resource_type is ResourceType.CLUSTER
        and binding.operation in (Operation.ALL, Operation.DESCRIBE, Operation.ALTER)
        and binding.principal in (own, ANY_USER)
    ]
    if own is not None and touching:
        notes.append(
            f"This changes aclweb's own rights: it signs in as {own} and needs Describe and Alter on the cluster."
        )
    return tuple(notes)


def _refusals(delta: Delta, settings: AuthorizerSettings) -> list[str]:
    """Return what this cluster would refuse of the edit, with its own words; the first few of it."""
    target = Target(settings)
    told = [
        f"{says(binding)}: {refused.sentence} Kafka would answer {refused.in_kafkas_words}"
        for verb, bindings in (("add", delta.add), ("remove", delta.remove))
        for binding in bindings
        if (refused := refusal(verb, binding, target)) is not None
    ]
    rest = len(told) - MOST_REFUSALS_TOLD
    return [
        *told[:MOST_REFUSALS_TOLD],
        *([f"The cluster would refuse {number_of(rest, 'more ACL')}."] if rest > 0 else []),
    ]


def own_principal(cluster: Cluster) -> str | None:
    """Return the principal that aclweb signs in as, or None where no broker checks it or a certificate says it."""
    return cluster.source.signs_in_as(cluster.options or {})


def commands_of(change: Change, force: InForce) -> tuple[str, ...]:
    """Return the change as kafka-acls commands, in the order of writing."""
    return tuple(_commands(change.delta.steps(), force.settings)[0])


def _commands(plan: Iterable[Step], settings: AuthorizerSettings) -> tuple[list[str], tuple[str, ...]]:
    """Return the plan as kafka-acls lines, and sentences for what it cannot express, or only as bytes."""
    lines: list[str] = []
    unsaid: list[str] = []
    for step in plan:
        for binding in step.bindings:
            try:
                lines += kafka_acls((binding,), op=step.op, settings=settings)
            except AclError as error:
                unsaid.append(f"kafka-acls cannot take this ACL: {error}")
            else:
                unsaid += filter(None, (why_escaped(binding),))
    return lines, _distinct(unsaid)


def _told(binding: AclBinding) -> str:
    words = binding.as_dict()
    return (
        f"{words['permission_type']} {words['principal']!r} {words['operation']} on "
        f"{words['resource_type']} {words['resource_name']!r}"
    )


_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(value: object) -> object:
    """Return the JSON value with NUL and lone surrogates as visible escapes: no database holds them in JSON."""
    if isinstance(value, str):
        return value if _is_storable(value) else escape(value)
    if isinstance(value, Mapping):
        return {str(storable(key)): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value


def _is_storable(text: str) -> bool:
    return _UNSTORABLE.search(text) is None


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
