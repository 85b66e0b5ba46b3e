"""What do the words on the pages mean: Kafka's operations and terms, and our own?"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from aclweb.acl.model import Operation
from aclweb.web.shell.htmx import render_page

OPERATIONS = {
    Operation.READ: "Fetch records of a topic; join a group and commit its offsets. It implies Describe.",
    Operation.WRITE: "Produce to a topic; use a transactional id. It implies Describe.",
    Operation.CREATE: "Create a topic; on the cluster, any topic.",
    Operation.DELETE: "Delete a topic, its records, or a group. It implies Describe.",
    Operation.ALTER: "Change partitions of a topic; on the cluster, ACLs, SCRAM users and more. It implies Describe.",
    Operation.DESCRIBE: "See that it exists: metadata and offsets of a topic, state of a group or a transaction.",
    Operation.CLUSTER_ACTION: "Requests between brokers, such as a follower's fetch.",
    Operation.DESCRIBE_CONFIGS: "Read the configuration of a topic, a broker or a group.",
    Operation.ALTER_CONFIGS: "Change the configuration of a topic, a broker or a group. It implies DescribeConfigs.",
    Operation.IDEMPOTENT_WRITE: "Produce without duplicates; since Kafka 2.8, Write on any topic is enough.",
    Operation.CREATE_TOKENS: "Create delegation tokens for another user.",
    Operation.DESCRIBE_TOKENS: "See the delegation tokens of another user.",
    Operation.TWO_PHASE_COMMIT: "Take part in two-phase commit with a transactional id.",
    Operation.ALL: "Every operation on the resource, those of later versions of Kafka too.",
}


@dataclass(frozen=True)
class Term:
    """A word, and what it means in a sentence or two."""

    word: str
    meaning: str


KAFKAS = (
    Term(
        "ACL",
        "One permission: a principal may, or may not, do an operation on a resource pattern, from a host.",
    ),
    Term("Allow, DENY", "The two permissions. A DENY that matches a request wins over every Allow."),
    Term("Authorizer", "The part of a broker that decides each request by the ACLs."),
    Term(
        "Default", "What happens on a resource that no ACL matches: allow.everyone.if.no.acl.found says it."
    ),
    Term("Group", "A consumer group. A member needs Read on the topic and on the group."),
    Term("Host", "The address that a client connects from, as the broker sees it; * in an ACL is any."),
    Term(
        "Implied operation",
        "Read, Write, Delete and Alter allow Describe; AlterConfigs allows DescribeConfigs.",
    ),
    Term(
        "Principal",
        "Who a client is for the broker, such as User:bob. A mapping rule may make it of a certificate.",
    ),
    Term("Resource pattern", "Type, name and pattern type of the resources that an ACL matches."),
    Term(
        "Exact, prefix, all",
        "The pattern is one name, every name that starts so, or every name of the type (*).",
    ),
    Term("Super user", "A principal of super.users: brokers read no ACL for it."),
    Term("Transactional id", "The name by which a producer writes in transactions."),
    Term("User:*", "Any user, in the principal of an ACL."),
)
OURS = (
    Term("As of", "A page as it was at an earlier revision."),
    Term(
        "Cannot tell", "What aclweb knows is not enough; the page says what is missing. It is never a zero."
    ),
    Term("Coverage", "Which brokers, hours and levels the authorizer logs hold."),
    Term("Denial", "A request that a broker refused, in its log."),
    Term(
        "Depends", "The ACLs alone do not decide: the answer depends on the host, or on what nobody declared."
    ),
    Term(
        "Determining ACLs",
        "Those that give the decision. Without them it would be another, or have another reason.",
    ),
    Term("Draft", "ACLs to add and to remove, and topics to create, that nobody has asked for yet."),
    Term("Finding", "What a lint rule says of an ACL."),
    Term("Gate", "A condition of the cluster's policy. A change that does not meet it needs more approvals."),
    Term("Impact", "The difference in access that an edit makes: who gains, who loses."),
    Term(
        "Needed, replaceable",
        "Without this ACL logged requests would be denied; or other ACLs allow them too.",
    ),
    Term(
        "Orphaned",
        "An ACL that matches no name that exists now; a principal with ACLs and without requests.",
    ),
    Term("Quarantined", "A snapshot that lost much of what was known, and waits for a person to believe it."),
    Term("Re-covered", "The answer stays, and other ACLs give it."),
    Term("Redundant", "An ACL that can go without changing any answer."),
    Term("Replay", "Deciding the logged requests again, with the edit."),
    Term("Revision", "A stored snapshot that differs from the one before."),
    Term("Snapshot", "What one sync read of a cluster."),
    Term("Sync", "Reading a cluster, and storing what is new."),
    Term("Unused", "No logged request needed it, and the log covers enough to say so."),
)


@login_required
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    """Show what every word means."""
    operations = [Term(operation.pascal, meaning) for operation, meaning in OPERATIONS.items()]
    sides = [(("Operations", operations), ("Kafka's words", KAFKAS)), (("Words of aclweb", OURS),)]
    return render_page(request, "shell/glossary.html", None, {"sides": sides})
