"""What would this edit do? One answer for what-if pages, for submitting and for the worker.

A what-if is a change that nobody has saved. Author, reviewers and worker see the answer
of the same function, so nobody agrees to something else than what is written.

    plan_hash    the exact bindings in their order, the requester and the cluster: what is written
    impact_hash  the decisions that would differ: what it means

Cluster content that moves between review and writing matters only if it changes the
effect. `drift` decides that by computing the effect twice over the same names, once
with the ACLs of then and once with those of now.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aclweb.acl.delta import Delta, Step
from aclweb.acl.index import AclIndex
from aclweb.acl.kafka_acls_commands import commands as kafka_acls
from aclweb.acl.kafka_acls_commands import why_escaped
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    AclError,
    Operation,
    PatternType,
    ResourceType,
)
from aclweb.acl.profiles import Rules
from aclweb.acl.validation import Target, refusal, refused_everywhere, why_not_deletable
from aclweb.acl.whatif import Names, simulate
from aclweb.acl.wording import says
from aclweb.changes.models import Change, ChangeError
from aclweb.clusters import SourceKind
from aclweb.inventory.current import InForce, Moment, in_force
from aclweb.inventory.fields import escape
from aclweb.inventory.models import Cluster, Revision

PLAN_FORMAT = 1

# A longer plan is unreadable for a reviewer and too much for one run of a worker.
MOST_ITEMS = 5_000

MOST_REFUSALS_TOLD = 5

# The lists of an impact that hold answers which would differ.
DIFFERENCES = ("gains", "loses", "depends")

# Types whose existing names an effect is computed for.
_NAMED = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)

# Ends the name that stands for all names under a prefix; nobody's pattern continues so.
_ANY_MORE = "\u2063and-anything-more"


@dataclass(frozen=True)
class Preview:
    """What an edit would do to a cluster as it was last read.

    impact: the JSON of `python -m aclweb.acl whatif`. plan: the steps in the safe order.
    commands: the same steps for kafka-acls. notes: sentences that a reader must not miss.
    """

    impact: dict[str, Any]
    revision: Revision | None
    plan: tuple[Step, ...]
    plan_hash: str
    impact_hash: str
    commands: list[str]
    notes: tuple[str, ...]


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
    names: Names | None = None,
    requester: int | None = None,
    force: InForce | None = None,
) -> Preview:
    """Return what `delta` and the new topics would do to the cluster as it was last read.

    requester: the primary key of whoever asks, part of the plan's hash. force: what is in
    force, where the caller has it. Raises ChangeError if the edit cannot be asked for (`check`).
    """
    check(delta)
    force = force or in_force(cluster)
    if names is None:
        names = names_of(_content_of(force), delta, new_topics=new_topics)
    impact = _impact(delta, force.index, names, force.rules)
    plan = delta.steps()
    calls, unsaid = _commands(plan, force.rules)
    return Preview(
        impact=impact,
        revision=force.revision,
        plan=plan,
        plan_hash=plan_hash(cluster, requester, steps_of(plan)),
        impact_hash=impact_hash(impact),
        commands=calls,
        notes=(*_notes(cluster, delta, force), *unsaid),
    )


def check(delta: Delta) -> None:
    """Raise ChangeError if this edit cannot be asked for: a sentence that names the binding."""
    if len(delta.add) + len(delta.remove) > MOST_ITEMS:
        raise ChangeError(
            f"A change holds at most {MOST_ITEMS} rules, and this one has {len(delta.add) + len(delta.remove)}; "
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


def impact_hash(impact: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the answers that would differ, whatever order they stand in."""
    return _digest(sorted(_decisions(impact)))


def names_of(content: Content, delta: Delta, *, new_topics: Sequence[str] = ()) -> Names:
    """Return the names that an effect is computed for: those that exist and those the edit names itself."""
    own: dict[ResourceType, list[str]] = {}
    for binding in (*delta.add, *delta.remove):
        if binding.pattern_type is PatternType.LITERAL and binding.resource_name != WILDCARD:
            own.setdefault(binding.resource_type, []).append(binding.resource_name)
    fresh = set(new_topics)
    topics = (*content.topics, *own.get(ResourceType.TOPIC, ()))
    return Names(
        topics=_distinct(name for name in topics if name not in fresh),
        groups=_distinct((*content.groups, *own.get(ResourceType.GROUP, ()))),
        transactional_ids=_distinct(own.get(ResourceType.TRANSACTIONAL_ID, ())),
        new_topics=tuple(new_topics),
    )


def drift(change: Change, now: Content, rules: Rules) -> Drift:
    """Return whether `change` would still do to `now` what was submitted, and what moved.

    The bindings of the change itself count as they were at submission: what this
    change, or somebody else, has already written of it is no drift.
    """
    if change.revision is None:
        told = "The reading that the effect was computed on is gone; submit the change again."
        return Drift(False, (told,))
    delta = change.delta
    force = in_force(change.cluster, as_of=Moment(change.revision))
    then = _content_of(force)
    declared = _drift_of_declarations(change, delta, force, rules)
    if not declared.same_effect:
        return declared

    now = replace(now, bindings=_with_items_of(then, now, delta))
    moved = _moved(then, now)
    if not moved:
        return Drift(True)
    names = _names_of_both(then, now, delta)
    effect_then = _impact(delta, force.index, names, rules)
    effect_now = _impact(delta, AclIndex(now.bindings), names, rules)
    differences = _differences(effect_then, effect_now, regions=_regions_that_moved(then, now))
    if differences:
        return Drift(False, (f"The cluster moved since the change was submitted: {moved}.", *differences))
    return Drift(True, (f"The cluster moved since the change was submitted, with the same effect: {moved}.",))


def drift_of_reading(change: Change, force: InForce | None = None) -> Drift:
    """Return the drift of the cluster as it was last read (`force`): what pages and approvals go by."""
    force = force or in_force(change.cluster)
    if force.revision is not None and force.revision == change.revision:
        return _drift_of_declarations(change, change.delta, force, force.rules)
    return drift(change, _content_of(force), force.rules)


def _drift_of_declarations(change: Change, delta: Delta, then: InForce, rules: Rules) -> Drift:
    """Return whether the same ACLs under the rules of now give the effect that was submitted."""
    again = _impact(delta, then.index, names_of(_content_of(then), delta), rules)
    if impact_hash(again) == change.impact_hash:
        return Drift(True)
    told = f"What is declared of {change.cluster.name} changed since, and with it the effect."
    return Drift(False, (told, *_differences(change.impact or {}, again)))


def _with_items_of(then: Content, now: Content, delta: Delta) -> tuple[AclBinding, ...]:
    """Return the bindings of now, with those of the delta present exactly if they were present then."""
    ours = frozenset((*delta.add, *delta.remove))
    return (
        *(binding for binding in now.bindings if binding not in ours),
        *(binding for binding in then.bindings if binding in ours),
    )


def _moved(then: Content, now: Content) -> str:
    """Return what came and went, as the middle of a sentence; empty if nothing did.

    Groups are left out: they come and go by the minute, and no answer hangs on them.
    """
    parts = []
    for word, before, after in (
        ("rule", set(then.bindings), set(now.bindings)),
        ("topic", set(then.topics), set(now.topics)),
    ):
        came, went = len(after - before), len(before - after)
        if came:
            parts.append(f"{_count(came, word)} came")
        if went:
            parts.append(f"{_count(went, word)} went")
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


def _impact(delta: Delta, index: AclIndex, names: Names, rules: Rules) -> dict[str, Any]:
    found = simulate(delta, index, names, rules, briefly=True).as_dict()
    text = json.dumps(found, ensure_ascii=False)
    if "\\u0000" not in text and (text.isascii() or _is_storable(text)):
        return found  # as nearly always, and looking through the text is faster than through each value
    answer = storable(found)
    assert isinstance(answer, dict)
    return answer


def _decisions(impact: Mapping[str, Any]) -> set[str]:
    """Return each answer that would differ as canonical text, without which rules gave it."""
    return {
        json.dumps(
            {
                "list": kind,
                **{
                    key: effect.get(key)
                    for key in ("principal", "host", "except", "operation", "resource_type")
                },
                "names": effect["names"],
                "before": effect["before"] and effect["before"]["result"],
                "after": effect["after"] and effect["after"]["result"],
            },
            sort_keys=True,
        )
        for kind in DIFFERENCES
        for effect in impact.get(kind, ())
    }


def _differences(
    then: Mapping[str, Any],
    now: Mapping[str, Any],
    *,
    regions: frozenset[tuple[str, str]] = frozenset(),
    most: int = 5,
) -> tuple[str, ...]:
    """Return sentences for the answers that only one of the two effects has; `regions` are not compared."""
    before, after = (
        {text for text in _decisions(impact) if not _is_about(text, regions)} for impact in (then, now)
    )
    told = [f"It would now also mean: {_effect_told(text)}." for text in sorted(after - before)]
    told += [f"It would no longer mean: {_effect_told(text)}." for text in sorted(before - after)]
    if len(told) > most:
        told = [*told[:most], f"And {_count(len(told) - most, 'more difference')}."]
    return tuple(told)


def _is_about(text: str, regions: frozenset[tuple[str, str]]) -> bool:
    if not regions:
        return False
    effect = json.loads(text)
    region = (effect["resource_type"], effect["names"]["text"])
    return effect["names"]["kind"] == "PREFIX" and region in regions


def _effect_told(text: str) -> str:
    effect = json.loads(text)
    verb = {"gains": "gains", "loses": "loses", "depends": "may or may not have"}[effect["list"]]
    who = "everybody else" if effect["principal"] == WILDCARD else effect["principal"]
    where = "" if effect["host"] == WILDCARD else f" from {effect['host']}"
    kind, name = effect["names"]["kind"], effect["names"]["text"]
    if kind == "EXACT" and name.endswith(_ANY_MORE):
        kind, name = "PREFIX", name.removesuffix(_ANY_MORE)
    resource = effect["resource_type"].lower().replace("_", " ")
    which = {
        "EXACT": f"{resource} {name}",
        "PREFIX": f"every other {resource} that starts with {name}",
        "PATTERN": f"every other {resource} like {name}",
    }.get(kind, f"every other {resource}")
    operation = Operation[effect["operation"]].pascal
    return f"{who} {verb} {operation} on {which}{where}"


def _notes(cluster: Cluster, delta: Delta, force: InForce) -> tuple[str, ...]:
    """Return what a reader must not miss beside the effect itself."""
    notes = []
    held = frozenset(force.index.bindings)
    already = sum(binding in held for binding in delta.add) + sum(
        binding not in held for binding in delta.remove
    )
    if already:
        notes.append(f"{_count(already, 'rule')} of this edit {'is' if already == 1 else 'are'} so already.")
    notes += _refusals(delta, force.rules)
    own = own_principal(cluster)
    touching = [
        binding
        for binding in (*delta.add, *delta.remove)
        if binding.resource_type is ResourceType.CLUSTER
        and binding.operation in (Operation.ALL, Operation.DESCRIBE, Operation.ALTER)
        and binding.principal in (own, ANY_USER)
    ]
    if own is not None and touching:
        notes.append(
            f"This touches aclweb's own rights: it signs in as {own} and needs Describe and Alter on the cluster."
        )
    return tuple(notes)


def _refusals(delta: Delta, rules: Rules) -> list[str]:
    """Return what this cluster would refuse of the edit, with its own words; the first few of it."""
    target = Target(rules)
    told = [
        f"{says(binding)}: {refused.sentence} Kafka would answer {refused.in_kafkas_words}"
        for verb, bindings in (("add", delta.add), ("remove", delta.remove))
        for binding in bindings
        if (refused := refusal(verb, binding, target)) is not None
    ]
    rest = len(told) - MOST_REFUSALS_TOLD
    return [
        *told[:MOST_REFUSALS_TOLD],
        *([f"The cluster would refuse {_count(rest, 'more rule')}."] if rest > 0 else []),
    ]


def own_principal(cluster: Cluster) -> str | None:
    """Return the principal that aclweb signs in as, or None where no broker checks it or a certificate says it."""
    if cluster.kind != SourceKind.ADMIN:
        return None
    name = (cluster.options or {}).get("sasl.username")
    return f"User:{name}" if name else None


def _commands(plan: Iterable[Step], rules: Rules) -> tuple[list[str], tuple[str, ...]]:
    """Return the plan as kafka-acls lines, and sentences for what it cannot be told or is told as bytes."""
    lines: list[str] = []
    unsaid: list[str] = []
    for step in plan:
        for binding in step.bindings:
            try:
                lines += kafka_acls((binding,), op=step.op, rules=rules)
            except AclError as error:
                unsaid.append(f"kafka-acls cannot be told this rule: {error}")
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


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
