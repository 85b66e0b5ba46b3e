"""Can any request of a real client match this ACL?

Kafka takes nearly any text for a principal, a host and a name, so clusters have many ACLs
that no request meets. What is said here is the end of a sentence about the ACL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from aclweb.acl.matching.addresses import as_java_prints
from aclweb.acl.matching.host_ranges import reaches_somebody
from aclweb.acl.matching.hosts import UNRANGED, read_address, read_range
from aclweb.acl.matching.patterns import glob_shape
from aclweb.acl.matching.strategy import matching_of
from aclweb.acl.model import (
    ANY_USER,
    CLUSTER_NAME,
    WILDCARD,
    AclBinding,
    AclError,
    AuthorizerSettings,
    PatternType,
    ResourceType,
    name_text,
    split_principal,
)

_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}\Z")
_START_OF_A_TOPIC = re.compile(r"[a-zA-Z0-9._-]{0,249}\Z")
_NO_TOPICS = (".", "..")
_TOO_LONG = "no topic has a name of more than 249 characters"


def why_unmatchable(binding: AclBinding, settings: AuthorizerSettings) -> str | None:
    """Say why no session can ever match this principal or host, whatever is asked; None if one can."""
    if split_principal(binding.principal) is None:
        return f"the principal {binding.principal!r} has no type and is nobody's"
    return why_no_address(binding.host, settings)


def why_no_address(host: str, settings: AuthorizerSettings) -> str | None:
    """Say why this host of an ACL admits no address that a client can have; None if it admits one."""
    if host == WILDCARD or is_address(host):
        return None
    matching = matching_of(settings)
    if matching.is_host_glob(host):
        return None if reaches_somebody(host) else f"brokers compare addresses, and none matches {host!r}"
    if "/" in host:
        if not matching.reads_ranges:
            return f"this Kafka reads no address ranges, and no client's address is {host!r}"
        span = read_range(host)
        if span == (*UNRANGED, 32):
            return f"Kafka finds 0.0.0.0 in no range, and {host!r} holds nothing else"
        return None if span is not None else f"Kafka cannot read the address range {host!r}"
    if read_address(host) is not None:
        return f"brokers compare the text of addresses and write this one {_java_text(host)!r}, not {host!r}"
    return f"brokers compare addresses, and {host!r} is none"


def is_address(host: str) -> bool:
    """Whether a session's host can have exactly this text."""
    plain, percent, scope = host.partition("%")
    return _java_text(plain) == plain and (not percent or (":" in plain and bool(scope)))


def why_no_client(binding: AclBinding, settings: AuthorizerSettings) -> str | None:
    """Say why hardly any client has this principal, though its letters could match; None if one may."""
    if matching_of(settings).is_principal_glob(binding.principal):
        return None
    if WILDCARD in binding.principal and binding.principal != ANY_USER:
        who = name_text(binding.principal)
        return f"only {ANY_USER} is a wildcard, and nobody is likely to be called {who}"
    return None


def why_no_resource(binding: AclBinding) -> str | None:
    """Say why no resource has a name that this pattern covers, though its letters could match; None if one may."""
    if binding.has_wildcard_pattern:
        return None
    if binding.pattern_type is PatternType.GLOB:
        return _why_no_match(binding)
    is_literal = binding.pattern_type is PatternType.LITERAL
    return _why_nobodys(binding.resource_type, binding.resource_name, is_literal=is_literal)


def _why_nobodys(resource_type: ResourceType, name: str, *, is_literal: bool) -> str | None:
    """Say why no resource of a type has this name, or one that begins with it; None if one may."""
    if resource_type is ResourceType.CLUSTER:
        reached = name == CLUSTER_NAME if is_literal else CLUSTER_NAME.startswith(name)
        return None if reached else f"the only cluster that requests name is {CLUSTER_NAME!r}"
    if resource_type is ResourceType.USER and is_literal and split_principal(name) is None:
        return f"requests name users with their type, as in {f'User:{name}'!r}"
    if resource_type is ResourceType.TOPIC:
        if is_literal:
            return why_no_topic(name)
        if name == WILDCARD:
            return "an asterisk in a prefix is an ordinary letter, and no topic begins with one; LITERAL * is for all"
        if len(name) > 249:
            return _TOO_LONG
        if not _START_OF_A_TOPIC.match(name):
            return f"no topic can be called so, and {name!r} is not the start of one"
    return None


def nobodys(resource_type: ResourceType, names: Iterable[str], *, are_literal: bool) -> list[str]:
    """Return those of some names, or of some beginnings of names, that no resource of a type can have."""
    if resource_type is not ResourceType.TOPIC:
        return [name for name in names if _why_nobodys(resource_type, name, is_literal=are_literal)]
    match = (_TOPIC if are_literal else _START_OF_A_TOPIC).match
    # Asked of all names that ACLs spell out.
    return [name for name in names if not match(name) or (are_literal and name in _NO_TOPICS)]


def why_no_topic(name: str) -> str | None:
    """Say why no topic has this name; None if one may."""
    if len(name) > 249:
        return _TOO_LONG
    if not _TOPIC.match(name) or name in _NO_TOPICS:
        return f"no topic can be called {name!r}; topics have letters, digits, '.', '_' and '-'"
    return None


def topic_fault(name: str) -> str | None:
    """Return the sentence for a topic's name, asked about or to be made, that no topic has; None if one may."""
    reason = why_no_topic(name)
    return None if reason is None else f"No broker would make a topic of this name: {reason}."


def _why_no_match(binding: AclBinding) -> str | None:
    """Say why no resource has a name that this GLOB matches."""
    shape = glob_shape(binding.resource_name)
    if binding.resource_type is ResourceType.CLUSTER and not shape.matches(CLUSTER_NAME):
        return f"the only cluster that requests name is {CLUSTER_NAME!r}"
    if (
        binding.resource_type is ResourceType.USER
        and shape.exact is not None
        and split_principal(shape.exact) is None
    ):
        return f"requests name users with their type, as in {f'User:{shape.exact}'!r}"
    if binding.resource_type is ResourceType.TOPIC:
        if shape.shortest > 249:
            return _TOO_LONG
        if shape.exact in _NO_TOPICS or not _START_OF_A_TOPIC.match("".join(sorted(shape.characters))):
            return f"no topic's name matches {binding.resource_name!r}; topics have letters, digits, '.', '_' and '-'"
    return None


def _java_text(host: str) -> str | None:
    try:
        return as_java_prints(host)
    except AclError:
        return None
