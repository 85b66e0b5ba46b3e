"""What may a person type to say where a cluster is and how to log in, and which sentence is shown at a wrong field?

A password and a key are taken and never shown: a form that comes back has them empty, and a stored one stays where the
field is left empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from aclweb.accounts.models import User
from aclweb.changes import moving
from aclweb.changes.models import Move
from aclweb.clusters import AllowedHosts, ClusterKind
from aclweb.clusters.connection import (
    BY_KERBEROS,
    BY_TOKEN,
    CLIENT_ID,
    CLIENT_SECRET,
    ENDPOINT,
    KERBEROS_OPTIONS,
    KEYTAB,
    LARGEST_FILE,
    PRINCIPAL,
    SCOPE,
    SERVICE,
    TOKEN_OPTIONS,
    URLENCODE,
    OptionsFileError,
    pem,
    pem_text,
)
from aclweb.inventory.admin import register as registering
from aclweb.inventory.current import known_version
from aclweb.inventory.models import Cluster

_SELECT = {"class": "form-select"}
_TEXT = {"class": "form-control", "autocomplete": "off"}
_NAME = {"class": "form-control name", "spellcheck": "false", "autocomplete": "off"}
_FILE = {"class": "form-control", "accept": ".pem,.crt,.cer,.key,text/plain"}
_SECRET = {"class": "form-control", "autocomplete": "new-password"}

# Fields of the form, and the client settings that they are.
SETTINGS = {
    "protocol": "security.protocol",
    "mechanism": "sasl.mechanism",
    "username": "sasl.username",
    "password": "sasl.password",
    "ca": pem.CA,
    "certificate": pem.CERTIFICATE,
    "key": pem.KEY,
    "key_password": pem.KEY_PASSWORD,
    "token_endpoint": ENDPOINT,
    "token_client": CLIENT_ID,
    "token_secret": CLIENT_SECRET,
    "token_scope": SCOPE,
    "token_ca": pem.TOKEN_CA,
    "token_urlencode": URLENCODE,
    "keytab": KEYTAB,
    "kerberos_principal": PRINCIPAL,
    "kerberos_service": SERVICE,
    "client_id": "client.id",
    "timeout": "request.timeout.ms",
}
# Beside this form may stand what is declared, where `authorizer` is whether brokers use one.
_FIELD_OF = {setting: name for name, setting in SETTINGS.items()} | {"authorizer": "authorizer_class"}
_LOGIN = ("sasl.mechanism", "sasl.username", "sasl.password", *TOKEN_OPTIONS, *KERBEROS_OPTIONS)
_KEPT_WHERE_EMPTY = ("sasl.password", CLIENT_SECRET, *pem.PEM_SETTINGS, pem.KEY_PASSWORD)


class ConnectionForm(forms.Form):
    """A live cluster as an administrator describes it; what is wrong with it, `admin.register` says."""

    slug = forms.CharField(
        label="Short name",
        required=False,
        widget=forms.TextInput(attrs=_NAME | {"placeholder": "prod-eu"}),
        help_text="Part of the address of each page of the cluster. It stays the same.",
    )
    name = forms.CharField(
        label="Name",
        required=False,
        widget=forms.TextInput(attrs=_TEXT | {"placeholder": "as the short name"}),
        help_text="As people call it.",
    )
    address = forms.CharField(label="Address", required=False, widget=forms.TextInput(attrs=_NAME))
    protocol = forms.ChoiceField(
        label="Security protocol",
        required=False,
        choices=[
            ("", "as what is given below needs"),
            ("PLAINTEXT", "PLAINTEXT"),
            ("SSL", "SSL"),
            ("SASL_SSL", "SASL_SSL"),
            ("SASL_PLAINTEXT", "SASL_PLAINTEXT"),
        ],
        widget=forms.Select(attrs=_SELECT),
        help_text="security.protocol of the listener: with SSL in it, it is encrypted; with SASL, it needs a login.",
    )
    mechanism = forms.ChoiceField(
        label="Log in with", required=False, widget=forms.Select(attrs=_SELECT), help_text="sasl.mechanism"
    )
    username = forms.CharField(
        label="User", required=False, widget=forms.TextInput(attrs=_NAME), help_text="sasl.username"
    )
    password = forms.CharField(
        label="Password",
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs=_SECRET),
        help_text="sasl.password: stored encrypted and never shown again.",
    )
    ca = forms.FileField(
        label="Certificates to trust",
        required=False,
        widget=forms.FileInput(attrs=_FILE),
        help_text="ssl.ca.pem: a PEM file with your own authority. Without one, public authorities are trusted.",
    )
    certificate = forms.FileField(
        label="Client certificate",
        required=False,
        widget=forms.FileInput(attrs=_FILE),
        help_text="ssl.certificate.pem, for brokers that log clients in by certificate.",
    )
    key = forms.FileField(
        label="Its private key",
        required=False,
        widget=forms.FileInput(attrs=_FILE),
        help_text="ssl.key.pem: stored encrypted and never shown again.",
    )
    key_password = forms.CharField(
        label="Password of the key",
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs=_SECRET),
        help_text="ssl.key.password, where the key file is encrypted.",
    )
    without_ca = forms.BooleanField(
        label="Trust public authorities instead of the stored one", required=False
    )
    without_certificate = forms.BooleanField(
        label="Forget the stored client certificate and its key", required=False
    )
    token_endpoint = forms.ChoiceField(
        label="Token endpoint",
        required=False,
        widget=forms.Select(attrs=_SELECT),
        help_text=f"{ENDPOINT}: one of those that ACLWEB_TOKEN_ENDPOINTS lists.",
        error_messages={
            "invalid_choice": "This token endpoint is not allowed; choose one of the list. Whoever runs the site adds "
            "others to ACLWEB_TOKEN_ENDPOINTS."
        },
    )
    token_client = forms.CharField(
        label="Client there",
        required=False,
        widget=forms.TextInput(attrs=_NAME),
        help_text="The id of the client that is to get a token.",
    )
    token_secret = forms.CharField(
        label="Client secret",
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs=_SECRET),
        help_text="Its secret: stored encrypted and never shown again.",
    )
    token_scope = forms.CharField(
        label="Scope", required=False, widget=forms.TextInput(attrs=_NAME), help_text=f"{SCOPE}, if any."
    )
    token_ca = forms.FileField(
        label="Certificates to trust there",
        required=False,
        widget=forms.FileInput(attrs=_FILE),
        help_text=f"{pem.TOKEN_CA}: a PEM file with its authority. Without one, public authorities are trusted.",
    )
    token_urlencode = forms.BooleanField(
        label=f"Encode id and secret for the header ({URLENCODE}=true), as some identity providers need",
        required=False,
    )
    without_token_ca = forms.BooleanField(
        label="Trust public authorities at the token endpoint instead of the stored one", required=False
    )
    keytab = forms.ChoiceField(
        label="Keytab",
        required=False,
        widget=forms.Select(attrs=_SELECT),
        help_text=f"{KEYTAB}: one of those that ACLWEB_KEYTABS lists.",
        error_messages={
            "invalid_choice": "This keytab is not allowed; choose one of the list. Whoever runs the site adds others "
            "to ACLWEB_KEYTABS."
        },
    )
    kerberos_principal = forms.CharField(
        label="Principal",
        required=False,
        widget=forms.TextInput(attrs=_NAME | {"placeholder": "aclweb@EXAMPLE.COM"}),
        help_text=f"{PRINCIPAL}: this client in the keytab, with its realm.",
    )
    kerberos_service = forms.CharField(
        label="Service of the brokers",
        required=False,
        widget=forms.TextInput(attrs=_NAME | {"placeholder": "kafka"}),
        help_text=f"{SERVICE}: the first part of the brokers' principals.",
    )
    client_id = forms.CharField(
        label="Client id",
        required=False,
        widget=forms.TextInput(attrs=_NAME | {"placeholder": "aclweb"}),
        help_text="client.id: the name under which the brokers' logs know aclweb.",
    )
    timeout = forms.CharField(
        label="Time for a write",
        required=False,
        widget=forms.TextInput(attrs=_NAME | {"inputmode": "numeric"}),
        help_text="request.timeout.ms: from 1000 to 600000.",
    )
    authorizer_class = forms.ChoiceField(
        label="Authorizer",
        required=False,
        widget=forms.Select(attrs=_SELECT),
        help_text="What brokers show of it counts before this.",
    )
    kafka_version = forms.CharField(
        label="Kafka version",
        required=False,
        widget=forms.TextInput(attrs=_NAME | {"placeholder": "4.1"}),
        help_text="What brokers show of it counts before this.",
    )
    approvals_needed = forms.CharField(
        label="Approvals that a change needs",
        required=False,
        widget=forms.TextInput(attrs=_NAME | {"inputmode": "numeric"}),
        help_text="How many people other than the author must approve.",
    )

    def __init__(
        self,
        data: Any = None,
        files: Any = None,
        *,
        kind: ClusterKind,
        cluster: Cluster | None = None,
        moves: bool = False,
    ) -> None:
        """moves: whether it only says where the cluster is read from, in another way than now."""
        self.kind, self.cluster = kind, cluster
        self.stored = {} if cluster is None else _stored(cluster, kind)
        super().__init__(data, files, initial=self._as_stored())
        for name, setting in SETTINGS.items():
            if setting not in kind.options:
                del self.fields[name]
        if cluster is not None:
            del self.fields["slug"]
        if moves:
            del self.fields["name"], self.fields["approvals_needed"]
        if not kind.options:  # a file of this machine, which no page may name
            del self.fields["address"]
        for name, needed in (
            ("without_ca", pem.CA),
            ("without_certificate", pem.CERTIFICATE),
            ("without_token_ca", pem.TOKEN_CA),
        ):
            if needed not in self.stored:
                del self.fields[name]
        if kind.mechanisms:
            none = ("", "nothing, or a client certificate")
            self._offer("mechanism", [none, *((one, one) for one in kind.mechanisms)])
        if ENDPOINT in kind.options:
            stored = [self.stored[ENDPOINT]] if ENDPOINT in self.stored else []
            endpoints = dict.fromkeys([*settings.ACLWEB_TOKEN_ENDPOINTS, *stored])
            self._offer("token_endpoint", [("", "none"), *((one, one) for one in endpoints)])
        if KEYTAB in kind.options:
            stored = [self.stored[KEYTAB]] if KEYTAB in self.stored else []
            keytabs = dict.fromkeys([*settings.ACLWEB_KEYTABS, *stored])
            self._offer("keytab", [("", "none"), *((one, one) for one in keytabs)])
        self._offer("authorizer_class", Cluster.Authorizer.choices)
        if "address" in self.fields:
            self.fields["address"].widget.attrs["placeholder"] = kind.address_form
        self._say_what_is_stored()

    def _say_what_is_stored(self) -> None:
        """Say at each field whose value is never shown that there is one."""
        if "sasl.password" in self.stored:
            self.fields["password"].widget.attrs["placeholder"] = "stored; leave empty to keep it"
        if CLIENT_SECRET in self.stored:
            self.fields["token_secret"].widget.attrs["placeholder"] = "stored; leave empty to keep it"
        if pem.KEY in self.stored:
            self.fields["key"].help_text = "ssl.key.pem: one is stored, and stays where none is chosen."

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def _as_stored(self) -> dict[str, Any]:
        """Return what the form shows before anybody edits it: nothing that is secret."""
        cluster = self.cluster
        if cluster is None:
            return {"authorizer_class": self.kind.default_authorizer, "approvals_needed": 1}
        same_kind = cluster.kind == self.kind.name
        authorizer = cluster.authorizer if same_kind else self.kind.default_authorizer
        is_version = same_kind or known_version(authorizer, cluster.kafka_version) is not None
        shown: dict[str, Any] = {
            name: self.stored.get(setting, "")
            for name, setting in SETTINGS.items()
            if setting not in _KEPT_WHERE_EMPTY
        }
        if "token_urlencode" in shown:
            shown["token_urlencode"] = shown["token_urlencode"].lower() == "true"
        return shown | {
            "name": cluster.name,
            "address": cluster.address if same_kind else "",
            "authorizer_class": authorizer,
            "kafka_version": cluster.kafka_version if is_version else "",
            "approvals_needed": cluster.approvals_needed,
        }

    # --- files ------------------------------------------------------------------------

    def clean_ca(self) -> str:
        return self._pem("ca")

    def clean_certificate(self) -> str:
        return self._pem("certificate")

    def clean_key(self) -> str:
        return self._pem("key")

    def clean_token_ca(self) -> str:
        return self._pem("token_ca")

    def clean_token_urlencode(self) -> str:
        return "true" if self.cleaned_data["token_urlencode"] else ""

    def _pem(self, name: str) -> str:
        file: UploadedFile[bytes] | None = self.cleaned_data[name]
        if file is None:
            return ""
        if (file.size or 0) > LARGEST_FILE:
            raise forms.ValidationError("The file is too large to be PEM text.")
        try:
            return pem_text(file.read(), SETTINGS[name], "This file")
        except OptionsFileError as error:
            raise forms.ValidationError(str(error)) from error

    # --- values -----------------------------------------------------------------------

    def clean_approvals_needed(self) -> int:
        text: str = self.cleaned_data["approvals_needed"].strip()
        if not text.isascii() or not text.isdigit() or len(text) > 3:
            raise forms.ValidationError("Give the number of approvals, such as 1.")
        return int(text)

    def _options(self) -> dict[str, str]:
        """Return the client settings: what is given, and of what is stored that which stays."""
        given = {
            setting: str(self.cleaned_data.get(name) or "")
            for name, setting in SETTINGS.items()
            if name in self.fields
        }
        found = {setting: value for setting, value in given.items() if value}
        stays = {setting for setting in _KEPT_WHERE_EMPTY if not found.get(setting)}
        if found.get("sasl.mechanism", BY_TOKEN) in (BY_TOKEN, BY_KERBEROS):
            stays.discard("sasl.password")
        if found.get("sasl.mechanism") != BY_TOKEN:
            stays -= {CLIENT_SECRET, pem.TOKEN_CA}
        if self.cleaned_data.get("without_token_ca"):
            stays.discard(pem.TOKEN_CA)
        if self.cleaned_data.get("without_ca"):
            stays.discard(pem.CA)
        if self.cleaned_data.get("without_certificate"):
            stays -= {pem.CERTIFICATE, pem.KEY, pem.KEY_PASSWORD}
        if pem.KEY in found:
            stays.discard(pem.KEY_PASSWORD)  # that was of the key before
        return {name: value for name, value in self.stored.items() if name in stays} | found

    def _values(self) -> dict[str, Any]:
        """Return the settings of the cluster as `admin.register` takes them."""
        given = self.cleaned_data
        found: dict[str, Any] = {
            "authorizer": given.get("authorizer_class") or self.kind.default_authorizer,
            "kafka_version": given.get("kafka_version", "").strip(),
        }
        if self.kind.options:
            found |= {"address": given.get("address", ""), "options": self._options()}
        if "approvals_needed" in given:
            found["approvals_needed"] = given["approvals_needed"]
        name = given.get("name", "").strip()
        return found | ({"name": name} if name or self.cluster is not None else {})

    def add(self, actor: User, *, paused: bool, also_valid: bool = True) -> Cluster | None:
        """Make the cluster known; None where a field is wrong, of which each then has its sentence.

        also_valid: whether what stands beside this form is right; where not, nothing is stored.
        """
        try:
            with transaction.atomic():
                cluster = registering.add(
                    actor=actor,
                    slug=self.cleaned_data.get("slug", "").strip(),
                    kind=self.kind.name,
                    within=_within(),
                    paused=paused,
                    **self._values(),
                )
                if self.errors or not also_valid:
                    transaction.set_rollback(True)
                    return None
                return cluster
        except registering.RegisteringError as error:
            self._show(error.faults)
        return None

    def change(self, actor: User) -> bool | None:
        """Change the cluster; False where nothing differs, None where a field is wrong."""
        assert self.cluster is not None
        values = self._values() | {"kind": self.kind.name}
        try:
            with transaction.atomic():
                changed = registering.change_unread(
                    actor=actor, cluster=self.cluster, within=_within(), given=self._secrets_given(), **values
                )
                if self.errors:
                    transaction.set_rollback(True)
        except registering.RegisteringError as error:
            self._show(error.faults)
        return None if self.errors else changed

    @property
    def uses_tokens(self) -> bool:
        """Whether the login that is shown is one with tokens."""
        return "mechanism" in self.fields and self["mechanism"].value() == BY_TOKEN

    @property
    def has_token_errors(self) -> bool:
        """Whether a sentence is at one of the fields of tokens."""
        return any(name.startswith("token_") for name in self.errors)

    @property
    def shows_kerberos(self) -> bool:
        """Whether the login that is shown is one by Kerberos, or a sentence is at one of its fields."""
        chosen = "mechanism" in self.fields and self["mechanism"].value() == BY_KERBEROS
        return chosen or any(
            name in self.errors for name in ("keytab", "kerberos_principal", "kerberos_service")
        )

    def compare(self, actor: User) -> Move | None:
        """Have a worker read the cluster so and compare it with what is stored; None where a field is wrong."""
        assert self.cluster is not None
        values = self._values() | {"kind": self.kind.name}
        values.pop("name", None)
        faults = registering.secrets_for_elsewhere(
            self.cluster, values.get("address", ""), values.get("options", {}), self._secrets_given()
        )
        try:
            with transaction.atomic():
                asked = moving.ask(cluster=self.cluster, actor=actor, within=_within(), **values)
                if self.errors or faults:
                    transaction.set_rollback(True)
        except registering.RegisteringError as error:
            faults = {**faults, **error.faults}
        if faults or self.errors:
            self._show(faults)
            return None
        return asked

    def _secrets_given(self) -> set[str]:
        return {SETTINGS[name] for name in ("password", "token_secret") if self.cleaned_data.get(name)}

    def _show(self, faults: Mapping[str, str]) -> None:
        """Put each fault at its field, or above all fields where it has none here.

        What was typed there and could not be taken is told of already, and not that it is missing.
        """
        typed_wrong = set(self.errors)
        for name, sentence in faults.items():
            field = _FIELD_OF.get(name, name)
            if field in typed_wrong:
                continue
            self.add_error(field if field in self.fields else None, sentence)


def _stored(cluster: Cluster, kind: ClusterKind) -> dict[str, str]:
    """Return the stored client settings that such a cluster can have too; of another kind no login, which differs."""
    if cluster.kind == kind.name:
        return dict(cluster.options)
    stays = kind.options.keys() - set(_LOGIN)
    return {name: value for name, value in cluster.options.items() if name in stays}


def _within() -> AllowedHosts:
    return AllowedHosts.read(settings.ACLWEB_CLUSTER_HOSTS)
