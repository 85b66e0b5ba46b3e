"""Which two sides does a comparison form name, and which of the differences does the address ask for?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from aclweb.accounts.models import User
from aclweb.changes import queries
from aclweb.changes.comparison import Comparison, Side
from aclweb.changes.models import Change
from aclweb.insights.current import current_load
from aclweb.inventory.current import Moment, MomentError, in_force, moment_at
from aclweb.inventory.models import Cluster
from aclweb.web.drafts import diff_page, impact_rows, replayed
from aclweb.web.drafts.impact_rows import ImpactRows
from aclweb.web.shell import links

FOLDS_A_PAGE = 7
_MOST_PAIRS = 5

_CHANGE = re.compile(r"(?:CR-)?([0-9]{1,9})", re.IGNORECASE)


class CompareForm(forms.Form):
    """The cluster of the page at one moment, and the same or another cluster at one moment."""

    at = forms.CharField(label="As of", required=False, max_length=60)
    change = forms.CharField(label="With a change", required=False, max_length=20)
    other = forms.ChoiceField(label="Cluster")
    other_at = forms.CharField(label="As of", required=False, max_length=60)
    other_change = forms.CharField(label="With a change", required=False, max_length=20)

    def __init__(
        self, *args: Any, cluster: Cluster, clusters: Iterable[Cluster], person: User, **kwargs: Any
    ) -> None:
        """clusters: those that the person may look at; nothing else can be named."""
        super().__init__(*args, **kwargs)
        self.cluster, self.person = cluster, person
        self.clusters = {found.slug: found for found in clusters}
        other = self.fields["other"]
        assert isinstance(other, forms.ChoiceField)
        other.choices = [(slug, found.name) for slug, found in self.clusters.items()]
        other.widget.attrs["class"] = "form-select"
        for name in ("at", "other_at"):
            self.fields[name].widget.attrs |= {
                "class": "form-control",
                "placeholder": "now",
                "autocomplete": "off",
            }
        for name in ("change", "other_change"):
            self.fields[name].widget.attrs |= {
                "class": "form-control",
                "placeholder": "none, or CR-7",
                "autocomplete": "off",
            }

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        for cluster, at, change in (
            (self.cluster, "at", "change"),
            (self.clusters.get(str(given.get("other"))), "other_at", "other_change"),
        ):
            if cluster is None:
                continue
            given[at] = self._moment(cluster, at, given.get(at, ""))
            given[change] = self._change(cluster, change, given.get(change, ""))
        return given

    def sides(self) -> tuple[Side, Side]:
        """Return both sides of a valid form."""
        given = self.cleaned_data
        return (
            side_of(self.cluster, given["at"], given["change"]),
            side_of(self.clusters[given["other"]], given["other_at"], given["other_change"]),
        )

    def _moment(self, cluster: Cluster, field: str, text: str) -> Moment | None:
        try:
            return moment_at(cluster, text)
        except MomentError as error:
            self.add_error(field, str(error))
            return None

    def _change(self, cluster: Cluster, field: str, text: str) -> Change | None:
        if not text.strip():
            return None
        number = _CHANGE.fullmatch(text.strip())
        found = queries.change_of(self.person, int(number[1])) if number else None
        if found is None:
            self.add_error(field, f"There is no change {text.strip()!r} that you may see; write it as CR-7.")
        elif found.cluster_id != cluster.pk:
            self.add_error(field, f"{found.key} is a change of {found.cluster.name}, not of {cluster.name}.")
        return found


@dataclass(frozen=True)
class Pair:
    """Two sides that one link compares. query: the form filled in, for an address."""

    words: str
    query: str


def pairs_of(cluster: Cluster, clusters: Iterable[Cluster]) -> Iterator[Pair]:
    """Yield what is compared most: a cluster before and after its newest revision, and with each of a few others."""
    newest = cluster.revision
    if newest is not None and newest.number > 1:
        words = f"{cluster.name} before and after revision {newest.number:,}"
        yield Pair(words, links.encoded(at=str(newest.number - 1), other=cluster.slug))
    others = [found for found in clusters if found.pk != cluster.pk]
    for other in others[:_MOST_PAIRS]:
        yield Pair(f"{cluster.name} and {other.name}", links.encoded(other=other.slug))


def side_of(cluster: Cluster, moment: Moment | None, change: Change | None = None) -> Side:
    """Return the side that is this cluster, just read, at this moment (None: now), with this change."""
    return Side(in_force(cluster, moment, just_read=True), moment, change)


@dataclass(frozen=True)
class Narrowing:
    """Which of the differences to list: those of a principal, and on a name, that hold these texts."""

    principal: str = ""
    name: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Narrowing:
        return cls(query.get("principal", "").strip(), query.get("name", "").strip())

    def of(self, rows: ImpactRows) -> ImpactRows:
        """Return the rows that both texts let through, capital or small letters alike."""
        return rows.containing(self.principal.casefold(), self.name.casefold())


def differences(asked: Mapping[str, str], found: Comparison) -> dict[str, Any]:
    """Return what a page shows of a comparison: the kind of difference, the rows and the page that are asked for."""
    narrowing = Narrowing.read(asked)
    load = current_load(found.left.view.cluster)
    context: dict[str, Any] = {
        "comparison": found,
        "between": found.between,
        "narrowing": narrowing,
        **replayed.shown(found.replay(load, days=replayed.days_asked(asked)), found.left.view.cluster, asked),
    }
    if found.impact is None:
        return context
    impact = found.impact
    kind = asked.get("show", "")
    if kind not in impact_rows.KINDS:
        kind = next((name for name in impact_rows.KINDS if impact.counts[name]), "gains")
    rows, before = impact_rows.rows(impact, kind), found.left.view.cluster
    shown = diff_page.shown(
        narrowing.of(rows),
        asked,
        FOLDS_A_PAGE,
        every=narrowing.of(impact_rows.rows(impact, *impact_rows.KINDS)),
        log_of=before,
        load=load,
        replay=context["replay"],
        has_two_sides=True,
    )
    return context | {
        # What the table below lists is not told twice; a matrix shows all lists.
        "told": None if shown["diff_view"] else impact_rows.told(impact, besides=kind),
        "tiles": impact_rows.tiles(impact, found.between),
        "every_row": narrowing.of(impact_rows.exact_rows(impact)),
        "show": kind,
        **shown,
    }
