"""Which ACLs keep a name from having none, and so from being open to everyone?

A cluster with allow.everyone.if.no.acl.found allows everything on a resource that no ACL matches. There the last ACL
on a name keeps others out, whatever it says and whoever it is for.
"""

from __future__ import annotations

from collections.abc import Collection

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.logged.generalising import reaches
from aclweb.acl.model import AclBinding, AuthorizerSettings, PatternType, Resource

LAST_COVER = "Without it, everyone would be allowed what no other ACL covers."


def opens(
    binding: AclBinding, index: AclIndex, settings: AuthorizerSettings, gone: Collection[AclBinding] = ()
) -> bool:
    """Whether without this ACL and those that are gone some name may have none, and be open to everyone for that.

    index: the ACLs of the cluster, those that are gone may be among them.
    """
    if not settings.allow_everyone:
        return False
    around = index.affecting(Resource(binding.resource_type, binding.resource_name), settings)
    return not any(
        other != binding and other not in gone and reaches(other.pattern, binding.pattern, settings)
        for other in around
    )


def last_covers(
    gone: Collection[AclBinding], index: AclIndex, settings: AuthorizerSettings
) -> frozenset[AclBinding]:
    """Return those that have to stay, so that the others may go together and open no name; index: all ACLs."""
    going = set(gone)
    # One for many names that stays covers those for few.
    for binding in sorted(going, key=_widest_first):
        if opens(binding, index, settings, going):
            going.discard(binding)
    return frozenset(gone) - going


def _widest_first(binding: AclBinding) -> tuple[bool, bool, int, tuple[str, ...]]:
    return (
        not binding.pattern.is_wildcard,
        binding.pattern_type is PatternType.LITERAL,
        len(binding.resource_name),
        tuple(binding.as_dict().values()),
    )
