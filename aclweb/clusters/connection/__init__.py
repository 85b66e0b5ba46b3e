"""What answers at an address, and which settings and certificates does a connection need?"""

from aclweb.clusters.connection.connect_errors import none_reachable, wrongly_advertised
from aclweb.clusters.connection.java_client import java_settings
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
from aclweb.clusters.connection.reachability import Endpoint, Probes

__all__ = [
    "LOGIN_OPTIONS",
    "ClientOptions",
    "Endpoint",
    "OptionsFileError",
    "PemFiles",
    "Probes",
    "check_options",
    "java_settings",
    "none_reachable",
    "read_options",
    "read_pem",
    "secret_files",
    "tls_context",
    "why_exposed",
    "wrongly_advertised",
]
