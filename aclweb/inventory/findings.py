"""What is wrong, wasted or dangerous in the ACLs in force? Worked out once a revision, never while a page waits.

At a hundred thousand ACLs that takes ten seconds of a processor. So a large cluster's
findings are worked out by a thread of the process that was first asked, and until they are
there the answer is that they are not there yet; a small cluster's are at hand at once.
"""

from __future__ import annotations

import logging
import threading
import weakref
from dataclasses import dataclass

from aclweb.acl.lint import RULES, lint_all
from aclweb.acl.model import AclBinding, ResourceType
from aclweb.acl.notation import binding_key
from aclweb.acl.profiles import Rules
from aclweb.acl.redundancy import SHADOWED, redundant, removable
from aclweb.acl.universe import Names
from aclweb.inventory.current import Holdings, InForce

logger = logging.getLogger(__name__)

# So many ACLs are looked through within a tenth of a second or two.
AT_ONCE = 1_000

SEVERITIES = ("error", "warning", "info")

_TITLES = {
    "implied": "Another ACL says it already",
    "dead": "It can never match",
    "harmless-duplicate": "A right that another right brings",
    "unreachable": "No client or resource can have this name",
    "orphan": "It covers nothing that exists now",
}


@dataclass(frozen=True)
class Finding:
    """One ACL that breaks one rule of lint, or that could go.

    by: the ACLs that the sentence speaks of. key: of the ACL, as rows of lists have it.
    """

    rule: str
    severity: str
    title: str
    sentence: str
    acl: AclBinding
    by: tuple[AclBinding, ...]
    key: str


@dataclass(frozen=True)
class Findings:
    """All findings, errors first; `removable` can all go at once without changing a decision."""

    rows: tuple[Finding, ...]
    removable: tuple[AclBinding, ...]


class FindingsError(Exception):
    """The findings could not be worked out; the message is for whoever asked."""


def findings(here: InForce) -> Findings | None:
    """Return the findings, or None while they are being worked out. Raises FindingsError."""
    with _lock:
        kept = _kept.get(here.holdings)
        if kept is not None and kept[0] == here.rules:
            return _told(kept[1])
        if len(here.index) > AT_ONCE:
            if (here.holdings, here.rules) not in _under_way:
                _under_way.add((here.holdings, here.rules))
                threading.Thread(target=_work_out, args=(here,), name="aclweb-findings", daemon=True).start()
            return None
    return _told(_work_out(here))


def look_through(here: InForce) -> Findings:
    """Work the findings out."""
    holdings = here.holdings
    names = Names(
        topics=holdings.names[ResourceType.TOPIC],
        groups=holdings.names[ResourceType.GROUP] if here.groups_known else (),
    )
    wasted = list(redundant(here.index, here.rules, names))
    # Both tell of an ALLOW under a DENY; it is shown once.
    found = [
        _finding(each.rule, each.severity, each.sentence, each.acl, each.by)
        for each in lint_all(here.index, here.rules)
        if each.rule != SHADOWED
    ]
    found += [_finding(each.rule, each.severity, each.sentence, each.acl, each.by) for each in wasted]
    found.sort(key=lambda each: (SEVERITIES.index(each.severity), each.rule))
    return Findings(tuple(found), removable(wasted))


_lock = threading.Lock()
# One answer for each revision in memory, under the rules it was asked for last; None if that failed.
_kept: weakref.WeakKeyDictionary[Holdings, tuple[Rules, Findings | None]] = weakref.WeakKeyDictionary()
_under_way: set[tuple[Holdings, Rules]] = set()


def _work_out(here: InForce) -> Findings | None:
    found = None
    try:
        found = look_through(here)
    except Exception:  # told on the page, and to whoever runs the site
        logger.exception("The findings of cluster %s could not be worked out.", here.cluster.slug)
    with _lock:
        _kept[here.holdings] = (here.rules, found)
        _under_way.discard((here.holdings, here.rules))
    return found


def _told(found: Findings | None) -> Findings:
    if found is None:
        raise FindingsError("The findings of this revision could not be worked out; the site's log says why.")
    return found


def _finding(rule: str, severity: str, sentence: str, acl: AclBinding, by: tuple[AclBinding, ...]) -> Finding:
    title = _TITLES.get(rule) or RULES[rule].title
    return Finding(rule, severity, title, sentence, acl, by, binding_key(acl))
