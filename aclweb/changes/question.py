"""What is asked of a worker: a what-if or a comparison, over revisions and settings that stay as they are.

A question names all that its impact depends on, so it has the same answer whenever a worker comes to it.
Its key is equal for equal questions: what a worker has computed is found again by it.
"""

from __future__ import annotations

import datetime
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Exists, OuterRef

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import AclBinding, AuthorizerSettings, Delta, computed_once
from aclweb.acl.notation import binding_from_dict
from aclweb.changes.impact import sha256_of
from aclweb.changes.models import Change, Computation
from aclweb.changes.plans import plan_of
from aclweb.inventory.current import ClusterView, Moment, in_force, moment_of
from aclweb.inventory.models import Cluster, Declaration, Revision

KEY_FORMAT = 1


@dataclass(frozen=True)
class Side:
    """A cluster now or as it was, with a change or a draft written to it or without.

    moment: the one of the past that `view` is about; None for now. draft: what nobody has
    saved, and what sentences call it. new_topics: names that count as if they existed.
    called: what sentences call it instead, where that is not a moment of the cluster.
    """

    view: ClusterView
    moment: Moment | None = None
    change: Change | None = None
    draft: tuple[str, Delta] | None = None
    new_topics: tuple[str, ...] = ()
    called: str = ""

    @computed_once
    def index(self) -> AclIndex:
        if self.delta is None:
            return self.view.index
        return AclIndex(self.delta.applied_to(self.view.index.bindings))

    @property
    def words(self) -> str:
        """`prod-eu as of revision 3, with CR-7`, as the sentences of a page name this side."""
        if self.called:
            return self.called
        if self.draft is not None:
            return self.draft[0]
        when = f"as of {self.moment.words}" if self.moment is not None else "now"
        change = f", with {self.change.key}" if self.change is not None else ""
        return f"{self.view.cluster.name} {when}{change}"

    @computed_once
    def key(self) -> tuple[object, ...]:
        """What the answer depends on at this side."""
        return (_read(self.view), self.delta, self.view.settings, self.new_topics)

    @computed_once
    def delta(self) -> Delta | None:
        """What is written to it in thought."""
        if self.draft is not None:
            return self.draft[1]
        return plan_of(self.change).delta if self.change is not None else None


@dataclass(frozen=True)
class Question:
    """One side for a what-if, which is what its delta and new topics change there; two for a comparison."""

    kind: str
    sides: tuple[Side, ...]

    @computed_once
    def key(self) -> str:
        """The SHA-256 of all that the impact depends on; the order of ACLs is none of it."""
        return sha256_of([KEY_FORMAT, self.kind, [_in_order(_as_dict(side)) for side in self.sides]])

    def packed(self) -> bytes:
        """Return the question as bytes, from which `question_of` makes it again."""
        told = [{**_as_dict(side), **_shown(side)} for side in self.sides]
        return zlib.compress(json.dumps(told, separators=(",", ":")).encode("ascii"))


def what_if(view: ClusterView, delta: Delta, new_topics: tuple[str, ...] = ()) -> Question:
    """Return the question what this edit would change."""
    return Question(
        Computation.Kind.WHAT_IF, (Side(view, draft=("the draft", delta), new_topics=new_topics),)
    )


def comparison(left: Side, right: Side) -> Question:
    """Return the question what differs from the one side to the other."""
    return Question(Computation.Kind.COMPARISON, (left, right))


def question_of(row: Computation) -> Question:
    """Return what was asked, as of the revisions and by the settings of then."""
    told = json.loads(zlib.decompress(bytes(row.question)))
    read = [(row.cluster, row.revision)]
    if row.other_cluster is not None and row.other_revision is not None:
        read.append((row.other_cluster, row.other_revision))
    sides = (_side(cluster, revision, each) for (cluster, revision), each in zip(read, told, strict=True))
    return Question(row.kind, tuple(sides))


def delta_of(row: Computation) -> Delta:
    """Return the edit that a what-if is about, without what was read of its cluster."""
    (told,) = json.loads(zlib.decompress(bytes(row.question)))
    return Delta(_bindings(told["add"]), _bindings(told["remove"]))


def any_computed(cluster: OuterRef) -> Exists:
    """Return, for a query of something else, whether workers have computed any what-if of the cluster with this key.

    As `any_computed` on the row of a cluster, it saves `finished` a query where none is.
    """
    of_cluster = Computation.objects.filter(cluster=cluster, kind=Computation.Kind.WHAT_IF)
    return Exists(of_cluster.filter(state=Computation.State.DONE))


def finished(question: Question) -> Computation | None:
    """Return the computation of the same question that a worker has done, if there is one."""
    is_what_if = question.kind == Computation.Kind.WHAT_IF
    if is_what_if and not getattr(question.sides[0].view.cluster, "any_computed", True):
        return None
    return Computation.objects.filter(key=question.key, state=Computation.State.DONE).first()


def _as_dict(side: Side) -> dict[str, Any]:
    """Return what the answer depends on at a side, ready for JSON."""
    settings, delta = side.view.settings, side.delta or Delta()
    return {
        "cluster": side.view.cluster.pk,
        "read": _read(side.view),
        "groups_known": side.view.groups_known,
        "settings": {
            "authorizer": settings.authorizer,
            "kafka_version": settings.kafka_version,
            "super_users": sorted(settings.super_users),
            "allow_everyone": settings.allow_everyone,
            "undeclared": sorted(settings.undeclared),
            # Left out where there is none, so that what was asked earlier is the same question.
            **({"service": settings.service} if settings.service else {}),
        },
        "add": [binding.as_dict() for binding in delta.add],
        "remove": [binding.as_dict() for binding in delta.remove],
        "new_topics": list(side.new_topics),
    }


def _in_order(told: dict[str, Any]) -> dict[str, Any]:
    return told | {
        name: sorted(told[name], key=lambda acl: tuple(acl.values())) for name in ("add", "remove")
    }


def _shown(side: Side) -> dict[str, Any]:
    """Return what is only for the words that a side is shown with."""
    moment = side.moment
    return {
        # A change may be edited later: what was asked of it stays, under the name that it had.
        "draft": None if side.delta is None else side.words,
        "time": moment.time.isoformat() if moment is not None and moment.time is not None else None,
        "declared": moment.declared.pk if moment is not None and moment.declared is not None else None,
    }


def _read(view: ClusterView) -> tuple[object, ...]:
    """Return what was read of the cluster; a database that was restored gives numbers of revisions out again."""
    revision = view.revision
    return () if revision is None else (revision.pk, revision.read_at.isoformat(), revision.digest)


def _side(cluster: Cluster, revision: Revision, told: Mapping[str, Any]) -> Side:
    declared = None
    if told["declared"] is not None:
        declared = Declaration.objects.filter(pk=told["declared"]).first()
    time = None if told["time"] is None else datetime.datetime.fromisoformat(told["time"])
    moment = replace(moment_of(revision), declared=declared, time=time)
    view = replace(
        in_force(cluster, moment),
        settings=_settings(told["settings"]),
        groups_known=told["groups_known"],
    )
    delta = Delta(_bindings(told["add"]), _bindings(told["remove"]))
    return Side(
        view,
        moment=None if time is None and revision.pk == cluster.revision_id else moment,
        draft=None if told["draft"] is None else (told["draft"], delta),
        new_topics=tuple(told["new_topics"]),
    )


def _settings(told: Mapping[str, Any]) -> AuthorizerSettings:
    return AuthorizerSettings(
        authorizer=told["authorizer"],
        kafka_version=told["kafka_version"],
        super_users=frozenset(told["super_users"]),
        allow_everyone=told["allow_everyone"],
        undeclared=frozenset(told["undeclared"]),
        service=told.get("service", ""),
    )


def _bindings(told: Iterable[Mapping[str, object]]) -> tuple[AclBinding, ...]:
    return tuple(map(binding_from_dict, told))
