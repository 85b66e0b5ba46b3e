"""How many principals are there, and how many of them are conspicuous? In sentences, from the counts of the list."""

from __future__ import annotations

from aclweb.acl.model import number_of
from aclweb.insights.logged_principals import LATELY
from aclweb.insights.principals import DENIED, NEVER_SEEN, ORPHANED, READS_ALL, WRITES_ALL, PrincipalList

# What of an undeclared setting may let more of them reach every topic.
_PERHAPS_MORE = (
    ("super_users", "Perhaps more can: nobody has declared the super users, who may do everything."),
    (
        "allow_everyone",
        "Nobody has declared what the cluster does with topics that no ACL matches; they count as refused.",
    ),
)


def sentences_of(found: PrincipalList) -> tuple[str, ...]:
    """Return what the list says in short: who reaches every topic, and then what the log shows; empty without any.

    Counted are the names with the text that was asked for. What nobody can tell is said to be so, with the reason.
    """
    if not found.count:
        return ()
    return (*_of_reach(found), *_of_log(found))


def _of_reach(found: PrincipalList) -> tuple[str, ...]:
    principals = number_of(found.count, "principal")
    writes, reads = found.of(WRITES_ALL), found.of(READS_ALL)
    if writes.count is None or reads.count is None:
        return (
            f"{principals}.",
            f"Which of them can read or write to every topic: {_why_not(reads.sentence)}",
        )
    every = "every topic" if found.sees_all_topics else "every topic that aclweb may see"
    return (
        f"{principals}: {_counted(writes.count, 'can write to')} {every}, "
        f"{_counted(reads.count, 'can read')} {every}.",
        *(sentence for setting, sentence in _PERHAPS_MORE if setting in found.undeclared),
    )


def _of_log(found: PrincipalList) -> tuple[str, ...]:
    orphaned, never, denied = (found.of(mark) for mark in (ORPHANED, NEVER_SEEN, DENIED))
    if denied.count is None:
        return (
            f"Which are orphaned, never authenticated or were denied lately: {_why_not(denied.sentence)}",
        )
    lately = f"denied something in the last {LATELY} days of the log"
    was_denied = f"{_counted(denied.count, 'was', 'were')} {lately}"
    if orphaned.count is None or never.count is None:
        return (
            f"{was_denied[:1].upper()}{was_denied[1:]}.",
            f"Which are orphaned or never authenticated: {_why_not(orphaned.sentence)}",
        )
    parts = [_counted(orphaned.count, "is orphaned", "are orphaned")]
    if never.count:
        parts.append(_counted(never.count, "never authenticated"))
    told = f"{', '.join(parts)}, and {was_denied}"
    first = f"{told[:1].upper()}{told[1:]}."
    if not found.perhaps_orphaned:
        return (first,)
    they_are = "it is" if found.perhaps_orphaned == 1 else "they are"
    more = f"Of {found.perhaps_orphaned:,} more, nobody can tell whether {they_are} orphaned: the filter says why."
    return (first, more)


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {many or one}" if count > 1 else f"{count or 'none'} {one}"


def _why_not(sentence: str) -> str:
    """Return "cannot tell" and why, as it goes on behind a colon."""
    return f"{sentence[:1].lower()}{sentence[1:]}"
