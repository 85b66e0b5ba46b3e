"""What does each row of a page of ACLs show, where does it lead, and what do several rows have to say alike?

A page has many rows, so each is short: addresses are relative to the list's, the key is its beginning, and what rows
share stands once below them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p

from django.urls import reverse

from aclweb.acl.kafka import why_not_deletable
from aclweb.acl.model import NOUNS, AclBinding, number_of
from aclweb.insights.queries import Use
from aclweb.inventory.lists import AclRow, reach_of
from aclweb.inventory.models import Cluster
from aclweb.web.shell import links
from aclweb.web.shell.as_of import AsOf


@dataclass(frozen=True)
class ShownAcl:
    """One row. resource_url: empty for a pattern that is not one name. why_kept: why no tool can remove the ACL.

    days: what static/js/sparks.js draws: see `_days_of`.
    """

    binding: AclBinding
    short_key: str
    matches: int | None
    use: Use
    principal_url: str
    resource_url: str
    more_url: str
    why_kept: str
    days: str = ""


def shown(
    rows: Iterable[AclRow], uses: Mapping[str, Use], cluster: Cluster, moment: AsOf, window: Sequence[str]
) -> tuple[ShownAcl, ...]:
    """Return the rows as the list shows them. window: the days of the log whose requests are drawn."""
    home = reverse("cluster", args=[cluster.slug])
    most = max((use.days.get(day, 0) for use in uses.values() for day in window), default=0)

    def beside(address: str) -> str:
        return moment.kept_in(address.replace(home, "../", 1) if address.startswith(home) else address)

    return tuple(
        ShownAcl(
            binding=row.binding,
            short_key=row.short_key,
            matches=row.covers_now,
            use=uses[row.key],
            principal_url=beside(links.principal(cluster, row.binding.principal)),
            resource_url=beside(links.resource(cluster, row.binding.resource_type, row.binding.resource_name))
            if reach_of(row.binding) == "exact"
            else "",
            more_url=moment.kept_in(f"one/?key={row.short_key}"),
            why_kept=why_not_deletable(row.binding) or "",
            days=_days_of(uses[row.key], window, most),
        )
        for row in rows
    )


def _days_of(use: Use, window: Sequence[str], most: int) -> str:
    """Return a digit for each day up to the last one, from the first that has requests.

    0 is none, and 9 the most of any day of these rows, on a logarithmic scale, so that a page has one scale.
    """
    counts = [use.days.get(day, 0) for day in window]
    digits = (str(max(1, round(9 * log1p(count) / log1p(most)))) if count else "0" for count in counts)
    return "".join(digits).lstrip("0")


def told_of(rows: Sequence[ShownAcl]) -> list[str]:
    """Return a sentence for each reason why something of these ACLs is unknown, and what "unused" means here."""
    reasons = Counter(row.use.reason for row in rows if row.use.state == "cannot-tell")
    told = [
        f"Cannot tell whether {number_of(number, 'ACL of this page is', 'ACLs of this page are')} used: {reason}."
        for reason, number in reasons.most_common()
    ]
    windows = dict.fromkeys(row.use.window for row in rows if row.use.state == "unused")
    told += [f"Unused: no request of the log needed it {window}." for window in windows]
    if any(row.use.state == "used" and row.use.lately is None for row in rows):
        told.append("The next refresh of the logs counts the requests of 30 days.")
    kinds = dict.fromkeys(row.binding.resource_type for row in rows if row.matches is None)
    return told + [f"Which {NOUNS[kind][1]} exist here is unknown." for kind in kinds]
