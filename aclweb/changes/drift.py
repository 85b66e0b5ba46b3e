"""Would a change still do to the cluster what it did when it was submitted?

Cluster content that changes between review and writing matters only if it changes the
impact. `drift` decides that by computing the impact twice over the same names, once
with the ACLs of then and once with those of now.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, replace

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.matching import covers_name, matching_of
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    Delta,
    Operation,
    PatternType,
    ResourcePattern,
    ResourceType,
    name_text,
    number_of,
)
from aclweb.acl.simulate import (
    EXACT,
    PREFIX,
    Budget,
    Impact,
    NameClass,
    Names,
    apart,
    depends_on_range,
    digest_of,
    meaning_of,
    plain,
    sessions_in,
    which_of,
)
from aclweb.changes import policy
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
from aclweb.inventory.models import Cluster

# Types whose existing names an impact is computed for.
_NAMED = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)

_MOST_SESSIONS = 10_000
"""What differs in more of them is not laid out session by session, which would take longer than anybody waits."""

# Ends the name that stands for all names under a prefix; nobody's pattern continues so.
_ANY_MORE = "\u2063and-anything-more"


@dataclass(frozen=True)
class Difference:
    """Answers to one principal, or to everybody else (WILDCARD), that only one of two impacts has.

    is_new: whether the impact of now has them, or only the submitted one. change: the list of it that they are in.
    host: WILDCARD for all hosts but some. operations, names: in words. classes: of these names. added, removed: the
    first ACLs since then that are for the principal and match the names.
    """

    is_new: bool
    change: str
    principal: str
    host: str
    resource_type: ResourceType
    operations: str
    names: str
    classes: tuple[NameClass, ...]
    added: tuple[AclBinding, ...] = ()
    removed: tuple[AclBinding, ...] = ()

    def matched_by(self, binding: AclBinding, settings: AuthorizerSettings) -> bool:
        """Whether an ACL is for this principal and may match any of these names."""
        is_for = binding.principal in (ANY_USER, self.principal)
        if not (is_for or matching_of(settings).is_principal_glob(binding.principal)):
            return False
        return binding.resource_type is self.resource_type and any(
            _may_match(binding.pattern, name, settings) for name in self.classes
        )

    @property
    def sentence(self) -> str:
        """What was so when it was submitted, and is not so now."""
        principal = "everybody else" if self.principal == WILDCARD else name_text(self.principal)
        host = "" if self.host == WILDCARD else f" from {name_text(self.host)}"
        about = f"{self.operations} on {self.names}{host}"
        then, now = _WAS_AND_IS[self.change][self.is_new]
        return storable(then.format(who=principal, what=about) + " " + now)


_WAS_AND_IS = {
    # list of the impact: what only the submitted one has, and what only that of now has
    "gains": (
        ("As submitted, {who} would gain {what}.", "Now it would not."),
        ("As submitted, {who} would not gain {what}.", "Now it would."),
    ),
    "loses": (
        ("As submitted, {who} would lose {what}.", "Now it would not."),
        ("As submitted, {who} would not lose {what}.", "Now it would."),
    ),
    "depends": (
        ("As submitted, it was unknown whether {who} would gain or lose {what}.", "Now it is known."),
        ("As submitted, it was known whether {who} would gain or lose {what}.", "Now it is unknown."),
    ),
}


@dataclass(frozen=True)
class Differences:
    """What differs between two impacts.

    first: the first of them, more: how many more. principals: all whom they are about, with WILDCARD for everybody
    else. cannot_tell: why nobody can tell what they are, a sentence.
    """

    first: tuple[Difference, ...] = ()
    more: int = 0
    principals: frozenset[str] = frozenset()
    cannot_tell: str = ""

    def __bool__(self) -> bool:
        return bool(self.first or self.cannot_tell)

    @property
    def sentences(self) -> tuple[str, ...]:
        if self.cannot_tell:
            return (self.cannot_tell,)
        more = (f"And {number_of(self.more, 'more difference')}.",) if self.more else ()
        return (*(each.sentence for each in self.first), *more)


NO_DIFFERENCES = Differences()


@dataclass(frozen=True)
class Drift:
    """How far a cluster moved since a change was submitted.

    same_effect: whether the change still means what was approved. sentences: what
    differs, or what moved without changing the effect; empty if nothing moved.
    is_unknown: whether nobody can tell here, because it is too much for a page. is_checked_later: whether a worker then
    tells before it writes. differences: between the impact that was submitted and that of now.
    """

    same_effect: bool
    sentences: tuple[str, ...] = ()
    is_unknown: bool = False
    is_checked_later: bool = False
    differences: Differences = NO_DIFFERENCES

    @property
    def lets_approve(self) -> bool:
        """Whether reviewers may agree to the change as it was submitted."""
        return self.same_effect or self.is_checked_later


_drifts: Kept[Drift] = Kept(lambda _: 2_000, TooMuch, most_answers=256)


def drift(
    change: Change,
    now: Content,
    settings: AuthorizerSettings,
    *,
    budget: Budget | None = None,
    cluster: Cluster | None = None,
) -> Drift:
    """Return whether `change` would still do to `now` what was submitted, and what moved.

    The bindings of the change itself count as they were at submission: what this
    change, or somebody else, has already written of it is no drift. budget: another than that of a page.
    cluster: its row, where the caller has just read it.
    """
    if change.revision is None:
        why = "The snapshot that the impact was computed on is gone; submit the change again."
        return Drift(False, (why,))
    then = Moment(change.revision)
    view = in_force(cluster or change.cluster, as_of=then, just_read=cluster is not None)
    try:
        return _drift(change, view, now, settings, budget)
    except TooMuch as error:
        if budget is not None:
            return Drift(False, ("Whether the impact is still the same cannot be computed.", str(error)))
        moved = _Moves.of(change.delta, content_of(view), now).words
        return _unknown(
            change, f"The cluster has changed since this was submitted: {moved}." if moved else ""
        )


def _unknown(change: Change, moved: str = "") -> Drift:
    is_written = policy.writable(change.cluster)[0]
    if is_written:
        later = "A worker computes it before it writes, and writes nothing if it differs."
    else:
        later = "aclweb does not write to this cluster, so it would not be computed later: submit the change again."
    why = "Whether the impact is still the same is too much to compute for a page."
    return Drift(False, (*filter(None, (moved,)), why, later), is_unknown=True, is_checked_later=is_written)


def _drift(
    change: Change,
    view: ClusterView,
    now: Content,
    settings: AuthorizerSettings,
    budget: Budget | None,
) -> Drift:
    delta, then = change.delta, content_of(view)
    declared = _drift_of_declarations(change, delta, view, settings, budget)
    if not declared.same_effect:
        return declared

    moved = _Moves.of(delta, then, now)
    if not moved.words:
        return Drift(True)
    names = _names_of_both(then, now, moved)
    effect_then = impact_of(delta, view.index, names, settings, budget=budget)
    effect_now = impact_of(delta, AclIndex(_now_but_for(delta, then, now)), names, settings, budget=budget)
    differences = _differences(effect_then, effect_now, regions=_regions_that_moved(moved))
    changed = f"The cluster has changed since this was submitted: {moved.words}."
    if differences:
        differences = _with_acls(differences, moved.acls, settings)
        return Drift(False, (changed, *differences.sentences), differences=differences)
    return Drift(True, (f"{changed} The impact is the same.",))


def drift_since_sync(change: Change, view: ClusterView | None = None) -> Drift:
    """Return the drift of the cluster as it was last read (`view`): what pages and approvals go by."""
    view = view or in_force(change.cluster)
    submitted = (change.pk, change.revision_id, change.plan_hash, change.impact_hash)
    # Of what is too much for a page, only a worker that may write computes it later.
    is_written = policy.writable(change.cluster)[0]

    def work_out() -> Drift:
        if view.revision is None or view.revision != change.revision:
            return drift(change, content_of(view), view.settings, cluster=view.cluster)
        try:
            return _drift_of_declarations(change, change.delta, view, view.settings)
        except TooMuch:
            return _unknown(change)

    return _drifts.remember((*on_which_impact_depends(view), submitted, is_written), work_out)


def _drift_of_declarations(
    change: Change,
    delta: Delta,
    then: ClusterView,
    settings: AuthorizerSettings,
    budget: Budget | None = None,
) -> Drift:
    """Return whether the same ACLs under the settings of now give the effect that was submitted."""
    again = worked_out(then.cluster, delta, (), replace(then, settings=settings), budget=budget)
    if again.impact_hash == change.impact_hash:
        return Drift(True)
    changed = f"What is declared of {change.cluster.name} has changed, and with it the impact."
    submitted = change.impact
    if submitted is None:
        return Drift(False, (changed,))
    differences = _differences(_without_ranges(submitted), _without_ranges(again.impact))
    # An older version of aclweb may have hashed the same impact otherwise.
    if not differences:
        return Drift(True)
    return Drift(False, (changed, *differences.sentences), differences=differences)


def _without_ranges(impact: Impact) -> Impact:
    """Return an impact without what an older version said to depend on a range, which is in rows of its own now."""
    groups = (group for group in impact.groups if not depends_on_range(group.reason))
    return replace(impact, groups=tuple(groups))


def _now_but_for(delta: Delta, then: Content, now: Content) -> tuple[AclBinding, ...]:
    """Return the ACLs of now, with the bindings of the delta present exactly if they were present then."""
    ours = frozenset((*delta.add, *delta.remove))
    others = (binding for binding in now.bindings if binding not in ours)
    return (*others, *(binding for binding in then.bindings if binding in ours))


@dataclass(frozen=True)
class _Moves:
    """What came and went at a cluster since, but for the ACLs of a change: those count as they were then.

    Groups are left out: they come and go by the minute, and no answer depends on them.
    """

    acls: Delta
    topics_came: int
    topics_went: int

    @classmethod
    def of(cls, delta: Delta, then: Content, now: Content) -> _Moves:
        """Return what moved."""
        ours = frozenset((*delta.add, *delta.remove))
        acls = Delta.between_distinct(then.bindings, now.bindings)
        came = went = 0
        if then.topics != now.topics:
            before, after = set(then.topics), set(now.topics)
            came, went = len(after - before), len(before - after)
        return cls(
            Delta(
                tuple(binding for binding in acls.add if binding not in ours),
                tuple(binding for binding in acls.remove if binding not in ours),
            ),
            came,
            went,
        )

    @property
    def bindings(self) -> tuple[AclBinding, ...]:
        """The ACLs that came or went."""
        return (*self.acls.add, *self.acls.remove)

    @property
    def words(self) -> str:
        """The middle of a sentence that tells it; empty if nothing moved."""
        parts = []
        for word, came, went in (
            ("ACL", len(self.acls.add), len(self.acls.remove)),
            ("topic", self.topics_came, self.topics_went),
        ):
            for number, verb in ((came, "added"), (went, "removed")):
                if number:
                    parts.append(f"{number_of(number, word)} {'was' if number == 1 else 'were'} {verb}")
        return ", ".join(parts)


def _names_of_both(then: Content, now: Content, moved: _Moves) -> Names:
    """Return the names over which both effects have the same cells, so that they can be compared.

    Rules that came or went split what "every other name" means differently on the two
    sides. So each of their names, and for a prefix one name that represents all under
    it, is given to both.
    """
    bindings = (*then.bindings, *moved.acls.add)
    extra: dict[ResourceType, list[str]] = {}
    for binding in sorted(moved.bindings, key=str):
        if not binding.pattern.is_wildcard:
            extra.setdefault(binding.resource_type, []).append(binding.resource_name)
            if binding.pattern_type is PatternType.PREFIXED:
                extra[binding.resource_type].append(binding.resource_name + _ANY_MORE)
    both = Content(
        bindings,
        distinct((*then.topics, *now.topics, *extra.get(ResourceType.TOPIC, ()))),
        distinct((*then.groups, *now.groups, *extra.get(ResourceType.GROUP, ()))),
    )
    names = names_of(both)
    return replace(
        names,
        transactional_ids=distinct((*names.transactional_ids, *extra.get(ResourceType.TRANSACTIONAL_ID, ()))),
        principals=distinct(b.principal for b in bindings if b.principal != ANY_USER),
        hosts=distinct(b.host for b in bindings if b.host != WILDCARD),
    )


def _regions_that_moved(moved: _Moves) -> frozenset[tuple[str, str]]:
    """Return the prefixes that only one side has, as resource type and text; `_ANY_MORE` represents them."""
    return frozenset(
        (binding.resource_type.name, binding.resource_name)
        for binding in moved.bindings
        if binding.pattern_type is PatternType.PREFIXED and binding.resource_type in _NAMED
    )


# ACLs that came or went, of which a difference names so many on each side.
_MOST_ACLS = 2

_Key = tuple[bool, str, str, str, str, tuple[NameClass, ...]]
"""Of a difference: is_new, change, principal, host, resource type and names."""


def _differences(
    then: Impact,
    now: Impact,
    *,
    regions: frozenset[tuple[str, str]] = frozenset(),
    most: int = 5,
) -> Differences:
    """Return the answers that only one of the two impacts has; `regions` are not compared."""
    if digest_of(then, DIFFERENCES) == digest_of(now, DIFFERENCES):
        return NO_DIFFERENCES
    then, now = apart(then, now, DIFFERENCES)
    if sessions_in(then) + sessions_in(now) > _MOST_SESSIONS:
        groups = number_of(len(then.groups) + len(now.groups), "group of answers", "groups of answers")
        return Differences(
            cannot_tell=f"Because of that, aclweb cannot tell whether the impact is the same: {groups} of then and now "
            "differ, too many to compare them session by session. Submit the change again.",
        )
    before, after = (meaning_of(impact, DIFFERENCES) for impact in (then, now))
    moved: dict[_Key, set[Operation]] = {}
    for ours, others, is_new in ((after, before, True), (before, after, False)):
        for (answer, principal, host), only in ours.beyond(others):
            names = tuple(
                name
                for name in only
                if not (name[0] == PREFIX and (answer.resource_type, name[1]) in regions)
            )
            if names:
                key = (is_new, answer.change, principal, host, answer.resource_type, names)
                moved.setdefault(key, set()).add(Operation[answer.operation])
    first = heapq.nsmallest(most, moved, key=lambda key: (not key[0], *key[1:]))
    return Differences(
        first=tuple(_difference(key, moved[key]) for key in first),
        more=max(0, len(moved) - most),
        principals=frozenset(principal for _, _, principal, *_ in moved),
    )


def _difference(key: _Key, operations: Iterable[Operation]) -> Difference:
    is_new, change, principal, host, kind, names = key
    return Difference(
        is_new=is_new,
        change=change,
        principal=principal,
        host=host,
        operations=" and ".join(each.pascal for each in sorted(operations, key=lambda each: each.code)),
        resource_type=ResourceType[kind],
        names=plain(which_of(ResourceType[kind], map(_meant, names))),
        classes=names,
    )


def _with_acls(differences: Differences, moved: Delta, settings: AuthorizerSettings) -> Differences:
    """Return the same, each with the ACLs that were added or removed since and may be the reason."""

    def matched(each: Difference, bindings: Iterable[AclBinding]) -> tuple[AclBinding, ...]:
        found = (binding for binding in bindings if each.matched_by(binding, settings))
        return tuple(heapq.nsmallest(_MOST_ACLS, found, key=str))

    first = (
        replace(each, added=matched(each, moved.add), removed=matched(each, moved.remove))
        for each in differences.first
    )
    return replace(differences, first=tuple(first))


def _may_match(pattern: ResourcePattern, names: NameClass, settings: AuthorizerSettings) -> bool:
    kind, text = names
    if kind == EXACT:
        return covers_name(pattern, text, settings)
    if kind == PREFIX and not pattern.is_wildcard and pattern.pattern_type in _SPELLED_OUT:
        return pattern.name.startswith(text) or (
            pattern.pattern_type is PatternType.PREFIXED and text.startswith(pattern.name)
        )
    return True


_SPELLED_OUT = (PatternType.LITERAL, PatternType.PREFIXED)


def _meant(name: NameClass) -> NameClass:
    """Return the class of names for which one name was compared."""
    kind, text = name
    return (PREFIX, text.removesuffix(_ANY_MORE)) if kind == EXACT and text.endswith(_ANY_MORE) else name
