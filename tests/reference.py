"""Kafka's decision, written to be believed: loops over all bindings, and nothing is filed.

It shares no code with the index, the authorizer or the what-if. Patterns, hosts and
operations are compared as the two engines do, quirks included, and as the GLOB proposal
would have it; names are the words that Kafka prints. It knows no UNKNOWN values;
`readings_of` lists what they may turn out to be.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AccessRequest, AclBinding, Operation, PatternType, PermissionType

IMPLIES = {
    "DESCRIBE": {"READ", "WRITE", "DELETE", "ALTER"},
    "DESCRIBE_CONFIGS": {"ALTER_CONFIGS"},
}


def allows(request: AccessRequest, bindings: Iterable[AclBinding], settings: AuthorizerSettings) -> bool:
    return answer(request, bindings, settings)[0] == "ALLOWED"


def answer(
    request: AccessRequest, bindings: Iterable[AclBinding], settings: AuthorizerSettings
) -> tuple[str, str]:
    """Return (result, basis) for a question about one resource or a whole type."""
    bindings = list(bindings)
    if request.principal in settings.super_users:
        return "ALLOWED", "SUPER_USER"
    if request.resource_name is None:
        return _answer_by_type(request, bindings, settings)
    return _answer_for_name(request, request.resource_name, bindings, settings)


def covers(binding: AclBinding, resource_type: object, name: str, settings: AuthorizerSettings) -> bool:
    if binding.resource_type is not resource_type:
        return False
    pattern = binding.resource_name
    if binding.pattern_type is PatternType.LITERAL:
        if pattern == name:
            return True
        if pattern != "*":
            return False
        longer_and_starred = name.startswith("*") and name != "*"
        return settings.authorizer != "standard" or not longer_and_starred
    if binding.pattern_type is PatternType.PREFIXED:
        if pattern == "" and settings.authorizer == "acl":
            return name == ""
        return name.startswith(pattern)
    if binding.pattern_type is PatternType.GLOB and settings.authorizer == "glob":
        return pattern == "" or _glob_matches(pattern, name)
    raise AssertionError("the reference knows LITERAL, PREFIXED and, for glob, GLOB only")


def matches_entry(binding: AclBinding, request: AccessRequest, settings: AuthorizerSettings) -> bool:
    return (
        _matches_principal(binding, request, settings)
        and _matches_host(binding.host, request.host, settings)
        and _matches_operation(binding, request)
    )


def reported(
    request: AccessRequest, bindings: Iterable[AclBinding], settings: AuthorizerSettings
) -> AclBinding | None:
    """The binding that KRaft's authorizer names in its log, None where it names a default.

    It walks over the bindings in its own order twice: over the names up to the one asked
    for, and from the literal asterisk on. It stops at the first DENY; without one it ends
    with the last ALLOW that it met.
    """
    if request.principal in settings.super_users or request.resource_name is None:
        return None
    name = request.resource_name
    order = sorted({b for b in bindings if b.resource_type is request.resource_type}, key=_entry_order)
    order.sort(key=lambda b: _units(b.resource_name), reverse=True)
    up_to_name: list[AclBinding] = []
    leaps = False
    for b in order:
        if _units("*") < _units(b.resource_name) < _units(name):
            leaps = leaps or _units(b.resource_name)[:2] != _units(name)[:2]
        if _units(b.resource_name) <= _units(name) and not (leaps and _is_wildcard(b)):
            up_to_name.append(b)
    from_asterisk = [b for b in order if _units(b.resource_name) <= _units("*")]
    last = None
    for b in [*up_to_name, *from_asterisk]:
        if covers(b, request.resource_type, name, settings) and matches_entry(b, request, settings):
            if b.permission_type is PermissionType.DENY:
                return b
            last = b
    return last


def readings_of(binding: AclBinding) -> list[AclBinding | None]:
    """Everything that a binding with unknown values can turn out to be; None for nothing at all."""
    permissions = [binding.permission_type]
    if binding.permission_type is PermissionType.UNKNOWN:
        permissions = [PermissionType.ALLOW, PermissionType.DENY]
    found: list[AclBinding | None] = []
    for permission in permissions:
        known = replace(binding, permission_type=permission)
        if binding.operation is Operation.UNKNOWN:
            # Some operation that is none of ours; an ALLOW of it may imply the one asked for.
            implying = Operation.ALL if permission is PermissionType.ALLOW else Operation.TWO_PHASE_COMMIT
            others = [Operation.TWO_PHASE_COMMIT, implying]
            versions = [replace(known, operation=operation) for operation in others]
        else:
            versions = [known]
        if binding.pattern_type is PatternType.UNKNOWN:
            found.append(None)
            versions = [replace(v, pattern_type=PatternType.LITERAL, resource_name="*") for v in versions]
        found.extend(versions)
    return found


def _entry_order(b: AclBinding) -> tuple[object, ...]:
    return (
        b.pattern_type.value,
        b.operation.value,
        _units(b.principal),
        _units(b.host),
        b.permission_type.value,
    )


def _units(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _answer_for_name(
    request: AccessRequest, name: str, bindings: list[AclBinding], settings: AuthorizerSettings
) -> tuple[str, str]:
    covering = [b for b in bindings if covers(b, request.resource_type, name, settings)]
    if not covering:
        return ("ALLOWED", "DEFAULT_ALLOW") if settings.allow_everyone else ("DENIED", "DEFAULT_DENY")
    for b in covering:
        if b.permission_type is PermissionType.DENY and matches_entry(b, request, settings):
            return "DENIED", "DENY_ACL"
    for b in covering:
        if b.permission_type is PermissionType.ALLOW and matches_entry(b, request, settings):
            return "ALLOWED", "ALLOW_ACL"
    return "DENIED", "NO_ALLOW_ACL"


@lru_cache(maxsize=20_000)
def _glob_matches(glob: str, text: str) -> bool:
    """Whether `*` and `?` in a glob can stand for something that makes it the text."""
    pieces = [re.escape(piece).replace(r"\?", ".") for piece in re.sub(r"\*+", "*", glob).split("*")]
    return re.fullmatch(".*".join(pieces), text, re.DOTALL) is not None


def _matches_principal(binding: AclBinding, request: AccessRequest, settings: AuthorizerSettings) -> bool:
    if ":" not in binding.principal:
        return False
    if binding.principal in ("User:*", request.principal):
        return True
    if settings.authorizer != "glob" or ":" not in request.principal:
        return False
    own, asked = binding.principal.split(":", 1), request.principal.split(":", 1)
    return _glob_matches(own[0], asked[0]) and _glob_matches(own[1], asked[1])


def _matches_host(acl_host: str, host: str, settings: AuthorizerSettings) -> bool:
    if acl_host in ("*", host):
        return True
    if settings.authorizer == "glob" and _glob_matches(acl_host, host):
        return True
    if "/" not in acl_host or settings.authorizer == "acl" or settings.kafka_version != "4.4":
        return False
    return _lies_in_range(acl_host, host)


# Tests ask about few hosts, very often.
@lru_cache(maxsize=20_000)
def _lies_in_range(acl_host: str, host: str) -> bool:
    try:
        start, length = _range_of(acl_host)
        session = type(start)(host.partition("%")[0])
    except ValueError:
        return False
    shift = start.max_prefixlen - length
    return (
        0 <= shift <= start.max_prefixlen
        and int(start) >> shift == int(session) >> shift
        and session != ipaddress.IPv4Address(0)
    )


def _range_of(acl_host: str) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]:
    """The address and the prefix length of a range as Kafka 4.4 reads it; ValueError for any other text."""
    if ":" not in acl_host:
        if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9]{1,2}", acl_host):
            raise ValueError(acl_host)
        octets, _, digits = acl_host.partition("/")
        return ipaddress.IPv4Address(".".join(str(int(octet)) for octet in octets.split("."))), int(digits)
    text, _, digits = acl_host.partition("/")
    found = re.fullmatch(r"(\[?)(?P<address>[^\[\]%]+)(%[0-9]+)?(\]?)", text)
    if not found or (found[1] == "[") != (found[4] == "]") or not re.fullmatch(r"[+-]?\d+", digits):
        raise ValueError(acl_host)
    address = ipaddress.IPv6Address(found["address"])
    if address.ipv4_mapped is not None or max(digits) > "\uffff":
        raise ValueError(acl_host)
    return address, int(digits)


def _matches_operation(binding: AclBinding, request: AccessRequest) -> bool:
    if binding.operation in (Operation.ALL, request.operation):
        return True
    return binding.permission_type is PermissionType.ALLOW and binding.operation.name in IMPLIES.get(
        request.operation.name, set()
    )


def _answer_by_type(
    request: AccessRequest, bindings: list[AclBinding], settings: AuthorizerSettings
) -> tuple[str, str]:
    of_type = [b for b in bindings if b.resource_type is request.resource_type]
    mine = [
        b
        for b in of_type
        if _matches_principal(b, request, settings)
        and _matches_host(b.host, request.host, settings)
        and b.operation in (Operation.ALL, request.operation)
    ]
    allows = [b for b in mine if b.permission_type is PermissionType.ALLOW]
    denies = [b for b in mine if b.permission_type is PermissionType.DENY]
    if denies:
        refusal = "DENIED", "DENY_ACL"
    elif of_type:
        refusal = "DENIED", "NO_ALLOW_ACL"
    else:
        refusal = "DENIED", "DEFAULT_DENY"

    if settings.authorizer != "acl":
        first = _answer_for_name(request, "hardcode", bindings, settings)
        if first[0] == "ALLOWED":
            return first
    if any(_is_wildcard(b) for b in denies):
        return refusal
    if settings.authorizer == "acl" and settings.allow_everyone:
        return "ALLOWED", "DEFAULT_ALLOW"
    if settings.authorizer == "glob":
        reaching = [b for b in allows if not any(_swallows(deny, b) for deny in denies)]
        return ("ALLOWED", "ALLOW_ACL") if reaching else refusal
    for b in allows:
        if _is_wildcard(b) or not any(_dominates(deny, b) for deny in denies):
            return "ALLOWED", "ALLOW_ACL"
    return refusal


def _swallows(deny: AclBinding, allow: AclBinding) -> bool:
    """Whether a DENY covers every name that an ALLOW covers, under the GLOB proposal.

    Walks over the sets of places at which one can stand in both at once, as a textbook does.
    """
    wide, narrow = _letters(deny), _letters(allow)
    alphabet = {token[1] for token in wide + narrow if token[0] == "letter"} | {"\U0010fffd"}
    waiting = [(_stay(narrow, {0}), _stay(wide, {0}))]
    seen = set(waiting)
    while waiting:
        inside, outside = waiting.pop()
        if len(narrow) in inside and len(wide) not in outside:
            return False
        for letter in alphabet:
            step = _step(narrow, inside, letter), _step(wide, outside, letter)
            if step[0] and step not in seen:
                seen.add(step)
                waiting.append(step)
    return True


def _letters(b: AclBinding) -> list[tuple[str, str]]:
    """A pattern as tokens: a letter, any one letter, or any run of letters."""
    name, kind = b.resource_name, b.pattern_type.name
    if kind == "LITERAL":
        return [("run", "")] if name == "*" else [("letter", letter) for letter in name]
    if kind == "PREFIXED":
        return [*(("letter", letter) for letter in name), ("run", "")]
    kinds = {"*": "run", "?": "any"}
    return [(kinds.get(letter, "letter"), letter) for letter in name or "*"]


def _stay(tokens: list[tuple[str, str]], places: set[int]) -> frozenset[int]:
    """The places, and those behind a run that may be empty."""
    found = set(places)
    for place, (kind, _) in enumerate(tokens):
        if kind == "run" and place in found:
            found.add(place + 1)
    return frozenset(found)


def _step(tokens: list[tuple[str, str]], places: frozenset[int], letter: str) -> frozenset[int]:
    after: set[int] = set()
    for place in places:
        if place < len(tokens):
            kind, own = tokens[place]
            if kind == "run":
                after.add(place)
            elif kind == "any" or own == letter:
                after.add(place + 1)
    return _stay(tokens, after)


def _is_wildcard(b: AclBinding) -> bool:
    return b.pattern_type is PatternType.LITERAL and b.resource_name == "*"


def _dominates(deny: AclBinding, allow: AclBinding) -> bool:
    if deny.pattern_type is PatternType.LITERAL:
        return allow.pattern_type is PatternType.LITERAL and deny.resource_name == allow.resource_name
    # Kafka lengthens the name letter by letter and so never tries the empty prefix.
    return deny.resource_name != "" and allow.resource_name.startswith(deny.resource_name)
