"""Store each impact as groups instead of row by row, and make its hash and those of its approvals anew.

A hash is of what an impact means, laid out by groups. An audit event keeps the hash that it was
written with. An impact that is stored as groups already stays as it is, so this can be run again.
"""

import json
import zlib

from django.db import migrations

from aclweb.acl.simulate import digest_of, packed, unpacked

_HASHED = ("gains", "loses", "depends")


def store_as_groups(apps, schema_editor):
    """Pack one impact after the other, so that memory holds one."""
    Change = apps.get_model("changes", "Change")
    Approval = apps.get_model("changes", "Approval")
    for number in list(Change.objects.filter(packed_impact__isnull=False).values_list("pk", flat=True)):
        change = Change.objects.only("packed_impact", "impact_hash").get(pk=number)
        data = bytes(change.packed_impact)
        if json.loads(zlib.decompress(data)).get("format") != 1:
            continue
        impact = unpacked(data)
        made_anew = digest_of(impact, _HASHED)
        Change.objects.filter(pk=number).update(packed_impact=packed(impact), impact_hash=made_anew)
        Approval.objects.filter(change_id=number, impact_hash=change.impact_hash).update(
            impact_hash=made_anew
        )


class Migration(migrations.Migration):
    dependencies = [("changes", "0002_effect_in_numbers")]

    # Going back changes nothing: the version before says of an impact in groups that a newer one wrote it.
    operations = [migrations.RunPython(store_as_groups, migrations.RunPython.noop)]
