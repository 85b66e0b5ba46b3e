"""What the operator's commands about clusters share: finding the cluster, who is at the shell, and what is printed."""

from __future__ import annotations

import getpass

from django.core.management.base import CommandError

from aclweb.inventory.models import Cluster


def cluster_named(slug: str) -> Cluster:
    """Return the cluster, or end the command with status 2."""
    cluster = Cluster.objects.select_related("revision").filter(slug=slug).first()
    if cluster is None:
        known = ", ".join(Cluster.objects.values_list("slug", flat=True)) or "none yet"
        raise CommandError(f"There is no cluster {slug!r}; those known are: {known}.", returncode=2)
    return cluster


def at_the_shell() -> str:
    """Return the actor of an audit event: the account of this machine that runs the command."""
    return f"{getpass.getuser()} (shell)"


def on_a_line(text: str) -> str:
    """Return the text as a terminal may show it: what breaks a line or commands a terminal is escaped."""
    return text if text.isprintable() else repr(text)
