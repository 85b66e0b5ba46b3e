"""How is a setting read from its text, and which sentence refuses a text that is wrong?

An empty text is the setting's default, except where the setting says what empty means. A sentence
names the variable, what was given and what would be right. An address may hold a password, so of it
a sentence repeats the word before `://` alone.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

TRUE = frozenset(environ.Env.BOOLEAN_TRUE_STRINGS)
FALSE = frozenset({"false", "off", "n", "no", "0"})

# Keeps intervals, and times so long ago, within what Python's and a database's dates can hold.
MOST = 100_000_000

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9.+-]*)://")
_HIGHEST_PORT = 65_535
_LONGEST_NUMBER = 18  # digits
_LONGEST_SHOWN = 60  # characters

_HOST_RULE = re.compile(r"[A-Za-z0-9*?_.-]+")

_ENDPOINT = re.compile(r"https://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~!$&'()*+=:%/-]*)?")

_DATABASES = {
    name: engine
    for name, engine in environ.Env.DB_SCHEMES.items()
    if engine.endswith((".postgresql", ".sqlite3")) and ".gis." not in engine
}
_DATABASE_IS = (
    "write postgres://USER:PASSWORD@HOST:PORT/NAME, with special characters of the password as %XX, "
    "or sqlite:////PATH/TO/FILE"
)


def _is_range(text: str) -> bool:
    try:
        ipaddress.ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return False
    return True


class Environment:
    """The settings of one process, by the texts of its environment.

    Every reader raises ImproperlyConfigured with a sentence.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def text(self, name: str, default: str = "") -> str:
        """Return the text as it is given; empty is a value."""
        return self._texts.get(name, default)

    def path(self, name: str, default: Path) -> Path:
        return Path(self._given(name) or default)

    def folders(self, name: str, default: str) -> list[Path]:
        """Return absolute folders, separated by colons."""
        given = self._given(name) or default
        found = [Path(folder.strip()) for folder in given.split(":") if folder.strip()]
        for folder in found:
            if not folder.is_absolute() or ".." in folder.parts:
                raise ImproperlyConfigured(
                    f"{name} has {_shown(str(folder))!r}; write whole paths of folders, separated by colons, such as "
                    "/var/log/kafka:/mnt/logs."
                )
        return found

    def host_rules(self, name: str, default: str) -> list[str]:
        """Return patterns of host names and ranges of addresses, separated by commas."""
        found = [rule.strip() for rule in (self._given(name) or default).split(",") if rule.strip()]
        for rule in found:
            if not _HOST_RULE.fullmatch(rule) and not _is_range(rule):
                raise ImproperlyConfigured(
                    f"{name} has {_shown(rule)!r}; write names such as *.kafka.example.com and ranges such as "
                    "10.1.0.0/16, separated by commas, without ports."
                )
        return found

    def token_endpoints(self, name: str) -> list[str]:
        """Return addresses that a secret may be sent to, separated by commas; none where none is given."""
        found = [address.strip() for address in self._given(name).split(",") if address.strip()]
        for place, address in enumerate(found, start=1):
            if not _ENDPOINT.fullmatch(address):
                raise ImproperlyConfigured(
                    f"Address {place} of {name} is no https://HOST/PATH; write such as "
                    "https://idp.example.com/oauth2/token, separated by commas, without user and question mark."
                )
            _check_ports(name, address, "write https://HOST:PORT/PATH")
        return found

    def keytabs(self, name: str) -> list[str]:
        """Return absolute paths of files, separated by colons, as they are written; none where none is given."""
        found = [path.strip() for path in self._given(name).split(":") if path.strip()]
        for path in found:
            if not Path(path).is_absolute() or ".." in Path(path).parts:
                raise ImproperlyConfigured(
                    f"{name} has {_shown(path)!r}; write whole paths of keytabs, separated by colons, such as "
                    "/etc/aclweb/kafka.keytab."
                )
        return found

    def flag(self, name: str, default: bool) -> bool:
        given = self._given(name)
        if not given:
            return default
        if given.lower() not in TRUE | FALSE:
            raise ImproperlyConfigured(f"{name} is {_shown(given)!r}; write true or false.")
        return given.lower() in TRUE

    def number(self, name: str, default: int, *, least: int = 1, most: int = MOST) -> int:
        """Return a whole number from `least` to `most`."""
        given = self._given(name)
        if not given:
            return default
        if not given.removeprefix("-").isdecimal():
            raise ImproperlyConfigured(
                f"{name} is {_shown(given)!r}; it takes a whole number, such as {default}."
            )
        if len(given) > _LONGEST_NUMBER or not least <= int(given) <= most:
            raise ImproperlyConfigured(
                f"{name} is {_shown(given)}; it takes a whole number from {least} to {most}."
            )
        return int(given)

    def word(self, name: str, default: str, *, among: Collection[str], such_as: str) -> str:
        """Return one of a few words, in capitals. such_as: those to name to a person."""
        given = self._given(name).upper() or default
        if given not in among:
            raise ImproperlyConfigured(f"{name} is {_shown(self._given(name))!r}; write {such_as}.")
        return given

    def hosts(self, name: str, default: Sequence[str]) -> list[str]:
        """Return host names as Django's ALLOWED_HOSTS takes them; a port or a scheme would match no request."""
        given = [host.strip() for host in self._given(name).split(",")]
        for host in filter(None, given):
            if not re.fullmatch(r"\*|\.?[\w.-]+|\[[0-9A-Fa-f:.]+\]", host):
                raise ImproperlyConfigured(
                    f"{name} has {_shown(host)!r}; write host names alone, without https:// and port, "
                    "separated by commas, such as aclweb.example,10.0.0.7,[::1]."
                )
        return list(filter(None, given)) or list(default)

    def database(self, name: str, default: str) -> dict[str, Any]:
        """Return what Django's DATABASES takes for an address of SQLite or PostgreSQL."""
        given = self._given(name) or default
        scheme = _scheme(name, given, _DATABASES, _DATABASE_IS)
        if scheme.endswith("sqlite") and not re.match(r"[^:]+:///+[^/]", given):
            raise ImproperlyConfigured(
                f"{name} names no file; write sqlite:////PATH/TO/FILE, with four slashes."
            )
        try:
            found = dict(environ.Env.db_url_config(given))
        except ValueError:
            # The error itself repeats what it took for the port, which may be half a password.
            raise ImproperlyConfigured(f"{name} has no number as its port; {_DATABASE_IS}.") from None
        if not found["NAME"]:
            raise ImproperlyConfigured(f"{name} names no database behind its last slash; {_DATABASE_IS}.")
        return found

    def cache(self, name: str) -> dict[str, Any]:
        """Return what Django's CACHES takes for an address, nothing where none is given."""
        given = self._given(name)
        if not given:
            return {}
        right = "write redis://HOST:6379/1"
        _scheme(name, given, environ.Env.CACHE_SCHEMES, right)
        _check_ports(name, given, right)
        return dict(environ.Env.cache_url_config(given))

    def queue(self, name: str, default: str, *, transports: Collection[str]) -> str:
        """Return the address of a broker of tasks; several are separated by semicolons."""
        given = self._given(name) or default
        right = f"write {default}, redis://HOST:6379/0 or amqp://USER:PASSWORD@HOST//"
        for address in given.split(";"):
            _scheme(name, address.strip(), transports, right)
            _check_ports(name, address.strip(), right)
        return given

    def _given(self, name: str) -> str:
        return self._texts.get(name, "").strip()


def _shown(given: str) -> str:
    return given if len(given) <= _LONGEST_SHOWN else given[:_LONGEST_SHOWN] + "…"


def _scheme(name: str, address: str, known: Collection[str], right: str) -> str:
    """Return the word before `://`; raises ImproperlyConfigured for one that is not known."""
    scheme = _SCHEME.match(address)
    if not scheme:
        raise ImproperlyConfigured(f"{name} is no address; {right}.")
    word = scheme[1].lower()
    if word not in known and word.partition("+")[0] not in known:
        raise ImproperlyConfigured(f"{name} begins with {scheme[1]}://, which aclweb cannot use; {right}.")
    return word


def _check_ports(name: str, address: str, right: str) -> None:
    """Raise ImproperlyConfigured unless each port is a number, as clients find out when they connect."""
    hosts = re.split("[/?#]", address.partition("://")[2], maxsplit=1)[0].rpartition("@")[2]
    for host in hosts.split(","):
        port = host.rpartition("]")[2].partition(":")[2]
        if port and not (re.fullmatch("[0-9]{1,5}", port) and int(port) <= _HIGHEST_PORT):
            raise ImproperlyConfigured(
                f"{name} has a port that is no number up to {_HIGHEST_PORT}; {right}, "
                "with special characters of a password as %XX."
            )
