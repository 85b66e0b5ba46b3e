"""How are ACLs written to ZooKeeper, one outcome for each?

A node is read, the new set computed, and data and change node are sent in one transaction that only goes
through if the node is still as it was read. The new text is decoded again and compared before it is sent.
A node that cannot be understood is never overwritten, and nothing is written while the cluster migrates to
KRaft, because what is written then may be lost.

Whether the brokers have taken a write to heart is not visible from here: a znode says what they will read,
not what they have read.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kazoo.exceptions import InvalidACLError, KazooException, NoAuthError, NoNodeError

from aclweb.acl.model import AclBinding, ResourcePattern
from aclweb.acl.notation import znodes
from aclweb.clusters.client import Outcome, OutcomeKind, Verb
from aclweb.clusters.zookeeper.errors import CONFLICTS, NO_ANSWER, lost, why_refused
from aclweb.clusters.zookeeper.nodes import Edit, Node, fault_of, first_fault, read_node, set_outcome
from aclweb.clusters.zookeeper.rights import migration_refusal
from aclweb.clusters.zookeeper.session import Session

_REREADS = 10  # as often as Kafka itself tries again after a conflict
# ZooKeeper closes the connection on packets above 1 MB, so a transaction keeps well below.
LARGEST_TRANSACTION = 512 * 1024
_PATTERNS_PER_TRANSACTION = 200


class _RefusedError(Exception):
    """A node that is not written; the message says why."""


@dataclass(frozen=True, slots=True)
class _Planned:
    """What is to be sent for one node: its ACLs that change, and the operations with their size in bytes."""

    edit: Edit
    changed: tuple[AclBinding, ...]
    operations: tuple[Callable[[Any], None], ...]
    size: int


def write(session: Session, verb: Verb, bindings: Sequence[AclBinding]) -> tuple[Outcome, ...]:
    """Add or remove exactly these ACLs; one outcome each, in the order given."""
    outcomes: dict[AclBinding, Outcome] = {}
    edits: dict[ResourcePattern, Edit] = {}
    for binding in dict.fromkeys(bindings):
        fault = fault_of(verb, binding)
        if fault:
            outcomes[binding] = Outcome(binding, OutcomeKind.REFUSED, fault)
        else:
            edits.setdefault(binding.pattern, Edit(binding.pattern, [])).bindings.append(binding)
    waiting = list(edits.values())
    if waiting and _may_begin(session, waiting, outcomes):
        _Write(session, verb, outcomes).run(waiting)
    return tuple(outcomes[binding] for binding in bindings)


def _may_begin(session: Session, waiting: list[Edit], outcomes: dict[AclBinding, Outcome]) -> bool:
    """Whether the cluster may be written to; else each edit has got its outcome."""
    try:
        refusal = migration_refusal(session)
    except NO_ANSWER as error:
        set_outcome(outcomes, waiting, OutcomeKind.UNKNOWN, lost(error, session.where, sent=False))
        return False
    except KazooException as error:
        refusal = (
            f"ZooKeeper at {session.where} refused to be read before the write ({type(error).__name__})."
        )
    if refusal:
        set_outcome(outcomes, waiting, OutcomeKind.REFUSED, refusal)
    return not refusal


class _Write:
    """One call of `write`, which fills in the outcomes."""

    def __init__(self, session: Session, verb: Verb, outcomes: dict[AclBinding, Outcome]) -> None:
        self.session, self.verb, self.outcomes = session, verb, outcomes

    def run(self, waiting: list[Edit]) -> None:
        """Write these edits, in as many transactions as that takes."""
        where = self.session.where
        while waiting:
            batch, waiting = waiting[:_PATTERNS_PER_TRANSACTION], waiting[_PATTERNS_PER_TRANSACTION:]
            try:
                again = self._write_batch(batch)
            except (KazooException, *NO_ANSWER) as error:
                self._set_outcome(self._open_ones(batch), OutcomeKind.UNKNOWN, lost(error, where, sent=True))
                self._set_outcome(waiting, OutcomeKind.UNKNOWN, lost(error, where, sent=False))
                return
            waiting = again + waiting

    def _write_batch(self, batch: list[Edit]) -> list[Edit]:
        """Write as many of these edits as fit one transaction; return those to try in another one."""
        sent, later = self._planned(batch)
        if not sent:
            return later
        transaction = self.session.kazoo.transaction()
        owners: list[Edit] = []  # which edit each operation of the transaction belongs to
        for planned in sent:
            for operation in planned.operations:
                operation(transaction)
                owners.append(planned.edit)
        results = self.session.get(transaction.commit_async())
        culprit = first_fault(results)
        if culprit is None:
            self._set_written(sent, owners, results)
            return later
        position, fault = culprit
        self._after_fault(owners[position], fault)
        return self._open_ones([planned.edit for planned in sent]) + later

    def _planned(self, batch: list[Edit]) -> tuple[list[_Planned], list[Edit]]:
        """Return what fits one transaction, and the edits that no longer do; the others have got their outcomes."""
        fetched = self.session.fetch([edit.path for edit in batch], tolerate=(NoAuthError,))
        sent: list[_Planned] = []
        later: list[Edit] = []
        size = 0
        for edit in batch:
            planned = self._plan(edit, fetched[edit.path])
            if planned is None:
                continue
            if sent and size + planned.size > LARGEST_TRANSACTION:
                later.append(edit)
                continue
            size += planned.size
            sent.append(planned)
        return sent, later

    def _after_fault(self, edit: Edit, fault: BaseException) -> None:
        """Wait before another try where somebody else wrote, else refuse; raises where there was no answer."""
        if isinstance(fault, NO_ANSWER):
            raise fault
        if isinstance(fault, CONFLICTS) and edit.rereads < _REREADS:
            # Somebody was faster. A short pause of uneven length keeps two writers from meeting again.
            edit.rereads += 1
            time.sleep(random.uniform(0.01, 0.05) * edit.rereads)  # noqa: S311
        else:
            self._set_outcome([edit], OutcomeKind.REFUSED, why_refused(edit.path, fault, _REREADS + 1))

    def _plan(self, edit: Edit, found: Any) -> _Planned | None:
        """Return what is to be sent for one node, None where nothing is: its ACLs have got their outcomes."""
        try:
            node = _understood(edit, found)
            before = frozenset(node.bindings)
            changed = tuple(one for one in edit.bindings if (one in before) is (self.verb is Verb.REMOVE))
            self._set_already(edit, node, before)
            if not changed:
                return None
            after = self._after(node, changed)
            data = self._encoded(edit, after)
            return self._operations(edit, node, changed, data, keeps_node=bool(after) or bool(node.children))
        except _RefusedError as refused:
            self._set_outcome([edit], OutcomeKind.REFUSED, str(refused))
            return None

    def _after(self, node: Node, changed: tuple[AclBinding, ...]) -> list[AclBinding]:
        """Return what the node is to hold."""
        if self.verb is Verb.ADD:
            return [*node.bindings, *changed]
        gone = set(changed)
        return [one for one in node.bindings if one not in gone]

    def _encoded(self, edit: Edit, after: list[AclBinding]) -> bytes:
        data = znodes.encode(after)
        if set(znodes.decode(edit.pattern, data)) != set(after):
            raise _RefusedError(
                f"The text for {edit.path} would not read back as what was asked, so it was not written."
            )
        if self.verb is Verb.ADD and len(data) > LARGEST_TRANSACTION - 4096:
            raise _RefusedError(
                f"The node {edit.path} would be {len(data) // 1024} KB large, and ZooKeeper takes little more than "
                f"{LARGEST_TRANSACTION // 1024} KB at once; name fewer principals, "
                "or write ACLs on a prefix instead."
            )
        return data

    def _operations(
        self, edit: Edit, node: Node, changed: tuple[AclBinding, ...], data: bytes, *, keeps_node: bool
    ) -> _Planned:
        """Return the operations that write the node, or remove it, and announce that to the brokers."""
        path = edit.path
        change_root, change_data = znodes.change_node(edit.pattern)
        parent_acl, change_acl = self._permissions(edit, change_root)
        edit.evidence = {"path": path, "version_before": node.version, "rereads": edit.rereads}

        def put(sending: Any) -> None:
            if node.version is None:
                # The permissions of its parent, or a node of Kafka's could be rewritten by anybody.
                sending.create(path, data, acl=parent_acl)
            elif keeps_node:
                sending.set_data(path, data, version=node.version)
            else:
                sending.delete(path, version=node.version)

        def announce(sending: Any) -> None:
            change_path = f"{change_root}/{znodes.CHANGE_PREFIX}"
            sending.create(change_path, change_data, acl=change_acl, sequence=True)

        size = len(data) + len(change_data) + 2 * len(path.encode()) + 512
        return _Planned(edit, changed, (put, announce), size)

    def _permissions(self, edit: Edit, change_root: str) -> tuple[list[Any], list[Any]]:
        """Return the permissions for the node and for its change node: those of what is above them."""
        parent = edit.path.rpartition("/")[0]
        try:
            return self.session.permissions_of(parent), self.session.permissions_of(change_root)
        except NoNodeError as error:
            raise _RefusedError(
                f"ZooKeeper holds no node {parent} or no node {change_root}, which a broker makes when it starts; "
                f"this cluster's Kafka does not know such ACLs on {edit.pattern.resource_type.name}."
            ) from error
        except (NoAuthError, InvalidACLError) as error:
            raise _RefusedError(why_refused(edit.path, error, 1)) from error

    # --- outcomes -----------------------------------------------------------------------

    def _open_ones(self, edits: list[Edit]) -> list[Edit]:
        """Return those of which some ACL has no outcome yet."""
        return [edit for edit in edits if any(one not in self.outcomes for one in edit.bindings)]

    def _set_outcome(self, edits: Sequence[Edit], kind: OutcomeKind, sentence: str) -> None:
        set_outcome(self.outcomes, edits, kind, sentence)

    def _set_already(self, edit: Edit, node: Node, before: frozenset[AclBinding]) -> None:
        word = "already there" if self.verb is Verb.ADD else "not there any more"
        evidence = {"path": edit.path, "version": node.version}
        for binding in edit.bindings:
            if (binding in before) is (self.verb is Verb.ADD):
                already = Outcome(binding, OutcomeKind.ALREADY, f"It is {word}.", evidence=evidence)
                self.outcomes.setdefault(binding, already)

    def _set_written(self, sent: list[_Planned], owners: list[Edit], results: Sequence[object]) -> None:
        for edit, result in zip(owners, results, strict=False):
            if isinstance(result, str):
                edit.evidence["change_node"] = result
        for planned in sent:
            sentence = f"Written to {planned.edit.path}, and announced to the brokers."
            for binding in planned.changed:
                self.outcomes[binding] = Outcome(
                    binding, OutcomeKind.WRITTEN, sentence, evidence=dict(planned.edit.evidence)
                )


def _understood(edit: Edit, found: Any) -> Node:
    """Return what the node holds; raises _RefusedError where rewriting it could lose something."""
    if isinstance(found, NoAuthError):
        raise _RefusedError(why_refused(edit.path, found, 1))
    try:
        return read_node(edit.pattern, found)
    except znodes.ZnodeError as error:
        raise _RefusedError(
            f"{error} It is not overwritten, because what would be lost is unknown; correct it first."
        ) from error
