"""What may a person type into a form, and which sentence is shown at a wrong field?

Kafka compares texts letter by letter, so names and principals are taken exactly as typed.
An address is the exception: brokers see one spelling only, so it is turned into that
spelling, and the page says so.
"""

from __future__ import annotations

from typing import Any

from django import forms

from aclweb.accounts.models import User
from aclweb.acl.matching import as_java_prints, topic_fault
from aclweb.acl.model import (
    ALLOW_EVERYONE_KEY,
    CLUSTER_NAME,
    SERVICES,
    SUPER_USERS_KEY,
    WILDCARD,
    AccessRequest,
    AclError,
    AuthorizerSettings,
    Operation,
    ResourceType,
    operations_of,
    split_principal,
    spoken,
)
from aclweb.inventory.admin import declare as declaring
from aclweb.inventory.current import known_version
from aclweb.inventory.models import Cluster
from aclweb.web.shell.links import ANY
from aclweb.web.shell.typed_principal import read_principal

ANY_HOST = WILDCARD

_TYPES = tuple(kind for kind in ResourceType if kind not in (ResourceType.UNKNOWN, ResourceType.ANY))
# Types of which a broker asks whether a principal may do something with at least one.
_ASKED_BY_TYPE = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
_ASKED = tuple(
    operation for operation in Operation if operation not in (Operation.UNKNOWN, Operation.ANY, Operation.ALL)
)


_OPERATIONS = [(found.name, spoken(found.name)) for found in _ASKED]


class AskForm(forms.Form):
    """One question: may this principal do this operation on this resource, from this host?"""

    principal = forms.CharField(
        label="Who", strip=False, max_length=32_767, widget=forms.TextInput(attrs={"placeholder": "User:bob"})
    )
    operation = forms.ChoiceField(
        label="May do what",
        choices=_OPERATIONS,
        initial="READ",
        error_messages={"required": "Choose what the client did, such as Read."},
    )
    type = forms.ChoiceField(
        label="Which kind of resource",
        choices=[
            *((kind.name, spoken(kind.name).lower()) for kind in _TYPES),
            (
                "At least one",
                [(f"{ANY}{kind.name}", f"any {spoken(kind.name).lower()}") for kind in _ASKED_BY_TYPE],
            ),
        ],
        initial="TOPIC",
    )
    name = forms.CharField(
        label="Which resource",
        strip=False,
        required=False,
        max_length=32_767,
        widget=forms.TextInput(attrs={"placeholder": "its name"}),
    )
    host = forms.CharField(
        label="From where",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"placeholder": "any host"}),
    )

    def __init__(self, *args: Any, settings: AuthorizerSettings, **kwargs: Any) -> None:
        kwargs.setdefault("auto_id", "ask-%s")
        super().__init__(*args, **kwargs)
        self.settings = settings
        self.host_note = ""
        self.principal_note = ""
        operation = self.fields["operation"]
        if isinstance(operation, forms.ChoiceField) and not self["operation"].value():
            # Whoever leads here did not know it; the first of the list would be a guess.
            operation.choices = [("", "do what?"), *_OPERATIONS]
        for name, names in (("principal", "principal"), ("name", "resource"), ("host", "host")):
            self.fields[name].widget.attrs |= {
                "data-complete": names,
                "data-typed": True,
                "autocomplete": "off",
                "spellcheck": "false",
                "autocapitalize": "none",
            }

    def clean_principal(self) -> str:
        text: str = self.cleaned_data["principal"]
        typed = read_principal(text)
        if text != text.strip() and split_principal(text) is not None:
            # ACLs and log lines hold such names, and pages lead here with them.
            self.principal_note = (
                "The name begins or ends with a space; Kafka counts it, and so does this answer."
            )
            return text
        if typed.fault:
            raise forms.ValidationError(typed.fault)
        self.principal_note = typed.note
        return typed.principal

    def clean_host(self) -> str:
        typed: str = self.cleaned_data["host"].strip()
        if typed.lower() in ("", WILDCARD, "any", "any host"):
            return ANY_HOST
        try:
            host = as_java_prints(typed)
        except AclError as error:
            raise forms.ValidationError(str(error)) from error
        if host != typed:
            self.host_note = f"Brokers write the address {typed} as {host}, so that is what was asked."
        return host

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        by_type = str(given.get("type", "")).startswith(ANY)
        if by_type:
            given["type"] = given["type"].removeprefix(ANY)
            given["name"] = None
        elif given.get("type") == ResourceType.CLUSTER.name:
            given["name"] = CLUSTER_NAME
        elif "name" in given and not given["name"] and given.get("type"):
            self.add_error(
                "name", f"Name the {spoken(given['type']).lower()} that you ask about, such as 'orders.eu'."
            )
        elif given.get("type") == ResourceType.TOPIC.name and "name" in given:
            fault = topic_fault(given["name"])
            if fault is not None:
                self.add_error("name", fault)
        if given.get("type") and given.get("operation"):
            self._check_operation(ResourceType[given["type"]], Operation[given["operation"]])
        return given

    def _check_operation(self, kind: ResourceType, operation: Operation) -> None:
        meaningful = operations_of(kind, self.settings)
        if operation not in meaningful:
            words = ", ".join(spoken(found.name) for found in meaningful)
            thing = spoken(kind.name).lower()
            asked = f"{spoken(operation.name)} on a {thing}"
            self.add_error("operation", f"No broker of this cluster asks for {asked}; use one of {words}.")

    def request(self) -> AccessRequest:
        """Return the question of a valid form."""
        given = self.cleaned_data
        return AccessRequest(
            principal=given["principal"],
            host=given["host"],
            operation=Operation[given["operation"]],
            resource_type=ResourceType[given["type"]],
            resource_name=given["name"],
        )


class DeclareForm(forms.Form):
    """What nobody can read from a cluster: its default mode and its super users."""

    UNDECLARED, DENY, ALLOW = "", "deny", "allow"

    service = forms.ChoiceField(
        label="Managed service",
        required=False,
        choices=[("", "none: Kafka's own brokers"), *((name, each.title) for name, each in SERVICES.items())],
        widget=forms.Select(attrs={"class": "form-select"}),
        error_messages={"invalid_choice": "Choose one of the services in the list, or none."},
        help_text="What is left undeclared below is then declared by its documents, and answers say what it hides.",
    )
    default = forms.ChoiceField(
        label="Where no ACL exists for a resource",
        required=False,
        choices=[
            (UNDECLARED, "not declared: answers that depend on it say so"),
            (DENY, "refuse (allow.everyone.if.no.acl.found=false, Kafka's own default)"),
            (ALLOW, "allow everyone (allow.everyone.if.no.acl.found=true)"),
        ],
        widget=forms.RadioSelect,
    )
    super_users_known = forms.BooleanField(label="The super users below are all there are", required=False)
    super_users = forms.CharField(
        label="Super users",
        required=False,
        strip=False,
        max_length=32_767,
        widget=forms.Textarea(attrs={"rows": 3, "class": "form-control name", "spellcheck": "false"}),
        help_text="The text of super.users as the brokers have it: User:admin;User:kafka. Empty for none.",
    )

    authorizer = forms.ChoiceField(
        required=False,
        widget=forms.RadioSelect,
    )

    def __init__(self, *args: Any, cluster: Cluster, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cluster = cluster
        source = cluster.source
        if not source.hides_authorizer:
            del self.fields["authorizer"]
            return
        asked = self.fields["authorizer"]
        assert isinstance(asked, forms.ChoiceField)
        asked.label = f"Whether brokers use the ACLs in {source.called}"
        asked.choices = [
            ("", f"not declared: {source.called} has ACLs whether brokers use them or not"),
            ("on", "yes, authorizer.class.name is set on every broker"),
            ("off", "no, the brokers run without an authorizer"),
        ]

    @classmethod
    def as_stored(cls, cluster: Cluster) -> dict[str, Any]:
        """Return what the form shows of a cluster before anybody edits it."""
        default = {None: cls.UNDECLARED, True: cls.ALLOW, False: cls.DENY}[cluster.allow_everyone]
        return {
            "service": cluster.service,
            "default": default,
            "super_users_known": cluster.super_users is not None,
            "super_users": cluster.super_users or "",
            "authorizer": cluster.authorizer_declared,
        }

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        text = given.get("super_users", "").replace("\r\n", "\n").strip("\n")
        given["super_users"] = text
        if "\n" in text:
            self.add_error("super_users", "super.users is one line; part the principals with semicolons.")
        elif text and not given.get("super_users_known"):
            self.add_error(
                "super_users_known", "Tick this to declare them, or empty the list to leave them undeclared."
            )
        else:
            self._check_super_users(text)
        return given

    def _check_super_users(self, text: str) -> None:
        authorizer = self.cluster.authorizer
        try:
            AuthorizerSettings.read(
                authorizer=authorizer,
                kafka_version=known_version(authorizer, self.cluster.kafka_version),
                config={SUPER_USERS_KEY: text, ALLOW_EVERYONE_KEY: False},
            )
        except AclError as error:
            self.add_error("super_users", str(error))

    def declare(self, actor: User) -> bool:
        """Store what a valid form declares; return False if nothing differs."""
        given = self.cleaned_data
        return declaring.declare(
            cluster=self.cluster,
            actor=actor,
            allow_everyone={self.UNDECLARED: None, self.DENY: False, self.ALLOW: True}[given["default"]],
            super_users=given["super_users"] if given["super_users_known"] else None,
            authorizer_declared=given.get("authorizer", declaring.UNCHANGED),
            # A program that posts the form as it was leaves the service alone.
            service=given["service"] if "service" in self.data else declaring.UNCHANGED,
        )
