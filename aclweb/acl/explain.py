"""Say in English why a request is allowed or refused, how near it came, and what would turn it.

Everything is read off a `Decision`, whose findings hold every binding that covers the
resource; so an explanation needs no index and cannot disagree with the answer. Pages, API
answers and audit entries all take their reasons from here, in the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from aclweb.acl.authorizer import (
    BELOW_ASTERISK,
    STAR_PRINCIPAL,
    UNPARSABLE_PRINCIPAL,
    Basis,
    Decision,
    Finding,
    Result,
    authorize,
)
from aclweb.acl.hosts import read_address, read_range
from aclweb.acl.index import AclIndex, in_scan_order
from aclweb.acl.model import (
    ANY_USER,
    CLUSTER_NAME,
    WILDCARD,
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    split_principal,
)
from aclweb.acl.patterns import code_units
from aclweb.acl.profiles import Rules

NEAR_MISSES_SHOWN = 50
"""A resource may have a hundred thousand ACLs; nobody reads more near misses than this."""

REMOVALS_TRIED = 100
"""Beyond this many bindings no smallest removal is looked for in a question by type."""

SENTENCES_SHOWN = 3
"""How many bindings of one kind `Explanation.sentences` spells out before it counts the rest."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One of the questions that Kafka asks in turn; exactly one of them decides."""

    name: str
    sentence: str
    decides: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """Whether one part of a binding fits the request: "principal", "host", "operation" or "resource"."""

    part: str
    matches: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A binding that would have counted if its crossed parts had been otherwise."""

    binding: AclBinding
    ticks: tuple[Tick, ...]
    sentence: str


@dataclass(frozen=True)
class Explanation:
    """Why the answer is what it is.

    near_misses: ALLOWs that nearly applied to a refused request, or DENYs that nearly
    applied to an allowed one; fewest crosses first.
    smallest_fix: the narrowest single ACL that would allow a refused request.
    smallest_removals: the fewest bindings whose removal turns the result. With
    `fix_after_removals`, removing them is not enough and that ACL is needed too.
    broker_rule: what the broker's own log would name, `{"rule", "acl"}`; None where its
    log names none. Every fix and removal was checked by deciding again.
    """

    verdict: str
    sentence: str
    gates: tuple[Gate, ...]
    near_misses: tuple[NearMiss, ...]
    smallest_fix: AclBinding | None
    smallest_removals: tuple[AclBinding, ...]
    broker_rule: dict[str, object] | None
    caveats: tuple[str, ...]
    sentences: tuple[str, ...]
    fix_after_removals: AclBinding | None = None


def explain(decision: Decision) -> Explanation:
    """Return the reasons of a decision, in the order in which a person asks for them."""
    near_misses = _near_misses(decision)
    fix = _smallest_fix(decision)
    removals, fix_after = _smallest_removals(decision)
    caveats = _caveats(decision)
    sentence = _sentence(decision)
    sentences = [sentence]
    sentences += _because(decision)
    sentences += _no_precedence(decision)
    if not (decision.basis is Basis.DENY_ACL and _counted_allows(decision)):
        sentences += [f"Nearly: {miss.sentence}" for miss in near_misses[:SENTENCES_SHOWN]]
    sentences += _ways_out(decision, fix, removals, fix_after)
    sentences += caveats
    return Explanation(
        verdict=VERDICTS[decision.result],
        sentence=sentence,
        gates=_gates(decision),
        near_misses=near_misses,
        smallest_fix=fix,
        smallest_removals=removals,
        broker_rule=broker_rule(decision),
        caveats=tuple(caveats),
        sentences=tuple(sentences),
        fix_after_removals=fix_after,
    )


def says(binding: AclBinding) -> str:
    """Return one binding as a sentence without a full stop."""
    who = everyone_or(binding.principal)
    what = f"{ACTIONS[binding.operation]} {resources_of(binding)} {_from(binding.host)}"
    if binding.permission_type is PermissionType.ALLOW:
        return f"Allow {who} to {what}"
    if binding.permission_type is PermissionType.DENY:
        return f"Deny {who} the right to {what}"
    return f"Allow or deny (aclweb does not know which) {who} to {what}"


def everyone_or(principal: str) -> str:
    """Return `everyone` for `User:*`, and any other principal as it is written."""
    return "everyone" if principal == ANY_USER else name_text(principal)


def resources_of(binding: AclBinding) -> str:
    """Return what a binding's pattern covers: `every topic`, `topics that start with pay`."""
    one, many = NOUNS[binding.resource_type]
    name = binding.resource_name
    if binding.pattern_type is PatternType.PREFIXED:
        if not name:
            return f"{many} whose name starts with nothing in particular"
        asterisk = " (a real asterisk)" if name == WILDCARD else ""
        return f"{many} that start with {name_text(name)}{asterisk}"
    if binding.pattern_type is not PatternType.LITERAL:
        return f"{many} that match {name_text(name)} in a way that aclweb does not know"
    if name == WILDCARD:
        return "the cluster" if binding.resource_type is ResourceType.CLUSTER else f"every {one}"
    return resource_text(binding.resource_type, name)


def resource_text(resource_type: ResourceType, name: str) -> str:
    """Return one resource as a person names it: `topic orders`, `the cluster`."""
    if resource_type is ResourceType.CLUSTER and name == CLUSTER_NAME:
        return "the cluster"
    return f"{NOUNS[resource_type][0]} {name_text(name)}"


def name_text(text: str) -> str:
    """Return a name as it is, or in quotes with escapes where a reader could not see it otherwise."""
    return text if _PLAIN.match(text) else ascii(text)


def broker_rule(decision: Decision) -> dict[str, object] | None:
    """Return the rule that KRaft's authorizer would write to its log; None where it names none."""
    if (
        not decision.rules.logs_its_rule
        or decision.request.resource_name is None
        or decision.result is Result.UNDECIDED
    ):
        return None
    if decision.basis is Basis.SUPER_USER:
        return {"rule": "SuperUser", "acl": None}
    if decision.basis is Basis.DEFAULT_ALLOW:
        return {"rule": "DefaultAllow", "acl": None}
    if decision.basis in (Basis.DEFAULT_DENY, Basis.NO_ALLOW_ACL):
        return {"rule": "DefaultDeny", "acl": None}
    met = _scan(decision.determining, decision.request.resource_name)
    # The scan stops at the first DENY; without one it remembers the last ALLOW it met.
    reported = met[0] if decision.basis is Basis.DENY_ACL else met[-1]
    return {"rule": "MatchingAcl", "acl": reported.as_dict()}


VERDICTS: Mapping[Result, str] = {
    Result.ALLOWED: "Yes, allowed",
    Result.DENIED: "No, refused",
    Result.UNDECIDED: "Cannot tell",
}

ACTIONS: Mapping[Operation, str] = {
    Operation.UNKNOWN: "do something that aclweb does not know with",
    Operation.ANY: "do any one thing with",
    Operation.ALL: "do anything with",
    Operation.READ: "Read",
    Operation.WRITE: "Write to",
    Operation.CREATE: "Create",
    Operation.DELETE: "Delete",
    Operation.ALTER: "Alter",
    Operation.DESCRIBE: "Describe",
    Operation.CLUSTER_ACTION: "take cluster actions (as brokers do) on",
    Operation.DESCRIBE_CONFIGS: "Describe the configs of",
    Operation.ALTER_CONFIGS: "Alter the configs of",
    Operation.IDEMPOTENT_WRITE: "Write idempotently to",
    Operation.CREATE_TOKENS: "Create tokens for",
    Operation.DESCRIBE_TOKENS: "Describe the tokens of",
    Operation.TWO_PHASE_COMMIT: "use two-phase commit with",
}

WORDS: Mapping[Operation, str] = {
    operation: operation.name.replace("_", " ").capitalize() for operation in Operation
}
"""Operations as nouns in a sentence: `Read`, `Describe configs`."""

NOUNS: Mapping[ResourceType, tuple[str, str]] = {
    ResourceType.UNKNOWN: ("resource of an unknown type", "resources of an unknown type"),
    ResourceType.ANY: ("resource", "resources"),
    ResourceType.TOPIC: ("topic", "topics"),
    ResourceType.GROUP: ("group", "groups"),
    ResourceType.CLUSTER: ("cluster", "clusters"),
    ResourceType.TRANSACTIONAL_ID: ("transactional id", "transactional ids"),
    ResourceType.DELEGATION_TOKEN: ("delegation token", "delegation tokens"),
    ResourceType.USER: ("user", "users"),
}

_PLAIN = re.compile(r"[^\W_](?:[\w.:/@=,+*-]*[\w.:/@=+*-])?\Z|[*_+-][\w.:/@=,+*-]*\Z")


def _question(request: AccessRequest) -> str:
    if request.resource_name is None:
        one = NOUNS[request.resource_type][0]
        return f"{ACTIONS[request.operation]} at least one {one} from {name_text(request.host)}"
    resource = resource_text(request.resource_type, request.resource_name)
    return f"{ACTIONS[request.operation]} {resource} from {name_text(request.host)}"


def _resource(request: AccessRequest) -> str:
    if request.resource_name is None:
        return f"any {NOUNS[request.resource_type][0]}"
    return resource_text(request.resource_type, request.resource_name)


def _sentence(decision: Decision) -> str:
    request = decision.request
    who = name_text(request.principal)
    question = _question(request)
    may, may_not = f"{who} may {question}", f"{who} may not {question}"
    count = len(decision.findings)
    if decision.basis is Basis.SUPER_USER:
        return f"{may}: {who} is a super user, and for super users no ACL is looked at."
    if decision.basis is Basis.ALLOW_ACL:
        allows = _number(len(decision.determining), "ACL allows", "ACLs allow")
        return f"{may}: {allows} it{' and none denies it' if request.resource_name is not None else ''}."
    if decision.basis is Basis.DENY_ACL:
        return (
            f"{may_not}: {_number(len(decision.determining), 'ACL denies', 'ACLs deny')} it, "
            "and a DENY wins over every ALLOW."
        )
    if decision.basis is Basis.NO_ALLOW_ACL:
        covers = _number(count, "ACL covers", "ACLs cover")
        none = "it does not allow this" if count == 1 else "none of them allows this"
        return f"{may_not}: {covers} {_resource(request)}, and {none}."
    if decision.basis is Basis.DEFAULT_ALLOW:
        if request.resource_name is None:
            return f"{may}: this cluster allows everyone where no ACL exists, and that settles it."
        return f"{may}: no ACL covers {_resource(request)}, and this cluster allows everyone there."
    if decision.basis is Basis.DEFAULT_DENY:
        return f"{may_not}: no ACL covers {_resource(request)}, and then this cluster refuses."
    return (
        f"Whether {may} cannot be told: the answer hangs on ACLs with values that this version of "
        "aclweb does not know, written by a newer Kafka."
    )


def _because(decision: Decision) -> list[str]:
    """The bindings that settled it, spelled out, and the operation that implied the one asked for."""
    if decision.basis is Basis.UNKNOWN_VALUE:
        unknown = [finding.binding for finding in decision.findings if finding.binding.has_unknown]
        return _spelled([*unknown, *decision.unknowns], "The unknown part is in: {}.")
    if decision.basis not in (Basis.ALLOW_ACL, Basis.DENY_ACL):
        return []
    sentences = _spelled(decision.determining, "The ACL says: {}.")
    asked = decision.request.operation
    if decision.basis is Basis.ALLOW_ACL:
        implying = {binding.operation for binding in decision.determining} - {asked, Operation.ALL}
        if implying and len(implying) == len({b.operation for b in decision.determining}):
            givers = " or ".join(sorted(WORDS[operation] for operation in implying))
            sentences.append(f"In Kafka, being allowed to {givers} brings {WORDS[asked]} with it.")
    return sentences


def _spelled(bindings: Sequence[AclBinding], template: str) -> list[str]:
    sentences = [template.format(says(binding)) for binding in bindings[:SENTENCES_SHOWN]]
    rest = len(bindings) - SENTENCES_SHOWN
    if rest > 0:
        sentences.append(f"{_number(rest, 'more ACL says', 'more ACLs say')} the same.")
    return sentences


def _no_precedence(decision: Decision) -> list[str]:
    """Say that a longer or exact name never wins, where a reader could think that it should."""
    if decision.basis is not Basis.DENY_ACL:
        return []
    allows = _counted_allows(decision)
    denies = decision.determining
    if not allows:
        return []
    closest_allow, closest_deny = max(allows, key=_closeness), max(denies, key=_closeness)
    if _closeness(closest_allow) <= _closeness(closest_deny):
        return []
    return [
        f"The ALLOW for {resources_of(closest_allow)} names the resource more exactly than the DENY for "
        f"{resources_of(closest_deny)}, but in Kafka a longer or exact name never wins: any DENY does."
    ]


def _counted_allows(decision: Decision) -> list[AclBinding]:
    return [
        finding.binding
        for finding in decision.findings
        if finding.counted and finding.binding.permission_type is PermissionType.ALLOW
    ]


def _closeness(binding: AclBinding) -> tuple[bool, int]:
    """How exactly a pattern names what it covers; only people care, Kafka does not."""
    exact = binding.pattern_type is PatternType.LITERAL and binding.resource_name != WILDCARD
    return exact, 0 if binding.pattern.is_wildcard else len(binding.resource_name)


def _gates(decision: Decision) -> tuple[Gate, ...]:
    request, rules, basis = decision.request, decision.rules, decision.basis
    who = name_text(request.principal)
    counted = [finding.binding for finding in decision.findings if finding.counted]
    denies = [binding for binding in counted if binding.is_deny]
    allows = [binding for binding in counted if binding.permission_type is PermissionType.ALLOW]
    covering = len(decision.findings)

    is_super = request.principal in rules.super_users
    named = "is one of" if is_super else "is not among"
    declared = "declared" if "super_users" not in rules.undeclared else "assumed"
    super_gate = Gate("super user", f"{who} {named} the {declared} super users.", basis is Basis.SUPER_USER)
    deny_gate = Gate(
        "deny rules",
        f"{_number(len(denies), 'DENY matches', 'DENYs match')} this request."
        if denies
        else "No DENY matches this request.",
        basis is Basis.DENY_ACL,
    )
    if allows:
        allow_sentence = f"{_number(len(allows), 'ALLOW matches', 'ALLOWs match')} this request."
    elif covering:
        among = "it is no ALLOW that matches" if covering == 1 else "no ALLOW among them matches"
        allow_sentence = (
            f"{_number(covering, 'ACL covers', 'ACLs cover')} {_resource(request)}, but {among} this request."
        )
    else:
        allow_sentence = f"No ACL covers {_resource(request)}."
    allow_gate = Gate("allow rules", allow_sentence, basis in (Basis.ALLOW_ACL, Basis.NO_ALLOW_ACL))

    assumed = ", as far as anybody declared" if "allow_everyone" in rules.undeclared else ""
    default = "everyone is allowed" if rules.allow_everyone else "everyone is refused"
    applies = basis in (Basis.DEFAULT_ALLOW, Basis.DEFAULT_DENY)
    silent = "" if applies else "; this resource has ACLs, so that does not apply" if covering else ""
    default_gate = Gate("default", f"Where no ACL exists, {default}{assumed}{silent}.", applies)
    gates = (super_gate, deny_gate, allow_gate, default_gate)
    if basis is not Basis.UNKNOWN_VALUE:
        return gates
    unknown = Gate("unknown values", "ACLs hold values that aclweb does not know; they could decide.", True)
    return (*gates, unknown)


def _near_misses(decision: Decision) -> tuple[NearMiss, ...]:
    if decision.basis is Basis.SUPER_USER:
        return ()
    wanted = PermissionType.DENY if decision.allowed else PermissionType.ALLOW
    misses = [
        finding
        for finding in decision.findings
        if not finding.counted and finding.binding.permission_type is wanted
    ]
    misses.sort(key=_distance)
    return tuple(_near_miss(finding, decision) for finding in islice(misses, NEAR_MISSES_SHOWN))


def _distance(finding: Finding) -> tuple[int, bool, bool]:
    """Fewest crosses first; then the caller's own bindings, and among those the right host."""
    return len(finding.why_not), "principal" in finding.why_not, "host" in finding.why_not


def _near_miss(finding: Finding, decision: Decision) -> NearMiss:
    request, rules = decision.request, decision.rules
    binding = finding.binding
    ticks = (
        _principal_tick(binding, request, "principal" not in finding.why_not),
        _host_tick(binding, request, rules, "host" not in finding.why_not),
        _operation_tick(binding, request, "operation" not in finding.why_not),
        _resource_tick(binding, request),
    )
    crossed = [tick.sentence for tick in ticks if not tick.matches]
    return NearMiss(binding, ticks, f"{says(binding)}. {' '.join(crossed)}")


def _principal_tick(binding: AclBinding, request: AccessRequest, matches: bool) -> Tick:
    if matches:
        return Tick("principal", True, f"It is for {everyone_or(binding.principal)}.")
    own, asked = binding.principal, request.principal
    sentence = f"It is for {name_text(own)}, not for {name_text(asked)}"
    if split_principal(own) is None:
        sentence += ", and without a colon it is for nobody"
    elif own.lower() == asked.lower():
        sentence += "; upper and lower case count"
    elif own.endswith(WILDCARD):
        sentence += f"; only {ANY_USER} is a wildcard"
    return Tick("principal", False, f"{sentence}.")


def _host_tick(binding: AclBinding, request: AccessRequest, rules: Rules, matches: bool) -> Tick:
    own, asked = binding.host, request.host
    if matches:
        return Tick("host", True, f"It is for requests {_from(own)}.")
    sentence = f"It is for requests {_from(own)}, and this one comes from {name_text(asked)}"
    own_address, asked_address = read_address(own), read_address(asked)
    if "/" in own:
        if not rules.cidr_hosts:
            sentence += "; this Kafka reads no address ranges, so it matches nobody"
        elif read_range(own) is None:
            sentence += "; Kafka cannot read this range, so it matches nobody"
    elif own_address is not None and own_address == asked_address:
        sentence += "; it is the same address written differently, and brokers compare the text"
    elif own_address is None:
        sentence += "; brokers compare addresses, never host names"
    return Tick("host", False, f"{sentence}.")


def _operation_tick(binding: AclBinding, request: AccessRequest, matches: bool) -> Tick:
    own, asked = binding.operation, request.operation
    if matches:
        if own is Operation.ALL:
            return Tick("operation", True, "It is about every operation.")
        if own is asked:
            return Tick("operation", True, f"It is about {WORDS[own]}.")
        return Tick("operation", True, f"It is about {WORDS[own]}, which brings {WORDS[asked]} with it.")
    sentence = f"It is about {WORDS[own]}, not about {WORDS[asked]}"
    if binding.is_deny and asked is Operation.DESCRIBE:
        sentence += "; a DENY touches no other operation"
    return Tick("operation", False, f"{sentence}.")


def _resource_tick(binding: AclBinding, request: AccessRequest) -> Tick:
    return Tick("resource", True, f"It covers {_resource(request)}: it is for {resources_of(binding)}.")


def _smallest_fix(decision: Decision) -> AclBinding | None:
    """The narrowest ALLOW that turns a refusal, or None if no single ACL can."""
    if decision.result is not Result.DENIED or decision.basis is Basis.DENY_ACL:
        return None
    return _narrowest_allow(decision, _bindings(decision))


def _narrowest_allow(decision: Decision, others: Sequence[AclBinding]) -> AclBinding | None:
    request = decision.request
    name = request.resource_name
    if name is None:
        return None
    # LITERAL `*` is the wildcard, so one name `*` is best said as a prefix; and no broker
    # takes an ACL with an empty name, which only the wildcard covers.
    pattern_type = PatternType.PREFIXED if name == WILDCARD else PatternType.LITERAL
    candidate = AclBinding(
        resource_type=request.resource_type,
        resource_name=name or WILDCARD,
        pattern_type=pattern_type,
        principal=request.principal,
        host=request.host,
        operation=request.operation,
        permission_type=PermissionType.ALLOW,
    )
    return candidate if _result_with(decision, [*others, candidate]) is Result.ALLOWED else None


def _smallest_removals(decision: Decision) -> tuple[tuple[AclBinding, ...], AclBinding | None]:
    """The fewest bindings whose removal turns the result, and the ACL needed beside that, if any."""
    bindings = _bindings(decision)
    removed = decision.determining
    if decision.basis is Basis.NO_ALLOW_ACL and not decision.rules.allow_everyone:
        # Every covering binding is determining here, but without them the default still refuses.
        return (), None
    if not removed:
        return (), None
    turned = Result.DENIED if decision.allowed else Result.ALLOWED
    if _result_with(decision, _without(bindings, removed)) is turned:
        return _irreducible(decision, bindings, removed, turned), None
    if decision.basis is Basis.DENY_ACL:
        fix = _narrowest_allow(decision, _without(bindings, removed))
        return (removed, fix) if fix is not None else ((), None)
    return (), None


def _irreducible(
    decision: Decision, bindings: Sequence[AclBinding], removed: tuple[AclBinding, ...], turned: Result
) -> tuple[AclBinding, ...]:
    """Leave out of `removed` what need not go; only a question by type can have such bindings."""
    if decision.request.resource_name is not None:
        return removed
    if len(removed) > REMOVALS_TRIED:
        return ()
    for binding in removed:
        fewer = tuple(other for other in removed if other != binding)
        if _result_with(decision, _without(bindings, fewer)) is turned:
            removed = fewer
    return removed


def _without(bindings: Iterable[AclBinding], removed: Iterable[AclBinding]) -> list[AclBinding]:
    gone = set(removed)
    return [binding for binding in bindings if binding not in gone]


def _bindings(decision: Decision) -> list[AclBinding]:
    return [finding.binding for finding in decision.findings] + list(decision.unknowns)


def _result_with(decision: Decision, bindings: Iterable[AclBinding]) -> Result:
    return authorize(decision.request, AclIndex(bindings), decision.rules).result


def _ways_out(
    decision: Decision,
    fix: AclBinding | None,
    removals: Sequence[AclBinding],
    fix_after: AclBinding | None,
) -> list[str]:
    sentences: list[str] = []
    if fix is not None:
        sentences.append(f"The smallest ACL that would allow it: {says(fix)}.")
        if decision.request.resource_name == "":
            sentences.append("No ACL can name an empty name, so only one for every name covers it.")
    if removals:
        count = len(removals)
        denying = "the ACL that denies" if count == 1 else f"the {count:,} ACLs that deny"
        if decision.basis is Basis.ALLOW_ACL:
            allowing = "the ACL that allows" if count == 1 else f"the {count:,} ACLs that allow"
            sentences.append(f"To take it away, remove {allowing} it.")
        elif fix_after is not None:
            sentences.append(
                f"{denying[0].upper()}{denying[1:]} it would have to go, and then it would still need: "
                f"{says(fix_after)}."
            )
        elif decision.basis is Basis.DENY_ACL:
            sentences.append(f"No new ACL can allow it, but removing {denying} it would.")
        else:
            sentences.append(
                f"Removing {_number(count, 'ACL', 'ACLs')} on {_resource(decision.request)} would open it, "
                "but to everyone, because this cluster allows everyone where no ACL exists."
            )
    if decision.request.resource_name is None and decision.result is Result.DENIED:
        one, word = NOUNS[decision.request.resource_type][0], WORDS[decision.request.operation]
        sentences.append(f"An ALLOW of {word} on any one {one} that no DENY covers would be enough.")
    return sentences


def _caveats(decision: Decision) -> list[str]:
    request, rules = decision.request, decision.rules
    who = name_text(request.principal)
    caveats: list[str] = []
    hangs_on = decision.hangs_on
    if "super_users" in hangs_on:
        caveats.append(
            f"This answer holds only if {who} is a super user, which nobody has declared."
            if decision.basis is Basis.SUPER_USER
            else f"Nobody has declared this cluster's super users. If {who} is one, everything is allowed."
        )
    if "allow_everyone" in hangs_on:
        caveats.append(
            "Nobody has declared what this cluster does where no ACL exists "
            "(allow.everyone.if.no.acl.found). This answer assumes that everyone is "
            f"{'allowed' if rules.allow_everyone else 'refused'} there; otherwise it would be the opposite."
        )
    if BELOW_ASTERISK in decision.hazards:
        caveats.append(
            "A KRaft broker may fail to answer for names that begin with this character; "
            "choose a name that begins with a letter or a digit."
        )
    if STAR_PRINCIPAL in decision.hazards:
        caveats.append(
            f"A client whose principal is {ANY_USER} itself makes KRaft brokers fail from Kafka 4.0 on, "
            "unless it is a super user."
        )
    if UNPARSABLE_PRINCIPAL in decision.hazards:
        broken = sorted({b.principal for b in _bindings(decision) if split_principal(b.principal) is None})
        caveats.append(
            f"The principal {broken[0]!r} of an ACL here has no colon, and a KRaft broker fails on every "
            "request that reaches such an ACL; remove it."
            if broken
            else "An ACL here has a principal without a colon, on which KRaft brokers fail; remove it."
        )
    if request.resource_name and request.resource_name[0] == WILDCARD and len(request.resource_name) > 1:
        caveats.append(
            "The name begins with an asterisk: KRaft's authorizer skips the ACLs on the literal * for such "
            "names, the ZooKeeper authorizer does not."
        )
    if split_principal(request.principal) is None:
        caveats.append(
            f"The principal {request.principal!r} has no type; write it as 'User:{request.principal}'."
        )
    return caveats


def _scan(matching: Iterable[AclBinding], name: str) -> list[AclBinding]:
    """Return matching bindings in the order in which KRaft's authorizer meets them.

    First those whose name is not after the requested one, then all from the literal `*` on.
    """
    ordered = in_scan_order(matching)
    asked, star = code_units(name), code_units(WILDCARD)
    first = [b for b in ordered if code_units(b.resource_name) <= asked]
    second = [b for b in ordered if code_units(b.resource_name) <= star]
    return first + second


def _from(host: str) -> str:
    if host == WILDCARD:
        return "from any host"
    return f"from addresses in {name_text(host)}" if "/" in host else f"from {name_text(host)}"


def _number(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
