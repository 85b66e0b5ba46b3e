"""How are ACLs, requests and edits written in files, and read from them, exactly?

Import from here: reading and writing of JSON lines, CSV, YAML, `kafka-acls --list`, ZooKeeper's nodes, and
records of the authorizer's log.
"""

from aclweb.acl.notation.acl_csv import write_rows
from aclweb.acl.notation.authorizer_log import (
    NO_ACL_NOTE,
    NO_LAYOUT,
    SUPER_USER_NOTE,
    UNREADABLE,
    AccessEvent,
    NotDecision,
    parse_record,
    records,
    starts_record,
)
from aclweb.acl.notation.files import (
    FORMATS,
    OUTPUTS,
    AclFile,
    Edit,
    read_acl_file,
    read_acls,
    read_delta,
    read_edits,
    read_names,
    read_requests,
    why_not_written,
    write_acls,
    write_delta,
)
from aclweb.acl.notation.objects import (
    ACL_KEYS,
    binding_from_dict,
    binding_key,
    filter_from_dict,
    parse_object,
    request_from_dict,
)
from aclweb.acl.notation.znodes import encode, path_of

__all__ = [
    "ACL_KEYS",
    "FORMATS",
    "NO_ACL_NOTE",
    "NO_LAYOUT",
    "OUTPUTS",
    "SUPER_USER_NOTE",
    "UNREADABLE",
    "AccessEvent",
    "AclFile",
    "Edit",
    "NotDecision",
    "binding_from_dict",
    "binding_key",
    "encode",
    "filter_from_dict",
    "parse_object",
    "parse_record",
    "path_of",
    "read_acl_file",
    "read_acls",
    "read_delta",
    "read_edits",
    "read_names",
    "read_requests",
    "records",
    "request_from_dict",
    "starts_record",
    "why_not_written",
    "write_acls",
    "write_delta",
    "write_rows",
]
