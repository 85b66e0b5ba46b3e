"""What would Kafka, or its own tools, answer to this?

Import from here: what brokers refuse and in which words, what `kafka-acls` makes of its arguments, and the
command that adds or removes an ACL.
"""

from aclweb.acl.kafka.accepted import cautions
from aclweb.acl.kafka.command_lines import commands, why_escaped, why_no_command
from aclweb.acl.kafka.creation import CREATION_RULES
from aclweb.acl.kafka.deletion import DELETION_RULES, LISTING_RULES
from aclweb.acl.kafka.notes import resources_in
from aclweb.acl.kafka.refusals import MOST_RECORDS, YOUNGER_WORDS, Item, Refusal, Rule, Scope, Seen, Target
from aclweb.acl.kafka.shell_line import read_shell_line
from aclweb.acl.kafka.texts import why_no_node_name, why_no_text
from aclweb.acl.kafka.tool import CONSUMER, PRODUCER, TOOLS, Plan, plan
from aclweb.acl.kafka.validation import (
    explained,
    refusal,
    refused_by_client,
    refused_everywhere,
    why_not_deletable,
)

__all__ = [
    "CONSUMER",
    "CREATION_RULES",
    "DELETION_RULES",
    "LISTING_RULES",
    "MOST_RECORDS",
    "PRODUCER",
    "TOOLS",
    "YOUNGER_WORDS",
    "Item",
    "Plan",
    "Refusal",
    "Rule",
    "Scope",
    "Seen",
    "Target",
    "cautions",
    "commands",
    "explained",
    "plan",
    "read_shell_line",
    "refusal",
    "refused_by_client",
    "refused_everywhere",
    "resources_in",
    "why_escaped",
    "why_no_command",
    "why_no_node_name",
    "why_no_text",
    "why_not_deletable",
]
