"""The ACLs and the odd log that the tests of the pipeline share."""

from __future__ import annotations

from aclweb.acl.model.authorizers import AuthorizerSettings
from tests.builders import allow, deny

RULES = AuthorizerSettings.read(config={"super.users": "User:admin", "allow.everyone.if.no.acl.found": False})
BINDINGS = [
    allow("User:alice", "READ", "orders", pattern="PREFIXED"),
    allow("User:alice", "ALL", "*"),
    allow("User:bob", "WRITE", "orders.eu"),
    allow("User:*", "DESCRIBE", "*"),
    deny("User:bob", "READ", "pay", pattern="PREFIXED"),
    allow("User:carol", "READ", "*", resource_type="GROUP"),
    allow("User:carol", "WRITE", "t-cidr", host="127.0.0.0/8"),
    deny("User:carol", "WRITE", "t-cidr", host="127.0.0.0/30"),
    allow("User:nobody", "READ", "orders"),
]
# Made up: what a full disk, a name with line breaks, another logger and a broken clock leave behind.
ODD_LOG = """\
[2026-11-20 10:00:00,000] INFO Principal = User:bob is Denied operation = READ from host = 10.0.0.7 on resource = \
Topic:LITERAL:pay for request = Fetch with resourceRefCount = 1 based on rule DefaultDeny (kafka.authorizer.logger)
[2026-11-20 10:00:01,000] DEBUG Principal = User:carol is Allowed operation = READ from host = 10.0.0.7 on resource = \
Group:LITERAL:two
lines for request = JoinGroup with resourceRefCount = 1 based on rule DefaultAllow (kafka.authorizer.logger)
[2026-11-20 10:00:02,000] DEBUG Principal = User:carol is Allowed operation = READ from host = 10.0.0.7 on resource = \
Group:LITERAL:a
[b for request = JoinGroup with resourceRefCount = 1 based on rule SuperUser (kafka.authorizer.logger)
[2026-11-20 10:00:03,000] INFO Principal = User:bob is Den
[2026-11-20 10:00:04,000] WARN The disk is full (kafka.server.LogDirFailureChannel)
[2026-11-20 10:00:05,000] DEBUG Principal = User:alice is Allowed operation = READ from host = 10.0.0.7 on resource = \
Topic:LITERAL:orders for request = Fetch with resourceRefCount = 1 based on rule SuperUser (kafka.authorizer.logger)

"""
