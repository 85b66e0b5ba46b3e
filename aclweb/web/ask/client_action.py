"""What does a page say to "can this client produce to that topic", call by call?

The form asks only for the names that the chosen action uses. The first call that fails is
the one whose error the client sees; what is missing becomes a draft. Without a host it is
answered for every host at once: where they differ, each part of the hosts has its own calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django import forms

from aclweb.acl.authorizer import Basis, Decision, Result, explain, part_words
from aclweb.acl.model import WILDCARD, AccessRequest, AuthorizerSettings, ResourceType, computed_once
from aclweb.acl.needs import (
    ACTIONS,
    GIVEN_ROLES,
    Asked,
    Assessment,
    ClientAction,
    DecidedCall,
    HostsAssessed,
    Names,
    Outcome,
    PartAssessed,
    Role,
    assess,
    assess_for_any_host,
    call_text,
    calls_under,
    checks_of,
    missing_roles,
    summary,
    summary_of_hosts,
    target_text,
    without_missing,
)
from aclweb.inventory.current import ClusterView
from aclweb.web.ask.answering import PARTS_SHOWN, in_words
from aclweb.web.browse import removals
from aclweb.web.shell import links
from aclweb.web.shell.forms import AskForm

_GROUPS = (
    ("Clients", lambda name: not name.startswith(("admin-", "delegation-"))),
    ("Administration", lambda name: name.startswith("admin-")),
    ("Delegation tokens", lambda name: name.startswith("delegation-")),
)
_HEADINGS = {
    Outcome.WORKS: ("allowed", "Yes, it would work"),
    Outcome.SHOWS_LESS: ("allowed", "Yes, but it would not see everything"),
    Outcome.FAILS: ("refused", "No, it would fail"),
    Outcome.UNDECIDED: ("unknown", "Cannot tell"),
    Outcome.NOT_ASKED: ("unknown", "Cannot tell"),
}
_OUTCOMES = {
    Outcome.WORKS: ("allowed", "works"),
    Outcome.SHOWS_LESS: ("some-hosts", "shows less"),
    Outcome.FAILS: ("refused", "fails"),
    Outcome.UNDECIDED: ("unknown", "cannot tell"),
    Outcome.NOT_ASKED: ("unknown", "not asked: no name is given"),
}
_RESULT_WORDS = {Result.ALLOWED: "allowed", Result.DENIED: "refused", Result.UNDECIDED: "cannot tell"}
_MARKS = {Result.ALLOWED: "allowed", Result.DENIED: "none", Result.UNDECIDED: "unknown"}


# What clients mostly do, as the ask line offers it.
_VERBS = (
    ("consume", "Consume"),
    ("produce", "Produce"),
    ("produce-transactional", "Produce in transactions"),
    ("streams", "Run Streams"),
    ("connect", "Run Connect"),
    ("admin-create-topics", "Create topics"),
    ("admin-describe-configs", "Read configs"),
)
FIRST_VERB = _VERBS[0][0]


def verbs_with(action: ClientAction) -> tuple[tuple[str, str], ...]:
    """Return the actions that an ask line offers, each with its word; this action is among them."""
    others = () if action.name in dict(_VERBS) else ((action.name, action.name),)
    return (*_VERBS, *others)


def word_of(name: str) -> str:
    """Return an action as a sentence has it: `create topics`; its name where no ask line offers it."""
    word = dict(_VERBS).get(name, name)
    return word[:1].lower() + word[1:]


class ClientForm(AskForm):
    """Who does what from where: a client action in place of one operation."""

    action = forms.ChoiceField(
        label="Does what",
        choices=[(head, [(name, name) for name in ACTIONS if belongs(name)]) for head, belongs in _GROUPS],
        initial="produce",
        widget=forms.Select(attrs={"class": "form-select"}),
    )
    field_order = ("principal", "action", "host")

    def __init__(self, *args: Any, settings: AuthorizerSettings, **kwargs: Any) -> None:
        super().__init__(*args, settings=settings, **kwargs)
        for name in ("operation", "type", "name"):
            del self.fields[name]
        for name in ("principal", "host"):
            self.fields[name].widget.attrs["class"] = "form-control name"
        self.client_action = ACTIONS.get(str(self["action"].value()), ACTIONS["produce"])
        self.needed = {role.key for role in missing_roles(self.client_action, {}, settings)}
        for role in roles_of(self.client_action, settings):
            self.fields[role.key] = forms.CharField(
                label=role.noun.removeprefix("the ").capitalize(),
                strip=False,
                required=False,
                max_length=32_767,
                widget=forms.TextInput(
                    attrs={
                        "class": "form-control name",
                        "data-complete": role.resource_type.name,
                        "data-typed": True,
                        "autocomplete": "off",
                        "spellcheck": "false",
                        "placeholder": ", ".join(role.default) if role.default else "",
                    }
                ),
            )

    def as_sentence(self) -> ClientForm:
        """Return the form with fields as they are in an ask line."""
        for name, field in self.fields.items():
            field.widget.attrs.pop("class", None)
            if name not in ("principal", "host") and not field.widget.attrs.get("placeholder"):
                field.widget.attrs["placeholder"] = "its name" if name in self.needed else "optional"
        return self

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """The names that a valid form gives, by the key of their role."""
        return {
            role.key: (self.cleaned_data[role.key],)
            for role in GIVEN_ROLES
            if self.cleaned_data.get(role.key)
        }

    @property
    def asked(self) -> dict[str, str]:
        """The fields of a valid form that stand for the question."""
        given = self.cleaned_data
        return {
            "principal": given["principal"],
            "action": self.client_action.name,
            **{key: name for key, (name,) in self.names.items()},
            "host": given["host"],
        }

    @property
    def role_fields(self) -> list[forms.BoundField]:
        return [self[role.key] for role in GIVEN_ROLES if role.key in self.fields]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = forms.Form.clean(self) or {}
        names = {role.key: (given[role.key],) for role in GIVEN_ROLES if given.get(role.key)}
        for role in missing_roles(self.client_action, names, self.settings):
            self.add_error(
                role.key, f"Whether {self.client_action.name} works depends on {role.noun}; name it."
            )
        return given


def roles_of(action: ClientAction, settings: AuthorizerSettings) -> tuple[Role, ...]:
    """Return the roles for which a person may give names to this action, in the order to ask for them."""
    keys: set[str] = set()
    for call in calls_under(action, settings):
        if call.needed_with is not None:
            keys.add(call.needed_with.given_as)
        for check in checks_of(call.case, settings):
            for right in check.any_of:
                if not right.any_one and right.resource_type is not ResourceType.CLUSTER:
                    keys.add(call.role(right.resource_type).given_as)
    return tuple(role for role in GIVEN_ROLES if role.key in keys)


@dataclass(frozen=True)
class Alternative:
    """One right that would do, and the question about it alone."""

    mark: str
    words: str
    sentence: str
    question: str


@dataclass(frozen=True)
class CallRow:
    """One call as a table shows it. every_other: it is made from hosts that no ACL names."""

    verdict: DecidedCall
    every_other: bool = False

    @property
    def text(self) -> str:
        return call_text(self.verdict.call)

    @property
    def mark(self) -> str:
        return _OUTCOMES[self.verdict.outcome][0]

    @property
    def word(self) -> str:
        word = _OUTCOMES[self.verdict.outcome][1]
        return word if self.verdict.needed else f"{word}, not counted"

    @property
    def checks(self) -> Iterable[tuple[Asked, tuple[Alternative, ...]]]:
        for asked in self.verdict.asked:
            yield (
                asked,
                tuple(
                    Alternative(
                        mark="refused" if decision.basis is Basis.DENY_ACL else _MARKS[decision.result],
                        words=target_text(decision),
                        sentence=self._sentence(decision),
                        question=self._question(decision),
                    )
                    for decision in asked.decisions
                ),
            )

    def _sentence(self, decision: Decision) -> str:
        return _told(explain(decision).sentence, decision.request.host, self.every_other)

    def _question(self, decision: Decision) -> str:
        request = decision.request
        return links.question(replace(request, host=WILDCARD) if self.every_other else request)


@dataclass(frozen=True)
class Need:
    """One right that an action depends on, or several of which one is enough, with the answer."""

    asked: Asked
    alternatives: tuple[Alternative, ...]

    @property
    def mark(self) -> str:
        marks = {each.mark for each in self.alternatives}
        return next(mark for mark in ("allowed", "unknown", "refused", "none") if mark in marks)

    @property
    def word(self) -> str:
        word = _RESULT_WORDS[self.asked.result]
        is_harmless = self.asked.result is Result.DENIED and not self.asked.check.refusal.is_error
        return f"{word}, without an error" if is_harmless else word


@dataclass(frozen=True)
class FromPart:
    """One part of the hosts as a table shows it. is_shown: its calls are shown below."""

    part: PartAssessed
    is_shown: bool

    @property
    def words(self) -> str:
        region = self.part.region
        return "every other host" if region.is_every_other else part_words(region)

    @property
    def mark(self) -> str:
        return _OUTCOMES[self.part.outcome][0]

    @property
    def word(self) -> str:
        return _OUTCOMES[self.part.outcome][1]

    @property
    def first(self) -> str:
        """The first call that fails from there; empty if none does."""
        failing = self.part.like.first_failing
        return "" if failing is None else call_text(failing.call)


@dataclass(frozen=True)
class ClientAnswer:
    """Whether the action would work, and all that a page shows of it.

    assessment: what the tables of rights and calls show. names: those that were given. hosts: the answer
    for every host at once, for a question without a host; shown: the part of them that `assessment`
    is for, where they differ.
    """

    assessment: Assessment
    names: Names
    hosts: HostsAssessed | None = None
    shown: PartAssessed | None = None

    @property
    def depends(self) -> bool:
        """Whether it works from some hosts and not from others."""
        return self.hosts is not None and self.hosts.depends

    @property
    def _outcome(self) -> Outcome:
        outcome = self.hosts.outcome if self.hosts is not None else None
        return outcome or self.assessment.outcome

    @property
    def verdict(self) -> str:
        return "depends" if self.depends else _HEADINGS[self._outcome][0]

    @property
    def heading(self) -> str:
        return "It depends on the host" if self.depends else _HEADINGS[self._outcome][1]

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        if self.hosts is not None:
            return summary_of_hosts(self.hosts, self.names)
        return summary(self.assessment, self.names)

    @computed_once
    def from_parts(self) -> tuple[FromPart, ...]:
        """The parts of the hosts that a page lists: as many as fit, and always the one that is shown."""
        if self.hosts is None or self.shown is None:
            return ()
        parts = self.hosts.parts
        listed = parts if len(parts) <= PARTS_SHOWN else (*parts[: PARTS_SHOWN - 1], parts[-1])
        if self.shown not in listed:
            listed = (*listed[:-1], self.shown, listed[-1])
        return tuple(FromPart(part, is_shown=part is self.shown) for part in listed)

    @property
    def parts_left(self) -> int:
        """How many parts are not listed."""
        return len(self.hosts.parts) - len(self.from_parts) if self.hosts and self.from_parts else 0

    @property
    def shown_words(self) -> str:
        """`every other host`, or where the part is that is shown; empty where one answer holds for all."""
        return FromPart(self.shown, is_shown=True).words if self.shown is not None else ""

    @property
    def is_every_other(self) -> bool:
        return self.shown is not None and self.shown.region.is_every_other

    @property
    def keeps_narrow(self) -> bool:
        """Whether no ACL is offered, because only one for more than one host would do."""
        fails = self.assessment.outcome in (Outcome.FAILS, Outcome.SHOWS_LESS)
        return fails and self.shown is not None and not _is_one_host(self.shown)

    @computed_once
    def story(self) -> tuple[str, ...]:
        """What happens and why, after `sentence`; the error, what is missing and what denies it are apart."""
        lists = (self.assessment.missing, self.assessment.denied_by)
        listed = sum(len(bindings) + 1 for bindings in lists if bindings)
        sentences = self.assessment.sentences
        error = self.assessment.error
        seen = f"The client sees {error.name} ({error.code})." if error is not None else None
        host = self.assessment.host
        # Of an action that does not fail the first one says what `sentence` does.
        first = 0 if self.assessment.outcome is Outcome.FAILS else 1
        return tuple(
            _told(sentence, host, self.is_every_other)
            for sentence in sentences[first : len(sentences) - listed]
            if seen is None or not sentence.startswith(seen)
        )

    @computed_once
    def calls(self) -> tuple[CallRow, ...]:
        return tuple(CallRow(verdict, self.is_every_other) for verdict in self.assessment.calls)

    @computed_once
    def needs(self) -> tuple[Need, ...]:
        """Each right that the action depends on, once, in the order in which it is asked for.

        Where one right is needed by itself, a choice between it and others asks for nothing more.
        """
        found: dict[frozenset[AccessRequest], Need] = {}
        for row in self.calls:
            for asked, alternatives in row.checks if row.verdict.needed else ():
                requests = frozenset(decision.request for decision in asked.decisions)
                found.setdefault(requests, Need(asked, alternatives))
        return tuple(need for requests, need in found.items() if not any(other < requests for other in found))

    @property
    def hazards(self) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(
                hazard
                for verdict in self.assessment.calls
                for asked in verdict.asked
                for decision in asked.decisions
                for hazard in decision.hazards
            )
        )

    @property
    def draft_query(self) -> str:
        """What is missing, as a what-if takes it in its address."""
        return urlencode([("add", json.dumps(binding.as_dict())) for binding in self.assessment.missing])

    @property
    def removal_query(self) -> str:
        """What denies it, as a what-if that removes it; empty where that is too much for an address."""
        return removals(self.assessment.denied_by)


def client_answer(form: ClientForm, view: ClusterView, *, at: str = "") -> ClientAnswer:
    """Return the answer to a valid form from what is in force.

    at: for a question without a host, an address of the part whose calls are wanted; every
    other host's if it is no part's example.
    """
    principal, host = form.cleaned_data["principal"], form.cleaned_data["host"]

    def assessed(from_host: str) -> Assessment:
        return assess(
            form.client_action,
            principal=principal,
            host=from_host,
            names=form.names,
            index=view.index,
            settings=view.settings,
        )

    if host != WILDCARD:
        return ClientAnswer(assessed(host), form.names)
    hosts = assess_for_any_host(
        form.client_action, principal=principal, names=form.names, index=view.index, settings=view.settings
    )
    if len(hosts.parts) < 2:
        whole = hosts.elsewhere
        return ClientAnswer(whole if hosts.is_complete else without_missing(whole), form.names, hosts)
    shown = next((part for part in hosts.parts if part.region.example == at), hosts.parts[-1])
    there = assessed(shown.region.example)
    return ClientAnswer(there if _is_one_host(shown) else without_missing(there), form.names, hosts, shown)


def _is_one_host(part: PartAssessed) -> bool:
    return part.region.hosts == (part.region.example,)


def _told(sentence: str, host: str, every_other: bool) -> str:
    """Return a sentence about a question from `host`; where that is but the example of every other host, it says so."""
    if every_other:
        return re.sub(rf"from {re.escape(host)}(?=[\s:,.;]|$)", "from any other host", sentence)
    return in_words(sentence)
