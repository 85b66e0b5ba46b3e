"""Which columns do the tables of the pipeline have?

Times are as the brokers wrote them, in a zone that the log does not name; so they are
timestamps without a zone. "Lines" always means records: one that a name with a line break
spreads over several lines counts once.
"""

from __future__ import annotations

# One row for a file, a day and the text of a record behind its time: how often, first and last.
# A record without a time has `day` null and its whole text in `raw`.
COUNTS = "file string, day string, raw string, lines long, first_time string, last_time string"

# One row for a distinct text: what it says. `kind` is one of the words below.
PARSED = """
    raw string, kind string, reason string,
    principal string, host string, operation string, resource_type string, resource_name string,
    allowed boolean, api_name string, rule string, named_key string, ambiguous boolean, noted string
"""

DECISION = "decision"  # somebody was allowed or refused
PROBE = "probe"  # a decision about a made-up resource, asked to learn whether any resource would do
OTHER = "other"  # understood, and not a decision; `reason` says what
UNPARSED = "unparsed"  # not understood; `reason` says why

REQUEST = ("principal", "host", "operation", "resource_type", "resource_name")

# One row for a distinct request: what the ACLs of the snapshot say, and which of them settle it.
DECIDED = """
    principal string, host string, operation string, resource_type string, resource_name string,
    decided_now string, basis_now string, determining array<string>
"""
