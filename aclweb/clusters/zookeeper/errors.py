"""Which sentence says that ZooKeeper cannot be reached, refuses, or stops answering?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kazoo.exceptions import (
    AuthFailedError,
    BadVersionError,
    ConnectionClosedError,
    ConnectionLoss,
    KazooException,
    NoAuthError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    OperationTimeoutError,
    SessionExpiredError,
)
from kazoo.handlers.threading import KazooTimeoutError

from aclweb.clusters.client import ClusterError, ClusterState
from aclweb.clusters.connection import ClientOptions

NO_ANSWER = (
    ConnectionLoss,
    ConnectionClosedError,
    SessionExpiredError,
    OperationTimeoutError,
    KazooTimeoutError,
)
# What a transaction fails with where somebody else changed a node after it was read.
CONFLICTS = (BadVersionError, NodeExistsError, NoNodeError)


def unreachable(where: str, timeout_seconds: float) -> ClusterError:
    return ClusterError(
        f"No ZooKeeper answers at {where} within {timeout_seconds:g} s; check the address, whether the "
        "servers run, and whether they expect TLS.",
        state=ClusterState.UNREACHABLE,
    )


def login_refused(where: str, options: ClientOptions) -> ClusterError:
    who = f" as {options.username!r}" if options.username else ""
    return ClusterError(
        f"ZooKeeper at {where} refused the login{who}; check sasl.username and sasl.password.",
        state=ClusterState.LOGIN_REFUSED,
    )


@contextmanager
def as_cluster_errors(what: str, where: str, timeout_seconds: float) -> Iterator[None]:
    """Raise ClusterError with a sentence for what kazoo raises while something is read. what: such as `its ACLs`."""
    try:
        yield
    except AuthFailedError as error:
        raise ClusterError(
            f"ZooKeeper at {where} refused the login; check sasl.username and sasl.password.",
            state=ClusterState.LOGIN_REFUSED,
        ) from error
    except NoAuthError as error:
        raise ClusterError(
            f"ZooKeeper at {where} does not let this login read {what}; log in as the user that the "
            "brokers use, or give this one the right to read.",
            state=ClusterState.NOT_PERMITTED,
        ) from error
    except NO_ANSWER as error:
        raise ClusterError(
            f"ZooKeeper at {where} stopped answering while {what} were read "
            f"({type(error).__name__}, {timeout_seconds:g} s to answer).",
            state=ClusterState.UNREACHABLE,
        ) from error
    except KazooException as error:
        raise ClusterError(
            f"ZooKeeper at {where} gave no usable answer about {what} ({type(error).__name__}).",
            state=ClusterState.UNREADABLE,
        ) from error


def lost(error: BaseException, where: str, *, sent: bool) -> str:
    """Return the sentence for a write whose connection ended. sent: whether it may have been done."""
    if not sent:
        return f"Not sent: the connection to ZooKeeper at {where} was lost before ({type(error).__name__})."
    return (
        f"The connection to ZooKeeper at {where} was lost while writing ({type(error).__name__}); "
        f"reading back shows whether it was written."
    )


def why_refused(path: str, fault: BaseException, tries: int) -> str:
    """Return why a node was not written. tries: how often that was tried."""
    if isinstance(fault, NoAuthError):
        return (
            f"ZooKeeper does not let this login write {path}; log in as the user that the brokers use "
            "(zookeeper.set.acl is on)."
        )
    if isinstance(fault, CONFLICTS):
        return (
            f"The node {path} was changed by somebody else each of the {tries} times that it was "
            "about to be written; try again later."
        )
    if isinstance(fault, NotEmptyError):
        return f"The node {path} has nodes below it and cannot be removed."
    return f"ZooKeeper refused to write {path} ({type(fault).__name__})."
