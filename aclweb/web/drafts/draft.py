"""Which edit does a what-if form describe?

A draft is a list of delta lines (an ACL with `"op": "add"|"remove"`), plus topics that do
not exist yet. It travels inside the form and in links (see `keeping` for long ones), so no
change is stored before somebody asks for it. Bad input becomes a sentence and loses nothing that was typed. What
this cluster would refuse is reported in Kafka's own words, too, before anybody asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.http import QueryDict

from aclweb.acl.kafka import Refusal, Target, refusal, why_not_deletable
from aclweb.acl.lint import LintFinding, lint
from aclweb.acl.matching import as_java_prints, why_no_topic
from aclweb.acl.model import (
    CLUSTER_NAME,
    WILDCARD,
    AclBinding,
    AclError,
    AuthorizerSettings,
    Delta,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    acl_text,
    operations_of,
    shown,
)
from aclweb.acl.notation import binding_from_dict, parse_object
from aclweb.changes.models import ChangeError
from aclweb.changes.preview import check
from aclweb.inventory.current import ClusterView
from aclweb.web.drafts.pasting import read_pasted
from aclweb.web.shell.typed_principal import holds_pem, pem_fault, read_principals

# A draft longer than this belongs in a file for `python -m aclweb.acl whatif`.
MOST_LINES = 5_000
MOST_AT_ONCE = 500
"""So many principals are taken by one form."""


@dataclass(frozen=True)
class Line:
    """One binding of a draft, and whether it is to be added or removed."""

    op: str
    binding: AclBinding

    @property
    def delta(self) -> Delta:
        return Delta(add=(self.binding,)) if self.op == "add" else Delta(remove=(self.binding,))

    def as_text(self) -> str:
        return json.dumps({"op": self.op, **self.binding.as_dict()})


@dataclass(frozen=True)
class Fault:
    """Why something was left out of a draft; `kafka_error` is what the cluster itself would answer.

    field: the field of the form beside which it is shown; empty for the draft's own lines.
    about: the ACL that it is about, in words.
    """

    sentence: str
    kafka_error: str = ""
    field: str = ""
    about: str = ""

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Draft:
    """An edit as far as it is understood.

    faults: what was left out of it. warnings: what a pasted command does without saying so.
    is_unread: whether something was pasted of which nothing could be read. paste: the pasted
    text where there is something to say of it, so that it is said again wherever the draft goes.
    """

    lines: tuple[Line, ...] = ()
    new_topics: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    warnings: tuple[str, ...] = ()
    is_unread: bool = False
    paste: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.lines and not self.new_topics

    @property
    def faults_by_field(self) -> dict[str, list[Fault]]:
        """The faults as they are on the page: "paste", "new_topic", and "lines" for the others."""
        found: dict[str, list[Fault]] = {}
        for fault in self.faults:
            found.setdefault(fault.field or "lines", []).append(fault)
        return found

    @property
    def delta(self) -> Delta:
        return Delta(
            add=tuple(line.binding for line in self.lines if line.op == "add"),
            remove=tuple(line.binding for line in self.lines if line.op == "remove"),
        )

    def cautious_lines(self, settings: AuthorizerSettings) -> list[tuple[Line, tuple[LintFinding, ...]]]:
        """Return each line with what to know before it is added to a cluster under these settings."""
        return [(line, hints(line.binding, settings) if line.op == "add" else ()) for line in self.lines]


def hints(binding: AclBinding, settings: AuthorizerSettings) -> tuple[LintFinding, ...]:
    """Return what to know of an ACL before it is added; why a cluster refuses it is reported by validation."""
    return tuple(finding for finding in lint(binding, settings) if finding.rule != "refused-by-kafka")


# The fields of a rule that take any text, and what belongs there.
_TYPED = {
    "principal": "a principal such as User:billing-svc",
    "resource_name": "the name of a resource",
    "host": "an address, or nothing for any host",
}


class AclForm(forms.Form):
    """One ACL to add, or one for each of several principals, typed by a person.

    Nothing is chosen beforehand: no accidental ALLOW of ALL.
    """

    PATTERNS = [("LITERAL", "Exact"), ("PREFIXED", "Starts with (prefix)"), ("ALL", "All *")]

    permission_type = forms.ChoiceField(
        label="Permission", choices=[("ALLOW", "Allow"), ("DENY", "Deny")], widget=forms.RadioSelect
    )
    principal = forms.CharField(
        strip=False,
        max_length=32_767,
        help_text="Or several, separated by commas: each gets an ACL of its own.",
    )
    operation = forms.ChoiceField(
        choices=[("", "Choose…")]
        + [(o.name, o.pascal) for o in Operation if o not in (Operation.UNKNOWN, Operation.ANY)]
    )
    resource_type = forms.ChoiceField(
        label="Resource",
        initial="TOPIC",
        choices=[
            (t.name, t.name.replace("_", " ").lower())
            for t in ResourceType
            if t not in (ResourceType.UNKNOWN, ResourceType.ANY)
        ],
    )
    pattern = forms.ChoiceField(label="Name is", choices=PATTERNS, widget=forms.RadioSelect)
    resource_name = forms.CharField(label="Name", strip=False, max_length=32_767, required=False)
    host = forms.CharField(label="Host", required=False, help_text="Leave empty for any host.")

    def __init__(self, data: QueryDict | None = None, *, settings: AuthorizerSettings, **kwargs: Any) -> None:
        # A key that was pasted into the wrong field is neither read nor put into the page again.
        self.secrets = [name for name in _TYPED if data is not None and holds_pem(data.get(name, ""))]
        if data is not None and self.secrets:
            data = data.copy()
            for name in self.secrets:
                data[name] = ""
        super().__init__(data, **kwargs)
        self.settings = settings
        self.refusal: Refusal | None = None
        self.notes: list[str] = []
        for name in self.secrets:
            self.fields[name].required = False
        for name in ("operation", "resource_type"):
            self.fields[name].widget.attrs["class"] = "form-select"
        for name, names in (("principal", "principal"), ("resource_name", "resource"), ("host", "host")):
            self.fields[name].widget.attrs |= {
                "data-complete": names,
                "class": "form-control name",
                "autocomplete": "off",
                "spellcheck": "false",
            }
        self.fields["principal"].widget.attrs |= {"placeholder": "User:billing-svc", "data-several": ""}
        self.fields["host"].widget.attrs["placeholder"] = "any host"

    @property
    def is_typed(self) -> bool:
        """Whether somebody typed or chose anything of a ACL."""
        return bool(self.secrets) or any(
            self.data.get(name) for name in ("permission_type", "principal", "operation", "resource_name")
        )

    def clean_principal(self) -> tuple[str, ...]:
        typed = read_principals(self.cleaned_data["principal"], MOST_AT_ONCE)
        if typed.fault:
            raise forms.ValidationError(typed.fault)
        if len(typed.notes) > 1:
            self.notes.append(f"{typed.notes[0]} The same goes for {len(typed.notes) - 1:,} more.")
        else:
            self.notes += typed.notes
        return typed.principals

    def clean_host(self) -> str:
        host: str = self.cleaned_data["host"].strip()
        if host in ("", WILDCARD):
            return WILDCARD
        if "/" in host:
            return host
        try:
            return as_java_prints(host)
        except AclError as error:
            raise forms.ValidationError(f"{error} A host name in an ACL never matches anybody.") from error

    def clean(self) -> dict[str, object]:
        given = super().clean() or {}
        for name in self.secrets:
            self.add_error(name, pem_fault(_TYPED[name]))
        if given.get("resource_type") == ResourceType.CLUSTER.name:
            given["pattern"] = PatternType.LITERAL.name
            given["resource_name"] = CLUSTER_NAME
        elif given.get("pattern") == "ALL":
            given["resource_name"] = WILDCARD
        elif given.get("pattern") and not given.get("resource_name") and "resource_name" not in self.secrets:
            self.add_error("resource_name", "A name is needed, or choose All * for every name of this type.")
        elif given.get("pattern") == "LITERAL" and given.get("resource_name") == WILDCARD:
            self.add_error("resource_name", "An exact name of * means every name; choose All * to say so.")
        elif given.get("pattern") == "PREFIXED" and given.get("resource_name") == WILDCARD:
            self.add_error(
                "resource_name",
                "A prefix of * matches only names that begin with an asterisk; choose All * for all.",
            )
        self._check_operation(given)
        if not self.errors:
            self._check_with_kafka()
        return given

    def _check_with_kafka(self) -> None:
        bindings = self.bindings()
        for binding in bindings:
            self.refusal = refusal("add", binding, Target(self.settings))
            if self.refusal is not None:
                about = f"{shown(binding.principal)}: " if len(bindings) > 1 else ""
                raise forms.ValidationError(f"{about}{self.refusal.sentence}")

    def _check_operation(self, given: dict[str, object]) -> None:
        if not given.get("operation") or not given.get("resource_type"):
            return
        operation = Operation[str(given["operation"])]
        resource_type = ResourceType[str(given["resource_type"])]
        meaningful = operations_of(resource_type, self.settings)
        if operation is not Operation.ALL and operation not in meaningful:
            words = ", ".join(member.pascal for member in meaningful)
            thing = resource_type.name.lower().replace("_", " ")
            self.add_error("operation", f"{operation.pascal} means nothing on a {thing}; use {words} or All.")

    def bindings(self) -> tuple[AclBinding, ...]:
        """Return the ACLs of a valid form, one for each principal."""
        given = self.cleaned_data
        pattern = PatternType.LITERAL if given["pattern"] == "ALL" else PatternType[given["pattern"]]
        return tuple(
            AclBinding(
                resource_type=ResourceType[given["resource_type"]],
                resource_name=given["resource_name"],
                pattern_type=pattern,
                principal=principal,
                host=given["host"],
                operation=Operation[given["operation"]],
                permission_type=PermissionType[given["permission_type"]],
            )
            for principal in given["principal"]
        )


def read_draft(data: QueryDict, view: ClusterView) -> Draft:
    """Return the draft that a submitted form or a link describes.

    Fields, each repeatable: `line` (a delta line as JSON), `add` and `remove` (an ACL as
    JSON), `new_topic`, `drop` (the place of a line to take out, from 0), `paste` (ACLs in
    any notation, to be added, or kafka-acls commands), `unread` (what was pasted before, whose
    lines are there and whose messages are shown again).
    """
    lines: list[Line] = []
    faults: list[Fault] = []
    warnings: list[str] = []
    for text in data.getlist("line"):
        _collect(lines, faults, text, op=None)
    for op in ("add", "remove"):
        for text in data.getlist(op):
            _collect(lines, faults, text, op=op)
    dropped = set(data.getlist("drop"))
    lines = [line for place, line in enumerate(lines) if str(place) not in dropped]
    text = str(data.get("paste", ""))
    is_unread = False
    kept_text = ""
    # Not while a line is taken out: if it was pasted, it would come back at once.
    if text.strip() and not dropped:
        pasted = read_pasted(text, view)
        lines += [Line(op, binding) for op, binding in pasted.lines]
        faults += [Fault(error, field="paste") for error in pasted.errors]
        warnings += pasted.warnings
        is_unread = bool(pasted.errors) and not pasted.lines
        kept_text = text if (pasted.errors or pasted.warnings) and not pasted.is_secret else ""
    elif "paste" not in data and data.get("unread"):
        # What was read of it stands in the lines: read again, a removal could match more by now.
        kept_text = str(data["unread"])
        pasted = read_pasted(kept_text, view)
        faults += [Fault(error, field="paste") for error in pasted.errors]
        warnings += pasted.warnings
    if len(lines) > MOST_LINES:
        faults.append(
            Fault(
                f"A draft has at most {MOST_LINES:,} ACLs; this one had {len(lines):,}, so the rest was cut."
            )
        )
        lines = lines[:MOST_LINES]
    of_lines: list[Fault] = []
    lines = _takeable(lines, of_lines, Target(view.settings))
    if view.revision is not None:
        lines = _present(lines, of_lines, view)
    faults += _merged(of_lines)
    topics = tuple(dict.fromkeys(name for name in data.getlist("new_topic") if name.strip()))
    topics, wrong = _topic_names(topics, view)
    return Draft(
        lines=tuple(dict.fromkeys(lines)),
        new_topics=topics,
        faults=(*faults, *(Fault(sentence, field="new_topic") for sentence in wrong)),
        warnings=tuple(warnings),
        is_unread=is_unread,
        paste=kept_text,
    )


def _collect(lines: list[Line], faults: list[Fault], text: str, *, op: str | None) -> None:
    try:
        given = parse_object(text)
        wanted = op or given.pop("op", "add")
        if wanted not in ("add", "remove"):
            raise AclError(f"{wanted!r} is not something to do with an ACL; use add or remove.")
        lines.append(Line(str(wanted), binding_from_dict(given)))
    except AclError as error:
        faults.append(Fault(str(error)))


def _takeable(lines: Iterable[Line], faults: list[Fault], target: Target) -> list[Line]:
    """Return the lines that an edit of this cluster can hold, and add a sentence for each that it cannot."""
    kept: dict[AclBinding, Line] = {}
    for line in lines:
        other = kept.get(line.binding)
        if other is not None and other.op != line.op:
            message = f"A draft cannot add and remove the same ACL; the first is kept: {other.as_text()}"
            faults.append(Fault(message))
            continue
        fault = _why_not(line, target)
        if fault is not None:
            faults.append(fault)
            continue
        kept[line.binding] = line
    return list(kept.values())


def _why_not(line: Line, target: Target) -> Fault | None:
    """Return why the cluster would refuse this line, None where it would take it."""
    about = acl_text(line.binding)
    if line.op == "remove" and (reason := why_not_deletable(line.binding)):
        return Fault(reason, about=about)
    refused = refusal(line.op, line.binding, target)
    if refused is not None:
        return Fault(refused.sentence, refused.kafka_error, about=about)
    try:
        check(line.delta)
    except ChangeError as error:
        return Fault(str(error))
    return None


def _merged(faults: Iterable[Fault]) -> list[Fault]:
    """Return the faults with each reason given once, with the first ACL that it is about and their number."""
    same: dict[str, list[Fault]] = {}
    for fault in faults:
        same.setdefault(fault.sentence, []).append(fault)
    merged = []
    for first, *more in same.values():
        about = f"{first.about}, and {len(more):,} more" if more else first.about
        merged.append(replace(first, sentence=f"{about}: {first.sentence}" if about else first.sentence))
    return merged


def _present(lines: Iterable[Line], faults: list[Fault], view: ClusterView) -> list[Line]:
    """Return the lines without removals of what is not in force, and add a sentence for each of those."""
    kept: list[Line] = []
    for line in lines:
        if line.op == "remove" and line.binding not in view.index:
            faults.append(
                Fault(
                    "The cluster has no such ACL, so removing it changes nothing.",
                    about=acl_text(line.binding),
                )
            )
        else:
            kept.append(line)
    return kept


def _topic_names(names: Iterable[str], view: ClusterView) -> tuple[tuple[str, ...], list[str]]:
    good: list[str] = []
    wrong: list[str] = []
    for name in names:
        if holds_pem(name):
            wrong.append(pem_fault("the name of a topic"))
        elif (reason := why_no_topic(name)) is not None:
            wrong.append(f"{shown(name)} cannot be created: {reason}.")
        elif view.loaded.topic(name) is not None:
            wrong.append(
                f"Topic {shown(name)} exists already on {view.cluster.name}, so nothing about it would be new; "
                "type a name that does not exist."
            )
        else:
            good.append(name)
    return tuple(good), wrong
