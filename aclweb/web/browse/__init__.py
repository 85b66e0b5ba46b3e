"""What is there, who can do what with it, and what is wrong with it?

Lists of ACLs, topics and principals, the page of one resource or principal, search, findings, and what the logs show.
Import from here: which names of a request are unknown, the address that removes ACLs in a what-if, the week of a
cluster, and small drawings of days.
"""

from aclweb.web.browse.charts import Spark, most_of, spark, steps
from aclweb.web.browse.name_check import UnknownName, knows_principal, unknown_names
from aclweb.web.browse.resource_page import removals
from aclweb.web.browse.week import markdown, week_of

__all__ = [
    "Spark",
    "UnknownName",
    "knows_principal",
    "markdown",
    "most_of",
    "removals",
    "spark",
    "steps",
    "unknown_names",
    "week_of",
]
