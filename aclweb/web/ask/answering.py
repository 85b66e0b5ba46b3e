"""What does a page say to "may this principal do that, from there, and why"?

Puts together the decision of the core, its explanation, each ACL that matches the resource
with its six parts, and the edits that would turn the answer. A question without a host is
one about every host: where they differ, "it depends on the host" is the answer, given for
each part of the hosts.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from urllib.parse import urlencode

from aclweb.acl.authorizer import (
    Basis,
    Decision,
    Explanation,
    Finding,
    HostAnswer,
    HostPart,
    HostResult,
    Result,
    Tick,
    authorize,
    decide_elsewhere,
    explain,
    fits,
    part_words,
    reported_acl,
    ticks,
)
from aclweb.acl.model import (
    ACTIONS,
    NOUNS,
    WILDCARD,
    WORDS,
    AccessRequest,
    AclBinding,
    computed_once,
    name_text,
    resource_text,
)
from aclweb.acl.notation import binding_key
from aclweb.inventory.current import ClusterView
from aclweb.inventory.lists import LazyRows

_VERDICTS = {Result.ALLOWED: "allowed", Result.DENIED: "refused", Result.UNDECIDED: "unknown"}
_PART_WORDS = {Result.ALLOWED: "allowed", Result.DENIED: "refused", Result.UNDECIDED: "cannot tell"}
# Parts of the hosts that a page lists, and those of them whose smallest edits it works out.
PARTS_SHOWN = 12
_EDITS_SHOWN = 3
# ACLs named in one address by their keys: web servers take some four thousand characters.
MOST_LINKED = 40
_LONGEST_TITLE = 200
# The least that `_nearest_first` gives an ACL that is for somebody else: it settles nothing, and its principal differs.
_NEAREST_OF_OTHERS = (True, True, 1, False, True)
_ANY_HOST = re.compile(r"from \*(?=[\s:,.;]|$)")


@dataclass(frozen=True)
class MatchingAcl:
    """One ACL that matches the resource, and each of its parts compared with the request.

    decides: it is among those that settled the answer. is_named: it is the one that the
    broker's own log names.
    """

    binding: AclBinding
    decides: bool
    is_named: bool
    ticks: tuple[Tick, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why its crossed parts do not fit, where a glance at the ACL would not show it."""
        crossed = [tick for tick in self.ticks if not tick.matches]
        for_somebody_else = any(tick.part == "principal" for tick in crossed)
        return tuple(tick.sentence for tick in crossed if not for_somebody_else or ";" in tick.sentence)

    @property
    def parts(self) -> tuple[tuple[bool, str], ...]:
        """The names of the parts that match, as one text, and of those that do not; an empty one is left out."""
        found = (
            (matches, [tick.part for tick in self.ticks if tick.matches is matches])
            for matches in (True, False)
        )
        return tuple((matches, ", ".join(names)) for matches, names in found if names)


@dataclass(frozen=True)
class WayOut:
    """One smallest edit that turns the answer: ("add" or "remove", ACL), and the change it would be."""

    heading: str
    caption: str
    lines: tuple[tuple[str, AclBinding], ...]
    title: str
    reason: str

    @property
    def draft_query(self) -> str:
        """The edit as a what-if takes it in its address; empty where it is too long for one."""
        if len(self.lines) > MOST_LINKED:
            return ""
        return urlencode(
            [
                ("remove_key", binding_key(binding)) if op == "remove" else ("add", _as_json(binding))
                for op, binding in self.lines
            ]
        )

    @property
    def request_query(self) -> str:
        """The same with the title and the reason of the change, for whoever may ask for one."""
        if not self.draft_query:
            return ""
        return f"{self.draft_query}&{urlencode({'title': self.title, 'reason': self.reason})}"


@dataclass(frozen=True)
class FromHosts:
    """One part of the hosts with its answer, for a question that depends on the host.

    mark: as a matrix marks it. request: the question as a client there asks it. ways_out: the
    edits that would turn the answer there; none for hosts that no ACL names, since an ACL for
    all of them would open what was kept narrow on purpose.
    """

    part: HostPart
    words: str
    request: AccessRequest
    ways_out: tuple[WayOut, ...] = ()

    @property
    def verdict(self) -> str:
        return _VERDICTS[self.part.result]

    @property
    def mark(self) -> str:
        if self.part.result is Result.DENIED:
            return "refused" if self.part.basis is Basis.DENY_ACL else "none"
        return "allowed" if self.part.result is Result.ALLOWED else "unknown"

    @property
    def result_word(self) -> str:
        return _PART_WORDS[self.part.result]


@dataclass(frozen=True)
class Answer:
    """The answer to one question.

    hosts: the answer for every host at once, for a question without a host; then `decision` is
    that for a host that no ACL names.
    """

    view: ClusterView
    decision: Decision
    hosts: HostAnswer | None = None

    @computed_once
    def explanation(self) -> Explanation:
        return explain(self.decision)

    @property
    def depends(self) -> bool:
        """Whether some hosts are allowed and others refused."""
        return self.hosts is not None and self.hosts.result is HostResult.DEPENDS

    @property
    def _is_unsure_of_hosts(self) -> bool:
        return self.hosts is not None and self.hosts.result is HostResult.UNDECIDED

    @property
    def heading(self) -> str:
        """The answer in a few words."""
        if self.depends:
            return "It depends on the host"
        return "Cannot tell" if self._is_unsure_of_hosts else self.explanation.verdict

    @property
    def sentence(self) -> str:
        sentence = in_words(self.explanation.sentence, self.decision.request.host, self.request.host)
        if self.hosts is None or self.decision.result is Result.UNDECIDED:
            return sentence
        if self._is_unsure_of_hosts:
            return f"{sentence} That is the answer for a host that no ACL names; for others it is unknown."
        if not self.depends:
            return sentence
        where = "only from" if self.hosts.is_refused_elsewhere else "from every host except"
        request = self.request
        may = f"{name_text(request.principal)} may {ACTIONS[request.operation]} {self.resource_words}"
        return f"{may} {where} {self.hosts.named_words}."

    @property
    def request(self) -> AccessRequest:
        """The question as it was asked."""
        return self.hosts.request if self.hosts is not None else self.decision.request

    @property
    def verdict(self) -> str:
        """allowed, refused, depends or unknown: how the band looks."""
        if self.depends:
            return "depends"
        return "unknown" if self._is_unsure_of_hosts else self.decided

    @property
    def decided(self) -> str:
        """allowed, refused or unknown: the decision that the gates show."""
        return _VERDICTS[self.decision.result]

    @computed_once
    def from_hosts(self) -> tuple[FromHosts, ...]:
        """The parts of the hosts with their answers, those that ACLs name first; empty unless it depends."""
        if self.hosts is None or not self.depends:
            return ()
        return tuple(
            self._from_part(self.hosts, part, is_near=place < _EDITS_SHOWN)
            for place, part in enumerate(self.hosts.parts)
        )

    def _from_part(self, hosts: HostAnswer, part: HostPart, *, is_near: bool) -> FromHosts:
        request = hosts.request_at(part)
        words = "every other host" if part.is_every_other else part_words(part)
        is_one = part.hosts == (part.example,)
        turns = is_near and is_one and part.result is Result.DENIED
        edits = answer(request, self.view).ways_out if turns else ()
        return FromHosts(part, words, request, edits)

    @property
    def matching_count(self) -> int:
        return len(self.decision.findings)

    def matching(self, *, containing: str = "") -> Sequence[MatchingAcl]:
        """Return the ACLs that match the resource: those that decide, then the nearest misses.

        containing: only ACLs whose principal or pattern contains this text, in capital or small letters.
        """
        text, findings = containing.casefold(), self.decision.findings
        if text:
            findings = findings.among(
                [
                    binding
                    for binding in findings.bindings
                    if text in binding.principal.casefold() or text in binding.resource_name.casefold()
                ]
            )

        def of_others(most: int) -> Iterator[Finding]:
            return chain.from_iterable(findings.of_others(most, deny=deny) for deny in (False, True))

        def made(start: int, stop: int) -> list[MatchingAcl]:
            # Most ACLs on a name are for somebody else, and a page of the nearest ones seldom needs them.
            nearer = [found for found in findings.own if self._nearest_first(found) < _NEAREST_OF_OTHERS]
            among = nearer if len(nearer) >= stop else [*findings.own, *of_others(stop)]
            first = heapq.nsmallest(stop, among, key=self._nearest_first)
            return [self._matching_acl(found.binding) for found in first[start:]]

        return LazyRows(len(findings), made)

    @computed_once
    def determining_acls(self) -> Sequence[AclBinding]:
        """The ACLs that match and decided, the one that the log names first; empty where their absence did."""
        if self.decision.basis not in (Basis.ALLOW_ACL, Basis.DENY_ACL):
            return ()
        named = self.named_by_log
        return sorted(self.decision.determining, key=lambda binding: binding != named)

    @computed_once
    def determining(self) -> Sequence[MatchingAcl]:
        """The same, each compared with the request."""
        acls = self.determining_acls
        return LazyRows(len(acls), lambda start, stop: list(map(self._matching_acl, acls[start:stop])))

    @computed_once
    def named_by_log(self) -> AclBinding | None:
        return reported_acl(self.decision)

    @computed_once
    def ways_out(self) -> tuple[WayOut, ...]:
        """The smallest edits that turn the answer: what to add, then what to remove."""
        explanation = self.explanation
        found = []
        if explanation.smallest_fix is not None:
            caption = (
                "one new ACL, for exactly this"
                if self.request.resource_name is not None
                else "one new ACL; another name of this type would do as well"
            )
            found.append(self._way("Smallest fix", caption, (("add", explanation.smallest_fix),)))
        if explanation.smallest_removals:
            found.append(self._removal(explanation, is_second=bool(found)))
        return tuple(found)

    def _matching_acl(self, binding: AclBinding) -> MatchingAcl:
        return MatchingAcl(
            binding,
            decides=binding in self._deciding,
            is_named=binding == self.named_by_log,
            ticks=ticks(binding, self.decision),
        )

    @computed_once
    def _deciding(self) -> frozenset[AclBinding]:
        if self.depends and self.hosts is not None:
            return frozenset(binding for part in self.hosts.parts for binding in part.determining)
        by_acls = self.decision.basis in (Basis.ALLOW_ACL, Basis.DENY_ACL)
        return frozenset(self.decision.determining) if by_acls else frozenset()

    def _nearest_first(self, finding: Finding) -> tuple[bool, bool, int, bool, bool]:
        fitting = fits(finding, self.decision)
        # To a refusal the ALLOWs that nearly matched are the nearest, to a permission the DENYs.
        far = self.decision.allowed
        return (
            finding.binding not in self._deciding,
            finding.binding != self.named_by_log,
            sum(not matches for part, matches in fitting.items() if part != "permission"),
            finding.binding.is_deny != far,
            not fitting["principal"],
        )

    def _removal(self, explanation: Explanation, *, is_second: bool) -> WayOut:
        lines: tuple[tuple[str, AclBinding], ...] = tuple(
            ("remove", binding) for binding in explanation.smallest_removals
        )
        if self.decision.allowed:
            caption = (
                "only these allow it; without them it is refused"
                if len(lines) > 1
                else "only this ACL allows it"
            )
            return self._way("To remove the access", caption, lines)
        if explanation.fix_after_removals is not None:
            caption = "a DENY wins over every ALLOW, so it must be removed first"
            return self._way("Smallest fix", caption, (*lines, ("add", explanation.fix_after_removals)))
        if not all(binding.is_deny for binding in explanation.smallest_removals):
            caption = "opens it to everyone, since this cluster allows everyone where no ACL exists"
        elif is_second:
            caption = "this would do as well"
        else:
            caption = (
                "no new ACL can help until these are removed"
                if len(lines) > 1
                else "no new ACL can help until it is removed"
            )
        return self._way("Or remove" if is_second else "Smallest fix", caption, lines)

    def _way(self, heading: str, caption: str, lines: tuple[tuple[str, AclBinding], ...]) -> WayOut:
        request = self.request
        verb = "Keep" if self.decision.allowed else "Let"
        middle = " from" if self.decision.allowed else ""
        title = (
            f"{verb} {name_text(request.principal)}{middle} {WORDS[request.operation]} {self.resource_words}"
        )
        reason = in_words(self.explanation.sentence, self.decision.request.host, request.host)
        return WayOut(heading, caption, lines, title[:_LONGEST_TITLE], reason)

    @property
    def resource_words(self) -> str:
        """`topic orders.eu`, or `any topic` for a question by type."""
        kind, name = self.request.resource_type, self.request.resource_name
        return f"any {NOUNS[kind][0]}" if name is None else resource_text(kind, name)


def answer(request: AccessRequest, view: ClusterView) -> Answer:
    """Return the answer to one question from what is in force; host `*` asks for every host at once."""
    index, settings = view.index, view.settings
    if request.host != WILDCARD:
        return Answer(view, authorize(request, index, settings))
    return Answer(view, *decide_elsewhere(request, index, settings))


def in_words(sentence: str, decided_for: str = WILDCARD, asked: str = WILDCARD) -> str:
    """Return a sentence about a question from any host without the `*`, or the example, that stands for it."""
    if asked == WILDCARD != decided_for:
        sentence = sentence.replace(f"from {decided_for}", "from *")
    return _ANY_HOST.sub("from any host", sentence)


def _as_json(binding: AclBinding) -> str:
    return json.dumps(binding.as_dict())
