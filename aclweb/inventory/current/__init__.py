"""What is in force on a cluster now, or was at some moment, and what is declared of it?"""

from aclweb.inventory.current.broker_settings import KnownAuthorizer, NamingRules, naming_rules
from aclweb.inventory.current.loading_acls import (
    BINDING_COLUMNS,
    acls_of_rows,
    bindings_of,
    had_columns,
    has_columns,
    load_acls,
    rows_between,
)
from aclweb.inventory.current.moments import (
    MomentError,
    config_rows,
    moment_at,
    moment_of,
    moment_sentences,
    not_known,
)
from aclweb.inventory.current.view import (
    ClusterView,
    LoadedRevision,
    Moment,
    connection_of,
    in_force,
    known_version,
    reading_order,
    settings_of,
    span,
)

__all__ = [
    "BINDING_COLUMNS",
    "ClusterView",
    "KnownAuthorizer",
    "LoadedRevision",
    "Moment",
    "MomentError",
    "NamingRules",
    "acls_of_rows",
    "bindings_of",
    "config_rows",
    "connection_of",
    "had_columns",
    "has_columns",
    "in_force",
    "known_version",
    "load_acls",
    "moment_at",
    "moment_of",
    "moment_sentences",
    "naming_rules",
    "not_known",
    "reading_order",
    "rows_between",
    "settings_of",
    "span",
]
