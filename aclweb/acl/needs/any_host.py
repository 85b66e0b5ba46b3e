"""From which hosts would a client action work, when its host is not known?

The calls of an action ask for several rights, and each may be given from other hosts. The
hosts of all ACLs that can count divide the addresses together, and the action is assessed
in each region, so that it works from a host exactly where `assess` says so for that host.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from aclweb.acl.authorizer import AclIndex, HostRegion, Result, divide_hosts, places_words
from aclweb.acl.model import WILDCARD, AuthorizerSettings
from aclweb.acl.needs.answers import assess
from aclweb.acl.needs.assessment import Assessment, Outcome
from aclweb.acl.needs.roles import ClientAction, Names

MOST_KINDS = 40
"""Combinations of results that are assessed; where hosts have more of them, that is given up."""

DEPENDS = "DEPENDS"
DEPENDS_ON_HOST = "It depends on the host: "
_VERBS = {
    Outcome.WORKS: "works",
    Outcome.SHOWS_LESS: "does not see everything",
    Outcome.UNDECIDED: "may or may not work",
    Outcome.FAILS: "fails",
    Outcome.NOT_ASKED: "may or may not work",
}


@dataclass(frozen=True)
class PartAssessed:
    """Addresses from which all calls end alike.

    like: the assessment from one of them or from others with the same results, which tells the
    outcome, the first call that fails and its error.
    """

    region: HostRegion
    like: Assessment

    @property
    def outcome(self) -> Outcome:
        return self.like.outcome


@dataclass(frozen=True)
class HostsAssessed:
    """What becomes of an action from every host at once.

    elsewhere: the assessment for a host that no ACL names. parts: together every address, every
    other host last; empty where the hosts were too many to compare. is_complete: whether the
    parts are known to be all.
    """

    elsewhere: Assessment
    parts: tuple[PartAssessed, ...]
    is_complete: bool

    @property
    def outcome(self) -> Outcome | None:
        """What becomes of it from every host; None where that depends on the host."""
        found = {part.outcome for part in self.parts}
        if len(found) > 1:
            return None
        return found.pop() if found and self.is_complete else Outcome.UNDECIDED

    @property
    def depends(self) -> bool:
        return self.outcome is None

    @property
    def sentence(self) -> str:
        """Such as `It depends on the host: works from 10.0.0.7, fails from every other host.`"""
        if not self.parts:
            return "Cannot tell for every host: ACLs name too many hosts to compare."
        if self.outcome is not None:
            return (
                f"{_VERBS[self.outcome].capitalize()} from every host."
                if self.is_complete
                else "Cannot tell for every host."
            )
        rest = next((part.outcome for part in self.parts if part.region.is_every_other), Outcome.FAILS)
        clauses = []
        for outcome, verb in _VERBS.items():
            there = [part.region for part in self.parts if part.outcome is outcome]
            if there and outcome is not rest:
                clauses.append(f"{verb} from {places_words(there)}")
        return f"{DEPENDS_ON_HOST}{', '.join(clauses)}, {_VERBS[rest]} from every other host."

    def as_dict(self) -> dict[str, object]:
        return {
            "outcome": DEPENDS if self.outcome is None else self.outcome.value,
            "parts": [_part_as_dict(part) for part in self.parts],
            "sentence": self.sentence,
        }


def assess_for_any_host(
    action: ClientAction, *, principal: str, names: Names, index: AclIndex, settings: AuthorizerSettings
) -> HostsAssessed:
    """Return what becomes of an action from each part of the hosts. Raises AclError as `assess` does."""

    def assessed(host: str) -> Assessment:
        return assess(action, principal=principal, host=host, names=names, index=index, settings=settings)

    elsewhere = assessed(WILDCARD)
    requests = dict.fromkeys(
        decision.request
        for verdict in elsewhere.calls
        for asked in verdict.asked
        for decision in asked.decisions
    )
    regions, is_complete = divide_hosts(tuple(requests), index, settings)
    if len({region.results for region in regions}) > MOST_KINDS:
        return HostsAssessed(elsewhere, (), is_complete=False)
    like: dict[tuple[Result, ...], Assessment] = {}
    for region in regions:
        if region.results not in like:
            like[region.results] = assessed(region.example)
    parts = tuple(PartAssessed(region, like[region.results]) for region in regions)
    if len(parts) == 1 and parts[0].outcome is not elsewhere.outcome:
        # Ranges name every address, so no host is left that no ACL names.
        elsewhere = parts[0].like
    return HostsAssessed(elsewhere, parts, is_complete)


def without_missing(assessment: Assessment) -> Assessment:
    """Return it without an ACL for every host, which would open what others keep narrow."""
    count = len(assessment.missing) + 1 if assessment.missing else 0
    end = len(assessment.sentences) - count - (len(assessment.denied_by) + 1 if assessment.denied_by else 0)
    kept = assessment.sentences[:end] + assessment.sentences[end + count :]
    return replace(assessment, missing=(), sentences=kept)


def _part_as_dict(part: PartAssessed) -> dict[str, object]:
    failing, error = part.like.first_failing, part.like.error
    return {
        "hosts": list(part.region.hosts),
        "except_hosts": list(part.region.except_hosts),
        "example": part.region.example,
        "outcome": part.outcome.value,
        "first_failing": None if failing is None else part.like.calls.index(failing),
        "error": None
        if error is None
        else {"name": error.name, "code": error.code, "meaning": error.meaning},
    }
