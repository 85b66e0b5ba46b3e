"""What would a cluster hold if the files of a repository were applied to it?"""

from aclweb.clusters.gitops.kind import GITOPS

__all__ = [
    "GITOPS",
]
