"""How are very many rows stored so that nobody waits long and nobody sees half of them?"""

from aclweb.inventory.store.bulk_insert import insert
from aclweb.inventory.store.columns import keep_columns
from aclweb.inventory.store.staging import ROWS_AT_ONCE, chunks, in_turn

__all__ = [
    "ROWS_AT_ONCE",
    "chunks",
    "in_turn",
    "insert",
    "keep_columns",
]
