"""Run all finders on the ACLs in force, and store what they find wrong, redundant or dangerous.

At a hundred thousand ACLs that takes ten seconds of a processor and more, so a worker does
it, once for each revision and what is declared of its cluster. A worker takes the run
under a lease, and its findings are stored whole or not at all; a run that was overtaken
by a newer revision or declaration stores nothing. Nothing is worked out twice, and where a
worker dies, the run is enqueued again and begins anew.

Where two finders say the same of one ACL, it is one finding.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from itertools import islice
from pathlib import Path

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

import aclweb.acl
from aclweb.acl.authorizer import Result
from aclweb.acl.lint import (
    DEAD,
    ERROR,
    INFO,
    SHADOWED,
    UNREACHABLE,
    WARNING,
    Redundancy,
    consolidations,
    lint_all,
    redundant,
    removable,
)
from aclweb.acl.model import (
    WILDCARD,
    AclBinding,
    ResourceType,
    action_on,
    everyone_or,
    from_host,
    resource_text,
)
from aclweb.acl.simulate import EXACT, Effect, Names, plain, which_of
from aclweb.inventory import leases
from aclweb.inventory.current import ClusterView, in_force, settings_of
from aclweb.inventory.fields import storable
from aclweb.inventory.findings.dismissing import leave_out
from aclweb.inventory.findings.posture import COUNTED, counted, keep_day
from aclweb.inventory.models import Cluster, Revision
from aclweb.inventory.store import insert, staging
from aclweb.inventory.stored_findings import LintRun, StoredFinding

logger = logging.getLogger(__name__)

SEVERITIES = (ERROR, WARNING, INFO)

# Whoever has waited so long enqueues the run again: the message may be lost.
ENQUEUED_AGAIN_AFTER = timedelta(seconds=60)

# A worker that is lost keeps the run from others for so long.
LEASE_SECONDS = 180

# Rules of lint that say of an ACL what this rule of redundancy says, with a page of its own for each.
_SAID_BY_LINT = {
    DEAD: frozenset({"host-never-matches", "dormant-address-range", "unparsable-principal"}),
    UNREACHABLE: frozenset(
        {
            "unlikely-principal",
            "name-cannot-exist",
            "prefix-of-asterisk",
            "asterisk-in-name",
            "refused-by-kafka",
        }
    ),
}


Limits = dict[str, list[str]]


@dataclass(frozen=True)
class Finding:
    """One ACL that breaks a lint rule or could be removed; as a proposal, one that could replace those in `by`.

    can_go: whether it can go together with all others that can. extra: how many answers a
    proposal would change; counterexample is one of them as a sentence.
    """

    rule: str
    severity: str
    sentence: str
    acl: AclBinding
    by: tuple[AclBinding, ...]
    is_proposal: bool = False
    can_go: bool = False
    extra: int = 0
    counterexample: str = ""


def key_of(cluster: Cluster) -> str:
    """Return what the findings in one revision depend on besides its ACLs and names."""
    settings = settings_of(cluster)
    parts = [
        settings.authorizer,
        settings.kafka_version,
        sorted(settings.super_users),
        settings.allow_everyone,
        sorted(settings.undeclared),
        cluster.topics_listed,
        cluster.groups_listed,
        _version(),
        COUNTED,
    ]
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()


def run_of(cluster: Cluster) -> LintRun | None:
    """Return the run that answers for the cluster as it is now, if anybody has asked for it."""
    found = LintRun.objects.filter(cluster=cluster, revision=cluster.revision_id, key=key_of(cluster))
    return found.select_related("revision").first()


def begin(cluster: Cluster, revision: Revision) -> LintRun:
    """Return that run, made if it is not there; `revision` is what was read of the cluster last."""
    now = timezone.now()
    return LintRun.objects.get_or_create(
        cluster=cluster,
        revision=revision,
        key=key_of(cluster),
        defaults={"asked_at": now, "rung_at": now},
    )[0]


def is_waiting(row: LintRun) -> bool:
    """Return whether no worker has it although it was enqueued a while ago: the message may be lost."""
    if row.done_at is not None or row.problem:
        return False
    now = timezone.now()
    if row.rung_at >= now - ENQUEUED_AGAIN_AFTER:
        return False
    return LintRun.objects.filter(leases.is_free(), pk=row.pk).exists()


def is_left_waiting() -> bool:
    """Return whether some run was asked for a while ago, and no worker has it."""
    long_ago = timezone.now() - ENQUEUED_AGAIN_AFTER
    waiting = LintRun.objects.filter(
        leases.is_free(), done_at__isnull=True, problem="", asked_at__lt=long_ago
    )
    return waiting.exists()


def is_at_work(lately: timedelta) -> bool:
    """Return whether a worker has a run, or has ended one so lately."""
    ended = Q(done_at__gt=timezone.now() - lately)
    return LintRun.objects.filter(leases.is_held() | ended).exists()


def enqueue_again(row: LintRun) -> bool:
    """Note that the run is enqueued again now; return False if somebody else has done so."""
    return bool(LintRun.objects.filter(pk=row.pk, rung_at=row.rung_at).update(rung_at=timezone.now()))


def run(cluster: Cluster, *, owner: str) -> bool:
    """Work out what the ACLs in force hold and store it; return False where that is done, or somebody is at it."""
    view = in_force(cluster)
    if view.revision is None:
        return False
    row = begin(view.cluster, view.revision)
    if not _take(row, owner):
        return False
    began = time.monotonic()
    try:
        limits: Limits = {"findings": [], "proposals": []}
        with leases.renewed(lambda: _renew(row, owner), every_seconds=LEASE_SECONDS / 3):
            found = find_all(view, limits=limits)
    except Exception as error:  # shown on the page, where it can be tried again
        logger.exception("The findings of cluster %s could not be worked out.", cluster.slug)
        sentence = (
            f"The findings of revision {view.revision.number:,} could not be worked out: {_in_words(error)}"
        )
        _held_by(row, owner).update(problem=storable(sentence), lease_owner="", lease_until=None)
        return False
    stored = _store(row, owner, found, limits, counted(view.index, found))
    logger.info(
        "Found %d things in the %d ACLs of cluster %s in %.1f s%s.",
        len(found),
        len(view.index),
        cluster.slug,
        time.monotonic() - began,
        "" if stored else ", and kept nothing: something newer is asked for",
    )
    return stored


def find_all(view: ClusterView, *, limits: Limits) -> tuple[Finding, ...]:
    """Return all findings, errors first, and then the one ACL in place of several; those that save most come first.

    limits: takes sentences that say where a finder stopped before the end.
    """
    names = Names(
        topics=view.loaded.names[ResourceType.TOPIC],
        groups=view.loaded.names[ResourceType.GROUP] if view.groups_known else (),
    )
    wasted = list(redundant(view.index, view.settings, names, limits=limits["findings"]))
    linted = [
        Finding(each.rule, each.severity, each.sentence, each.acl, each.by)
        for each in lint_all(view.index, view.settings, wasted=wasted)
        if each.rule != SHADOWED  # which is among the redundant ones
    ]
    found = _joined(linted, wasted)
    found.sort(key=lambda each: (SEVERITIES.index(each.severity), each.rule))
    for proposal in consolidations(view.index, view.settings, names, limits=limits["proposals"]):
        found.append(_proposal(proposal))
    return tuple(found)


def _joined(linted: Sequence[Finding], wasted: Sequence[Redundancy]) -> list[Finding]:
    """Return the findings of both finders with what both say of one ACL as one."""
    found = list(linted)
    places: dict[AclBinding, list[int]] = {}
    for place, each in enumerate(linted):
        places.setdefault(each.acl, []).append(place)
    going = set(removable(wasted))
    for also in wasted:
        can_go = also.acl in going
        going.discard(also.acl)  # it goes once, however many reasons there are
        said_by = _SAID_BY_LINT.get(also.rule, frozenset())
        same = next((place for place in places.get(also.acl, ()) if found[place].rule in said_by), None)
        if same is None:
            found.append(Finding(also.rule, also.severity, also.sentence, also.acl, also.by, can_go=can_go))
            continue
        kept = found[same]
        worst = min(kept.severity, also.severity, key=SEVERITIES.index)
        found[same] = replace(kept, severity=worst, can_go=kept.can_go or can_go)
    return found


def _proposal(proposed: Redundancy) -> Finding:
    extra = proposed.extra or ()
    # Somebody by name and a name that exists convince sooner than whoever may come.
    best = min(
        extra,
        key=lambda effect: (effect.names_kind != EXACT, effect.principal == WILDCARD),
        default=None,
    )
    return Finding(
        proposed.rule,
        proposed.severity,
        proposed.sentence,
        proposed.acl,
        proposed.by,
        is_proposal=True,
        extra=len(extra),
        counterexample=_counterexample(best) if best is not None else "",
    )


def _counterexample(effect: Effect) -> str:
    """Return one answer that would be another, as a sentence."""
    who = "anybody else" if effect.except_principals else "anybody"
    if effect.principal != WILDCARD:
        who = everyone_or(effect.principal)
    host = "from any other host" if effect.except_hosts else from_host(effect.host)
    what = f"{action_on(effect.operation, effect.resource_type, _names(effect))} {host}"
    if effect.after.result is Result.ALLOWED:
        return f"For example, {who} could then {what}, and cannot now."
    if effect.after.result is Result.DENIED:
        return f"For example, {who} could then no longer {what}."
    return f"For example, whether {who} can {what} would then be unknown."


def _names(effect: Effect) -> str:
    if effect.names_kind == EXACT:
        return resource_text(effect.resource_type, effect.names_text)
    return plain(which_of(effect.resource_type, [(effect.names_kind, effect.names_text)]))


def _take(row: LintRun, owner: str) -> bool:
    """Take the run, unless it is done, has failed, or somebody else has it."""
    waiting = LintRun.objects.filter(pk=row.pk, done_at__isnull=True, problem="")
    return leases.take(waiting, owner=owner, seconds=LEASE_SECONDS)


def _renew(row: LintRun, owner: str) -> bool:
    return leases.take(_held_by(row, owner), owner=owner, seconds=LEASE_SECONDS)


def _held_by(row: LintRun, owner: str) -> QuerySet[LintRun]:
    return LintRun.objects.filter(pk=row.pk, lease_owner=owner, done_at__isnull=True)


def _store(
    row: LintRun, owner: str, found: Sequence[Finding], limits: Limits, counts: Mapping[str, int]
) -> bool:
    """Store the findings, and forget those of before; return False if nobody waits for them any more.

    The rows are stored in short transactions, and nobody reads them before the run is done.
    """
    _forget(StoredFinding.objects.filter(search=row))  # what a worker that was lost had stored
    rows = _rows(row, found)
    while some := list(islice(rows, staging.ROWS_AT_ONCE)):
        with staging.in_turn():
            if not _renew(row, owner):
                return False
            insert(StoredFinding, _COLUMNS, some)
    leave_out(row)
    with transaction.atomic():
        # Whoever stores a reading or a declaration comes before this or after it.
        cluster = Cluster.objects.select_for_update().get(pk=row.cluster_id)
        is_newest = cluster.revision_id == row.revision_id and key_of(cluster) == row.key
        done = is_newest and _held_by(row, owner).update(
            done_at=timezone.now(), limits=limits, counts=counts, lease_owner="", lease_until=None
        )
        if done:
            keep_day(row, counts)
    going = LintRun.objects.filter(cluster=row.cluster_id).exclude(pk=row.pk)
    if not done:
        going = LintRun.objects.filter(pk=row.pk, lease_owner=owner)
    for each in going:
        _forget(StoredFinding.objects.filter(search=each))
        each.delete()
    return bool(done)


def _forget(found: QuerySet[StoredFinding]) -> None:
    """Delete these findings in short transactions."""
    while keys := list(found.order_by().values_list("pk", flat=True)[: staging.ROWS_AT_ONCE]):
        with staging.in_turn():
            StoredFinding.objects.filter(pk__in=keys).delete()


_COLUMNS = (
    "search",
    "place",
    "is_proposal",
    "rule",
    "severity",
    "sentence",
    "names",
    "acl",
    "by",
    "can_go",
    "extra",
    "counterexample",
)


def _rows(row: LintRun, found: Sequence[Finding]) -> Iterator[Sequence[object]]:
    for place, each in enumerate(found):
        yield (
            row.pk,
            place,
            each.is_proposal,
            each.rule,
            each.severity,
            storable(each.sentence),
            f"{each.acl.principal}\n{each.acl.resource_name}".casefold(),
            json.dumps(each.acl.as_dict()),
            json.dumps([binding.as_dict() for binding in each.by]),
            each.can_go,
            each.extra,
            storable(each.counterexample),
        )


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}. The site's log says more."


@cache
def _version() -> str:
    """Return a digest of the finders' own text: whatever is changed in them starts a new run."""
    digest = hashlib.sha256()
    for file in finder_files():
        digest.update(file.read_bytes())
    return digest.hexdigest()


def finder_files() -> list[Path]:
    """Return every file whose text can change a finding: this one and the whole core, however deep it lies."""
    return [Path(__file__), *sorted(Path(aclweb.acl.__file__).parent.rglob("*.py"))]
