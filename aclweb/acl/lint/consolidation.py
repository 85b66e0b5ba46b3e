"""Which ACLs could be one?

`consolidations` are proposals to say the same with fewer ACLs. What each would allow beside that is
worked out by the what-if, on the names that exist and on those that may come. So a proposal that is
called exact was compared question by question. Where there is a glob, nothing is proposed, because
nobody could then work out what a proposal changes for names to come.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, collapse_addresses
from typing import TypeVar

from aclweb.acl.authorizer import AclIndex, Basis, Result
from aclweb.acl.lint.existing_names import Existing
from aclweb.acl.lint.redundancy import Redundancy
from aclweb.acl.lint.wider_acls import span_of
from aclweb.acl.matching import (
    as_java_prints,
    empty_prefix_covers,
    is_address,
    matching_of,
    read_range,
    wildcard_covers,
)
from aclweb.acl.model import (
    ANY_USER,
    AclBinding,
    AuthorizerSettings,
    Delta,
    Operation,
    PatternType,
    ResourceType,
    acl_text,
    operations_of,
)
from aclweb.acl.simulate import Effect, Names, Side, plain, simulate, which_of

CONSOLIDATE_OPERATIONS = "consolidate-operations"
CONSOLIDATE_PREFIX = "consolidate-prefix"
CONSOLIDATE_HOSTS = "consolidate-hosts"

NAMES_FOR_A_PREFIX = 3
"""From so many names on, one prefix is proposed in their place."""

PROPOSALS_COMPARED = 100
"""How many proposals are worked out; those that save most come first."""

RANGES_TRIED = 40
"""Up to so many ranges are tried at their edges; beside more of them a proposal is called exact less often."""

_ALLOW, _REFUSE = "allow {}", "refuse {}"
_END_THE_DEFAULT = "shut out all whom no ACL allows from {}"

_DELIMITERS = re.compile(r"[._:/-]")


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
            bits, address, length = span_of(binding.host)
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
        bits, address, length = span_of(host)
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
        self._existing = Existing(names, settings)
        self._by_type: dict[ResourceType, list[AclBinding]] = {}
        self._by_principal: dict[tuple[ResourceType, str], list[AclBinding]] = {}
        for binding in index:
            self._by_type.setdefault(binding.resource_type, []).append(binding)
            self._by_principal.setdefault((binding.resource_type, binding.principal), []).append(binding)

    def is_worth_it(self, rule: str, proposed: AclBinding, replaced: Sequence[AclBinding]) -> bool:
        """Whether a proposal opens at most as many existing names again as it replaces."""
        return rule != CONSOLIDATE_PREFIX or self._existing.count_under(proposed) <= 2 * len(replaced)

    def differences(self, proposed: AclBinding, replaced: tuple[AclBinding, ...]) -> tuple[Effect, ...]:
        """Return what is allowed, refused or unsure after the replacement and was not before."""
        kind, principal = proposed.resource_type, proposed.principal
        if self._settings.allow_everyone:
            # Everybody can be touched, by the default that the ACL ends.
            near = self._by_type[kind]
        elif principal == ANY_USER:
            # Whoever gains by an ACL for everyone, somebody whom no ACL names gains too.
            near = self._by_principal[kind, ANY_USER]
        else:
            near = self._by_principal[kind, principal] + self._by_principal.get((kind, ANY_USER), [])
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
    start = f"One ACL could replace {len(replaced):,}. {acl_text(proposed)}"
    if not extra:
        later = ", and the operations that a later Kafka adds" if proposed.operation is Operation.ALL else ""
        return f"{start}: exactly the same access{later}."
    proposed_verb = _REFUSE if proposed.is_deny else _ALLOW
    by_verb: dict[str, list[Effect]] = {_ALLOW: [], _REFUSE: [], _END_THE_DEFAULT: []}
    for effect in extra:
        by_verb[_verb(effect) or proposed_verb].append(effect)
    also = [verb.format(_names(found)) for verb, found in by_verb.items() if found]
    return f"{start}: it would also {', and '.join(also)}."


def _verb(effect: Effect) -> str | None:
    """Return what a proposal does where one effect is, None where that depends on something."""
    before, after = effect.before, effect.after
    if before is None or before.result is after.result or after.result is Result.UNDECIDED:
        return None
    if after.basis is Basis.NO_ALLOW_ACL and before.basis is Basis.DEFAULT_ALLOW:
        return _END_THE_DEFAULT
    return _ALLOW if after.result is Result.ALLOWED else _REFUSE


def _names(effects: Sequence[Effect]) -> str:
    """Return the names of effects in words."""
    classes = {(effect.names_kind, effect.names_text) for effect in effects}
    return plain(which_of(effects[0].resource_type, classes))


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
