"""Which errors does a broker send to a client that lacks a right, and what do they mean?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Error:
    """An error of Kafka's protocol; `meaning` is a sentence for whoever meets it."""

    name: str
    code: int
    meaning: str


ERRORS: Mapping[str, Error] = MappingProxyType(
    {
        error.name: error
        for error in (
            Error(
                "TOPIC_AUTHORIZATION_FAILED",
                29,
                "The broker does not let this principal do this to the topic; a topic that does not exist is "
                "refused in the same words, so that its existence is not revealed.",
            ),
            Error(
                "GROUP_AUTHORIZATION_FAILED",
                30,
                "The broker does not let this principal do this with the group; the topic is not the problem.",
            ),
            Error(
                "CLUSTER_AUTHORIZATION_FAILED",
                31,
                "The right that is missing is one on the cluster as a whole, not on what the client was busy "
                "with; an idempotent producer may have Write on a topic instead.",
            ),
            Error(
                "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
                53,
                "The broker does not let this principal use the transactional id.",
            ),
            Error(
                "DELEGATION_TOKEN_OWNER_MISMATCH",
                63,
                "Only the owner of a delegation token and its renewers may do this; no ACL changes that.",
            ),
            Error(
                "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED",
                64,
                "Delegation tokens cannot be requested over PLAINTEXT, over TLS without a client certificate, "
                "or by a client that logged in with a token itself; no ACL changes that.",
            ),
            Error(
                "DELEGATION_TOKEN_AUTHORIZATION_FAILED",
                65,
                "The broker does not let this principal make a token for that owner.",
            ),
        )
    }
)
"""The errors by which Kafka refuses, by name."""
