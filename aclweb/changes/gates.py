"""Which gates of a cluster's policy does an edit pass, and who must approve it where it does not?

A gate that is not met is no error: it asks for more approvals, or for an administrator's. One that cannot be told is
treated as not met. The same function answers when a change is submitted, on its page, at each approval, and in the
worker before it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from aclweb.acl.authorizer import AclIndex, Basis
from aclweb.acl.matching import glob_shape, why_no_topic
from aclweb.acl.model import (
    ALLOW_EVERYONE_KEY,
    ANY_USER,
    AclBinding,
    Delta,
    PermissionType,
    ResourceType,
    acl_text,
    computed_once,
    number_of,
    shown,
)
from aclweb.acl.simulate import Group, Impact, NameAxis, described, plain, which, who
from aclweb.changes import policy
from aclweb.changes.models import PolicyGate
from aclweb.changes.notes import changes_own_rights, own_principal
from aclweb.changes.replaying import replay_of
from aclweb.insights.replay import Flip, Replay
from aclweb.inventory.current import ClusterView
from aclweb.inventory.lists import OwnerBook

_Kind = PolicyGate.Kind


class State(StrEnum):
    """Whether an edit passes a gate, in the words of the pages."""

    MET = "pass"
    NOT_MET = "not met"
    UNKNOWN = "cannot tell"


@dataclass(frozen=True)
class Verdict:
    """What a gate says of an edit. sentence: the reason, for people. gate: as it is configured."""

    gate: PolicyGate
    state: State
    sentence: str

    @property
    def is_open(self) -> bool:
        return self.state is State.MET

    @property
    def refuses(self) -> bool:
        """Whether the edit cannot be asked for at all, whoever approves it."""
        return self.gate.kind == _Kind.MANAGED_REFUSED and not self.is_open

    @property
    def asks_for(self) -> str:
        """Who must approve because of it, in words; empty where it is passed."""
        if self.refuses:
            return "refused, whoever approves"
        return "" if self.is_open else _required_by(self.gate).words

    def as_dict(self) -> dict[str, str]:
        """Return what is stored of it with a change, and told by the API."""
        return {
            "gate": str(self.gate),
            "state": self.state.value,
            "sentence": self.sentence,
            "asks_for": self.asks_for,
        }


@dataclass(frozen=True)
class _Edit:
    """What gates look at. impact: None where it is too much to compute."""

    view: ClusterView
    delta: Delta
    impact: Impact | None
    replay: Replay | None

    @computed_once
    def added(self) -> AclIndex:
        """The ACLs that it adds, filed by name."""
        return AclIndex(self.delta.add)

    @computed_once
    def book(self) -> OwnerBook:
        """What is said of the names of the cluster that a label may guard."""
        return OwnerBook(self.view.cluster, *(kind.name for kind in _LABELLED_TYPES))


def verdicts(view: ClusterView, delta: Delta, impact: Impact | None) -> tuple[Verdict, ...]:
    """Return what every gate of the cluster says of an edit, those that are not met first.

    impact: that of the edit on the cluster of `view`; None where it is too much to compute.
    """
    gates = list(view.cluster.policy_gates.order_by("kind", "name_prefix"))
    needs_log = any(gate.kind == _Kind.NO_TRAFFIC_LOST for gate in gates)
    edit = _Edit(view, delta, impact, replay_of(view, delta, impact) if needs_log else None)
    found = [Verdict(gate, *_ASKED[_Kind(gate.kind)](edit, gate)) for gate in gates]
    order = [State.NOT_MET, State.UNKNOWN, State.MET]
    return tuple(sorted(found, key=lambda verdict: order.index(verdict.state)))


def refusals(found: Iterable[Verdict]) -> list[str]:
    """Return why an edit of which this was found is refused, whoever approves it."""
    return [verdict.sentence for verdict in found if verdict.refuses]


def required(view: ClusterView, found: Iterable[Verdict]) -> policy.Required:
    """Return who must approve an edit of which this was found: what the cluster asks of any, and what gates add."""
    needed = policy.Required(policy.approvals_needed(view.cluster))
    for verdict in found:
        if not verdict.is_open:
            needed |= _required_by(verdict.gate)
    return needed


def _required_by(gate: PolicyGate) -> policy.Required:
    return policy.Required(gate.approvals, by_administrator=gate.by_administrator)


_Answer = tuple[State, str]


def _no_wildcard(edit: _Edit, _: PolicyGate) -> _Answer:
    wide = [binding for binding in edit.delta.add if _is_wide(binding) and binding not in edit.view.index]
    if not wide:
        return State.MET, "It allows nothing for all resources or for any user."
    more = f", and {number_of(len(wide) - 1, 'more ACL')} like it" if len(wide) > 1 else ""
    return State.NOT_MET, f"It adds {acl_text(wide[0])}{more}: for all resources, or for any user."


def _is_wide(binding: AclBinding) -> bool:
    is_for_all = binding.has_wildcard_pattern or binding.principal == ANY_USER
    return binding.permission_type is PermissionType.ALLOW and is_for_all


def _no_traffic_lost(edit: _Edit, _: PolicyGate) -> _Answer:
    if edit.impact is not None and not any(edit.impact.counts[kind] for kind in ("loses", "depends")):
        return State.MET, "It takes nothing away, so no client in use can lose access."
    replay = edit.replay
    name = edit.view.cluster.name
    if replay is None:
        return State.UNKNOWN, f"Cannot tell who is in use: no authorizer log of {name} has been read."
    if replay.denied:
        return State.NOT_MET, f"{_of(replay.denied)} would be denied."
    if replay.unclear:
        return State.UNKNOWN, f"Cannot tell whether {_of(replay.unclear)} would be denied."
    if not replay.is_whole:
        doubts = " ".join(replay.doubts)
        return State.UNKNOWN, f"Cannot tell whether a client in use would lose access. {doubts}"
    return State.MET, "No logged request would be denied."


def _of(flips: Sequence[Flip]) -> str:
    """Return how many requests these are, and whose."""
    principals = sorted({flip.principal for flip in flips})
    more = f" and {number_of(len(principals) - 1, 'more principal')}" if len(principals) > 1 else ""
    lines = sum(flip.lines for flip in flips)
    return f"{number_of(lines, 'logged request')} of {shown(principals[0])}{more}"


def _not_the_first(edit: _Edit, _: PolicyGate) -> _Answer:
    settings = edit.view.settings
    if not edit.delta.add:
        return State.MET, "It adds no ACL, so it cannot be the first one on a resource."
    if "allow_everyone" in settings.undeclared:
        return State.UNKNOWN, (
            "Cannot tell whether resources without an ACL are open: nobody has declared "
            f"{ALLOW_EVERYONE_KEY} of {edit.view.cluster.name}."
        )
    if not settings.allow_everyone:
        return (
            State.MET,
            "Resources without an ACL are closed on this cluster, so no first ACL can close one.",
        )
    if edit.impact is None:
        return State.UNKNOWN, _TOO_MUCH
    for group in edit.impact.groups:
        if group.change == "loses" and group.before and group.before.basis is Basis.DEFAULT_ALLOW:
            return State.NOT_MET, (
                f"It puts the first ACL on {_names(edit.impact, group)}, open to everyone until now: "
                f"{plain(who(edit.impact.axes.principals, group.principals))} would lose access."
            )
    return State.MET, "No resource that is open to everyone gets its first ACL."


def _not_own_rights(edit: _Edit, _: PolicyGate) -> _Answer:
    cluster = edit.view.cluster
    own = own_principal(cluster)
    if changes_own_rights(own, edit.delta):
        if own is not None:
            return State.NOT_MET, f"It changes what aclweb itself may do: it signs in as {own}."
        if cluster.source.has_bootstrap_address:
            return (
                State.UNKNOWN,
                "Cannot tell whether these are aclweb's own rights: its principal is not known.",
            )
    return State.MET, "The rights of aclweb itself stay as they are."


def _no_new_access(edit: _Edit, gate: PolicyGate) -> _Answer:
    prefix = gate.name_prefix
    found = _access_to(edit, lambda kind: _classes_with(edit, kind, prefix))
    return found or (State.MET, f"Nobody gets access to names that start with {shown(prefix)}.")


def _no_access_to_labelled(edit: _Edit, gate: PolicyGate) -> _Answer:
    label = gate.name_prefix
    if not edit.book.with_label(label):
        return (
            State.MET,
            f"No topic, group or transactional id of {edit.view.cluster.name} has the label {shown(label)}.",
        )
    found = _access_to(edit, lambda kind: _classes_labelled(edit, kind, label))
    return found or (State.MET, f"Nobody gets access to names with the label {shown(label)}.")


def _access_to(edit: _Edit, guarded: Callable[[ResourceType], int]) -> _Answer | None:
    """Return who gets access to guarded names, or may; None where nobody does.

    guarded: returns the set of the classes of names, on the axis of the impact, that are guarded or may be.
    """
    if edit.impact is None:
        return State.UNKNOWN, _TOO_MUCH
    rests: dict[ResourceType, int] = {}
    for change, state in (("gains", State.NOT_MET), ("depends", State.UNKNOWN)):
        for group in edit.impact.groups:
            kind = group.resource_type
            if group.change != change or kind is ResourceType.CLUSTER:
                continue
            if kind not in rests:
                rests[kind] = guarded(kind)
            if group.names & rests[kind]:
                principals = plain(who(edit.impact.axes.principals, group.principals))
                operations = " and ".join(operation.pascal for operation in group.operations)
                verb = "would get" if state is State.NOT_MET else "may get"
                return state, f"{principals} {verb} {operations} on {_names(edit.impact, group)}."
    return None


# Brokers take everybody for the one, and who does not log in for the other: no tool manages those as users.
_NOBODYS = (ANY_USER, "User:ANONYMOUS")


def _nothing_managed(edit: _Edit, gate: PolicyGate) -> _Answer:
    prefix = gate.name_prefix
    for binding in (*edit.delta.add, *edit.delta.remove):
        who_is_managed = binding.principal.startswith(prefix) and (
            binding.principal not in _NOBODYS or prefix in _NOBODYS
        )
        if who_is_managed or binding.resource_name.startswith(prefix):
            what = binding.principal if who_is_managed else binding.resource_name
            return State.NOT_MET, (
                f"Another tool manages what starts with {shown(prefix)}, and may undo this: {acl_text(binding)}. "
                f"Change {shown(what)} there."
            )
    return State.MET, f"It changes no ACL of what starts with {shown(prefix)}."


def _classes_with(edit: _Edit, kind: ResourceType, prefix: str) -> int:
    """Return the set of the classes of names, on the axis of the impact, that hold some name beginning so.

    These are the classes that begin with it, and the one in which a name lies that begins with it and that nobody gave:
    that of the longest pattern that is a beginning of the prefix.
    """
    assert edit.impact is not None
    axis = edit.impact.axes.names.get(kind)
    if axis is None or (kind is ResourceType.TOPIC and not _may_begin_a_topic(prefix)):
        return 0
    if axis.patterns:
        # Which names match a GLOB and begin so is not looked at: each may.
        return axis.all
    return axis.beginning_with(prefix) | _rest_with(edit, axis, kind, prefix)


_LABELLED_TYPES = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)


def _classes_labelled(edit: _Edit, kind: ResourceType, label: str) -> int:
    """Return the set of the classes of names, on the axis of the impact, that hold some name with a label.

    A row of the name counts before one of a prefix, and a longer prefix before a shorter one; a class of which only
    some names have another row stays in it.
    """
    assert edit.impact is not None
    axis = edit.impact.axes.names.get(kind)
    if axis is None:
        return 0
    found = 0
    for each in sorted(edit.book.of_kind(kind.name), key=lambda row: (not row.by_prefix, len(row.said_of))):
        name, has_label = each.said_of, label in each.labels
        if each.by_prefix:
            found = (
                found | _classes_with(edit, kind, name) if has_label else found & ~axis.beginning_with(name)
            )
        elif has_label:
            found |= _classes_of_one(edit, axis, kind, name)
        else:
            found &= ~axis.one(name)
    return found


def _classes_of_one(edit: _Edit, axis: NameAxis, kind: ResourceType, name: str) -> int:
    """Return the set of the classes in which one name lies or may lie."""
    if given := axis.one(name):
        return given
    if kind is ResourceType.TOPIC and why_no_topic(name) is not None:
        return 0
    globs = (place for place, text in enumerate(axis.patterns) if glob_shape(text).matches(name))
    return _rest_with(edit, axis, kind, name) | sum(1 << axis.first_pattern + place for place in globs)


def _rest_with(edit: _Edit, axis: NameAxis, kind: ResourceType, prefix: str) -> int:
    """Return the class in which a name lies that begins so and that nobody gave; the empty set where none does."""
    starts = (_longest_start(index, kind, prefix) for index in (edit.view.index, edit.added))
    place = axis.place_of_rest(max(starts, key=len))
    return 1 << place if place >= 0 else 0


def _longest_start(index: AclIndex, kind: ResourceType, text: str) -> str:
    """Return the longest PREFIXED pattern of a type that a text begins with, the empty text for none."""
    shelf = index.shelf(kind)
    place = shelf.chain.longest(text) if shelf is not None else -1
    return shelf.chain.prefixes[place] if shelf is not None and place >= 0 else ""


def _may_begin_a_topic(prefix: str) -> bool:
    return why_no_topic(prefix) is None or why_no_topic(f"{prefix}a") is None


def _names(impact: Impact, group: Group) -> str:
    return plain(which(described(impact, group)))


_TOO_MUCH = "Cannot tell: the impact of this edit is too much to compute for a page."

_ASKED: dict[PolicyGate.Kind, Callable[[_Edit, PolicyGate], _Answer]] = {
    _Kind.NO_WILDCARD: _no_wildcard,
    _Kind.NO_TRAFFIC_LOST: _no_traffic_lost,
    _Kind.NOT_THE_FIRST: _not_the_first,
    _Kind.NOT_OWN_RIGHTS: _not_own_rights,
    _Kind.NO_NEW_ACCESS: _no_new_access,
    _Kind.LABELLED: _no_access_to_labelled,
    _Kind.MANAGED: _nothing_managed,
    _Kind.MANAGED_REFUSED: _nothing_managed,
}
