"""Which columns do the tables of the pipeline have?

Times are as the brokers wrote them, in a zone that the log does not name; so they are
timestamps without a zone. "Lines" always means records: one that a name with a line break
spreads over several lines counts once.
"""

from __future__ import annotations

# One row for a file, a day and the text of a record behind its time: how often, first and last, and in which
# hours of the day (bit h for hour h). `timed` is false for a record without a time, whose whole text is
# `raw`; where it is true and `day` null, no clock shows that time. not_utf8: some byte of it was no UTF-8
# and stands in `raw` as U+FFFD.
COUNTS = """
    file string, day string, raw string, timed boolean, lines long,
    first_at timestamp_ntz, last_at timestamp_ntz, hours int, not_utf8 boolean
"""

# What a text says. `kind` is one of the words below.
SAID = (
    *("kind", "reason", "principal", "host", "operation", "resource_type", "resource_name", "allowed"),
    *("api_name", "broker_rule", "named_key", "ambiguous", "noted"),
)

# Rows of two sorts, each of which has all records. Those with a `file` are what it holds of a day: the records of one
# kind and answer. One of those of a day has its denials by principal and hour in `denied`, for all of them. The others
# are a text (its beginning), what it says, and how often it was written on each day by each broker (null where nobody
# asked for that); a text may be in several rows. Times are microseconds since 1970.
LINES = """
    file string, day string, lines long, first_us long, last_us long, hours int, not_utf8 boolean,
    kind string, reason string,
    principal string, host string, operation string, resource_type string, resource_name string,
    allowed boolean, api_name string, broker_rule string, named_key string, ambiguous boolean, noted string, raw string,
    days array<struct<broker: string, day: string, lines: long, first_us: long, last_us: long>>,
    denied array<struct<principal: string, hour: int, lines: long>>
"""

DECISION = "decision"  # somebody was allowed or refused
PROBE = "probe"  # a decision about a made-up resource, asked to learn whether any resource would do
OTHER = "other"  # understood, and not a decision; `reason` says what
UNPARSED = "unparsed"  # not understood; `reason` says why
NOT_UTF8 = "not_utf8"  # a note only: some byte of the record was no UTF-8

REQUEST = ("principal", "host", "operation", "resource_type", "resource_name")

# One row for a distinct request: what the ACLs of the snapshot say, which of them settle it, and of which one must stay
# for the answer to stay (one_of, empty where all that settle it may go).
DECIDED = """
    principal string, host string, operation string, resource_type string, resource_name string,
    decided_now string, basis_now string, determining array<string>, one_of array<string>
"""

# What makes an access row, beside its day and what wrote it. broker_rule: the first word of what the broker gave as
# its reason; named_key: the key of the ACL in it.
ACCESS_KEY = (*REQUEST, "allowed", "api_name", "broker_rule", "named_key")

# One row for a day, a request, its answer and what the broker said of it: how often, first and last (microseconds
# since 1970). Rows of one key may be added.
ACCESS = """
    day string, principal string, host string, operation string, resource_type string, resource_name string,
    allowed boolean, api_name string, broker_rule string, named_key string, broker string, ambiguous boolean,
    lines long, first_us long, last_us long
"""

# One row for a principal and an hour of a day (0 to 23): how many of its requests were denied. Rows of one key may be
# added.
DENIED = "day string, principal string, hour int, lines long"

# What the access rows of some days say of a request, its answer and what the broker said of it: how often in all, first
# and last, and the same for each day; a day may be in several entries.
ASKED = """
    principal string, host string, operation string, resource_type string, resource_name string,
    allowed boolean, api_name string, broker_rule string, named_key string,
    lines long, first_us long, last_us long,
    days array<struct<day: string, lines: long, first_us: long, last_us: long>>
"""

# What the log says of requests, as it comes: the columns of ASKED, a request in any number of rows, and the beginning
# of the latest record of a row, behind its time. Where that comes from elsewhere it has rows of its own, without lines.
LOGGED = f"{ASKED.rstrip()}, raw string"

# One row for a request and its answer: what the log says of it, what the ACLs of the snapshot answer (DECIDED), and
# whether that differs.
SEEN = """
    principal string, host string, operation string, resource_type string, resource_name string,
    allowed boolean, lines long, first_at timestamp_ntz, last_at timestamp_ntz,
    days array<struct<day: string, lines: long>>, api_names array<string>, sample string,
    decided_now string, basis_now string, determining array<string>, one_of array<string>, differs boolean
"""

# What decisions say of the use of an ACL: how many it settled and how many of these alone, how many would be otherwise
# without it, in how many the broker gave it as its rule, and when. With `other`: how many it settled with that one.
USE = (
    *("binding_key", "other", "requests", "alone", "needed", "named"),
    *("first_us", "last_us", "first_needed_us", "last_needed_us", "first_named_us", "last_named_us"),
)
USES = """
    binding_key: string, other: string, requests: long, alone: long, needed: long, named: long,
    first_us: long, last_us: long, first_needed_us: long, last_needed_us: long, first_named_us: long,
    last_named_us: long
"""
# What brokers say of settings that no cluster tells, see `seen.Counted`.
FACTS = "fact: string, principal: string, lines: long"
# Rows of four sorts: with a `use`, by the ACLs of the snapshot, or one `then`, by those in force when a request was
# made; with a `fact`; or with none of these.
SEEN_AND_USES = f"{SEEN.rstrip()}, use struct<{USES}>, fact struct<{FACTS}>, used_then struct<{USES}>"

# A request whose answer an edit turns, with both answers and what the log says of it; or, in `sum`, how many lines the
# edit turns of a principal, a resource or a day, or with a change in `a` how many lines and requests have that one.
REPLAYED = """
    principal string, host string, operation string, resource_type string, resource_name string, change string,
    before string, basis_before string, after string, basis_after string, lines long, days long,
    first_at timestamp_ntz, last_at timestamp_ntz, sample string,
    sum struct<of: string, a: string, b: string, denied: long, allowed: long, unclear: long, unchanged: long,
        last_denied_us: long, lines: long, requests: long>
"""

# One row for a request and its answer: the beginning of the latest record, behind its time.
SAMPLES = """
    principal string, host string, operation string, resource_type string, resource_name string,
    allowed boolean, last_us long, raw string
"""
