"""A Kerberos realm on loopback: a KDC of its own, with a principal for a broker and one for aclweb."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.servers_data import free_port

REALM = "EXAMPLE.TEST"
PRINCIPAL = f"aclweb@{REALM}"
_SBIN = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))


def need_kerberos() -> None:
    """Skip loudly where this machine has no KDC, or Python not the optional package that speaks to one."""
    lacks = [name for name in ("krb5kdc", "kdb5_util", "kadmin.local") if not shutil.which(name, path=_SBIN)]
    lacks += [] if find_spec("gssapi") else ["the Python package gssapi"]
    if lacks:
        pytest.skip(
            f"Kerberos needs {', '.join(lacks)}, which this machine lacks. So this claim was NOT tested."
        )


@dataclass
class Realm:
    """configuration: krb5.conf. broker_keytab, client_keytab: of kafka/127.0.0.1 and of PRINCIPAL."""

    folder: Path
    port: int
    kdc: subprocess.Popen[bytes] | None = None

    @property
    def configuration(self) -> Path:
        return self.folder / "krb5.conf"

    @property
    def broker_keytab(self) -> Path:
        return self.folder / "broker.keytab"

    @property
    def client_keytab(self) -> Path:
        return self.folder / "aclweb.keytab"

    def command(self, name: str, *arguments: object) -> None:
        subprocess.run(
            [str(shutil.which(name, path=_SBIN)), *map(str, arguments)],
            env=self._environment(),
            check=True,
            capture_output=True,
        )

    def admin(self, query: str) -> None:
        self.command("kadmin.local", "-r", REALM, "-q", query)

    def start(self) -> None:
        self.kdc = subprocess.Popen(
            [str(shutil.which("krb5kdc", path=_SBIN)), "-n", "-r", REALM],
            env=self._environment(),
            stdout=(self.folder / "kdc.out").open("wb"),
            stderr=subprocess.STDOUT,
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        raise AssertionError((self.folder / "kdc.out").read_text())

    def stop(self) -> None:
        if self.kdc is not None:
            self.kdc.terminate()
            self.kdc.wait()
            self.kdc = None

    def _environment(self) -> dict[str, str]:
        return os.environ | {
            "KRB5_CONFIG": str(self.configuration),
            "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf"),
        }


@contextmanager
def realm(folder: Path) -> Iterator[Realm]:
    """Start a KDC; this process asks it, and no other, until the end."""
    made = Realm(folder, free_port())
    address = f"127.0.0.1:{made.port}"
    made.configuration.write_text(
        f"[libdefaults]\n default_realm = {REALM}\n dns_lookup_kdc = false\n dns_lookup_realm = false\n"
        " rdns = false\n dns_canonicalize_hostname = false\n udp_preference_limit = 1\n"
        f"[realms]\n {REALM} = {{\n  kdc = {address}\n }}\n"
    )
    (folder / "kdc.conf").write_text(
        f'[kdcdefaults]\n kdc_listen = ""\n kdc_tcp_listen = {address}\n'
        f"[realms]\n {REALM} = {{\n  database_name = {folder}/db\n  key_stash_file = {folder}/stash\n"
        f"  acl_file = {folder}/acl\n }}\n"
    )
    made.command("kdb5_util", "create", "-s", "-P", "known-to-tests", "-r", REALM)
    for principal, keytab in (("kafka/127.0.0.1", made.broker_keytab), ("aclweb", made.client_keytab)):
        made.admin(f"addprinc -randkey {principal}")
        made.admin(f"ktadd -k {keytab} {principal}")
    before = os.environ.get("KRB5_CONFIG")
    os.environ["KRB5_CONFIG"] = str(made.configuration)
    made.start()
    try:
        yield made
    finally:
        made.stop()
        os.environ.pop("KRB5_CONFIG")
        if before is not None:
            os.environ["KRB5_CONFIG"] = before
