"""Which rights on the brokers does a login have, and which command grants what is missing?"""

from __future__ import annotations

import shlex

from aclweb.acl.model import Operation
from aclweb.clusters.broker_settings import ClusterSettings
from aclweb.clusters.client import Login
from aclweb.clusters.rights import Answer, Right


def may_alter(login: Login, address: str, *, writes: bool) -> Right:
    """Return whether the login may change ACLs. writes: whether it is to."""
    may = _allows(login, Operation.ALTER)
    if may is None:
        sentence = "The brokers show whether this login has Alter only once it has Describe on the cluster."
        return Right("Alter", Answer.UNKNOWN, sentence, is_needed=writes)
    if may:
        return Right("Alter", Answer.YES, "This login may change ACLs.", is_needed=writes)
    sentence = "This login may not change ACLs; that needs Alter on the cluster."
    command = command_to_grant(address, login.principal or "", "Alter", "--cluster")
    return Right("Alter", Answer.NO, sentence, command, is_needed=writes)


def may_describe_configs(login: Login, address: str, settings: ClusterSettings | None) -> Right:
    """Return whether the login may read the brokers' settings. settings: what was read of them."""
    if settings is not None:
        return Right("DescribeConfigs", Answer.YES, f"The settings of {settings.where} were read.")
    if _allows(login, Operation.DESCRIBE_CONFIGS) is not False:
        return Right("DescribeConfigs", Answer.UNKNOWN, "No broker has shown its settings.")
    sentence = (
        "The brokers do not show this login their settings, so authorizer, mapping rules and defaults cannot "
        "be read."
    )
    command = command_to_grant(address, login.principal or "", "DescribeConfigs", "--cluster")
    return Right("DescribeConfigs", Answer.NO, sentence, command)


def command_to_grant(address: str, principal: str, operation: str, resource: str) -> str:
    """Return the kafka-acls command. principal: empty where it is not known; resource: such as `--topic '*'`."""
    return (
        f"kafka-acls --bootstrap-server {shlex.quote(address)} --command-config admin.properties "
        f"--add --allow-principal {shlex.quote(principal or 'User:NAME')} --operation {operation} {resource}"
    )


def _allows(login: Login, operation: Operation) -> bool | None:
    """Whether the brokers allow this on the cluster; they show it only to those who may describe it."""
    operations = login.operations
    if operations is None or (operation not in operations and Operation.DESCRIBE not in operations):
        return None
    return operation in operations
