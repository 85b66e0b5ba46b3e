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
# kind and answer. The others are a text (its beginning), what it says, and how often it was written on each day by each
# broker (null where nobody asked for that); a text may be in several rows. Times are microseconds since 1970.
LINES = """
    file string, day string, lines long, first_us long, last_us long, hours int, not_utf8 boolean,
    kind string, reason string,
    principal string, host string, operation string, resource_type string, resource_name string,
    allowed boolean, api_name string, broker_rule string, named_key string, ambiguous boolean, noted string, raw string,
    days array<struct<broker: string, day: string, lines: long, first_us: long, last_us: long>>
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

# What the access rows of some days say of a request, its answer and what the broker said of it: how often in all, first
# and last, and the same for each day; a day may be in several entries.
ASKED = """
    principal string, host string, operation string, resource_type string, resource_name string,
    allowed boolean, api_name string, broker_rule string, named_key string,
    lines long, first_us long, last_us long,
    days array<struct<day: string, lines: long, first_us: long, last_us: long>>
"""

# One row for a request and its answer: the beginning of the latest record, behind its time.
SAMPLES = """
    principal string, host string, operation string, resource_type string, resource_name string,
    allowed boolean, last_us long, raw string
"""
