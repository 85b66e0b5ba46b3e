"""What is a kind of cluster, and what can aclweb do with one?

Each kind is one package (or module) of `aclweb.clusters`, which declares a `ClusterKind`. All other code
asks what a kind can do, and never which kind it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from aclweb.clusters.allowed_hosts import AllowedHosts
from aclweb.clusters.client import ClusterClient, Watch


def _as_given(address: str) -> str:
    return address


def _nobody(_options: Mapping[str, str]) -> str | None:
    return None


def _no_command(_address: str, _principal: str, _operation: str, _resource: str) -> str:
    return ""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClusterKind:
    """One way to read a cluster, and perhaps to write it. Each default is the more careful answer.

    name: in the database, in JSON and after `--kind`, at most 12 letters; it never changes.
    source: what is read, for "is read from ...": `ZooKeeper`, `a file`.
    called: the same within a sentence: `ZooKeeper`, `the file`.
    address_form: how an address is written, for "write ...".
    menu_name: how a choice among kinds names it.
    open: connects and returns a client; raises ClusterError.
    normalised: returns an address as it is stored; raises ClusterError where it can be none.
    options: the settings that a connection may have, with their meaning; all others are refused.
    mechanisms: the values that `sasl.mechanism` may have.
    signs_in_as: returns the principal that these options log in as; None where no broker checks it.
    command_to_grant: returns the command that grants an operation, from address, principal, operation and
        the option that names the resource; empty where there is none.
    watch: opens a session that tells when ACLs change; None where such a cluster tells nobody.
    """

    name: str
    source: str
    called: str
    address_form: str
    open: Callable[[Connection], ClusterClient]
    menu_name: str = "another"
    normalised: Callable[[str], str] = _as_given
    options: Mapping[str, str] = field(default_factory=dict)
    mechanisms: tuple[str, ...] = ()
    signs_in_as: Callable[[Mapping[str, str]], str | None] = _nobody
    command_to_grant: Callable[[str, str, str, str], str] = _no_command
    watch: Callable[[Connection], Watch] | None = None
    # The authorizer that such clusters have, where nobody says another: `standard` or `acl`.
    default_authorizer: str = "standard"
    # Whether aclweb can write ACLs; else an approved change ends as commands to copy.
    can_write: bool = False
    # Whether it is a copy that somebody made of a cluster, so that it shows no authorizer.
    is_copy: bool = False
    # Whether `import_acls` may put another file of this machine in the place of the address.
    is_one_file: bool = False
    # Whether groups can be listed at all.
    lists_groups: bool = False
    # Whether names that the login may not describe are left out of lists without a word.
    hides_names: bool = False
    # Whether brokers may show their settings, such as their authorizer.
    reads_broker_settings: bool = False
    # Whether ACLs may be kept here that no broker enforces, as only a declaration can say.
    hides_authorizer: bool = False
    # Whether the address is what Kafka's own tools take as --bootstrap-server.
    has_bootstrap_address: bool = False

    @property
    def subject(self) -> str:
        """`called` as the beginning of a sentence."""
        return self.called[:1].upper() + self.called[1:]


@dataclass(frozen=True, slots=True)
class Connection:
    """Where a cluster is and how to log in.

    options: allow-listed client settings by name; they may hold secrets, so they never appear in repr or
    logs. probe_seconds: how long it may take until the first words of a server; None for as long as
    anything else. within: the only hosts that may be connected to, None for any. token_endpoints: the only
    addresses at which a token may be asked for. keytabs: the only ones that may be used.
    """

    kind: ClusterKind
    address: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_seconds: float = 15.0
    probe_seconds: float | None = None
    within: AllowedHosts | None = None
    token_endpoints: tuple[str, ...] = ()
    keytabs: tuple[str, ...] = ()

    @property
    def probe_timeout(self) -> float:
        """How many seconds an address has until its first words; then it counts as silent."""
        return min(self.timeout_seconds, self.probe_seconds or self.timeout_seconds)

    def require_allowed(self, servers: Iterable[str]) -> None:
        """Raise ClusterError where one of these servers, each `host:port`, may not be connected to."""
        if self.within is not None:
            for server in servers:
                host, _, port = server.rpartition(":")
                self.within.require(host, int(port))
