"""The fields of drafts that are too long for an address."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from aclweb.inventory.models import Cluster


class KeptDraft(models.Model):
    """The fields of one form, under a key that an address can hold; see `aclweb.web.drafts.keeping`."""

    key = models.CharField(max_length=32, unique=True)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # JSON of field -> values, compressed: never read for a list.
    content = models.BinaryField()
    used_at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [models.Index(fields=["owner", "-used_at"], name="kept_draft_of_owner")]

    def __str__(self) -> str:
        return self.key
