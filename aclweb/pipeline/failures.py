"""What went wrong inside Spark, in one sentence?

Spark wraps an error many times: the first line says that some call failed, the last cause says
why. Values of settings whose key names a secret are never repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

SPARK_ERRORS = (Py4JError, PySparkException, ConnectionError, EOFError)
"""What a call into Spark may raise."""

_SECRET_KEY = re.compile(r"secret|password|token|key|credential", re.IGNORECASE)
_CAUSE = re.compile(
    r"^\s*(?:Caused by: |: )?((?:[\w$]+\.)+[\w$]*(?:Exception|Error|Failure)\w*(?:: .*)?)$", re.MULTILINE
)
_PYTHON_CAUSE = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Exit): .*)$", re.MULTILINE)
_HOST = re.compile(r"\(TID \d+\) \((\S+) executor")
_PACKAGE = re.compile(r"^(?:[\w$]+\.)+(?=[\w$]+(?:: |$))")
_NO_MEMORY = "OutOfMemoryError"
_NO_MASTER = "All masters are unresponsive"
_LONGEST = 400


class JobError(Exception):
    """A job that could not be run to its end; the message is a sentence with the cause."""


def cause_of(error: BaseException, words: str = "", secrets: Iterable[str] = ()) -> str:
    """Return the last cause of an error of Spark, with the host it happened on if that is known.

    words: what the JVM itself wrote, for where it ended without an answer.
    """
    texts = [_whole_text(error), words]
    if any(_NO_MEMORY in text for text in texts):
        return _hidden(
            "Spark ran out of memory (OutOfMemoryError); give it more, for instance with "
            "--conf spark.driver.memory=4g.",
            secrets,
        )
    if _NO_MASTER in words:
        return _hidden(
            "What listens there does not answer as a master of this version of Spark does.", secrets
        )
    found = _last(_CAUSE, texts[0])
    if found is None or "PythonException" in found:
        found = _last(_PYTHON_CAUSE, texts[0]) or found
    if found is None:
        found = _last(_CAUSE, words) or _first_line(str(error)) or type(error).__name__
    host = _HOST.search(texts[0])
    shown = _PACKAGE.sub("", found).strip()[:_LONGEST]
    return _hidden(f"{shown} (on {host[1]})" if host else shown, secrets)


def secrets_in(conf: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that no message may repeat."""
    return tuple(value for key, value in conf.items() if value and _SECRET_KEY.search(key))


def _hidden(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "…")
    return text


def _whole_text(error: BaseException) -> str:
    """An error of Spark with the Java stack that PySpark may leave out of its text."""
    stack = getattr(error, "_stackTrace", None) or ""
    try:
        return f"{error}\n{stack}"
    except Exception:  # the JVM that would tell is gone
        return stack


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.findall(text)
    return found[-1] if found else None


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
