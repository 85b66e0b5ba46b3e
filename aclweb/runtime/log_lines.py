"""How does a log record become one line of JSON on standard error?

JSON escapes line ends, so one record is one line whatever a name contains.
"""

from __future__ import annotations

from typing import Any

import structlog

_SHARED_PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]


def logging_for(level: str) -> dict[str, Any]:
    """Return what Django's LOGGING takes: records of `level` and above, of all loggers."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _SHARED_PROCESSORS,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.JSONRenderer(),
                ],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Client libraries log each attempt of a retry, and some of them what they were given.
            "kafka": {"level": "ERROR"},
            "kazoo": {"level": "ERROR"},
            "django_structlog": {"level": "WARNING"},
            "django.server": {"level": "WARNING", "handlers": ["stderr"], "propagate": False},
        },
    }


def configure_structlog() -> None:
    """Let structlog's loggers write through those of the standard library."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED_PROCESSORS,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
