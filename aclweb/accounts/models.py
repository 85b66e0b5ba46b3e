"""Who may do what on which cluster: a role for a person or a group of people, on one cluster, for some names.

Roles are levels: whoever may approve may also request and look. An administrator of
the installation (Django's superuser) has every role on every cluster; nobody, whatever
the role, approves a change of their own (`changes.policy`).
"""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.contrib.auth.models import AbstractUser, Group
from django.db import models
from django.db.models import Q

from aclweb.inventory.models import Cluster


class User(AbstractUser):
    """A person or a program that signs in.

    sessions_ended: how often all sessions were ended at once. password_is_first: somebody else has made
    the password, so it is changed before any other page is shown. only_cluster: the key of the one cluster on which
    this person may do anything now, because a token limited to it speaks for them; None for all. It is not stored.
    """

    only_cluster: int | None = None

    sessions_ended = models.PositiveIntegerField(default=0)
    password_is_first = models.BooleanField(default=False)

    def get_session_auth_hash(self) -> str:
        """Return what a session holds; it counts no longer once this differs."""
        return super().get_session_auth_hash() + self._after_ended()

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        """Yield the same for each older SECRET_KEY that still counts."""
        for each in super().get_session_auth_fallback_hash():
            yield each + self._after_ended()

    def _after_ended(self) -> str:
        return f".{self.sessions_ended}" if self.sessions_ended else ""


class Role(models.IntegerChoices):
    VIEWER = 1, "viewer"
    REQUESTER = 2, "requester"
    APPROVER = 3, "approver"
    ADMINISTRATOR = 4, "administrator"


class Grant(models.Model):
    """One role for one person, or for one group of people, on one cluster.

    With a name prefix the role counts only for resources whose name starts with it. Looking
    is for the whole cluster all the same: what a prefix or `*` decides about one topic cannot
    be identified without showing it.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="grants"
    )
    group = models.ForeignKey(Group, null=True, blank=True, on_delete=models.CASCADE, related_name="grants")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="grants")
    role = models.PositiveSmallIntegerField(choices=Role.choices)
    name_prefix = models.CharField(max_length=249, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=False, group__isnull=True)
                | Q(user__isnull=True, group__isnull=False),
                name="a_grant_is_for_a_user_or_a_group",
            ),
            # NULL differs from NULL, so each counts for the grants of its kind alone.
            models.UniqueConstraint(
                fields=["user", "cluster", "role", "name_prefix"], name="one_grant_of_a_kind_a_user"
            ),
            models.UniqueConstraint(
                fields=["group", "cluster", "role", "name_prefix"], name="one_grant_of_a_kind_a_group"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user or self.group} {self.get_role_display()} on {self.cluster}"


class ApiToken(models.Model):
    """A program's key to the API. Only a SHA-256 of the secret is kept; it inherits its owner's rights.

    cluster: the only one of which it may ask; None for all that its owner sees.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    # Without its cluster a token would reach all the others, so it goes with it.
    cluster = models.ForeignKey(
        Cluster, null=True, blank=True, on_delete=models.CASCADE, related_name="api_tokens"
    )

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix})"
