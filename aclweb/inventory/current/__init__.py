"""What is in force on a cluster now, or was at some moment, and what is declared of it?"""

from aclweb.inventory.current.broker_settings import KnownAuthorizer, NamingRules, naming_rules
from aclweb.inventory.current.moments import (
    MomentError,
    config_rows,
    moment_at,
    moment_of,
    moment_sentences,
    not_known,
)
from aclweb.inventory.current.view import (
    BINDING_COLUMNS,
    ClusterView,
    LoadedRevision,
    Moment,
    bindings_of,
    connection_of,
    in_force,
    known_version,
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
    "bindings_of",
    "config_rows",
    "connection_of",
    "in_force",
    "known_version",
    "moment_at",
    "moment_of",
    "moment_sentences",
    "naming_rules",
    "not_known",
    "settings_of",
    "span",
]
