"""Say what the principals of a cluster are called where ACLs hold an id, with a record of who said so.

Such as `User:12345`, which is the service account `orders app`. No decision reads it, and no cluster is told. Values
are checked here, whoever asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from aclweb.acl.model import NotationError, Problems, number_of, shown
from aclweb.acl.notation import read_rows, write_rows
from aclweb.audit import trail
from aclweb.inventory.models import Cluster, PrincipalName

trail.register("principals.named", "{actor} named principals of {cluster}: {told}.")

FIELDS = ("principal", "name")
MOST_ROWS = 20_000
"""So many principals of a cluster may have a name; a process holds all of them."""
LONGEST = {"principal": 500, "name": 100}
_TOLD = 3  # names that the audit trail spells out


class NamingError(Exception):
    """A name that cannot be kept. faults: a sentence for each field that is wrong."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(" ".join(faults.values()))
        self.faults = dict(faults)


@dataclass(frozen=True)
class Naming:
    """What it changes to have other names: those that are new, that differ, and that go; how many stay."""

    added: Mapping[str, str]
    changed: Mapping[str, str]
    removed: Mapping[str, str]
    same: int

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.changed or self.removed)

    @property
    def sentence(self) -> str:
        """Such as `2 names are added, 1 is changed, none is removed, 40 stay`."""
        return (
            f"{_are(len(self.added), 'added')}, {_are(len(self.changed), 'changed')}, "
            f"{_are(len(self.removed), 'removed')}, {number_of(self.same, 'name stays', 'names stay')}"
        )

    @property
    def examples(self) -> tuple[tuple[str, str, str], ...]:
        """What happens to each name, as (add, change or remove; the principal; its name)."""
        return tuple(
            (sign, principal, name)
            for sign, rows in (("add", self.added), ("change", self.changed), ("remove", self.removed))
            for principal, name in rows.items()
        )


def text_of(names: Mapping[str, str]) -> str:
    """Return names as CSV, as `read` takes them."""
    return write_rows(FIELDS, names.items())


def read(text: str, source: str) -> dict[str, str]:
    """Return the names of a CSV with the header FIELDS, by principal; the order of the columns is free.

    Raises NotationError with a sentence for each bad line, which names the source and the line.
    """
    problems = Problems(source)
    found: dict[str, str] = {}
    for line, row in read_rows(text, FIELDS, problems):
        principal, name = row["principal"].strip(), row["name"].strip()
        if faults := _faults(principal, name):
            problems.add(line, " ".join(faults.values()))
        elif principal in found:
            problems.add(line, f"{shown(principal)} has a name on a line above; keep one.")
        elif len(found) == MOST_ROWS:
            problems.add(line, f"This is row {len(found) + 1:,}; up to {MOST_ROWS:,} fit.")
            break
        else:
            found[principal] = name
    problems.raise_if_any()
    return found


def checked(names: Mapping[str, str]) -> dict[str, str]:
    """Return names without outer white space; raises NotationError with a sentence for each that cannot be kept."""
    problems = Problems("names")
    found: dict[str, str] = {}
    for place, (given, called) in enumerate(names.items(), start=1):
        principal, name = given.strip(), called.strip()
        if faults := _faults(principal, name):
            problems.add(place, " ".join(faults.values()))
        elif principal in found:
            problems.add(place, f"{shown(principal)} has a name already; keep one.")
        found[principal] = name
    if len(found) > MOST_ROWS:
        raise NotationError(f"{len(found):,} names are given; up to {MOST_ROWS:,} fit.")
    problems.raise_if_any()
    return found


def naming(cluster: Cluster, names: Mapping[str, str]) -> Naming:
    """Return what it would change to have exactly these names; one query."""
    there = dict(cluster.principal_names.values_list("principal", "name"))
    return Naming(
        added={principal: name for principal, name in names.items() if principal not in there},
        changed={p: name for p, name in names.items() if p in there and there[p] != name},
        removed={principal: name for principal, name in there.items() if principal not in names},
        same=sum(there.get(principal) == name for principal, name in names.items()),
    )


def load(*, actor: trail.Named | str, cluster: Cluster, names: Mapping[str, str]) -> Naming:
    """Have exactly these names, all or none of them, and return what that changed. names: as of `read`."""
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(pk=cluster.pk)
        found = naming(row, names)
        _store(actor, row, found)
    cluster.principals_named_at = row.principals_named_at
    return found


def name_one(*, actor: trail.Named | str, cluster: Cluster, principal: str, name: str) -> bool:
    """Give one principal a name, or with an empty one none; return False if it has it. Raises NamingError."""
    principal, name = principal.strip(), name.strip()
    if faults := _faults(principal, name or "none"):
        raise NamingError(faults)
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(pk=cluster.pk)
        names = dict(row.principal_names.values_list("principal", "name"))
        before = names.pop(principal, "")
        if before == name:
            return False
        if name:
            names[principal] = name
        if len(names) > MOST_ROWS:
            raise NamingError({"principal": f"{cluster} has {MOST_ROWS:,} names, and no more are kept."})
        _store(actor, row, naming(row, names))
    cluster.principals_named_at = row.principals_named_at
    return True


def _store(actor: trail.Named | str, row: Cluster, found: Naming) -> None:
    if found.is_empty:
        return
    gone = PrincipalName.objects.filter(cluster=row, principal__in=[*found.removed, *found.changed])
    gone.delete()
    PrincipalName.objects.bulk_create(
        PrincipalName(cluster=row, principal=principal, name=name)
        for principal, name in {**found.added, **found.changed}.items()
    )
    row.principals_named_at = timezone.now()
    row.save(update_fields=["principals_named_at"])
    some = [f"{principal} is {name}" for sign, principal, name in found.examples if sign != "remove"][:_TOLD]
    trail.record(
        actor=actor,
        verb="principals.named",
        target=f"cluster:{row.slug}",
        cluster=row.name,
        told="; ".join([found.sentence, *some]),
    )


def _faults(principal: str, name: str) -> dict[str, str]:
    faults = {}
    for field, value in (("principal", principal), ("name", name)):
        if len(value) > LONGEST[field]:
            faults[field] = f"This {field} has {len(value):,} characters; up to {LONGEST[field]:,} fit."
        elif not value.isprintable():
            faults[field] = f"This {field} holds a character that one cannot see; leave it out."
    if ":" not in principal:
        faults.setdefault(
            "principal", f"A principal has a type; write it as User:{principal[:60] or '12345'}."
        )
    if not name:
        faults["name"] = f"{shown(principal)} has no name; give it one, or leave the row out."
    return faults


def _are(number: int, done: str) -> str:
    return f"{number_of(number, 'name is', 'names are')} {done}" if number else f"none is {done}"
