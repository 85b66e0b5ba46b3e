"""In which layout is a log written, and which records does it hold?

A layout is how one record is written (a pattern of log4j, or JSON), in lines that something may have wrapped
(a container's runtime, syslog). Every layout gives the same records: a time, and the text that Kafka's own
layout has behind it, so that `parse_record` reads them all.
"""

from aclweb.acl.notation.log_layouts.detection import detected, is_of_layout
from aclweb.acl.notation.log_layouts.layout import (
    LONGEST_RECORD,
    UNKNOWN,
    Layout,
    LogRecord,
    Parting,
)
from aclweb.acl.notation.log_layouts.named import KAFKA, LAYOUTS, RECORD_LAYOUTS, layout_of, of_pattern, shown
from aclweb.acl.notation.log_layouts.reading import SOME_TIME, events_in, kafka_records
from aclweb.acl.notation.log_layouts.times import LogTime

__all__ = [
    "KAFKA",
    "LAYOUTS",
    "LONGEST_RECORD",
    "RECORD_LAYOUTS",
    "SOME_TIME",
    "UNKNOWN",
    "Layout",
    "LogRecord",
    "LogTime",
    "Parting",
    "detected",
    "events_in",
    "is_of_layout",
    "kafka_records",
    "layout_of",
    "of_pattern",
    "shown",
]
