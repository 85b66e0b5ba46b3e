"""Where is what the logs said kept, so that a log is read once and never forgotten?

Import from here: `Table`, one cluster's access table in a folder of this machine, a `Window` of its days, its
`Version`, and `TableError` with `NoTableError`.

    TABLE/cluster=NAME/versions/00000007.json        the commit log: the highest whole number is the table
    TABLE/cluster=NAME/access/day=2026-11-01/…       access rows (schemas.ACCESS), written by executors
    TABLE/cluster=NAME/coverage/day=…, notes/day=…   what each file holds of that day, and what is no decision
    TABLE/cluster=NAME/denied_by_hour/day=…          how often each principal was denied in each hour of that day
    TABLE/cluster=NAME/samples/…                     the latest record of each request and answer

One version names all parts of all days, and how far every log has been read. So rows and
offsets change together, and a process killed at any moment leaves the old table or the new one. Who reads
follows a version and never a listing of the folder.
"""

from aclweb.pipeline.table.parts import NoTableError, Part, TableError
from aclweb.pipeline.table.reading import Table, Window
from aclweb.pipeline.table.versions import Day, Version

__all__ = ["Day", "NoTableError", "Part", "Table", "TableError", "Version", "Window"]
