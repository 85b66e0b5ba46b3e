"""How does a row keep an impact, so that lists read its numbers and never the impact itself?"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from django.db import models

from aclweb.acl.model import AclError
from aclweb.acl.simulate import Impact, packed, unpacked
from aclweb.changes.kept import Kept

_impacts: Kept[Impact] = Kept(lambda impact: impact.weight, AclError, most_answers=16, most_bytes=48 * 2**20)
"""The stored impacts that this process read last: each page of one asks for it again."""


class KeepsImpact(models.Model):
    """An impact, packed, and how many answers each of its lists holds; all None while there is none.

    packed_impact may be megabytes: managers leave it in the database until somebody asks a row for it.
    """

    packed_impact = models.BinaryField(null=True)
    gains = models.PositiveBigIntegerField(null=True)
    loses = models.PositiveBigIntegerField(null=True)
    recovered = models.PositiveBigIntegerField(null=True)
    depends = models.PositiveBigIntegerField(null=True)
    unchanged = models.PositiveBigIntegerField(null=True)
    impact_hash = models.CharField(max_length=64, blank=True)

    class Meta:
        abstract = True

    @property
    def impact(self) -> Impact | None:
        """The impact; None where there is none. Read from the database when first asked for."""
        data = self.packed_impact
        if data is None:
            return None
        known: tuple[object, Impact] | None = self.__dict__.get("_unpacked")
        if known is None or known[0] is not data:
            stored_bytes = bytes(data)
            impact = _impacts.remember(sha256(stored_bytes).digest(), lambda: unpacked(stored_bytes))
            known = self.__dict__["_unpacked"] = (data, impact)
        return known[1]


def stored(impact: Impact | None) -> dict[str, Any]:
    """Return the columns of a row that hold this impact; None where nobody has fixed one."""
    if impact is None:
        return dict.fromkeys(("packed_impact", "gains", "loses", "recovered", "depends", "unchanged"))
    return {"packed_impact": packed(impact), **impact.counts, "unchanged": impact.unchanged}
