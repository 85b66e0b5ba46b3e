"""How does a connection log in with a Kerberos keytab, and which keytabs may it use?

A keytab is a file of this machine, so a connection names one of those that the deployment lists, and no other. The
optional package `gssapi` and Kerberos' own library read it and ask the realm's KDC, as /etc/krb5.conf says where that
is. Tickets are kept in this process, apart for each principal and keytab. No program is run.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from aclweb.acl.model import shown
from aclweb.clusters.client import ClusterError, ClusterState

MECHANISM = "GSSAPI"
USUAL_SERVICE = "kafka"
_PRINCIPAL = re.compile(r"[^\s@/\\]{1,200}(?:/[^\s@/\\]{1,200})?@[^\s@/\\]{1,200}")
_SERVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# What Kerberos' own messages say, and what a person can do about it.
_SERVICE_UNKNOWN = (
    "the KDC knows no such service; check the host of the address and sasl.kerberos.service.name"
)
_ADVICE = (
    ("No key table entry", "the keytab holds no key of it; check sasl.kerberos.principal and the keytab"),
    ("No credentials cache found", "the keytab holds no key of it that the KDC takes; check both"),
    ("Preauthentication failed", "the KDC has another key of it; make the keytab anew"),
    ("Cannot contact any KDC", "no KDC of its realm answers; check /etc/krb5.conf and the way there"),
    ("Cannot find KDC", "nothing says where the KDC of its realm is; check /etc/krb5.conf"),
    ("Clock skew", "the clocks of this machine and the KDC differ; set them"),
    ("Server ", _SERVICE_UNKNOWN),
    ("not found in Kerberos database", "the KDC does not know it; check sasl.kerberos.principal"),
)


@dataclass(frozen=True, slots=True)
class KerberosLogin:
    """Who logs in with which keytab. service: the name that the brokers' own principals begin with."""

    keytab: str
    principal: str
    service: str = USUAL_SERVICE


def is_principal(text: str) -> bool:
    """Whether this is a Kerberos principal with its realm, such as `aclweb@EXAMPLE.COM`."""
    return text.isprintable() and _PRINCIPAL.fullmatch(text) is not None


def is_service(text: str) -> bool:
    """Whether this may be the first part of the brokers' principals."""
    return _SERVICE.fullmatch(text) is not None


def why_no_keytab(keytab: str, allowed: tuple[str, ...]) -> str:
    """Return why this keytab may not be used, as a sentence; empty where it may. No file is looked at."""
    if keytab in allowed:
        return ""
    listed = f"; this site may use {' or '.join(allowed)}" if allowed else ""
    return (
        f"The keytab {shown(keytab)} is not allowed{listed}. Whoever runs the site adds it to ACLWEB_KEYTABS."
    )


class Ticket:
    """What a connection logs in with: the right of one principal to ask for services, from its keytab."""

    def __init__(self, login: KerberosLogin) -> None:
        """Ask the KDC for it, unless this process has one; raises ClusterError with the reason where there is none."""
        self._login = login
        self._gssapi = _library()
        kept = hashlib.sha256(f"{login.keytab}\0{login.principal}".encode()).hexdigest()
        try:
            name = self._gssapi.Name(login.principal, self._gssapi.NameType.kerberos_principal)
            store = {"client_keytab": f"FILE:{login.keytab}", "ccache": f"MEMORY:aclweb-{kept}"}
            self._credentials = self._gssapi.Credentials(name=name, usage="initiate", store=store)
        except self._gssapi.exceptions.GSSError as error:
            raise _refused(f"{login.principal} gets no Kerberos ticket with {login.keytab}", error) from error

    def first_step(self, host: str) -> tuple[Any, bytes]:
        """Return the context of a login at this host, and the first words of it.

        Raises ClusterError where the KDC gives no ticket for the service there.
        """
        service = f"{self._login.service}@{host}"
        try:
            name = self._gssapi.Name(service, self._gssapi.NameType.hostbased_service)
            kerberos = self._gssapi.MechType.kerberos
            context = self._gssapi.SecurityContext(
                name=name.canonicalize(kerberos), usage="initiate", creds=self._credentials, mech=kerberos
            )
            return context, context.step(None) or b""
        except self._gssapi.exceptions.GSSError as error:
            asked = f"{self._login.principal} gets no Kerberos ticket for {self._login.service}/{host}"
            raise _refused(asked, error) from error

    @property
    def service(self) -> str:
        return self._login.service


def _library() -> Any:
    try:
        return import_module("gssapi")
    except (ImportError, OSError) as error:
        raise ClusterError(
            "Kerberos logins need the Python package gssapi and Kerberos' own library, and this machine lacks one of "
            "them; whoever runs the site installs libgssapi-krb5-2 and gssapi (docs/operations.md).",
            state=ClusterState.LOGIN_REFUSED,
        ) from error


def _refused(what: str, error: Exception) -> ClusterError:
    said = str(error)
    advice = next((told for words, told in _ADVICE if words in said), "check the keytab and /etc/krb5.conf")
    return ClusterError(f"{what}: {advice}.", state=ClusterState.LOGIN_REFUSED)
