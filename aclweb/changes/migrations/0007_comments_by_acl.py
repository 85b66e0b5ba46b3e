"""Comments name their ACL by its key instead of its place in a plan, which an edit moves."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models

from aclweb.acl.model import AclBinding, Operation, PatternType, PermissionType, ResourceType
from aclweb.acl.notation import binding_key


def _name_acls(apps: Any, schema_editor: Any) -> None:
    """Give each comment on an ACL of a plan that still stands its key; others are on the whole change."""
    database = schema_editor.connection.alias
    items = apps.get_model("changes", "ChangeItem").objects.using(database)
    placed = apps.get_model("changes", "Comment").objects.using(database).filter(position__isnull=False)
    for comment in placed.select_related("change"):
        item = items.filter(change=comment.change, position=comment.position).first()
        if item is None or comment.plan_hash != comment.change.plan_hash:
            continue
        comment.acl_key = binding_key(
            AclBinding(
                resource_type=ResourceType[item.resource_type],
                resource_name=item.resource_name,
                pattern_type=PatternType[item.pattern_type],
                principal=item.principal,
                host=item.host,
                operation=Operation[item.operation],
                permission_type=PermissionType[item.permission_type],
            )
        )
        comment.save(update_fields=["acl_key"])


class Migration(migrations.Migration):
    dependencies = [("changes", "0006_comments_and_tickets")]

    operations = [
        migrations.AddField("comment", "acl_key", models.CharField(blank=True, default="", max_length=64), preserve_default=False),
        migrations.RunPython(_name_acls, migrations.RunPython.noop),
        migrations.RemoveField("comment", "plan_hash"),
        migrations.RemoveField("comment", "position"),
    ]
