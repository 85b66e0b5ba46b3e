"""Say who owns names of a cluster and how they are labelled, with a record of who said so.

A row is about one name (LITERAL) or about all names that begin so (PREFIXED). No answer about access depends on it, and
no cluster is told; a policy gate may guard a label. Values are checked here, whoever asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.db import transaction

from aclweb.acl.model import Problems, number_of, shown
from aclweb.acl.notation import read_rows, write_rows, write_yaml_rows
from aclweb.audit import trail
from aclweb.inventory.admin import yaml_rows
from aclweb.inventory.models import Cluster, OwnedNames

trail.register("owners.added", "{actor} said who owns {names} of {cluster}: {told}.")
trail.register("owners.changed", "{actor} changed who owns {names} of {cluster}: {told}.")
trail.register("owners.removed", "{actor} no longer says who owns {names} of {cluster}.")
trail.register("owners.loaded", "{actor} loaded who owns names of {cluster} from a file: {told}.")

FIELDS = ("kind", "pattern_type", "name", "owner", "labels")
KEY = FIELDS[:3]
MOST_ROWS = 5_000
"""So many rows may a cluster have; a list of names reads all of them."""

_LONGEST = {"name": 500, "owner": 100, "labels": 200}
_LABEL = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_BEGINS_YAML = re.compile(r"[-\[{%]|[^,]*:(\s|$)")


def as_label(text: str) -> str:
    """Return a label as names have it, whatever somebody typed: in small letters."""
    return text.strip().lower()


def is_label(text: str) -> bool:
    """Whether a name can have this label."""
    return _LABEL.fullmatch(text) is not None


class OwnerError(Exception):
    """A row that cannot be kept as asked. faults: a sentence for each field that is wrong."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(" ".join(faults.values()))
        self.faults = dict(faults)


@dataclass(frozen=True)
class Loading:
    """What a file would change: rows that are added, that say something else, that go, and that stay."""

    added: tuple[Mapping[str, str], ...]
    changed: tuple[Mapping[str, str], ...]
    removed: tuple[OwnedNames, ...]
    same: int

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.changed or self.removed)

    @property
    def sentence(self) -> str:
        """What happens to the rows, such as `2 rows are added, 1 row is changed, none is removed, 40 stay`."""
        return (
            f"{_rows(len(self.added))} added, {_rows(len(self.changed))} changed, "
            f"{_rows(len(self.removed))} removed, {number_of(self.same, 'row stays', 'rows stay')}"
        )

    @property
    def examples(self) -> tuple[tuple[str, str, str], ...]:
        """What happens to each row, as (add, change or remove; which names it is about; what it says)."""
        gone = [{name: getattr(row, name) for name in FIELDS} for row in self.removed]
        return tuple(
            (sign, named(row), told(row))
            for sign, rows in (("add", self.added), ("change", self.changed), ("remove", gone))
            for row in rows
        )


def add(*, actor: trail.Named | str, cluster: Cluster, **given: str) -> OwnedNames:
    """Add a row and return it; given: values of FIELDS. Raises OwnerError."""
    values = _cleaned(given)
    with transaction.atomic():
        # So that two who add the same names wait for each other.
        Cluster.objects.select_for_update().get(pk=cluster.pk)
        _check(values)
        if _there(cluster, values) is not None:
            raise OwnerError({"name": f"{named(values)} are listed already; change that row."})
        if cluster.owned_names.count() >= MOST_ROWS:
            raise OwnerError(
                {"name": f"{cluster} has {MOST_ROWS:,} rows, and no more are kept; use prefixes."}
            )
        row = OwnedNames.objects.create(cluster=cluster, **values)
        _record(actor, "owners.added", cluster, names=named(values), told=told(values))
    return row


def change(*, actor: trail.Named | str, row: OwnedNames, **given: str) -> bool:
    """Change values of FIELDS; return False if nothing differs. Raises OwnerError."""
    with transaction.atomic():
        Cluster.objects.select_for_update().get(pk=row.cluster_id)
        kept = OwnedNames.objects.select_related("cluster").get(pk=row.pk)
        before = {name: getattr(kept, name) for name in FIELDS}
        values = before | _cleaned(given)
        _check(values)
        if values == before:
            return False
        there = _there(kept.cluster, values)
        if there is not None and there.pk != kept.pk:
            raise OwnerError({"name": f"{named(values)} are listed already; change that row."})
        OwnedNames.objects.filter(pk=kept.pk).update(**values)
        _record(actor, "owners.changed", kept.cluster, names=named(values), told=told(values))
    row.refresh_from_db()
    return True


def remove(*, actor: trail.Named | str, row: OwnedNames) -> None:
    """Remove a row; nothing is said of its names any more."""
    with transaction.atomic():
        values = {name: getattr(row, name) for name in FIELDS}
        _record(actor, "owners.removed", row.cluster, names=named(values))
        row.delete()


def text_of(rows: Iterable[OwnedNames], *, as_yaml: bool = False) -> str:
    """Return rows as CSV or as YAML, as `read` takes them."""
    if as_yaml:
        texts = ({name: getattr(row, name) for name in FIELDS} for row in rows)
        return write_yaml_rows({name: text for name, text in row.items() if text} for row in texts) or "[]\n"
    return write_rows(FIELDS, ([getattr(row, name) for name in FIELDS] for row in rows))


def read(text: str, source: str) -> list[dict[str, str]]:
    """Return the rows of a CSV with the header FIELDS, whose order is free, or of a YAML list with these keys.

    Raises NotationError with a sentence for each bad line, which names the source and the line.
    """
    problems = Problems(source)
    found: dict[tuple[str, ...], dict[str, str]] = {}
    lines: dict[tuple[str, ...], int] = {}
    for line, row in _yaml_rows(text, problems) if _is_yaml(text) else read_rows(text, FIELDS, problems):
        values = _cleaned(row)
        key = _key(values)
        try:
            _check(values)
        except OwnerError as error:
            problems.add(line, error)
            continue
        if key in found:
            problems.add(line, f"{named(values)} are on line {lines[key]} already; keep one.")
            continue
        found[key], lines[key] = values, line
        if len(found) > MOST_ROWS:
            problems.add(line, f"This is row {len(found):,}; up to {MOST_ROWS:,} fit, so use prefixes.")
            break
    problems.raise_if_any()
    return list(found.values())


def _is_yaml(text: str) -> bool:
    """Whether this is YAML, a list or not: the header of a CSV has letters and commas, and no key with a colon."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return _BEGINS_YAML.match(first) is not None


def _yaml_rows(text: str, problems: Problems) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each object as (its first line, value by key); owner and labels may be left out. Notes bad ones."""
    for line, values, lines in yaml_rows.read_rows(text, problems, lists=("labels",)):
        odd = [key for key in values if key not in FIELDS]
        missing = [key for key in KEY if key not in values]
        for key in odd:
            problems.add(lines[key], f"{shown(key)} is no key of a row; use {', '.join(FIELDS)}.")
        if missing:
            problems.add(line, f"This row lacks {' and '.join(missing)}.")
        if not odd and not missing:
            yield line, dict.fromkeys(FIELDS, "") | values


def loading(cluster: Cluster, rows: Iterable[Mapping[str, str]]) -> Loading:
    """Return what it would change to have exactly these rows; one query."""
    there = {_key({name: getattr(row, name) for name in FIELDS}): row for row in cluster.owned_names.all()}
    wanted = {_key(row): row for row in rows}
    both = [(there[key], row) for key, row in wanted.items() if key in there]
    differing = [row for old, row in both if (old.owner, old.labels) != (row["owner"], row["labels"])]
    return Loading(
        added=tuple(row for key, row in wanted.items() if key not in there),
        changed=tuple(differing),
        removed=tuple(row for key, row in there.items() if key not in wanted),
        same=len(both) - len(differing),
    )


def load(*, actor: trail.Named | str, cluster: Cluster, rows: Iterable[Mapping[str, str]]) -> Loading:
    """Have exactly these rows, all or none of them, and return what that changed. rows: as of `read`."""
    with transaction.atomic():
        Cluster.objects.select_for_update().get(pk=cluster.pk)
        found = loading(cluster, rows)
        if found.is_empty:
            return found
        gone = [row.pk for row in found.removed]
        OwnedNames.objects.filter(cluster=cluster, pk__in=gone).delete()
        for row in found.changed:
            key = {name: row[name] for name in KEY}
            OwnedNames.objects.filter(cluster=cluster, **key).update(owner=row["owner"], labels=row["labels"])
        OwnedNames.objects.bulk_create([OwnedNames(cluster=cluster, **row) for row in found.added])
        _record(actor, "owners.loaded", cluster, told=found.sentence)
    return found


def named(values: Mapping[str, str]) -> str:
    """Return which names a row is about, such as `topics that begin with orders.`."""
    things = OwnedNames.Kind(values["kind"]).label + "s"
    verb = "that begin with" if values["pattern_type"] == OwnedNames.Pattern.PREFIXED else "named"
    return f"{things} {verb} {values['name']}"


def told(values: Mapping[str, str]) -> str:
    """Return what a row says, such as `owner payments, labels restricted`."""
    parts = [f"{name} {values[name]}" for name in ("owner", "labels") if values[name]]
    return ", ".join(parts) or "nothing"


def _cleaned(given: Mapping[str, str]) -> dict[str, str]:
    values = {name: str(value).strip() for name, value in given.items() if name in FIELDS}
    for name in ("kind", "pattern_type"):
        if name in values:
            values[name] = values[name].upper()
    if "labels" in values:
        words = re.split(r"[,;\s]+", as_label(values["labels"]))
        values["labels"] = ", ".join(sorted({word for word in words if word}))
    return values


def _check(values: Mapping[str, str]) -> None:
    faults = {}
    for name, choices in (("kind", OwnedNames.Kind), ("pattern_type", OwnedNames.Pattern)):
        if values[name] not in choices.values:
            faults[name] = f"{shown(values[name])} is none; use {', '.join(choices.values)}."
    for name, longest in _LONGEST.items():
        if len(values[name]) > longest:
            faults[name] = f"This has {len(values[name]):,} characters; up to {longest:,} fit."
        elif not values[name].isprintable():
            faults[name] = "This holds a character that one cannot see; leave it out."
    if not values["name"]:
        faults["name"] = "Name a topic, a group, a transactional id or a principal, or how they begin."
    elif values["kind"] == OwnedNames.Kind.PRINCIPAL and ":" not in values["name"]:
        faults.setdefault("name", f"A principal has a type, as in User:{values['name']}.")
    odd = [word for word in values["labels"].split(", ") if word and not is_label(word)]
    if odd:
        faults.setdefault("labels", f"{shown(odd[0])} is no label; use letters a to z, digits, - and _.")
    if not values["owner"] and not values["labels"]:
        faults.setdefault("owner", "Give an owner, a label, or both.")
    if faults:
        raise OwnerError(faults)


def _key(values: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(values[name] for name in KEY)


def _there(cluster: Cluster, values: Mapping[str, str]) -> OwnedNames | None:
    return cluster.owned_names.filter(**{name: values[name] for name in KEY}).first()


def _rows(number: int) -> str:
    return f"{number:,} {'row is' if number == 1 else 'rows are'}" if number else "none is"


def _record(actor: trail.Named | str, verb: str, cluster: Cluster, **facts: str) -> None:
    trail.record(actor=actor, verb=verb, target=f"cluster:{cluster.slug}", cluster=cluster.name, **facts)
