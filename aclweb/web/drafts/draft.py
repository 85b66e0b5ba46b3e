"""Which edit does a what-if form describe?

A draft is a list of delta lines (an ACL with `"op": "add"|"remove"`), plus topics that do
not exist yet. It travels inside the form and in links (see `keeping` for long ones), so no
change is stored before somebody asks for it. Bad input becomes a sentence and loses nothing that was typed. What
this cluster would refuse is reported in Kafka's own words, too, before anybody asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

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
    computed_once,
    operations_of,
    shown,
)
from aclweb.acl.notation import binding_from_dict, parse_object
from aclweb.changes.impact import on_which_impact_depends
from aclweb.changes.kept import Kept
from aclweb.changes.models import ChangeError
from aclweb.changes.preview import check
from aclweb.inventory.current import ClusterView
from aclweb.web.drafts.keeping import Content
from aclweb.web.drafts.pasting import read_pasted, read_text
from aclweb.web.shell.typed_principal import holds_pem, pem_fault, read_principals

# A draft longer than this belongs in a file for `python -m aclweb.acl whatif`.
MOST_LINES = 5_000
LEFT_OUT = "left-out"
"""What a form sends as `drop` to take out every line that the cluster does not take."""
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

    @property
    def opposite(self) -> Line:
        return Line("remove" if self.op == "add" else "add", self.binding)

    def as_text(self) -> str:
        return json.dumps({"op": self.op, **self.binding.as_dict()})


@dataclass(frozen=True)
class Fault:
    """Why something was left out of a draft; `kafka_error` is what the cluster itself would answer.

    field: the field of the form beside which it is shown; empty for the draft's own lines.
    about: the ACL that it is about, in words. is_for_now: whether the draft holds what it is about, and would take it
    on a cluster that is otherwise.
    """

    sentence: str
    kafka_error: str = ""
    field: str = ""
    about: str = ""
    is_for_now: bool = False

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Draft:
    """An edit as far as it is understood.

    written, written_topics: what the draft holds, in the order in which it was written. lines, new_topics: those of
    them that the cluster as it is now takes: only they are simulated and requested.
    faults: what was left out of it. warnings: what a pasted command does without saying so.
    is_unread: whether something was pasted of which nothing could be read. paste: the pasted
    text where there is something to say of it, so that it is said again wherever the draft goes.
    """

    lines: tuple[Line, ...] = ()
    new_topics: tuple[str, ...] = ()
    written: tuple[Line, ...] = ()
    written_topics: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    warnings: tuple[str, ...] = ()
    is_unread: bool = False
    paste: str = ""
    text: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.lines and not self.new_topics

    @property
    def faults_by_field(self) -> dict[str, list[Fault]]:
        """The faults as they are on the page: "paste", "text", "new_topic", and "lines" for the others."""
        found: dict[str, list[Fault]] = {}
        for fault in self.faults:
            found.setdefault(fault.field or "lines", []).append(fault)
        return found

    @computed_once
    def delta(self) -> Delta:
        return Delta(
            add=tuple(line.binding for line in self.lines if line.op == "add"),
            remove=tuple(line.binding for line in self.lines if line.op == "remove"),
        )

    @property
    def left_out_topics(self) -> tuple[str, ...]:
        return tuple(name for name in self.written_topics if name not in self.new_topics)

    @property
    def is_whole(self) -> bool:
        """Whether all that was given is in it, or is held by it until the cluster takes it."""
        return all(fault.is_for_now for fault in self.faults)

    @property
    def as_text(self) -> str:
        """All that it holds as JSON lines, a line an ACL, in the order in which it was written."""
        return "".join(f"{line}\n" for line in self.content.fields["line"])

    @computed_once
    def content(self) -> Content:
        """The fields of a form that describe it, under which it is kept."""
        return Content(
            {
                "line": [line.as_text() for line in self.written],
                "new_topic": self.written_topics,
                "unread": [self.paste] if self.paste else [],
            }
        )

    @computed_once
    def taken(self) -> frozenset[Line]:
        """The lines that the cluster takes."""
        return frozenset(self.lines)

    @property
    def weight(self) -> int:
        """About how many bytes this takes, with what is worked out of it."""
        return 10_000 + 2_000 * len(self.written)

    def joined(self, lines: Iterable[Line]) -> Draft:
        """Return the draft with these lines, too, which the cluster takes."""
        taken = tuple(dict.fromkeys([*self.lines, *lines]))
        return replace(self, lines=taken, written=_written((*self.written, *taken), taken))

    def cautious_lines(self, settings: AuthorizerSettings) -> CautiousLines:
        """Return each line that the draft holds with what to know before it is added under these settings."""
        return CautiousLines(self, settings)


@dataclass(frozen=True)
class ShownLine:
    """A line of a draft as a page lists it.

    place: by which it is dropped, from 0. is_left_out: whether the cluster does not take it as it is now.
    """

    place: int
    line: Line
    is_left_out: bool
    cautions: tuple[LintFinding, ...]


class CautiousLines(Sequence[ShownLine]):
    """The lines that a draft holds, each looked at when it is asked for."""

    def __init__(self, draft: Draft, settings: AuthorizerSettings) -> None:
        self._written, self._settings = draft.written, settings
        self._taken = draft.taken

    def __len__(self) -> int:
        return len(self._written)

    @overload
    def __getitem__(self, place: int) -> ShownLine: ...

    @overload
    def __getitem__(self, place: slice) -> list[ShownLine]: ...

    def __getitem__(self, place: int | slice) -> ShownLine | list[ShownLine]:
        if isinstance(place, slice):
            return [self._shown(each) for each in range(len(self))[place]]
        return self._shown(range(len(self))[place])

    def _shown(self, place: int) -> ShownLine:
        line = self._written[place]
        is_taken = line in self._taken
        cautions = hints(line.binding, self._settings) if line.op == "add" and is_taken else ()
        return ShownLine(place, line, is_left_out=not is_taken, cautions=cautions)


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


# A draft of so many lines is looked up sooner than read again.
_MANY = 50
# A draft of 5,000 lines, the most there may be, takes some 6 MB, and counts as 10.
_read: Kept[Draft] = Kept(lambda draft: draft.weight, ChangeError, most_answers=16, most_bytes=32 * 2**20)
# What edits a draft in a form, or is text that somebody typed.
_ENTERED = ("add", "remove", "drop", "paste", "unread", "text")


def kept_draft(data: QueryDict, view: ClusterView) -> Draft:
    """Return the same as `read_draft`, of a long draft that nobody edits from memory where it was read before."""
    lines = tuple(data.getlist("line"))
    if len(lines) < _MANY or any(name in data for name in _ENTERED):
        return read_draft(data, view)
    question = (*on_which_impact_depends(view), view.cluster.name, lines, tuple(data.getlist("new_topic")))
    return _read.remember(question, lambda: read_draft(data, view))


def read_draft(data: QueryDict, view: ClusterView) -> Draft:
    """Return the draft that a submitted form or a link describes.

    A line or new topic that the cluster does not take now stays written in the draft, since the cluster may take it
    again. What is only entered now, by `add`, `remove` or `paste`, is left out instead, for its author to mend.

    Fields, each repeatable: `line` (a delta line as JSON), `add` and `remove` (an ACL as
    JSON), `new_topic`, `drop` (the place of a line to take out, from 0, or LEFT_OUT), `paste` (ACLs in
    any notation, to be added, or kafka-acls commands), `unread` (what was pasted before, whose
    lines are there and whose messages are shown again), `text` (the whole draft as text, in the place of every `line`;
    where it cannot be read, the lines stay).
    """
    lines: list[Line] = []
    faults: list[Fault] = []
    warnings: list[str] = []
    for line in data.getlist("line"):
        _collect(lines, faults, line, op=None)
    held = set(lines)
    unread_text = ""
    if "text" in data:
        typed = str(data["text"])
        whole = read_text(typed, view)
        if whole.errors:
            faults += [Fault(error, field="text") for error in whole.errors]
            unread_text = "" if whole.is_secret else typed
        else:
            lines = [Line(op, binding) for op, binding in whole.lines]
            warnings += whole.warnings
    for op in ("add", "remove"):
        for line in data.getlist(op):
            _collect(lines, faults, line, op=op)
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
    taken, written = _takeable(lines, held, of_lines, view)
    if LEFT_OUT in dropped:
        of_lines = [fault for fault in of_lines if not fault.is_for_now]
        written = taken
    faults += _merged(of_lines)
    topics = tuple(dict.fromkeys(name for name in data.getlist("new_topic") if name.strip()))
    new_topics, written_topics = _topic_names(topics, faults, view)
    return Draft(
        lines=taken,
        new_topics=new_topics,
        written=written,
        written_topics=written_topics,
        faults=tuple(faults),
        warnings=tuple(warnings),
        is_unread=is_unread,
        paste=kept_text,
        text=unread_text,
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


def _takeable(
    lines: Iterable[Line], held: Container[Line], faults: list[Fault], view: ClusterView
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Return the lines that the cluster takes, and all that stay in the draft; adds a fault for each that is not taken.

    held: those that the draft held before.
    """
    target = Target(view.settings)
    taken: dict[Line, None] = {}
    written: list[Line] = []
    for line in dict.fromkeys(lines):
        if line.opposite in taken:
            message = (
                f"A draft cannot add and remove the same ACL; the first is kept: {line.opposite.as_text()}"
            )
            faults.append(Fault(message))
            continue
        fault = _why_not(line) or _why_not_now(line, target, view)
        if fault is None:
            taken[line] = None
        elif line not in held:
            fault = replace(fault, is_for_now=False)
        if fault is not None:
            faults.append(fault)
        if fault is None or fault.is_for_now:
            written.append(line)
    return tuple(taken), _written(written, taken)


def _written(lines: Iterable[Line], taken: Collection[Line]) -> tuple[Line, ...]:
    """Return each line once, without those that say the opposite of one that is taken."""
    lines_taken = frozenset(taken)
    return tuple(line for line in dict.fromkeys(lines) if line.opposite not in lines_taken)


def _why_not(line: Line) -> Fault | None:
    """Return why no cluster would take this line, None where one may."""
    if line.op == "remove" and (reason := why_not_deletable(line.binding)):
        return Fault(reason, about=acl_text(line.binding))
    try:
        check(line.delta)
    except ChangeError as error:
        return Fault(str(error))
    return None


def _why_not_now(line: Line, target: Target, view: ClusterView) -> Fault | None:
    """Return why the cluster does not take this line as it is now, None where it does."""
    about = acl_text(line.binding)
    refused = refusal(line.op, line.binding, target)
    if refused is not None:
        return Fault(refused.sentence, refused.kafka_error, about=about, is_for_now=True)
    if line.op == "remove" and view.revision is not None and line.binding not in view.index:
        sentence = "The cluster has no such ACL, so removing it changes nothing."
        return Fault(sentence, about=about, is_for_now=True)
    return None


def _merged(faults: Iterable[Fault]) -> list[Fault]:
    """Return the faults with each reason given once, with the first ACL that it is about and their number."""
    same: dict[tuple[str, bool], list[Fault]] = {}
    for fault in faults:
        same.setdefault((fault.sentence, fault.is_for_now), []).append(fault)
    merged = []
    for first, *more in same.values():
        about = f"{first.about}, and {len(more):,} more" if more else first.about
        merged.append(replace(first, sentence=f"{about}: {first.sentence}" if about else first.sentence))
    return merged


def _topic_names(
    names: Iterable[str], faults: list[Fault], view: ClusterView
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the topics that are new to the cluster, and all that stay in the draft; adds a fault for each other."""
    new: list[str] = []
    written: list[str] = []
    for name in names:
        if holds_pem(name):
            faults.append(Fault(pem_fault("the name of a topic"), field="new_topic"))
        elif (reason := why_no_topic(name)) is not None:
            faults.append(Fault(f"{shown(name)} cannot be created: {reason}.", field="new_topic"))
        elif view.loaded.topic(name) is not None:
            sentence = (
                f"Topic {shown(name)} exists already on {view.cluster.name}, so nothing about it would be new; "
                "type a name that does not exist."
            )
            faults.append(Fault(sentence, field="new_topic", is_for_now=True))
            written.append(name)
        else:
            new.append(name)
            written.append(name)
    return tuple(new), tuple(written)
