"""Records of the authorizer's log as each family of brokers prints them, from values."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from aclweb.acl.model.authorizers import OPERATIONS
from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType
from aclweb.acl.notation.authorizer_log import AccessEvent
from tests.examples import Draw, one_of
from tests.hostile import names, texts

FAMILIES = ("standard", "acl", "simple-2.0", "simple-0.9")
LAYOUT = "[{time}] {level} {message} (kafka.authorizer.logger)"
TIME = "2026-11-21 13:28:48,372"
HOSTS = ("10.0.0.7", "127.0.0.1", "0:0:0:0:0:0:0:1", "2001:db8:0:0:0:0:0:5", "fe80:0:0:0:1:2:3:4%eth0")
APIS = ("Fetch", "Produce", "CreateTopics", "99")


def printed(event: AccessEvent, *, brackets: str = "[]") -> str:
    """Return the record; the rule's ACL stands in square brackets since 4.2, in round ones before."""
    assert event.time is not None
    assert event.level is not None
    return LAYOUT.format(time=event.time, level=event.level, message=message_of(event, brackets=brackets))


def message_of(event: AccessEvent, *, brackets: str = "[]") -> str:
    is_standard = event.family == "standard"
    pattern_type = "" if event.pattern_type is None else f"{event.pattern_type.name}:"
    text = (
        f"Principal = {event.principal} is {'Allowed' if event.allowed else 'Denied'} "
        f"{'operation' if is_standard else 'Operation'} = "
        f"{event.operation.name if is_standard else event.operation.pascal} from host = {event.host} "
        f"on resource = {event.resource_type.pascal}:{pattern_type}{event.resource_name}"
    )
    if event.api_name is not None:
        text += f" for request = {event.api_name} with resourceRefCount = {event.ref_count}"
    if event.rule is not None:
        text += f" based on rule {event.rule}" + ("" if event.acl is None else _acl(event.acl, brackets))
    return text


def _acl(acl: AclBinding, brackets: str) -> str:
    return (
        f"(acl=StandardAcl{brackets[0]}resourceType={acl.resource_type.name}, "
        f"resourceName={acl.resource_name}, patternType={acl.pattern_type.name}, principal={acl.principal}, "
        f"host={acl.host}, operation={acl.operation.name}, permissionType={acl.permission_type.name}{brackets[1]})"
    )


def decisions(family: str) -> Draw[AccessEvent]:
    """Return what a broker of `family` can have logged, whatever the names."""
    return Draw(lambda rng: _decision(rng, family))


_PRINCIPALS = one_of(texts, texts.map(lambda name: f"User:{name}"))


def _decision(rng: Random, family: str) -> AccessEvent:
    resource_type = rng.choice(list(OPERATIONS))
    rule = rng.choice(["SuperUser", "DefaultAllow", "DefaultDeny", "MatchingAcl"])
    has_request = family in ("standard", "acl")
    event = AccessEvent(
        time=TIME,
        level=rng.choice(["TRACE", "DEBUG", "INFO"]),
        principal=_PRINCIPALS(rng),
        allowed=rng.random() < 0.5,
        operation=rng.choice(OPERATIONS[resource_type]),
        host=rng.choice(HOSTS),
        resource_type=resource_type,
        resource_name=names(rng),
        pattern_type=None if family == "simple-0.9" else PatternType.LITERAL,
        api_name=rng.choice(APIS) if has_request else None,
        ref_count=rng.randint(0, 10_000) if has_request else None,
        rule=rule if family == "standard" else None,
        acl=None,
        family=family,
        ambiguous=False,
    )
    return replace(event, acl=_rules_acl(rng, event)) if event.rule == "MatchingAcl" else event


def _rules_acl(rng: Random, event: AccessEvent) -> AclBinding:
    """Return an ACL that can have settled a decision: it covers the resource and matches the session."""
    name = event.resource_name
    return AclBinding(
        resource_type=event.resource_type,
        resource_name=rng.choice([name, "*", name[: rng.randint(0, len(name))]]),
        pattern_type=rng.choice([PatternType.LITERAL, PatternType.PREFIXED]),
        principal=rng.choice([event.principal, "User:*"]),
        host=rng.choice([event.host, "*", "10.0.0.0/8"]),
        operation=rng.choice([event.operation, Operation.ALL]),
        permission_type=PermissionType.ALLOW if event.allowed else PermissionType.DENY,
    )
