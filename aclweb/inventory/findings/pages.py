"""What is wrong, redundant or dangerous in the ACLs in force, page by page, and is it known yet?

A worker finds it on a large cluster (`lint_run`): a run is enqueued when a snapshot was stored, and when
somebody asks for findings that do not exist. A small cluster's findings are found at once. No page
waits, and none reads more findings than it shows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from typing import Any, NamedTuple, overload

from django.db import transaction
from django.db.models import Count, Max, OuterRef, QuerySet, Subquery
from django.utils import timezone

from aclweb.acl.lint import RULES
from aclweb.acl.model import AclBinding, computed_once
from aclweb.acl.notation import binding_from_dict, binding_key
from aclweb.inventory import leases
from aclweb.inventory.current import ClusterView
from aclweb.inventory.fields import escape
from aclweb.inventory.findings import lint_run
from aclweb.inventory.findings import tasks as lint_tasks
from aclweb.inventory.findings.dismissing import dismissals, is_open, today
from aclweb.inventory.findings.lint_run import SEVERITIES
from aclweb.inventory.models import Cluster, Revision
from aclweb.inventory.stored_findings import DismissedFinding, LintRun, StoredFinding

__all__ = [
    "AT_ONCE",
    "SEVERITIES",
    "FindingRow",
    "Findings",
    "again",
    "dismissals_of",
    "findings",
    "proposal",
]

# The finders run on so many ACLs within a tenth of a second or two.
AT_ONCE = 1_000

_TITLES = {
    "implied": "Redundant: another ACL grants the same",
    "dead": "It can never match",
    "harmless-duplicate": "A right that another right implies",
    "unreachable": "No client or resource can have this name",
    "orphan": "Orphaned: it matches nothing that exists now",
    "consolidate-operations": "All for every operation",
    "consolidate-prefix": "One prefix for several names",
    "consolidate-hosts": "One range for several hosts",
}


@dataclass(frozen=True)
class FindingRow:
    """One finding as a list shows it; `number` is its own, `key` is of its ACL."""

    number: int
    rule: str
    severity: str
    title: str
    sentence: str
    acl: AclBinding
    by: tuple[AclBinding, ...]
    can_go: bool
    extra: int
    counterexample: str

    @property
    def key(self) -> str:
        return binding_key(self.acl)


@dataclass(frozen=True)
class Findings:
    """The findings of a revision: there, failed (`problem`), or still being worked out since `asked_at`.

    stamp: of the newest, what changes whenever others of them are dismissed, for whoever keeps what is read here.
    """

    run: LintRun
    stamp: tuple[object, ...] = ()

    @property
    def asked_at(self) -> datetime:
        return self.run.asked_at

    @property
    def problem(self) -> str:
        return self.run.problem

    @property
    def limits(self) -> Mapping[str, list[str]]:
        """Sentences that say where the run for `findings` and for `proposals` stopped before its end."""
        limits: dict[str, list[str]] = self.run.limits
        return limits

    @property
    def revision(self) -> Revision:
        return self.run.revision

    @property
    def before(self) -> Findings | None:
        """The findings that were there last, while these are not; None where there were none."""
        done = LintRun.objects.filter(cluster=self.run.cluster_id, done_at__isnull=False)
        last = done.exclude(pk=self.run.pk).select_related("revision").order_by("-done_at").first()
        return Findings(last) if last is not None else None

    @property
    def is_done(self) -> bool:
        return self.run.done_at is not None

    def count(self) -> Counts:
        """Return how many there are of each kind; what somebody has dismissed is not among them."""
        counted: dict[str, int] = dict.fromkeys(SEVERITIES, 0)
        proposals = can_go = 0
        for kind, number in self._open.items():
            if kind.is_proposal:
                proposals += number
            else:
                counted[kind.severity] += number
                can_go += number if kind.can_go else 0
        return Counts(counted, can_go, proposals, self._dismissed.total())

    @computed_once
    def _open(self) -> Counter[_Kind]:
        """How many of each kind nobody has dismissed."""
        return of_run(self.run) - self._dismissed

    @computed_once
    def _dismissed(self) -> Counter[_Kind]:
        return _counted(self._left_out)

    def matching(self, *, severity: str = "", rule: str = "", text: str = "") -> FindingPage:
        """Return the findings with this severity and lint rule whose principal or resource holds the text."""
        found = self._found.filter(is_proposal=False)
        if severity:
            found = found.filter(severity=severity)
        if rule:
            found = found.filter(rule=rule)
        if text:
            # Django leaves the text of such a filter as it is, and the column holds escapes.
            return FindingPage(found.filter(names__contains=escape(text.casefold())))
        kinds = {
            kind: number
            for kind, number in self._open.items()
            if not kind.is_proposal and severity in ("", kind.severity) and rule in ("", kind.rule)
        }
        return FindingPage(found, Counter(kinds))

    def keys(self, *, rule: str = "", can_go: bool = False) -> frozenset[str]:
        """Return the keys of the ACLs with a finding: of this lint rule, or that can all go at once."""
        found = self._found.filter(is_proposal=False)
        if rule:
            found = found.filter(rule=rule)
        if can_go:
            found = found.filter(can_go=True)
        acls = found.order_by().values_list("acl", flat=True).iterator(chunk_size=5_000)
        return frozenset(binding_key(binding_from_dict(json.loads(acl))) for acl in acls)

    @property
    def can_go(self) -> FindingPage:
        """What can all go at once without changing a decision."""
        kinds = Counter({kind: number for kind, number in self._open.items() if kind.can_go})
        return FindingPage(self._found.filter(can_go=True), kinds)

    @property
    def proposals(self) -> FindingPage:
        """The ACLs that could each replace several."""
        kinds = Counter({kind: number for kind, number in self._open.items() if kind.is_proposal})
        return FindingPage(self._found.filter(is_proposal=True), kinds)

    @property
    def left_out(self) -> FindingPage:
        """The findings that somebody has dismissed."""
        return FindingPage(self._left_out, self._dismissed)

    @property
    def _left_out(self) -> QuerySet[StoredFinding]:
        dismissed = StoredFinding.objects.filter(search=self.run, dismissed_until__gte=today())
        # Few have an index of their own, which SQLite leaves for one that has more of what is counted by.
        return StoredFinding.objects.filter(pk__in=dismissed.order_by().values("pk"))

    @property
    def _found(self) -> QuerySet[StoredFinding]:
        return StoredFinding.objects.filter(is_open(), search=self.run)


@dataclass(frozen=True)
class Counts:
    """How many findings there are; `can_go` of them are of ACLs that can go.

    On top come the `proposals`, and those that somebody has `dismissed`.
    """

    by_severity: dict[str, int]
    can_go: int
    proposals: int
    dismissed: int

    @property
    def total(self) -> int:
        return sum(self.by_severity.values())


class FindingPage(Sequence[FindingRow]):
    """Findings in their order, of which only those are read that are asked for."""

    def __init__(self, found: QuerySet[StoredFinding], kinds: Counter[_Kind] | None = None) -> None:
        """kinds: how many there are of each, where that is known already."""
        self._found, self._kinds = found.order_by("place"), kinds
        self._length = kinds.total() if kinds is not None else None

    def __len__(self) -> int:
        if self._length is None:
            self._length = self._found.count()
        return self._length

    @overload
    def __getitem__(self, place: int) -> FindingRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[FindingRow]: ...

    def __getitem__(self, place: int | slice) -> FindingRow | list[FindingRow]:
        if isinstance(place, slice):
            return [_row(found) for found in self._found[place]]
        return _row(self._found[place])

    @property
    def can_go(self) -> FindingPage:
        """Those of ACLs that can all go at once without changing a decision; so can any part of them."""
        kinds = self._kinds
        going = Counter({kind: kinds[kind] for kind in kinds if kind.can_go}) if kinds is not None else None
        return FindingPage(self._found.filter(can_go=True), going)

    def acls(self, most: int) -> list[AclBinding]:
        """Return the ACLs of the first so many, each once."""
        texts = self._found.values_list("acl", flat=True)[:most]
        return [binding_from_dict(json.loads(text)) for text in dict.fromkeys(texts)]

    def by_rule(self) -> list[tuple[str, str, str, int]]:
        """Return severity, lint rule, its title and how many there are, those of most first."""
        if self._kinds is None:
            self._kinds = _counted(self._found)
            self._length = self._kinds.total()
        numbers = Counter[tuple[str, str]]()
        for kind, number in self._kinds.items():
            numbers[kind.severity, kind.rule] += number
        rows = [(severity, rule, title(rule), number) for (severity, rule), number in numbers.items()]
        return sorted(rows, key=lambda row: (-row[3], row[1], row[0]))


class _Kind(NamedTuple):
    """What findings are counted by."""

    is_proposal: bool
    severity: str
    rule: str
    can_go: bool


def _counted(found: QuerySet[StoredFinding]) -> Counter[_Kind]:
    """Return how many there are of each kind; one query."""
    rows = found.order_by().values_list(*_Kind._fields).annotate(number=Count("pk"))
    return Counter({_Kind(*kind): number for *kind, number in rows})


def of_run(run: LintRun) -> Counter[_Kind]:
    """Return how many findings of each kind a run has, dismissed or not; counted once where it is done."""
    if run.done_at is None:
        return _counted(StoredFinding.objects.filter(search=run))
    return _of_done(run.pk, run.done_at, run.key)


@lru_cache(maxsize=64)
def _of_done(run: int, done_at: datetime, key: str) -> Counter[_Kind]:
    """Return the same of a run that is done: nothing is added to it or taken from it any more.

    done_at, key: those of this run, and not of another with its number in a database that was put back.
    """
    return _counted(StoredFinding.objects.filter(search=run, search__done_at=done_at, search__key=key))


def title(rule: str) -> str:
    """Return what a lint rule is about, in a few words."""
    return _TITLES.get(rule) or (RULES[rule].title if rule in RULES else rule)


def is_rule(text: str) -> bool:
    """Whether a finding can be of this lint rule."""
    return text in _TITLES or text in RULES


def newest(cluster: Cluster) -> Findings | None:
    """Return the newest complete findings, which may be of a revision before; None without any. One query."""
    done = LintRun.objects.filter(cluster=cluster, done_at__isnull=False).select_related("revision")
    known = DismissedFinding.objects.filter(cluster=OuterRef("cluster")).order_by().values("cluster")
    run = (
        done.annotate(
            dismissals=Subquery(known.annotate(number=Count("pk")).values("number")),
            dismissed_at=Subquery(known.annotate(newest=Max("at")).values("newest")),
        )
        .order_by("-done_at")
        .first()
    )
    return Findings(run, (run.dismissals, run.dismissed_at, today())) if run is not None else None


def findings(view: ClusterView) -> Findings | None:
    """Return the findings as far as they are, and see that they will be; None for a cluster never read."""
    cluster = view.cluster
    if view.revision is None:
        return None
    found = lint_run.run_of(cluster)
    if found is None:
        found = lint_run.begin(cluster, view.revision)
        _start(cluster, view)
        # A newer run that ended meanwhile has deleted this one; whoever asks again finds that one.
        found = LintRun.objects.select_related("revision").filter(pk=found.pk).first() or found
    elif lint_run.is_waiting(found) and lint_run.enqueue_again(found):
        _enqueue(cluster)
    return Findings(found)


def may_all_go(view: ClusterView, acls: Iterable[AclBinding]) -> bool:
    """Whether the findings of what is in force say that these ACLs can all go at once without changing a decision.

    False too where nobody knows yet, or where somebody has dismissed such a finding. Starts no run.
    """
    run = lint_run.run_of(view.cluster) if view.revision is not None else None
    if run is None or run.done_at is None:
        return False
    return {binding_key(acl) for acl in acls} <= Findings(run).keys(can_go=True)


def known_count(cluster: Cluster) -> int | None:
    """Return how many findings the newest complete run has; None without one. Starts no run; one query or two."""
    columns = known_columns(cluster)
    return known_from(Cluster.objects.filter(pk=cluster.pk).values(**columns).get())


def known_columns(cluster: Cluster) -> dict[str, Subquery]:
    """Return what `known_from` asks for, as columns of a query of one row."""
    newest = LintRun.objects.filter(cluster=cluster, done_at__isnull=False).order_by("-done_at")
    dismissed = StoredFinding.objects.filter(
        is_proposal=False, dismissed_until__gte=today(), search=Subquery(newest.values("pk")[:1])
    )
    number = dismissed.order_by().values("search").annotate(number=Count("pk")).values("number")
    return {
        "found_run": Subquery(newest.values("pk")[:1]),
        "found_done_at": Subquery(newest.values("done_at")[:1]),
        "found_key": Subquery(newest.values("key")[:1]),
        "found_dismissed": Subquery(number),
    }


def known_from(row: Mapping[str, Any]) -> int | None:
    """Return the number of `known_count` from a row with `known_columns`; a query where nobody has counted the run."""
    if row["found_run"] is None:
        return None
    kinds = _of_done(row["found_run"], row["found_done_at"], row["found_key"])
    every = sum(number for kind, number in kinds.items() if not kind.is_proposal)
    return every - (row["found_dismissed"] or 0)


def dismissals_of(cluster: Cluster, rows: Iterable[FindingRow]) -> dict[tuple[str, str], DismissedFinding]:
    """Return the dismissals in force of these findings, by lint rule and key of the ACL; one query."""
    found = dismissals(cluster).filter(acl_key__in={row.key for row in rows})
    return {(each.rule, each.acl_key): each for each in found}


def proposal(cluster: Cluster, number: int) -> FindingRow | None:
    """Return one proposal of the newest findings; None where it is gone, because the cluster was read anew."""
    found = StoredFinding.objects.filter(pk=number, search__cluster=cluster, is_proposal=True).first()
    return _row(found) if found is not None else None


@dataclass(frozen=True)
class OwnFinding:
    """One finding, as it is stored and as a list shows it."""

    stored: StoredFinding
    row: FindingRow


def own(cluster: Cluster, number: int) -> OwnFinding | None:
    """Return one finding of the cluster that is not dismissed; None where it is gone."""
    found = StoredFinding.objects.filter(
        is_open(), pk=number, search__cluster=cluster, search__done_at__isnull=False, is_proposal=False
    ).first()
    return OwnFinding(found, _row(found)) if found is not None else None


def again(view: ClusterView) -> None:
    """Have findings that could not be worked out tried once more; does nothing for any others."""
    found = lint_run.run_of(view.cluster) if view.revision is not None else None
    if found is None or not found.problem:
        return
    now = timezone.now()
    mine = LintRun.objects.filter(pk=found.pk, done_at__isnull=True).exclude(problem="")
    if mine.update(problem="", asked_at=now, rung_at=now):
        _start(view.cluster, view)


def _start(cluster: Cluster, view: ClusterView) -> None:
    if len(view.index) <= AT_ONCE:
        lint_run.run(cluster, owner=leases.owner("page"))
    else:
        _enqueue(cluster)


def _enqueue(cluster: Cluster) -> None:
    # Where no queue can be reached, whoever waits asks again.
    transaction.on_commit(partial(lint_tasks.lint_cluster.delay, cluster.pk), robust=True)


def _row(found: StoredFinding) -> FindingRow:
    return FindingRow(
        number=found.pk,
        rule=found.rule,
        severity=found.severity,
        title=title(found.rule),
        sentence=found.sentence,
        acl=binding_from_dict(json.loads(found.acl)),
        by=tuple(binding_from_dict(given) for given in json.loads(found.by)),
        can_go=found.can_go,
        extra=found.extra,
        counterexample=found.counterexample,
    )
