"""Make the hash of each stored impact anew, and those of its approvals: it is laid out name by name now.

An audit event keeps the hash that it was written with. What has the new hash already stays as it is, so
this can be run again.
"""

from django.db import migrations

from aclweb.acl.simulate import digest_of, unpacked

_HASHED = ("gains", "loses", "depends")


def hash_anew(apps, schema_editor):
    """Read one impact after the other, so that memory holds one."""
    Change = apps.get_model("changes", "Change")
    Approval = apps.get_model("changes", "Approval")
    for number in list(Change.objects.filter(packed_impact__isnull=False).values_list("pk", flat=True)):
        change = Change.objects.only("packed_impact", "impact_hash").get(pk=number)
        made_anew = digest_of(unpacked(bytes(change.packed_impact)), _HASHED)
        if made_anew == change.impact_hash:
            continue
        Change.objects.filter(pk=number).update(impact_hash=made_anew)
        Approval.objects.filter(change_id=number, impact_hash=change.impact_hash).update(
            impact_hash=made_anew
        )


class Migration(migrations.Migration):
    dependencies = [("changes", "0003_impacts_as_groups")]

    # Going back changes nothing: the version before compares the hashes of what it works out itself.
    operations = [migrations.RunPython(hash_anew, migrations.RunPython.noop)]
