"""Which fewest rights allow what a principal was logged to use?

Only ALLOWs that name the principal change; a DENY and an ACL for others stay. What is proposed is never wider than what
allows it today, but for the hosts where any is chosen. Every request is decided again with the proposal, and an ACL
stays where a narrower one would not do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from aclweb.acl.authorizer import IMPLIED, AclIndex, Result, decide, findings_for, hazards_of
from aclweb.acl.kafka import Target, refusal
from aclweb.acl.logged.generalising import ANY, SEEN, Choices, patterns_for, reaches
from aclweb.acl.logged.open_names import LAST_COVER, opens
from aclweb.acl.logged.proposal import Held, Proposal, Proposed, Used, needed
from aclweb.acl.matching import comes_from, is_address, matching_of
from aclweb.acl.model import (
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    Delta,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    number_of,
)

NEEDED_WHOLE = "Brokers would refuse a narrower ACL for what it is used for."
NOT_ENOUGH = "Narrower ACLs would not allow all that was logged."
UNCLEAR = "An ACL with an unknown value may decide what it is used for."
UNUSED = "No logged request needed it."
ALSO_ALLOWED = "Other ACLs allow each logged request that it allows."

_Ordered = Mapping[AclBinding, None]


def propose(
    principal: str,
    used: Iterable[Used],
    index: AclIndex,
    settings: AuthorizerSettings,
    choices: Choices | None = None,
    *,
    keep: Mapping[AclBinding, str] | None = None,
    why_not_unused: str = "",
) -> Proposal:
    """Return what the ALLOWs of one principal would be if it could do what it was logged to do.

    used: the logged permits of this principal, each request once; also denials that the ACLs allow by now, or the
    proposal would deny them again. index: all ACLs of the cluster. keep: ACLs that
    stay whatever the log says, each with the reason as a sentence, such as those too young to judge. why_not_unused:
    the reason why the log may call no ALLOW unused; then those that no logged request matches stay too.
    """
    (found,) = propose_each(
        principal, used, index, settings, (choices or Choices(),), keep=keep, why_not_unused=why_not_unused
    )
    return found


def propose_each(
    principal: str,
    used: Iterable[Used],
    index: AclIndex,
    settings: AuthorizerSettings,
    choices: Iterable[Choices],
    *,
    keep: Mapping[AclBinding, str] | None = None,
    why_not_unused: str = "",
) -> list[Proposal]:
    """Return what `propose` does for each of several choices; what they have in common is worked out once."""
    today = _Today(principal, tuple(used), index, settings, keep or {}, why_not_unused)
    return [_Search(today, each).proposal() for each in choices]


@dataclass(frozen=True, slots=True)
class _Need:
    """A request that some ALLOW of the principal is needed for, and the narrowest one that allows it today."""

    used: Used
    source: AclBinding


class _Today:
    """One principal's ACLs and requests, how these are answered, and which of its ACLs stay whatever is chosen.

    allowed: the requests that the ACLs allow. matching: for each request the principal's ALLOWs that match it.
    """

    def __init__(
        self,
        principal: str,
        used: tuple[Used, ...],
        index: AclIndex,
        settings: AuthorizerSettings,
        keep: Mapping[AclBinding, str],
        why_not_unused: str,
    ) -> None:
        self.principal, self.used = principal, used
        self.index, self.settings = index, settings
        self.own = tuple(
            binding
            for binding in index.of_principal(principal)
            if binding.permission_type is PermissionType.ALLOW
        )
        self.own_set = frozenset(self.own)
        self.staying = {binding: keep[binding] for binding in self.own if binding in keep}
        self.staying |= {binding: UNCLEAR for binding in self.own if binding.has_unknown}
        self.matching = _matching(used, self.own, settings)
        if why_not_unused:
            matched = set(_by_acl(self.matching))
            reason = f"Cannot tell whether it is used: {why_not_unused}."
            self._stay((binding for binding in self.own if binding not in matched), reason)
        self.near = _near(principal, used, index, settings)
        indexed = AclIndex(self.near)
        decided = [(each, decide(each.request, indexed, settings)[0]) for each in used]
        for each, result in decided:
            if result is Result.UNDECIDED:
                self._stay(self.matching[each], UNCLEAR)
        self.allowed = tuple(each for each, result in decided if result is Result.ALLOWED)
        self._needs: dict[frozenset[AclBinding], list[_Need]] = {}

    def _stay(self, bindings: Iterable[AclBinding], reason: str) -> None:
        for binding in bindings:
            self.staying.setdefault(binding, reason)

    def needs(self, staying: Iterable[AclBinding]) -> list[_Need]:
        """Return the requests that nobody else's ACL allows, nor one of the principal's that stays."""
        movable = self.own_set.difference(staying)
        if movable not in self._needs:
            self._needs[movable] = list(self._found(movable))
        return self._needs[movable]

    def _found(self, movable: frozenset[AclBinding]) -> Iterator[_Need]:
        without = AclIndex(binding for binding in self.near if binding not in movable)
        for each in self.allowed:
            if decide(each.request, without, self.settings)[0] is Result.ALLOWED:
                continue
            sources = [binding for binding in self.matching[each] if binding in movable]
            if sources:
                yield _Need(each, min(sources, key=lambda source: _width(source, each)))


class _Search:
    """The search for what replaces a principal's ACLs, and which of them turn out to have to stay as they are."""

    def __init__(self, today: _Today, choices: Choices) -> None:
        self.today, self.choices = today, choices
        self.own, self.own_set, self.used = today.own, today.own_set, today.used
        self.index, self.settings = today.index, today.settings
        self.staying = dict(today.staying)

    def proposal(self) -> Proposal:
        while True:
            needs = self.today.needs(self.staying)
            wanted, wide = self._wanted(needs)
            final = self._needed_of(wide, needs)
            gone = tuple(binding for binding in self.own if binding not in final)
            new = tuple(binding for binding in final if binding not in self.own_set)
            after = AclIndex(Delta(new, gone).applied_to(self.today.near))
            lacking = [
                each
                for each in self.today.allowed
                if decide(each.request, after, self.settings)[0] is not Result.ALLOWED
            ]
            opened = [binding for binding in gone if self._opens(binding, final)]
            if not lacking and not opened:
                return self._told(wanted, final, after)
            for each in lacking:
                self._stay(self.today.matching[each], NOT_ENOUGH)
            self._stay(opened, LAST_COVER)

    def _stay(self, bindings: Iterable[AclBinding], reason: str) -> None:
        for binding in bindings:
            self.staying.setdefault(binding, reason)

    def _wanted(self, needs: Iterable[_Need]) -> tuple[dict[AclBinding, set[AclBinding]], _Ordered]:
        """Return what replaces each ACL that is needed, and all ACLs of the principal afterwards."""
        groups: dict[tuple[AclBinding, Operation, str], list[Used]] = {}
        hosts = {need: self._host(need) for need in needs}
        implied = {
            (need.used.request.resource, IMPLIED.get(need.used.request.operation), host)
            for need, host in hosts.items()
        }
        for need, host in hosts.items():
            operation = need.used.request.operation
            # What another right brings along joins no names of its own.
            if (need.used.request.resource, operation, host) not in implied:
                groups.setdefault((need.source, operation, host), []).append(need.used)
        chosen: dict[AclBinding, set[AclBinding]] = {}
        for (source, operation, host), members in groups.items():
            names = {each.request.resource.name for each in members}
            patterns = patterns_for(names, source.pattern, self.choices, self.settings)
            for each in members:
                pattern = patterns[each.request.resource.name]
                narrow = replace(
                    source,
                    resource_name=pattern.name,
                    pattern_type=pattern.pattern_type,
                    operation=operation,
                    host=host,
                )
                if narrow != source and self._refused(narrow, each):
                    self._stay((source,), NEEDED_WHOLE)
                    narrow = source
                chosen.setdefault(source, set()).add(narrow)
        staying = [binding for binding in self.own if binding in self.staying]
        stands_for = _undominated(
            {narrow for group in chosen.values() for narrow in group}, staying, self.settings
        )
        final = dict.fromkeys((*staying, *stands_for.values()))
        return {source: {stands_for[narrow] for narrow in group} for source, group in chosen.items()}, final

    def _needed_of(self, final: _Ordered, needs: Iterable[_Need]) -> _Ordered:
        """Return these ACLs without the new ones of which others allow each request."""
        matching = _matching([need.used for need in needs], final, self.settings)
        others = {each: len(bindings) for each, bindings in matching.items()}
        by_acl = _by_acl(matching)
        kept = dict(final)
        for binding in reversed(list(final)):
            members = by_acl.get(binding, [])
            if binding not in self.own_set and all(others[each] > 1 for each in members):
                del kept[binding]
                for each in members:
                    others[each] -= 1
        return kept

    def _host(self, need: _Need) -> str:
        if self.choices.hosts == ANY:
            return WILDCARD
        return need.used.request.host if self.choices.hosts == SEEN else need.source.host

    def _refused(self, binding: AclBinding, used: Used) -> bool:
        """Whether brokers would refuse this ACL, or could fail on the name that it is for."""
        return refusal("add", binding, Target(self.settings)) is not None or bool(
            hazards_of(used.request, AclIndex((binding,)), self.settings)
        )

    def _opens(self, binding: AclBinding, final: Iterable[AclBinding]) -> bool:
        """Whether without this ACL some name may have none, and be open to everyone for that."""
        return opens(binding, self.index, self.settings, self.own_set) and not any(
            reaches(other.pattern, binding.pattern, self.settings) for other in final
        )

    def _told(
        self, wanted: Mapping[AclBinding, set[AclBinding]], final: _Ordered, after: AclIndex
    ) -> Proposal:
        not_covered = tuple(
            each for each in self.used if decide(each.request, after, self.settings)[0] is not Result.ALLOWED
        )
        lines = sum(each.lines for each in self.used)
        of_today = _by_acl(self.today.matching)
        today = tuple(
            self._held(
                binding,
                of_today.get(binding, []),
                [narrow for narrow in wanted.get(binding, ()) if narrow in final],
                stays=binding in final,
            )
            for binding in self.own
        )
        reasons = {held.binding: held.reason for held in today}
        of_final = _by_acl(_matching(self.used, final, self.settings))
        new = sorted((binding for binding in final if binding not in self.own_set), key=_in_list)
        proposed = []
        for binding in (*(binding for binding in self.own if binding in final), *new):
            members = of_final.get(binding, [])
            proposed.append(
                Proposed(
                    binding,
                    sum(each.lines for each in members),
                    is_new=binding not in self.own_set,
                    reason=reasons.get(binding) or _why_new(members),
                )
            )
        return Proposal(
            principal=self.today.principal,
            today=today,
            proposed=tuple(proposed),
            lines=lines,
            covered=lines - sum(each.lines for each in not_covered),
            not_covered=not_covered,
        )

    def _held(
        self, binding: AclBinding, members: Sequence[Used], replaced_by: Iterable[AclBinding], *, stays: bool
    ) -> Held:
        lines = sum(each.lines for each in members)
        names = len({each.request.resource for each in members})
        replacing = () if stays else tuple(sorted(replaced_by, key=_in_list))
        if stays:
            reason = self.staying.get(binding, f"{needed(lines)} it.")
        elif not members:
            reason = UNUSED
        elif not replacing:
            reason = ALSO_ALLOWED
        else:
            verb = "replaces" if len(replacing) == 1 else "replace"
            reason = (
                f"{number_of(names, 'name')} of it {'was' if names == 1 else 'were'} used; "
                f"{number_of(len(replacing), 'ACL')} {verb} it."
            )
        return Held(binding, lines, names, stays, replacing, reason)


def _near(
    principal: str, used: Iterable[Used], index: AclIndex, settings: AuthorizerSettings
) -> tuple[AclBinding, ...]:
    """Return the ACLs that answers to these requests of the principal can depend on; some others may be among them."""
    # An ACL with an unknown pattern may match any name.
    near = dict.fromkeys(index.with_unknown)
    for each in matching_of(settings).principals_for(principal, lambda: index.principals):
        near |= dict.fromkeys(index.of_principal(each))
    if settings.allow_everyone:
        # There an ACL closes its names, whoever it is for.
        for resource in dict.fromkeys(each.request.resource for each in used):
            near |= dict.fromkeys(index.affecting(resource, settings))
    return tuple(near)


def _matching(
    used: Iterable[Used], own: Iterable[AclBinding], settings: AuthorizerSettings
) -> dict[Used, tuple[AclBinding, ...]]:
    """Return for each request the ACLs among these that match it."""
    index = AclIndex(own)
    return {
        each: tuple(
            finding.binding for finding in findings_for(each.request, index, settings) if finding.counted
        )
        for each in used
    }


def _by_acl(matching: Mapping[Used, Iterable[AclBinding]]) -> dict[AclBinding, list[Used]]:
    found: dict[AclBinding, list[Used]] = {}
    for each, bindings in matching.items():
        for binding in bindings:
            found.setdefault(binding, []).append(each)
    return found


def _width(binding: AclBinding, used: Used) -> tuple[int, ...]:
    """Return a key that is least for the ACL nearest to the request."""
    request = used.request
    kind = {PatternType.LITERAL: 0, PatternType.PREFIXED: 1}.get(binding.pattern_type, 2)
    operation = (
        0 if binding.operation is request.operation else 2 if binding.operation is Operation.ALL else 1
    )
    host = 0 if binding.host == request.host else 2 if binding.host == WILDCARD else 1
    return (
        3 if binding.pattern.is_wildcard else kind,
        -len(binding.resource_name),
        operation,
        host,
    )


def _implies(wide: AclBinding, narrow: AclBinding, settings: AuthorizerSettings) -> bool:
    """Whether one ALLOW of a principal allows all that another does."""
    operation = (
        wide.operation in (narrow.operation, Operation.ALL) or IMPLIED.get(wide.operation) is narrow.operation
    )
    host = wide.host in (narrow.host, WILDCARD) or (
        is_address(narrow.host) and comes_from(wide.host, narrow.host, settings)
    )
    return operation and host and not wide.has_unknown and reaches(wide.pattern, narrow.pattern, settings)


def _undominated(
    candidates: Iterable[AclBinding], staying: Iterable[AclBinding], settings: AuthorizerSettings
) -> dict[AclBinding, AclBinding]:
    """Return for each candidate itself, or the ACL that makes it needless."""
    of_one: dict[tuple[ResourceType, str], list[AclBinding]] = {}
    of_many: list[AclBinding] = []
    found: dict[AclBinding, AclBinding] = {}
    for binding in (*staying, *sorted(candidates, key=_widest_first)):
        place = binding.resource_type, binding.resource_name
        others = (*of_many, *of_one.get(place, ()))
        wider = next((other for other in others if _implies(other, binding, settings)), None)
        found[binding] = wider or binding
        if wider is None and binding.pattern_type is PatternType.LITERAL and not binding.pattern.is_wildcard:
            of_one.setdefault(place, []).append(binding)
        elif wider is None:
            of_many.append(binding)
    return found


_IMPLIED_LAST = frozenset(IMPLIED.values())


def _widest_first(binding: AclBinding) -> tuple[object, ...]:
    """Sort an ACL before every one that it implies."""
    return (
        binding.resource_type.code,
        not binding.pattern.is_wildcard,
        binding.pattern_type is not PatternType.GLOB,
        len(binding.resource_name),
        binding.pattern_type is PatternType.LITERAL,
        binding.operation is not Operation.ALL,
        binding.operation in _IMPLIED_LAST,
        binding.host != WILDCARD,
        is_address(binding.host),
        *_in_list(binding),
    )


def _in_list(binding: AclBinding) -> tuple[int, str, int, int, str]:
    return (
        binding.resource_type.code,
        binding.resource_name,
        binding.pattern_type.code,
        binding.operation.code,
        binding.host,
    )


def _why_new(members: Sequence[Used]) -> str:
    names = len({each.request.resource for each in members})
    lines = needed(sum(each.lines for each in members))
    return f"{lines} it, for {number_of(names, 'name')}." if names > 1 else f"{lines} it."
