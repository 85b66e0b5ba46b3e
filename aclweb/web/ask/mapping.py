"""Who are these clients to Kafka? A form for mapping rules and names, and what each name maps to.

A certificate's subject and a Kerberos principal become the name of a user by rules of the
brokers' configuration, which nobody can read from a cluster: they are pasted, and kept
nowhere but in the address.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from django import forms

from aclweb.acl.principals import (
    KERBEROS_MECHANISM,
    BrokerSettings,
    Identity,
    InvalidRules,
    KerberosRules,
    Protocol,
    SslRules,
    identify,
)
from aclweb.acl.principals import Client as Connected
from aclweb.inventory.current import ClusterView

MOST_NAMES = 200
# CPU seconds for all names of one page, whatever else the machine does.
LONGEST_SECONDS = 1.0
_LONGEST_RULES = 20_000
_LONGEST_NAMES = 200_000
_CERTIFICATES, _KERBEROS = "ssl", "kerberos"
# Fields as somebody might fill them in: the placeholders, and an answer to look at before anything is pasted.
EXAMPLE = {
    "kind": _CERTIFICATES,
    "rules": "RULE:^CN=([^,]*),OU=.*$/$1/L, DEFAULT",
    "names": "CN=fraud-detector,OU=risk,O=Nordhavn",
}


@dataclass(frozen=True)
class Client:
    """One name as it was pasted, who it is to the brokers, and how many ACLs of the cluster name that principal."""

    name: str
    identity: Identity
    rules: int
    is_super_user: bool

    @property
    def seen(self) -> str:
        """The name as the broker sees it, where that is not what was pasted."""
        given = self.identity.input
        return given if given is not None and given != self.name else ""


class MappingForm(forms.Form):
    kind = forms.ChoiceField(
        label="Names are",
        choices=[(_CERTIFICATES, "Certificate subjects"), (_KERBEROS, "Kerberos principals")],
        initial=_CERTIFICATES,
        widget=forms.RadioSelect,
    )
    rules = forms.CharField(
        label="Mapping rules",
        required=False,
        strip=False,
        max_length=_LONGEST_RULES,
        help_text="The text of ssl.principal.mapping.rules or sasl.kerberos.principal.to.local.rules, as the brokers "
        "have it. Empty for Kafka's own default.",
        widget=forms.Textarea(attrs={"rows": 4, "placeholder": EXAMPLE["rules"]}),
    )
    realm = forms.CharField(
        label="Default realm",
        required=False,
        max_length=1_000,
        help_text="Of the brokers' krb5.conf; for Kerberos names only. Without it DEFAULT applies to nobody.",
    )
    builder = forms.CharField(
        label="Principal builder",
        required=False,
        max_length=1_000,
        help_text="principal.builder.class, where the brokers set one: it may name clients in any way.",
    )
    names = forms.CharField(
        label="Names",
        strip=False,
        max_length=_LONGEST_NAMES,
        help_text=f"One a line, also as openssl and keytool print them; at most {MOST_NAMES}.",
        widget=forms.Textarea(attrs={"rows": 6, "placeholder": EXAMPLE["names"]}),
        error_messages={"required": "Paste at least one name, such as CN=billing,OU=apps,O=Nordhavn."},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("rules", "realm", "builder", "names"):
            self.fields[name].widget.attrs |= {
                "class": "form-control name",
                "spellcheck": "false",
                "autocomplete": "off",
            }
        self.settings = BrokerSettings()

    def clean_names(self) -> list[str]:
        # A form ends its lines in CR LF; a carriage return in a name cannot be typed anyway.
        text = str(self.cleaned_data["names"]).replace("\r\n", "\n")
        names = [name for name in text.split("\n") if name]
        if not names:
            raise forms.ValidationError(self.fields["names"].error_messages["required"])
        if len(names) > MOST_NAMES:
            raise forms.ValidationError(
                f"These are {len(names):,} names and at most {MOST_NAMES} fit on a page; "
                "`python -m aclweb.acl principal` maps any number."
            )
        return names

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        text = given.get("rules", "").replace("\r\n", "\n")
        rules = text if text.strip() else None
        kerberos = given.get("kind") == _KERBEROS
        self.settings = BrokerSettings(
            ssl_rules=None if kerberos else rules,
            kerberos_rules=rules if kerberos else None,
            realm=given.get("realm") or None,
            principal_builder=given.get("builder") or None,
        )
        try:
            if rules is not None and kerberos:
                KerberosRules.read(rules)
            elif rules is not None:
                SslRules.read(rules)
        except InvalidRules as error:
            self.add_error("rules", str(error))
        if given.get("realm") and given.get("kind") == _CERTIFICATES:
            self.add_error("realm", "Mapping rules for certificates have no realm; leave this empty.")
        return given

    def clients(self, view: ClusterView) -> list[Client]:
        """Return who each name of a valid form is to this cluster, in the order of the names.

        Those that do not fit into LONGEST_SECONDS are left out: some patterns take Java
        for ever and us our whole allowance for each name.
        """
        began = time.thread_time()
        found: list[Client] = []
        for name in self.cleaned_data["names"]:
            if found and time.thread_time() - began > LONGEST_SECONDS:
                break
            found.append(self._client(name, view))
        return found

    def _client(self, name: str, view: ClusterView) -> Client:
        if self.cleaned_data["kind"] == _KERBEROS:
            known = Connected(Protocol.SASL_SSL, mechanism=KERBEROS_MECHANISM, authorization_id=name)
        else:
            known = Connected(Protocol.SSL, subject=name)
        identity = identify(known, self.settings)
        principal = identity.principal
        return Client(
            name,
            identity,
            rules=view.loaded.by_principal[principal] if principal is not None else 0,
            is_super_user=principal in view.settings.super_users,
        )
