"""Which ACLs are left by the filters that ask what is stored beside them: use, findings and age?

`?use=unused`, `?finding=implied` (a lint rule, `any` or `can-go`) and `?added=30` (days, or `cannot-tell`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.http import QueryDict
from django.utils import timezone

from aclweb.acl.logged import Evidence
from aclweb.acl.model import PermissionType, number_of
from aclweb.insights import queries
from aclweb.insights.current import current_load
from aclweb.insights.models import Load
from aclweb.insights.unused import evidence_of
from aclweb.inventory import lists
from aclweb.inventory.current import ClusterView
from aclweb.inventory.findings import Findings
from aclweb.inventory.findings import pages as findings
from aclweb.inventory.lists import AclListFilters
from aclweb.web.browse.acl_filters import Choice, Facet, with_field, without
from aclweb.web.shell.as_of import AsOf

UNUSED, CANNOT_TELL = "unused", "cannot-tell"
USES = (queries.NEEDED, queries.REPLACEABLE, queries.USED, UNUSED, CANNOT_TELL)
ANY, CAN_GO = "any", "can-go"
_FINDINGS = {ANY: "Any finding", CAN_GO: "Can be removed"}
_ADDED = {
    "7": "In the last 7 days",
    "30": "In the last 30 days",
    "90": "In the last 90 days",
    CANNOT_TELL: "Cannot tell",
}
MOST_DAYS = 3_650
# Beside a long list of lint rules the other filters would be out of sight.
RULES_SHOWN = 8


@dataclass
class Kept:
    """What the filters leave.

    faults: words of the address that were not understood, and so left out. notes: what nobody can tell of what is left.
    shown: field -> (label, value) of each filter in force. findings: the newest; None without any, and of the past.
    load: of the log, None without one; evidence: what it can claim.
    """

    filters: AclListFilters
    findings: Findings | None
    load: Load | None
    evidence: Evidence
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    shown: dict[str, tuple[str, str]] = field(default_factory=dict)

    # Which kept answers the keys of the filters are; empty where they are worked out anew each time.
    _answers: tuple[Hashable, ...] = ()

    def only(self, view: ClusterView, keys: frozenset[str], question: Hashable = None) -> None:
        """Leave no ACL but those with these keys. question: by which the revision keeps them, if it does."""
        now = self.filters.keys
        if now is None:
            joined, self._answers = keys, () if question is None else (question,)
        elif question is None or not self._answers:
            joined, self._answers = now & keys, ()
        else:
            # Kept as well: of a million keys each, what two have in common takes half a second, and so does to find
            # that a set is equal to another.
            self._answers = (*self._answers, question)
            joined = view.loaded.remember(("in all of", *self._answers), lambda: now & keys)
        self.filters = replace(self.filters, keys=joined)


def kept(view: ClusterView, moment: AsOf, query: Mapping[str, str], filters: AclListFilters) -> Kept:
    """Return the filters with those of the address that ask what is stored; three queries without any of these."""
    load = current_load(view.cluster)
    newest = None if moment.is_past else findings.newest(view.cluster)
    found = Kept(filters, newest, load, evidence_of(load))
    if use := query.get("use"):
        _by_use(found, view, use)
    if rule := query.get("finding"):
        _by_finding(found, view, moment, rule)
    if added := query.get("added"):
        _by_age(found, view, moment, added)
    return found


def _by_use(found: Kept, view: ClusterView, use: str) -> None:
    if use not in USES:
        found.faults.append(f"use is {use!r}; use one of {', '.join(USES)}.")
        return
    found.shown["use"] = ("use", use.replace("-", " "))
    if use == CANNOT_TELL:
        found.filters = replace(found.filters, without_keys=_told(found, view))
        return
    if reason := found.evidence.why_not.get(PermissionType.ALLOW, ""):
        found.notes.append(
            f"Which ALLOW ACLs are {'unused' if use == UNUSED else 'used'} is unknown: {reason}."
        )
    if use == UNUSED:
        found.only(view, _unused(found, view), _question_of_unused(found, view))
    else:
        found.only(view, queries.used_keys(found.load, use))


def _unused(found: Kept, view: ClusterView) -> frozenset[str]:
    """Return the keys of the unused ACLs in force; kept for the next page of the list."""
    return view.loaded.remember(
        _question_of_unused(found, view),
        lambda: queries.unused_keys(view.cluster, found.load, found.evidence),
    )


def _question_of_unused(found: Kept, view: ClusterView) -> Hashable:
    return "unused_keys", *_by_log(found, view)


def _told(found: Kept, view: ClusterView) -> frozenset[str]:
    """Return the keys of the ACLs of which the log tells whether they are used; kept as well."""
    question = ("told_keys", *_by_log(found, view))
    return view.loaded.remember(question, lambda: queries.used_keys(found.load) | _unused(found, view))


def _by_log(found: Kept, view: ClusterView) -> tuple[Hashable, ...]:
    """Return on what the use of the ACLs in force depends."""
    load, evidence = found.load, found.evidence
    return view.cluster.revision_id, load and load.pk, evidence.start, *evidence.claimable()


def _by_finding(found: Kept, view: ClusterView, moment: AsOf, rule: str) -> None:
    if rule not in _FINDINGS and not findings.is_rule(rule):
        found.faults.append(
            f"finding is {rule!r}; use any, can-go, or the id of a lint rule such as implied."
        )
        return
    word = "any" if rule == ANY else _FINDINGS.get(rule) or findings.title(rule)
    found.shown["finding"] = ("finding", word)
    known = found.findings
    if known is None:
        found.notes.append(
            "Findings are known of the ACLs in force now, and not of the past."
            if moment.is_past
            else "No findings are known yet. The page Findings works them out."
        )
        found.only(view, frozenset())
        return
    if known.revision != view.revision and view.revision is not None:
        found.notes.append(
            f"These findings are of revision {known.revision.number:,}; "
            f"revision {view.revision.number:,} has not been checked yet."
        )
    question = ("finding_keys", known.run.pk, known.stamp, rule)
    keys = view.loaded.remember(
        question, lambda: known.keys(rule="" if rule in _FINDINGS else rule, can_go=rule == CAN_GO)
    )
    found.only(view, keys, question)


def _by_age(found: Kept, view: ClusterView, moment: AsOf, added: str) -> None:
    if added == CANNOT_TELL:
        found.shown["added"] = ("added", "cannot tell")
        found.only(view, lists.keys_of_first_reading(view), "of the first snapshot")
        return
    days = int(added) if added.isascii() and added.isdecimal() and len(added) < 6 else 0
    if not 1 <= days <= MOST_DAYS:
        found.faults.append(
            f"added is {added!r}; use a number of days from 1 to {MOST_DAYS:,}, or cannot-tell."
        )
        return
    found.shown["added"] = ("added in the last", number_of(days, "day", "days"))
    since = _end(moment) - timedelta(days=days)
    known, unknown = lists.keys_added_since(view, since)
    found.only(view, known)
    if unknown:
        found.notes.append(
            f"{number_of(len(unknown), 'ACL was', 'ACLs were')} there when aclweb first read this cluster: "
            "nobody can tell their age, and they are not in this list."
        )


def _end(moment: AsOf) -> datetime:
    if moment.revision is None:
        return timezone.now()
    return moment.time or moment.revision.read_at


def facets(view: ClusterView, known: Findings | None, query: QueryDict) -> list[Facet]:
    """Return the links that filter by what is stored; they are not counted, which would ask for every ACL.

    known: the findings that can be filtered by.
    """
    found = [
        _facet(query, "In the log", "use", {use: use.replace("-", " ").capitalize() for use in USES}),
        _facet(query, "Added", "added", _ADDED),
    ]
    if known is None:
        return found
    counted = view.loaded.remember(
        ("finding_rules", known.run.pk, known.stamp), lambda: known.matching().by_rule()
    )
    rules = {rule: title for _, rule, title, _ in counted[:RULES_SHOWN]}
    asked = query.get("finding", "")
    if asked not in rules and findings.is_rule(asked):
        rules[asked] = findings.title(asked)
    if rules:
        found.append(_facet(query, "Findings", "finding", {**_FINDINGS, **rules}))
    return found


def _facet(query: QueryDict, label: str, name: str, words: Mapping[str, str]) -> Facet:
    current = query.get(name, "")
    return Facet(
        label,
        tuple(
            Choice(
                value,
                word,
                None,
                current == value,
                without(query, name) if current == value else with_field(query, name, value),
            )
            for value, word in words.items()
        ),
    )
