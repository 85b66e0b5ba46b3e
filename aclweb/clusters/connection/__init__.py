"""What stands at an address, and with which settings and certificates is it spoken to?"""

from aclweb.clusters.connection.doorstep import Door, Survey
from aclweb.clusters.connection.doorwords import misadvertised, nobody
from aclweb.clusters.connection.options import (
    LOGIN_OPTIONS,
    ClientOptions,
    PemFiles,
    check_options,
    tls_context,
)
from aclweb.clusters.connection.options_file import (
    OptionsFileError,
    read_options,
    read_pem,
    secret_files,
    why_exposed,
)

__all__ = [
    "LOGIN_OPTIONS",
    "ClientOptions",
    "Door",
    "OptionsFileError",
    "PemFiles",
    "Survey",
    "check_options",
    "misadvertised",
    "nobody",
    "read_options",
    "read_pem",
    "secret_files",
    "tls_context",
    "why_exposed",
]
