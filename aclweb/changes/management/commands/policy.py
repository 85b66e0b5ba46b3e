"""`manage.py policy CLUSTER`: list the gates of a cluster's policy; set one, or remove one.

Exit status: 0 done; 2 bad usage, with a sentence for each wrong value, and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aclweb.changes import gate_settings, policy
from aclweb.changes.models import PolicyGate
from aclweb.inventory.management.operator import at_the_shell, cluster_named

KINDS = ", ".join(PolicyGate.Kind.values)


class Command(BaseCommand):
    help = "List which gates a change of a cluster must meet; set one, or remove one."
    requires_system_checks = []  # they load every page

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cluster", help="the cluster, such as prod-eu")
        todo = parser.add_mutually_exclusive_group()
        todo.add_argument("--set", metavar="GATE", help=f"one of {KINDS}")
        todo.add_argument("--remove", metavar="GATE", help="the same")
        parser.add_argument(
            "--prefix",
            "--label",
            dest="prefix",
            help="of the names that no-new-access guards, such as payments., or of what another tool manages; for "
            "no-access-label the label, such as restricted",
        )
        parser.add_argument(
            "--approvals", type=int, help="so many must approve where it is not met; 2 if left out"
        )
        parser.add_argument(
            "--by-administrator", action="store_true", help="one of them must be an administrator"
        )

    def handle(self, *args: Any, cluster: str, **options: Any) -> None:
        found = cluster_named(cluster)
        prefix = options["prefix"] or ""
        self._check(options)
        if (kind := options["set"]) is not None:
            try:
                is_set = gate_settings.set_gate(
                    actor=at_the_shell(),
                    cluster=found,
                    kind=kind,
                    approvals=2 if options["approvals"] is None else options["approvals"],
                    by_administrator=options["by_administrator"],
                    name_prefix=prefix,
                )
            except gate_settings.GateError as error:
                raise CommandError(str(error), returncode=2) from error
            self.stdout.write(f"{cluster}: {'set' if is_set else 'it was set so already'}.")
        elif (kind := options["remove"]) is not None:
            kept = gate_settings.kept_as(kind, prefix)
            gate = found.policy_gates.filter(kind=kind, name_prefix=kept).first()
            if gate is None:
                about = f" with {_option(kind)[2:]} {prefix!r}" if prefix else ""
                raise CommandError(
                    f"{cluster} has no gate {kind!r}{about}; `manage.py policy {cluster}` lists those it has.",
                    returncode=2,
                )
            gate_settings.remove_gate(actor=at_the_shell(), gate=gate)
            self.stdout.write(f"{cluster}: removed.")
        else:
            self._list(found.policy_gates.order_by("kind", "name_prefix"), cluster)

    def _check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that mean nothing here, rather than do less than was asked for."""
        sets = options["set"] is not None
        lost = [
            f"--{name}"
            for name, is_given in (
                ("prefix", options["prefix"] is not None and not sets and options["remove"] is None),
                ("approvals", options["approvals"] is not None and not sets),
                ("by-administrator", options["by_administrator"] and not sets),
            )
            if is_given
        ]
        if lost:
            raise CommandError(f"{' and '.join(lost)}: say which gate with --set.", returncode=2)

    def _list(self, gates: Any, cluster: str) -> None:
        for gate in gates:
            needed = policy.Required(gate.approvals, by_administrator=gate.by_administrator).words
            name = f"{gate.kind} {_option(gate.kind)} {gate.name_prefix!r}" if gate.name_prefix else gate.kind
            self.stdout.write(f"{name}: {needed} where it is not met")
        if not gates:
            self.stdout.write(f"{cluster} has no gates; set one with --set, one of {KINDS}.")


def _option(kind: str) -> str:
    """Return the option that says what the gate guards."""
    return "--label" if kind == PolicyGate.Kind.LABELLED else "--prefix"
