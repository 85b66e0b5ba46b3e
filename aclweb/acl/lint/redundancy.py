"""Which ACLs can be removed without changing a decision, and which can be combined?

`redundant` looks at each ACL alone: `implied`, `shadowed` and `dead` mean that removing this
one and no other changes no decision for any name, principal or host, and `by` holds the ACLs
one of which counts wherever it counts. `removable` says which of them can go together. The
same holds for questions about a whole resource type, but for one oddity of Kafka: there a
DENY on the empty prefix, which brokers have not taken since 3.5, outweighs nothing.

`consolidations` are proposals to say the same with fewer ACLs. What each would allow beside
that is worked out by the what-if, on the names that exist and on those that may come, so a
proposal that is called exact was compared question by question.

ACLs with a value that aclweb does not know are neither found nor taken as a proof. Globs are
compared one by one with a bound on the work (see `wider`); and where there is any, nothing is
proposed, because nobody could then work out what a proposal changes for names to come.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, collapse_addresses
from typing import TypeVar

from aclweb.acl.authorizer import IMPLIED, AclIndex, Basis, Result
from aclweb.acl.lint.subsumption import WiderGlobs
from aclweb.acl.matching import (
    PrefixChain,
    SortedNames,
    as_java_prints,
    empty_prefix_covers,
    is_address,
    is_one_address,
    matching_of,
    read_address,
    read_range,
    why_dead,
    why_no_client,
    why_no_resource,
    wildcard_covers,
)
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    Delta,
    Operation,
    PatternType,
    PermissionType,
    ResourcePattern,
    ResourceType,
    name_text,
    operations_of,
    says,
    split_principal,
)
from aclweb.acl.simulate import Effect, Names, Side, simulate

IMPLIED_RULE = "implied"
SHADOWED = "shadowed"
DEAD = "dead"
HARMLESS_DUPLICATE = "harmless-duplicate"
UNREACHABLE = "unreachable"
ORPHAN = "orphan"
CONSOLIDATE_OPERATIONS = "consolidate-operations"
CONSOLIDATE_PREFIX = "consolidate-prefix"
CONSOLIDATE_HOSTS = "consolidate-hosts"

NAMES_FOR_A_PREFIX = 3
"""From so many names on, one prefix is proposed in their place."""

PROPOSALS_COMPARED = 100
"""How many proposals are worked out; those that save most come first."""

RANGES_TRIED = 40
"""Up to so many ranges are tried at their edges; beside more of them a proposal is called exact less often."""

NAMES_SPELLED = 3
"""How many names a sentence spells out before it counts the rest."""

NO_NAMES = SortedNames(())

_ALLOW, _REFUSE = "allow {}", "refuse {}"
_END_THE_DEFAULT = "shut out all whom no ACL allows from {}"

_DELIMITERS = re.compile(r"[._:/-]")


@dataclass(frozen=True)
class Redundancy:
    """One ACL that could go, or (for a consolidation) the ACL that could stand for several.

    acl: the ACL; a proposed one for a consolidation. by: the proof; for a consolidation the
    ACLs that would go. extra: what a consolidation would change beside that, empty for an
    exact one; None for every other rule. keeps_covered: an ACL that covers the names of a dead
    one, needed where everyone is allowed while no ACL exists.
    """

    rule: str
    severity: str
    sentence: str
    acl: AclBinding
    by: tuple[AclBinding, ...] = ()
    extra: tuple[Effect, ...] | None = None
    keeps_covered: AclBinding | None = None

    @property
    def rests_on(self) -> tuple[AclBinding, ...]:
        """The ACLs without which the finding would not hold."""
        return self.by if self.keeps_covered is None else (*self.by, self.keeps_covered)

    def as_dict(self) -> dict[str, object]:
        answer: dict[str, object] = {
            "rule": self.rule,
            "severity": self.severity,
            "sentence": self.sentence,
            "acl": self.acl.as_dict(),
            "by": [binding.as_dict() for binding in self.by],
        }
        if self.extra is not None:
            answer["extra"] = [effect.as_dict() for effect in self.extra]
        return answer


def redundant(
    index: AclIndex,
    settings: AuthorizerSettings | None = None,
    names: Names | None = None,
    *,
    limits: list[str] | None = None,
) -> Iterator[Redundancy]:
    """Yield what is redundant, ACL by ACL in the order of `index`.

    names: the topics, groups and transactional ids that exist, for `orphan`; a type without
    a single given name is not looked at. limits: takes a sentence where the search stopped early.
    """
    settings = settings or AuthorizerSettings()
    filed = _Filed(index, settings)
    existing = _Existing(names or Names(), settings)
    for binding in index:
        if not binding.has_unknown:
            yield from _findings(binding, filed, existing, settings)
    if limits is not None and filed.stopped_early:
        limits.append(
            "Globs are compared with a bound on the work, which was reached: "
            "what is found holds, and more may be redundant."
        )


def removable(findings: Iterable[Redundancy]) -> tuple[AclBinding, ...]:
    """Return ACLs that can all be removed at once without changing a decision.

    A proof still holds where what it rests on goes too, as long as the proof of that leads to
    an ACL that stays: whatever covers a cover covers. Only ACLs whose proofs lead back to
    themselves, which say the same in other words, cannot all go.
    """
    gone: dict[AclBinding, tuple[AclBinding, ...]] = {}
    for finding in findings:
        proven = finding.rule in (IMPLIED_RULE, SHADOWED, DEAD) and finding.acl not in gone
        if proven and not _leads_back(finding.acl, finding.rests_on, gone):
            gone[finding.acl] = finding.rests_on
    return tuple(gone)


def _leads_back(
    binding: AclBinding, proof: Sequence[AclBinding], gone: dict[AclBinding, tuple[AclBinding, ...]]
) -> bool:
    waiting, seen = list(proof), set(proof)
    while waiting:
        one = waiting.pop()
        if one == binding:
            return True
        fresh = [other for other in gone.get(one, ()) if other not in seen]
        seen.update(fresh)
        waiting += fresh
    return False


def consolidations(
    index: AclIndex,
    settings: AuthorizerSettings | None = None,
    names: Names | None = None,
    *,
    limits: list[str] | None = None,
) -> Iterator[Redundancy]:
    """Yield proposals to replace several ACLs by one, those that save most first.

    limits: takes a sentence where there could be more proposals than are yielded.
    """
    settings = settings or AuthorizerSettings()
    if any(map(matching_of(settings).has_glob, index)):
        if limits is not None:
            limits.append(
                "No consolidation is proposed where globs are, because what it would change for names that "
                "do not exist yet is unknown."
            )
        return
    proposals = [
        *_operation_proposals(index, settings),
        *_host_proposals(index, settings),
        *_prefix_proposals(index),
    ]
    proposals.sort(key=lambda proposal: -len(proposal[2]))
    comparison = _Comparison(index, settings, names or Names())
    # What an ACL that is there says already is told as implied, and nothing need be added for it.
    proposals = [
        proposal for proposal in proposals if proposal[1] not in index and comparison.is_worth_it(*proposal)
    ]
    rest = len(proposals) - PROPOSALS_COMPARED
    if limits is not None and rest > 0:
        limits.append(
            f"The {PROPOSALS_COMPARED} proposals that save most were worked out, and {rest:,} more were not."
        )
    for rule, proposed, replaced in proposals[:PROPOSALS_COMPARED]:
        extra = comparison.differences(proposed, replaced)
        yield Redundancy(rule, "info", _proposed(proposed, replaced, extra), proposed, replaced, extra)


Pattern = tuple[bool, str]
"""Whether it is LITERAL, and the name."""

_Group = dict[Operation, AclBinding]


class _Patterns:
    """The patterns of one type, with what stands on each; asked for all that cover a given one."""

    def __init__(self, groups: dict[Pattern, _Group], settings: AuthorizerSettings) -> None:
        self.groups, self._settings = groups, settings
        self._chain = PrefixChain.of(name for literal, name in groups if not literal and name)
        masks: list[int] = []
        for prefix, parent in zip(self._chain.prefixes, self._chain.parents, strict=True):
            masks.append(_bits(groups[False, prefix]) | (masks[parent] if parent >= 0 else 0))
        # For each prefix the operations that it or a shorter one has, so that a search knows when to stop.
        self._masks = masks

    def find(self, binding: AclBinding, operations: Sequence[Operation]) -> AclBinding | None:
        """Return another binding with one of these operations whose pattern covers that of `binding`."""
        wanted = sum(1 << operation.code for operation in operations)
        for group in self._covering(binding, wanted):
            for operation in operations:
                found = group.get(operation)
                if found is not None and found != binding:
                    return found
        return None

    def _covering(self, binding: AclBinding, wanted: int) -> Iterator[_Group]:
        name, settings = binding.resource_name, self._settings
        literal = binding.pattern_type is PatternType.LITERAL
        is_wildcard = literal and name == WILDCARD
        if literal and (True, name) in self.groups:
            yield self.groups[True, name]
        if not is_wildcard and name:
            place = self._chain.longest(name)
            while place >= 0 and self._masks[place] & wanted:
                yield self.groups[False, self._chain.prefixes[place]]
                place = self._chain.parents[place]
        if not is_wildcard and _under_wildcard(literal, name, settings):
            yield self.groups.get((True, WILDCARD), {})
        if empty_prefix_covers(name, settings):
            yield self.groups.get((False, ""), {})
        if not literal and not name and not settings.empty_prefix_covers_all:
            # For AclAuthorizer the empty prefix covers the empty name alone, as the empty literal does.
            yield self.groups.get((True, ""), {})


def _under_wildcard(literal: bool, name: str, settings: AuthorizerSettings) -> bool:
    """Whether LITERAL `*` covers all that this other pattern covers."""
    if literal:
        return wildcard_covers(name, settings)
    if not name:
        return not settings.wildcard_skips_starred_names
    # A prefix that begins with an asterisk has longer names, which KRaft's wildcard skips.
    return wildcard_covers(name + name, settings)


class _Filed:
    """All bindings without unknown values, by type, principal, host and permission."""

    def __init__(self, index: AclIndex, settings: AuthorizerSettings) -> None:
        self.settings, matching = settings, matching_of(settings)
        groups: dict[tuple[ResourceType, str, str, PermissionType], dict[Pattern, _Group]] = {}
        anyone: dict[ResourceType, dict[Pattern, list[AclBinding]]] = {}
        ranges: dict[tuple[int, int], dict[int, dict[str, None]]] = {}
        for binding in index:
            if _is_left_out(binding):
                continue
            pattern = binding.pattern_type is PatternType.LITERAL, binding.resource_name
            anyone.setdefault(binding.resource_type, {}).setdefault(pattern, []).append(binding)
            if split_principal(binding.principal) is None:
                continue
            owner = binding.resource_type, binding.principal, binding.host, binding.permission_type
            groups.setdefault(owner, {}).setdefault(pattern, {})[binding.operation] = binding
            span = matching.range_of(binding.host)
            if span is not None:
                bits, start, length = span
                by_start = ranges.setdefault((bits, length), {})
                by_start.setdefault(start >> bits - length, {})[binding.host] = None
        self._owners = {owner: _Patterns(found, settings) for owner, found in groups.items()}
        self._ranges = ranges
        self._wider_globs = None if matching.is_nested else WiderGlobs(index)
        self._anyone = {
            kind: _Patterns({pattern: _one_or_two(found) for pattern, found in patterns.items()}, settings)
            for kind, patterns in anyone.items()
        }

    def find(
        self, binding: AclBinding, permission: PermissionType, operations: Sequence[Operation]
    ) -> AclBinding | None:
        """Return another binding with this permission and one of these operations that is at least as wide.

        Its pattern, principal and host then cover all that those of `binding` cover.
        """
        plain = binding.pattern_type is not PatternType.GLOB
        for principal in dict.fromkeys((binding.principal, ANY_USER)) if plain else ():
            for host in self._hosts_around(binding.host):
                patterns = self._owners.get((binding.resource_type, principal, host, permission))
                found = patterns.find(binding, operations) if patterns is not None else None
                if found is not None:
                    return found
        return self._wider_globs.find(binding, permission, operations) if self._wider_globs else None

    @property
    def stopped_early(self) -> bool:
        """Whether some globs were not compared to the end."""
        return self._wider_globs is not None and self._wider_globs.stopped_early

    def also_covering(self, binding: AclBinding) -> AclBinding | None:
        """Return another ACL that covers every name that this one covers, whoever it is for; None for a glob."""
        if binding.pattern_type is PatternType.GLOB:
            return None
        return self._anyone[binding.resource_type].find(binding, (Operation.READ, Operation.ALL))

    def _hosts_around(self, host: str) -> Iterator[str]:
        """Yield each host of an ACL that admits every address that this host admits, itself first."""
        yield host
        if host != WILDCARD:
            yield WILDCARD
        if not self._ranges:
            return
        if is_one_address(host):
            yield str(IPv4Address(_span(host)[1]))
        bits, address, length = _span(host)
        for (family, shorter), starts in self._ranges.items():
            if family == bits and shorter <= length:
                yield from (text for text in starts.get(address >> bits - shorter, ()) if text != host)


def _span(host: str) -> tuple[int, int, int]:
    """Return (bits of the family, address, prefix length) of a host; no bits if it is neither range nor address."""
    span = read_range(host)
    if span is not None:
        return span
    address = read_address(host) if is_address(host) else None
    # 0.0.0.0 is in no range.
    if address is None or address == (32, 0):
        return 0, 0, 0
    return address[0], address[1], address[0]


def _is_left_out(binding: AclBinding) -> bool:
    return binding.has_unknown or binding.pattern_type is PatternType.GLOB


def _one_or_two(bindings: Sequence[AclBinding]) -> _Group:
    """File a pattern's bindings under two stand-in operations: enough to find one that is not a given one."""
    return dict(zip((Operation.READ, Operation.ALL), bindings[:2], strict=False))


def _bits(group: _Group) -> int:
    return sum(1 << operation.code for operation in group)


class _Existing:
    """The names that exist, to see what a pattern covers among them."""

    def __init__(self, names: Names, settings: AuthorizerSettings) -> None:
        self._settings = settings
        given = {
            ResourceType.TOPIC: (*names.topics, *names.new_topics),
            ResourceType.GROUP: (*names.groups, *names.new_groups),
            ResourceType.TRANSACTIONAL_ID: (*names.transactional_ids, *names.new_transactional_ids),
        }
        self._sorted = {kind: SortedNames(found) for kind, found in given.items() if found}
        self._none_under: dict[ResourcePattern, bool] = {}

    def under(self, binding: AclBinding) -> tuple[str, ...]:
        """Return the given names of the type that the pattern covers."""
        return tuple(self._sorted.get(binding.resource_type, NO_NAMES).under(binding, self._settings))

    def count_under(self, prefixed: AclBinding) -> int:
        """Return how many given names begin with a prefix, without listing them."""
        start, end = self._sorted.get(prefixed.resource_type, NO_NAMES).range_of(prefixed.resource_name)
        return end - start

    def has_none_under(self, binding: AclBinding) -> bool:
        """Whether names of this type were given and the pattern covers none of them."""
        if binding.resource_type not in self._sorted:
            return False
        pattern = binding.pattern
        if pattern not in self._none_under:
            self._none_under[pattern] = not self.under(binding)
        return self._none_under[pattern]


def _findings(
    binding: AclBinding, filed: _Filed, existing: _Existing, settings: AuthorizerSettings
) -> Iterator[Redundancy]:
    alike = filed.find(
        binding, binding.permission_type, tuple(dict.fromkeys((binding.operation, Operation.ALL)))
    )
    if alike is not None:
        sentence = f"{says(binding)}: another ACL already says the same. {says(alike)}."
        yield Redundancy(IMPLIED_RULE, "info", sentence, binding, (alike,))
    denies = _shadow(binding, filed)
    if denies:
        sentence = (
            f"{says(binding)}: this has no effect, because a DENY overrides all that it allows. "
            f"{' '.join(f'{says(deny)}.' for deny in denies)}"
        )
        yield Redundancy(SHADOWED, "warning", sentence, binding, denies)
    dead = why_dead(binding, settings)
    cover = filed.also_covering(binding) if dead is not None and settings.allow_everyone else None
    if dead is not None and (cover is not None or not settings.allow_everyone):
        severity = "error" if binding.is_deny else "warning"
        meaning = "it denies nobody anything" if binding.is_deny else "it allows nobody anything"
        sentence = f"{says(binding)}: {dead}, so {meaning}."
        yield Redundancy(DEAD, severity, sentence, binding, keeps_covered=cover)
    if alike is None and not denies and binding.permission_type is PermissionType.ALLOW:
        stronger = filed.find(binding, PermissionType.ALLOW, _IMPLYING.get(binding.operation, ()))
        if stronger is not None:
            sentence = f"{says(binding)}: another ACL already implies this. {says(stronger)}."
            yield Redundancy(HARMLESS_DUPLICATE, "info", sentence, binding, (stronger,))
    unreachable = why_no_client(binding, settings) or why_no_resource(binding)
    if unreachable is not None:
        sentence = f"{says(binding)}: {unreachable}."
        yield Redundancy(UNREACHABLE, "error" if binding.is_deny else "warning", sentence, binding)
    elif existing.has_none_under(binding):
        what = binding.resource_type.name.lower().replace("_", " ")
        sentence = f"{says(binding)}: no {what} that exists matches it now; one that is made later may."
        yield Redundancy(ORPHAN, "info", sentence, binding)


_IMPLYING: dict[Operation, tuple[Operation, ...]] = {
    implied: tuple(operation for operation, other in IMPLIED.items() if other is implied)
    for implied in set(IMPLIED.values())
}


def _shadow(binding: AclBinding, filed: _Filed) -> tuple[AclBinding, ...]:
    """Return DENYs one of which counts wherever this ALLOW counts; none if there is room left."""
    if binding.permission_type is not PermissionType.ALLOW:
        return ()
    everything = filed.find(binding, PermissionType.DENY, (Operation.ALL,))
    if everything is not None:
        return (everything,)
    allowed = (binding.operation, IMPLIED.get(binding.operation))
    denies: dict[AclBinding, None] = {}
    for operation in allowed:
        if operation is None:
            continue
        deny = filed.find(binding, PermissionType.DENY, (operation,))
        if deny is None:
            return ()
        denies[deny] = None
    return tuple(denies)


_Proposal = tuple[str, AclBinding, tuple[AclBinding, ...]]


def _operation_proposals(index: AclIndex, settings: AuthorizerSettings) -> Iterator[_Proposal]:
    """Propose ALL in place of every operation that means something on the type."""
    for shared, group in _grouped(index, "operation"):
        wanted = set(operations_of(shared.resource_type, settings))
        found = tuple(binding for binding in group if binding.operation in wanted)
        if len(wanted) > 1 and {binding.operation for binding in found} == wanted:
            yield CONSOLIDATE_OPERATIONS, replace(shared, operation=Operation.ALL), found


def _host_proposals(index: AclIndex, settings: AuthorizerSettings) -> Iterator[_Proposal]:
    """Propose a range in place of hosts that together are exactly that range."""
    if not matching_of(settings).reads_ranges:
        return
    for shared, group in _grouped(index, "host"):
        by_family: dict[int, dict[tuple[int, int], AclBinding]] = {32: {}, 128: {}}
        for binding in group:
            bits, address, length = _span(binding.host)
            # A range also holds the addresses of one interface, which a single IPv6 address does not.
            if bits == 32 or (bits == 128 and "/" in binding.host):
                by_family[bits][address, length] = binding
        v4 = {IPv4Network(span, strict=False): binding for span, binding in by_family[32].items()}
        v6 = {IPv6Network(span, strict=False): binding for span, binding in by_family[128].items()}
        for host, parts in (*_joined(v4, collapse_addresses(v4)), *_joined(v6, collapse_addresses(v6))):
            if read_range(host) is not None:
                yield CONSOLIDATE_HOSTS, replace(shared, host=host), parts


Network = TypeVar("Network", IPv4Network, IPv6Network)


def _joined(
    parts: Mapping[Network, AclBinding], ranges: Iterable[Network]
) -> Iterator[tuple[str, tuple[AclBinding, ...]]]:
    """Yield each range that several parts make up, with them."""
    for joined in ranges:
        inside = tuple(binding for part, binding in parts.items() if part.subnet_of(joined))
        if len(inside) > 1 and joined not in parts:
            yield str(joined), inside


def _edges(hosts: Iterable[str]) -> Iterator[str]:
    """Yield the first and last address of each range, and those beside them: where a mistake would show."""
    for host in hosts:
        bits, address, length = _span(host)
        if not bits:
            continue
        size = 1 << bits - length
        first = address // size * size
        for edge in (first - 1, first, first + size - 1, first + size):
            if 0 <= edge < 1 << bits:
                yield as_java_prints(str(IPv4Address(edge) if bits == 32 else IPv6Address(edge)))


def _prefix_proposals(index: AclIndex) -> Iterator[_Proposal]:
    """Propose a prefix that ends in a delimiter in place of several names that begin with it."""
    for shared, group in _grouped(index, "resource_name"):
        if shared.pattern_type is not PatternType.LITERAL or shared.resource_type is ResourceType.CLUSTER:
            continue
        under: dict[str, list[AclBinding]] = {}
        for binding in group:
            for found in _DELIMITERS.finditer(binding.resource_name):
                if 0 < found.end() < len(binding.resource_name):
                    under.setdefault(binding.resource_name[: found.end()], []).append(binding)
        taken: set[AclBinding] = set()
        for prefix in sorted(under, key=len, reverse=True):
            parts = [binding for binding in under[prefix] if binding not in taken]
            if len(parts) >= NAMES_FOR_A_PREFIX:
                taken.update(parts)
                proposed = replace(shared, resource_name=prefix, pattern_type=PatternType.PREFIXED)
                yield CONSOLIDATE_PREFIX, proposed, tuple(parts)


class _Comparison:
    """Works out what a proposal would change, with only those ACLs and names that can matter."""

    def __init__(self, index: AclIndex, settings: AuthorizerSettings, names: Names) -> None:
        self._index, self._settings, self._names = index, settings, names
        self._existing = _Existing(names, settings)
        self._by_type: dict[ResourceType, list[AclBinding]] = {}
        self._by_caller: dict[tuple[ResourceType, str], list[AclBinding]] = {}
        for binding in index:
            self._by_type.setdefault(binding.resource_type, []).append(binding)
            self._by_caller.setdefault((binding.resource_type, binding.principal), []).append(binding)

    def is_worth_it(self, rule: str, proposed: AclBinding, replaced: Sequence[AclBinding]) -> bool:
        """Whether a proposal opens at most as many existing names again as it stands for."""
        return rule != CONSOLIDATE_PREFIX or self._existing.count_under(proposed) <= 2 * len(replaced)

    def differences(self, proposed: AclBinding, replaced: tuple[AclBinding, ...]) -> tuple[Effect, ...]:
        """Return what is allowed, refused or unsure after the replacement and was not before."""
        kind, caller = proposed.resource_type, proposed.principal
        if self._settings.allow_everyone:
            # Everybody can be touched, by the default that the rule ends.
            near = self._by_type[kind]
        elif caller == ANY_USER:
            # Whoever gains by a rule for everyone, somebody whom no ACL names gains too.
            near = self._by_caller[kind, ANY_USER]
        else:
            near = self._by_caller[kind, caller] + self._by_caller.get((kind, ANY_USER), [])
        delta = Delta(add=(proposed,), remove=replaced)
        under = self._existing.under(proposed)
        ranges = {proposed.host, *(binding.host for binding in near if "/" in binding.host)}
        tried = ranges if len(ranges) <= RANGES_TRIED else {proposed.host, *(old.host for old in replaced)}
        names = Names(
            topics=under if kind is ResourceType.TOPIC else (),
            groups=under if kind is ResourceType.GROUP else (),
            transactional_ids=under if kind is ResourceType.TRANSACTIONAL_ID else (),
            principals=self._names.principals,
            hosts=tuple(_edges(tried)),
        )
        impact = simulate(delta, AclIndex(near), names, self._settings)
        if proposed.host != replaced[0].host:
            # The joined range holds the same addresses, which the what-if tries at its edges. Its own
            # cell is for those that lie in none of its parts, and there are none.
            return tuple(effect for effect in (*impact.gains, *impact.loses) if is_address(effect.host))
        # What hangs on an address alone was tried at the edges of every range; outside of all of them
        # the answers that are shown hold.
        unsure = [effect for effect in impact.depends if tried is not ranges or _is_sure_to_matter(effect)]
        return tuple(map(self._as_it_is_now, (*impact.gains, *impact.loses, *unsure)))

    def _as_it_is_now(self, effect: Effect) -> Effect:
        """Return an effect that also heeds the ACLs for others: what they cover is not left to the default."""
        before = effect.before
        if before is None or before.basis is not Basis.DEFAULT_DENY:
            return effect
        covering = self._first_covering(effect)
        if covering is None:
            return effect
        return replace(effect, before=Side(before.result, Basis.NO_ALLOW_ACL, (covering,)))

    def _first_covering(self, effect: Effect) -> AclBinding | None:
        """Return an ACL that covers every name of an effect, whoever it is for."""
        shelf, name = self._index.shelf(effect.resource_type), effect.names_text
        if shelf is None:
            return None
        if effect.resource_name is not None and name in shelf.literals:
            return shelf.literals[name][0]
        place = shelf.chain.longest(name)
        if place >= 0:
            return shelf.prefixed[place][0]
        if shelf.wildcard and wildcard_covers(name, self._settings):
            return shelf.wildcard[0]
        return (
            shelf.empty_prefix[0]
            if shelf.empty_prefix and empty_prefix_covers(name, self._settings)
            else None
        )


def _is_sure_to_matter(effect: Effect) -> bool:
    """Whether an effect that depends on something is a difference, or may be one, at an address outside all ranges."""
    before = None if effect.before is None else effect.before.result
    return before is not effect.after.result or before is Result.UNDECIDED


def _proposed(proposed: AclBinding, replaced: Sequence[AclBinding], extra: Sequence[Effect]) -> str:
    start = f"One ACL could replace {len(replaced):,}. {says(proposed)}"
    if not extra:
        later = ", and the operations that a later Kafka adds" if proposed.operation is Operation.ALL else ""
        return f"{start}: exactly the same access{later}."
    proposed_verb = _REFUSE if proposed.is_deny else _ALLOW
    by_verb: dict[str, list[Effect]] = {_ALLOW: [], _REFUSE: [], _END_THE_DEFAULT: []}
    for effect in extra:
        by_verb[_verb(effect) or proposed_verb].append(effect)
    also = [verb.format(_names(found, proposed)) for verb, found in by_verb.items() if found]
    return f"{start}: it would also {', and '.join(also)}."


def _verb(effect: Effect) -> str | None:
    """Return what a proposal does where one effect is, None where that depends on something."""
    before, after = effect.before, effect.after
    if before is None or before.result is after.result or after.result is Result.UNDECIDED:
        return None
    if after.basis is Basis.NO_ALLOW_ACL and before.basis is Basis.DEFAULT_ALLOW:
        return _END_THE_DEFAULT
    return _ALLOW if after.result is Result.ALLOWED else _REFUSE


def _names(effects: Sequence[Effect], proposed: AclBinding) -> str:
    """Return the names of effects in words."""
    exact = sorted({effect.names_text for effect in effects if effect.resource_name is not None})
    also: list[str] = []
    if exact:
        shown = ", ".join(map(name_text, exact[:NAMES_SPELLED]))
        more = f" and {len(exact) - NAMES_SPELLED:,} more" if len(exact) > NAMES_SPELLED else ""
        also.append(f"{shown}{more}")
    if any(effect.resource_name is None for effect in effects):
        also.append(f"every name made later that begins with {proposed.resource_name!a}")
    return " and ".join(also)


def _grouped(index: AclIndex, field: str) -> Iterator[tuple[AclBinding, list[AclBinding]]]:
    """Yield groups of several bindings that differ in one field alone, with one of them as the pattern."""
    groups: dict[tuple[object, ...], list[AclBinding]] = {}
    for binding in index:
        if not binding.has_unknown:
            key = tuple(getattr(binding, name) for name in AclBinding.__slots__ if name != field)
            groups.setdefault(key, []).append(binding)
    for group in groups.values():
        if len(group) > 1:
            yield group[0], group
