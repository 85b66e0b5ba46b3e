"""Say in English why a request is allowed or refused, how near it came, and what would turn it.

Everything is read off a `Decision`, whose findings hold every binding that covers the
resource, so an explanation cannot disagree with the answer. Pages, API answers and audit
entries all take their reasons from here, in the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aclweb.acl.authorizer.answers import Basis, Result
from aclweb.acl.authorizer.broker_log import broker_rule, reported_acl
from aclweb.acl.authorizer.caveats import caveats_of
from aclweb.acl.authorizer.decision import Decision, answer_given
from aclweb.acl.authorizer.findings import Finding
from aclweb.acl.authorizer.lists import WriteList, whole_list, written_acl
from aclweb.acl.authorizer.near_misses import NearMiss, fits, near_misses
from aclweb.acl.authorizer.other_ways import OtherWay, other_ways
from aclweb.acl.authorizer.remedies import Removals, smallest_fix, smallest_removals
from aclweb.acl.matching import glob_shape
from aclweb.acl.model import (
    NOUNS,
    WILDCARD,
    WORDS,
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    acl_text,
    action_on,
    name_text,
    number_of,
    resource_text,
    resources_of,
)

SENTENCES_SHOWN = 3
"""How many bindings of one kind `Explanation.sentences` spells out before it counts the rest."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One of the questions that Kafka asks in turn; exactly one of them decides."""

    name: str
    sentence: str
    decides: bool


@dataclass(frozen=True)
class Explanation:
    """Why the answer of `decision` is what it is.

    would_also_decide: the determining bindings that the broker's log does not name, and
    each of which alone gives the same result; where its log names none, those beside the
    first. So removing the one that it names would change nothing.
    near_misses: ALLOWs that nearly applied to a refused request, or DENYs that nearly
    applied to an allowed one; fewest crosses first.
    smallest_fix, smallest_removals, fix_after_removals: see `remedies`.
    other_ways: rights by which the client succeeds though this check is refused, see there.
    broker_rule: what the broker's own log would name, `{"rule", "acl"}`; None where its
    log names none.
    """

    decision: Decision
    verdict: str
    sentence: str
    gates: tuple[Gate, ...]
    would_also_decide: tuple[AclBinding, ...]
    near_misses: tuple[NearMiss, ...]
    smallest_fix: AclBinding | None
    smallest_removals: tuple[AclBinding, ...]
    broker_rule: dict[str, object] | None
    caveats: tuple[str, ...]
    sentences: tuple[str, ...]
    fix_after_removals: AclBinding | None = None
    other_ways: tuple[OtherWay, ...] = ()

    def as_dict(self, write_list: WriteList = whole_list) -> dict[str, object]:
        """Return the decision and its reasons as JSON has them, for the command, the API and pages alike.

        write_list: what writes each list that can be as long as the ACLs of a cluster.
        """
        decision = self.decision
        return {
            "result": decision.result.value,
            "basis": decision.basis.value,
            "hazards": list(decision.hazards),
            "determining": write_list("determining", decision.determining, written_acl),
            "would_also_decide": write_list("would_also_decide", self.would_also_decide, written_acl),
            "affecting": write_list("affecting", decision.findings, self._affecting),
            "broker_rule": self.broker_rule,
            "near_misses": write_list("near_misses", self.near_misses, NearMiss.as_dict),
            "smallest_fix": _or_null(self.smallest_fix),
            "smallest_removals": write_list("smallest_removals", self.smallest_removals, written_acl),
            "fix_after_removals": _or_null(self.fix_after_removals),
            "sentences": list(self.sentences),
        }

    def _affecting(self, finding: Finding) -> dict[str, object]:
        return {
            "acl": finding.binding.as_dict(),
            "counted": finding.counted,
            "why_not": list(finding.why_not),
            "fits": dict(fits(finding, self.decision)),
        }


def _or_null(binding: AclBinding | None) -> dict[str, str] | None:
    return None if binding is None else binding.as_dict()


def explain(decision: Decision) -> Explanation:
    """Return the reasons of a decision, in the order in which a person asks for them."""
    nearly = near_misses(decision)
    fix = smallest_fix(decision)
    removals = smallest_removals(decision)
    others = _would_also_decide(decision)
    caveats = caveats_of(decision)
    sentence = _sentence(decision)
    ways = other_ways(decision)
    sentences = [sentence, *(way.sentence for way in ways)]
    sentences += _because(decision)
    sentences += _besides(decision, others)
    sentences += _no_precedence(decision)
    if not (decision.basis is Basis.DENY_ACL and _counted_allows(decision)):
        sentences += [f"Nearly: {miss.sentence}" for miss in nearly[:SENTENCES_SHOWN]]
    sentences += _ways_out(decision, fix, removals)
    sentences += caveats
    return Explanation(
        decision=decision,
        verdict=VERDICTS[decision.result],
        sentence=sentence,
        gates=_gates(decision),
        would_also_decide=others,
        near_misses=nearly,
        smallest_fix=fix,
        smallest_removals=removals.bindings,
        broker_rule=broker_rule(decision),
        caveats=tuple(caveats),
        sentences=tuple(sentences),
        fix_after_removals=removals.then_allow,
        other_ways=ways,
    )


VERDICTS: Mapping[Result, str] = {
    Result.ALLOWED: "Yes, allowed",
    Result.DENIED: "No, refused",
    Result.UNDECIDED: "Cannot tell",
}


def _question(request: AccessRequest) -> str:
    if request.resource_name is None:
        resource = f"any {NOUNS[request.resource_type][0]} at all"
    else:
        resource = resource_text(request.resource_type, request.resource_name)
    return f"{action_on(request.operation, request.resource_type, resource)} from {name_text(request.host)}"


def _covering(request: AccessRequest, count: int = 0) -> str:
    """Return `2 ACLs cover topic orders`, or of a whole type `2 ACLs are on topics`; with 0, `no ACL covers …`."""
    acls = number_of(count, "ACL", "ACLs") if count else "no ACL"
    if request.resource_name is None:
        return f"{acls} {'are' if count > 1 else 'is'} on {_asked(request)}"
    return f"{acls} {'match' if count > 1 else 'matches'} {_asked(request)}"


def _asked(request: AccessRequest) -> str:
    if request.resource_name is None:
        return NOUNS[request.resource_type][1]
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
        allows = number_of(len(decision.determining), "ACL allows", "ACLs allow")
        return f"{may}: {allows} it{' and none denies it' if request.resource_name is not None else ''}."
    if decision.basis is Basis.DENY_ACL:
        denies = number_of(len(decision.determining), "ACL denies", "ACLs deny")
        if request.resource_name is None:
            return f"{may_not}: {denies} it, and no ALLOW matches more."
        return f"{may_not}: {denies} it, and a DENY wins over every ALLOW."
    if decision.basis is Basis.NO_ALLOW_ACL:
        none = "it does not allow this" if count == 1 else "none of them allows this"
        return f"{may_not}: {_covering(request, count)}, and {none}."
    if decision.basis is Basis.DEFAULT_ALLOW:
        if request.resource_name is None:
            return f"{may}: this cluster allows everyone where no ACL exists, and that settles it."
        return f"{may}: {_covering(request)}, and this cluster allows everyone there."
    if decision.basis is Basis.DEFAULT_DENY:
        return f"{may_not}: {_covering(request)}, and then this cluster refuses."
    if not _has_unknown_values(decision):
        return (
            f"Whether {may} is unknown: it depends on whether one glob matches all that another matches, and "
            f"these are too complex to compare."
        )
    return (
        f"Whether {may} is unknown: the answer depends on ACLs with values that this version of aclweb does "
        f"not know, written by a newer Kafka."
    )


def _has_unknown_values(decision: Decision) -> bool:
    return bool(decision.unknowns) or any(binding.has_unknown for binding in decision.findings.bindings)


def _because(decision: Decision) -> list[str]:
    """The bindings that settled it, spelled out, and the operation that implied the one asked for."""
    if decision.basis is Basis.UNKNOWN_VALUE:
        unknown = [binding for binding in decision.findings.bindings if binding.has_unknown]
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


def _would_also_decide(decision: Decision) -> tuple[AclBinding, ...]:
    if decision.basis not in (Basis.ALLOW_ACL, Basis.DENY_ACL):
        return ()
    named = reported_acl(decision) or decision.determining[0]
    others = tuple(binding for binding in decision.determining if binding != named)
    if decision.request.resource_name is None:
        # Alone, a DENY of a whole type may leave the default to speak.
        others = tuple(b for b in others if _alone(decision, b) is decision.result)
    return others


def _alone(decision: Decision, binding: AclBinding) -> Result:
    return answer_given(decision.request, (binding,), (), decision.settings)[0]


def _besides(decision: Decision, others: Sequence[AclBinding]) -> list[str]:
    """Say that the log names one ACL only, where others would have done the same."""
    reported = reported_acl(decision)
    if reported is None or not others:
        return []
    so = "would refuse it alone" if decision.basis is Basis.DENY_ACL else "would allow it alone"
    return [
        f"The broker's log names only this one: {acl_text(reported)}. "
        f"{number_of(len(others), 'other ACL', 'other ACLs')} {so} too."
    ]


def _spelled(bindings: Sequence[AclBinding], template: str) -> list[str]:
    sentences = [template.format(acl_text(binding)) for binding in bindings[:SENTENCES_SHOWN]]
    rest = len(bindings) - SENTENCES_SHOWN
    if rest > 0:
        sentences.append(f"{number_of(rest, 'more ACL says', 'more ACLs say')} the same.")
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
        for finding in decision.findings.own
        if finding.counted and finding.binding.permission_type is PermissionType.ALLOW
    ]


def _closeness(binding: AclBinding) -> tuple[bool, int]:
    """How exactly a pattern names what it covers; only people care, Kafka does not."""
    exact = binding.pattern_type is PatternType.LITERAL and binding.resource_name != WILDCARD
    if binding.pattern_type is PatternType.GLOB:
        return exact, glob_shape(binding.resource_name).literal_count
    return exact, 0 if binding.pattern.is_wildcard else len(binding.resource_name)


def _gates(decision: Decision) -> tuple[Gate, ...]:
    request, settings, basis = decision.request, decision.settings, decision.basis
    who = name_text(request.principal)
    counted = [finding.binding for finding in decision.findings.own if finding.counted]
    denies = [binding for binding in counted if binding.is_deny]
    allows = [binding for binding in counted if binding.permission_type is PermissionType.ALLOW]
    covering = len(decision.findings)

    is_super = request.principal in settings.super_users
    named = "is one of" if is_super else "is not among"
    declared = "declared" if "super_users" not in settings.undeclared else "assumed"
    super_gate = Gate("super user", f"{who} {named} the {declared} super users.", basis is Basis.SUPER_USER)
    deny_gate = Gate(
        "DENY ACLs",
        f"{number_of(len(denies), 'DENY matches', 'DENYs match')} this request."
        if denies
        else "No DENY matches this request.",
        basis is Basis.DENY_ACL,
    )
    if allows:
        allow_sentence = f"{number_of(len(allows), 'ALLOW matches', 'ALLOWs match')} this request."
    elif covering:
        among = "it is no ALLOW that matches" if covering == 1 else "no ALLOW among them matches"
        allow_sentence = f"{_covering(request, covering)}, but {among} this request."
    else:
        allow_sentence = f"N{_covering(request)[1:]}."
    allow_gate = Gate("ALLOW ACLs", allow_sentence, basis in (Basis.ALLOW_ACL, Basis.NO_ALLOW_ACL))

    assumed = ", as far as anybody declared" if "allow_everyone" in settings.undeclared else ""
    default = "everyone is allowed" if settings.allow_everyone else "everyone is refused"
    applies = basis in (Basis.DEFAULT_ALLOW, Basis.DEFAULT_DENY)
    silent = "" if applies else "; this resource has ACLs, so that does not apply" if covering else ""
    default_gate = Gate("default", f"Where no ACL exists, {default}{assumed}{silent}.", applies)
    gates = (super_gate, deny_gate, allow_gate, default_gate)
    if basis is not Basis.UNKNOWN_VALUE:
        return gates
    if not _has_unknown_values(decision):
        return (*gates, Gate("unknown values", "The globs of ACLs are too complex to compare.", True))
    unknown = Gate("unknown values", "ACLs have values that aclweb does not know; they could decide.", True)
    return (*gates, unknown)


def _ways_out(decision: Decision, fix: AclBinding | None, removals: Removals) -> list[str]:
    request = decision.request
    sentences: list[str] = []
    if fix is not None and request.resource_name is None:
        one = NOUNS[request.resource_type][0]
        sentences.append(
            f"One ACL on any one {one} that no DENY matches would allow it, such as: {acl_text(fix)}."
        )
    elif fix is not None:
        sentences.append(f"The smallest ACL that would allow it: {acl_text(fix)}.")
        if request.resource_name == "":
            sentences.append("No ACL can have an empty name, so only one for every name matches it.")
    count = len(removals.bindings)
    if not count:
        return sentences
    denying = "the ACL that denies" if count == 1 else f"the {count:,} ACLs that deny"
    if decision.allowed:
        allowing = "the ACL that allows" if count == 1 else f"the {count:,} ACLs that allow"
        sentences.append(f"To remove the access, remove {allowing} it.")
    elif removals.then_allow is not None:
        sentences.append(
            f"{denying[0].upper()}{denying[1:]} it would have to be removed, and then it would still need: "
            f"{acl_text(removals.then_allow)}."
        )
    elif not all(binding.is_deny for binding in removals.bindings):
        sentences.append(
            f"Removing {number_of(count, 'ACL', 'ACLs')} on {_asked(request)} would open it, "
            "but to everyone, because this cluster allows everyone where no ACL exists."
        )
    elif fix is None:
        sentences.append(f"No new ACL can allow it, but removing {denying} it would.")
    else:
        sentences.append(f"Removing {number_of(count, 'DENY', 'DENYs')} would allow it, too.")
    return sentences
