"""What can aclweb do with a folder of files that declare ACLs?"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

from aclweb.clusters.client import ClusterClient
from aclweb.clusters.kind import ClusterKind, Connection

if TYPE_CHECKING:
    from aclweb.clusters.gitops.client import FolderClient


def _open(connection: Connection) -> ClusterClient:
    """Open a client; the library for YAML takes a while to load, and most processes read no folder."""
    client: type[FolderClient] = import_module("aclweb.clusters.gitops.client").FolderClient
    return client(connection)


def _normalised(address: str) -> str:
    # Not where links lead: what keeps a checkout fresh moves a link from one commit to the next.
    return os.path.abspath(address)


GITOPS = ClusterKind(
    name="gitops",
    source="a folder of files",
    called="the folder",
    address_form="a folder's path",
    open=_open,
    normalised=_normalised,
    is_copy=True,
)
