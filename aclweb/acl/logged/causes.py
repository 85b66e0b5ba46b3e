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

from aclweb.acl.authorizer import AclIndex, Basis, Decision, Result
from aclweb.acl.model import AclBinding, Operation, PermissionType, ResourceType, acl_text, name_text

ANONYMOUS = "User:ANONYMOUS"
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
            "allowed-now",
            "Allowed by now",
            "The ACLs have changed since: the same request would be allowed today.",
            next(iter(decision.determining), None),
        )
    if decision.result is Result.UNDECIDED:
        return Cause(
            "unknown",
            "Cannot tell",
            "An ACL on this resource has a value that this version of aclweb does not know.",
        )
    if decision.basis is Basis.DENY_ACL:
        rule = decision.determining[0]
        return Cause("deny", "A DENY forbids it", f"{acl_text(rule)}.", rule)

    allows = [
        finding for finding in decision.findings if finding.binding.permission_type is PermissionType.ALLOW
    ]
    others = [finding.binding for finding in allows if finding.why_not == ("principal",)]
    elsewhere = [finding.binding for finding in allows if finding.why_not == ("host",)]
    return (
        _wrong_name(decision, others)
        or _wrong_host(decision, elsewhere)
        or _anonymous(decision)
        or _group_missing(decision, index)
        or _other_operation(decision)
        or Cause(
            "no-rule",
            "No ACL allows it",
            f"No ACL gives this right to {name_text(decision.request.principal)}.",
        )
    )


def _wrong_name(decision: Decision, others: Iterable[AclBinding]) -> Cause | None:
    asked = decision.request.principal
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


def _wrong_host(decision: Decision, elsewhere: Iterable[AclBinding]) -> Cause | None:
    binding = next(iter(elsewhere), None)
    if binding is None:
        return None
    asked, written = decision.request.host, binding.host
    text = f"The ACL is for {written}, asked from {asked}"
    if "/" in written and not decision.settings.cidr_hosts:
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


def _anonymous(decision: Decision) -> Cause | None:
    if decision.request.principal != ANONYMOUS:
        return None
    return Cause(
        "anonymous",
        f"Plaintext listener, host {decision.request.host}",
        f"The client at {decision.request.host} has no name: it uses a listener without "
        "authentication. Give the client a login, or close that listener. An ACL for User:ANONYMOUS would open the "
        "resource to everybody who can reach that listener.",
    )


def _group_missing(decision: Decision, index: AclIndex) -> Cause | None:
    request = decision.request
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


def _other_operation(decision: Decision) -> Cause | None:
    near = next(
        (
            finding.binding
            for finding in decision.findings
            if finding.why_not == ("operation",) and finding.binding.permission_type is PermissionType.ALLOW
        ),
        None,
    )
    if near is None:
        return None
    return Cause("operation", "Another operation is allowed", f"{acl_text(near)}, and nothing more.", near)
