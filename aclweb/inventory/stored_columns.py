"""The ACLs in force on a large cluster once more, as columns, which a process reads many times as fast as the rows.

The rows of StoredAcl are what is true. These are made from them after a sync, of the newest revision or of one from
which it differs in few ACLs.
"""

from __future__ import annotations

from django.db import models


class StoredColumns(models.Model):
    """A part of the columns of a cluster's ACLs. They are whole where part 0 is there, which is stored last."""

    cluster = models.ForeignKey("inventory.Cluster", on_delete=models.CASCADE, related_name="+")
    # The one whose ACLs they are.
    revision = models.ForeignKey("inventory.Revision", on_delete=models.CASCADE, related_name="+")
    part = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "revision", "part"], name="one_part_of_columns_a_place"
            )
        ]

    def __str__(self) -> str:
        return f"part {self.part} of {self.revision}"
