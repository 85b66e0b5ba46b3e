"""One ACL that lint looks at, with what several rules ask about it, each worked out once."""

from __future__ import annotations

from aclweb.acl.kafka import Refusal, Target, cautions, refusal
from aclweb.acl.matching import MANY, ONE, matching_of, why_no_resource, why_unmatchable
from aclweb.acl.model import (
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    PatternType,
    PermissionType,
    ResourceType,
    acl_text,
    split_principal,
)

STARRED = (ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
"""The types whose names may begin with an asterisk; KRaft's wildcard skips the longer ones of these."""


class Subject:
    """One ACL under authorizer settings.

    principal_parts: type and name; None where the principal has no colon.
    cautions: what Kafka takes and a person should know first, sentences by the id of their rule.
    refused: what a broker answers to creating the ACL, where that is an error. dead: why no
    client has the principal and the host. nowhere: why no resource has the name.
    These are empty for an ACL with a value that aclweb does not know.
    """

    __slots__ = (
        "binding",
        "cautions",
        "dead",
        "is_allow",
        "is_deny",
        "nowhere",
        "principal_parts",
        "refused",
        "settings",
    )

    def __init__(self, binding: AclBinding, settings: AuthorizerSettings) -> None:
        self.binding, self.settings = binding, settings
        self.is_deny = binding.is_deny
        self.is_allow = binding.permission_type is PermissionType.ALLOW
        self.principal_parts = split_principal(binding.principal)
        self.cautions: dict[str, str] = {}
        self.refused: Refusal | None = None
        self.dead: str | None = None
        self.nowhere: str | None = None
        if binding.has_unknown:
            return
        self.cautions = {each.id: each.sentence for each in cautions(binding, settings)}
        self.refused = refusal("add", binding, Target(settings))
        self.dead = why_unmatchable(binding, settings)
        self.nowhere = why_no_resource(binding)

    def sentence(self, rest: str) -> str:
        """Return a sentence that begins with the ACL itself."""
        return f"{acl_text(self.binding)}: {rest}"

    @property
    def is_about_the_cluster(self) -> bool:
        return self.binding.resource_type is ResourceType.CLUSTER and self.nowhere is None

    @property
    def letter(self) -> str | None:
        """The asterisk, or question mark, of a name that is no pattern; None if there is none.

        The cluster has one name, so that nobody takes another for a pattern of it.
        """
        binding = self.binding
        name = binding.resource_name
        if (
            not any(wildcard in name for wildcard in matching_of(self.settings).wildcards)
            or name == WILDCARD
            or binding.pattern_type is PatternType.GLOB
            or binding.resource_type is ResourceType.CLUSTER
        ):
            return None
        return MANY if MANY in name else ONE
