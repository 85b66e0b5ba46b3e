"""Records of the authorizer's log as each family of brokers prints them, from values."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from aclweb.acl.model.authorizers import OPERATIONS
from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType
from aclweb.acl.notation.authorizer_log import AccessEvent
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


def prefixes_of(name: str) -> st.SearchStrategy[str]:
    return st.integers(0, len(name)).map(lambda end: name[:end])


@st.composite
def decisions(draw: st.DrawFn, family: str) -> AccessEvent:
    """Return what a broker of `family` can have logged, whatever the names."""
    resource_type = draw(st.sampled_from(list(OPERATIONS)))
    rule = draw(st.sampled_from(["SuperUser", "DefaultAllow", "DefaultDeny", "MatchingAcl"]))
    has_request = family in ("standard", "acl")
    event = AccessEvent(
        time=TIME,
        level=draw(st.sampled_from(["TRACE", "DEBUG", "INFO"])),
        principal=draw(st.one_of(texts, texts.map(lambda name: f"User:{name}"))),
        allowed=draw(st.booleans()),
        operation=draw(st.sampled_from(OPERATIONS[resource_type])),
        host=draw(st.sampled_from(HOSTS)),
        resource_type=resource_type,
        resource_name=draw(names),
        pattern_type=None if family == "simple-0.9" else PatternType.LITERAL,
        api_name=draw(st.sampled_from(APIS)) if has_request else None,
        ref_count=draw(st.integers(0, 10_000)) if has_request else None,
        rule=rule if family == "standard" else None,
        acl=None,
        family=family,
        ambiguous=False,
    )
    return replace(event, acl=draw(_rules_acl(event))) if event.rule == "MatchingAcl" else event


def _rules_acl(event: AccessEvent) -> st.SearchStrategy[AclBinding]:
    """Return the ACLs that can have settled a decision: they cover the resource and match the session."""
    return st.builds(
        AclBinding,
        resource_type=st.just(event.resource_type),
        resource_name=st.one_of(
            st.sampled_from([event.resource_name, "*"]), prefixes_of(event.resource_name)
        ),
        pattern_type=st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
        principal=st.sampled_from([event.principal, "User:*"]),
        host=st.sampled_from([event.host, "*", "10.0.0.0/8"]),
        operation=st.sampled_from([event.operation, Operation.ALL]),
        permission_type=st.just(PermissionType.ALLOW if event.allowed else PermissionType.DENY),
    )
