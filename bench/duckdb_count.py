"""How often is each text in the logs, by day, as DuckDB counts it?

    python -m bench.duckdb_count FILE...

Prints the number of lines, and of different texts and days.
"""

from __future__ import annotations

import sys


def main(*files: str) -> None:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    # No character of a log parts its columns, so that each line is one.
    lines, rows = connection.execute(
        """
        SELECT sum(lines), count(*) FROM (
            SELECT line[2:11] AS day, line[27:] AS text, count(*) AS lines,
                   min(line[2:24]) AS first_at, max(line[2:24]) AS last_at
            FROM read_csv(?, columns={'line': 'VARCHAR'}, header=false, delim='\\x01', quote='', escape='',
                          auto_detect=false)
            GROUP BY day, text)
        """,
        [list(files)],
    ).fetchall()[0]
    print(int(lines), int(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
