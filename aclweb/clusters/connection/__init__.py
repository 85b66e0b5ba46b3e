"""What answers at an address, and which settings and certificates does a connection need?"""

from aclweb.clusters.connection.connect_errors import none_reachable, wrongly_advertised
from aclweb.clusters.connection.java_client import java_settings
from aclweb.clusters.connection.options import (
    LOGIN_OPTIONS,
    ClientOptions,
    PemFiles,
    check_options,
    option_faults,
    tls_context,
    uses_tls,
)
from aclweb.clusters.connection.options_file import (
    LARGEST_FILE,
    OptionsFileError,
    pem_text,
    read_options,
    read_pem,
    secret_files,
    why_exposed,
)
from aclweb.clusters.connection.reachability import Endpoint, Probes

__all__ = [
    "LARGEST_FILE",
    "LOGIN_OPTIONS",
    "ClientOptions",
    "Endpoint",
    "OptionsFileError",
    "PemFiles",
    "Probes",
    "check_options",
    "java_settings",
    "none_reachable",
    "option_faults",
    "pem_text",
    "read_options",
    "read_pem",
    "secret_files",
    "tls_context",
    "uses_tls",
    "why_exposed",
    "wrongly_advertised",
]
