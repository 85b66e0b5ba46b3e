"""From which hosts would a request be allowed, when its host is not known?

The hosts of the ACLs that can count for it divide all client addresses into regions. One
address of each region is decided as any request is, and neighbouring regions with the same
result are joined. So "from every host" means every address that a client can have: an ACL
host that is no address gives no region (see `reach`), and 0.0.0.0, which no client has, is
looked at only where an ACL names it.

The globs of the GLOB proposal are compared with a bound on the work. Beyond the bound an
answer that found no difference is UNDECIDED.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from aclweb.acl.authorizer.answers import Answer, Basis, Result, Vote, vote_of
from aclweb.acl.authorizer.decision import Decision, authorize, decide
from aclweb.acl.authorizer.host_regions import (
    Region,
    joined_regions,
    region_tree,
    results_of,
    settle,
    signed_regions,
)
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.authorizer.lists import WriteList, whole_list, written_acl
from aclweb.acl.authorizer.scan_order import in_scan_order
from aclweb.acl.authorizer.type_from_hosts import TypeFromHosts
from aclweb.acl.matching import is_for, matching_of
from aclweb.acl.model import (
    WILDCARD,
    AccessRequest,
    AclBinding,
    AuthorizerSettings,
    PatternType,
    computed_once,
    name_text,
    number_of,
)

MOST_BY_TYPE = 500_000
"""A question about a whole type looks at all ACLs of the session for each host; above this product it is given up."""

MOST_DIVIDED = 20_000
"""Hosts times requests that are decided to divide the hosts for several requests; above it that is given up."""

_HOSTS_NAMED = 3


class HostResult(enum.Enum):
    """The answer to a request whose host is not known."""

    ALLOWED = "ALLOWED"
    DENIED = "DENIED"
    DEPENDS = "DEPENDS"
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True, slots=True)
class HostPart:
    """Addresses with one result: those that all of `hosts` admit, and none of `except_hosts`.

    hosts: texts of ACLs; `*` alone means every address. More than one only where globs overlap.
    example: one of these addresses, as a broker writes it. basis: that of the example.
    determining: the matching DENYs, or else the matching ALLOWs, that settle it at any of these
    addresses; empty where no ACL matches.
    """

    hosts: tuple[str, ...]
    except_hosts: tuple[str, ...]
    example: str
    result: Result
    basis: Basis
    determining: tuple[AclBinding, ...] = ()

    @property
    def is_every_other(self) -> bool:
        """Whether it is every address less the exceptions."""
        return self.hosts == (WILDCARD,)

    def as_dict(self, write_list: WriteList = whole_list) -> dict[str, object]:
        """Return the part as JSON has it; write_list: what writes the list that can be long."""
        return {
            "hosts": list(self.hosts),
            "except_hosts": list(self.except_hosts),
            "example": self.example,
            "result": self.result.value,
            "basis": self.basis.value,
            "determining": write_list("any_host.determining", self.determining, written_acl),
            "determining_total": len(self.determining),
        }


@dataclass(frozen=True, slots=True)
class HostRegion:
    """Addresses from which each of several requests has one result, in their order.

    hosts, except_hosts, example: as those of a HostPart.
    """

    hosts: tuple[str, ...]
    except_hosts: tuple[str, ...]
    example: str
    results: tuple[Result, ...]

    @property
    def is_every_other(self) -> bool:
        """Whether it is every address less the exceptions."""
        return self.hosts == (WILDCARD,)


@dataclass(frozen=True)
class HostAnswer:
    """The answer for every host at once.

    result: ALLOWED or DENIED from every address that a client can have; DEPENDS where some are
    allowed and others refused; UNDECIDED where an unknown value could change an answer, or the
    hosts were too many to compare.
    parts: together every address, each with its result; "every other host" comes last. Empty
    where the hosts were too many.
    """

    request: AccessRequest
    result: HostResult
    parts: tuple[HostPart, ...]

    @property
    def allowed_from(self) -> tuple[HostPart, ...]:
        return self._with(Result.ALLOWED)

    @property
    def denied_from(self) -> tuple[HostPart, ...]:
        return self._with(Result.DENIED)

    def request_at(self, part: HostPart) -> AccessRequest:
        """Return the request as a client at the part's example makes it, to decide and explain it."""
        return replace(self.request, host=part.example)

    @property
    def sentence(self) -> str:
        """The answer as a sentence: `It depends on the host: allowed from 10.0.0.7, refused from every other host.`"""
        if self.result is HostResult.ALLOWED:
            return "Allowed from every host."
        if self.result is HostResult.DENIED:
            return "Refused from every host."
        if self.result is HostResult.UNDECIDED:
            return "Cannot tell for every host."
        first, rest = ("allowed", "refused") if self.is_refused_elsewhere else ("refused", "allowed")
        return f"It depends on the host: {first} from {self.named_words}, {rest} from every other host."

    @property
    def is_refused_elsewhere(self) -> bool:
        """Where it depends: whether hosts that no ACL names are refused, and `named_words` are allowed."""
        return Result.DENIED in (
            {part.result for part in self.parts if part.is_every_other} or {Result.DENIED}
        )

    @property
    def named_words(self) -> str:
        """Where it depends: the hosts with another result than every other host, as words: `a, b and c`."""
        return places_words(self.allowed_from if self.is_refused_elsewhere else self.denied_from)

    def as_dict(self, write_list: WriteList = whole_list) -> dict[str, object]:
        """Return the answer as JSON has it; write_list: what writes each list that can be long."""
        return {
            "result": self.result.value,
            "parts": write_list("any_host.parts", self.parts, lambda part: part.as_dict(write_list)),
            "sentence": self.sentence,
        }

    def _with(self, result: Result) -> tuple[HostPart, ...]:
        return tuple(part for part in self.parts if part.result is result)


def decide_for_any_host(
    request: AccessRequest, index: AclIndex, settings: AuthorizerSettings | None = None
) -> HostAnswer:
    """Return from which hosts this request is allowed and from which it is refused.

    The host of `request` is not looked at. What is returned for an address is what `authorize`
    answers for it.
    """
    settings = settings or AuthorizerSettings()
    asked = _asked(request, index, settings)
    hosts = asked.hosts
    if asked.has_too_many:
        return HostAnswer(request, HostResult.UNDECIDED, ())
    complete = True
    if matching_of(settings).host_globs(hosts):
        parts, complete = _parts_with_globs(asked, list(hosts))
    else:
        parts = _parts(asked, hosts)
    return HostAnswer(
        request,
        _joined({part.result for part in parts}, complete=complete),
        tuple(sorted(parts, key=_every_other_last)),
    )


def result_for_any_host(request: AccessRequest, index: AclIndex, settings: AuthorizerSettings) -> HostResult:
    """Return the result of what `decide_for_any_host` returns, without looking for the ACLs that settle it."""
    asked = _asked(request, index, settings)
    if asked.has_too_many or matching_of(settings).host_globs(asked.hosts):
        return decide_for_any_host(request, index, settings).result
    root = region_tree(asked.hosts, settings)
    settle(root, asked.answers, frozenset(asked.hosts))
    return _joined({region.results[0] for region, _, _ in joined_regions(root)}, complete=True)


def decide_elsewhere(
    request: AccessRequest, index: AclIndex, settings: AuthorizerSettings
) -> tuple[Decision, HostAnswer]:
    """Return the decision for a host that no ACL names, and the answer for every host.

    Where ranges name every address no such host is left; then it is the decision for one of them.
    """
    decision = authorize(replace(request, host=WILDCARD), index, settings)
    hosts = decide_for_any_host(request, index, settings)
    if hosts.parts and hosts.parts[-1].result is not decision.result:
        decision = authorize(hosts.request_at(hosts.parts[-1]), index, settings)
    return decision, hosts


def divide_hosts(
    requests: Sequence[AccessRequest], index: AclIndex, settings: AuthorizerSettings
) -> tuple[tuple[HostRegion, ...], bool]:
    """Return the regions of all addresses in which each of these requests has one result, and whether these are all.

    The hosts of the requests are not looked at. Every other host comes last; no regions where
    the hosts are too many to compare.
    """
    index.require_known(settings)
    able = [
        () if request.principal in settings.super_users else _able_to_count(request, index, settings)
        for request in requests
    ]
    hosts = dict.fromkeys(binding.host for mine in able for binding in mine if binding.host != WILDCARD)
    by_type = sum(
        len(mine) for request, mine in zip(requests, able, strict=True) if request.resource_name is None
    )
    if len(hosts) * len(requests) > MOST_DIVIDED or len(hosts) * by_type > MOST_BY_TYPE:
        return (), False

    def answers(host: str) -> tuple[Answer, ...]:
        return tuple(decide(replace(request, host=host), index, settings) for request in requests)

    complete = True
    if matching_of(settings).host_globs(hosts):
        signed, complete = signed_regions(list(hosts))
        regions = [
            HostRegion(one.hosts, one.except_hosts, one.example, results_of(answers(one.example)))
            for one in signed
        ]
    else:
        root = region_tree(hosts, settings)
        settle(root, answers, frozenset(hosts))
        regions = [
            HostRegion((region.host,), tuple(other.host for other in others), region.example, region.results)
            for region, _, others in joined_regions(root)
        ]
    return tuple(sorted(regions, key=_every_other_last)), complete


def _able_to_count(
    request: AccessRequest, index: AclIndex, settings: AuthorizerSettings
) -> tuple[AclBinding, ...]:
    """Return the ACLs that match this request, or may, if its host is right; those of a whole type in scan order."""
    shelf = index.shelf(request.resource_type)
    if shelf is None:
        return ()
    covering: Iterable[AclBinding]
    if request.resource_name is None:
        principals = matching_of(settings).principals_for(request.principal, lambda: shelf.by_principal)
        of_session = (shelf.by_principal.get(principal, ()) for principal in dict.fromkeys(principals))
        covering = chain.from_iterable(of_session)
    else:
        covering = (*shelf.covering(request.resource_name, settings), *shelf.unknown_patterns)
    matching = (
        binding
        for binding in covering
        if vote_of(binding, request.operation) and is_for(binding.principal, request.principal, settings)
    )
    return tuple(matching if request.resource_name is not None else in_scan_order(matching))


def _asked(request: AccessRequest, index: AclIndex, settings: AuthorizerSettings) -> _Asked:
    index.require_known(settings)
    mine = () if request.principal in settings.super_users else _able_to_count(request, index, settings)
    return _Asked(request, index, settings, mine)


def _joined(results: Collection[Result], *, complete: bool) -> HostResult:
    if Result.UNDECIDED in results:
        return HostResult.UNDECIDED
    if len(results) > 1:
        return HostResult.DEPENDS
    return HostResult[next(iter(results)).name] if complete else HostResult.UNDECIDED


def _every_other_last(part: HostPart | HostRegion) -> bool:
    return part.is_every_other


@dataclass(frozen=True)
class _Asked:
    """The request, and `mine`: the ACLs that match it if its host is right."""

    request: AccessRequest
    index: AclIndex
    settings: AuthorizerSettings
    mine: tuple[AclBinding, ...]

    @computed_once
    def hosts(self) -> dict[str, None]:
        return dict.fromkeys(binding.host for binding in self.mine if binding.host != WILDCARD)

    @property
    def has_too_many(self) -> bool:
        """Whether the hosts are too many to compare."""
        return self.request.resource_name is None and len(self.hosts) * len(self.mine) > MOST_BY_TYPE

    def answers(self, host: str) -> tuple[Answer, ...]:
        if self._whole_type is not None:
            return (self._whole_type.answer(host),)
        return (decide(replace(self.request, host=host), self.index, self.settings),)

    def determining(self, address: str, basis: Basis, hosts: Iterable[str]) -> Iterator[AclBinding]:
        """Yield the matching ACLs that settle the request from this address, which these ACL hosts admit."""
        if basis not in (Basis.DENY_ACL, Basis.ALLOW_ACL):
            return
        if self._whole_type is not None:
            yield from self._whole_type.determining(address, basis)
            return
        vote = Vote.DENY if basis is Basis.DENY_ACL else Vote.ALLOW
        for host in (WILDCARD, *hosts):
            for binding in self._by_host.get(host, ()):
                counts = vote_of(binding, self.request.operation) is vote
                if counts and binding.pattern_type is not PatternType.UNKNOWN:
                    yield binding

    @computed_once
    def _whole_type(self) -> TypeFromHosts | None:
        if self.request.resource_name is not None:
            return None
        return TypeFromHosts(self.request, self.index, self.settings, self.mine)

    @computed_once
    def _by_host(self) -> dict[str, list[AclBinding]]:
        found: dict[str, list[AclBinding]] = {}
        for binding in self.mine:
            found.setdefault(binding.host, []).append(binding)
        return found


# Parts of the answer.


def _parts(asked: _Asked, hosts: Iterable[str]) -> list[HostPart]:
    root = region_tree(hosts, asked.settings)
    settle(root, asked.answers, frozenset(hosts))
    return list(_joined_parts(root, asked))


def _joined_parts(root: Region, asked: _Asked) -> Iterator[HostPart]:
    """Yield regions joined with those inside them that have the same result."""
    for region, within, others in joined_regions(root):
        ((result, basis),) = region.answers
        # Most of them settle many of these regions. Which ones are the very same is found without comparing ACLs.
        different = {
            id(binding): binding
            for one in within
            for binding in asked.determining(one.example, one.answers[0][1], one.hosts)
        }
        yield HostPart(
            hosts=(region.host,),
            except_hosts=tuple(other.host for other in others),
            example=region.example,
            result=result,
            basis=basis,
            determining=tuple(dict.fromkeys(different.values())),
        )


def _parts_with_globs(asked: _Asked, hosts: list[str]) -> tuple[list[HostPart], bool]:
    regions, complete = signed_regions(hosts)
    parts: list[HostPart] = []
    for region in regions:
        ((result, basis),) = asked.answers(region.example)
        parts.append(
            HostPart(
                hosts=region.hosts,
                except_hosts=region.except_hosts,
                example=region.example,
                result=result,
                basis=basis,
                determining=tuple(dict.fromkeys(asked.determining(region.example, basis, region.inside))),
            )
        )
    return parts, complete


# In words.


def places_words(parts: Sequence[HostPart | HostRegion]) -> str:
    """Return where these hosts are, the first by name and the rest counted: `a, b and c`."""
    named = [part_words(part) for part in parts[:_HOSTS_NAMED]]
    if len(parts) > _HOSTS_NAMED:
        named.append(number_of(len(parts) - _HOSTS_NAMED, "other place", "other places"))
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


def part_words(part: HostPart | HostRegion) -> str:
    """Return where these hosts are, such as `10.0.0.0/8 (except 10.1.0.0/16)`."""
    text = " within ".join(name_text(host) for host in part.hosts)
    if not part.except_hosts:
        return text
    more = len(part.except_hosts) - 1
    rest = f" and {number_of(more, 'other', 'others')}" if more else ""
    return f"{text} (except {name_text(part.except_hosts[0])}{rest})"
