"""What is the likely cause of a denial in the log?

A cause is read off the decision that the ACLs in force now give to the same request: who
else, or from where else, would have been allowed. It is a hint for a person, never more
than the log and the ACLs can bear, and a refusal that would be allowed now says so first.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

from aclweb.acl.authorizer import AclIndex, Basis, Decision, Finding, Result, authorize, decide, findings_for
from aclweb.acl.model import (
    ANY_USER,
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PermissionType,
    Resource,
    ResourceType,
    acl_text,
    computed_once,
    name_text,
)

ANONYMOUS = "User:ANONYMOUS"
_ALLOWED_NOW, _UNKNOWN, _DENY = "allowed-now", "unknown", "deny"
_NOT_LETTERS_OR_DIGITS = re.compile(r"[\s_]+")


@dataclass(frozen=True)
class Cause:
    """Why a request was probably refused.

    kind: "allowed-now", "deny", "name", "host", "group", "anonymous", "operation" or "no-rule".
    text: a few words. sentence: what a person should know before mending it. binding: the
    ACL that the cause is about, if there is one. `asked` and `written` are what the request
    said and what that ACL says, where the two differ by little.
    """

    kind: str
    text: str
    sentence: str
    binding: AclBinding | None = None
    asked: str = ""
    written: str = ""


def likely_cause(decision: Decision, index: AclIndex) -> Cause:
    """Return the likely cause of the denial that `decision` is about.

    decision: what the ACLs in force now say to the request that was refused.
    """
    if decision.result is Result.ALLOWED:
        return Cause(
            _ALLOWED_NOW,
            "Allowed by now",
            "The ACLs have changed since: the same request would be allowed today.",
            next(iter(decision.determining), None),
        )
    if decision.result is Result.UNDECIDED:
        return Cause(
            _UNKNOWN,
            "Cannot tell",
            "An ACL on this resource has a value that this version of aclweb does not know.",
        )
    if decision.basis is Basis.DENY_ACL:
        rule = decision.determining[0]
        return Cause(_DENY, "A DENY forbids it", f"{acl_text(rule)}.", rule)
    return _without_allow(decision.request, decision.findings, index, decision.settings)


class CauseKinds:
    """Tells the `likely_cause` of many denials, or its kind alone, without a finding for each ACL of somebody else.

    A few hundred ACLs for all topics affect each denial, and hardly any of them is for whoever was denied.
    """

    def __init__(self, index: AclIndex, settings: AuthorizerSettings) -> None:
        self._index, self._settings = index, settings
        self._alike: dict[str, list[str]] = {}
        for principal in index.principals:
            self._alike.setdefault(_bare(principal), []).append(principal)
        self._filed: dict[str, AclIndex] = {}

    def of(self, request: AccessRequest) -> str:
        """Return the kind of the cause of a denied request."""
        if self._settings.has_globs:
            # There an ACL may be for whoever its principal is a pattern of.
            return likely_cause(authorize(request, self._index, self._settings), self._index).kind
        result, basis = decide(request, self._index, self._settings)
        if result is Result.ALLOWED:
            return _ALLOWED_NOW
        if result is Result.UNDECIDED:
            return _UNKNOWN
        if basis is Basis.DENY_ACL:
            return _DENY
        for_any = findings_for(request, self._for_any, self._settings)
        named = findings_for(request, self._naming(request.principal), self._settings)
        return _without_allow(request, (*for_any, *named), self._index, self._settings).kind

    def cause(self, request: AccessRequest) -> Cause:
        """Return the cause itself, of which `of` tells the kind; it takes longer, and nothing is kept of it."""
        index, settings = self._index, self._settings
        if settings.has_globs or request.resource_name is None:
            return likely_cause(authorize(request, index, settings), index)
        result, basis = decide(request, index, settings)
        if result is not Result.DENIED or basis is Basis.DENY_ACL:
            return likely_cause(authorize(request, index, settings), index)
        names = {*self._names_like(request.principal), ANY_USER}
        resource = Resource(request.resource_type, request.resource_name)
        # In the order of all that affect it: the first one that fits is the cause.
        near = AclIndex(each for each in index.affecting(resource, settings) if each.principal in names)
        return _without_allow(request, findings_for(request, near, settings), index, settings)

    @computed_once
    def _for_any(self) -> AclIndex:
        return AclIndex(self._index.of_principal(ANY_USER))

    def _naming(self, principal: str) -> AclIndex:
        """Return the ACLs for a principal, and for those whose names look like it."""
        if principal not in self._filed:
            self._filed[principal] = AclIndex(
                binding for name in self._names_like(principal) for binding in self._index.of_principal(name)
            )
        return self._filed[principal]

    def _names_like(self, principal: str) -> set[str]:
        return {principal, *self._alike.get(_bare(principal), ())} - {ANY_USER}


def _without_allow(
    request: AccessRequest, findings: Iterable[Finding], index: AclIndex, settings: AuthorizerSettings
) -> Cause:
    """Return the cause where no ACL allows the request. findings: those of its decision, or what matters of them."""
    allows = [finding for finding in findings if finding.binding.permission_type is PermissionType.ALLOW]
    others = [finding.binding for finding in allows if finding.why_not == ("principal",)]
    elsewhere = [finding.binding for finding in allows if finding.why_not == ("host",)]
    near = [finding.binding for finding in allows if finding.why_not == ("operation",)]
    return (
        _wrong_name(request, others)
        or _wrong_host(request, elsewhere, settings)
        or _anonymous(request)
        or _group_missing(request, index)
        or _other_operation(near)
        or Cause(
            "no-rule",
            "No ACL allows it",
            f"No ACL gives this right to {name_text(request.principal)}.",
        )
    )


def _wrong_name(request: AccessRequest, others: Iterable[AclBinding]) -> Cause | None:
    asked = request.principal
    for binding in others:
        written = binding.principal
        if _bare(written) != _bare(asked):
            continue
        if "".join(written.split()) == "".join(asked.split()):
            how = "in spaces"
        elif written.casefold() == asked.casefold():
            how = "in upper and lower case"
        else:
            how = "in spaces and in upper and lower case"
        return Cause(
            "name",
            "Name looks wrong",
            f"The ACL is for {written!r}, the client is {asked!r}: they differ {how}. Kafka compares principals "
            "letter by letter, so a new ACL would only hide the real fault.",
            binding,
            asked,
            written,
        )
    return None


def _bare(principal: str) -> str:
    return _NOT_LETTERS_OR_DIGITS.sub("", principal).casefold()


def _wrong_host(
    request: AccessRequest, elsewhere: Iterable[AclBinding], settings: AuthorizerSettings
) -> Cause | None:
    binding = next(iter(elsewhere), None)
    if binding is None:
        return None
    asked, written = request.host, binding.host
    text = f"The ACL is for {written}, asked from {asked}"
    if "/" in written and not settings.cidr_hosts:
        sentence = (
            f"{written} is a range of addresses; these brokers compare it as text, so it never matches."
        )
    elif (address := _address(written)) is None and "/" not in written:
        sentence = (
            f"{written!r} is no address. Kafka compares with the client's address, so this ACL never matches."
        )
    elif address is not None and address.version == 6 and written != _as_java_writes(address):
        sentence = f"Brokers write this address as {_as_java_writes(address)}, so {written} never matches."
    else:
        sentence = f"{acl_text(binding)}. Has the client moved, or does it connect from another address now?"
    return Cause("host", text, sentence, binding, asked, written)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _as_java_writes(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    return ":".join(f"{int(group, 16):x}" for group in address.exploded.split(":"))


def _anonymous(request: AccessRequest) -> Cause | None:
    if request.principal != ANONYMOUS:
        return None
    return Cause(
        "anonymous",
        f"Plaintext listener, host {request.host}",
        f"The client at {request.host} has no name: it uses a listener without "
        "authentication. Give the client a login, or close that listener. An ACL for User:ANONYMOUS would open the "
        "resource to everybody who can reach that listener.",
    )


def _group_missing(request: AccessRequest, index: AclIndex) -> Cause | None:
    if request.resource_type is not ResourceType.GROUP:
        return None
    reads = next(
        (
            binding
            for binding in index.of_principal(request.principal)
            if binding.resource_type is ResourceType.TOPIC
            and binding.permission_type is PermissionType.ALLOW
            and binding.operation in (Operation.READ, Operation.ALL)
        ),
        None,
    )
    if reads is None:
        return None
    return Cause(
        "group",
        "Topic Read is there, group ACL is missing",
        f"To consume, a client needs Read on its group as well as on the topic. “{acl_text(reads)}” is there; no ACL "
        f"allows it the group {name_text(request.resource_name or '')}.",
        reads,
    )


def _other_operation(near: Iterable[AclBinding]) -> Cause | None:
    binding = next(iter(near), None)
    if binding is None:
        return None
    return Cause(
        "operation", "Another operation is allowed", f"{acl_text(binding)}, and nothing more.", binding
    )
