"""What is said of a comparison before a move: the answer first, then what a reader must know."""

from __future__ import annotations

from aclweb.acl.model import number_of
from aclweb.changes.moving.comparing import Found
from aclweb.inventory.models import Cluster


def sentence_of(cluster: Cluster, found: Found) -> str:
    """Return the answer in a sentence or two: is it the same Kafka cluster, and does anybody's access differ?"""
    if found.is_same is False:
        return (
            f"Another cluster answers: it calls itself {found.cluster_id}, and what is stored of {cluster.name} was "
            f"read from {cluster.cluster_id}. Add it as a cluster of its own, or correct the address."
        )
    who = "It is the same Kafka cluster."
    if found.is_same is None:
        who = "Whether it is the same Kafka cluster is unknown, because one side does not show its id."
    return f"{who} {access_words(found)}"


def access_words(found: Found) -> str:
    """Return how the access of both sides differs, as a sentence."""
    if found.unreadable:
        unreadable = number_of(found.unreadable, "resource")
        return f"The ACLs of {unreadable} cannot be understood there, so the comparison is not whole."
    if not found.is_compared:
        return "The two differ in too much to compare as access."
    lines = found.here_only + found.there_only
    if found.is_equal:
        same = (
            f"The ACLs differ in {number_of(lines, 'line')}"
            if lines
            else f"Both hold {number_of(found.acls, 'ACL')}"
        )
        return f"{same}, and nobody's access differs."
    differing = []
    if found.differences:
        differing.append(f"in {number_of(found.differences, 'answer')}")
    if found.left_out:
        differing.append(f"for {number_of(len(found.left_out), 'super user')} of one side alone")
    return f"Access differs {' and '.join(differing)}."
