"""Which parts of an ACL fit a request, and which other ACLs came near?

An ACL settles a request for one resource if all its parts fit: resource type, pattern,
principal, host, operation and permission. A near miss is an ACL that would have helped
(or, for an allowed request, refused) if its crossed parts had been otherwise. Those that
cover the resource come from the decision's findings. Beside them are ACLs for this very
principal, host and operation whose pattern nearly covers the name (another case, one letter,
an asterisk taken for a glob, a prefix that is too long, a name without its prefix) or
covers the name among resources of another type.
"""

from __future__ import annotations

import heapq
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice

from aclweb.acl.authorizer.answers import Basis, Result, for_operation
from aclweb.acl.authorizer.decision import Decision
from aclweb.acl.authorizer.findings import Finding, fits_operation
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.matching import (
    comes_from,
    covers_name,
    glob_shape,
    is_for,
    matching_of,
    names_an_interface,
    read_address,
    read_range,
)
from aclweb.acl.model import (
    ANY_USER,
    NOUNS,
    WILDCARD,
    WORDS,
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    acl_text,
    everyone_or,
    from_host,
    name_text,
    resource_text,
    resources_of,
    split_principal,
)

NEAR_MISSES_SHOWN = 50
"""A resource may have a hundred thousand ACLs; nobody reads more near misses than this."""

OWN_ACLS_TRIED = 20_000
"""How many of a session's own ACLs are looked at for a pattern that nearly covers the name."""

PARTS = ("type", "pattern", "principal", "host", "operation", "permission")
"""The parts of an ACL in the order of its ticks."""

_DELIMITERS = ".-_:/"
_SHORTEST = 3
"""Among shorter names every two are alike, so one letter more or less says nothing."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Whether one part of a binding (one of `PARTS`) fits the request, and why or why not."""

    part: str
    matches: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A binding that would have counted if its crossed parts had been otherwise."""

    binding: AclBinding
    ticks: tuple[Tick, ...]
    sentence: str

    def as_dict(self) -> dict[str, object]:
        return {
            "acl": self.binding.as_dict(),
            "ticks": [
                {"part": tick.part, "matches": tick.matches, "sentence": tick.sentence} for tick in self.ticks
            ],
            "sentence": self.sentence,
        }


def near_misses(decision: Decision) -> tuple[NearMiss, ...]:
    """Return what nearly applied: fewest crosses first, of these the session's own ones first."""
    if decision.basis is Basis.SUPER_USER:
        return ()
    wanted = PermissionType.DENY if decision.allowed else PermissionType.ALLOW
    others = decision.findings.of_others(NEAR_MISSES_SHOWN, deny=decision.allowed)
    findings = (
        finding
        for finding in chain(decision.findings.own, others)
        if not finding.counted and finding.binding.permission_type is wanted
    )
    beside = (
        Finding(binding, False, (part,)) for part, _, binding in sorted(_beside(decision, wanted), key=_rank)
    )
    nearest = heapq.nsmallest(NEAR_MISSES_SHOWN, chain(findings, beside), key=_distance)
    return tuple(_near_miss(finding, decision) for finding in nearest)


def ticks(binding: AclBinding, decision: Decision) -> tuple[Tick, ...]:
    """Return for each part of the binding whether it fits the request, in the order of `PARTS`.

    Of a question about one resource that ACLs settled, the settling ones are exactly those
    with all parts ticked.
    """
    request, settings = decision.request, decision.settings
    return (
        _type_tick(binding, request),
        _pattern_tick(binding, request, settings),
        _principal_tick(binding, request, settings),
        _host_tick(binding, request, settings),
        _operation_tick(binding, decision),
        _permission_tick(binding, decision),
    )


def fits(finding: Finding, decision: Decision) -> Mapping[str, bool]:
    """Return part -> whether it fits, for a binding that covers the resource: `ticks` without words."""
    fitting = dict.fromkeys(PARTS, True)
    for part in finding.why_not:
        fitting[part] = False
    fitting["permission"] = _permission_fits(finding.binding, decision)
    return fitting


# What did not cover the resource, and nearly did.


def _beside(decision: Decision, wanted: PermissionType) -> Iterator[tuple[str, tuple[int, int], AclBinding]]:
    """Yield (the one part that does not fit, how near it comes, binding) for what covers no such resource."""
    request, settings = decision.request, decision.settings
    name = request.resource_name
    if name is None or decision.result is Result.UNDECIDED:
        return
    for binding in _own(decision.index, request, settings):
        if binding.permission_type is wanted and _entry_fits(binding, request, settings):
            found = None if covers_name(binding, name, settings) else _nearness(binding, name)
            if found is not None:
                yield "pattern", (found[0], abs(len(binding.resource_name) - len(name))), binding
    for kind in ResourceType:
        shelf = decision.index.shelf(kind)
        if shelf is None or kind is request.resource_type:
            continue
        exactly = shelf.literals.get(name, ())
        under = (shelf.prefixed[place] for place in shelf.chain.places(name))
        globs = shelf.globs_covering(name, settings)
        for binding in islice(chain(exactly, *under, globs), OWN_ACLS_TRIED):
            own = binding.permission_type is wanted and is_for(binding.principal, request.principal, settings)
            if own and _entry_fits(binding, request, settings):
                yield "type", (0, len(name) - len(binding.resource_name)), binding


def _own(index: AclIndex, request: AccessRequest, settings: AuthorizerSettings) -> Iterable[AclBinding]:
    """Return the bindings of the type asked for that are for this session, up to a limit."""
    shelf = index.shelf(request.resource_type)
    if shelf is None:
        return ()
    principals = matching_of(settings).principals_for(request.principal, lambda: shelf.by_principal)
    # An ACL whose principal has no colon is for nobody.
    typed = (principal for principal in principals if split_principal(principal) is not None)
    own = chain.from_iterable(shelf.by_principal.get(principal, ()) for principal in typed)
    return islice(own, OWN_ACLS_TRIED)


def _entry_fits(binding: AclBinding, request: AccessRequest, settings: AuthorizerSettings) -> bool:
    return for_operation(binding, request.operation) and comes_from(binding.host, request.host, settings)


def _nearness(binding: AclBinding, name: str) -> tuple[int, str] | None:
    """Return how near a pattern that does not cover `name` comes to it (0 is nearest), and in what way."""
    own = binding.resource_name
    prefixed = binding.pattern_type is PatternType.PREFIXED
    if binding.pattern_type is PatternType.UNKNOWN:
        return None
    if binding.pattern_type is PatternType.GLOB:
        is_near = glob_shape(own.casefold()).matches(name.casefold())
        return (0, "upper and lower case count") if is_near else None
    if own == WILDCARD:
        if prefixed:
            return 5, "as a prefix * is a real asterisk, and only as LITERAL it matches every name"
        return 0, "this authorizer does not apply * to longer names that begin with an asterisk"
    if _same_start(own.casefold(), name.casefold(), prefixed):
        return 0, "upper and lower case count"
    if own.endswith(WILDCARD) and name.startswith(own[:-1]):
        return 1, f"the * in it is a real asterisk: say PREFIXED {name_text(own[:-1])} instead"
    if _same_start(own.strip(), name.strip(), prefixed):
        return 1, "white space counts"
    if not own.isascii() and _same_start(_composed(own), _composed(name), prefixed):
        return 1, "they look alike and are made of other characters"
    if not prefixed and own and name.startswith(own) and _parts_at(own, name):
        return 2, "it is LITERAL, so it is for that one name and not for those that start with it"
    if prefixed and name and own.startswith(name) and len(own) - len(name) <= _SHORTEST:
        return 2, f"the prefix is longer than the name by {own[len(name) :]!a}"
    if min(len(own), len(name)) >= _SHORTEST and _one_off(own, name, prefixed):
        return 3, "one character differs"
    return None


def _same_start(own: str, name: str, prefixed: bool) -> bool:
    return bool(own) and (name.startswith(own) if prefixed else name == own)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _parts_at(own: str, name: str) -> bool:
    """Whether `name` goes on after `own` with a new part: `orders.eu` after `orders` or `orders.`."""
    return own[-1] in _DELIMITERS or name[len(own)] in _DELIMITERS


def _one_off(own: str, name: str, prefixed: bool) -> bool:
    """Whether one letter put in, left out, changed or swapped makes the pattern cover the name."""
    if not prefixed and abs(len(own) - len(name)) > 1:
        return False
    # Whichever letters differ, those of one half are all there: most patterns are nowhere near, which this finds soon.
    half = len(own) // 2
    if not name.startswith(own[:half]) and own[half + 1 :] not in name:
        return False
    same = 0
    for mine, theirs in zip(own, name, strict=False):
        if mine != theirs:
            break
        same += 1
    for skipped, missing in ((1, 1), (1, 0), (0, 1)):
        if _same_rest(own[same + skipped :], name[same + missing :], prefixed):
            return True
    swapped = own[same : same + 2]
    return len(swapped) == 2 and _same_rest(swapped[::-1] + own[same + 2 :], name[same:], prefixed)


def _same_rest(own: str, name: str, prefixed: bool) -> bool:
    return name.startswith(own) if prefixed else name == own


def _rank(beside: tuple[str, tuple[int, int], AclBinding]) -> tuple[bool, tuple[int, int]]:
    part, nearness, _ = beside
    return part == "type", nearness


def _distance(finding: Finding) -> tuple[int, bool, bool, bool]:
    """Fewest crosses first; then the session's own bindings, and among those what covers the resource."""
    why_not = finding.why_not
    beside = "pattern" in why_not or "type" in why_not
    return len(why_not), "principal" in why_not, beside, "host" in why_not


# The ticks.


def _near_miss(finding: Finding, decision: Decision) -> NearMiss:
    parts = ticks(finding.binding, decision)
    crossed = [tick.sentence for tick in parts if not tick.matches]
    return NearMiss(finding.binding, parts, f"{acl_text(finding.binding)}. {' '.join(crossed)}")


def _type_tick(binding: AclBinding, request: AccessRequest) -> Tick:
    own, asked = NOUNS[binding.resource_type], NOUNS[request.resource_type]
    if binding.resource_type is request.resource_type:
        return Tick("type", True, f"It is about {own[1]}.")
    return Tick("type", False, f"It is about {own[1]}, and this is about a {asked[0]}.")


def _pattern_tick(binding: AclBinding, request: AccessRequest, settings: AuthorizerSettings) -> Tick:
    name = request.resource_name
    covered = resources_of(binding)
    if binding.pattern_type is PatternType.UNKNOWN:
        return Tick("pattern", False, f"It is for {covered}.")
    if name is None:
        one = NOUNS[request.resource_type][0]
        return Tick("pattern", True, f"It is for {covered}, and any one {one} would do.")
    if covers_name(binding, name, settings):
        if binding.resource_type is not request.resource_type:
            return Tick("pattern", True, f"Its pattern matches the name {name_text(name)}.")
        asked = resource_text(request.resource_type, name)
        return Tick("pattern", True, f"It matches {asked}: it is for {covered}.")
    near = _nearness(binding, name)
    reason = f"; {near[1]}" if near is not None else ""
    return Tick("pattern", False, f"It is for {covered}, not for {name_text(name)}{reason}.")


def _principal_tick(binding: AclBinding, request: AccessRequest, settings: AuthorizerSettings) -> Tick:
    own, asked = binding.principal, request.principal
    if is_for(own, asked, settings):
        return Tick("principal", True, f"It is for {everyone_or(own)}.")
    sentence = f"It is for {name_text(own)}, not for {name_text(asked)}"
    if split_principal(own) is None:
        sentence += ", and without a colon it is for nobody"
    elif own.lower() == asked.lower():
        sentence += "; upper and lower case count"
    elif own.endswith(WILDCARD) and not matching_of(settings).is_principal_glob(own):
        sentence += f"; only {ANY_USER} is a wildcard"
    return Tick("principal", False, f"{sentence}.")


def _host_tick(binding: AclBinding, request: AccessRequest, settings: AuthorizerSettings) -> Tick:
    own, asked = binding.host, request.host
    if comes_from(own, asked, settings):
        return Tick("host", True, f"It is for requests {from_host(own)}.")
    sentence = f"It is for requests {from_host(own)}, and this one comes from {name_text(asked)}"
    own_address, asked_address = read_address(own), read_address(asked)
    matching = matching_of(settings)
    if "/" in own:
        if not matching.reads_ranges:
            sentence += "; this Kafka reads no address ranges, so it matches nobody"
        elif read_range(own) is None and names_an_interface(own):
            sentence += "; it names a network interface, so only a broker that has that one reads it"
        elif read_range(own) is None:
            sentence += "; Kafka cannot read this range, so it matches nobody"
    elif own_address is not None and own_address == asked_address:
        sentence += "; it is the same address written differently, and brokers compare the text"
    elif own_address is None and not matching.is_host_glob(own):
        sentence += "; brokers compare addresses, never host names"
    return Tick("host", False, f"{sentence}.")


def _operation_tick(binding: AclBinding, decision: Decision) -> Tick:
    own, asked = binding.operation, decision.request.operation
    matches = fits_operation(binding, decision.request, decision.settings)
    if own is Operation.ALL:
        return Tick("operation", True, "It is about every operation.")
    if own is asked:
        return Tick("operation", True, f"It is about {WORDS[own]}.")
    if matches:
        return Tick("operation", True, f"It is about {WORDS[own]}, which brings {WORDS[asked]} with it.")
    sentence = f"It is about {WORDS[own]}, not about {WORDS[asked]}"
    if for_operation(binding, asked):
        sentence += ", and asked about a whole type Kafka lets no operation bring another with it"
    elif binding.is_deny and asked is Operation.DESCRIBE:
        sentence += "; a DENY matches no other operation"
    return Tick("operation", False, f"{sentence}.")


def _permission_fits(binding: AclBinding, decision: Decision) -> bool:
    if binding.permission_type is PermissionType.ALLOW:
        return decision.basis is not Basis.DENY_ACL
    return binding.permission_type is PermissionType.DENY


def _permission_tick(binding: AclBinding, decision: Decision) -> Tick:
    matches = _permission_fits(binding, decision)
    if binding.is_deny:
        sentence = "It denies, and a DENY wins over every ALLOW."
    elif binding.permission_type is not PermissionType.ALLOW:
        sentence = "aclweb does not know whether it allows or denies."
    else:
        sentence = (
            "It allows." if matches else "It allows, but this is denied, and a DENY wins over every ALLOW."
        )
    return Tick("permission", matches, sentence)
