"""Which jobs can be asked for, what is each for, and what do the tables of its result hold?

The tables and their columns are those of docs/pipeline.md; a page shows some of the columns, a download has all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Shown = Literal[
    "acl",
    "acls",
    "clusters",
    "day",
    "hour",
    "moment",
    "number",
    "operation",
    "principal",
    "resource",
    "sentence",
    "text",
    "topic",
    "yes",
]


@dataclass(frozen=True)
class Column:
    """One column of a page: what it is called and how its value is shown.

    An `acl`, a `resource` or an `hour` is made of several columns of the table; `acls` are keys of ACLs. `clusters` are
    as many columns of the page as a job about several has clusters, made of those that say on which of them what holds.
    """

    name: str
    heading: str
    shown: Shown


@dataclass(frozen=True)
class Kind:
    """One value by which a table is filtered: its word, and what it means. tone: how serious it is.

    one, many: what follows a number of such rows, where that is not the word.
    """

    value: str
    word: str
    meaning: str
    tone: str = ""
    one: str = ""
    many: str = ""

    def counted(self, number: int) -> str:
        """Return `1 new address`, `4 new addresses`."""
        word = self.word if self.word.startswith("ACL") else self.word[:1].lower() + self.word[1:]
        return f"{number:,} {(self.one or word) if number == 1 else (self.many or self.one or word)}"


@dataclass(frozen=True)
class ResultTable:
    """One table of a result. by: the column that holds a row's kind, empty where it has none."""

    name: str
    title: str
    noun: str
    columns: tuple[Column, ...]
    by: str = ""
    kinds: tuple[Kind, ...] = ()
    empty: str = "The log has nothing for this table."

    def word_of(self, value: str) -> Kind:
        """Return what a kind is called; a value that no kind has is its own word."""
        return next((kind for kind in self.kinds if kind.value == value), Kind(value, value, ""))


@dataclass(frozen=True)
class Option:
    """One choice before a job starts: `flag` is the option of the command, values are (value, word)."""

    name: str
    label: str
    flag: str
    values: tuple[tuple[str, str], ...]

    @property
    def default(self) -> str:
        return self.values[0][0]


@dataclass(frozen=True)
class AnalysisJob:
    """One job: `question` is what people have who start it.

    claims: what it says that no request needed, for which the log must hold enough: the permission whose ACLs it is
    about, and its words. ages: whether it wants to know since when each ACL exists. edit: whether it is about an edit,
    which whoever asks gives as `delta`. beside: whether it is about several clusters, of which whoever asks gives the
    others as `beside`; it is shown to those alone who may look at all of them.
    """

    name: str
    title: str
    question: str
    tables: tuple[ResultTable, ...]
    options: tuple[Option, ...] = ()
    claims: tuple[tuple[str, str], ...] = ()
    ages: bool = False
    edit: bool = False
    beside: bool = False

    def table(self, name: str) -> ResultTable | None:
        return next((table for table in self.tables if table.name == name), None)


_PRINCIPAL = Column("principal", "Principal", "principal")
_LINES = Column("lines", "Requests", "number")
_DENIED = Column("denied", "Denied", "number")
_LAST = Column("last_at", "Last", "moment")
_OPERATION = Column("operation", "Operation", "operation")
_RESOURCE = Column("resource_name", "Resource", "resource")

_LOAD_BEARING = AnalysisJob(
    "load-bearing",
    "Needed ACLs",
    "Which ACLs do the logged requests need, and which may go together?",
    (
        ResultTable(
            "acls",
            "ACLs",
            "ACL",
            (
                Column("state", "State", "text"),
                Column("resource_name", "ACL", "acl"),
                Column("needed", "Needed by", "number"),
                Column("requests", "Requests", "number"),
                Column("requests_then", "While in force", "number"),
                _LAST,
                Column("replaceable_by", "Others that give the same", "acls"),
                Column("removable", "May go", "yes"),
                Column("reason", "Why", "sentence"),
            ),
            "state",
            (
                Kind("needed", "Needed", "Without it a logged request would get another answer.", "good"),
                Kind(
                    "replaceable", "Replaceable", "Other ACLs, or the default, give the same answers.", "warn"
                ),
                Kind("unused", "Unused", "No logged request needed it.", "warn"),
                Kind("orphaned", "Orphaned", "No topic that exists matches it.", "warn"),
                Kind("too young", "Too young", "It is younger than the log must reach back."),
                Kind("no data", "Cannot tell", "The log does not hold enough."),
            ),
            empty="The cluster has no ACL.",
        ),
    ),
    claims=(("ALLOW", "Unused ALLOW ACLs"), ("DENY", "Unused DENY ACLs")),
    ages=True,
)

_ANOMALIES = AnalysisJob(
    "anomalies",
    "New and unusual",
    "What happened for the first time, far more often than usual, or again after a long silence?",
    (
        ResultTable(
            "anomalies",
            "What is new or unusual",
            "row",
            (
                Column("kind", "What", "text"),
                Column("day", "Day", "day"),
                _PRINCIPAL,
                Column("host", "New address", "text"),
                Column("resource_name", "New resource", "resource"),
                _LINES,
                _DENIED,
                Column("usual", "Usual denials", "number"),
                Column("hour", "Worst hour", "hour"),
                Column("quiet_days", "Quiet days before", "number"),
            ),
            "kind",
            (
                Kind(
                    "denials",
                    "Many denials",
                    "Over 10 times the denials of its median day, or of its median for that hour.",
                    "bad",
                    "day with many denials",
                    "days with many denials",
                ),
                Kind("new principal", "New principal", "It was never logged before.", many="new principals"),
                Kind(
                    "new host",
                    "New address",
                    "A known principal comes from another address.",
                    many="new addresses",
                ),
                Kind(
                    "new resource",
                    "New resource",
                    "A known principal asks for another resource.",
                    many="new resources",
                ),
                Kind(
                    "back",
                    "Back",
                    "It asked for nothing on 30 days or more, and came back.",
                    one="principal back",
                    many="principals back",
                ),
            ),
            empty="Nothing was found. What the log can show is said above.",
        ),
    ),
    (
        Option(
            "lately",
            "Days asked about",
            "--lately",
            (("7", "last 7 days"), ("1", "last day"), ("14", "last 14 days"), ("30", "last 30 days")),
        ),
    ),
)

_DISAGREEMENT = AnalysisJob(
    "disagreement",
    "Answered otherwise",
    "Where did brokers answer otherwise than today's ACLs would, and why?",
    (
        ResultTable(
            "disagreements",
            "Requests that brokers answered otherwise",
            "row",
            (
                Column("cause", "Cause", "text"),
                Column("day", "Day", "day"),
                _PRINCIPAL,
                _OPERATION,
                _RESOURCE,
                Column("host", "From", "text"),
                Column("allowed", "Broker allowed it", "yes"),
                Column("decided_now", "Answer now", "text"),
                Column("revision", "Changed by revision", "number"),
                _LINES,
            ),
            "cause",
            (
                Kind(
                    "changed",
                    "ACLs changed",
                    "The ACLs of that day answer as the broker did.",
                    one="by changed ACLs",
                ),
                Kind(
                    "declaration",
                    "Wrong declaration",
                    "The log contradicts what is declared.",
                    "bad",
                    "by a wrong declaration",
                ),
                Kind(
                    "before history",
                    "Before history",
                    "The known revisions begin later.",
                    one="from before the history",
                ),
                Kind(
                    "unknown",
                    "Unknown",
                    "No ACLs of that day answer as the broker did.",
                    "warn",
                    "of unknown cause",
                ),
            ),
            empty="Today's ACLs answer no logged request otherwise than the brokers did; requests for which the ACLs "
            "alone cannot tell are left out.",
        ),
    ),
    ages=True,
)

_MATRIX = AnalysisJob(
    "matrix",
    "Used beside configured",
    "Which principals used which topics, beside what they may use, and which topics are hot or dark?",
    (
        ResultTable(
            "topics",
            "Topics",
            "topic",
            (
                Column("topic", "Topic", "topic"),
                Column("state", "State", "text"),
                Column("lines", "Permits", "number"),
                Column("reads", "Read", "number"),
                Column("writes", "Write", "number"),
                Column("principals", "Principals", "number"),
                _DENIED,
                _LAST,
            ),
            "state",
            (
                Kind("used", "Used", "The most used come first.", "good"),
                Kind("dark", "Dark", "It exists, and no request used it.", "warn"),
                Kind("no data", "Cannot tell", "The log does not hold enough."),
                Kind("gone", "Gone", "It was asked for, and does not exist."),
            ),
        ),
        ResultTable(
            "rights",
            "Principals",
            "row",
            (
                _PRINCIPAL,
                _OPERATION,
                Column("configured", "Topics allowed", "number"),
                Column("used", "Topics used", "number"),
                Column("lines", "Permits", "number"),
            ),
        ),
        ResultTable(
            "cells",
            "Principals and topics",
            "row",
            (
                _PRINCIPAL,
                _OPERATION,
                Column("topic", "Topic", "topic"),
                _LINES,
                _DENIED,
                Column("days", "Days", "number"),
                _LAST,
                Column("allowed_now", "Allowed now", "yes"),
            ),
        ),
    ),
    claims=(("ALLOW", "Dark topics"),),
)

_REFUSALS = AnalysisJob(
    "refusals",
    "Denials of the whole log",
    "Who was denied what, why probably, and which ACL would have allowed it?",
    (
        ResultTable(
            "groups",
            "Groups of denials",
            "group",
            (
                Column("cause", "Cause", "text"),
                _PRINCIPAL,
                _OPERATION,
                _RESOURCE,
                Column("lines", "Denials", "number"),
                Column("permitted", "Permits", "number"),
                Column("hosts", "Addresses", "number"),
                _LAST,
                Column("sentence", "Why", "sentence"),
            ),
            "cause",
            (
                Kind("allowed-now", "Allowed now", "Today's ACLs allow it.", "good"),
                Kind("deny", "A DENY", "A DENY ACL forbids it.", one="by a DENY"),
                Kind("name", "Name", "An ACL names nearly this principal.", "warn", "by the name"),
                Kind("host", "Address", "ACLs allow it from other addresses.", "warn", "by the address"),
                Kind("group", "Group", "The consumer group is what lacks an ACL.", "warn", "by the group"),
                Kind(
                    "anonymous", "Anonymous", "The client did not say who it is.", one="by anonymous clients"
                ),
                Kind(
                    "operation",
                    "Operation",
                    "ACLs allow the principal other operations.",
                    one="by the operation",
                ),
                Kind("no-rule", "No ACL", "No ACL allows it.", one="without an ACL"),
                Kind("unknown", "Unknown", "An ACL holds a value that is not known.", one="of unknown cause"),
            ),
            empty="The log has no denial.",
        ),
        ResultTable(
            "by_day",
            "Days",
            "day",
            (
                Column("day", "Day", "day"),
                Column("lines", "Denials", "number"),
                Column("groups", "Groups", "number"),
                Column("principals", "Principals", "number"),
            ),
        ),
    ),
)

_LEAST_PRIVILEGE = AnalysisJob(
    "least-privilege",
    "Least privilege of all principals",
    "Which fewest rights would have allowed what each principal did?",
    (
        ResultTable(
            "principals",
            "Principals",
            "principal",
            (
                _PRINCIPAL,
                Column("add", "To add", "number"),
                Column("remove", "To remove", "number"),
                Column("keep", "To keep", "number"),
                Column("logged", "Requests", "number"),
                Column("covered", "Still allowed", "number"),
                Column("rights", "Rights", "number"),
                Column("rights_removed", "Rights removed", "number"),
            ),
            empty="Without permits in the log nothing is proposed.",
        ),
        ResultTable(
            "acls",
            "ACLs",
            "ACL",
            (
                Column("change", "Change", "text"),
                Column("resource_name", "ACL", "acl"),
                Column("lines", "Requests", "number"),
                Column("reason", "Why", "sentence"),
            ),
            "change",
            (
                Kind("add", "Add", "A narrower ACL.", "good", "to add"),
                Kind(
                    "remove",
                    "Remove",
                    "The rest, or narrower ACLs, allow what was used.",
                    "warn",
                    "to remove",
                ),
                Kind("keep", "Keep", "It stays as it is.", one="to keep"),
            ),
            empty="Without permits in the log nothing is proposed.",
        ),
    ),
    (
        Option(
            "names",
            "Topics",
            "--names",
            (
                ("exact", "exact names"),
                ("most-used", "a prefix where most are used"),
                ("first-delimiter", "a prefix at each first delimiter"),
            ),
        ),
        Option("hosts", "Hosts", "--hosts", (("as-today", "as today"), ("any", "any"), ("seen", "seen"))),
    ),
    claims=(("ALLOW", "Unused ALLOW ACLs"),),
    ages=True,
)

_WOULD = (
    Column("denied", "Would be denied", "number"),
    Column("allowed", "Would be allowed", "number"),
    Column("unclear", "ACLs alone do not say", "number"),
    Column("unchanged", "Same answer", "number"),
    Column("last_denied_at", "Last that would be denied", "moment"),
)

_REPLAY = AnalysisJob(
    "replay",
    "Replay of the whole log",
    "What would every logged request be answered after an edit of the ACLs?",
    (
        ResultTable(
            "flips",
            "Requests whose answer would turn",
            "request",
            (
                Column("change", "Would be", "text"),
                _PRINCIPAL,
                _OPERATION,
                _RESOURCE,
                Column("host", "From", "text"),
                Column("before", "Answer now", "text"),
                Column("after", "Answer then", "text"),
                _LINES,
                Column("days", "Days", "number"),
                _LAST,
            ),
            "change",
            (
                Kind(
                    "denied",
                    "Denied",
                    "It is allowed now, and the edit would deny it.",
                    "bad",
                    one="would be denied",
                ),
                Kind(
                    "allowed",
                    "Allowed",
                    "It is denied now, and the edit would allow it.",
                    "good",
                    one="would be allowed",
                ),
                Kind(
                    "unclear",
                    "Cannot tell",
                    "The ACLs alone do not say the answer before or after.",
                    one="that ACLs alone do not settle",
                ),
            ),
            empty="No logged request would get another answer. What the log can show is said above.",
        ),
        ResultTable("by_principal", "By principal", "principal", (_PRINCIPAL, *_WOULD)),
        ResultTable("by_resource", "By resource", "resource", (_RESOURCE, *_WOULD)),
        ResultTable("by_day", "By day", "day", (Column("day", "Day", "day"), *_WOULD)),
    ),
    edit=True,
)

_ON = (
    Column("used_on", "Clusters", "clusters"),
    Column("permitted", "Permits", "number"),
    Column("denied", "Denials", "number"),
    _LAST,
)
_RELATIONS = (
    Kind(
        "denied elsewhere",
        "Denied elsewhere",
        "Used on one cluster, and denied on another, which permitted nothing of it.",
        "bad",
    ),
    Kind("used in part", "Used in part", "Used on some of the clusters, and not on others.", "warn"),
    Kind("denied", "Denied only", "Used on none of the clusters, and denied on some."),
    Kind(
        "unknown", "Cannot tell", "Used on some of the clusters; the logs of the others do not hold enough."
    ),
    Kind("used on all", "Used on all", "Permitted on each of the clusters.", "good"),
)

_COMPARE = AnalysisJob(
    "compare",
    "Beside other clusters",
    "What does this cluster use that another does not, or the other way round, and do ACLs allow it there?",
    (
        ResultTable(
            "rights",
            "Rights",
            "right",
            (Column("relation", "Where", "text"), _PRINCIPAL, _OPERATION, _RESOURCE, *_ON),
            "relation",
            _RELATIONS,
        ),
        ResultTable(
            "principals",
            "Principals",
            "principal",
            (Column("relation", "Where", "text"), _PRINCIPAL, *_ON),
            "relation",
            _RELATIONS,
        ),
        ResultTable(
            "topics",
            "Topics",
            "topic",
            (Column("relation", "Where", "text"), Column("topic", "Topic", "topic"), *_ON),
            "relation",
            _RELATIONS,
        ),
    ),
    claims=(("ALLOW", "What it does not use"),),
    beside=True,
)

JOBS: Mapping[str, AnalysisJob] = {
    job.name: job
    for job in (
        _LOAD_BEARING,
        _MATRIX,
        _ANOMALIES,
        _DISAGREEMENT,
        _REFUSALS,
        _LEAST_PRIVILEGE,
        _REPLAY,
        _COMPARE,
    )
}
