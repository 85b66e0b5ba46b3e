"""What does the environment tell a job, and what does a job tell Spark by it?

The pipeline runs where no settings of a site are: by its own command, by spark-submit, on other
machines. So its environment is read here alone, as the site's is in `aclweb/settings.py`. All else
that a job wants to know is an argument of its command, and what a person set for Spark is Spark's.
The site hands its own settings over to the jobs that it starts, by these variables.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

# What Spark needs to start a driver at all.
_LEAST_MEMORY_MIB = 450
_MOST_MEMORY_MIB = 16 * 1024 * 1024
_MIB = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024 * 1024}
_MASTER = re.compile(
    r"local(-cluster)?(\[[^\[\]]+\])?|yarn|k8s://\S+|spark://[^\s:,]+:[0-9]{1,5}(,[^\s:,]+:[0-9]{1,5})*"
)


class SettingError(Exception):
    """A variable with which no job can start; the message names it and says what would be right."""


@dataclass(frozen=True)
class Environment:
    """What was set for a job; a text is empty where nothing was.

    memory: that of a driver on this machine, as Spark writes sizes. submitted: spark-submit started
    this process and the JVM. cache: aclweb's folder for what can be made again.
    """

    java_home: str
    conf_dir: str
    master: str
    memory: str
    submitted: bool
    cache: Path


def check_memory(given: str) -> None:
    """Raise SettingError unless a driver can be started with so much; given: what ACLWEB_SPARK_MEMORY says."""
    size = re.fullmatch(r"([0-9]{1,9})([kmgt])", given.strip().lower())
    if not size:
        raise SettingError(
            f"ACLWEB_SPARK_MEMORY is {given!r}; write a whole number and k, m, g or t, such as 512m or 4g."
        )
    if not _LEAST_MEMORY_MIB <= int(size[1]) * _MIB[size[2]] <= _MOST_MEMORY_MIB:
        raise SettingError(
            f"ACLWEB_SPARK_MEMORY is {given!r}; Spark needs {_LEAST_MEMORY_MIB}m or more, and at most 16t can be given."
        )


def check_master(given: str) -> None:
    """Raise SettingError unless Spark can run there; given: what ACLWEB_SPARK_MASTER says."""
    if not _MASTER.fullmatch(given.strip()):
        raise SettingError(
            f"ACLWEB_SPARK_MASTER is {given!r}; write local[*], spark://HOST:7077, yarn or k8s://ADDRESS, "
            "or nothing to switch the log jobs off."
        )


def of_this_process() -> Environment:
    """Return what this process was started with; raises SettingError where it cannot be used."""
    memory = os.environ.get("ACLWEB_SPARK_MEMORY", "").strip() or "1g"
    check_memory(memory)
    return Environment(
        # A Java 17 or newer, where the one on the PATH is another.
        java_home=os.environ.get("JAVA_HOME", ""),
        # Where spark-defaults.conf is, if not in Spark's own folder.
        conf_dir=os.environ.get("SPARK_CONF_DIR", ""),
        # Where jobs run, as Spark's own programs take it.
        master=os.environ.get("MASTER", ""),
        # Raise it where a job on this machine says that it ran out of memory.
        memory=memory,
        submitted="PYSPARK_GATEWAY_PORT" in os.environ,
        # The site's too (aclweb.runtime.java), which travels to no other machine as this room does.
        cache=Path(os.environ.get("XDG_CACHE_HOME", "") or Path.home() / ".cache") / "aclweb",
    )


def set_java_home(home: Path) -> None:
    """Have Spark's own scripts start the Java of this folder."""
    os.environ["JAVA_HOME"] = str(home)


def tell_spark(name: str, value: str) -> None:
    """Set a variable that PySpark and its JVM read, unless somebody has set it."""
    os.environ.setdefault(name, value)
