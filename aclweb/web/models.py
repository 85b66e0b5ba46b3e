"""What people keep for themselves: long or named drafts, views of the ACL list, and the questions they asked last."""

from __future__ import annotations

from secrets import token_hex

from django.conf import settings
from django.db import models

from aclweb.inventory.models import Cluster


def new_key() -> str:
    """Return a text that nobody can guess."""
    return token_hex(16)


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


class NamedDraft(models.Model):
    """A draft under a name, edited in place by its owner; see `aclweb.web.drafts.named`."""

    key = models.CharField(max_length=32, unique=True, default=new_key)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=100)
    # As in KeptDraft.
    content = models.BinaryField()
    lines = models.PositiveIntegerField()
    new_topics = models.PositiveIntegerField(default=0)
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "cluster", "name"], name="one_named_draft_a_name")
        ]

    def __str__(self) -> str:
        return self.name


class SavedView(models.Model):
    """How a person looks at a list of ACLs, under a name; see `aclweb.web.browse.saved_views`."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=60)
    # The query of the list: filters, grouping, order, columns and rows a page.
    query = models.TextField()
    made_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "cluster", "name"], name="one_saved_view_a_name")
        ]

    def __str__(self) -> str:
        return self.name


class AskedLately(models.Model):
    """The questions that a person asked last on a cluster; see `aclweb.web.ask.asked_lately`."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    # JSON, the newest first, of some kilobytes at most.
    questions = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "cluster"], name="one_list_asked_a_person_and_cluster")
        ]

    def __str__(self) -> str:
        return f"what {self.owner_id} asked on {self.cluster_id}"
