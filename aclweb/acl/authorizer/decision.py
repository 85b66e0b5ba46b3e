"""May this caller do this, and which bindings settled it?

`authorize` makes one finding for each binding that covers the resource and derives the
answer from the findings, so that an explanation cannot disagree with the decision.
`decide` gives the same answer from compiled masks, fast; tests hold the two equal.

Kafka's decision has no precedence of any kind beside DENY before ALLOW: neither a longer
prefix, nor an exact name, nor a named principal wins over anything.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from aclweb.acl.authorizer.index import (
    ALL_BITS,
    DENY_SHIFT,
    MAYBE_SHIFT,
    AclIndex,
    GlobTable,
    MaskTable,
    mask_of,
)
from aclweb.acl.matching import (
    STEPS_TRIED,
    GlobSet,
    Shape,
    Verdict,
    comes_from,
    covers,
    covers_name,
    is_for,
    sample_of,
    shape_of,
    stranger_to,
)
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    Rules,
    split_principal,
)

HARDCODE = "hardcode"
"""The made-up name that KRaft's authorizer tries first when asked about a whole resource type."""

STEPS_FOR_ALL = 2_000_000
"""How many steps all comparisons of globs for one question about a whole type may take together."""

_LEAST_STEPS = 2_000

BELOW_ASTERISK = "kraft-name-below-asterisk"
STAR_PRINCIPAL = "kraft-star-principal"
UNPARSABLE_PRINCIPAL = "unparsable-principal"


class Result(enum.Enum):
    ALLOWED = "ALLOWED"
    DENIED = "DENIED"
    UNDECIDED = "UNDECIDED"


class Basis(enum.Enum):
    """What settled a decision.

    NOT_ASKED is in no Decision, only on a side of a what-if between authorizers: brokers of that
    side never ask for the operation, so that nobody has any access by it.
    """

    SUPER_USER = "SUPER_USER"
    DENY_ACL = "DENY_ACL"
    ALLOW_ACL = "ALLOW_ACL"
    NO_ALLOW_ACL = "NO_ALLOW_ACL"
    DEFAULT_ALLOW = "DEFAULT_ALLOW"
    DEFAULT_DENY = "DEFAULT_DENY"
    UNKNOWN_VALUE = "UNKNOWN_VALUE"
    NOT_ASKED = "NOT_ASKED"


Answer = tuple[Result, Basis]

_SUPER_USER: Answer = (Result.ALLOWED, Basis.SUPER_USER)
_DENY_ACL: Answer = (Result.DENIED, Basis.DENY_ACL)
_ALLOW_ACL: Answer = (Result.ALLOWED, Basis.ALLOW_ACL)
_NO_ALLOW_ACL: Answer = (Result.DENIED, Basis.NO_ALLOW_ACL)
_DEFAULT_ALLOW: Answer = (Result.ALLOWED, Basis.DEFAULT_ALLOW)
_DEFAULT_DENY: Answer = (Result.DENIED, Basis.DEFAULT_DENY)
_UNKNOWN_VALUE: Answer = (Result.UNDECIDED, Basis.UNKNOWN_VALUE)


@dataclass(frozen=True, slots=True)
class Finding:
    """One binding that covers the resource, and whether it is for this request.

    counted: principal, host and operation match (even where a DENY wins in the end).
    why_not: those of "principal", "host" and "operation" that do not.
    """

    binding: AclBinding
    counted: bool
    why_not: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decision:
    """One answer with everything that led to it.

    findings: one for each binding that covers the resource, in the order of Kafka's scan;
    for a question about a whole resource type, one for each binding of the type.
    unknowns: bindings with an UNKNOWN pattern type, which may or may not cover it.
    index: everything that was there, for what did not cover it.
    """

    request: AccessRequest
    result: Result
    basis: Basis
    findings: tuple[Finding, ...]
    hazards: tuple[str, ...]
    rules: Rules
    unknowns: tuple[AclBinding, ...]
    index: AclIndex = field(repr=False, compare=False)

    @property
    def allowed(self) -> bool:
        return self.result is Result.ALLOWED

    @property
    def determining(self) -> tuple[AclBinding, ...]:
        """The bindings that settled it: every matching DENY, or else every matching ALLOW.

        For NO_ALLOW_ACL all that cover the resource, because each alone gives that
        result; empty where no binding settled it. For a question about a whole type of a
        cluster that allows by default, only what covers `hardcode` gives it.
        """
        if self.basis is Basis.DENY_ACL:
            return self._counted(PermissionType.DENY)
        if self.basis is Basis.ALLOW_ACL:
            return self._counted(PermissionType.ALLOW)
        if self.basis is Basis.NO_ALLOW_ACL:
            ends_default = self.request.resource_name is None and self.rules.allow_everyone
            return tuple(
                finding.binding
                for finding in self.findings
                if not ends_default or covers_name(finding.binding, HARDCODE, self.rules)
            )
        return ()

    @property
    def hangs_on(self) -> tuple[str, ...]:
        """The undeclared settings that would change this result if they were otherwise."""
        rules = self.rules
        found: list[str] = []
        caller = self.request.principal
        if "super_users" in rules.undeclared:
            other = replace(rules, super_users=rules.super_users ^ {caller})
            if self._result_under(other) is not self.result:
                found.append("super_users")
        if "allow_everyone" in rules.undeclared and self.under_other_default is not self.result:
            found.append("allow_everyone")
        return tuple(found)

    @property
    def under_other_default(self) -> Result:
        """The result if the cluster did the opposite where no ACL exists."""
        return self._result_under(replace(self.rules, allow_everyone=not self.rules.allow_everyone))

    def _counted(self, permission: PermissionType) -> tuple[AclBinding, ...]:
        counted = tuple(
            finding.binding
            for finding in self.findings
            if finding.counted and finding.binding.permission_type is permission
        )
        if self.request.resource_name is not None:
            return counted
        if permission is PermissionType.DENY:
            # Wherever such a pattern reaches, it is a DENY of the type.
            unknown = own_by_type(self.request, self.unknowns, self.rules)
            return (*counted, *(binding for binding in unknown if binding.is_deny))
        return _allows_by_type(self.request, [finding.binding for finding in self.findings], self.rules)

    def _result_under(self, rules: Rules) -> Result:
        return answer_given(
            self.request, [finding.binding for finding in self.findings], self.unknowns, rules
        )[0]


def authorize(request: AccessRequest, index: AclIndex, rules: Rules | None = None) -> Decision:
    """Return the decision for `request` with a finding for every binding that covers its resource."""
    rules = rules or Rules()
    index.require_known(rules)
    shelf = index.shelf(request.resource_type)
    covering: Sequence[AclBinding] = ()
    unknowns: tuple[AclBinding, ...] = ()
    if shelf is not None:
        unknowns = tuple(shelf.unknown_patterns)
        if request.resource_name is None:
            covering = [
                binding for binding in shelf.bindings if binding.pattern_type is not PatternType.UNKNOWN
            ]
        else:
            covering = shelf.covering(request.resource_name, rules)
    result, basis = answer_given(request, covering, unknowns, rules)
    return Decision(
        request=request,
        result=result,
        basis=basis,
        findings=tuple(_finding(request, binding, rules) for binding in covering),
        hazards=hazards(request, covering, rules),
        rules=rules,
        unknowns=unknowns,
        index=index,
    )


def decide(request: AccessRequest, index: AclIndex, rules: Rules) -> Answer:
    """Return (result, basis), as `authorize` gives them, from the compiled masks."""
    if request.principal in rules.super_users:
        return _SUPER_USER
    name = request.resource_name
    if name is None:
        return _decide_by_type(request, index, rules)
    if rules.has_globs:
        return _decide_by_globs(request, name, index.glob_table(request.resource_type), rules)
    table = index.table(request.resource_type)
    if table is None:
        return _DEFAULT_ALLOW if rules.allow_everyone else _DEFAULT_DENY

    mask = _mask_for(table, request.principal, request.host, name, rules)
    bit = 1 << request.operation._value_
    if mask >> DENY_SHIFT & bit:
        return _DENY_ACL
    if mask >> MAYBE_SHIFT or table.unknown_patterns:
        return _decide_with_unknowns(request, table, mask, bit, rules)
    if mask & bit:
        return _ALLOW_ACL
    if table.covered.covers(name, rules):
        return _NO_ALLOW_ACL
    return _DEFAULT_ALLOW if rules.allow_everyone else _DEFAULT_DENY


def hazards(request: AccessRequest, covering: Iterable[AclBinding], rules: Rules) -> tuple[str, ...]:
    """Return the sorted ids of what could make a real broker fail to answer this request.

    covering: the bindings that cover the resource, or all of the type for a question by type.
    """
    if request.principal in rules.super_users:
        return ()
    found: set[str] = set()
    name = request.resource_name
    if name and name[0] < WILDCARD and rules.names_below_asterisk_are_a_hazard:
        found.add(BELOW_ASTERISK)
    if request.principal == ANY_USER and rules.star_session_is_a_hazard:
        found.add(STAR_PRINCIPAL)
    if rules.principals_without_colon_are_a_hazard and any(
        split_principal(binding.principal) is None for binding in covering
    ):
        found.add(UNPARSABLE_PRINCIPAL)
    return tuple(sorted(found))


def hazards_of(request: AccessRequest, index: AclIndex, rules: Rules) -> tuple[str, ...]:
    """Return `hazards` for a request without listing the bindings that cover its resource."""
    found = hazards(request, (), rules)
    if not rules.principals_without_colon_are_a_hazard:
        return found
    table = index.table(request.resource_type)
    if table is None:
        return found
    broken = table.without_colon
    if broken is None or request.principal in rules.super_users:
        return found
    if request.resource_name is None or broken.covers(request.resource_name, rules):
        return tuple(sorted({*found, UNPARSABLE_PRINCIPAL}))
    return found


def for_operation(binding: AclBinding, operation: Operation) -> bool:
    """Whether the binding counts for this operation, whatever its permission turns out to be."""
    return effect_on(binding, operation) in ("allow", "deny", "either")


def fits_operation(binding: AclBinding, request: AccessRequest, rules: Rules) -> bool:
    """Whether the binding counts for the operation of this request."""
    if binding.operation in (request.operation, Operation.ALL):
        return True
    if request.resource_name is None and not (
        rules.by_type_tries_hardcode and covers_name(binding, HARDCODE, rules)
    ):
        # Of a whole type one operation brings another with it on the made-up name only.
        return False
    return for_operation(binding, request.operation)


def effect_on(binding: AclBinding, operation: Operation) -> str:
    """What a binding for the caller does to an operation.

    "allow" or "deny"; "either" where its permission is UNKNOWN; "perhaps" where an unknown
    value may make it an ALLOW and cannot make it a DENY; "" where it does nothing.
    """
    mask = mask_of(binding.operation, binding.permission_type) >> operation.code
    if mask & 1:
        return "allow"
    if mask >> DENY_SHIFT & 1:
        return "deny"
    if mask >> MAYBE_SHIFT + DENY_SHIFT & 1:
        return "either"
    return "perhaps" if mask >> MAYBE_SHIFT & 1 else ""


def _finding(request: AccessRequest, binding: AclBinding, rules: Rules) -> Finding:
    why_not: list[str] = []
    if not is_for(binding.principal, request.principal, rules):
        why_not.append("principal")
    if not comes_from(binding.host, request.host, rules):
        why_not.append("host")
    if not fits_operation(binding, request, rules):
        why_not.append("operation")
    return Finding(binding, not why_not, tuple(why_not))


def answer_given(
    request: AccessRequest, covering: Sequence[AclBinding], unknowns: Sequence[AclBinding], rules: Rules
) -> Answer:
    """Return the answer that these bindings give.

    covering: those that cover the resource for certain; all of the type when asked by type.
    unknowns: those with an UNKNOWN pattern, which may or may not.
    """
    if request.principal in rules.super_users:
        return _SUPER_USER
    if request.resource_name is None:
        return _answer_by_type(request, covering, unknowns, rules)
    readings = [reading_of(request, binding, rules) for binding in covering]
    return settle(
        denied="deny" in readings,
        allowed="allow" in readings,
        perhaps_denied="either" in readings,
        perhaps_allowed="either" in readings or "perhaps" in readings,
        covered=bool(readings),
        unknown_patterns=[reading_of(request, binding, rules) for binding in unknowns],
        rules=rules,
    )


def reading_of(request: AccessRequest, binding: AclBinding, rules: Rules) -> str:
    """What the binding does to the request if its pattern covers the resource."""
    if is_for(binding.principal, request.principal, rules) and comes_from(binding.host, request.host, rules):
        return effect_on(binding, request.operation)
    return ""


def settle(
    *,
    denied: bool,
    allowed: bool,
    perhaps_denied: bool,
    perhaps_allowed: bool,
    covered: bool,
    unknown_patterns: Sequence[str],
    rules: Rules,
) -> Answer:
    """Return Kafka's answer, or UNDECIDED where unknown values leave room for more than one result.

    unknown_patterns: the reading of each binding whose pattern may or may not cover the
    resource. Each unknown can turn out either way on its own, so the question is whether
    one world allows and another refuses.
    """
    if denied:
        return _DENY_ACL
    perhaps_denied = perhaps_denied or any(reading in ("deny", "either") for reading in unknown_patterns)
    perhaps_allowed = perhaps_allowed or any(
        reading in ("allow", "either", "perhaps") for reading in unknown_patterns
    )
    default_allows = rules.allow_everyone and not covered
    can_be_allowed = allowed or perhaps_allowed or default_allows
    can_be_denied = perhaps_denied or (not allowed and not default_allows)
    if not allowed and default_allows:
        # The default goes as soon as one binding covers the resource, even one for somebody else.
        can_be_denied = any(reading != "allow" for reading in unknown_patterns)
    if can_be_allowed and can_be_denied:
        return _UNKNOWN_VALUE
    if allowed:
        return _ALLOW_ACL
    if covered:
        return _NO_ALLOW_ACL
    return _DEFAULT_ALLOW if rules.allow_everyone else _DEFAULT_DENY


def answer_from(
    mask: int, bit: int, *, covered: bool, unknown_patterns: Sequence[str], rules: Rules
) -> Answer:
    """Return the answer for the operation at `bit` to a caller who is no super user.

    mask: the joined masks of the bindings for this caller that cover the resource for certain.
    covered: whether any binding covers it, whoever that is for. unknown_patterns: as in `settle`.
    """
    return settle(
        denied=bool(mask >> DENY_SHIFT & bit),
        allowed=bool(mask & bit),
        perhaps_denied=bool(mask >> MAYBE_SHIFT + DENY_SHIFT & bit),
        perhaps_allowed=bool(mask >> MAYBE_SHIFT & ALL_BITS & bit),
        covered=covered,
        unknown_patterns=unknown_patterns,
        rules=rules,
    )


def _mask_for(table: MaskTable, principal: str, host: str, name: str, rules: Rules) -> int:
    """Return the joined masks of the bindings for this principal (or `User:*`) and host (or `*`)."""
    mask = 0
    callers = (principal, ANY_USER) if principal != ANY_USER else (ANY_USER,)
    for caller in callers:
        hosts = table.slots.get(caller)
        if hosts is not None:
            slot = hosts.get(WILDCARD)
            if slot is not None:
                mask |= slot.mask(name, rules)
            slot = hosts.get(host)
            if slot is not None:
                mask |= slot.mask(name, rules)
        if table.ranges and rules.cidr_hosts:
            ranges = table.ranges.get(caller)
            if ranges is not None:
                for slot in ranges.holding(host):
                    mask |= slot.mask(name, rules)
    return mask


def _decide_with_unknowns(
    request: AccessRequest, table: MaskTable, mask: int, bit: int, rules: Rules
) -> Answer:
    assert request.resource_name is not None
    return answer_from(
        mask,
        bit,
        covered=table.covered.covers(request.resource_name, rules),
        unknown_patterns=[reading_of(request, binding, rules) for binding in table.unknown_patterns],
        rules=rules,
    )


def _decide_by_globs(request: AccessRequest, name: str, table: GlobTable | None, rules: Rules) -> Answer:
    if table is None:
        return _DEFAULT_ALLOW if rules.allow_everyone else _DEFAULT_DENY
    return answer_from(
        table.mask(request.principal, request.host, name, rules),
        1 << request.operation._value_,
        covered=table.covers(name, rules),
        unknown_patterns=[reading_of(request, binding, rules) for binding in table.unknown_patterns],
        rules=rules,
    )


# May this caller do the operation on at least one resource of the type?


def _decide_by_type(request: AccessRequest, index: AclIndex, rules: Rules) -> Answer:
    shelf = index.shelf(request.resource_type)
    if shelf is None:
        return _DEFAULT_ALLOW if rules.allow_everyone else _DEFAULT_DENY
    hardcode = decide(replace(request, resource_name=HARDCODE), index, rules)
    if rules.by_type_tries_hardcode and hardcode[0] is Result.ALLOWED:
        return hardcode
    callers = _principals_for(request, index, rules)
    own = [binding for caller in callers for binding in shelf.by_principal.get(caller, ())]
    others = [binding for caller in callers for binding in shelf.no_plain_allows.get(caller, ())]
    if not own_by_type(request, others, rules) and any(_is_own_by_type(request, b, rules) for b in own):
        # Nothing can take an ALLOW away, so one is enough and the rest need no look.
        return _DEFAULT_ALLOW if rules.default_settles_by_type else _ALLOW_ACL
    return _settle_by_type(request, own, hardcode, rules)


def _principals_for(request: AccessRequest, index: AclIndex, rules: Rules) -> list[str]:
    """Return the principals under which a binding for this caller can stand."""
    if not rules.has_globs:
        return list(dict.fromkeys((request.principal, ANY_USER)))
    table = index.glob_table(request.resource_type)
    return list(table.principals_for(request.principal)) if table is not None else []


def _answer_by_type(
    request: AccessRequest, known: Sequence[AclBinding], unknowns: Sequence[AclBinding], rules: Rules
) -> Answer:
    if not known and not unknowns:
        return _DEFAULT_ALLOW if rules.allow_everyone else _DEFAULT_DENY
    covering = [binding for binding in known if covers_name(binding, HARDCODE, rules)]
    hardcode = answer_given(replace(request, resource_name=HARDCODE), covering, unknowns, rules)
    return _settle_by_type(request, [*known, *unknowns], hardcode, rules)


def _settle_by_type(
    request: AccessRequest, bindings: Iterable[AclBinding], hardcode: Answer, rules: Rules
) -> Answer:
    """Return the answer for a whole type, from bindings of the type and the answer for `hardcode`.

    Unknown values are read once in the caller's favour and once against; where the two
    results differ the question is undecided.
    """
    entries = own_by_type(request, bindings, rules)
    results = {
        _allowed_by_type(_read_as(entries, PermissionType.ALLOW), hardcode, Result.UNDECIDED, rules),
        _allowed_by_type(_read_as(entries, PermissionType.DENY), hardcode, Result.ALLOWED, rules),
    }
    if len(results) > 1 or None in results:
        return _UNKNOWN_VALUE
    if True in results:
        if rules.by_type_tries_hardcode and hardcode[0] is Result.ALLOWED:
            return hardcode
        return _DEFAULT_ALLOW if rules.default_settles_by_type else _ALLOW_ACL
    if any(binding.permission_type is PermissionType.DENY for binding in entries):
        return _DENY_ACL
    return _NO_ALLOW_ACL


def _allowed_by_type(
    entries: Sequence[AclBinding], hardcode: Answer, at_least: Result, rules: Rules
) -> bool | None:
    """Whether the known `entries` (those of this caller and operation) allow the type; None if that is too hard.

    at_least: the weakest answer for `hardcode` that counts as allowed in this reading.
    """
    if rules.by_type_tries_hardcode and hardcode[0] in (Result.ALLOWED, at_least):
        return True
    denied_literals = _names(entries, PermissionType.DENY, PatternType.LITERAL)
    if WILDCARD in denied_literals:
        return False
    if rules.default_settles_by_type:
        return True
    if rules.has_globs:
        return _reaches_beyond(entries)
    return bool(undominated(entries, rules))


def own_by_type(request: AccessRequest, bindings: Iterable[AclBinding], rules: Rules) -> list[AclBinding]:
    """Return the bindings for this caller that name the operation itself or ALL: here nothing is implied."""
    return [binding for binding in bindings if _is_own_by_type(request, binding, rules)]


def _is_own_by_type(request: AccessRequest, binding: AclBinding, rules: Rules) -> bool:
    return (
        binding.operation in (request.operation, Operation.ALL)
        and is_for(binding.principal, request.principal, rules)
        and comes_from(binding.host, request.host, rules)
    )


def undominated(entries: Sequence[AclBinding], rules: Rules) -> tuple[AclBinding, ...]:
    """Return the ALLOWs that no DENY wholly covers, as Kafka compares them.

    A literal falls to an equal DENY literal; any name falls to a DENY prefix that it starts
    with. An empty DENY prefix covers nothing here, because Kafka compares from the first
    letter on. `*` is the wildcard, which no prefix covers. Under the GLOB proposal patterns
    are compared by the names that they match.
    """
    if rules.has_globs:
        coverage = _Coverage(entries)
        return tuple(allow for allow in coverage.allows if coverage.of(allow) is Verdict.NO)
    denied_literals = _names(entries, PermissionType.DENY, PatternType.LITERAL)
    denied_prefixes = _names(entries, PermissionType.DENY, PatternType.PREFIXED)
    lengths = sorted({len(prefix) for prefix in denied_prefixes if prefix})
    found: list[AclBinding] = []
    for binding in entries:
        if binding.permission_type is not PermissionType.ALLOW:
            continue
        name = binding.resource_name
        if binding.pattern.is_wildcard:
            found.append(binding)
        elif binding.pattern_type is PatternType.LITERAL and name in denied_literals:
            continue
        elif not any(name[:length] in denied_prefixes for length in lengths if length <= len(name)):
            found.append(binding)
    return tuple(found)


def _allows_by_type(
    request: AccessRequest, bindings: Sequence[AclBinding], rules: Rules
) -> tuple[AclBinding, ...]:
    """Return the ALLOWs that settle a question about a type: those on `hardcode`, or the undominated."""
    if rules.by_type_tries_hardcode:
        asked = replace(request, resource_name=HARDCODE)
        at_hardcode = [binding for binding in bindings if covers_name(binding, HARDCODE, rules)]
        if answer_given(asked, at_hardcode, (), rules) == _ALLOW_ACL:
            return tuple(binding for binding in at_hardcode if reading_of(asked, binding, rules) == "allow")
    return undominated(own_by_type(request, bindings, rules), rules)


def _reaches_beyond(entries: Sequence[AclBinding]) -> bool | None:
    """Whether some ALLOW is not wholly covered by one DENY, where globs are compared; None if that is too hard."""
    coverage = _Coverage(entries)
    verdicts = {Verdict.YES}
    for allow in coverage.allows:
        verdicts.add(coverage.of(allow))
        if Verdict.NO in verdicts:
            return True
    return None if Verdict.UNKNOWN in verdicts else False


class _Coverage:
    """Which ALLOWs is one DENY at least as wide as, under the GLOB proposal?"""

    def __init__(self, entries: Iterable[AclBinding]) -> None:
        bindings = list(entries)
        self.allows = [b for b in bindings if b.permission_type is PermissionType.ALLOW]
        shapes = {shape_of(b) for b in bindings if b.permission_type is PermissionType.DENY}
        self._denies = GlobSet(sorted(shapes, key=repr))
        named = {character for shape in shapes for character in shape.characters}
        self._stranger = stranger_to(named.union(*(shape_of(allow).characters for allow in self.allows)))
        pairs = max(1, len(shapes) * len(set(map(shape_of, self.allows))))
        self._verdicts: dict[Shape, Verdict] = {}
        self._steps = min(STEPS_TRIED, max(STEPS_FOR_ALL // pairs, _LEAST_STEPS))

    def of(self, allow: AclBinding) -> Verdict:
        """Return whether one DENY covers all names that this ALLOW covers."""
        shape = shape_of(allow)
        if shape not in self._verdicts:
            self._verdicts[shape] = self._compare(shape)
        return self._verdicts[shape]

    def _compare(self, shape: Shape) -> Verdict:
        found = Verdict.NO
        # Only a DENY that matches a name with something unheard of in place of each wildcard can cover all.
        for place in self._denies.matching(sample_of(shape, self._stranger)):
            verdict = covers(self._denies.shapes[place], shape, steps=self._steps).verdict
            if verdict is Verdict.YES:
                return verdict
            if verdict is Verdict.UNKNOWN:
                found = verdict
        return found


def _names(entries: Iterable[AclBinding], permission: PermissionType, pattern_type: PatternType) -> set[str]:
    return {
        binding.resource_name
        for binding in entries
        if binding.permission_type is permission and binding.pattern_type is pattern_type
    }


def _read_as(entries: Iterable[AclBinding], permission: PermissionType) -> list[AclBinding]:
    """Return the entries with each unknown value read in favour of `permission`.

    An unknown permission becomes that permission. An unknown pattern covers everything
    where it helps `permission`, and nothing otherwise.
    """
    read: list[AclBinding] = []
    for binding in entries:
        if binding.permission_type is PermissionType.UNKNOWN:
            binding = replace(binding, permission_type=permission)
        if binding.pattern_type is PatternType.UNKNOWN:
            if binding.permission_type is not permission:
                continue
            binding = replace(binding, pattern_type=PatternType.LITERAL, resource_name=WILDCARD)
        read.append(binding)
    return read
