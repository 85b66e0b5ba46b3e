"""Which layouts have a name?"""

from __future__ import annotations

from functools import lru_cache

from aclweb.acl.model import NotationError
from aclweb.acl.notation.log_layouts.frames import FRAMES, PLAIN
from aclweb.acl.notation.log_layouts.json_records import DecisionBody, JsonBody
from aclweb.acl.notation.log_layouts.layout import UNKNOWN, Body, Layout
from aclweb.acl.notation.log_layouts.patterns import pattern_body

KAFKA = "kafka"
_PATTERN = "pattern:"

RECORD_LAYOUTS: dict[str, Body] = {
    # The `log4j2.yaml` and the `log4j.properties` of Kafka itself.
    KAFKA: pattern_body("[%d] %p %m (%c)%n"),
    # Strimzi's default; log4j 1 and log4j 2 write ISO8601 in two ways.
    "strimzi": pattern_body("%d{ISO8601} %p %m (%c) [%t]%n"),
    "json": JsonBody("instant", "level", "message", "loggerName"),
    "ecs": JsonBody("@timestamp", "log.level", "message", "log.logger"),
    "logstash": JsonBody("@timestamp", "level", "message", "logger_name"),
    "gelf": JsonBody("timestamp", "level", "short_message", "_logger"),
    "gcp": JsonBody("timestampSeconds", "severity", "message", "logger"),
    "decisions": DecisionBody(),
}
"""How a record may be written, the more usual ways first."""

LAYOUTS = (*RECORD_LAYOUTS, *(f"{frame}+{body}" for frame in FRAMES for body in RECORD_LAYOUTS))
"""The names of all layouts: `cri+kafka` is Kafka's own in lines that a container's runtime wrapped."""


def of_pattern(pattern: str) -> str:
    """Return the name of the layout that a PatternLayout has; raises NotationError if it cannot be read back."""
    pattern_body(pattern)
    return _PATTERN + pattern


def shown(name: str) -> str:
    """Return the name as people read it: a pattern for itself."""
    return name.replace(_PATTERN, "", 1)


@lru_cache(maxsize=128)
def layout_of(name: str) -> Layout:
    """Return the layout of a name: one of LAYOUTS, one of `of_pattern`, perhaps behind a frame, or UNKNOWN.

    Raises NotationError for any other name.
    """
    if name == UNKNOWN:
        return Layout(name, PLAIN, None)
    frame, plus, body = name.partition("+")
    if plus and frame in FRAMES:
        return Layout(name, FRAMES[frame], _body(body))
    return Layout(name, PLAIN, _body(name))


def _body(name: str) -> Body:
    if name.startswith(_PATTERN):
        return pattern_body(name.removeprefix(_PATTERN))
    if name not in RECORD_LAYOUTS:
        raise NotationError(
            f"{name!r} is no layout; use {', '.join(RECORD_LAYOUTS)}, one of them behind {', '.join(FRAMES)} and +, "
            "or a pattern."
        )
    return RECORD_LAYOUTS[name]
