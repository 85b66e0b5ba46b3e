"""Say which gates a cluster's policy has, with a record of who said so.

Values are checked here, whoever asks. A gate that is set applies at once, to changes that wait too.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from aclweb.acl.model import shown
from aclweb.audit import trail
from aclweb.changes import policy
from aclweb.changes.models import PolicyGate
from aclweb.inventory.admin import owners
from aclweb.inventory.models import Cluster

trail.register(
    "policy.set", "{actor} set a policy gate of {cluster}: {gate}. Where it is not met, it needs {needed}."
)
trail.register("policy.removed", "{actor} removed a policy gate of {cluster}: {gate}.")

MOST_APPROVALS = 10
LONGEST_PREFIX = 249
MOST_GATES = 50
"""Of one cluster: each page of a change that waits asks all of them."""


_OF_A_TOOL = "prefix of principals or names that the tool manages, such as User:app-"
_NEEDS = {
    PolicyGate.Kind.NO_NEW_ACCESS: "prefix of the names that it guards, such as payments.",
    PolicyGate.Kind.LABELLED: "label of the names that it guards, such as restricted, in the place of the prefix.",
    PolicyGate.Kind.MANAGED: _OF_A_TOOL,
    PolicyGate.Kind.MANAGED_REFUSED: _OF_A_TOOL,
}


class GateError(Exception):
    """A gate that cannot be set as asked. faults: a sentence for each field that is wrong."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(" ".join(faults.values()))
        self.faults = dict(faults)


def set_gate(
    *,
    actor: trail.Named | str,
    cluster: Cluster,
    kind: str,
    approvals: int,
    by_administrator: bool = False,
    name_prefix: str = "",
) -> bool:
    """Have a gate of this kind, and of this prefix; return False where it is so already. Raises GateError.

    name_prefix: as of `kept_as`.
    """
    _check(kind, approvals, name_prefix)
    name_prefix = kept_as(kind, name_prefix)
    with transaction.atomic():
        # So that two who set the same gate wait for each other.
        Cluster.objects.select_for_update().get(pk=cluster.pk)
        asked = {"approvals": approvals, "by_administrator": by_administrator}
        there = cluster.policy_gates.filter(kind=kind, name_prefix=name_prefix)
        if there.filter(**asked).exists():
            return False
        if not there.exists() and cluster.policy_gates.count() >= MOST_GATES:
            raise GateError({"kind": f"{cluster} has {MOST_GATES} gates, and no more are kept; remove one."})
        gate, _ = cluster.policy_gates.update_or_create(kind=kind, name_prefix=name_prefix, defaults=asked)
        needed = policy.Required(approvals, by_administrator=by_administrator).words
        _record(actor, "policy.set", gate, needed=needed)
    return True


def kept_as(kind: str, name_prefix: str) -> str:
    """Return with what a gate is kept: a label in small letters, as names have it, and a prefix letter by letter."""
    return owners.as_label(name_prefix) if kind == PolicyGate.Kind.LABELLED else name_prefix


def remove_gate(*, actor: trail.Named | str, gate: PolicyGate) -> None:
    """Have this gate no more."""
    with transaction.atomic():
        _record(actor, "policy.removed", gate)
        gate.delete()


def _check(kind: str, approvals: int, name_prefix: str) -> None:
    faults = {}
    if kind not in PolicyGate.Kind.values:
        faults["kind"] = f"{shown(kind)} is no gate; use one of {', '.join(PolicyGate.Kind.values)}."
    if not 1 <= approvals <= MOST_APPROVALS:
        faults["approvals"] = f"{approvals} is no number of approvals; use 1 to {MOST_APPROVALS}."
    if kind in PolicyGate.WITH_PREFIX:
        if not name_prefix:
            faults["name_prefix"] = f"This gate needs the {_NEEDS[PolicyGate.Kind(kind)]}"
        elif kind == PolicyGate.Kind.LABELLED and not owners.is_label(kept_as(kind, name_prefix)):
            faults["name_prefix"] = (
                f"{shown(name_prefix)} is no label; use letters a to z, digits, - and _, such as restricted."
            )
        elif len(name_prefix) > LONGEST_PREFIX:
            faults["name_prefix"] = (
                f"The prefix has {len(name_prefix):,} characters; no name has more than {LONGEST_PREFIX}."
            )
        elif "\x00" in name_prefix or not _is_utf8(name_prefix):
            faults["name_prefix"] = (
                f"The prefix {shown(name_prefix)} holds what no name has; type it as UTF-8, without NUL."
            )
    elif name_prefix and "kind" not in faults:
        faults["name_prefix"] = "This gate is about every name, so it takes no prefix; leave the field empty."
    if faults:
        raise GateError(faults)


def _is_utf8(text: str) -> bool:
    """Whether a text can be written as UTF-8: the words of a shell may hold bytes that are none."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _record(actor: trail.Named | str, verb: str, gate: PolicyGate, **facts: str) -> None:
    trail.record(
        actor=actor,
        verb=verb,
        target=f"cluster:{gate.cluster.slug}",
        cluster=gate.cluster.slug,
        gate=str(gate),
        **facts,
    )
