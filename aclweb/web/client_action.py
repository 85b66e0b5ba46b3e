"""What does a page say to "can this client produce to that topic", call by call?

The form asks only for the names that the chosen action uses. The first call that fails is
the one whose error the client sees; what is missing becomes a draft.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django import forms

from aclweb.acl.actions import ACTIONS, GIVEN_ROLES, ClientAction, Role, calls_under
from aclweb.acl.authorizer import Basis, Result
from aclweb.acl.explain import explain
from aclweb.acl.model import ResourceType
from aclweb.acl.needs import (
    Asked,
    Assessment,
    CallVerdict,
    Outcome,
    assess,
    call_text,
    missing_roles,
    target_text,
)
from aclweb.acl.profiles import Rules
from aclweb.acl.protocol import checks_of
from aclweb.inventory.current import InForce
from aclweb.web import links
from aclweb.web.answering import in_words
from aclweb.web.forms import AskForm
from aclweb.web.resource_page import removals

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
_MARKS = {Result.ALLOWED: "allowed", Result.DENIED: "none", Result.UNDECIDED: "unknown"}


class ClientForm(AskForm):
    """Who does what from where: a client action in place of one operation."""

    action = forms.ChoiceField(
        label="Does what",
        choices=[(head, [(name, name) for name in ACTIONS if belongs(name)]) for head, belongs in _GROUPS],
        initial="produce",
        widget=forms.Select(attrs={"class": "form-select"}),
    )
    field_order = ("principal", "action", "host")

    def __init__(self, *args: Any, rules: Rules, **kwargs: Any) -> None:
        super().__init__(*args, rules=rules, **kwargs)
        for name in ("operation", "type", "name"):
            del self.fields[name]
        for name in ("principal", "host"):
            self.fields[name].widget.attrs["class"] = "form-control name"
        self.client_action = ACTIONS.get(str(self["action"].value()), ACTIONS["produce"])
        self.needed = {role.key for role in missing_roles(self.client_action, {}, rules)}
        for role in roles_of(self.client_action, rules):
            self.fields[role.key] = forms.CharField(
                label=role.noun.removeprefix("the ").capitalize(),
                strip=False,
                required=False,
                max_length=32_767,
                widget=forms.TextInput(
                    attrs={
                        "class": "form-control name",
                        "autocomplete": "off",
                        "spellcheck": "false",
                        "placeholder": ", ".join(role.default) if role.default else "",
                    }
                ),
            )

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """The names that a valid form gives, by the key of their role."""
        return {
            role.key: (self.cleaned_data[role.key],)
            for role in GIVEN_ROLES
            if self.cleaned_data.get(role.key)
        }

    @property
    def role_fields(self) -> list[forms.BoundField]:
        return [self[role.key] for role in GIVEN_ROLES if role.key in self.fields]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = forms.Form.clean(self) or {}
        names = {role.key: (given[role.key],) for role in GIVEN_ROLES if given.get(role.key)}
        for role in missing_roles(self.client_action, names, self.rules):
            self.add_error(
                role.key, f"Whether {self.client_action.name} works hangs on {role.noun}; name it."
            )
        return given


def roles_of(action: ClientAction, rules: Rules) -> tuple[Role, ...]:
    """Return the roles for which a person may give names to this action, in the order to ask for them."""
    keys: set[str] = set()
    for call in calls_under(action, rules):
        if call.needed_with is not None:
            keys.add(call.needed_with.given_as)
        for check in checks_of(call.case, rules):
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
    """One call as a table shows it."""

    verdict: CallVerdict

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
                        sentence=in_words(explain(decision).sentence),
                        question=links.question(decision.request),
                    )
                    for decision in asked.decisions
                ),
            )


@dataclass(frozen=True)
class ClientAnswer:
    """Whether the action would work, and all that a page shows of it."""

    assessment: Assessment

    @property
    def verdict(self) -> str:
        return _HEADINGS[self.assessment.outcome][0]

    @property
    def heading(self) -> str:
        return _HEADINGS[self.assessment.outcome][1]

    @cached_property
    def story(self) -> tuple[str, ...]:
        """What happens and why; the error, what is missing and what denies it stand by themselves."""
        lists = (self.assessment.missing, self.assessment.denied_by)
        listed = sum(len(bindings) + 1 for bindings in lists if bindings)
        sentences = self.assessment.sentences
        error = self.assessment.error
        seen = f"The client sees {error.name} ({error.code})." if error is not None else None
        return tuple(
            in_words(sentence)
            for sentence in sentences[: len(sentences) - listed]
            if seen is None or not sentence.startswith(seen)
        )

    @cached_property
    def calls(self) -> tuple[CallRow, ...]:
        return tuple(CallRow(verdict) for verdict in self.assessment.calls)

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


def client_answer(form: ClientForm, here: InForce) -> ClientAnswer:
    """Return the answer to a valid form from what is in force."""
    given = form.cleaned_data
    return ClientAnswer(
        assess(
            form.client_action,
            principal=given["principal"],
            host=given["host"],
            names=form.names,
            index=here.index,
            rules=here.rules,
        )
    )
