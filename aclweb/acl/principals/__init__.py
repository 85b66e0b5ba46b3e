"""Which principal is this client to the broker?

Import from here: mapping rules of certificates and Kerberos names, and distinguished names as Java writes them.
"""

from aclweb.acl.principals.distinguished_names import DistinguishedNameError, java_name
from aclweb.acl.principals.identity import (
    ANONYMOUS,
    DEFAULT_BUILDER,
    KERBEROS_MECHANISM,
    BrokerSettings,
    Client,
    Identity,
    Protocol,
    identify,
)
from aclweb.acl.principals.kerberos_mapping import KerberosRules
from aclweb.acl.principals.name_mapping import InvalidRules, MappedName
from aclweb.acl.principals.sources import Shape, Source, Sources, sources_of
from aclweb.acl.principals.ssl_mapping import SslRules

__all__ = [
    "ANONYMOUS",
    "DEFAULT_BUILDER",
    "KERBEROS_MECHANISM",
    "BrokerSettings",
    "Client",
    "DistinguishedNameError",
    "Identity",
    "InvalidRules",
    "KerberosRules",
    "MappedName",
    "Protocol",
    "Shape",
    "Source",
    "Sources",
    "SslRules",
    "identify",
    "java_name",
    "sources_of",
]
