"""What can a lint rule claim about decisions? tests/acl/test_lint_claims.py holds each claim against `authorize`.

A rule takes the claim that its findings make. A rule that claims nothing about decisions gives the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Claim(Enum):
    """One claim about decisions, in the words of its page."""

    MATCHES_NO_CLIENT = "No request of a client matches this ACL."
    MATCHES_ONE_ADDRESS_FAMILY = "This ACL matches no client, or clients of one address family only."
    MATCHES_STARRED_NAMES_ALONE = "This ACL matches only names that begin with an asterisk."
    READS_ASTERISK_AS_LETTER = (
        "This ACL matches no name that has other text in place of the asterisk or question mark."
    )
    MATCHES_LONGER_WORDS = "This ACL also matches names that go on with other letters."
    MATCHES_NO_NAME = "This ACL matches no name that a resource can have."
    MATCHES_ONLY_WHAT_IT_BRINGS = (
        "No request for an operation matches this ACL, except for what the sentence says it brings."
    )
    LEAVES_DESCRIBE_OPEN = "A client that this ACL denies could still be allowed to Describe."
    SHUTS_SOMEBODY_OUT = (
        "A principal without an ACL is denied because of this ACL, and would be allowed without it."
    )
    LEAVES_SUPER_USERS_ONLY = "Only super users are allowed this operation on the cluster."
    READS_NO_GROUP = "This principal is allowed Read on no group."
    WRITES_NO_TOPIC = "This principal is allowed Write on no topic."
    NEVER_DETERMINES = "Each request that this ACL matches is denied by a DENY, or is of a super user."
    MATCHES_EVERYBODY = "This ACL matches every client, on every resource of the type."
    MATCHES_ANONYMOUS_ALONE = "This ACL matches only clients that did not log in."
    LEAVES_SUPER_USER_ALONE = "The decisions for this super user are the same without this ACL."
    SKIPS_STARRED_NAMES = "This ACL does not match longer names that begin with an asterisk."


@dataclass(frozen=True, slots=True)
class NoClaim:
    """Why a rule claims nothing about decisions."""

    reason: str
