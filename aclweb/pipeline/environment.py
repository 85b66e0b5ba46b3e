"""What does the environment tell a job, and what does a job tell Spark by it?

The pipeline runs where no settings of a site are: by its own command, by spark-submit, on other
machines. So its environment is read here alone, as the site's is in `aclweb/settings.py`. All else
that a job wants to know is an argument of its command, and what a person set for Spark is Spark's.
The site hands its own settings over to the jobs that it starts, by these variables.
"""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Environment:
    """What was set for a job; a text is empty where nothing was.

    memory: that of a driver on this machine, as Spark writes sizes. submitted: spark-submit started
    this process and the JVM.
    """

    java_home: str
    conf_dir: str
    master: str
    memory: str
    submitted: bool


def of_this_process() -> Environment:
    """Return what this process was started with."""
    return Environment(
        # A Java 17 or newer, where the one on the PATH is another.
        java_home=os.environ.get("JAVA_HOME", ""),
        # Where spark-defaults.conf is, if not in Spark's own folder.
        conf_dir=os.environ.get("SPARK_CONF_DIR", ""),
        # Where jobs run, as Spark's own programs take it.
        master=os.environ.get("MASTER", ""),
        # Raise it where a job on this machine says that it ran out of memory.
        memory=os.environ.get("ACLWEB_SPARK_MEMORY", "") or "1g",
        submitted="PYSPARK_GATEWAY_PORT" in os.environ,
    )


def tell_spark(name: str, value: str) -> None:
    """Set a variable that PySpark and its JVM read, unless somebody has set it."""
    os.environ.setdefault(name, value)
