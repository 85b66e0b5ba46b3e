"""May this login write, as the permissions of the nodes say?"""

from __future__ import annotations

from typing import Any

from aclweb.acl.notation import znodes
from aclweb.clusters.client import ClusterError
from aclweb.clusters.connection import pem
from aclweb.clusters.zookeeper.nodes import shows_migration
from aclweb.clusters.zookeeper.session import Session

# The schemes of permissions in which this session knows its own name.
_KNOWN_SCHEMES = ("world", "sasl", "x509")
# Where ACLs of each kind of pattern stand, and where their changes are announced.
_WRITTEN_BELOW = (
    (f"{znodes.LITERAL_ROOT}/Topic", "/kafka-acl-changes"),
    (f"{znodes.PREFIXED_ROOT}/Topic", "/kafka-acl-extended-changes"),
)
_CREATE = 4  # ZooKeeper's number for the permission


def may_write(session: Session) -> tuple[bool | None, str]:
    """Return whether the nodes' permissions let this login write, None where that is unknown, and why.

    Nothing is written: the permissions are read and compared with who this session is.
    """
    parents = [root for root, _ in _WRITTEN_BELOW] + [change for _, change in _WRITTEN_BELOW]
    try:
        with session.reading("its permissions"):
            if refusal := migration_refusal(session):
                return False, refusal
            held = {
                path: session.permissions_of(path)
                for path in parents
                if session.get(session.kazoo.exists_async(path))
            }
    except ClusterError as error:
        return None, str(error)
    if not held:
        return (
            None,
            "No broker with AclAuthorizer has made its nodes yet, so there is nothing to write to.",
        )
    for path, permissions in held.items():
        if not any(_is_this_login(session, one) for one in permissions if one.perms & _CREATE):
            others = ", ".join(
                sorted({f"{one.id.scheme}:{one.id.id}" for one in permissions if one.perms & _CREATE})
            )
            if any(one.id.scheme not in _KNOWN_SCHEMES for one in permissions):
                return (
                    None,
                    f"Whether this login may write {path} depends on what ZooKeeper knows of it ({others}).",
                )
            return False, (
                f"Only {others} may write below {path}, so that nothing can be written; log in as the user that "
                "the brokers use (zookeeper.set.acl is on)."
            )
    return True, "The permissions of the nodes let this login write."


def _is_this_login(session: Session, permission: Any) -> bool:
    mine = {("world", "anyone")}
    if session.options.username:
        mine.add(("sasl", session.options.username))
    if session.options.certificate_pem and (subject := pem.subject_of(session.options.certificate_pem)):
        mine.add(("x509", subject))
    return (permission.id.scheme, permission.id.id) in mine


def migration_refusal(session: Session) -> str | None:
    """Return why nothing may be written while the cluster moves to KRaft, None where it does not."""
    if not shows_migration(session.fetch(["/migration"])["/migration"]):
        return None
    return (
        f"The cluster at {session.where} is migrating to KRaft or has done so (ZooKeeper holds /migration), and "
        "what is written to ZooKeeper now would be lost; connect aclweb to the brokers' Admin API instead."
    )
