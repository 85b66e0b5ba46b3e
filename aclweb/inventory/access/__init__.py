"""Who can do what: with one resource, or as one principal?"""

from aclweb.inventory.access.able import Able, able_with, able_with_each
from aclweb.inventory.access.cells import AccessRow, ByCluster, Cell, ResourceAccess
from aclweb.inventory.access.prepared import prepare
from aclweb.inventory.access.principal import PrincipalAccess, Reach, principal_access
from aclweb.inventory.access.reader_groups import ReaderGroups, groups_of_readers, readers_of
from aclweb.inventory.access.resource import through_cluster, topic_access
from aclweb.inventory.access.sentences import asked_first
from aclweb.inventory.access.topic_reach import TopicReach, TopicReaches, topic_reaches
from aclweb.inventory.access.two_principals import RELATIONS, ComparedNames, PrincipalsCompared, compared

__all__ = [
    "RELATIONS",
    "Able",
    "AccessRow",
    "ByCluster",
    "Cell",
    "ComparedNames",
    "PrincipalAccess",
    "PrincipalsCompared",
    "Reach",
    "ReaderGroups",
    "ResourceAccess",
    "TopicReach",
    "TopicReaches",
    "able_with",
    "able_with_each",
    "asked_first",
    "compared",
    "groups_of_readers",
    "prepare",
    "principal_access",
    "readers_of",
    "through_cluster",
    "topic_access",
    "topic_reaches",
]
