"""Which ACLs and filters does Kafka accept that one should not send?"""

from __future__ import annotations

from dataclasses import dataclass

from aclweb.acl.authorizer import BELOW_ASTERISK, UNPARSABLE_PRINCIPAL
from aclweb.acl.matching import matching_of, read_range
from aclweb.acl.model import WILDCARD, AclBinding, AuthorizerSettings, shown, split_principal


@dataclass(frozen=True, slots=True)
class Caution:
    """Something that a cluster takes and a person should know first; `id` is a hazard's where it is one."""

    id: str
    sentence: str


def cautions(binding: AclBinding, settings: AuthorizerSettings) -> tuple[Caution, ...]:
    """Return what to know before this ACL is added to a cluster under these settings, or kept there."""
    found = []
    if settings.names_below_asterisk_are_a_hazard and "" < binding.resource_name[:1] < WILDCARD:
        found.append(
            Caution(
                BELOW_ASTERISK,
                f"The name {shown(binding.resource_name)} begins with a character on which a KRaft broker may fail to "
                "answer; choose a name that begins with a letter or a digit.",
            )
        )
    if settings.principals_without_colon_are_a_hazard and split_principal(binding.principal) is None:
        found.append(
            Caution(
                UNPARSABLE_PRINCIPAL,
                f"The principal {shown(binding.principal)} has no colon, and a KRaft broker fails on every "
                "request that reaches such an ACL; remove it.",
            )
        )
    if not matching_of(settings).reads_ranges and read_range(binding.host) is not None:
        found.append(
            Caution(
                DORMANT_RANGE,
                f"Kafka {settings.kafka_version} takes {shown(binding.host)} for a mere text that no address "
                f"equals; the ACL matches nobody now, and takes effect with an upgrade to KRaft 4.4.",
            )
        )
    return tuple(found)


DORMANT_RANGE = "dormant-address-range"
