"""What answers at an address, and which settings and certificates does a connection need?"""

from aclweb.clusters.connection.connect_errors import none_reachable, wrongly_advertised
from aclweb.clusters.connection.java_client import java_settings
from aclweb.clusters.connection.kerberos import MECHANISM as BY_KERBEROS
from aclweb.clusters.connection.kerberos import Ticket, why_no_keytab
from aclweb.clusters.connection.oauth import MECHANISM as BY_TOKEN
from aclweb.clusters.connection.oauth import Token, tokens, why_no_endpoint
from aclweb.clusters.connection.options import (
    CLIENT_ID,
    CLIENT_SECRET,
    ENDPOINT,
    KERBEROS_OPTIONS,
    KEYTAB,
    LOGIN_OPTIONS,
    PRINCIPAL,
    SCOPE,
    SERVICE,
    TOKEN_OPTIONS,
    URLENCODE,
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
    "BY_KERBEROS",
    "BY_TOKEN",
    "CLIENT_ID",
    "CLIENT_SECRET",
    "ENDPOINT",
    "KERBEROS_OPTIONS",
    "KEYTAB",
    "LARGEST_FILE",
    "LOGIN_OPTIONS",
    "PRINCIPAL",
    "SCOPE",
    "SERVICE",
    "TOKEN_OPTIONS",
    "URLENCODE",
    "ClientOptions",
    "Endpoint",
    "OptionsFileError",
    "PemFiles",
    "Probes",
    "Ticket",
    "Token",
    "check_options",
    "java_settings",
    "none_reachable",
    "option_faults",
    "pem_text",
    "read_options",
    "read_pem",
    "secret_files",
    "tls_context",
    "tokens",
    "uses_tls",
    "why_exposed",
    "why_no_endpoint",
    "why_no_keytab",
    "wrongly_advertised",
]
